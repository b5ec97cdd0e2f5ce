// SPDX-License-Identifier: BSD-3-Clause
//
// The terms of the limit: reserve, alpha, static thresholds, cells and descriptors. PgMinThreshold,
// XonHysteresis and the fixed points of SAI's formula.
//
// Each oracle is the formula on the configuration's numbers. Where the shared part must be a round
// number, reserves are configured away (size = xoff).

#include "tests/rig/oracle.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 3,
	LEN = 1000,
	FILL_FRAMES = 20000, // more than any buffer here holds
};

// All of the pool is shared: the lossless profile has no reserve.
static struct sw_config *unreserved(uint32_t ports)
{
	struct sw_config *c = setup_kvm(ports);

	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XOFF_BYTES;
	return c;
}

// Lossy traffic that nothing limits but the ingress pool itself.
static void add_hog(struct sw_config *c)
{
	struct buffer_profile_config *in = setup_find_profile(c, KVM_PG_LOSSY);
	struct buffer_profile_config *out = setup_find_profile(c, KVM_QUEUE_LOSSY);

	in->dynamic_th = CONFIG_UNSET_INT;
	in->static_th = 0;
	out->dynamic_th = CONFIG_UNSET_INT;
	out->static_th = 0;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = 1u << 30;
}

// Sends to port `to` until the group is in XOFF; returns the bytes that fit under the limit.
static uint64_t fill(struct rig *rig, uint32_t from, uint32_t to, uint32_t len)
{
	struct frame f = rig_frame(from, to, 3, len);

	rig_fill(rig, from, 3, &f);
	return rig_pg(rig, from, 3).curr_occupancy_bytes -
	       rig_pg(rig, from, 3).xoff_room_curr_occupancy_bytes;
}

// KVM pool of 12766208 bytes, alpha 1/8: 12766208 / 9 = 1418467 alone.
Test(scenario, fixed_point_alone)
{
	struct rig *rig = rig_new(unreserved(PORTS));
	uint64_t used = fill(rig, 0, 1, LEN);

	cr_assert_eq(oracle_fixed_point(KVM_POOL_BYTES, KVM_ALPHA_SHIFT, 1), 1418467);
	cr_assert_leq(used, 1418467);
	cr_assert_gt(used + LEN, 1418467);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// Two groups: 12766208 / 10 = 1276620 each (the field rounds to 1276621).
Test(scenario, fixed_point_two)
{
	struct rig *rig = rig_new(unreserved(PORTS));
	struct frame f[2] = { rig_frame(0, 2, 3, LEN), rig_frame(1, 2, 3, LEN) };

	// In turn, for each one lowers the limit of the other.
	for (uint32_t n = 0; n < FILL_FRAMES; n++) {
		if (!rig_pg(rig, n % 2, 3).xoff_state)
			rig_send_many(rig, n % 2, &f[n % 2], 1);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct pg_stats pg = rig_pg(rig, i, 3);
		uint64_t used = pg.curr_occupancy_bytes - pg.xoff_room_curr_occupancy_bytes;

		cr_assert_eq(pg.xoff_state, 1);
		cr_assert_eq(pg.xoff_room_curr_occupancy_bytes, LEN);
		cr_assert_leq(used, 1276621);
		cr_assert_gt(used + LEN, 1276620);
	}
	rig_end(rig);
}

// A second group lowers the limit of the first: alone it stood below, now it is above and pauses.
Test(scenario, limit_shrinks_with_the_pool)
{
	struct rig *rig = rig_new(unreserved(PORTS));
	struct frame f = rig_frame(0, 2, 3, LEN);

	rig_send_many(rig, 0, &f, 1400);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0);
	fill(rig, 1, 2, LEN);
	rig_send_many(rig, 0, &f, 1);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_room_curr_occupancy_bytes, LEN);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// PgMinThreshold: while others hold the whole shared part, a group has its reserve, and no more.
Test(scenario, pg_min_threshold)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct rig *rig;
	struct frame hog = rig_frame(2, 1, 0, LEN);
	struct frame f = rig_frame(0, 1, 3, LEN);
	// Six lossless groups with 10000 bytes of reserve leave 500000 shared.
	const uint64_t reserve = 10000;

	add_hog(c);
	setup_find_profile(c, KVM_PG_LOSSLESS)->size = KVM_XOFF_BYTES + reserve;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 500000 + PORTS * 2 * reserve;
	rig = rig_new(c);
	rig_send_many(rig, 2, &hog, 500);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).shared_curr_occupancy_bytes, 500000);
	rig_send_many(rig, 2, &hog, 1);
	cr_assert_eq(rig_drops(rig, 2, DROP_PG_LOSSY_FULL), 1);

	rig_send_many(rig, 0, &f, reserve / LEN);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0);
	cr_assert_eq(rig_pg(rig, 0, 3).shared_curr_occupancy_bytes, 0);
	rig_send_many(rig, 0, &f, 1);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_room_curr_occupancy_bytes, LEN);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).shared_curr_occupancy_bytes, 500000);
	cr_assert_eq(rig_all_drops(rig), 1);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t xon, xon_offset;
} xon_rows[] = {
	{ "shipped row", 18432, 2496 },
	{ "unset offset: only xon counts", 18432, 0 },
	{ "wide hysteresis", 18432, 500000 },
	{ "xon above limit - offset", 1200000, 900000 },
	{ "offset beyond the limit", 20000, 4000000 },
	{ "xon 0, no offset: when empty", 0, 0 },
};

// XonHysteresis: XON at or below max(xon, limit - xon_offset), offset 0 being unset.
TABLE_TEST(scenario, xon_hysteresis, row, xon_rows)
{
	struct sw_config *c = unreserved(2);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);
	uint64_t rule = row->xon;
	uint64_t used;
	struct rig *rig;

	profile->xon = row->xon;
	profile->xon_offset = row->xon_offset;
	if (row->xon_offset != 0 && (row->xon_offset << KVM_ALPHA_SHIFT) < KVM_POOL_BYTES)
		rule = u64_max(rule, oracle_xon_bytes(0, KVM_POOL_BYTES, KVM_ALPHA_SHIFT,
						      row->xon_offset));
	rig = rig_new(c);
	used = fill(rig, 0, 1, LEN) + LEN;
	for (; used / LEN > rule / LEN; used -= LEN) {
		cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1, "%s at %lu", row->what, used);
		cr_assert_eq(rig_release(rig, 1, 1), 1);
	}
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0, "%s at %lu", row->what, used);
	cr_assert_eq(rig->pfc[0].xon[3], 1);
	rig_end(rig);
}

// A static threshold counts shared bytes whatever others use, as long as the pool has them.
Test(scenario, static_threshold)
{
	struct sw_config *c = setup_kvm(2);
	struct buffer_profile_config *profile = setup_find_profile(c, KVM_PG_LOSSLESS);
	struct rig *rig;

	profile->dynamic_th = CONFIG_UNSET_INT;
	profile->static_th = 100000;
	rig = rig_new(c);
	cr_assert_eq(fill(rig, 0, 1, LEN), (KVM_RESERVE_BYTES + 100000) / LEN * LEN);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_threshold_bytes, KVM_RESERVE_BYTES + 100000);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint32_t cell, len, charge;
} cell_rows[] = {
	{ "byte-exact", 1, 777, 777 },
	{ "80: one byte into the second cell", 80, 81, 160 },
	{ "96: whole cells", 96, 960, 960 },
	{ "144", 144, 1078, 1152 },
	{ "208", 208, 64, 208 },
	{ "256", 256, 257, 512 },
};

TABLE_TEST(scenario, cells, row, cell_rows)
{
	struct sw_config *c = unreserved(2);
	uint64_t limit = oracle_xoff_frames(0, KVM_POOL_BYTES, KVM_ALPHA_SHIFT, row->charge);
	uint64_t room = oracle_frames(KVM_XOFF_BYTES, row->charge);
	struct frame f = rig_frame(0, 1, 3, row->len);
	struct rig *rig;

	c->sw.cell = row->cell;
	rig = rig_new(c);
	rig_send_many(rig, 0, &f, limit);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, limit * row->charge);
	cr_assert_eq(rig_queue(rig, 1, 3).curr_occupancy_bytes, limit * row->charge);
	rig_send_many(rig, 0, &f, room);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
	cr_assert_eq(rig_pg(rig, 0, 3).bytes, (limit + room) * row->len); // not in cells
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_send_many(rig, 0, &f, 1);
	cr_assert_eq(rig_all_drops(rig), 1, "%s", row->what);
	cr_assert_eq(rig_release(rig, 1, UINT64_MAX), limit + room);
	cr_assert_eq(rig_queue(rig, 1, 3).bytes, (limit + room) * row->len); // nor here
	rig_end(rig);
}

// Descriptors left when the group may resume: at most seven eighths of its limit of that moment.
static uint64_t descriptor_resume(uint64_t shared)
{
	uint64_t held = shared;

	while (held > (shared - held) / 8 - (shared - held) / 8 / 8)
		held--;
	return held;
}

static const struct {
	const char *what;
	uint8_t segments;
} descriptor_rows[] = {
	{ "one mbuf per frame", 1 },
	{ "four mbufs per frame", 4 },
};

// A flood of small frames pauses when descriptors run low, far below the limit in bytes, and
// headroom is there in descriptors as well.
TABLE_TEST(scenario, descriptors, row, descriptor_rows)
{
	struct sw_config *c = unreserved(2);
	// Four lossless groups set aside headroom in minimum frames: ceil(55120 / 60) each.
	const uint64_t aside = 4 * ((KVM_XOFF_BYTES + 59) / 60);
	const uint64_t shared = 16384 - aside;
	const uint64_t limit = oracle_fixed_point(shared, KVM_ALPHA_SHIFT, 1) / row->segments;
	const uint64_t resume = descriptor_resume(shared) / row->segments;
	const uint64_t room = ((KVM_XOFF_BYTES + 59) / 60) / row->segments;
	struct frame f = rig_frame(0, 1, 3, 60);
	struct rig *rig;

	c->sw.descriptors = 16384;
	rig = rig_new(c);
	rig->descriptors = row->segments;
	rig_send_many(rig, 0, &f, limit);
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0, "%s", row->what);
	cr_assert_lt(limit * 60, 1418467 / 10);
	rig_send_many(rig, 0, &f, 1);
	cr_assert_eq(rig->pfc[0].xoff[3], 1, "%s", row->what);
	rig_send_many(rig, 0, &f, u64_min(room, KVM_XOFF_BYTES / 60) - 1);
	cr_assert_eq(rig_all_drops(rig), 0, "%s", row->what);
	rig_send_many(rig, 0, &f, 1);
	cr_assert_eq(rig_drops(rig, 0, DROP_PG_LOSSLESS_FULL), 1, "%s", row->what);

	while (rig_queue(rig, 1, 3).curr_occupancy_packets > resume) {
		cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 1);
		cr_assert_eq(rig_release(rig, 1, 1), 1);
	}
	cr_assert_eq(rig_pg(rig, 0, 3).xoff_state, 0, "%s", row->what);
	rig_end(rig);
}

// A lossy flood of small frames runs out of descriptors instead: dropped under that name.
Test(scenario, descriptors_lossy)
{
	struct sw_config *c = unreserved(2);
	struct frame f = rig_frame(0, 1, 0, 60);
	struct rig *rig;
	uint64_t shared = 16384 - 4 * ((KVM_XOFF_BYTES + 59) / 60);
	uint64_t limit = shared * 8 / 9; // alpha 8: x = 8 (shared - x)

	c->sw.descriptors = 16384;
	setup_find_profile(c, KVM_QUEUE_LOSSY)->dynamic_th = 7;
	rig = rig_new(c);
	rig_send_many(rig, 0, &f, limit + 10);
	cr_assert_eq(rig_drops(rig, 0, DROP_DESCRIPTORS), 10);
	cr_assert_eq(rig->pfc[0].count, 0);
	rig_end(rig);
}
