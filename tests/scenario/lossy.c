// SPDX-License-Identifier: BSD-3-Clause
//
// Lossy traffic: LossyQueue (overload drops at egress and never pauses anybody), drops at ingress
// when the pool itself is gone, and watermarks of queues and pools step by step (QSharedWatermark,
// PgSharedWatermark, PgHeadroomWatermark, BufferPoolWatermark), each kind cleared by itself.

#include "tests/rig/oracle.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 2,
	SRC = 0,
	DST = 1,
	FILL_FRAMES = 20000, // more than any buffer here holds
};

static const uint64_t lossy_shared = KVM_LOSSY_POOL_BYTES - PORTS * 6 * KVM_LOSSY_QUEUE_BYTES;
static const uint64_t ingress_shared = KVM_POOL_BYTES - PORTS * 2 * KVM_RESERVE_BYTES;

static const struct {
	const char *what;
	uint32_t len;
} lossy_rows[] = {
	{ "1000 bytes", 1000 },
	{ "jumbo", 9114 },
	{ "small", 128 },
};

// alpha 8 at egress: x <= 8 (S - x), so x = 8 S / 9, and the queue's reserve on top.
TABLE_TEST(scenario, lossy_queue, row, lossy_rows)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(SRC, DST, 8, row->len);
	uint64_t limit = (KVM_LOSSY_QUEUE_BYTES + lossy_shared * 8 / 9) / row->len;

	rig_send_many(rig, SRC, &f, limit);
	cr_assert_eq(rig_all_drops(rig), 0, "%s", row->what);
	rig_send_many(rig, SRC, &f, 50);
	cr_assert_eq(rig_drops(rig, DST, DROP_QUEUE_FULL), 50, "%s", row->what);
	cr_assert_eq(rig_port(rig, DST).out_dropped_pkts, 50);
	cr_assert_eq(rig_port(rig, SRC).in_dropped_pkts, 0);
	cr_assert_eq(rig_queue(rig, DST, 0).dropped_packets, 50);
	cr_assert_eq(rig_queue(rig, DST, 0).dropped_bytes, 50 * row->len);
	cr_assert_eq(rig_pool(rig, KVM_LOSSY_POOL).dropped_packets, 50);
	cr_assert_eq(rig_queue(rig, DST, 0).watermark_bytes, limit * row->len);
	cr_assert_eq(rig_queue(rig, DST, 0).shared_watermark_bytes,
		     limit * row->len - KVM_LOSSY_QUEUE_BYTES);
	cr_assert_eq(rig_pg(rig, SRC, 0).curr_occupancy_bytes, limit * row->len);
	cr_assert_eq(rig->pfc[SRC].count + rig->pfc[DST].count, 0);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), limit);
	rig_end(rig);
}

// With egress out of the way the ingress pool is the limit: x = 8 S / 9 of it.
Test(scenario, lossy_ingress)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct frame f = rig_frame(SRC, DST, 0, 1000);
	uint64_t limit = ingress_shared * 8 / 9 / 1000;
	struct rig *rig;

	setup_find_pool(c, KVM_LOSSY_POOL)->size = 1u << 30;
	rig = rig_new(c);
	rig_send_many(rig, SRC, &f, limit + 7);
	cr_assert_eq(rig_drops(rig, SRC, DROP_PG_LOSSY_FULL), 7);
	cr_assert_eq(rig_pg(rig, SRC, 0).dropped_packets, 7);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).dropped_packets, 7);
	cr_assert_eq(rig->pfc[SRC].count, 0);
	rig_end(rig);
}

// Lossy traffic that has taken all it may does not keep lossless traffic from its headroom.
Test(scenario, lossless_beside_lossy)
{
	struct sw_config *c = setup_kvm(3);
	struct rig *rig;
	struct frame lossy = rig_frame(2, DST, 0, 1000);
	struct frame f = rig_frame(SRC, DST, 3, 1000);
	uint64_t queued;

	setup_find_pool(c, KVM_LOSSY_POOL)->size = 1u << 30;
	rig = rig_new(c);
	rig_send_many(rig, 2, &lossy, 15000);
	cr_assert_gt(rig_drops(rig, 2, DROP_PG_LOSSY_FULL), 0);
	rig_fill(rig, SRC, 3, &f);
	rig_send_many(rig, SRC, &f, KVM_XOFF_BYTES / 1000 - 1);
	queued = rig_queue(rig, DST, 3).curr_occupancy_packets;
	cr_assert_eq(queued, f.seq);
	cr_assert_eq(rig_pg(rig, SRC, 3).dropped_packets, 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_watermark_bytes, KVM_XOFF_BYTES / 1000 * 1000);
	rig_end(rig);
}

// Each step raises the watermarks by what it adds, and draining lowers none.
Test(scenario, watermarks_follow)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(SRC, DST, 3, 1248); // the first frame is the reserve
	uint64_t limit = oracle_xoff_frames(KVM_RESERVE_BYTES, ingress_shared, KVM_ALPHA_SHIFT,
					    1248);

	for (uint64_t n = 1; n <= limit + 44; n++) {
		uint64_t under = u64_min(n, limit);

		rig_send_many(rig, SRC, &f, 1);
		cr_assert_eq(rig_pg(rig, SRC, 3).watermark_bytes, n * 1248);
		cr_assert_eq(rig_pg(rig, SRC, 3).shared_watermark_bytes, (under - 1) * 1248);
		cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_watermark_bytes, (n - under) * 1248);
		cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).watermark_bytes, under * 1248);
		cr_assert_eq(rig_queue(rig, DST, 3).watermark_bytes, n * 1248);
	}
	rig_advance(rig, 12345);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), limit + 44);
	cr_assert_eq(rig_pg(rig, SRC, 3).watermark_bytes, (limit + 44) * 1248);
	cr_assert_eq(rig_queue(rig, DST, 3).watermark_bytes, (limit + 44) * 1248);
	cr_assert_eq(rig_queue(rig, DST, 3).delay_watermark_ns, 12345);
	cr_assert_eq(rig_pg(rig, SRC, 3).curr_occupancy_bytes, 0);
	rig_end(rig);
}

static uint64_t pg_watermark(const struct rig *rig, enum watermark_kind kind)
{
	struct pg_stats stats;

	sw_stats_pg(rig->sw, (port_t){ SRC }, (pg_t){ 3 }, kind, &stats);
	return stats.watermark_bytes;
}

// User, persistent and periodic watermarks clear independently, to what is held now.
Test(scenario, watermark_kinds)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(SRC, DST, 3, 1000);

	rig_send_many(rig, SRC, &f, 10);
	rig_release(rig, DST, 7);
	sw_clear_watermarks(rig->sw, WATERMARK_USER);
	cr_assert_eq(pg_watermark(rig, WATERMARK_USER), 3000);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERSISTENT), 10000);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERIODIC), 10000);
	rig_send_many(rig, SRC, &f, 2);
	cr_assert_eq(pg_watermark(rig, WATERMARK_USER), 5000);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERSISTENT), 10000);
	sw_clear_watermarks(rig->sw, WATERMARK_PERSISTENT);
	cr_assert_eq(pg_watermark(rig, WATERMARK_USER), 5000);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERSISTENT), 5000);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERIODIC), 10000);
	rig_release(rig, DST, UINT64_MAX);
	sw_clear_watermarks(rig->sw, WATERMARK_PERIODIC);
	cr_assert_eq(pg_watermark(rig, WATERMARK_PERIODIC), 0);
	cr_assert_eq(pg_watermark(rig, WATERMARK_USER), 5000);
	rig_end(rig);
}

// Neither can CNPs be starved: while other traffic has taken both pools, their reserve of 4 KiB at
// ingress (where their group is theirs alone, as in the RoCE maps) and at egress is still there.
Test(scenario, cnp_reserve)
{
	struct sw_config *c = setup_kvm(3);
	struct buffer_profile_config *hogs[] = { setup_find_profile(c, KVM_PG_LOSSY),
						 setup_find_profile(c, KVM_QUEUE_LOSSY) };
	struct frame hog = rig_frame(2, DST, 0, 1000);
	struct frame cnp = rig_frame(SRC, DST, 48, 74);
	struct rig *rig;

	for (uint32_t i = 0; i < 3; i++) {
		struct port_config *port = &c->port[i];

		setup_name(port->dscp_to_tc_map, "roce");
		setup_name(port->tc_to_pg_map, "roce");
		setup_name(port->pfc_to_pg_map, "roce");
		port->pfc_enable = 1 << 3;
		port->cnp_reserve = 4096;
	}
	setup_unbind_pgs(c);
	setup_pg(c, "all", 1 << 3, KVM_PG_LOSSLESS);
	setup_pg(c, "all", 0xf7, KVM_PG_LOSSY);
	for (uint32_t i = 0; i < 2; i++) {
		hogs[i]->dynamic_th = CONFIG_UNSET_INT;
		hogs[i]->static_th = 0;
	}
	rig = rig_new(c);
	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) == 0; i++)
		rig_send_many(rig, 2, &hog, 1);
	hog.len = 60;
	hog.kind = FRAME_UDP;
	for (uint32_t i = 0; i < FILL_FRAMES && rig_all_drops(rig) < 2; i++)
		rig_send_many(rig, 2, &hog, 1);
	cr_assert_eq(rig_all_drops(rig), 2);

	cnp.opcode = 0x81;
	rig_send_many(rig, SRC, &cnp, 4096 / 74);
	cr_assert_eq(rig_all_drops(rig), 2);
	rig_send_many(rig, SRC, &cnp, 1);
	cr_assert_eq(rig_all_drops(rig), 3);
	// Strict: they are the first to leave.
	for (uint32_t i = 0; i < 4096 / 74; i++) {
		struct frame got;

		cr_assert(rig_take_frame(rig, DST, &got));
		cr_assert_eq(got.opcode, 0x81);
	}
	rig_end(rig);
}
