// SPDX-License-Identifier: BSD-3-Clause
//
// endpoint [--gate] | endpoint --count VARIANT: what RDMA writes of 1 KiB cost two hosts back to
// back in memory, on one core: from the completion of one write and the post of the next to the
// ICRC at the sender, from the ICRC to the coalesced ACK at the receiver.
//
// Cycles are the best of many short rounds, since other work on the machine only ever adds to them.
// With --count one steady state of a variant runs, for callgrind to count, and the packets in it
// are printed:
//	valgrind --tool=callgrind --collect-atstart=no --toggle-collect=steady_state ...
// Of its output, callgrind_annotate --inclusive=yes tells sender() and receiver() apart.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/checksum.h"
#include "traffic/core/endpoint.h"
#include "traffic/crc.h"

enum {
	BURST = 32,
	WRITE_BYTES = 1024,
	WARM_TURNS = 2048,
	ROUND_TURNS = 16,
	ROUNDS = 1000,
	COUNT_TURNS = 256,
	PRIO = 3,
	QP_BASE = 0x11,
	RKEY = 0x77,
	IP_AT = 14,
	MARK_EVERY = 16,
	NS_PER_TURN = 2880, // of the line: a burst of such frames
};

#define LINE_BPS 100000000000ull
#define REMOTE_VA 0x7f0000000000ull

struct variant {
	const char *name;
	const char *doc;
	uint32_t qps;
	uint32_t depth; // writes on their way, of each queue pair
	bool dcqcn;
	bool marked; // while the line is full
};

static const struct variant variants[] = {
	{ "1", "1 queue pair", 1, 128, false, false },
	{ "1000", "1000 queue pairs", 1000, 16, false, false },
	{ "1_dcqcn", "1 queue pair, DCQCN", 1, 128, true, false },
	{ "1000_dcqcn", "1000 queue pairs, DCQCN", 1000, 16, true, false },
	{ "1000_marked", "1000 queue pairs, slowed down by CNPs", 1000, 16, true, true },
};
enum { VARIANT_COUNT = sizeof(variants) / sizeof(variants[0]) };

struct frames {
	uint32_t count;
	uint32_t len[BURST];
	_Alignas(64) uint8_t data[BURST][ROCE_FRAME_MAX];
};

struct side {
	struct endpoint_profile pf;
	struct endpoint_state *st;
	struct rc_region region;
	_Alignas(64) uint8_t memory[WRITE_BYTES];
	struct frames out;
	uint64_t cycles;
};

struct stand {
	const struct variant *variant;
	struct side sender, receiver;
	ns_t now;
	uint64_t sent;
	uint64_t marked;
};

// --- the stand --------------------------------------------------------------------------------

static struct endpoint_profile profile_of(const struct variant *variant, uint8_t id)
{
	const struct dcqcn_config config = dcqcn_config_of(DCQCN_PAPER);
	struct endpoint_profile pf = {
		.mac = 0x020000000000 | id,
		.ipv4 = { 10, 0, 0, id },
		.has_ipv4 = true,
		.bps = LINE_BPS,
		.mtu = 1500,
		.obey = 1 << PRIO,
		.burst_ns = 10000,
		.cnp_dscp = 48,
		.dcqcn = variant->dcqcn,
		.rc = { .mtu = 1024,
			.window = 512,
			.ack_every = 16,
			.request_every = 16,
			.read_depth = 1,
			.timeout_ns = 100000000,
			.ack_delay_ns = 10000000,
			.retry_limit = 7,
			.rnr_limit = RC_RNR_FOR_EVER },
		.qp_base = QP_BASE,
		.qp_count = variant->qps,
		.neighbor_count = 1,
		.send_count = variant->depth,
		.receive_count = 1,
	};

	pf.dscp_to_prio[26] = PRIO;
	pf.dscp_to_prio[48] = 6;
	dcqcn_build(&config, LINE_BPS, &pf.rp, &pf.np);
	return pf;
}

static bool open_side(struct side *side, const struct variant *variant, uint8_t id,
		      enum roce_crc crc)
{
	void *memory;
	size_t bytes;

	side->pf = profile_of(variant, id);
	side->pf.crc = crc;
	side->region = (struct rc_region){ .va = REMOTE_VA,
					   .bytes = WRITE_BYTES,
					   .data = side->memory,
					   .rkey = RKEY,
					   .remote_write = true };
	bytes = endpoint_bytes(&side->pf);
	memory = aligned_alloc(64, bytes);
	if (memory == NULL)
		return false;
	memset(memory, 0, bytes);
	side->st = endpoint_init(&side->pf, &side->region, 1, memory);
	return true;
}

static bool join(struct side *side, const struct side *other, ns_t now)
{
	struct endpoint_peer peer = { .mac = other->pf.mac, .dscp = 26, .ecn = ECN_ECT0 };

	memcpy(peer.ip, other->pf.ipv4, 4);
	for (uint32_t qp = 0; qp < side->pf.qp_count; qp++) {
		peer.qp = QP_BASE + qp;
		if (endpoint_connect(&side->pf, side->st, qp, &peer, now) != 0)
			return false;
	}
	return true;
}

static bool post(struct stand *s, uint32_t qp)
{
	const struct rc_work work = { .op = RC_WRITE,
				      .data = s->sender.memory,
				      .bytes = WRITE_BYTES,
				      .remote_va = REMOTE_VA,
				      .rkey = RKEY };

	return endpoint_post(&s->sender.pf, s->sender.st, qp, &work, s->now);
}

static bool open_stand(struct stand *s, const struct variant *variant, enum roce_crc crc)
{
	struct rng rng;

	*s = (struct stand){ .variant = variant };
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < WRITE_BYTES; i++)
		s->sender.memory[i] = (uint8_t)rng_next32(&rng);
	if (!open_side(&s->sender, variant, 1, crc) || !open_side(&s->receiver, variant, 2, crc) ||
	    !join(&s->sender, &s->receiver, s->now) || !join(&s->receiver, &s->sender, s->now))
		return false;
	for (uint32_t i = 0; i < variant->depth * variant->qps; i++) {
		if (!post(s, i % variant->qps))
			return false;
	}
	return true;
}

static void close_stand(struct stand *s)
{
	free(s->sender.st);
	free(s->receiver.st);
}

// --- turns ------------------------------------------------------------------------------------

static void receive(struct side *side, const struct frames *in, ns_t now)
{
	for (uint32_t i = 0; i < in->count; i++)
		endpoint_rx(&side->pf, side->st, in->data[i], in->len[i], now);
}

static void transmit(struct side *side, ns_t now)
{
	struct frames *out = &side->out;

	for (out->count = 0; out->count < BURST; out->count++) {
		out->len[out->count] = endpoint_tx(&side->pf, side->st, now, out->data[out->count]);
		if (out->len[out->count] == 0)
			return;
	}
}

__attribute__((noinline)) void sender(struct stand *s);
void sender(struct stand *s)
{
	struct rc_completion done;
	uint32_t qp;

	receive(&s->sender, &s->receiver.out, s->now);
	while (endpoint_complete(s->sender.st, &qp, &done)) {
		if (done.status != RC_OK || !post(s, qp))
			abort();
	}
	transmit(&s->sender, s->now);
}

__attribute__((noinline)) void receiver(struct stand *s);
void receiver(struct stand *s)
{
	struct rc_completion done;
	uint32_t qp;

	receive(&s->receiver, &s->sender.out, s->now);
	if (endpoint_complete(s->receiver.st, &qp, &done))
		abort(); // writes without immediate have none
	transmit(&s->receiver, s->now);
}

// What a switch does to a packet in a queue that is too long.
static void mark(struct frames *frames, uint32_t i)
{
	uint8_t *ip = frames->data[i] + IP_AT;

	ip[1] |= ECN_CE;
	store_be16(ip + 10, 0);
	store_be16(ip + 10, checksum_end(checksum_add(0, ip, 20)));
}

static void turn(struct stand *s)
{
	const uint64_t start = rte_rdtsc_precise();
	uint64_t middle;

	sender(s);
	middle = rte_rdtsc_precise();
	s->sender.cycles += middle - start;
	s->sent += s->sender.out.count;
	if (s->variant->marked && s->sender.out.count == BURST) {
		s->marked += BURST / MARK_EVERY;
		for (uint32_t i = 0; i < BURST; i += MARK_EVERY)
			mark(&s->sender.out, i);
		middle = rte_rdtsc_precise();
	}
	receiver(s);
	s->receiver.cycles += rte_rdtsc_precise() - middle;
	s->now = ns_add(s->now, NS_PER_TURN);
}

static void warm_up(struct stand *s)
{
	for (uint32_t i = 0; i < WARM_TURNS; i++)
		turn(s);
}

// What is counted, by its name.
__attribute__((noinline)) void steady_state(struct stand *s, uint32_t turns);
void steady_state(struct stand *s, uint32_t turns)
{
	for (uint32_t i = 0; i < turns; i++)
		turn(s);
}

// A benchmark of lost packets is fast.
static bool check(const struct stand *s)
{
	struct endpoint_stats sent, received;
	struct rc_stats out, in;

	endpoint_stats_read(&s->sender.pf, s->sender.st, &sent, &out);
	endpoint_stats_read(&s->receiver.pf, s->receiver.st, &received, &in);
	return out.retransmits == 0 && in.rx_packets == out.tx_packets && in.rx_packets > 0 &&
	       sent.prio[PRIO].rx_packets <= out.tx_packets / 15 &&
	       (sent.rx_cnp != 0) == s->variant->marked &&
	       memcmp(s->sender.memory, s->receiver.memory, WRITE_BYTES) == 0;
}

// --- measured ---------------------------------------------------------------------------------

struct figures {
	double sender, receiver, both; // cycles per packet
};

static void keep_least(double *best, uint64_t cycles, uint64_t packets)
{
	const double value = (double)cycles / (double)packets;

	if (*best == 0 || value < *best)
		*best = value;
}

static bool measure(const struct variant *variant, struct figures *out)
{
	static struct stand stand;
	struct stand *s = &stand;
	bool right;

	*out = (struct figures){ 0 };
	if (!open_stand(s, variant, crc_method()))
		return false;
	warm_up(s);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint64_t sent = s->sent;

		s->sender.cycles = 0;
		s->receiver.cycles = 0;
		steady_state(s, ROUND_TURNS);
		if (s->sent == sent)
			return false;
		keep_least(&out->sender, s->sender.cycles, s->sent - sent);
		keep_least(&out->receiver, s->receiver.cycles, s->sent - sent);
		keep_least(&out->both, s->sender.cycles + s->receiver.cycles, s->sent - sent);
	}
	right = check(s);
	close_stand(s);
	return right;
}

static int show_all(bool gate)
{
	static const double bound = 900; // per packet, of one queue pair
	struct figures figures;
	double first = 0;

	printf("cycles per write of 1 KiB     sender  receiver      both\n");
	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		if (!measure(&variants[i], &figures)) {
			printf("FAIL: %s: packets were lost\n", variants[i].name);
			return 1;
		}
		first = i == 0 ? figures.both : first;
		printf("  %-11s %22.1f %9.1f %9.1f   %s\n", variants[i].name, figures.sender,
		       figures.receiver, figures.both, variants[i].doc);
	}
	if (!gate || first <= 2 * bound)
		return 0;
	printf("FAIL: a write in %.0f cycles\n", 2 * bound);
	return 1;
}

static int count(const char *name)
{
	static struct stand stand;

	for (uint32_t i = 0; i < VARIANT_COUNT; i++) {
		uint64_t before;

		if (strcmp(variants[i].name, name) != 0)
			continue;
		// By what every x86-64 has, and callgrind knows.
		if (!open_stand(&stand, &variants[i], ROCE_CRC_CLMUL))
			return 1;
		warm_up(&stand);
		before = stand.sent;
		steady_state(&stand, COUNT_TURNS);
		printf("%lu\n", (unsigned long)(stand.sent - before));
		return check(&stand) ? 0 : 1;
	}
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--count") == 0)
		return count(argv[2]);
	return show_all(argc == 2 && strcmp(argv[1], "--gate") == 0);
}
