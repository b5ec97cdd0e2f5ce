// SPDX-License-Identifier: BSD-3-Clause
//
// The measured loop. Time is that of the thread (CLOCK_THREAD_CPUTIME_ID), not of the wall: what
// the scheduler gives to others does not count, what they do to the caches does.

#include "tests/bench/lane.h"

#include <stdio.h>
#include <time.h>

#include <rte_ethdev.h>

enum {
	SOURCE = 0,
	SINK = 1,
	VISITS_PER_LOOK = 256, // at the thread's time
	FILL_VISITS_MAX = 10000,
};

static void drain(struct lane *lane, ns_t now)
{
	struct sw_action action;

	while (sw_action(lane->sw, LCORE_FIRST, &action, now)) {
		switch (action.kind) {
		case SW_ACTION_FREE: rte_pktmbuf_free(mbuf_of_pkt(action.pkt)); break;
		case SW_ACTION_PFC: pktio_pfc(&lane->io[action.port.v], &action.pfc); break;
		case SW_ACTION_PUNT: rte_pktmbuf_free(mbuf_of_pkt(action.pkt)); break;
		case SW_ACTION_COPY:
		case SW_ACTION_LACP:
		case SW_ACTION_LEARN:
		case SW_ACTION_FORGET:
		case SW_ACTION_SOLICIT:
		case SW_ACTION_TELL:
		case SW_ACTION_STORM:
		case SW_ACTION_HELLO:
		case SW_ACTION_PEER: break;
		}
	}
}

static uint32_t receive(struct lane *lane, uint32_t id, ns_t now)
{
	struct pkt *pkts[PKTIO_BURST];
	uint32_t count;

	if (sw_held(lane->sw, (port_t){ (uint16_t)id }))
		return 0;
	count = pktio_rx(&lane->io[id], 0, pkts);
	if (count == 0)
		return 0;
	if (lane->variant->paced) {
		for (uint32_t i = 0; i < count; i++)
			pacer_charge(&lane->wire, &lane->arrival, pkts[i]->len + 24, now);
	}
	sw_rx(lane->sw, (port_t){ (uint16_t)id }, pkts, count, now);
	drain(lane, now);
	return count;
}

static void transmit(struct lane *lane, uint32_t id, ns_t now)
{
	struct pktio *io = &lane->io[id];
	struct pkt *pkts[PKTIO_BURST];

	if (!pktio_flush(io) || !sw_backlogged(lane->sw, (port_t){ (uint16_t)id }))
		return;
	for (uint32_t i = 0; i < PKTIO_TX_BURSTS && io->pending_count == 0; i++) {
		uint32_t count = sw_tx(lane->sw, (port_t){ (uint16_t)id }, pkts, PKTIO_BURST, now);

		if (count > 0)
			pktio_tx(io, pkts, count);
		drain(lane, now);
		lane->sent += count;
		if (count < PKTIO_BURST)
			break;
	}
}

// A PFC frame arrives at the sink.
static bool pause_sink(struct lane *lane, ns_t now)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(lane->pool);
	struct pkt *p;

	if (m == NULL)
		return false;
	stand_pause_frame((uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES));
	p = pkt_from_mbuf(m);
	sw_rx(lane->sw, STAND_SINK, &p, 1, now);
	drain(lane, now);
	lane->pause_at = ns_add(now, STAND_PAUSE_NS);
	return true;
}

static ns_t read_clock(struct lane *lane)
{
	ns_t now = clock_now(&lane->clock);
	uint64_t gap = ns_since(now, lane->visited);

	if (gap > lane->max_gap_ns)
		lane->max_gap_ns = gap;
	lane->visited = now;
	return lane->variant->paced ? lane->arrival.ready : now;
}

static void visit(struct lane *lane)
{
	ns_t now = read_clock(lane);

	if (lane->variant->paused && lane->pause_at.v <= now.v)
		pause_sink(lane, now);
	sw_tick(lane->sw, LCORE_FIRST, now);
	drain(lane, now);
	receive(lane, SOURCE, now);
	receive(lane, SINK, now);
	transmit(lane, SOURCE, now);
	transmit(lane, SINK, now);
}

static uint64_t thread_ns(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

uint64_t lane_run(struct lane *lane, uint64_t ms, uint64_t *packets)
{
	uint64_t begin = thread_ns();
	uint64_t sent = lane->sent;
	uint64_t taken;

	lane->visited = clock_now(&lane->clock);
	do {
		for (uint32_t i = 0; i < VISITS_PER_LOOK; i++)
			visit(lane);
		taken = thread_ns() - begin;
	} while (taken < ms * 1000000);
	*packets = lane->sent - sent;
	return taken;
}

// Receives without sending until the switch holds what the variant wants.
static bool fill(struct lane *lane)
{
	struct pktio source = lane->io[SOURCE];
	ns_t now = read_clock(lane);

	if (lane->variant->paused) {
		lane->io[SOURCE].ethdev = lane->fill_ethdev;
		if (!pause_sink(lane, now))
			return false;
	}
	for (uint32_t i = 0; !stand_filled(lane->sw, lane->variant, now); i++) {
		if (i == FILL_VISITS_MAX || receive(lane, SOURCE, now) == 0)
			return false;
	}
	lane->io[SOURCE].ethdev = source.ethdev;
	lane->arrival = (struct pacer_state){ .ready = now };
	return true;
}

bool lane_open(struct lane *lane, const struct variant *variant, struct rte_mempool *pool,
	       uint16_t source, uint16_t sink, uint16_t fill_from)
{
	*lane = (struct lane){ .variant = variant, .pool = pool, .fill_ethdev = fill_from };
	lane->io[SOURCE] = (struct pktio){
		.ethdev = source, .active = true, .control = pool, .taps = &lane->taps
	};
	lane->io[SINK] = (struct pktio){
		.ethdev = sink, .active = true, .control = pool, .taps = &lane->taps
	};
	clock_start(&lane->clock);
	lane->sw = stand_make(variant, read_clock(lane));
	if (lane->sw == NULL)
		return false;
	lane->wire.bps = sw_profile_of(lane->sw)->port[SINK].line.bps;
	if (fill(lane))
		return true;
	fprintf(stderr, "pipeline: %s: the queues do not fill\n", variant->name);
	return false;
}

bool lane_check(struct lane *lane)
{
	ns_t now = lane->variant->paced ? lane->arrival.ready : clock_now(&lane->clock);

	if (stand_filled(lane->sw, lane->variant, now))
		return stand_check(lane->sw, lane->variant, now);
	fprintf(stderr, "pipeline: %s: the queues did not stay filled\n", lane->variant->name);
	return false;
}
