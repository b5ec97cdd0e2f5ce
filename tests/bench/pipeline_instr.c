// SPDX-License-Identifier: BSD-3-Clause
//
// pipeline_instr VARIANT: the switch of the benchmark without DPDK, for callgrind to count. Frames
// lie in memory, time is a number, nothing depends on the machine: the same code gives the same
// count everywhere.
//
//	valgrind --tool=callgrind --collect-atstart=no --toggle-collect=steady_state ...
// counts the steady state alone; the program prints the packets that it forwarded there.

#include <stdio.h>
#include <string.h>

#include "base/pacer.h"
#include "tests/bench/stand.h"

enum {
	BURST = 32,
	PACKETS = 8192, // that can wait at once
	ROOM_BYTES = 128,
	WARM_VISITS = 64,
	VISITS = 256,
	VISIT_NS = 1000, // of variants that are not paced
	FILL_VISITS_MAX = PACKETS / BURST,
};

// The frame follows its packet, as in an mbuf.
struct buffer {
	_Alignas(64) struct pkt pkt;
	uint8_t room[ROOM_BYTES];
	uint8_t frame[STREAM_FRAME_BYTES];
};

struct shell {
	const struct variant *variant;
	struct sw *sw;
	struct stream stream;
	uint32_t at; // next frame of the stream
	struct pkt *unused;
	ns_t now;
	ns_t pause_at;
	struct pacer_profile wire;
	struct pacer_state arrival;
	uint64_t sent;
	struct buffer buffer[PACKETS];
};

static void put_back(struct shell *sh, struct pkt *p)
{
	p->next = sh->unused;
	sh->unused = p;
}

// The next packet of the stream.
static struct pkt *take(struct shell *sh)
{
	struct pkt *p = sh->unused;
	struct buffer *buffer = (struct buffer *)p;

	sh->unused = p->next;
	p->data = buffer->frame;
	p->len = sh->stream.len[sh->at];
	p->head_len = (uint16_t)p->len;
	p->descriptors = 1;
	memcpy(p->data, sh->stream.frame[sh->at], 64); // headers, which ECN may have changed
	sh->at = (sh->at + 1) % STREAM_FRAMES;
	return p;
}

static void drain(struct shell *sh)
{
	struct sw_action action;

	while (sw_action(sh->sw, LCORE_FIRST, &action, sh->now)) {
		if (action.kind == SW_ACTION_FREE || action.kind == SW_ACTION_PUNT)
			put_back(sh, action.pkt);
	}
}

static void receive(struct shell *sh)
{
	struct pkt *pkts[BURST];

	for (uint32_t i = 0; i < BURST; i++) {
		pkts[i] = take(sh);
		pacer_charge(&sh->wire, &sh->arrival, pkts[i]->len + 24, sh->now);
	}
	sw_rx(sh->sw, STAND_SOURCE, pkts, BURST, sh->now);
	drain(sh);
}

static void transmit(struct shell *sh)
{
	struct pkt *pkts[BURST];
	uint32_t count = BURST;

	while (count == BURST) {
		count = sw_tx(sh->sw, STAND_SINK, pkts, BURST, sh->now);
		for (uint32_t i = 0; i < count; i++)
			put_back(sh, pkts[i]);
		drain(sh);
		sh->sent += count;
	}
}

static void pause_sink(struct shell *sh)
{
	struct pkt *p = take(sh);

	stand_pause_frame(p->data);
	p->len = PFC_FRAME_BYTES;
	p->head_len = PFC_FRAME_BYTES;
	sw_rx(sh->sw, STAND_SINK, &p, 1, sh->now);
	drain(sh);
	sh->pause_at = ns_add(sh->now, STAND_PAUSE_NS);
}

static void visit(struct shell *sh)
{
	if (sh->variant->paused && sh->pause_at.v <= sh->now.v)
		pause_sink(sh);
	sw_tick(sh->sw, LCORE_FIRST, sh->now);
	drain(sh);
	receive(sh);
	transmit(sh);
	sh->now = sh->variant->paced ? sh->arrival.ready : ns_add(sh->now, VISIT_NS);
}

// What is counted, by its name.
__attribute__((noinline)) void steady_state(struct shell *sh);
void steady_state(struct shell *sh)
{
	for (uint32_t i = 0; i < VISITS; i++)
		visit(sh);
}

static bool fill(struct shell *sh)
{
	if (sh->variant->paused) {
		stream_make(STREAM_ROCE_WRITE, &sh->stream);
		pause_sink(sh);
	}
	for (uint32_t i = 0; !stand_filled(sh->sw, sh->variant, sh->now); i++) {
		if (i == FILL_VISITS_MAX)
			return false;
		receive(sh);
	}
	stream_make(sh->variant->stream, &sh->stream);
	sh->arrival = (struct pacer_state){ .ready = sh->now };
	return true;
}

static const struct variant *find_variant(const char *name)
{
	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		if (strcmp(variants[i].name, name) == 0)
			return &variants[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct shell shell;
	struct shell *sh = &shell;
	uint64_t sent;

	if (argc != 2)
		return 2;
	sh->variant = find_variant(argv[1]);
	sh->sw = sh->variant == NULL ? NULL : stand_make(sh->variant, sh->now);
	if (sh->sw == NULL)
		return 2;
	sh->wire.bps = sw_profile_of(sh->sw)->port[STAND_SINK.v].line.bps;
	stream_make(sh->variant->stream, &sh->stream);
	for (uint32_t i = 0; i < PACKETS; i++)
		put_back(sh, &sh->buffer[i].pkt);
	if (!fill(sh))
		return 1;
	for (uint32_t i = 0; i < WARM_VISITS; i++)
		visit(sh);
	sent = sh->sent;
	steady_state(sh);
	if (!stand_filled(sh->sw, sh->variant, sh->now) ||
	    !stand_check(sh->sw, sh->variant, sh->now))
		return 1;
	printf("%lu\n", (unsigned long)(sh->sent - sent));
	return 0;
}
