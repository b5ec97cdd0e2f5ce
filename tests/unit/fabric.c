// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics with names: what is found again, what is refused and in which words, and that the graph
// has the same switches, cables and hosts.

#include "fabricmgr/core/fabric.h"

#include <stdio.h>
#include <string.h>

#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

static struct arena keep;
static struct arena scratch;

// Two leaves, a spine, two cables and three hosts, one of them at both leaves.
static void small(struct fabric *fabric)
{
	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(fabric_init(fabric, &keep), 0);
	fabric_add_switch(fabric, "leaf1")->line = 1;
	fabric_add_switch(fabric, "leaf2")->line = 2;
	fabric_add_switch(fabric, "spine1")->line = 3;
	fabric_add_cable(fabric, 0, 4, 2, 0)->line = 11;
	fabric_add_cable(fabric, 2, 1, 1, 4)->line = 12;
	fabric_add_host(fabric, "a");
	fabric_add_host(fabric, "b");
	fabric_add_host(fabric, "c");
	fabric_add_host_port(fabric, 0, 0, 2)->line = 21;
	fabric_add_host_port(fabric, 1, 1, 0)->line = 22;
	fabric_add_host_port(fabric, 2, 0, 1)->line = 23;
	fabric_add_host_port(fabric, 0, 1, 2)->line = 24;
}

Test(fabric, finds_names)
{
	struct fabric_faults faults = { .count = 0 };
	char name[FABRIC_NAME_BYTES];
	struct fabric fabric;
	uint16_t port;

	small(&fabric);
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), 0);
	cr_assert_eq(fabric_find_switch(&fabric, "spine1"), 2);
	cr_assert_eq(fabric_find_switch(&fabric, "spine2"), FABRIC_NONE);
	cr_assert_eq(fabric_find_host(&fabric, "b"), 1);
	cr_assert_eq(fabric_find_host(&fabric, "leaf1"), FABRIC_NONE);
	cr_assert_str_eq(fabric_port_name(&fabric.switches[0], 4, name), "Ethernet4");
	cr_assert(fabric_find_port(&fabric.switches[0], "Ethernet2", &port) && port == 2);
	cr_assert(fabric_find_port(&fabric.switches[0], "3", &port) && port == 3);
	cr_assert_not(fabric_find_port(&fabric.switches[0], "Ethernet5", &port), "there are 0..4");
	cr_assert_not(fabric_find_port(&fabric.switches[0], "swp1", &port));
}

Test(fabric, sorts_ports_of_hosts)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric;

	small(&fabric);
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), 0);
	cr_assert_eq(fabric.hosts[0].first_port, 0);
	cr_assert_eq(fabric.hosts[0].port_count, 2);
	cr_assert_eq(fabric.host_ports[0].line, 21);
	cr_assert_eq(fabric.host_ports[1].line, 24);
	cr_assert_eq(fabric.host_ports[fabric.hosts[2].first_port].line, 23);
}

Test(fabric, graph_has_the_same)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct fabric fabric;

	small(&fabric);
	fabric.cables[1].ignored = true;
	fabric.cables[0].weight = 3;
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), 0);
	cr_assert_eq(fabric_graph_build(&fabric, &keep, &scratch, &graph, &faults), 0);
	cr_assert_eq(graph.topo.edge_count, 2);
	cr_assert_eq(graph.topo.host_count, 4);
	cr_assert_eq(graph.switch_edge[1], 1);
	cr_assert_eq(graph.switch_edge[2], TOPO_NONE);
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t link = graph.cable_link[i];

		cr_assert_eq(graph.topo.link_switch[link], fabric.cables[i].end_switch[0]);
		cr_assert_eq(graph.topo.link_port[link], fabric.cables[i].end_port[0]);
		cr_assert_eq(graph.link_cable[graph.topo.link_peer[link]], i | FABRIC_FAR_END);
		cr_assert_eq(topo_link_up(&graph.topo, &graph.state, link), i == 0);
	}
	cr_assert_eq(graph.topo.link_weight[graph.cable_link[0]], 3);
	// leaf1 has c at port 1 and a at port 2, leaf2 has b at port 0 and a at port 2.
	for (uint32_t h = 0; h < 4; h++) {
		static const uint32_t want_line[] = { 23, 21, 22, 24 };

		cr_assert_eq(fabric.host_ports[graph.host_of[h]].line, want_line[h]);
		cr_assert_eq(graph.host_number[graph.host_of[h]], h);
	}
}

Test(fabric, grows)
{
	enum { MANY = 5000 };
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric;
	char name[32];

	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(fabric_init(&fabric, &keep), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		fabric_add_switch(&fabric, name);
		fabric_add_host(&fabric, name);
		fabric_add_host_port(&fabric, i, i, 0);
	}
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		cr_assert_eq(fabric_find_switch(&fabric, name), i);
		cr_assert_eq(fabric_find_host(&fabric, name), i);
	}
	cr_assert_eq(fabric_tenant(&fabric, "red"), 1);
	cr_assert_eq(fabric_tenant(&fabric, "blue"), 2);
	cr_assert_eq(fabric_tenant(&fabric, "red"), 1);
}

// Each changes the small fabric so that one thing is wrong.
static void twice(struct fabric *fabric)
{
	fabric_add_switch(fabric, "leaf2")->line = 9;
}

static void host_twice(struct fabric *fabric)
{
	fabric_add_host(fabric, "b")->line = 30;
	fabric_add_host_port(fabric, 3, 0, 0);
}

static void port_taken(struct fabric *fabric)
{
	fabric_add_host_port(fabric, 2, 1, 4)->line = 31;
}

static void cable_on_host(struct fabric *fabric)
{
	fabric_add_cable(fabric, 0, 2, 2, 7)->line = 13;
}

static void looped(struct fabric *fabric)
{
	fabric_add_cable(fabric, 2, 8, 2, 9)->line = 14;
}

static void weightless(struct fabric *fabric)
{
	fabric->cables[1].weight = 0;
}

static void homeless(struct fabric *fabric)
{
	fabric_add_host(fabric, "d")->line = 32;
}

static void blank(struct fabric *fabric)
{
	fabric_add_switch(fabric, "leaf 3")->line = 4;
}

static void nameless(struct fabric *fabric)
{
	fabric_add_host(fabric, "")->line = 33;
	fabric_add_host_port(fabric, 3, 0, 0);
}

static const struct {
	const char *what;
	void (*spoil)(struct fabric *fabric);
	uint32_t line;
	const char *want;
} fault_rows[] = {
	{ "a switch twice", twice, 9, "leaf2: two switches have this name" },
	{ "a host twice", host_twice, 30, "b: two hosts have this name" },
	{ "a host on a cable's port", port_taken, 31,
	  "leaf2 Ethernet4: the port has a cable already, of line 12" },
	{ "a cable on a host's port", cable_on_host, 21,
	  "leaf1 Ethernet2: the port has a cable already, of line 13" },
	{ "a loop", looped, 14, "spine1 Ethernet8: the cable leads back to the same switch" },
	{ "no weight", weightless, 12, "spine1 Ethernet1: a weight is 1 or more" },
	{ "a host nowhere", homeless, 32, "d: no port of the host is at a switch" },
	{ "a blank in a name", blank, 4,
	  "leaf 3: not a name: 1 to 63 printable characters of ASCII, no blank" },
	{ "no name", nameless, 33,
	  ": not a name: 1 to 63 printable characters of ASCII, no blank" },
};

TABLE_TEST(fabric, faults, row, fault_rows)
{
	struct fabric_faults faults = { .count = 0 };
	const struct fabric_fault *fault = &faults.fault[0];
	struct fabric fabric;
	char text[256];

	small(&fabric);
	row->spoil(&fabric);
	cr_assert_eq(fabric_finish(&fabric, &scratch, &faults), -22, "%s", row->what);
	cr_assert_eq(faults.count, 1, "%s", row->what);
	cr_assert_eq(fault->line, row->line, "%s", row->what);
	fault_render(text, sizeof(text), fabric_fault_texts[fault->kind], fault->object,
		     fault->detail, fault->have, fault->want);
	cr_assert_str_eq(text, row->want);
}
