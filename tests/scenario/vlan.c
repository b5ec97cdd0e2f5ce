// SPDX-License-Identifier: BSD-3-Clause
//
// VLANs: access and trunk ports, what leaves with which tag (IEEE 802.1Q 6.9), who may send into a
// VLAN, QinQ frames whose inner tag is none of the bridge's business, and frames too long to leave.
//
// Ports 0 and 1 are access ports of VLAN 10, port 2 is a trunk of VLANs 10 and 20, port 3 is an
// access port of VLAN 20, port 4 is in the default VLAN.

#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 5,
	LEN = 300,
	NOWHERE = 99,
};

static struct rig *vlan_rig(void)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct rig *rig;

	setup_vlan(c, 10, "Ethernet0 Ethernet4", "Ethernet8");
	setup_vlan(c, 20, "Ethernet12", "Ethernet8");
	rig = rig_new_blank(c);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(0), 10, (port_t){ 0 }, rig->now);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(1), 10, (port_t){ 1 }, rig->now);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(2), 10, (port_t){ 2 }, rig->now);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(2), 20, (port_t){ 2 }, rig->now);
	sw_mac_set(rig->sw, LCORE_FIRST, frame_host_mac(3), 20, (port_t){ 3 }, rig->now);
	return rig;
}

// Tags as (tpid, tci), outer first; tpid 0: none.
struct tags {
	uint16_t tpid[2];
	uint16_t tci[2];
};

#define UNTAGGED                                                                                   \
	{                                                                                          \
		{ 0 },                                                                             \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define TAG(tci)                                                                                   \
	{                                                                                          \
		{ 0x8100 },                                                                        \
		{                                                                                  \
			tci                                                                        \
		}                                                                                  \
	}
#define QINQ(outer, inner)                                                                         \
	{                                                                                          \
		{ 0x88a8, 0x8100 },                                                                \
		{                                                                                  \
			outer, inner                                                               \
		}                                                                                  \
	}

enum { PCP3 = 3 << 13, PCP5 = 5 << 13 };

static const struct {
	const char *what;
	uint32_t from, to;
	struct tags in;
	uint32_t out; // NOWHERE: dropped
	struct tags want;
} tag_rows[] = {
	{ "access to access", 0, 1, UNTAGGED, 1, UNTAGGED },
	{ "access to trunk: tagged, PCP says the class", 0, 2, UNTAGGED, 2, TAG(PCP3 | 10) },
	{ "trunk to access: untagged", 2, 0, TAG(PCP5 | 10), 0, UNTAGGED },
	{ "trunk to the other VLAN's access", 2, 3, TAG(20), 3, UNTAGGED },
	{ "tagged on an access port of that VLAN", 0, 1, TAG(10), 1, UNTAGGED },
	{ "priority tag on an access port: PCP goes on", 0, 2, TAG(PCP5), 2, TAG(PCP5 | 10) },
	{ "priority tag to access: removed", 0, 1, TAG(PCP5), 1, UNTAGGED },
	{ "DEI goes on", 0, 2, TAG(0x1000 | 10), 2, TAG(0x1000 | 10) },
	{ "not a member of the VLAN", 0, 1, TAG(20), NOWHERE, UNTAGGED },
	{ "no such VLAN", 2, 1, TAG(30), NOWHERE, UNTAGGED },
	{ "QinQ to trunk: inner stays, outer rewritten", 0, 2, QINQ(PCP5 | 10, 77), 2,
	  QINQ(PCP5 | 10, 77) },
	{ "QinQ to access: outer goes, inner stays", 2, 1, QINQ(10, PCP3 | 77), 1, TAG(PCP3 | 77) },
	{ "two C-tags", 2, 0, { { 0x8100, 0x8100 }, { 10, 4094 } }, 0, TAG(4094) },
};

static void set_tags(struct frame *f, const struct tags *tags)
{
	f->tag_count = 0;
	for (uint32_t i = 0; i < 2 && tags->tpid[i] != 0; i++) {
		f->tag[i].tpid = tags->tpid[i];
		f->tag[i].tci = tags->tci[i];
		f->tag_count++;
	}
}

// Byte for byte: the frame with the wanted tags and nothing else changed.
TABLE_TEST(scenario, vlan_tags, row, tag_rows)
{
	struct rig *rig = vlan_rig();
	struct frame f = rig_frame(row->from, row->to, 3, LEN);
	uint8_t want[LEN + 8];
	uint32_t want_len;

	set_tags(&f, &row->in);
	f.len = LEN + 4u * f.tag_count;
	rig_send(rig, row->from, &f);
	set_tags(&f, &row->want);
	f.len = LEN + 4u * f.tag_count;
	want_len = frame_write(&f, want);
	for (uint32_t i = 0; i < PORTS; i++) {
		struct pkt *p = rig_take(rig, i);

		cr_assert_eq(p != NULL, i == row->out, "%s: port %u", row->what, i);
		if (p == NULL)
			continue;
		cr_assert_eq(p->len, want_len, "%s", row->what);
		cr_assert_arr_eq(p->data, want, want_len, "%s", row->what);
		cr_assert_eq(rig_port(rig, i).if_out_octets, want_len);
		rig_free(rig, p);
	}
	cr_assert_eq(rig_drops(rig, row->from, DROP_VLAN_NOT_MEMBER), row->out == NOWHERE, "%s",
		     row->what);
	rig_end(rig);
}

// A flood stays in its VLAN, each copy with the tag of its port.
Test(scenario, vlan_flood)
{
	struct rig *rig = vlan_rig();
	struct frame f = rig_frame(0, 1, 0, LEN);
	struct frame got;

	f.dst = 0xffffffffffff;
	rig_send(rig, 0, &f);
	cr_assert(rig_take_frame(rig, 1, &got));
	cr_assert_eq(got.tag_count, 0);
	cr_assert(rig_take_frame(rig, 2, &got));
	cr_assert_eq(got.tag_count, 1);
	cr_assert_eq(got.tag[0].tci, 0 << 13 | 10); // DSCP 0 is class 1, which is priority 0
	cr_assert_eq(rig_release(rig, 3, 9) + rig_release(rig, 4, 9) + rig_release(rig, 0, 9), 0);
	rig_end(rig);
}

// A port that is tagged elsewhere keeps VLAN 1 for its untagged frames; access ports have left it.
Test(scenario, vlan_default)
{
	struct rig *rig = vlan_rig();
	struct frame f = rig_frame(4, 2, 0, LEN);
	struct frame got;

	f.dst = 0xffffffffffff;
	rig_send(rig, 4, &f);
	cr_assert(rig_take_frame(rig, 2, &got));
	cr_assert_eq(got.tag_count, 0);
	for (uint32_t i = 0; i < PORTS; i++)
		cr_assert_eq(rig_release(rig, i, 9), 0);
	rig_end(rig);
}

// The same address in two VLANs is two addresses.
Test(scenario, vlan_addresses_are_separate)
{
	struct rig *rig = vlan_rig();
	struct frame f = rig_frame(3, 2, 0, LEN);

	f.src = frame_host_mac(0); // known in VLAN 10 behind port 0
	rig_send(rig, 3, &f);
	cr_assert_eq(rig_release(rig, 2, 9), 1);
	cr_assert_eq(rig_switch(rig).mac_moves, 0);
	f = rig_frame(1, 0, 0, LEN);
	rig_send(rig, 1, &f);
	cr_assert_eq(rig_release(rig, 0, 9), 1);
	rig_end(rig);
}

// An unknown lossless destination waits in its own VLAN only.
Test(scenario, vlan_hold_is_separate)
{
	struct rig *rig = vlan_rig();
	struct frame f = rig_frame(0, 3, 3, LEN); // host 3 is unknown in VLAN 10

	rig->answer_solicit = false;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig->last.kind, SW_ACTION_SOLICIT);
	cr_assert_eq(rig->last.vid, 10);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 20, (port_t){ 2 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_switch(rig).queued_packets, 1);
	sw_mac_set(rig->sw, LCORE_FIRST, f.dst, 10, (port_t){ 2 }, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, 2, 9), 1);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t mtu_in, mtu_out;
	uint32_t len; // without tags
	uint8_t tags;
	enum drop_reason reason;
} mtu_rows[] = {
	{ "largest frame", 9100, 1500, 1514, 0, DROP_NONE },
	{ "largest frame and a tag", 9100, 1500, 1514, 1, DROP_NONE },
	{ "one byte more", 9100, 1500, 1515, 0, DROP_EGRESS_MTU },
	{ "one byte more and a tag", 9100, 1500, 1515, 1, DROP_EGRESS_MTU },
	{ "larger than ingress takes", 1500, 9100, 1515, 0, DROP_FRAME_OVERSIZE },
	{ "larger than ingress takes, tagged", 1500, 9100, 1515, 1, DROP_FRAME_OVERSIZE },
	{ "as large as can be", 9216, 9216, 9230, 0, DROP_NONE },
};

// Egress MTU: dropped at the port that cannot send it, nothing stays charged, nothing pauses.
TABLE_TEST(scenario, mtu, row, mtu_rows)
{
	struct sw_config *c = setup_kvm(2);
	struct frame f = rig_frame(0, 1, 3, row->len + 4u * row->tags);
	bool sent = row->reason == DROP_NONE;
	struct rig *rig;

	c->port[0].mtu = row->mtu_in;
	c->port[1].mtu = row->mtu_out;
	rig = rig_new(c);
	f.tag_count = row->tags;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_release(rig, 1, 9), sent, "%s", row->what);
	if (!sent)
		cr_assert_eq(rig_drops(rig, row->reason == DROP_EGRESS_MTU, row->reason), 1, "%s",
			     row->what);
	cr_assert_eq(rig_all_drops(rig), !sent, "%s", row->what);
	cr_assert_eq(rig_pg(rig, 0, 3).curr_occupancy_bytes, 0);
	cr_assert_eq(rig->pfc[0].count, 0);
	rig_end(rig);
}
