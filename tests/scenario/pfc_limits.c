// SPDX-License-Identifier: BSD-3-Clause
//
// PfcXoffLimit, PfcXonLimit, PGDrop and the fixed points of alpha: when a priority group pauses,
// when it drops and when it resumes, to the packet. Numbers of the KVM platform; the destination's
// transmission is held by not asking for it.
//
// Four ports with two lossless groups each reserve 8 x 1248 bytes of the ingress pool.

#include "tests/rig/oracle.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	SRC = 0,
	DST = 1,
};

static const uint64_t shared = KVM_POOL_BYTES - PORTS * 2 * KVM_RESERVE_BYTES;

static const struct {
	const char *what;
	uint8_t prio;
	uint32_t len;
} xoff_rows[] = {
	{ "xoff_1: priority 3, full frames", 3, 1078 },
	{ "xoff_2: priority 4, full frames", 4, 1078 },
	{ "small frames", 3, 64 },
	{ "jumbo frames", 4, 9114 },
	{ "odd length", 3, 777 },
	{ "minimum frame", 3, 60 },
};

TABLE_TEST(scenario, pfc_xoff_limit, row, xoff_rows)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	struct frame f = rig_frame(SRC, DST, row->prio, row->len);
	uint64_t limit = oracle_xoff_frames(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT, row->len);
	uint64_t room = oracle_frames(KVM_XOFF_BYTES, row->len);
	uint8_t prio = row->prio;

	// At the limit: nothing yet.
	rig_send_many(rig, SRC, &f, limit);
	cr_assert_eq(rig_prio(rig, SRC, prio).pfc_tx_pkts, 0, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, prio).curr_occupancy_bytes, limit * row->len);
	cr_assert_eq(rig_pg(rig, SRC, prio).xoff_room_curr_occupancy_bytes, 0);

	// One more: XOFF for this priority only, at once.
	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig_prio(rig, SRC, prio).pfc_tx_pkts, 1, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].count, 1);
	cr_assert_eq(rig->pfc[SRC].log[0].frame.enable, 1 << prio);
	cr_assert_eq(rig->pfc[SRC].log[0].frame.quanta[prio], 65535);
	cr_assert_eq(rig_pg(rig, SRC, prio).xoff_room_curr_occupancy_bytes, row->len);

	// To the end of headroom: no drop.
	rig_send_many(rig, SRC, &f, room - 1);
	cr_assert_eq(rig_all_drops(rig), 0, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, prio).xoff_room_watermark_bytes, room * row->len);

	// Beyond: ingress drops on this group only (PGDrop).
	rig_send_many(rig, SRC, &f, 3);
	cr_assert_eq(rig_drops(rig, SRC, DROP_PG_LOSSLESS_FULL), 3, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), 3);
	cr_assert_eq(rig_port(rig, SRC).in_dropped_pkts, 3);
	cr_assert_eq(rig_port(rig, DST).out_dropped_pkts, 0);
	for (uint32_t pg = 0; pg < PG_COUNT; pg++)
		cr_assert_eq(rig_pg(rig, SRC, pg).dropped_packets, pg == prio ? 3 : 0);
	for (uint32_t port = 1; port < PORTS; port++)
		cr_assert_eq(rig->pfc[port].count, 0);

	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), limit + room);
	cr_assert_eq(rig_pg(rig, SRC, prio).xoff_state, 0);
	rig_end(rig);
}

TABLE_TEST(scenario, pfc_xon_limit, row, xoff_rows)
{
	struct rig *rig = rig_new(setup_kvm(PORTS));
	uint64_t limit = oracle_xoff_frames(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT, row->len);
	uint64_t resume = oracle_xon_bytes(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT,
					   KVM_XON_OFFSET_BYTES) /
			  row->len;
	uint64_t held[3];
	uint64_t total = limit + 2;
	uint64_t left = total;

	// Three held destinations: all but a little waits for the first two.
	held[0] = total - resume - 1;
	held[1] = 1;
	held[2] = resume;
	for (uint32_t i = 0; i < 3; i++) {
		struct frame f = rig_frame(SRC, DST + i, row->prio, row->len);

		rig_send_many(rig, SRC, &f, held[i]);
	}
	cr_assert_eq(rig->pfc[SRC].xoff[row->prio], 1);

	// The first destination sends: one frame above the XON rule, and PFC stays.
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), held[0]);
	left -= held[0];
	cr_assert_eq(rig_pg(rig, SRC, row->prio).curr_occupancy_bytes, left * row->len);
	cr_assert_eq(rig_pg(rig, SRC, row->prio).xoff_state, 1, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].xon[row->prio], 0, "%s", row->what);

	// The second: at the rule, XON at once.
	cr_assert_eq(rig_release(rig, DST + 1, UINT64_MAX), held[1]);
	cr_assert_eq(rig_pg(rig, SRC, row->prio).xoff_state, 0, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].xon[row->prio], 1);
	cr_assert_eq(rig->pfc[SRC].log[1].at.v, rig->now.v);
	cr_assert_eq(rig->pfc[SRC].log[1].frame.enable, 1 << row->prio);
	cr_assert_eq(rig->pfc[SRC].log[1].frame.quanta[row->prio], 0);

	// The third: nothing more to say.
	cr_assert_eq(rig_release(rig, DST + 2, UINT64_MAX), held[2]);
	cr_assert_eq(rig->pfc[SRC].count, 2);
	cr_assert_eq(rig_pg(rig, SRC, row->prio).xoff_events, 1);
	cr_assert_eq(rig_pg(rig, SRC, row->prio).xon_events, 1);
	cr_assert_gt(rig_pg(rig, SRC, row->prio).xoff_room_watermark_bytes, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}
