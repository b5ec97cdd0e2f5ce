// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs of the shared buffer: whose drop a drop is, what a changed threshold does to packets
// that wait, what a late response costs, and how PFC ends when it is switched off. Names are those
// of rows.tsv, which says what holds instead of the bug.

#include "tests/issues/star.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 1000,
};

// --- whose drop it is -------------------------------------------------------------------------

static uint64_t refused_by_groups(const struct rig *rig)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < rig->pf->port_count; port++) {
		for (uint32_t i = 0; i < PG_COUNT; i++)
			sum += rig_pg(rig, port, i).dropped_packets;
	}
	return sum;
}

static uint64_t dropped_by_queues(const struct rig *rig)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < rig->pf->port_count; port++) {
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			sum += rig_queue(rig, port, i).dropped_packets;
	}
	return sum;
}

static uint64_t dropped_by_ports(const struct rig *rig)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < rig->pf->port_count; port++)
		sum += rig_port(rig, port).in_dropped_pkts + rig_port(rig, port).out_dropped_pkts;
	return sum;
}

// A sink pauses both lossless priorities without end. One sender ignores the PFC that follows, one
// obeys it, and two overload the lossy queue: every lost frame is in one group or one queue.
Test(issues, SONiC_167)
{
	struct host_config hosts[4];
	struct star star;

	star_hosts(hosts, 4);
	hosts[0].obey = 0;
	host_add_flow(&hosts[0], 3, 3, STAR_LEN);
	host_add_flow(&hosts[1], 3, 4, STAR_LEN);
	host_add_flow(&hosts[1], 3, 0, STAR_LEN)->dscp = 8;
	host_add_flow(&hosts[2], 3, 0, STAR_LEN)->dscp = 8;
	hosts[3].storm = (struct host_storm_config){
		.enable = 0x18, .quanta = 65535, .gap_ns = 100000, .stop = { 5 * STAR_MS }
	};
	star = star_new(star_config(4), hosts);
	net_run(star.net, 4 * STAR_MS);
	star_finish(&star, 4 * STAR_MS);

	cr_assert_gt(rig_pg(star.rig, 0, 3).dropped_packets, 1000);
	cr_assert_eq(rig_pg(star.rig, 0, 3).dropped_packets,
		     rig_drops(star.rig, 0, DROP_PG_LOSSLESS_FULL));
	cr_assert_gt(rig_queue(star.rig, 3, 0).dropped_packets, 1000);
	cr_assert_eq(rig_queue(star.rig, 3, 0).dropped_packets,
		     rig_drops(star.rig, 3, DROP_QUEUE_FULL));
	cr_assert_eq(rig_pg(star.rig, 1, 4).dropped_packets, 0);
	cr_assert_gt(rig_pg(star.rig, 1, 4).xoff_events, 0);
	cr_assert_eq(refused_by_groups(star.rig) + dropped_by_queues(star.rig),
		     dropped_by_ports(star.rig));
	cr_assert_eq(dropped_by_ports(star.rig), rig_switch(star.rig).dropped_packets);
	// And the receiver missed exactly these.
	cr_assert_eq(star_sent(&star, 3) - star_prio(&star, 3, 3).rx_packets,
		     rig_pg(star.rig, 0, 3).dropped_packets);
	cr_assert_eq(star_sent(&star, 0) - star_prio(&star, 3, 0).rx_packets,
		     rig_queue(star.rig, 3, 0).dropped_packets);
	net_end(star.net);
}

// Ways to lose a frame of class 3 or 0 other than by the limit of its group.
enum other_way { OWN_LIMIT, EGRESS_LIMIT, EGRESS_WRED, NOBODY_UP, EGRESS_MTU, HAIRPIN, STRANGER };

static const struct {
	const char *what;
	enum other_way way;
	enum drop_reason reason;
	uint8_t dscp;
	bool group; // counted at the group
	uint64_t drops;
} way_rows[] = {
	{ "its own limit and headroom", OWN_LIMIT, DROP_PG_LOSSLESS_FULL, 3, true, 5 },
	{ "a lossy queue's limit", EGRESS_LIMIT, DROP_QUEUE_FULL, 8, false, 5 },
	{ "WRED", EGRESS_WRED, DROP_QUEUE_WRED, 8, false, 5 },
	{ "no other port that is up", NOBODY_UP, DROP_FLOOD_NOWHERE, 8, false, 5 },
	{ "a smaller MTU", EGRESS_MTU, DROP_EGRESS_MTU, 3, false, 5 },
	{ "a destination behind its own port", HAIRPIN, DROP_SAME_PORT, 3, false, 5 },
	{ "a VLAN the port is not in", STRANGER, DROP_VLAN_NOT_MEMBER, 3, false, 5 },
};

// Frames until the first is lost, at most, plus four more.
static void lose_five(struct rig *rig, struct frame *f)
{
	for (uint32_t i = 0; i < 100000 && rig_all_drops(rig) < 5; i++)
		rig_send_many(rig, SRC, f, 1);
}

TABLE_TEST(issues, sonic_mgmt_14748, row, way_rows)
{
	struct sw_config *c = star_config(3);
	struct frame f = rig_frame(SRC, row->way == HAIRPIN ? SRC : DST, row->dscp, LEN);
	struct rig *rig;

	if (row->way == EGRESS_WRED) {
		setup_wred(c, "drop", 20 * LEN, 20 * LEN, 1000000);
		c->wred[0].wred_green_enable = true;
		setup_queue(c, "all", 1 << 0, "", "drop");
		f.ecn = 0;
	}
	if (row->way == EGRESS_MTU)
		c->port[DST].mtu = LEN - 14 - 1;
	if (row->way == EGRESS_LIMIT)
		setup_find_pool(c, KVM_LOSSY_POOL)->size = 100000;
	if (row->way == STRANGER) {
		f.tag_count = 1;
		f.tag[0].tci = 77;
	}
	rig = rig_new(c);
	for (uint32_t port = DST; port < 3 && row->way == NOBODY_UP; port++)
		rig_link(rig, port, false);
	lose_five(rig, &f);
	cr_assert_eq(rig_drops(rig, SRC, row->reason) + rig_drops(rig, DST, row->reason),
		     row->drops, "%s", row->what);
	cr_assert_eq(rig_all_drops(rig), row->drops, "%s", row->what);
	cr_assert_eq(refused_by_groups(rig), row->group ? row->drops : 0, "%s", row->what);
	cr_assert_eq(rig_pg(rig, SRC, 3).dropped_packets, row->group ? row->drops : 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_watermark_bytes > 0, row->group, "%s",
		     row->what);
	cr_assert_eq(rig_pool(rig, KVM_INGRESS_POOL).dropped_packets, row->group ? row->drops : 0);
	rig_end(rig);
}

// --- thresholds of a live profile -------------------------------------------------------------

static uint64_t limit_of(uint32_t shift)
{
	const uint64_t shared = KVM_POOL_BYTES - 2 * 2 * KVM_RESERVE_BYTES;

	return oracle_xoff_frames(KVM_RESERVE_BYTES, shared, shift, LEN);
}

// dynamic_th goes from -3 to 0 while a group holds what -3 allows: the next frames fit, up to the
// new limit to the byte. Back at -3 the group is over: it stays paused, loses nothing, and resumes
// where the old law says.
Test(issues, sonic_buildimage_3971)
{
	struct rig *rig = rig_new(setup_kvm(2));
	const uint64_t shared = KVM_POOL_BYTES - 2 * 2 * KVM_RESERVE_BYTES;
	struct buffer_profile_config *profile = setup_find_profile(rig->config, KVM_PG_LOSSLESS);
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	uint64_t next = 0;
	struct frame got;

	rig_send_many(rig, SRC, &f, limit_of(3));
	cr_assert_eq(rig->pfc[SRC].count, 0);
	profile->dynamic_th = 0;
	cr_assert_eq(rig_reload(rig), 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).curr_occupancy_bytes, limit_of(3) * LEN);
	rig_send_many(rig, SRC, &f, limit_of(0) - limit_of(3));
	cr_assert_eq(rig->pfc[SRC].count, 0);
	cr_assert_eq(rig_pg(rig, SRC, 3).xoff_room_curr_occupancy_bytes, 0);
	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig->pfc[SRC].xoff[3], 1);

	profile->dynamic_th = -3;
	cr_assert_eq(rig_reload(rig), 0);
	while (rig_pg(rig, SRC, 3).xoff_state) {
		cr_assert(rig_take_frame(rig, DST, &got));
		cr_assert_eq(got.seq, next++);
	}
	// XON at reserve + limit - xon_offset, as a fixed point of what is held.
	cr_assert_eq(f.seq - next, oracle_xon_bytes(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT,
						    KVM_XON_OFFSET_BYTES) /
					   LEN);
	while (rig_take_frame(rig, DST, &got))
		cr_assert_eq(got.seq, next++);
	cr_assert_eq(next, f.seq);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- headroom and the peer's response ---------------------------------------------------------

// A gapless sender at 1 us a frame. Frame n does not fit under the limit of n frames and raises
// XOFF at (n + 1) us and a cable; PFC (67 ns and a cable) works R later; all frames that started
// before still arrive. 20 fit into headroom, the rest is lost.
Test(issues, sonic_mgmt_7082)
{
	enum { LIMIT = 100000 / STAR_LEN, ROOM = 20 };
	uint64_t absorbed = 0;
	uint64_t overrun = 0;

	for (uint64_t response = 0; response < 40000; response += 1700) {
		const uint64_t works = (LIMIT + 1) * 1000 + 2 * STAR_DELAY_NS + 67 + response;
		const uint64_t late = (works + 999) / 1000 - LIMIT;
		const uint64_t lost = u64_minus(late, ROOM);
		struct sw_config *c = star_config(2);
		struct host_config hosts[2];
		struct star star;

		setup_find_profile(c, KVM_PG_LOSSLESS)->size = ROOM * STAR_LEN;
		setup_find_profile(c, KVM_PG_LOSSLESS)->xoff = ROOM * STAR_LEN;
		setup_find_pool(c, KVM_INGRESS_POOL)->size = 900000; // 1/9 of it is 100000
		for (uint32_t i = 0; i < 2; i++)
			c->port[i].mtu = STAR_LEN - 14;
		star_hosts(hosts, 2);
		hosts[SRC].response_ns = response;
		host_add_flow(&hosts[SRC], DST, 3, STAR_LEN);
		hosts[DST].storm = (struct host_storm_config){ .enable = 1 << 3,
							       .quanta = 65535,
							       .gap_ns = 50000 };
		star = star_new(c, hosts);
		net_run(star.net, STAR_MS);
		cr_assert_eq(star_sent(&star, 3), LIMIT + late, "%lu ns", response);
		cr_assert_eq(rig_pg(star.rig, SRC, 3).xoff_room_watermark_bytes,
			     u64_min(late, ROOM) * STAR_LEN, "%lu ns", response);
		cr_assert_eq(rig_pg(star.rig, SRC, 3).dropped_packets, lost, "%lu ns", response);
		cr_assert_eq(rig_all_drops(star.rig), lost, "%lu ns", response);
		absorbed += lost == 0;
		overrun += lost != 0;
		net_end(star.net);
	}
	cr_assert_gt(absorbed, 5);
	cr_assert_gt(overrun, 5);
}

// --- PFC that is switched off -----------------------------------------------------------------

// Both priorities are in XOFF, and the peer pauses both, when pfc_enable becomes empty: the peer is
// told to go on, its pauses end, and neither comes back.
Test(issues, sonic_swss_1055)
{
	struct rig *rig = rig_new(star_config(2));
	struct sw_config *refused = star_config(2);
	struct frame f[2] = { rig_frame(SRC, DST, 3, LEN), rig_frame(SRC, DST, 4, LEN) };
	uint64_t told;

	rig_send_pfc(rig, DST, 0x18, 65535);
	for (uint32_t i = 0; i < 2; i++) {
		rig_fill(rig, SRC, 3 + i, &f[i]);
		cr_assert_eq(rig_queue(rig, DST, 3 + i).pause_status, 1);
	}
	for (uint32_t i = 0; i < 2; i++)
		rig->config->port[i].pfc_enable = 0;
	setup_unbind_pgs(rig->config);
	setup_pg(rig->config, "all", 0xff, KVM_PG_LOSSY);
	cr_assert_eq(rig_reload(rig), 0);
	rig_drain(rig);
	for (uint32_t i = 3; i <= 4; i++) {
		cr_assert_eq(rig->pfc[SRC].xon[i], 1, "priority %u", i);
		cr_assert_eq(rig_queue(rig, DST, i).pause_status, 0, "priority %u", i);
		cr_assert_eq(rig_prio(rig, DST, i).rx_paused, 0, "priority %u", i);
	}
	told = rig->pfc[SRC].count;
	rig_advance(rig, 10000000);
	for (uint32_t i = 0; i < 2; i++)
		rig_send_many(rig, SRC, &f[i], 2000);
	rig_advance(rig, 10000000);
	cr_assert_eq(rig->pfc[SRC].count, told);
	rig_send_pfc(rig, DST, 0xff, 65535);
	cr_assert_eq(rig_release(rig, DST, 1), 1);
	rig_end(rig);

	// Groups that stay lossless without a priority would lose in silence: refused.
	for (uint32_t i = 0; i < 2; i++)
		refused->port[i].pfc_enable = 0;
	cr_assert_eq(star_fault(refused), FAULT_LOSSLESS_NO_PFC);
}
