// SPDX-License-Identifier: BSD-3-Clause
//
// Corners of routing on one switch: VLAN tags on both sides, a router on a stick, addresses that no
// router forwards, neighbours that come late or never, frames that the control thread gives back.
//
// Two VLANs, 10 and 20; port 4 has no VLAN at all, as a link between routers may. Expected headers
// follow from RFC 791 and RFC 1624 (the checksum is computed anew), 802.1Q and the RoCEv2 annex,
// whose ICRC leaves out exactly what a router changes.

#include <string.h>

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 6,
	A_UNTAGGED = 0, // VLAN 10
	TRUNK = 1,      // 10 and 20, tagged
	B_UNTAGGED = 2, // VLAN 20
	B_TAGGED = 3,
	BARE = 4,  // no VLAN
	SMALL = 5, // VLAN 20, untagged, a small MTU
	VLAN_A = 10,
	VLAN_B = 20,
	SMALL_MTU = 1500,
	IP_AT = 14,
	TTL_AT = IP_AT + 8,
	SUM_AT = IP_AT + 10,
	SECOND = 1000000000,
	LOSSY_WAIT_MAX = 64,
	ASKS_AT_ONCE = 64, // of one port
	QUEUE_CNP = 6,
	ALL_IDS = 65536,
};

static const uint64_t router_mac = 0x02aa00000001;
static const uint64_t far_mac = 0x02bb00000000;
static const uint32_t net_a = 0x0a0a0000;
static const uint32_t net_b = 0x0a140000;
static const uint32_t net_far = 0x0b000000;  // behind BARE
static const uint32_t net_vlan = 0x0c000000; // behind B_TAGGED, in VLAN 20
static const uint32_t net_leak = 0x0d000000; // behind BARE, in VLAN 20, which is not there

static uint32_t host_ip(uint32_t port)
{
	return (port == A_UNTAGGED ? net_a : net_b) + 10 + port;
}

static struct sw_config *config(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	c->sw.router_mac = router_mac;
	c->port[SMALL].mtu = SMALL_MTU;
	setup_vlan(c, 1, "", "");
	setup_vlan(c, VLAN_A, "Ethernet0", "Ethernet4");
	setup_vlan(c, VLAN_B, "Ethernet8 Ethernet20", "Ethernet4 Ethernet12");
	setup_interface(c, VLAN_A, net_a + 1, 24);
	setup_interface(c, VLAN_B, net_b + 1, 24);
	setup_next_hop(c, "far", BARE, far_mac);
	setup_next_hop(c, "vlan", B_TAGGED, far_mac)->vlan = VLAN_B;
	setup_next_hop(c, "leak", BARE, far_mac)->vlan = VLAN_B;
	setup_route(c, 0, 0, "far"); // also what must not leave: link-local and the like
	setup_route(c, net_far, 8, "far");
	setup_route(c, net_vlan, 8, "vlan");
	setup_route(c, net_leak, 8, "leak");
	setup_neighbor(c, VLAN_A, host_ip(A_UNTAGGED), frame_host_mac(A_UNTAGGED));
	for (uint32_t port = TRUNK; port < PORTS; port++)
		setup_neighbor(c, VLAN_B, host_ip(port), frame_host_mac(port));
	return c;
}

// Every host is where its address says.
static struct rig *rig_of(struct sw_config *c)
{
	struct rig *rig = rig_new_blank(c);

	rig_mac_set(rig, frame_host_mac(A_UNTAGGED), VLAN_A, (port_t){ A_UNTAGGED });
	for (uint16_t port = TRUNK; port < PORTS; port++) {
		if (port != BARE)
			rig_mac_set(rig, frame_host_mac(port), VLAN_B, (port_t){ port });
	}
	return rig;
}

static struct frame to_router(uint32_t from, uint32_t to_ip)
{
	struct frame f = rig_frame(from, 0, 3, 256);

	f.dst = router_mac;
	f.src_ip = host_ip(from);
	f.dst_ip = to_ip;
	return f;
}

static void tag(struct frame *f, uint16_t vid)
{
	f->tag[f->tag_count++].tci = (uint16_t)(3 << 13 | vid);
}

// --- tags ---------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t in;
	uint16_t vid; // of the frame's tag, 0: none
	uint32_t to;  // address
	uint32_t out;
	uint16_t want; // VLAN of the tag it leaves with, 0: none
} tag_rows[] = {
	{ "untagged to untagged", A_UNTAGGED, 0, net_b + 12, B_UNTAGGED, 0 },
	{ "untagged to tagged", A_UNTAGGED, 0, net_b + 13, B_TAGGED, VLAN_B },
	{ "tagged to untagged", TRUNK, VLAN_A, net_b + 12, B_UNTAGGED, 0 },
	{ "tagged to tagged", TRUNK, VLAN_A, net_b + 13, B_TAGGED, VLAN_B },
	{ "back out of the port it came in on", TRUNK, VLAN_A, net_b + 11, TRUNK, VLAN_B },
	{ "to a neighbour of its own network", TRUNK, VLAN_B, net_b + 11, TRUNK, VLAN_B },
	{ "untagged to a port without VLAN", A_UNTAGGED, 0, net_far + 1, BARE, 0 },
	{ "tagged to a port without VLAN", TRUNK, VLAN_A, net_far + 1, BARE, 0 },
	{ "tagged to the VLAN of a next hop", TRUNK, VLAN_A, net_vlan + 1, B_TAGGED, VLAN_B },
	{ "untagged to the VLAN of a next hop", A_UNTAGGED, 0, net_vlan + 1, B_TAGGED, VLAN_B },
};

TABLE_TEST(route_corners, tags, row, tag_rows)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(row->in, row->to);
	struct frame got;

	if (row->vid != 0)
		tag(&f, row->vid);
	rig_send(rig, row->in, &f);
	cr_assert(rig_take_frame(rig, row->out, &got), "%s", row->what);
	cr_assert_eq(got.tag_count, row->want != 0, "%s", row->what);
	if (row->want != 0)
		cr_assert_eq(got.tag[0].tci & 0xfff, row->want, "%s", row->what);
	cr_assert_eq(got.src, router_mac);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// --- what is not routed -------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t from, to;
	enum drop_reason reason;
} refused_rows[] = {
	{ "the next hop's VLAN is not on its port", net_a + 10, net_leak + 1,
	  DROP_VLAN_NOT_MEMBER },
	{ "to a group", net_a + 10, 0xe0000001, DROP_NOT_ROUTABLE },
	{ "to all", net_a + 10, 0xffffffff, DROP_NOT_ROUTABLE },
	{ "to loopback", net_a + 10, 0x7f000001, DROP_NOT_ROUTABLE },
	{ "from loopback", 0x7f000001, net_far + 1, DROP_NOT_ROUTABLE },
	{ "to link-local", net_a + 10, 0xa9fe0001, DROP_NOT_ROUTABLE },
	{ "from link-local", 0xa9fe0001, net_far + 1, DROP_NOT_ROUTABLE },
};

TABLE_TEST(route_corners, refused, row, refused_rows)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, row->to);

	f.src_ip = row->from;
	rig_send(rig, A_UNTAGGED, &f);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, row->reason), 1, "%s", row->what);
	cr_assert_eq(rig_switch(rig).routed_packets, 0);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint8_t src[2], dst[2]; // first bytes of the address
	bool drops;
} ipv6_rows[] = {
	{ "global", { 0x20, 0x01 }, { 0x20, 0x02 }, false },
	{ "unique local", { 0xfd, 0x00 }, { 0xfd, 0x01 }, false },
	{ "from link-local", { 0xfe, 0x80 }, { 0x20, 0x02 }, true },
	{ "to link-local", { 0x20, 0x01 }, { 0xfe, 0xbf }, true },
	{ "to a group", { 0x20, 0x01 }, { 0xff, 0x0e }, true },
};

TABLE_TEST(route_corners, ipv6, row, ipv6_rows)
{
	struct sw_config *c = config();
	struct route_config *route = setup_add_row(c, "route");
	struct rig *rig;
	struct frame f = to_router(A_UNTAGGED, net_far + 1);
	struct pkt *p;

	route->prefix.family = IP_V6;
	setup_name(route->via, "far");
	rig = rig_of(c);
	f.ipv6 = true;
	p = rig_build(rig, &f);
	memcpy(p->data + IP_AT + 8, row->src, 2);
	memcpy(p->data + IP_AT + 24, row->dst, 2);
	p->data[IP_AT + 7] = 2;
	rig_rx(rig, A_UNTAGGED, &p, 1);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, DROP_NOT_ROUTABLE), row->drops, "%s", row->what);
	p = rig_take(rig, BARE);
	cr_assert_eq(p == NULL, row->drops, "%s", row->what);
	if (p != NULL) {
		cr_assert_eq(p->data[IP_AT + 7], 1);
		rig_free(rig, p);
	}
	rig_end(rig);
}

Test(route_corners, what_is_behind_a_second_tag_is_not_routed)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(TRUNK, net_far + 1);

	tag(&f, VLAN_A);
	tag(&f, 5);
	rig_send(rig, TRUNK, &f);
	cr_assert_eq(rig_drops(rig, TRUNK, DROP_NOT_ROUTABLE), 1);
	rig_end(rig);
}

Test(route_corners, the_mtu_is_that_of_the_egress_port)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(TRUNK, host_ip(SMALL));

	tag(&f, VLAN_A);
	f.len = SMALL_MTU + 14 + 4; // its tag is no part of the MTU
	rig_send(rig, TRUNK, &f);
	cr_assert_eq(rig_release(rig, SMALL, 2), 1);
	f.len++;
	rig_send(rig, TRUNK, &f);
	cr_assert_eq(rig_drops(rig, TRUNK, DROP_EXCEEDS_L3_MTU), 1);
	rig_end(rig);
}

// --- headers ------------------------------------------------------------------------------------

// Every identification, so that the checksum takes every value, 0x0000 and 0xffff among them.
Test(route_corners, the_checksum_is_right_for_every_value)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, net_far + 1);

	f.len = 64 + 20;
	for (uint32_t id = 0; id < ALL_IDS; id++) {
		struct pkt *p = rig_build(rig, &f);

		p->data[TTL_AT] = (uint8_t)(2 + id % 254);
		store_be16(p->data + IP_AT + 4, (uint16_t)id);
		store_be16(p->data + SUM_AT, frame_ipv4_checksum(p->data + IP_AT));
		rig_rx(rig, A_UNTAGGED, &p, 1);
		p = rig_take(rig, BARE);
		cr_assert_not_null(p);
		cr_assert_eq(p->data[TTL_AT], 1 + id % 254);
		cr_assert_eq(load_be16(p->data + SUM_AT), frame_ipv4_checksum(p->data + IP_AT),
			     "id %u", id);
		rig_free(rig, p);
	}
	rig_end(rig);
}

// Routed packets change in MAC addresses, TTL and checksum alone, options or not: what the ICRC
// covers (IBTA A17.3.3) and what a host wrote stay.
Test(route_corners, nothing_else_changes)
{
	for (uint32_t words = 5; words <= 15; words++) {
		struct rig *rig = rig_of(config());
		struct frame f = to_router(A_UNTAGGED, net_far + 1);
		uint8_t before[256];
		struct pkt *p;

		f.kind = FRAME_PLAIN;
		f.ethertype = 0x0800;
		p = rig_build(rig, &f);
		memset(p->data + IP_AT, 1, p->len - IP_AT); // NOPs
		p->data[IP_AT] = (uint8_t)(0x40 | words);
		store_be16(p->data + IP_AT + 2, (uint16_t)(p->len - IP_AT));
		store_be16(p->data + IP_AT + 6, 0);
		store_be32(p->data + IP_AT + 16, net_far + 1);
		p->data[TTL_AT] = 9;
		store_be16(p->data + SUM_AT, frame_ipv4_checksum(p->data + IP_AT));
		memcpy(before, p->data, sizeof(before));
		rig_rx(rig, A_UNTAGGED, &p, 1);
		p = rig_take(rig, BARE);
		cr_assert_not_null(p, "%u words", words);
		store_be48(before, far_mac);
		store_be48(before + 6, router_mac);
		before[TTL_AT]--;
		store_be16(before + SUM_AT, frame_ipv4_checksum(before + IP_AT));
		cr_assert_arr_eq(p->data, before, sizeof(before));
		rig_free(rig, p);
		rig_end(rig);
	}
}

// A step at 0 bytes marks every packet with ECT; the checksum follows both changes.
Test(route_corners, a_routed_packet_is_marked_and_a_cnp_keeps_its_queue)
{
	struct sw_config *c = config();
	struct rig *rig;
	struct frame f = to_router(A_UNTAGGED, net_far + 1);
	struct pkt *p;

	setup_wred(c, "step", 0, 0, 1000000);
	setup_queue(c, "all", 0xff, "", "step");
	rig = rig_of(c);
	rig_send(rig, A_UNTAGGED, &f);
	p = rig_take(rig, BARE);
	cr_assert_not_null(p);
	cr_assert_eq(p->data[IP_AT + 1] & 3, 3);
	cr_assert_eq(load_be16(p->data + SUM_AT), frame_ipv4_checksum(p->data + IP_AT));
	rig_free(rig, p);
	f.opcode = 0x81;
	rig_send(rig, A_UNTAGGED, &f);
	cr_assert_eq(rig_queue(rig, BARE, QUEUE_CNP).curr_occupancy_bytes, f.len);
	p = rig_take(rig, BARE);
	cr_assert_eq(p->data[IP_AT + 1] & 3, 2);
	rig_free(rig, p);
	rig_end(rig);
}

// --- to the switch itself -----------------------------------------------------------------------

Test(route_corners, what_is_for_the_router_arrives_with_its_last_hop)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, net_b + 1);
	struct pkt *p = rig_build(rig, &f);

	rig->answer_punt = false;
	p->data[TTL_AT] = 1;
	rig_rx(rig, A_UNTAGGED, &p, 1);
	cr_assert_eq(rig->punts, 1);
	rig_end(rig);
}

// A shell that knows no better gives it back: it must not be flooded as an unknown address.
Test(route_corners, what_was_for_the_router_is_not_bridged)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(TRUNK, net_b + 1);

	tag(&f, VLAN_B);
	rig_send(rig, TRUNK, &f);
	cr_assert_eq(rig->punts, 1);
	cr_assert_eq(rig_switch(rig).copied_packets, 0);
	cr_assert_eq(rig_drops(rig, TRUNK, DROP_NOT_ROUTABLE), 1);
	rig_end(rig);
}

// The routers of a fabric share an address.
Test(route_corners, the_routers_address_is_not_learned)
{
	struct rig *rig = rig_of(config());
	struct frame f = rig_frame(B_UNTAGGED, SMALL, 3, 256);

	f.src = router_mac;
	rig_send(rig, B_UNTAGGED, &f);
	cr_assert_eq(rig_release(rig, SMALL, 2), 1);
	cr_assert_eq(rig->learns, 0);
	rig_end(rig);
}

// --- neighbours ---------------------------------------------------------------------------------

Test(route_corners, packets_wait_for_the_port_of_a_known_neighbor)
{
	struct rig *rig = rig_new_blank(config());
	struct frame f = to_router(A_UNTAGGED, host_ip(B_UNTAGGED));

	rig->answer_solicit = false;
	rig_send_many(rig, A_UNTAGGED, &f, 3);
	cr_assert_eq(rig_switch(rig).queued_packets, 3);
	cr_assert_eq(rig_switch(rig).held_packets, 3);
	rig_mac_set(rig, frame_host_mac(B_UNTAGGED), VLAN_B, (port_t){ B_UNTAGGED });
	rig_drain(rig);
	cr_assert_eq(rig_release(rig, B_UNTAGGED, 4), 3);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// A scan of a network by one host: few addresses are asked for at once and few packets wait, and
// those of others are asked for nonetheless.
Test(route_corners, a_scan_does_not_fill_the_buffer)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, 0);
	struct frame other = to_router(TRUNK, 0);

	rig->answer_solicit = false;
	f.dscp = other.dscp = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		f.dst_ip = net_b + 20 + i % 200;
		rig_send(rig, A_UNTAGGED, &f);
	}
	cr_assert_eq(rig->solicits, ASKS_AT_ONCE);
	// The last one asked for comes four times more, and has been asked for.
	cr_assert_eq(rig_switch(rig).solicit_policed, 1000 - ASKS_AT_ONCE - 4);
	other.dst_ip = net_b + 99;
	tag(&other, VLAN_A);
	rig_send(rig, TRUNK, &other);
	cr_assert_eq(rig->solicits, ASKS_AT_ONCE + 1);
	cr_assert_eq(rig_drops(rig, TRUNK, DROP_UNKNOWN_NEIGHBOR), 1, "no room to wait");
	cr_assert_eq(rig_switch(rig).queued_packets, LOSSY_WAIT_MAX);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, DROP_UNKNOWN_NEIGHBOR), 1000 - LOSSY_WAIT_MAX);
	rig_advance(rig, SECOND);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, DROP_UNKNOWN_NEIGHBOR), 1000);
	rig_send(rig, A_UNTAGGED, &f); // there is room again
	cr_assert_eq(rig_switch(rig).queued_packets, 1);
	rig_end(rig);
}

Test(route_corners, packets_that_wait_outlive_the_tables)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, net_b + 99);

	rig->answer_solicit = false;
	rig_send_many(rig, A_UNTAGGED, &f, 3);
	sw_set_tables(rig->sw, NULL);
	sw_retry_held(rig->sw, LCORE_FIRST, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, DROP_NO_ROUTE), 3);
	rig_end(rig);
}

// The VLAN that they are to leave in goes while they wait.
Test(route_corners, packets_that_wait_meet_another_profile)
{
	struct rig *rig = rig_of(config());
	struct frame f = to_router(A_UNTAGGED, host_ip(B_UNTAGGED));

	rig->answer_solicit = false;
	sw_mac_delete(rig->sw, LCORE_FIRST, frame_host_mac(B_UNTAGGED), VLAN_B);
	rig_send_many(rig, A_UNTAGGED, &f, 3);
	cr_assert_eq(rig_switch(rig).queued_packets, 3);
	rig->config->vlan[2].id = VLAN_B + 1;
	cr_assert_eq(rig_reload(rig), 0);
	sw_retry_held(rig->sw, LCORE_FIRST, rig->now);
	rig_drain(rig);
	rig_advance(rig, SECOND);
	cr_assert_eq(rig_drops(rig, A_UNTAGGED, DROP_UNKNOWN_LOSSLESS), 3);
	rig_end(rig);
}
