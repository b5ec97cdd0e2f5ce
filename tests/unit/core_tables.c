// SPDX-License-Identifier: BSD-3-Clause
//
// tables_build(): what rows of forwarding tables may not be, each fault with the line and object it
// names; and that the memory that tables_bytes() asks for holds every table the configuration's
// limits allow, with all its neighbours, to the byte: behind it lies a page that nobody may touch.

#include "dataplane/core/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "tests/keep.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	VLAN = 10,
	LINE = 77,
	NEIGHBORS = 64,
	PAGE = 65536, // a multiple of any page's size
};

// Two fabric ports, a network, a group, a route, an edge and a host: nothing is wrong with it.
static struct sw_config *good(void)
{
	struct sw_config *c = keep(setup_kvm(PORTS));

	setup_vlan(c, VLAN, "Ethernet0 Ethernet4", "");
	setup_interface(c, VLAN, 0x0a000001, 24);
	setup_neighbor(c, VLAN, 0x0a000002, 0x020000000002);
	setup_next_hop(c, "up", 2, 0);
	setup_route(c, 0x0b000000, 8, "up");
	setup_edge(c, 1, "up");
	setup_fabric_host(c, 0x020000000005, 0x0c000005, 1, 0);
	c->sw.edge_number = 0;
	return c;
}

// Memory whose end is the end of the world.
static void *guarded(size_t bytes)
{
	const size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
	uint8_t *map = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	cr_assert_neq((void *)map, MAP_FAILED);
	cr_assert_eq(mprotect(map + pages, PAGE, PROT_NONE), 0);
	return map + pages - bytes;
}

// --- faults of the tables -----------------------------------------------------------------------

static struct sw_config *last; // what an edit works on

static void mark(uint32_t *line)
{
	*line = LINE;
}

static void nothing(void)
{
}

static void interface_vlan(void)
{
	setup_interface(last, VLAN + 1, 0x0a010001, 24);
	mark(&last->interface[1].line);
}

static void interface_twice(void)
{
	setup_interface(last, VLAN, 0x0a000001, 24);
	mark(&last->interface[1].line);
}

static void interface_second_address(void)
{
	setup_interface(last, VLAN, 0x0a000003, 24);
}

static void network_of_two_vlans(void)
{
	setup_vlan(last, VLAN + 1, "", "");
	setup_interface(last, VLAN + 1, 0x0a000003, 24);
	mark(&last->interface[1].line);
}

static void interface_of_one(void)
{
	setup_interface(last, VLAN, 0x0a010001, 32);
}

static void neighbor_vlan(void)
{
	setup_neighbor(last, VLAN + 1, 0x0a000009, 0x020000000009);
	mark(&last->neighbor[1].line);
}

static void neighbor_is_router(void)
{
	setup_neighbor(last, VLAN, 0x0a000001, 0x020000000009);
	mark(&last->neighbor[1].line);
}

static void next_hop_port(void)
{
	setup_name(setup_next_hop(last, "up", 0, 0)->port, "Ethernet99");
	mark(&last->next_hop[1].line);
}

static void next_hop_nowhere(void)
{
	setup_next_hop(last, "up", 0, 0x020000000009)->port[0] = '\0';
	mark(&last->next_hop[1].line);
}

static void next_hop_by_address(void)
{
	struct next_hop_config *row = setup_next_hop(last, "up", 0, 0);

	row->port[0] = '\0';
	row->address = setup_ipv4(0x0a000007, 32);
}

static void next_hop_vlan(void)
{
	setup_next_hop(last, "up", 0, 0)->vlan = VLAN + 1;
	mark(&last->next_hop[1].line);
}

static void members(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		setup_next_hop(last, "many", i % PORTS, 0x020000000100 + i);
	mark(&last->next_hop[1].line);
}

static void as_many_members(void)
{
	members(GROUP_MEMBER_MAX);
}

static void too_many_members(void)
{
	members(GROUP_MEMBER_MAX + 1);
}

static void weights_far_apart(void)
{
	as_many_members();
	for (uint32_t i = 2; i < last->next_hop_count; i++)
		last->next_hop[i].weight = 255;
}

static void route_group(void)
{
	setup_route(last, 0x0e000000, 8, "down");
	mark(&last->route[1].line);
}

static void route_drop(void)
{
	setup_route(last, 0x0e000000, 8, "drop");
}

static void route_twice(void)
{
	setup_route(last, 0x0b000000, 8, "drop");
	mark(&last->route[1].line);
}

static void route_is_network(void)
{
	setup_route(last, 0x0a000000, 24, "up");
	mark(&last->route[1].line);
}

static void edge_group(void)
{
	setup_edge(last, 2, "drop"); // a group is needed here
	mark(&last->edge[1].line);
}

static void edge_twice(void)
{
	setup_edge(last, 1, "up");
	mark(&last->edge[1].line);
}

static void host_here(void)
{
	setup_fabric_host(last, 0x020000000006, 0x0c000006, 0, PORTS - 1);
}

static void host_beyond_ports(void)
{
	setup_fabric_host(last, 0x020000000006, 0x0c000006, 0, PORTS);
	mark(&last->host[1].line);
}

static void host_beyond_ports_elsewhere(void)
{
	setup_fabric_host(last, 0x020000000006, 0x0c000006, 1, PORTS);
}

static void host_second_address(void)
{
	setup_fabric_host(last, 0x020000000005, 0x0c000006, 1, 0);
}

static void host_at_another_edge(void)
{
	setup_fabric_host(last, 0x020000000005, 0x0c000006, 2, 0);
	mark(&last->host[1].line);
}

static void host_at_another_port(void)
{
	setup_fabric_host(last, 0x020000000005, 0x0c000006, 1, 1);
	mark(&last->host[1].line);
}

static void host_address_twice(void)
{
	setup_fabric_host(last, 0x020000000006, 0x0c000005, 1, 0);
	mark(&last->host[1].line);
}

#define GROUP_ADDRESS 0x01005e000001u

static void neighbor_group_mac(void)
{
	last->neighbor[0].mac = GROUP_ADDRESS;
	mark(&last->neighbor[0].line);
}

static void next_hop_group_mac(void)
{
	last->next_hop[0].mac = GROUP_ADDRESS;
	mark(&last->next_hop[0].line);
}

static void host_group_mac(void)
{
	last->host[0].mac = 0xffffffffffff;
	mark(&last->host[0].line);
}

static void turn_of_lane(void)
{
	setup_turn(last, 0, 1, 1, 0);
	mark(&last->turn[0].line);
}

static void turn_to_lane(void)
{
	setup_turn(last, 0, 1, 0, 1);
	mark(&last->turn[0].line);
}

static void turn_port(void)
{
	setup_turn(last, 0, 1, 0, 0);
	setup_name(last->turn[0].in, "Ethernet99");
	mark(&last->turn[0].line);
}

static void turn_all(void)
{
	setup_turn(last, 0, 1, 0, 0);
	setup_name(last->turn[0].in, "all");
	setup_name(last->turn[0].out, "all");
}

static const struct {
	const char *what;
	void (*edit)(void);
	enum profile_fault_id want;
	const char *object;
	const char *detail;
} fault_rows[] = {
	{ "as it is", nothing, FAULT_NONE, "", "" },
	{ "interface without a VLAN", interface_vlan, FAULT_UNKNOWN_VLAN, "interface", "" },
	{ "interface twice", interface_twice, FAULT_DUPLICATE_NAME, "interface", "" },
	{ "a second address in a network", interface_second_address, FAULT_NONE, "", "" },
	{ "a network in two VLANs", network_of_two_vlans, FAULT_DUPLICATE_NAME, "interface", "" },
	{ "an address without a network", interface_of_one, FAULT_NONE, "", "" },
	{ "neighbour without a VLAN", neighbor_vlan, FAULT_UNKNOWN_VLAN, "neighbor", "" },
	{ "neighbour with the router's address", neighbor_is_router, FAULT_DUPLICATE_NAME,
	  "neighbor", "" },
	{ "next hop behind no port", next_hop_port, FAULT_UNKNOWN_PORT, "next_hop", "Ethernet99" },
	{ "next hop without port and address", next_hop_nowhere, FAULT_NEXT_HOP_NOWHERE, "up", "" },
	{ "next hop by its address", next_hop_by_address, FAULT_NONE, "", "" },
	{ "next hop without a VLAN", next_hop_vlan, FAULT_UNKNOWN_VLAN, "next_hop", "" },
	{ "as many members as can be", as_many_members, FAULT_NONE, "", "" },
	{ "one member more", too_many_members, FAULT_TOO_MANY, "many", "members" },
	{ "weights 1 and 255", weights_far_apart, FAULT_NONE, "", "" },
	{ "route via no group", route_group, FAULT_UNKNOWN_GROUP, "route", "down" },
	{ "route to nowhere", route_drop, FAULT_NONE, "", "" },
	{ "route twice", route_twice, FAULT_DUPLICATE_NAME, "route", "" },
	{ "route to a network of an interface", route_is_network, FAULT_DUPLICATE_NAME, "route",
	  "" },
	{ "edge via no group", edge_group, FAULT_UNKNOWN_GROUP, "edge", "drop" },
	{ "edge twice", edge_twice, FAULT_DUPLICATE_NAME, "edge", "" },
	{ "host at the last port", host_here, FAULT_NONE, "", "" },
	{ "host behind it", host_beyond_ports, FAULT_UNKNOWN_PORT, "host", "" },
	{ "host at a port of another switch", host_beyond_ports_elsewhere, FAULT_NONE, "", "" },
	{ "host with two addresses", host_second_address, FAULT_NONE, "", "" },
	{ "host at two edges", host_at_another_edge, FAULT_HOST_TWICE, "host", "" },
	{ "host at two ports", host_at_another_port, FAULT_HOST_TWICE, "host", "" },
	{ "an address of two hosts", host_address_twice, FAULT_DUPLICATE_NAME, "host", "" },
	{ "neighbour with a group address", neighbor_group_mac, FAULT_GROUP_MAC, "neighbor",
	  "mac" },
	{ "next hop with a group address", next_hop_group_mac, FAULT_GROUP_MAC, "next_hop", "mac" },
	{ "host with the broadcast address", host_group_mac, FAULT_GROUP_MAC, "host", "mac" },
	{ "turn of no lane", turn_of_lane, FAULT_UNKNOWN_LANE, "turn", "" },
	{ "turn to no lane", turn_to_lane, FAULT_UNKNOWN_LANE, "turn", "" },
	{ "turn of no port", turn_port, FAULT_UNKNOWN_PORT, "turn", "Ethernet99" },
	{ "all turns", turn_all, FAULT_NONE, "", "" },
};

static struct sw_profile *profile_of(const struct sw_config *c)
{
	struct sw_profile *pf = keep(malloc(profile_bytes(c)));
	struct profile_fault fault;

	cr_assert_eq(profile_build(c, pf, &fault), 0, "%s", profile_fault_texts[fault.id]);
	return pf;
}

TABLE_TEST(core_tables, fault, row, fault_rows)
{
	struct sw_profile *pf;
	struct sw_tables *t;
	struct profile_fault fault;

	last = good();
	row->edit();
	pf = profile_of(last);
	cr_expect_eq(tables_build(last, pf, NEIGHBORS, guarded(tables_bytes(last, NEIGHBORS)), &t,
				  &fault),
		     row->want == FAULT_NONE ? 0 : -EINVAL);
	cr_assert_eq(fault.id, row->want, "%s: %s", row->what, profile_fault_texts[fault.id]);
	cr_expect_eq(fault.line, row->want == FAULT_NONE ? 0 : LINE, "%s: line %u", row->what,
		     fault.line);
	cr_expect_str_eq(fault.object, row->object, "%s: %s", row->what, fault.object);
	cr_expect_str_eq(fault.detail, row->detail, "%s: %s", row->what, fault.detail);
}

Test(core_tables, a_plain_bridge_needs_none)
{
	struct sw_config *c = setup_kvm(PORTS);

	cr_assert_eq(tables_bytes(c, NEIGHBORS), 0);
	c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	cr_assert_gt(tables_bytes(c, NEIGHBORS), 0);
	free(c);
}

// --- sizes --------------------------------------------------------------------------------------

// A profile that only says which VLANs there are.
static struct sw_profile *any_vlan(const struct sw_config *c)
{
	struct sw_profile *pf = keep(malloc(profile_bytes(c)));

	memset(pf, 0, profile_bytes(c));
	pf->port_count = c->port_count;
	for (uint32_t vid = 1; vid < 4095; vid++)
		pf->vlan_index[vid] = 1;
	return pf;
}

// As many rows as there may be of each kind, every IPv4 prefix in a /16 and /24 of its own.
static void fill(struct sw_config *c)
{
	const uint32_t ports = c->port_count;
	uint32_t at = 0x01000100;

	for (uint32_t i = 0; i < CONFIG_INTERFACE_MAX; i++, at += 0x10000)
		setup_interface(c, (uint16_t)(1 + i), at + 1, 25);
	for (uint32_t i = 0; i < CONFIG_NEIGHBOR_MAX; i++, at += 0x10000)
		setup_neighbor(c, VLAN, at + 1, 0x020000000000 + i);
	for (uint32_t i = 0; i < CONFIG_NEXT_HOP_MAX; i++) {
		const char group[] = { (char)('a' + i / GROUP_MEMBER_MAX), '\0' };

		setup_next_hop(c, group, i % ports, 0x020000100000 + i)->weight =
			i % GROUP_MEMBER_MAX == 0 ? 1 : 255;
	}
	for (uint32_t i = 0; i < CONFIG_ROUTE_MAX; i++, at += 0x10000)
		setup_route(c, at, 26, "a");
	for (uint32_t i = 0; i < CONFIG_EDGE_MAX; i++)
		setup_edge(c, (uint16_t)(4095 - i), "p");
	for (uint32_t i = 0; i < CONFIG_HOST_MAX; i++, at += 0x10000)
		setup_fabric_host(c, 0x020000200000 + i, at + 1, (uint16_t)i, i % ports);
	for (uint32_t i = 0; i < CONFIG_TURN_MAX; i++)
		setup_turn(c, i / 16 % ports, (i + 1) % ports, i % LANE_MAX, LANE_MAX - 1);
	c->sw.lanes = 0x0f;
	c->sw.edge_number = 4095;
}

// All neighbours that were asked for fit, each may move once more before anybody is quiet, and
// none more fits.
static void learn_all(struct sw_tables *t, uint32_t neighbors)
{
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < neighbors; i++) {
			const struct ip_prefix address = setup_ipv4(0xf0000000 + i, 32);

			cr_assert_eq(tables_neighbor_set(t, &address, VLAN, 1 + i + round), 0);
		}
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct ip_prefix address = setup_ipv4(0xf0000000 + neighbors + i, 32);

		cr_assert_eq(tables_neighbor_set(t, &address, VLAN, 1), -ENOSPC);
	}
}

static const struct {
	const char *what;
	uint32_t ports;
	bool full;
	uint32_t neighbors;
} size_rows[] = {
	{ "nothing", 1, false, 0 },
	{ "a few", PORTS, false, 16 },
	{ "all", CONFIG_PORT_MAX, true, 4096 },
	{ "all and many neighbours", CONFIG_PORT_MAX, true, 10000 },
};

TABLE_TEST(core_tables, size, row, size_rows)
{
	struct sw_config *c = keep(setup_kvm(row->ports));
	struct sw_profile *pf = any_vlan(c);
	struct profile_fault fault;
	struct sw_tables *t;

	c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	if (row->full)
		fill(c);
	cr_assert_eq(tables_build(c, pf, row->neighbors, guarded(tables_bytes(c, row->neighbors)),
				  &t, &fault),
		     0, "%s: %s %s %u", row->what, profile_fault_texts[fault.id], fault.object,
		     fault.line);
	if (row->neighbors > 0)
		learn_all(t, row->neighbors);
	// Everything in front of the guard is theirs: moves of groups use both of their places.
	for (uint32_t i = 0; i < t->next_hop_count; i++) {
		cr_assert_eq(tables_next_hop_set(t, i, PORT_NONE, 0), 0);
		tables_quiesce(t);
	}
	for (uint32_t i = 0; i < t->next_hop_count; i++) {
		cr_assert_eq(tables_next_hop_set(t, i, (port_t){ 0 }, 5), 0);
		tables_quiesce(t);
	}
}

// --- changes ------------------------------------------------------------------------------------

static struct sw_tables *built(struct sw_config *c)
{
	struct profile_fault fault;
	struct sw_tables *t;

	cr_assert_eq(tables_build(c, profile_of(c), NEIGHBORS, guarded(tables_bytes(c, NEIGHBORS)),
				  &t, &fault),
		     0);
	return t;
}

Test(core_tables, changes_of_what_is_not_there_are_refused)
{
	struct sw_tables *t = built(good());
	const uint64_t generation = t->generation;

	cr_assert_eq(tables_edge_set(t, 2, 0), -EINVAL);
	cr_assert_eq(tables_edge_set(t, 1, 1), -EINVAL);
	cr_assert_eq(tables_next_hop_set(t, 1, (port_t){ 0 }, 1), -EINVAL);
	cr_assert_eq(tables_next_hop_set(t, 0, (port_t){ PORT_SET_MAX }, 1), -EINVAL);
	cr_assert_eq(t->generation, generation);
	cr_assert_eq(tables_edge_set(t, 1, GROUP_NONE), 0);
	cr_assert_eq(t->edge_group[1], GROUP_NONE);
}

Test(core_tables, a_group_is_busy_until_all_are_quiet_but_not_for_an_address)
{
	struct sw_config *c = good();
	struct sw_tables *t;

	setup_next_hop(c, "up", 3, 0x020000000033);
	t = built(c);
	cr_assert_eq(tables_next_hop_set(t, 1, (port_t){ 1 }, 0x020000000044), 0);
	cr_assert_eq(tables_next_hop_set(t, 1, (port_t){ 3 }, 0x020000000055), -EBUSY);
	cr_assert_eq(t->next_hop[1].mac, 0x020000000044);
	cr_assert_eq(tables_next_hop_set(t, 1, (port_t){ 1 }, 0x020000000055), 0);
	cr_assert_eq(t->next_hop[1].mac, 0x020000000055);
	tables_quiesce(t);
	cr_assert_eq(tables_next_hop_set(t, 1, (port_t){ 3 }, 0x020000000055), 0);
}

// One that moves while no row is free is forgotten: packets wait for it, and none goes to the place
// that it has left. Its row comes back like any other.
Test(core_tables, a_move_without_room_leaves_nothing_behind)
{
	const struct ip_prefix mover = setup_ipv4(0xf0000000, 32);
	const struct ip_prefix other = setup_ipv4(0xf0000001, 32);
	struct sw_tables *t = built(good());

	for (uint32_t i = 0; i < 2 * NEIGHBORS; i++) {
		const struct ip_prefix address = setup_ipv4(0xf0000000 + i % NEIGHBORS, 32);

		cr_assert_eq(tables_neighbor_set(t, &address, VLAN, 1 + i), 0);
	}
	cr_assert_eq(tables_neighbor_set(t, &mover, VLAN, 99), -ENOSPC);
	cr_assert_not(tables_has_neighbor(t, &mover));
	cr_assert(tables_has_neighbor(t, &other));
	for (uint32_t i = 0; i < 2; i++)
		tables_quiesce(t);
	for (uint32_t i = 0; i < NEIGHBORS; i++) {
		const struct ip_prefix address = setup_ipv4(0xf0000000 + i, 32);

		cr_assert_eq(tables_neighbor_set(t, &address, VLAN, 100 + i), 0);
		cr_assert(tables_has_neighbor(t, &address));
	}
}

// What nobody may replace: the router itself, a static neighbour, a host of the fabric.
Test(core_tables, a_learned_neighbor_replaces_nothing_else)
{
	struct sw_tables *t = built(good());
	const uint32_t address[] = { 0x0a000001, 0x0a000002, 0x0c000005 };
	const uint64_t generation = t->generation;

	for (uint32_t i = 0; i < TABLE_COUNT(address); i++) {
		const struct ip_prefix host = setup_ipv4(address[i], 32);

		cr_assert_eq(tables_neighbor_set(t, &host, VLAN, 0x020000000099), 0);
		tables_neighbor_delete(t, &host);
	}
	cr_assert_eq(t->generation, generation);
}
