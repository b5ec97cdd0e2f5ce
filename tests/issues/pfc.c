// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs around PFC: what counts where, who obeys, what is never forwarded, and that XOFF
// comes before any loss. Names are those of rows.tsv, which says what holds instead of the bug.

#include "base/bytes.h"
#include "tests/issues/star.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	LEN = 1000,
};

// --- counters ---------------------------------------------------------------------------------

// A thousand PFC frames each way beside data that is counted to the frame.
Test(issues, sonic_mgmt_6638)
{
	struct rig *rig = rig_new(star_config(2));
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct port_stats src, dst;
	uint64_t sent = 0;

	rig_fill(rig, SRC, 3, &f);
	for (uint32_t i = 0; i < 1000; i++) {
		rig_send_pfc(rig, DST, 0xff, 65535); // the queue waits, and XOFF is repeated
		rig_advance(rig, 1700000);
	}
	cr_assert_gt(rig_prio(rig, SRC, 3).pfc_tx_pkts, 900);
	cr_assert_eq(rig_prio(rig, DST, 3).pfc_rx_pkts, 1000);
	src = rig_port(rig, SRC);
	dst = rig_port(rig, DST);
	cr_assert_eq(src.if_in_ucast_pkts, f.seq);
	cr_assert_eq(src.if_in_octets, f.seq * LEN);
	cr_assert_eq(src.if_out_ucast_pkts + src.if_out_non_ucast_pkts + src.if_out_octets, 0);
	cr_assert_eq(dst.if_in_ucast_pkts + dst.if_in_non_ucast_pkts + dst.if_in_octets, 0);
	cr_assert_eq(dst.if_out_ucast_pkts + dst.if_out_octets, 0);

	rig_send_pfc(rig, DST, 0xff, 0);
	for (uint32_t i = 0; i < 2000 && sent < f.seq; i++) {
		sent += rig_release(rig, DST, UINT64_MAX);
		rig_advance(rig, 1000);
	}
	cr_assert_eq(rig_port(rig, DST).if_out_ucast_pkts, f.seq);
	cr_assert_eq(rig_port(rig, DST).if_out_octets, f.seq * LEN);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert_eq(rig_port(rig, i).in_dropped_pkts + rig_port(rig, i).out_dropped_pkts,
			     0);
	rig_end(rig);
}

// Timers of all eight priorities are set in each frame; the vector alone says which of them count.
Test(issues, sonic_mgmt_6733)
{
	struct rig *rig = rig_new(star_config(2));
	struct frame f = rig_frame(SRC, DST, 3, LEN);

	for (uint32_t i = 0; i < 100; i++)
		rig_send_pfc(rig, DST, 0, 65535);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		cr_assert_eq(rig_prio(rig, DST, i).pfc_rx_pkts, 0, "priority %u", i);
		cr_assert_eq(rig_prio(rig, DST, i).rx_pause_transitions, 0, "priority %u", i);
		cr_assert_eq(rig_queue(rig, DST, i).pause_status, 0);
	}
	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig_release(rig, DST, 1), 1);

	// All but priority 3: it goes on, and 4 does not.
	rig_send_pfc(rig, DST, 0xf7, 65535);
	rig_send_many(rig, SRC, &f, 1);
	rig_advance(rig, 1000);
	cr_assert_eq(rig_release(rig, DST, 1), 1);
	cr_assert_eq(rig_prio(rig, DST, 3).pfc_rx_pkts, 0);
	cr_assert_eq(rig_prio(rig, DST, 4).rx_paused, 1);
	// A vector without bits does not resume either.
	rig_send_pfc(rig, DST, 0, 0);
	cr_assert_eq(rig_prio(rig, DST, 4).rx_paused, 1);
	rig_end(rig);
}

// Every enable vector there is: the counters after each are the number of vectors so far that name
// the priority, and 128 at the end.
Test(issues, sonic_mgmt_3819)
{
	struct rig *rig = rig_new(star_config(3));
	uint64_t want[PRIO_COUNT] = { 0 };

	for (uint32_t vector = 0; vector < 256; vector++) {
		rig_send_pfc(rig, DST, (uint8_t)vector, 100);
		for (uint32_t i = 0; i < PRIO_COUNT; i++) {
			want[i] += vector >> i & 1;
			cr_assert_eq(rig_prio(rig, DST, i).pfc_rx_pkts, want[i], "%02x", vector);
			cr_assert_eq(rig_prio(rig, SRC, i).pfc_rx_pkts, 0);
		}
	}
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		cr_assert_eq(want[i], 128);
	rig_end(rig);
}

// --- who is paused ----------------------------------------------------------------------------

static const struct {
	const char *what;
	bool lossless; // the same senders have lossless traffic too
} lossy_rows[] = {
	{ "lossy traffic alone", false },
	{ "beside lossless traffic that is paused", true },
};

// Three senders fill the lossy priorities of a fourth port: drops at egress, and not one PFC frame
// for them. The port does send PFC, for the lossless class, when that is what is congested.
TABLE_TEST(issues, sonic_mgmt_14123, row, lossy_rows)
{
	static const uint8_t dscp[] = { 0, 46, 48 };
	struct host_config hosts[4];
	struct star star;
	uint64_t told = 0;

	star_hosts(hosts, 4);
	for (uint32_t i = 0; i < 3; i++) {
		host_add_flow(&hosts[i], 3, 0, STAR_LEN)->dscp = dscp[i];
		host_add_flow(&hosts[i], 3, 0, 128)->dscp = 8;
		if (row->lossless)
			host_add_flow(&hosts[i], 3, 3, STAR_LEN);
	}
	star = star_new(star_config(4), hosts);
	net_run(star.net, 5 * STAR_MS);
	cr_assert_gt(rig_drops(star.rig, 3, DROP_QUEUE_FULL), 0, "%s", row->what);
	cr_assert_eq(rig_all_drops(star.rig), rig_drops(star.rig, 3, DROP_QUEUE_FULL), "%s",
		     row->what);
	for (uint32_t port = 0; port < 4; port++) {
		for (uint32_t i = 0; i < PRIO_COUNT; i++) {
			told += rig_prio(star.rig, port, i).pfc_tx_pkts;
			cr_assert(i == 3 || rig_prio(star.rig, port, i).pfc_tx_pkts == 0, "%s: %u",
				  row->what, i);
			cr_assert(i == 3 || rig_pg(star.rig, port, i).xoff_events == 0);
		}
	}
	cr_assert_eq(told > 0, row->lossless, "%s", row->what);
	star_finish(&star, 5 * STAR_MS);
	net_end(star.net);
}

static const struct {
	const char *what;
	bool asymmetric;
} symmetry_rows[] = {
	{ "symmetric: counted, the traffic goes on", false },
	{ "asymmetric: the port was told to obey it", true },
};

// A sink that pauses a lossy priority without end, on a line that is full of it.
TABLE_TEST(issues, sonic_buildimage_23441, row, symmetry_rows)
{
	struct sw_config *c = star_config(2);
	struct host_config hosts[2];
	struct star star;

	for (uint32_t i = 0; i < 2; i++)
		c->port[i].pfc_asymmetric = row->asymmetric;
	star_hosts(hosts, 2);
	host_add_flow(&hosts[SRC], DST, 0, STAR_LEN)->stop = (ns_t){ 2 * STAR_MS };
	hosts[DST].storm =
		(struct host_storm_config){ .enable = 1 << 1, .quanta = 65535, .gap_ns = 100000 };
	star = star_new(c, hosts);
	net_run(star.net, 4 * STAR_MS);
	cr_assert_geq(rig_prio(star.rig, DST, 1).pfc_rx_pkts, 39, "%s", row->what);
	cr_assert_eq(rig_prio(star.rig, DST, 1).rx_paused, row->asymmetric, "%s", row->what);
	if (row->asymmetric) {
		cr_assert_eq(star_prio(&star, DST, 0).rx_packets, 0);
		cr_assert_gt(rig_all_drops(star.rig), 0);
	} else {
		cr_assert_eq(star_prio(&star, DST, 0).rx_packets, star_sent(&star, 0));
		cr_assert_eq(star_prio(&star, DST, 0).rx_lost, 0);
		cr_assert_eq(rig_all_drops(star.rig), 0);
	}
	net_end(star.net);
}

static const struct {
	const char *what;
	enum frame_kind kind;
	uint16_t ethertype;
} payload_rows[] = {
	{ "clear text", FRAME_ROCE, 0 },
	{ "MACsec behind a tag in the clear", FRAME_PLAIN, 0x88e5 },
	{ "any other protocol", FRAME_PLAIN, 0x88b5 },
};

// What the switch cannot read fills the buffer all the same: XOFF comes with the frame that the
// formula names, and PFC of the peer holds the queue.
TABLE_TEST(issues, sonic_buildimage_25675, row, payload_rows)
{
	struct sw_config *c = setup_kvm(2);
	struct frame f = rig_frame(SRC, DST, 0, LEN);
	const uint64_t shared = KVM_POOL_BYTES - 2 * 2 * KVM_RESERVE_BYTES;
	const uint64_t limit = oracle_xoff_frames(KVM_RESERVE_BYTES, shared, KVM_ALPHA_SHIFT, LEN);
	struct rig *rig;

	c->port[SRC].trust = CONFIG_TRUST_PCP;
	rig = rig_new(c);
	f.kind = row->kind;
	f.ethertype = row->ethertype;
	f.tag_count = 1;
	f.tag[0].tci = 3 << 13;
	rig_send_pfc(rig, DST, 1 << 3, 65535);
	rig_send_many(rig, SRC, &f, limit);
	cr_assert_eq(rig->pfc[SRC].count, 0, "%s", row->what);
	rig_send_many(rig, SRC, &f, 1);
	cr_assert_eq(rig->pfc[SRC].xoff[3], 1, "%s", row->what);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 0, "%s", row->what);
	rig_send_pfc(rig, DST, 1 << 3, 0);
	cr_assert_eq(rig_release(rig, DST, UINT64_MAX), limit + 1, "%s", row->what);
	cr_assert_eq(rig->pfc[SRC].xon[3], 1, "%s", row->what);
	rig_end(rig);
}

// --- MAC control is the port's ----------------------------------------------------------------

static uint32_t control_frame(uint64_t dst, uint32_t opcode, bool tagged, uint8_t out[64])
{
	uint32_t at = 12;

	memset(out, 0, 64);
	store_be48(out, dst);
	store_be48(out + 6, 0x020000000099);
	if (tagged) {
		store_be32(out + at, 0x8100e000);
		at += 4;
	}
	store_be16(out + at, 0x8808);
	store_be16(out + at + 2, (uint16_t)opcode);
	store_be16(out + at + 4, 0xffff);
	return at + 48;
}

// A bridge that knows nobody floods what it can; of MAC control it makes nothing, whatever the
// opcode, the destination and the tag, and it does not learn who sent it.
Test(issues, snabb_1365)
{
	static const uint64_t dst[] = { 0x0180c2000001, 0x020000000777, 0xffffffffffff };
	struct rig *rig = rig_new_blank(star_config(4));
	struct frame f = rig_frame(SRC, DST, 0, LEN);
	uint8_t bytes[64];
	uint64_t count = 0;

	for (uint32_t opcode = 0; opcode < 0x200; opcode++) {
		for (uint32_t i = 0; i < 6; i++) {
			uint32_t len = control_frame(dst[i / 2], opcode, i % 2, bytes);

			rig_send_bytes(rig, SRC, bytes, len);
			count++;
		}
	}
	cr_assert_eq(rig_switch(rig).consumed_packets, count);
	cr_assert_eq(rig_switch(rig).copied_packets + rig_switch(rig).queued_packets, 0);
	for (uint32_t port = 0; port < 4; port++)
		cr_assert_eq(rig_release(rig, port, UINT64_MAX), 0);
	cr_assert_eq(rig->learns + rig->punts, 0);
	cr_assert_eq(rig_port(rig, SRC).pause_rx_pkts, 6);
	cr_assert_eq(rig_prio(rig, SRC, 0).pfc_rx_pkts, 6);
	// The same bridge does flood data.
	rig_send(rig, SRC, &f);
	cr_assert_eq(rig_switch(rig).copied_packets, 3);
	rig_end(rig);
}

// --- XOFF before loss -------------------------------------------------------------------------

static const struct {
	const char *what;
	int64_t dynamic_th;
	uint64_t static_th;
	enum profile_fault_id fault;
} egress_rows[] = {
	{ "no limit", CONFIG_UNSET_INT, 0, FAULT_NONE },
	{ "the pool's size", CONFIG_UNSET_INT, 16 * 200000, FAULT_NONE },
	{ "a byte less than the pool", CONFIG_UNSET_INT, 16 * 200000 - 1, FAULT_LOSSLESS_EGRESS },
	{ "the largest alpha", 7, CONFIG_UNSET, FAULT_NONE },
	{ "alpha of the lossy queues", 3, CONFIG_UNSET, FAULT_LOSSLESS_EGRESS },
};

// Fifteen to one at once. What may be configured loses nothing and pauses each sender; what would
// drop at egress first is refused by name.
TABLE_TEST(issues, ns3_rdma_11, row, egress_rows)
{
	enum { SENDERS = 15 };
	struct sw_config *c = star_config(SENDERS + 1);
	struct buffer_profile_config *queue = setup_find_profile(c, KVM_QUEUE_LOSSLESS);
	struct host_config hosts[SENDERS + 1];
	struct star star;

	queue->dynamic_th = row->dynamic_th;
	queue->static_th = row->static_th;
	setup_find_profile(c, KVM_PG_LOSSLESS)->dynamic_th =
		7; // nearly the whole pool, then headroom
	if (row->fault != FAULT_NONE) {
		cr_assert_eq(star_fault(c), row->fault, "%s", row->what);
		return;
	}
	star_hosts(hosts, SENDERS + 1);
	for (uint32_t i = 0; i < SENDERS; i++)
		host_add_flow(&hosts[i], SENDERS, 3, STAR_LEN)->frames = 400;
	star = star_new(c, hosts);
	cr_assert(net_run_dry(star.net, 100 * STAR_MS));
	for (uint32_t i = 0; i < SENDERS; i++) {
		cr_assert_gt(rig_prio(star.rig, i, 3).pfc_tx_pkts, 0, "%s: %u", row->what, i);
		cr_assert_gt(rig_pg(star.rig, i, 3).xoff_room_watermark_bytes, 0);
	}
	cr_assert_eq(rig_all_drops(star.rig), 0, "%s", row->what);
	cr_assert_eq(star_prio(&star, SENDERS, 3).rx_packets, 400 * SENDERS, "%s", row->what);
	cr_assert_eq(star_prio(&star, SENDERS, 3).rx_lost, 0);
	net_end(star.net);
}

// Reserves of so many ports must fit the pool: P ports with two lossless and six lossy groups need
// 2 P reserves.
static enum profile_fault_id fault_of_ports(uint32_t ports, uint64_t pool_bytes)
{
	struct sw_config *c = setup_kvm(ports);

	setup_find_pool(c, KVM_INGRESS_POOL)->size = pool_bytes;
	return star_fault(c);
}

// A chain of three switches. A host enters at each, and all send to the last: every hop is
// congested by the one before and a newcomer.
Test(issues, ns3_rdma_28)
{
	enum { HOPS = 3, SINK = 1 };
	struct net *net = net_new();
	uint32_t sw[HOPS], sender[HOPS], first, sink;
	struct host_config host;

	for (uint32_t i = 0; i < HOPS; i++)
		sw[i] = net_add_switch(net, rig_new(star_config(3)));
	host_config_init(&host, 0);
	host_add_flow(&host, SINK, 3, STAR_LEN)->frames = 1500;
	first = net_add_host(net, &host);
	net_join(net, first, 0, sw[0], 0, STAR_BPS, STAR_DELAY_NS);
	for (uint32_t i = 0; i < HOPS; i++) {
		host_config_init(&host, 2 + i);
		host_add_flow(&host, SINK, 3, STAR_LEN)->frames = 1500;
		sender[i] = net_add_host(net, &host);
		net_join(net, sender[i], 0, sw[i], 2, STAR_BPS, STAR_DELAY_NS);
		if (i > 0)
			net_join(net, sw[i - 1], 1, sw[i], 0, STAR_BPS, STAR_DELAY_NS);
	}
	host_config_init(&host, SINK);
	sink = net_add_host(net, &host);
	net_join(net, sink, 0, sw[HOPS - 1], 1, STAR_BPS, STAR_DELAY_NS);
	cr_assert(net_run_dry(net, 100 * STAR_MS));
	for (uint32_t i = 0; i < HOPS; i++) {
		struct rig *rig = net_rig(net, sw[i]);

		cr_assert_gt(rig_pg(rig, 0, 3).xoff_events, 0, "hop %u", i);
		cr_assert_gt(rig_pg(rig, 2, 3).xoff_events, 0, "hop %u", i);
		cr_assert_eq(rig_queue(rig, 1, 3).dropped_packets, 0, "hop %u", i);
		cr_assert_eq(rig_all_drops(rig), 0, "hop %u", i);
	}
	cr_assert_eq(net_host_stats(net, sink).prio[3].rx_packets, (HOPS + 1) * 1500);
	cr_assert_eq(net_host_stats(net, sink).prio[3].rx_lost, 0);
	net_end(net);

	cr_assert_eq(fault_of_ports(8, 8 * 2 * KVM_RESERVE_BYTES), FAULT_NONE);
	cr_assert_eq(fault_of_ports(9, 8 * 2 * KVM_RESERVE_BYTES), FAULT_POOL_TOO_SMALL);
}

// --- why there is no PFC ----------------------------------------------------------------------

// Hosts that keep their queues short: no PFC, and everything that explains it can be read. With
// longer queues XOFF comes where the threshold says.
Test(issues, High_Precision_Congestion_Control_14)
{
	struct sw_config *c = setup_kvm(2);
	const uint64_t shared = KVM_POOL_BYTES - 2 * 2 * KVM_RESERVE_BYTES;
	struct frame f = rig_frame(SRC, DST, 3, LEN);
	struct pg_stats pg;
	struct rig *rig;

	setup_wred(c, "ecn", 20 * LEN, 20 * LEN, 1000000);
	setup_queue(c, "all", 1 << 3, "", "ecn");
	rig = rig_new(c);
	for (uint32_t window = 0; window < 50; window++) {
		rig_send_many(rig, SRC, &f, 40);
		pg = rig_pg(rig, SRC, 3);
		cr_assert_eq(pg.curr_occupancy_bytes, 40 * LEN);
		// An alpha of 1/8 of what is free, and the reserve.
		cr_assert_eq(pg.xoff_threshold_bytes,
			     KVM_RESERVE_BYTES + (shared - (40 * LEN - KVM_RESERVE_BYTES)) / 8);
		cr_assert_eq(rig_release(rig, DST, UINT64_MAX), 40);
	}
	cr_assert_eq(rig_prio(rig, SRC, 3).pfc_tx_pkts, 0);
	cr_assert_eq(pg.watermark_bytes, 40 * LEN);
	// Frames that leave a queue of 20 or more: 40 down to 20.
	cr_assert_eq(rig_queue(rig, DST, 3).wred_ecn_marked_packets, 50 * 21);
	cr_assert_eq(rig_queue(rig, DST, 3).watermark_bytes, 40 * LEN);

	for (uint32_t i = 0; i < 2 * KVM_POOL_BYTES / LEN; i++) {
		if (rig_prio(rig, SRC, 3).pfc_tx_pkts != 0)
			break;
		pg = rig_pg(rig, SRC, 3);
		rig_send_many(rig, SRC, &f, 1);
	}
	cr_assert_eq(rig_prio(rig, SRC, 3).pfc_tx_pkts, 1);
	// The frame before fitted below what was shown; this one, in its limit, did not.
	cr_assert_leq(pg.curr_occupancy_bytes, pg.xoff_threshold_bytes);
	cr_assert_gt(pg.curr_occupancy_bytes + LEN, pg.xoff_threshold_bytes - LEN / 8);
	rig_end(rig);
}

// --- index spaces -----------------------------------------------------------------------------

// Class 3 is queue 5, group 2 and priority 6; class 4 is queue 1, group 7 and priority 0.
static struct sw_config *crossed(void)
{
	struct sw_config *c = star_config(2);

	setup_map(c, CONFIG_MAP_TC_TO_QUEUE, "x", "3:5 4:1 0:0 1:0 2:2 5:3 6:6 7:4");
	setup_map(c, CONFIG_MAP_TC_TO_PG, "x", "3:2 4:7 *:0");
	setup_map(c, CONFIG_MAP_PFC_TO_QUEUE, "x", "6:5 0:1 1:0 2:2 3:3 4:4 5:6 7:7");
	setup_map(c, CONFIG_MAP_PFC_TO_PG, "x", "6:2 0:7 *:0");
	for (uint32_t i = 0; i < 2; i++) {
		struct port_config *port = &c->port[i];

		setup_name(port->tc_to_queue_map, "x");
		setup_name(port->tc_to_pg_map, "x");
		setup_name(port->pfc_to_queue_map, "x");
		setup_name(port->pfc_to_pg_map, "x");
		port->pfc_enable = 1 << 6 | 1 << 0;
	}
	setup_unbind_pgs(c);
	setup_unbind_queues(c);
	setup_pg(c, "all", 1 << 2 | 1 << 7, KVM_PG_LOSSLESS);
	setup_pg(c, "all", (uint8_t) ~(1 << 2 | 1 << 7), KVM_PG_LOSSY);
	setup_buffer_queue(c, "all", 1 << 5 | 1 << 1, KVM_QUEUE_LOSSLESS);
	setup_buffer_queue(c, "all", (uint8_t) ~(1 << 5 | 1 << 1), KVM_QUEUE_LOSSY);
	return c;
}

static enum profile_fault_id fault_of_map(enum config_map_type type, const char *text)
{
	struct sw_config *c = crossed();

	setup_map(c, type, "wrong", text);
	setup_name(type == CONFIG_MAP_PFC_TO_PG ? c->port[0].pfc_to_pg_map :
						  c->port[0].pfc_to_queue_map,
		   "wrong");
	return star_fault(c);
}

Test(issues, SimAI_286)
{
	static const struct {
		uint8_t dscp, prio, pg, queue;
	} class[] = { { 3, 6, 2, 5 }, { 4, 0, 7, 1 } };
	struct rig *rig = rig_new(crossed());

	for (uint32_t i = 0; i < 2; i++) {
		struct frame f = rig_frame(SRC, DST, class[i].dscp, LEN);

		rig_send_pfc(rig, DST, (uint8_t)(1u << class[i].prio), 65535);
		rig_fill(rig, SRC, class[i].pg, &f);
		cr_assert_eq(rig_queue(rig, DST, class[i].queue).curr_occupancy_packets, f.seq);
		cr_assert_eq(rig_queue(rig, DST, class[i].queue).pause_status, 1);
		cr_assert_eq(rig->last.pfc.enable >> class[i].prio & 1, 1);
		rig_advance(rig, 10000);
		cr_assert_eq(rig_release(rig, DST, 1), 0);
	}
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		bool named = i == 0 || i == 6;

		cr_assert_eq(rig_prio(rig, SRC, i).pfc_tx_pkts > 0, named, "priority %u", i);
		cr_assert_eq(rig_pg(rig, SRC, i).packets > 0, i == 2 || i == 7, "group %u", i);
		cr_assert_eq(rig_queue(rig, DST, i).pause_status, i == 5 || i == 1, "queue %u", i);
	}
	// The highest priority, which no class of ours has, and all at once.
	rig_send_pfc(rig, DST, 1 << 7, 65535);
	rig_send_pfc(rig, DST, 0xff, 0);
	cr_assert_eq(rig_release(rig, DST, 1), 1);
	rig_end(rig);

	cr_assert_eq(fault_of_map(CONFIG_MAP_PFC_TO_PG, "6:8 *:0"), FAULT_BAD_MAP);
	cr_assert_eq(fault_of_map(CONFIG_MAP_PFC_TO_QUEUE, "8:1 *:0"), FAULT_BAD_MAP);
}
