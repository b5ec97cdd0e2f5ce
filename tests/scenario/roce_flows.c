// SPDX-License-Identifier: BSD-3-Clause
//
// RoCE flows as they leave: whose they are, whatever tags a frame comes with and leaves with; their
// bytes within what sampling allows; and each of their marks, beside what the receivers see.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	SRC = 0,
	DST = 1,
	OTHER = 2,
	PORTS = 3,
	VLAN = 10,
	SMALL = 1000,
	LARGE = 3000,
	ROUNDS = 4000,
	SMALL_QP = 0x111,
	LARGE_QP = 0xfffff2,
	KMIN = 3 * LARGE,
};

static const struct {
	const char *what;
	enum frame_kind kind;
	bool ipv6;
	bool tagged_in;
	bool tagged_out;
	bool is_marked;
} flow_rows[] = {
	{ "IPv4", FRAME_ROCE, false, false, false, true },
	{ "IPv6", FRAME_ROCE, true, false, false, true },
	{ "RoCEv1, which has no code point to mark", FRAME_ROCE_V1, true, false, false, false },
	{ "IPv4, gets a tag", FRAME_ROCE, false, false, true, true },
	{ "IPv4, loses its tag", FRAME_ROCE, false, true, false, true },
	{ "IPv6, keeps its tag", FRAME_ROCE, true, true, true, true },
};

static struct rig *flow_rig(bool tagged_in, bool tagged_out)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct rig *rig;
	const char *in = "Ethernet0 Ethernet8";
	const char *out = "Ethernet4";

	if (tagged_in == tagged_out)
		setup_vlan(c, VLAN, tagged_in ? "" : "Ethernet0 Ethernet4 Ethernet8",
			   tagged_in ? "Ethernet0 Ethernet4 Ethernet8" : "");
	else
		setup_vlan(c, VLAN, tagged_in ? out : in, tagged_in ? in : out);
	setup_wred(c, "step", KMIN, KMIN, 1000000);
	setup_queue(c, "all", 0xff, "", "step");
	rig = rig_new_blank(c);
	for (uint16_t i = 0; i < PORTS; i++)
		sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(i), VLAN, (port_t){ i }, rig->now);
	return rig;
}

// What the switch lists of a queue pair of DST; each is listed once.
static struct roce_flow listed(const struct rig *rig, uint32_t qp)
{
	const struct roce_flows *flows = sw_roce_flows(rig->sw, LCORE_FIRST);
	struct roce_flow found = { 0 };

	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++) {
		if (!roce_flow_is_used(&flows->flow[i]) || flows->flow[i].dst_qp != qp)
			continue;
		cr_assert(!roce_flow_is_used(&found));
		found = flows->flow[i];
	}
	return found;
}

static void check_addresses(const struct roce_flow *flow, uint32_t from, bool ipv6)
{
	const uint64_t hi = ipv6 ? 0xfd00ull << 48 : 0;
	const uint64_t lo = ipv6 ? 0 : 0xffffull << 32;

	cr_assert_eq(flow->src_hi, hi);
	cr_assert_eq(flow->src_lo, lo | frame_host_ip(from));
	cr_assert_eq(flow->dst_hi, hi);
	cr_assert_eq(flow->dst_lo, lo | frame_host_ip(DST));
	cr_assert_eq(flow->port.v, DST);
}

// Of n samples, drawn of a byte in each ROCE_SAMPLE_BYTES, one of two flows with a quarter of the
// bytes has n/4 within five standard deviations.
static void check_samples(uint64_t small, uint64_t large, uint64_t bytes)
{
	const uint64_t all = small + large;
	const uint64_t off = small * 4 > all ? small * 4 - all : all - small * 4;

	cr_assert_geq(all, bytes / ROCE_SAMPLE_BYTES);
	cr_assert_leq(all, bytes / ROCE_SAMPLE_BYTES + 1);
	cr_assert_leq(off * off, 25 * 3 * all); // 16 times the variance of n/4, 3n/16
}

TABLE_TEST(scenario, roce_flows, row, flow_rows)
{
	struct rig *rig = flow_rig(row->tagged_in, row->tagged_out);
	struct frame small = rig_frame(SRC, DST, 8, SMALL);
	struct frame large = rig_frame(OTHER, DST, 8, LARGE);
	struct frame *const frames[] = { &small, &large };
	struct roce_flow flow[2];
	uint64_t marks[2] = { 0 };
	struct frame got;

	for (uint32_t i = 0; i < 2; i++) {
		frames[i]->kind = row->kind;
		frames[i]->ipv6 = row->ipv6;
		frames[i]->qp = i == 0 ? SMALL_QP : LARGE_QP;
		frames[i]->tag_count = row->tagged_in;
		frames[i]->tag[0].tci = VLAN;
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		rig_send_many(rig, SRC, &small, 1);
		rig_send_many(rig, OTHER, &large, 1);
		for (uint32_t k = 0; i % 4 == 3 && rig_take_frame(rig, DST, &got); k++)
			marks[got.qp == LARGE_QP] += got.ecn == 3;
		rig_advance(rig, 1000);
	}
	flow[0] = listed(rig, SMALL_QP);
	flow[1] = listed(rig, LARGE_QP);
	check_addresses(&flow[0], SRC, row->ipv6);
	check_addresses(&flow[1], OTHER, row->ipv6);
	check_samples(flow[0].samples, flow[1].samples, rig_port(rig, DST).if_out_octets);
	cr_assert_eq(flow[0].marks, marks[0], "%s", row->what);
	cr_assert_eq(flow[1].marks, marks[1], "%s", row->what);
	cr_assert_eq(marks[0] + marks[1], rig_port(rig, DST).ecn_marked_packets, "%s", row->what);
	cr_assert_eq(marks[0] > 0 && marks[1] > 0, row->is_marked, "%s", row->what);
	cr_assert_eq(sw_roce_flows(rig->sw, LCORE_FIRST)->unlisted_marks, 0);
	rig_end(rig);
}

// Other traffic is sampled too, so that the estimate stays one, but nothing of it is listed.
Test(scenario, roce_flows_of_roce_alone)
{
	struct rig *rig = flow_rig(false, false);
	struct frame f = rig_frame(SRC, DST, 8, LARGE);

	f.kind = FRAME_UDP;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		rig_send_many(rig, SRC, &f, 4);
		rig_release(rig, DST, UINT64_MAX);
	}
	cr_assert_gt(rig_port(rig, DST).ecn_marked_packets, 0);
	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++)
		cr_assert(!roce_flow_is_used(&sw_roce_flows(rig->sw, LCORE_FIRST)->flow[i]));
	rig_end(rig);
}
