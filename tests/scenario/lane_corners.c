// SPDX-License-Identifier: BSD-3-Clause
//
// Corners of lanes on one switch of a ring: frames that have no tag or no room for one, frames of
// the control thread, what it gives back, floods, link-local frames, and a profile that is replaced
// while the turn map is not. Packet memory of the bench is full of ones before the core fills it,
// so that a field which nobody has set shows.

#include <string.h>

#include "base/bytes.h"
#include "tests/rig/ring.h"
#include "tests/table.h"

enum {
	SELF = 1, // switch 1 of 4: the dateline is not next to it
	SWITCHES = 4,
	POOL_BYTES = 2000000,
	TAG_AT = 12,
	TCI_AT = 14,
	OUTER = 0x8100,
	PRIO_LANE1 = 4,
	MTU = 1500,
	WIRE_NS = 10000,    // more than a frame takes
	BROADCAST_PRIO = 1, // AZURE: priority 1 says class 0, and 0 says 1, that of DSCP 0
};

static const uint64_t broadcast = 0xffffffffffff;

static struct sw_config *config(bool managed)
{
	struct sw_config *c = ring_switch(SELF, SWITCHES, true, POOL_BYTES);

	c->sw.forwarding = managed ? CONFIG_FORWARDING_MANAGED : CONFIG_FORWARDING_STANDALONE;
	for (uint32_t to = 0; to < SWITCHES; to++) {
		if (to != SELF)
			ring_route(c, to, 1u << RING_NEXT);
	}
	return c;
}

// A frame as it comes from the switch before, on a lane.
static struct pkt *on_lane(struct rig *rig, const struct frame *f, uint8_t pcp, uint16_t lane)
{
	struct frame tagged = *f;

	memmove(&tagged.tag[1], &tagged.tag[0], sizeof(tagged.tag[0]));
	tagged.tag[0].tpid = 0;
	tagged.tag[0].tci = (uint16_t)(pcp << 13 | lane);
	tagged.tag_count++;
	if (tagged.len != 0)
		tagged.len += 4;
	return rig_build(rig, &tagged);
}

static void check_tag(const struct pkt *p, uint8_t pcp, uint16_t lane)
{
	cr_assert_eq(load_be16(p->data + TAG_AT), OUTER);
	cr_assert_eq(load_be16(p->data + TCI_AT), pcp << 13 | lane);
}

static const struct {
	const char *what;
	uint32_t len;
	uint64_t dst;
	uint16_t type;
	enum drop_reason reason;
} frame_rows[] = {
	{ "nothing", 0, broadcast, OUTER, DROP_PARSE_TRUNCATED },
	{ "half a header", 13, broadcast, OUTER, DROP_PARSE_TRUNCATED },
	{ "no room for a tag", 14, broadcast, OUTER, DROP_PARSE_TRUNCATED },
	{ "half a tag", 17, broadcast, OUTER, DROP_PARSE_TRUNCATED },
	{ "a tag and no type", 16, broadcast, OUTER, DROP_PARSE_TRUNCATED },
	{ "no tag", 60, broadcast, 0x88b5, DROP_LANE_TAG },
	{ "a service tag", 60, broadcast, 0x88a8, DROP_LANE_TAG },
	{ "no tag, a CNP by its bytes", 60, 0x020000000001, 0x0800, DROP_LANE_TAG },
	{ "a reserved group without a tag", 60, 0x0180c2000003, 0x88b5, DROP_RESERVED_MAC },
};

TABLE_TEST(lane_corners, frames, row, frame_rows)
{
	struct rig *rig = rig_new_blank(config(true));
	uint8_t bytes[60] = { 0 };

	store_be48(bytes, row->dst);
	store_be48(bytes + 6, frame_host_mac(0));
	store_be16(bytes + TAG_AT, row->type);
	rig_send_bytes(rig, RING_BEFORE, bytes, row->len);
	cr_assert_eq(rig_drops(rig, RING_BEFORE, row->reason), 1, "%s", row->what);
	cr_assert(sw_conserved(rig->sw), "%s", row->what);
	rig_end(rig);
}

// PFC and LLDP have no tag, and what is tagged all the same is read.
Test(lane_corners, link_local_frames_need_no_tag)
{
	struct rig *rig = rig_new_blank(config(true));
	struct frame lldp = { .kind = FRAME_PLAIN,
			      .dst = 0x0180c200000e,
			      .src = frame_host_mac(0),
			      .ethertype = 0x88cc,
			      .len = 60 };
	struct frame f = rig_frame(0, 2, 3, 256);
	struct pkt *p;

	rig_send(rig, RING_BEFORE, &lldp);
	p = on_lane(rig, &lldp, 0, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig->punts, 2);
	rig_send_pfc(rig, RING_NEXT, 1u << PRIO_LANE1 | 1u << 3, 0xffff);
	p = on_lane(rig, &f, 3, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_null(rig_take(rig, RING_NEXT));
	rig_send_pfc(rig, RING_NEXT, 1u << 3, 0);
	cr_assert_eq(rig_release(rig, RING_NEXT, 2), 1);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// The link's tag is no part of the MTU, nor are the host's two.
Test(lane_corners, the_largest_frame_fits_with_all_its_tags)
{
	struct rig *rig = rig_new_blank(config(true));
	struct frame f = rig_frame(RING_HOST, 2, 3, MTU + 14);
	struct pkt *p;

	rig_send(rig, RING_HOST, &f);
	p = rig_take(rig, RING_NEXT);
	cr_assert_not_null(p);
	cr_assert_eq(p->len, MTU + 14 + 4);
	rig_free(rig, p);
	rig_advance(rig, WIRE_NS);
	p = on_lane(rig, &f, 3, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	p = rig_take(rig, RING_NEXT);
	cr_assert_not_null(p);
	cr_assert_eq(p->len, MTU + 14 + 4);
	rig_free(rig, p);
	f.len++;
	p = on_lane(rig, &f, 3, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig_drops(rig, RING_BEFORE, DROP_FRAME_OVERSIZE), 1);
	rig_end(rig);
}

// A question of the switch itself goes out of every port, on lane 0.
Test(lane_corners, own_frames_have_a_lane)
{
	struct rig *rig = rig_new_blank(config(false));
	struct frame f = { .kind = FRAME_ARP_REQUEST,
			   .dst = broadcast,
			   .src = rig->mac,
			   .src_ip = 0x0a01ffff,
			   .dst_ip = frame_host_ip(2) };
	struct pkt *p;

	sw_inject(rig->sw, rig_build(rig, &f), PORT_NONE, 1, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_all_drops(rig), 0);
	cr_assert_eq(rig_release(rig, RING_HOST, 2), 1);
	for (uint32_t port = RING_NEXT; port <= RING_BEFORE; port++) {
		p = rig_take(rig, port);
		cr_assert_not_null(p);
		check_tag(p, BROADCAST_PRIO, 0);
		rig_free(rig, p);
	}
	rig_end(rig);
}

// ARP goes through the control thread. On another lane than its own it could go round for ever.
Test(lane_corners, what_comes_back_keeps_its_lane)
{
	struct rig *rig = rig_new_blank(config(false));
	struct frame f = { .kind = FRAME_ARP_REQUEST,
			   .dst = broadcast,
			   .src = frame_host_mac(0),
			   .src_ip = frame_host_ip(0),
			   .dst_ip = frame_host_ip(2) };
	struct pkt *p = on_lane(rig, &f, BROADCAST_PRIO, 1);

	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig->punts, 1);
	p = rig_take(rig, RING_NEXT);
	cr_assert_not_null(p);
	check_tag(p, BROADCAST_PRIO, 1);
	rig_free(rig, p);
	cr_assert_eq(rig_release(rig, RING_HOST, 2), 1);
	cr_assert_null(rig_take(rig, RING_BEFORE));
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// The answer too is judged, and goes where the table of hosts says.
Test(lane_corners, what_comes_back_takes_its_turn)
{
	struct sw_config *c = config(true);
	struct rig *rig;
	struct frame f = { .kind = FRAME_ARP_REPLY,
			   .dst = frame_host_mac(2),
			   .src = frame_host_mac(0),
			   .src_ip = frame_host_ip(0),
			   .dst_ip = frame_host_ip(2) };
	struct pkt *p;

	c->turn_count = 0;
	setup_turn(c, RING_BEFORE, RING_NEXT, 0, 0);
	rig = rig_new_blank(c);
	p = on_lane(rig, &f, BROADCAST_PRIO, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig_release(rig, RING_NEXT, 2), 1);
	p = on_lane(rig, &f, BROADCAST_PRIO, 1);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig_drops(rig, RING_BEFORE, DROP_TURN_DENIED), 1);
	rig_send(rig, RING_HOST, &f);
	cr_assert_eq(rig_drops(rig, RING_HOST, DROP_TURN_DENIED), 1);
	rig_end(rig);
}

Test(lane_corners, a_managed_switch_floods_nothing_that_comes_back)
{
	struct rig *rig = rig_new_blank(config(true));
	struct frame f = { .kind = FRAME_ARP_REQUEST,
			   .dst = broadcast,
			   .src = frame_host_mac(SELF),
			   .src_ip = frame_host_ip(SELF),
			   .dst_ip = frame_host_ip(2) };

	rig_send(rig, RING_HOST, &f);
	cr_assert_eq(rig_drops(rig, RING_HOST, DROP_NOT_FLOODED), 1);
	f.kind = FRAME_ARP_REPLY;
	f.dst = 0x020000000099; // nobody
	rig_send(rig, RING_HOST, &f);
	cr_assert_eq(rig_drops(rig, RING_HOST, DROP_NO_ROUTE), 1);
	cr_assert_eq(rig_switch(rig).copied_packets, 0);
	rig_end(rig);
}

// Lanes of the profile that the turn map does not know, and the other way round: a packet that may
// not stay on its lane is dropped, none leaves in a class that is no lane.
Test(lane_corners, a_lane_that_is_gone_denies_its_turns)
{
	struct rig *rig = rig_new_blank(config(true));
	struct frame f = rig_frame(0, 2, PRIO_LANE1, 256);
	struct pkt *p = on_lane(rig, &f, PRIO_LANE1, 0);

	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig_release(rig, RING_NEXT, 2), 1);
	rig->config->sw.lanes = 1u << PRIO_LANE1; // class 4 is lane 0 now
	turn_map_allow(rig->tables->turns, (port_t){ RING_BEFORE }, (port_t){ RING_NEXT }, 0, 1);
	cr_assert_eq(rig_reload(rig), 0);
	p = on_lane(rig, &f, PRIO_LANE1, 0);
	rig_rx(rig, RING_BEFORE, &p, 1);
	cr_assert_eq(rig_drops(rig, RING_BEFORE, DROP_TURN_DENIED), 1);
	rig_end(rig);
}

// One port with lane_tag and no lanes at all: lossy traffic has lanes too, by the VID.
Test(lane_corners, a_tag_without_lanes_says_lane_0)
{
	struct sw_config *c = setup_kvm(3);
	struct rig *rig;
	struct frame f = rig_frame(0, 2, 0, 128);
	struct pkt *p;

	c->port[2].role = CONFIG_ROLE_FABRIC;
	c->port[2].lane_tag = true;
	rig = rig_new(c);
	rig_send(rig, 0, &f);
	p = rig_take(rig, 2);
	cr_assert_not_null(p);
	check_tag(p, 0, 0);
	rig_free(rig, p);
	rig_end(rig);
}
