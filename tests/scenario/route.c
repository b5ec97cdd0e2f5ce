// SPDX-License-Identifier: BSD-3-Clause
//
// Routing on one switch: interfaces, neighbours, static routes, groups, hops and checksums, the
// loss of a port. Two VLANs with two hosts each, and three routers behind ports of their own.
//
// Expected headers are computed here from RFC 791 (the checksum over the whole header anew), not by
// the incremental update of the code.

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 7,
	ROUTERS_AT = 4, // ports 4, 5, 6
	ROUTERS = 3,
	VLAN_A = 10,
	VLAN_B = 20,
	FRAMES = 3000,
	TTL = 64,
	IP_AT = 14,
};

static const uint64_t router_mac = 0x02aa00000001;
static const uint32_t net_a = 0x0a0a0000;   // 10.10.0.0/24: hosts 0 and 1
static const uint32_t net_b = 0x0a140000;   // 10.20.0.0/24: hosts 2 and 3
static const uint32_t net_far = 0x0b000000; // 11.0.0.0/8 behind the routers

static uint32_t host_ip(uint32_t id)
{
	return (id < 2 ? net_a : net_b) + 10 + id;
}

static uint64_t far_mac(uint32_t i)
{
	return 0x02bb00000000 + i;
}

static struct sw_config *two_networks(void)
{
	struct sw_config *c = setup_kvm(PORTS);

	c->sw.router_mac = router_mac;
	setup_vlan(c, VLAN_A, "Ethernet0 Ethernet4", "");
	setup_vlan(c, VLAN_B, "Ethernet8 Ethernet12", "");
	setup_interface(c, VLAN_A, net_a + 1, 24);
	setup_interface(c, VLAN_B, net_b + 1, 24);
	for (uint32_t i = 0; i < ROUTERS; i++)
		setup_next_hop(c, "far", ROUTERS_AT + i, far_mac(i));
	setup_route(c, net_far, 8, "far");
	setup_route(c, net_far + 0x10000, 16, "drop");
	return c;
}

static void add_neighbors(struct sw_config *c)
{
	for (uint32_t i = 0; i < 4; i++)
		setup_neighbor(c, i < 2 ? VLAN_A : VLAN_B, host_ip(i), frame_host_mac(i));
}

static struct frame to_router(uint32_t from, uint32_t to_ip)
{
	struct frame f = rig_frame(from, 0, 3, 256);

	f.dst = router_mac;
	f.src_ip = host_ip(from);
	f.dst_ip = to_ip;
	return f;
}

static void check_headers(const struct pkt *p, uint64_t dst, uint8_t ttl)
{
	const uint8_t *ip = p->data + IP_AT;

	cr_assert_eq(load_be48(p->data), dst);
	cr_assert_eq(load_be48(p->data + 6), router_mac);
	cr_assert_eq(ip[8], ttl);
	cr_assert_eq(load_be16(ip + 10), frame_ipv4_checksum(ip));
}

Test(route, a_packet_between_two_networks_gets_addresses_and_loses_a_hop)
{
	struct sw_config *c = two_networks();
	struct rig *rig;
	struct frame f = to_router(0, host_ip(2));
	struct pkt *p;

	add_neighbors(c);
	rig = rig_new(c);
	rig_send(rig, 0, &f);
	p = rig_take(rig, 2);
	cr_assert_not_null(p);
	check_headers(p, frame_host_mac(2), TTL - 1);
	rig_free(rig, p);
	cr_assert_eq(rig_switch(rig).routed_packets, 1);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint32_t to;
	uint8_t ttl;
	enum drop_reason reason;
} drop_rows[] = {
	{ "no route", 0x0c000001, TTL, DROP_NO_ROUTE },
	{ "the longest prefix says drop", 0x0b010203, TTL, DROP_BLACK_HOLE },
	{ "no hop left", 0x0a14000c, 1, DROP_TTL_EXPIRED },
	{ "no hop at all", 0x0a14000c, 0, DROP_TTL_EXPIRED },
};

TABLE_TEST(route, drops, row, drop_rows)
{
	struct sw_config *c = two_networks();
	struct rig *rig;
	struct frame f = to_router(0, row->to);
	struct pkt *p;

	add_neighbors(c);
	rig = rig_new(c);
	p = rig_build(rig, &f);
	p->data[IP_AT + 8] = row->ttl;
	rig_rx(rig, 0, &p, 1);
	cr_assert_eq(rig_drops(rig, 0, row->reason), 1, "%s", row->what);
	cr_assert_eq(rig_switch(rig).routed_packets, 0);
	rig_end(rig);
}

Test(route, an_unknown_neighbor_is_asked_for_and_the_packets_wait)
{
	struct sw_config *c = two_networks();
	struct rig *rig = rig_new(c);
	struct frame f = to_router(0, host_ip(3));
	struct frame got;
	struct ip_prefix neighbor = setup_ipv4(host_ip(3), 32);

	rig->answer_solicit = false;
	rig_send_many(rig, 0, &f, 5);
	cr_assert_eq(rig->solicits, 1);
	cr_assert_eq(rig->last.vid, VLAN_B);
	cr_assert_eq(rig_switch(rig).queued_packets, 5);
	cr_assert_eq(tables_neighbor_set(rig->tables, &neighbor, VLAN_B, frame_host_mac(3)), 0);
	sw_retry_held(rig->sw, LCORE_FIRST, rig->now);
	rig_drain(rig);
	for (uint64_t i = 0; i < 5; i++) {
		cr_assert(rig_take_frame(rig, 3, &got));
		cr_assert_eq(got.seq, i);
		cr_assert_eq(got.dst, frame_host_mac(3));
	}
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_end(rig);
}

// So that the control thread knows whom to ask whether it is still there.
Test(route, a_neighbor_in_use_is_noted)
{
	struct sw_config *c = two_networks();
	struct rig *rig = rig_new(c);
	struct frame f = to_router(0, host_ip(2));
	struct ip_prefix used = setup_ipv4(host_ip(2), 32);
	struct ip_prefix unused = setup_ipv4(host_ip(3), 32);
	struct frame got;

	cr_assert_eq(tables_neighbor_set(rig->tables, &used, VLAN_B, frame_host_mac(2)), 0);
	cr_assert_eq(tables_neighbor_set(rig->tables, &unused, VLAN_B, frame_host_mac(3)), 0);
	cr_assert_not(tables_neighbor_used(rig->tables, &used), "nothing went there yet");
	rig_send_many(rig, 0, &f, 2);
	cr_assert(rig_take_frame(rig, 2, &got));
	cr_assert(rig_take_frame(rig, 2, &got));
	cr_assert(tables_neighbor_used(rig->tables, &used));
	cr_assert_not(tables_neighbor_used(rig->tables, &used), "nothing went there since");
	cr_assert_not(tables_neighbor_used(rig->tables, &unused));
	rig_send(rig, 0, &f);
	cr_assert(rig_take_frame(rig, 2, &got));
	cr_assert(tables_neighbor_used(rig->tables, &used));
	tables_neighbor_delete(rig->tables, &used);
	cr_assert_not(tables_neighbor_used(rig->tables, &used), "it is gone");
	rig_end(rig);
}

Test(route, a_neighbor_that_moves_is_found_and_its_old_row_used_again)
{
	struct sw_config *c = two_networks();
	struct rig *rig = rig_new(c);
	struct frame f = to_router(0, host_ip(2));
	struct ip_prefix neighbor = setup_ipv4(host_ip(2), 32);
	const uint32_t free_rows = rig->tables->free_rows.count;
	struct frame got;

	for (uint32_t i = 0; i < 3 * free_rows; i++) {
		cr_assert_eq(tables_neighbor_set(rig->tables, &neighbor, VLAN_B,
						 frame_host_mac(2 + i % 2)),
			     0);
		tables_quiesce(rig->tables);
	}
	rig_send(rig, 0, &f);
	cr_assert(rig_take_frame(rig, 2 + (3 * free_rows - 1) % 2, &got));
	rig_end(rig);
}

// A quarter of a fair share, as the field's tests allow; every stream is a queue pair of its own.
static void count_by_router(struct rig *rig, uint64_t count[ROUTERS])
{
	struct frame f = to_router(0, net_far + 1);

	for (uint32_t i = 0; i < FRAMES; i++) {
		f.qp = i;
		rig_send(rig, 0, &f);
	}
	for (uint32_t i = 0; i < ROUTERS; i++) {
		struct pkt *p;

		count[i] = 0;
		while ((p = rig_take(rig, ROUTERS_AT + i)) != NULL) {
			check_headers(p, far_mac(i), TTL - 1);
			rig_free(rig, p);
			count[i]++;
		}
	}
}

Test(route, queue_pairs_spread_over_the_group)
{
	struct rig *rig = rig_new(two_networks());
	uint64_t count[ROUTERS];

	count_by_router(rig, count);
	for (uint32_t i = 0; i < ROUTERS; i++) {
		cr_assert_geq(count[i], FRAMES / ROUTERS * 3 / 4, "%zu", (size_t)count[i]);
		cr_assert_leq(count[i], FRAMES / ROUTERS * 5 / 4, "%zu", (size_t)count[i]);
	}
	rig_end(rig);
}

Test(route, a_dead_port_leaves_its_groups_at_once_and_comes_back)
{
	struct rig *rig = rig_new(two_networks());
	uint64_t before[ROUTERS];
	uint64_t during[ROUTERS];
	uint64_t after[ROUTERS];

	count_by_router(rig, before);
	rig_link(rig, ROUTERS_AT + 1, false);
	count_by_router(rig, during);
	rig_link(rig, ROUTERS_AT + 1, true);
	count_by_router(rig, after);
	cr_assert_eq(during[1], 0);
	cr_assert_eq(during[0] + during[2], FRAMES);
	cr_assert_geq(during[0], before[0]); // nobody else's flows have moved
	cr_assert_geq(during[2], before[2]);
	for (uint32_t i = 0; i < ROUTERS; i++)
		cr_assert_eq(after[i], before[i]);
	cr_assert_eq(rig_all_drops(rig), 0);
	rig_link(rig, ROUTERS_AT, false);
	rig_link(rig, ROUTERS_AT + 1, false);
	rig_link(rig, ROUTERS_AT + 2, false);
	count_by_router(rig, during);
	cr_assert_eq(rig_drops(rig, 0, DROP_GROUP_DEAD), FRAMES);
	rig_end(rig);
}

Test(route, what_is_sent_to_the_router_itself_goes_to_control)
{
	struct rig *rig = rig_new(two_networks());
	struct frame f = to_router(0, net_a + 1);

	rig->answer_punt = false;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig->punts, 1);
	f.kind = FRAME_PLAIN;
	f.ethertype = 0x88b5;
	rig_send(rig, 0, &f);
	cr_assert_eq(rig_drops(rig, 0, DROP_NOT_ROUTABLE), 1);
	rig_end(rig);
}

Test(route, the_bridge_goes_on_beside_routes)
{
	struct rig *rig = rig_new(two_networks());
	struct frame f = rig_frame(0, 1, 3, 512);
	struct frame got;

	rig_send(rig, 0, &f);
	cr_assert(rig_take_frame(rig, 1, &got));
	cr_assert_eq(got.src, frame_host_mac(0));
	cr_assert_eq(rig_switch(rig).routed_packets, 0);
	rig_end(rig);
}

// What the control thread makes leaves by the port it names: nothing is learned or looked up.
static const struct {
	const char *what;
	uint16_t vid;
	uint32_t port;
	bool up;
	enum drop_reason reason; // DROP_NONE: it leaves
	port_t counted_at;
} send_rows[] = {
	{ "a port of the VLAN", VLAN_A, 1, true, DROP_NONE, PORT_NONE },
	{ "a VLAN that does not exist", 4000, 1, true, DROP_VLAN_NOT_MEMBER, PORT_NONE },
	{ "no VLAN at all", 4096, 1, true, DROP_VLAN_NOT_MEMBER, PORT_NONE },
	{ "a port that is down", VLAN_A, 1, false, DROP_EGRESS_DOWN, { 1 } },
};

TABLE_TEST(route, control_sends, row, send_rows)
{
	struct rig *rig = rig_new(two_networks());
	struct frame f = rig_frame(3, 0, 3, 128); // to host 0, behind another port
	struct pkt *p = rig_build(rig, &f);
	struct frame got;

	rig_link(rig, row->port, row->up);
	sw_send(rig->sw, p, (port_t){ (uint16_t)row->port }, row->vid, rig->now);
	rig_drain(rig);
	cr_assert_eq(rig_switch(rig).generated_packets, 1);
	if (row->reason == DROP_NONE) {
		cr_assert(rig_take_frame(rig, row->port, &got), "%s", row->what);
		cr_assert_eq(got.dst, frame_host_mac(0));
		cr_assert_eq(rig_all_drops(rig), 0);
	} else {
		cr_assert_eq(sw_drops(rig->sw, row->counted_at, row->reason), 1, "%s", row->what);
	}
	rig_end(rig);
}

Test(route, what_the_router_is_sent_is_policed)
{
	struct sw_config *c = two_networks();
	struct frame f = to_router(0, net_a + 1);
	struct rig *rig;

	c->port[0].flood_rate = 1000000;
	rig = rig_new(c);
	rig->answer_punt = false;
	rig_send_many(rig, 0, &f, 1000);
	cr_assert_gt(rig->punts, 0);
	cr_assert_gt(rig_drops(rig, 0, DROP_FLOOD_POLICED), 0);
	cr_assert_eq(rig->punts + rig_drops(rig, 0, DROP_FLOOD_POLICED), 1000);
	rig_end(rig);
}
