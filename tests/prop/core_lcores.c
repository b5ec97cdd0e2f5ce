// SPDX-License-Identifier: BSD-3-Clause
//
// Two to four lcores of one switch in one thread, in every order that the dice make: each receives,
// takes, sends and ticks when it is its turn, so that counts and borrowed bytes are seen early,
// late and half-way. Peers obey XOFF, after which a group receives at most its headroom; so no
// lossless packet may ever be dropped, and headroom must have been used. In some runs they do not
// obey: then packets are lost, but at the limits.
//
// After every step: nothing is lost or counted twice, and no limit is overshot, however stale what
// an lcore knows of the others is.

#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum { STEPS = 150, PORTS_MAX = 8, BURST = 16, LOSSLESS = 2, DESCRIPTORS = 4096 };

struct bench {
	struct rig *rig;
	struct rng *rng;
	uint32_t ports, lcores;
	uint64_t in_flight[PORTS_MAX][LOSSLESS]; // received since XOFF began
	uint64_t shared_bytes;                   // of the ingress pool, beyond all reserves
	bool filling;                            // nothing leaves
	bool rude;                               // peers ignore XOFF
};

static port_t port_at(uint32_t port)
{
	return (port_t){ (uint16_t)port };
}

static lcore_t owner(const struct bench *b, uint32_t port)
{
	return b->rig->pf->port[port].lcore;
}

static struct sw_config *lcores_config(struct bench *b)
{
	struct sw_config *c;

	b->lcores = (uint32_t)random_between(b->rng, 2, 4);
	b->ports = (uint32_t)random_between(b->rng, b->lcores, PORTS_MAX);
	c = random_config(b->rng, b->ports);
	c->sw.cell = 1; // so that bytes are what the formula says
	// Headroom counts in minimum frames: what is left for others must still be plenty.
	c->sw.descriptors = DESCRIPTORS + b->ports * LOSSLESS * 1020;
	for (uint32_t i = 0; i < b->ports; i++)
		c->port[i].lcore = i < b->lcores ? i : rng_below(b->rng, b->lcores);
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th = -(int64_t)rng_below(b->rng, 4);
	setup_find_profile(c, KVM_PG_LOSSLESS)->static_th = CONFIG_UNSET;
	// Room for the reserves of all ports and some more.
	setup_find_pool(c, KVM_INGRESS_POOL)->size += b->ports * 2 * 4000;
	setup_find_pool(c, KVM_LOSSY_POOL)->size += b->ports * 6 * 3000;
	return c;
}

// --- what the configuration promises ------------------------------------------------------------

static uint64_t xoff_bytes(const struct bench *b)
{
	return setup_find_profile(b->rig->config, KVM_PG_LOSSLESS)->xoff;
}

static uint64_t headroom_pool(const struct bench *b)
{
	return setup_find_pool(b->rig->config, KVM_INGRESS_POOL)->xoff;
}

static uint64_t reserve(const struct bench *b, uint32_t pg)
{
	const struct buffer_profile_config *row;

	if (pg != 3 && pg != 4)
		return setup_find_profile(b->rig->config, KVM_PG_LOSSY)->size;
	row = setup_find_profile(b->rig->config, KVM_PG_LOSSLESS);
	return headroom_pool(b) != 0 ? row->size : u64_minus(row->size, row->xoff);
}

// A group may have 2^-k of what is free: x <= free / 2^k, free with x in it.
static bool within_limit(const struct bench *b, uint64_t x, uint64_t free_bytes)
{
	int64_t shift = -setup_find_profile(b->rig->config, KVM_PG_LOSSLESS)->dynamic_th;

	return x << shift <= free_bytes;
}

static uint64_t room(const struct bench *b, uint32_t port, uint32_t pg)
{
	uint64_t left = u64_minus(xoff_bytes(b), b->in_flight[port][pg - 3]);
	uint64_t all = 0;

	if (b->rude)
		return UINT64_MAX;
	if (headroom_pool(b) == 0)
		return left;
	for (uint32_t i = 0; i < b->ports; i++)
		all += b->in_flight[i][0] + b->in_flight[i][1];
	return u64_min(left, u64_minus(headroom_pool(b), all));
}

// --- steps --------------------------------------------------------------------------------------

static uint64_t used_of(const struct pg_stats *st)
{
	return st->curr_occupancy_bytes - st->xoff_room_curr_occupancy_bytes;
}

// The newest packet of a burst was admitted under the limit as it truly is, not as it was.
static void check_limit(const struct bench *b, uint32_t port, uint32_t pg, uint64_t used_before)
{
	struct pg_stats st = rig_pg(b->rig, port, pg);
	uint64_t shared = rig_pool(b->rig, KVM_INGRESS_POOL).shared_curr_occupancy_bytes;
	uint64_t x = u64_minus(used_of(&st), reserve(b, pg));

	cr_assert_leq(shared, b->shared_bytes);
	if (used_of(&st) > used_before && x > 0)
		cr_assert(within_limit(b, x, b->shared_bytes - shared), "port %u group %u", port,
			  pg);
}

static void receive_lossless(struct bench *b, uint32_t port, uint32_t pg)
{
	struct pg_stats before = rig_pg(b->rig, port, pg);
	uint64_t released = used_of(&before);
	uint64_t limit = room(b, port, pg);
	struct pkt *pkts[BURST];
	uint32_t want = (uint32_t)random_between(b->rng, 1, BURST);
	uint32_t count = 0;
	uint64_t bytes = 0;

	for (; count < want; count++) {
		uint32_t to = (port + 1 + rng_below(b->rng, b->ports - 1)) % b->ports;
		struct frame f = rig_frame(port, to, (uint8_t)pg, 80 + rng_below(b->rng, 1400));

		if (bytes + f.len > limit)
			break;
		bytes += f.len;
		pkts[count] = rig_build(b->rig, &f);
	}
	if (count == 0)
		return;
	sw_rx(b->rig->sw, port_at(port), pkts, count, b->rig->now);
	rig_drain_lcore(b->rig, owner(b, port));
	if (rig_pg(b->rig, port, pg).xoff_state)
		b->in_flight[port][pg - 3] += bytes;
	check_limit(b, port, pg, released);
}

static void receive_lossy(struct bench *b, uint32_t port)
{
	static const uint8_t dscp[] = { 0, 5, 8, 46 };
	struct pkt *pkts[BURST];
	uint32_t count = (uint32_t)random_between(b->rng, 1, BURST);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = rng_below(b->rng, b->ports);
		uint8_t class = dscp[rng_below(b->rng, 4)];
		struct frame f = rig_frame(port, to, class, 80 + rng_below(b->rng, 1400));

		if (random_one_in(b->rng, 20))
			f.dst = 0xffffffffffff;
		pkts[i] = rig_build(b->rig, &f);
	}
	sw_rx(b->rig->sw, port_at(port), pkts, count, b->rig->now);
	rig_drain_lcore(b->rig, owner(b, port));
}

static void receive_pfc(struct bench *b, uint32_t port)
{
	uint8_t enable = (uint8_t)rng_next32(b->rng);
	uint16_t quanta = (uint16_t)rng_next32(b->rng);

	rig_send_pfc(b->rig, port, enable, quanta >> rng_below(b->rng, 16));
}

static void transmit(struct bench *b, uint32_t port)
{
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t want = (uint32_t)random_between(b->rng, 1, SW_BURST_MAX);
	uint32_t count = sw_tx(b->rig->sw, port_at(port), pkts, want, b->rig->now);

	for (uint32_t i = 0; i < count; i++)
		rig_free(b->rig, pkts[i]);
	rig_drain_lcore(b->rig, owner(b, port));
}

static void step(struct bench *b)
{
	uint32_t port = rng_below(b->rng, b->ports);
	lcore_t lcore = owner(b, rng_below(b->rng, b->ports));

	switch (rng_below(b->rng, 16)) {
	case 0:
	case 1: b->rig->now = ns_add(b->rig->now, random_between(b->rng, 0, 20000)); return;
	case 2:
	case 3: sw_tick(b->rig->sw, lcore, b->rig->now); break;
	case 4:
	case 5:
	case 6: sw_take(b->rig->sw, lcore, b->rig->now); break;
	case 7:
	case 8:
		if (!b->filling)
			transmit(b, port);
		return;
	case 9: receive_pfc(b, port); return;
	case 10:
	case 11: receive_lossy(b, port); return;
	default: receive_lossless(b, port, 3 + rng_below(b->rng, LOSSLESS)); return;
	}
	rig_drain_lcore(b->rig, lcore);
}

// --- what holds after each ----------------------------------------------------------------------

static void check_group(struct bench *b, uint32_t port, uint32_t pg)
{
	struct pg_stats st = rig_pg(b->rig, port, pg);

	cr_assert(b->rude || st.dropped_packets == 0, "port %u group %u lost a lossless packet",
		  port, pg);
	cr_assert_leq(st.xoff_room_curr_occupancy_bytes, xoff_bytes(b));
	cr_assert_eq(st.xoff_events - st.xon_events, st.xoff_state);
	if (!st.xoff_state)
		b->in_flight[port][pg - 3] = 0;
}

static void check(struct bench *b)
{
	struct pool_stats in = rig_pool(b->rig, KVM_INGRESS_POOL);
	struct pool_stats lossy = rig_pool(b->rig, KVM_LOSSY_POOL);

	cr_assert(sw_conserved(b->rig->sw));
	cr_assert_leq(in.shared_curr_occupancy_bytes, b->shared_bytes);
	cr_assert_leq(lossy.curr_occupancy_bytes,
		      setup_find_pool(b->rig->config, KVM_LOSSY_POOL)->size);
	cr_assert_leq(rig_switch(b->rig).descriptors_in_use, b->rig->config->sw.descriptors);
	if (headroom_pool(b) != 0)
		cr_assert_leq(in.xoff_room_curr_occupancy_bytes, headroom_pool(b));
	for (uint32_t port = 0; port < b->ports; port++) {
		check_group(b, port, 3);
		check_group(b, port, 4);
	}
}

// Nothing leaves until the run has been where it is dangerous.
static void fill(struct bench *b)
{
	b->filling = true;
	for (uint32_t i = 0; rig_pool(b->rig, KVM_INGRESS_POOL).xoff_room_watermark_bytes == 0;
	     i++) {
		cr_assert_lt(i, 20000);
		step(b);
		check(b);
	}
	b->filling = false;
}

// Every pause is lifted and everything leaves: nothing stays charged or in XOFF.
static void drain(struct bench *b)
{
	cr_assert(rig_run_dry(b->rig, 20000));
	cr_assert(rig_is_open(b->rig));
	cr_assert_eq(rig_switch(b->rig).descriptors_in_use, 0);
}

// A seed is a whole run, and there are many: several to a process.
enum { SEEDS = 100, RUNS = 20 };

static void run(struct rng *rng)
{
	struct bench b = { .rng = rng };
	uint64_t xoffs = 0;

	b.rude = random_one_in(rng, 4);
	b.rig = rig_new(lcores_config(&b));
	b.shared_bytes = setup_find_pool(b.rig->config, KVM_INGRESS_POOL)->size;
	for (uint32_t pg = 0; pg < PG_COUNT; pg++)
		b.shared_bytes -= b.ports * reserve(&b, pg);
	for (uint32_t i = 0; i < STEPS; i++) {
		step(&b);
		check(&b);
	}
	fill(&b);
	for (uint32_t port = 0; port < b.ports; port++)
		xoffs += rig_pg(b.rig, port, 3).xoff_events + rig_pg(b.rig, port, 4).xoff_events;
	cr_assert_gt(xoffs, 0);
	drain(&b);
	rig_end(b.rig);
}

SEED_TEST(prop, core_lcores, rng, SEEDS)
{
	for (uint32_t i = 0; i < RUNS; i++)
		run(rng);
}
