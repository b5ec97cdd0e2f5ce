// SPDX-License-Identifier: BSD-3-Clause
//
// The buffer under random traffic, against a model of SAI's formula that is written here and shares
// nothing with the code: which packet fits under its limit, which goes to headroom, which is
// refused, and when XON is due. Peers obey: after XOFF a group receives at most its headroom, which
// is what sizing by formula means, so no lossless packet may ever be dropped.
//
// After every step: conservation, limits, and XON wherever the rule says so.

#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	STEPS = 3000,
	PORTS_MAX = 6,
	LOSSLESS = 2, // groups 3 and 4 of each port
};

struct bench {
	struct rig *rig;
	struct rng *rng;
	uint32_t ports;
	uint64_t in_flight[PORTS_MAX]
			  [LOSSLESS]; // charged since XOFF began, its first packet included
	uint64_t xoffs, to_headroom, refused;
};

static uint64_t charge_of(const struct bench *b, uint32_t len)
{
	uint64_t cell = b->rig->config->sw.cell;

	return (len + cell - 1) / cell * cell;
}

static const struct buffer_profile_config *profile_of(const struct bench *b, uint32_t pg)
{
	return setup_find_profile(b->rig->config,
				  pg == 3 || pg == 4 ? KVM_PG_LOSSLESS : KVM_PG_LOSSY);
}

static uint64_t reserve_of(const struct bench *b, uint32_t pg)
{
	const struct buffer_profile_config *row = profile_of(b, pg);
	bool shared = setup_find_pool(b->rig->config, KVM_INGRESS_POOL)->xoff != 0;

	return shared || row->size <= row->xoff ? (shared ? row->size : 0) : row->size - row->xoff;
}

// The pool's shared part: its size less all reserves.
static uint64_t shared_bytes(const struct bench *b)
{
	return setup_find_pool(b->rig->config, KVM_INGRESS_POOL)->size -
	       b->ports * (LOSSLESS * reserve_of(b, 3) + (PG_COUNT - LOSSLESS) * reserve_of(b, 0));
}

// `x` shared bytes are allowed while `free` are free: x <= 2^alpha free, without rounding.
static bool allowed(const struct buffer_profile_config *row, uint64_t x, uint64_t free_bytes)
{
	if (row->static_th != CONFIG_UNSET)
		return row->static_th == 0 || x <= row->static_th;
	return row->dynamic_th >= 0 ? x <= free_bytes << row->dynamic_th :
				      x << -row->dynamic_th <= free_bytes;
}

static bool fits_limit(const struct bench *b, uint32_t port, uint32_t pg, uint64_t charge)
{
	struct pg_stats st = rig_pg(b->rig, port, pg);
	uint64_t used = st.curr_occupancy_bytes - st.xoff_room_curr_occupancy_bytes;
	uint64_t x = u64_minus(used + charge, reserve_of(b, pg));
	uint64_t pool = rig_pool(b->rig, KVM_INGRESS_POOL).shared_curr_occupancy_bytes + x -
			u64_minus(used, reserve_of(b, pg));

	if (x == 0)
		return true;
	return pool <= shared_bytes(b) && allowed(profile_of(b, pg), x, shared_bytes(b) - pool);
}

// A peer that obeys sends this packet: XOFF has not begun, or it is still covered by headroom.
static bool may_send(const struct bench *b, uint32_t port, uint32_t pg, uint64_t charge)
{
	uint64_t pool = setup_find_pool(b->rig->config, KVM_INGRESS_POOL)->xoff;
	uint64_t total = charge;

	if (b->in_flight[port][pg - 3] + charge > profile_of(b, pg)->xoff)
		return false;
	for (uint32_t i = 0; i < b->ports; i++)
		total += b->in_flight[i][0] + b->in_flight[i][1];
	return pool == 0 || total <= pool;
}

static void note_sent(struct bench *b, uint32_t port, uint32_t pg, uint64_t charge, bool fitted)
{
	struct pg_stats st = rig_pg(b->rig, port, pg);

	cr_assert(st.xoff_state || fitted);
	if (!st.xoff_state)
		return;
	b->in_flight[port][pg - 3] += charge;
	b->to_headroom += !fitted;
}

// One packet, its fate predicted.
static void send_one(struct bench *b)
{
	static const uint8_t dscp[] = { 3, 4, 0, 5, 8, 46 };
	static const uint32_t pgs[] = { 3, 4, 0, 0, 0, 0 };
	uint32_t port = rng_below(b->rng, b->ports);
	uint32_t to = (port + 1 + rng_below(b->rng, b->ports - 1)) % b->ports;
	uint32_t class = rng_below(b->rng, 6);
	struct frame f = rig_frame(port, to, dscp[class], 60 + rng_below(b->rng, 1700));
	uint32_t pg = pgs[class];
	uint64_t charge;
	struct pg_stats before, after;
	bool fits;

	f.ecn = (uint8_t)rng_below(b->rng, 4);
	f.kind = f.len < 74 ? FRAME_UDP : FRAME_ROCE;
	charge = charge_of(b, f.len);
	if (class < LOSSLESS && !may_send(b, port, pg, charge))
		return;
	before = rig_pg(b->rig, port, pg);
	fits = fits_limit(b, port, pg, charge);
	rig_send(b->rig, port, &f);
	after = rig_pg(b->rig, port, pg);
	if (class < LOSSLESS) {
		cr_assert_eq(after.packets, before.packets + 1);
		cr_assert_eq(after.xoff_room_curr_occupancy_bytes,
			     before.xoff_room_curr_occupancy_bytes + (fits ? 0 : charge));
		b->xoffs += after.xoff_events - before.xoff_events;
		note_sent(b, port, pg, charge, fits);
	} else {
		cr_assert_eq(after.dropped_packets, before.dropped_packets + !fits);
		b->refused += !fits;
	}
}

// Pauses of all lengths, short ones as likely as long ones.
static void send_random_pfc(struct bench *b, uint32_t port)
{
	uint8_t enable = (uint8_t)rng_next32(b->rng);
	uint16_t quanta = (uint16_t)rng_next32(b->rng);

	rig_send_pfc(b->rig, port, enable, quanta >> rng_below(b->rng, 16));
}

static void random_step(struct bench *b)
{
	uint32_t port = rng_below(b->rng, b->ports);

	switch (rng_below(b->rng, 24)) {
	case 0:
	case 1: send_random_pfc(b, port); return;
	case 2: rig_advance(b->rig, random_between(b->rng, 0, 100000)); return;
	case 3:
	case 4: rig_release(b->rig, port, random_between(b->rng, 1, 40)); return;
	case 5: rig_advance(b->rig, random_between(b->rng, 0, 3000)); return;
	default: break;
	}
	for (uint32_t i = rng_below(b->rng, 8); i > 0; i--)
		send_one(b);
}

// XON was given wherever SAI's two conditions hold.
static void check_xon(struct bench *b, uint32_t port, uint32_t pg)
{
	const struct buffer_profile_config *row = profile_of(b, pg);
	const struct pool_config *pool = setup_find_pool(b->rig->config, KVM_INGRESS_POOL);
	struct pg_stats st = rig_pg(b->rig, port, pg);
	struct pool_stats now = rig_pool(b->rig, KVM_INGRESS_POOL);
	uint64_t occupied = st.curr_occupancy_bytes;
	uint64_t x = u64_minus(occupied + row->xon_offset, reserve_of(b, pg));
	uint64_t left = shared_bytes(b) - now.shared_curr_occupancy_bytes;
	bool low = occupied <= row->xon;
	bool room = st.xoff_room_curr_occupancy_bytes == 0;

	if (row->xon_offset != 0)
		// Nothing may have more than it holds and the pool has left, whatever its limit.
		low |= allowed(row, x, left) && left >= row->xon_offset;
	if (pool->xoff != 0)
		room &= now.xoff_room_curr_occupancy_bytes + row->xoff <= pool->xoff;
	cr_assert(!st.xoff_state || !(low && room), "port %u group %u: XON is due at %lu", port, pg,
		  occupied);
	if (!st.xoff_state)
		b->in_flight[port][pg - 3] = 0;
}

static void check_limits(const struct bench *b, uint32_t port, uint32_t pg)
{
	struct pg_stats st = rig_pg(b->rig, port, pg);

	cr_assert_leq(st.xoff_room_curr_occupancy_bytes, profile_of(b, pg)->xoff);
	cr_assert_eq(st.dropped_packets, 0);
	cr_assert(st.xoff_state || st.xoff_room_curr_occupancy_bytes == 0);
	cr_assert_eq(st.xoff_events - st.xon_events, st.xoff_state);
}

static void check(struct bench *b)
{
	const struct pool_config *pool = setup_find_pool(b->rig->config, KVM_INGRESS_POOL);
	struct pool_stats now = rig_pool(b->rig, KVM_INGRESS_POOL);

	rig_advance(b->rig, 0);
	cr_assert(sw_conserved(b->rig->sw));
	cr_assert_leq(now.curr_occupancy_bytes, pool->size);
	cr_assert_leq(now.shared_curr_occupancy_bytes, shared_bytes(b));
	if (pool->xoff != 0)
		cr_assert_leq(now.xoff_room_curr_occupancy_bytes, pool->xoff);
	for (uint32_t port = 0; port < b->ports; port++) {
		for (uint32_t pg = 3; pg <= 4; pg++) {
			check_limits(b, port, pg);
			check_xon(b, port, pg);
		}
	}
}

// Nothing leaves any more until the run has been where it is dangerous.
static void fill(struct bench *b)
{
	for (uint32_t i = 0; b->to_headroom == 0; i++) {
		cr_assert_lt(i, 20000);
		send_one(b);
		check(b);
	}
}

// Every pause is lifted and everything leaves: nothing stays charged or in XOFF.
static void drain(struct bench *b)
{
	cr_assert(rig_run_dry(b->rig, 10000));
	cr_assert(rig_is_open(b->rig));
	for (uint32_t port = 0; port < b->ports; port++)
		cr_assert_eq(b->rig->pfc[port].xoff[0], 0);
}

SEED_TEST(prop, core_buffers, rng, 40)
{
	struct bench b = { .rng = rng };
	struct sw_config *c;

	b.ports = (uint32_t)random_between(rng, 2, PORTS_MAX);
	c = random_config(rng, b.ports);
	c->wred[0].wred_green_enable = false; // what it drops behind admission blurs the prediction
	b.rig = rig_new(c);
	for (uint32_t step = 0; step < STEPS; step++) {
		random_step(&b);
		check(&b);
	}
	fill(&b);
	cr_assert_gt(b.xoffs, 0);
	drain(&b);
	rig_end(b.rig);
}

// Directed: headroom takes its frames to the last one, and one frame more is dropped.
SEED_TEST(prop, core_headroom_is_exact, rng, 40)
{
	struct bench b = { .rng = rng, .ports = 2 };
	struct sw_config *c = random_config(rng, 2);
	uint32_t len = (uint32_t)random_between(rng, 74, 1500);
	struct frame f = rig_frame(0, 1, 3, len);
	uint64_t frames;

	b.rig = rig_new(c);
	frames = profile_of(&b, 3)->xoff / charge_of(&b, len);
	rig_fill(b.rig, 0, 3, &f);
	rig_send_many(b.rig, 0, &f, frames - 1);
	cr_assert_eq(rig_pg(b.rig, 0, 3).dropped_packets, 0);
	rig_send_many(b.rig, 0, &f, 1);
	cr_assert_eq(rig_pg(b.rig, 0, 3).dropped_packets, 1);
	cr_assert_eq(rig_drops(b.rig, 0, DROP_PG_LOSSLESS_FULL), 1);
	drain(&b);
	rig_end(b.rig);
}
