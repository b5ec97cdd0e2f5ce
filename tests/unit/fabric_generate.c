// SPDX-License-Identifier: BSD-3-Clause
//
// Regular fabrics have as many switches, cables and hosts as arithmetic says, the ports that their
// switches have, and between two switches the distance that their kind of network has at most.

#include "fabricmgr/core/generate.h"

#include <stdlib.h>

#include "sys/fault.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

static struct arena keep;
static struct arena scratch;

static const struct generate_options plain = {
	.host = { 100000000000, 2000, 1 },
	.tier = { { 100000000000, 5000, 1 },
		  { 100000000000, 30000, 2 },
		  { 100000000000, 5000, 1 },
		  { 100000000000, 5000, 1 },
		  { 100000000000, 5000, 1 },
		  { 100000000000, 5000, 1 } },
	.attach = 1,
};

static void begin(struct fabric *fabric)
{
	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(fabric_init(fabric, &keep), 0);
}

static void finish(struct fabric *fabric, struct fabric_graph *graph)
{
	struct fabric_faults faults = { .count = 0 };

	cr_assert_eq(fabric_finish(fabric, &scratch, &faults), 0, "fault %d: %s %s",
		     faults.fault[0].kind, faults.fault[0].object, faults.fault[0].detail);
	cr_assert_eq(fabric_graph_build(fabric, &keep, &scratch, graph, &faults), 0);
}

// Links of the longest of the shortest ways from a switch.
static uint32_t eccentricity(const struct topo *topo, uint32_t from)
{
	uint32_t *distance = calloc(topo->switch_count, sizeof(*distance));
	uint32_t *queue = calloc(topo->switch_count + 1u, sizeof(*queue));
	uint32_t head = 0, tail = 1, most = 0;

	cr_assert(distance != NULL && queue != NULL);
	queue[0] = from;
	for (; head < tail; head++) {
		const uint32_t at = queue[head];
		const uint32_t first = topo->link_first[at];

		most = distance[at];
		for (uint32_t l = first; l < first + topo_degree(topo, at); l++) {
			const uint32_t to = topo_far(topo, l);
			const bool is_new = to != from && distance[to] == 0;

			distance[to] = is_new ? most + 1 : distance[to];
			queue[tail] = is_new ? to : 0;
			tail += is_new;
		}
	}
	cr_assert_eq(tail, topo->switch_count, "the graph is connected");
	free(distance);
	free(queue);
	return most;
}

// --- trees ------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t k;
} fat_tree_rows[] = { { "k = 2", 2 }, { "k = 4", 4 }, { "k = 8", 8 }, { "k = 16", 16 } };

TABLE_TEST(generate, fat_tree, row, fat_tree_rows)
{
	struct fabric_faults faults = { .count = 0 };
	const uint32_t k = row->k;
	struct fabric_graph graph;
	struct fabric fabric;

	begin(&fabric);
	cr_assert_eq(generate_fat_tree(&fabric, &plain, k, &faults), 0);
	finish(&fabric, &graph);
	cr_assert_eq(fabric.switch_count, 5 * k * k / 4);
	cr_assert_eq(fabric.host_count, k * k * k / 4);
	cr_assert_eq(fabric.cable_count, k * k * k / 2);
	cr_assert_eq(graph.topo.edge_count, k * k / 2);
	for (uint32_t s = 0; s < fabric.switch_count; s++) {
		const uint32_t hosts = graph.switch_edge[s] != TOPO_NONE ? k / 2 : 0;

		cr_assert_eq(topo_degree(&graph.topo, s) + hosts, k, "every port is used");
	}
	cr_assert_eq(eccentricity(&graph.topo, 0), 4);
	// Weights and lengths are those of the tiers.
	cr_assert_eq(fabric.cables[0].length_mm, 5000);
	cr_assert_eq(fabric.cables[fabric.cable_count - 1].length_mm, 30000);
	cr_assert_eq(fabric.cables[fabric.cable_count - 1].weight, 2);
}

// Names, and which switches of a pod meet at which core.
Test(generate, fat_tree_names)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct fabric fabric;
	uint32_t at;

	begin(&fabric);
	cr_assert_eq(generate_fat_tree(&fabric, &plain, 8, &faults), 0);
	finish(&fabric, &graph);
	cr_assert_eq(fabric_find_switch(&fabric, "pod1-leaf1"), 0);
	cr_assert_eq(fabric_find_switch(&fabric, "pod8-leaf4"), 31);
	cr_assert_eq(fabric_find_switch(&fabric, "pod1-spine1"), 32);
	cr_assert_eq(fabric_find_switch(&fabric, "core16"), 79);
	cr_assert_eq(fabric_find_host(&fabric, "host128"), 127);
	cr_assert_eq(fabric.switches[31].pod, 8);
	cr_assert_eq(fabric.switches[79].pod, 0);
	// Core c is joined to spine c / 4 of each pod p at its own port p.
	for (uint32_t p = 0; p < 8; p++) {
		at = topo_link_at(&graph.topo, 64 + 6, (uint16_t)p);
		cr_assert_eq(topo_far(&graph.topo, at), 32 + 4 * p + 6 / 4);
	}
}

static const struct {
	const char *what;
	struct generate_level level[GENERATE_TIERS_MAX];
	uint32_t count;
	uint32_t switches;
	uint32_t cables;
	uint32_t hosts;
	uint32_t distance;
} clos_rows[] = {
	{ "one switch", { { 4, 0, 1 } }, 1, 1, 0, 4, 0 },
	// 36-port leaves, 18 up; 18 spines with 36 leaves: 648 hosts, 54 switches.
	{ "two tiers of 36 ports", { { 18, 18, 1 }, { 36, 0, 1 } }, 2, 54, 648, 648, 2 },
	// 12 up in threes reach 4 spines, whose 24 ports in threes reach 8 leaves.
	{ "three parallel links", { { 24, 12, 3 }, { 24, 0, 1 } }, 2, 12, 96, 192, 2 },
	// 3:1 at the leaves: 24 down, 8 up. A pod: 16 leaves, 8 spines; 8 pods (32 / 4 at the top);
	// spines have 16 up in fours: 4 parents each, 8 x 4 = 32 cores.
	{ "three tiers, oversubscribed",
	  { { 24, 8, 1 }, { 16, 16, 4 }, { 32, 0, 1 } },
	  3,
	  8 * (16 + 8) + 32,
	  8 * (16 * 8 + 8 * 16),
	  8 * 16 * 24,
	  4 },
	// A 4-ary 4-tree: 4 levels of 64 switches, 256 hosts.
	{ "four tiers",
	  { { 4, 4, 1 }, { 4, 4, 1 }, { 4, 4, 1 }, { 4, 0, 1 } },
	  4,
	  256,
	  768,
	  256,
	  6 },
};

TABLE_TEST(generate, clos, row, clos_rows)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct fabric fabric;

	begin(&fabric);
	cr_assert_eq(generate_clos(&fabric, &plain, row->level, row->count, &faults), 0, "%s",
		     row->what);
	finish(&fabric, &graph);
	cr_assert_eq(fabric.switch_count, row->switches, "%s", row->what);
	cr_assert_eq(fabric.cable_count, row->cables, "%s", row->what);
	cr_assert_eq(fabric.host_count, row->hosts, "%s", row->what);
	cr_assert_eq(eccentricity(&graph.topo, 0), row->distance, "%s", row->what);
	for (uint32_t s = 0; s < fabric.switch_count; s++) {
		const struct generate_level *level = &row->level[fabric.switches[s].level];

		cr_assert_eq(fabric.switches[s].port_count, level->down + level->up, "%s",
			     row->what);
	}
}

#define TIMES(n, d) (((uint64_t)(n) << 32) / (d))

static const struct {
	const char *what;
	uint32_t radix;
	uint64_t oversubscription;
	uint32_t down;
	uint32_t up;
} split_rows[] = {
	{ "even", 32, TIMES(1, 1), 16, 16 },
	{ "2 to 1", 36, TIMES(2, 1), 24, 12 },
	{ "3 to 1", 64, TIMES(3, 1), 48, 16 },
	{ "at most 2 to 1", 32, TIMES(2, 1), 21, 11 },
	{ "more up than down", 30, TIMES(1, 2), 10, 20 },
};

TABLE_TEST(generate, split, row, split_rows)
{
	const struct generate_level level = generate_split(row->radix, row->oversubscription, 1);

	cr_assert_eq(level.down, row->down, "%s", row->what);
	cr_assert_eq(level.up, row->up, "%s", row->what);
}

static const struct {
	const char *what;
	struct generate_leaf_spine shape;
	uint32_t cables; // 0: refused
} leaf_spine_rows[] = {
	{ "plain", { 4, 2, 4, 0, 0 }, 8 },
	{ "in pairs", { 4, 2, 4, 2, 0 }, 16 },
	{ "4 hosts on 2 uplinks are 2 to 1", { 4, 2, 4, 0, TIMES(2, 1) }, 8 },
	{ "even bandwidth needs pairs", { 4, 2, 4, 0, TIMES(1, 1) }, 16 },
	{ "asked for and not given", { 4, 2, 4, 1, TIMES(1, 1) }, 0 },
};

TABLE_TEST(generate, leaf_spine, row, leaf_spine_rows)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric fabric;

	begin(&fabric);
	cr_assert_eq(generate_leaf_spine(&fabric, &plain, &row->shape, &faults),
		     row->cables > 0 ? 0 : -22, "%s", row->what);
	cr_assert_eq(fabric.cable_count, row->cables, "%s", row->what);
}

// --- tori -------------------------------------------------------------------------------------

static const struct {
	const char *what;
	struct generate_torus shape;
	uint32_t switches;
	uint32_t cables;
	uint32_t distance; // of the farthest
} torus_rows[] = {
	{ "a ring", { .dim_count = 1, .dims = { 5 }, .hosts = 1 }, 5, 5, 2 },
	{ "8 x 8", { .dim_count = 2, .dims = { 8, 8 }, .hosts = 4 }, 64, 128, 8 },
	{ "4 x 4 x 4", { .dim_count = 3, .dims = { 4, 4, 4 }, .hosts = 4 }, 64, 192, 6 },
	{ "a mesh where there are two",
	  { .dim_count = 3, .dims = { 4, 2, 1 }, .hosts = 1 },
	  8,
	  8 + 4,
	  3 },
	{ "six dimensions",
	  { .dim_count = 6, .dims = { 3, 3, 3, 2, 2, 2 }, .hosts = 1 },
	  216,
	  3 * 216 + 3 * 108,
	  6 },
	// Both short wraps shifted by half of the long dimension: the same place again are the
	// points of 4 x (a, b, c) with an even sum, from which (2, 2, 2) is the farthest. It is 8
	// without a twist.
	{ "4 x 4 x 8, twisted",
	  { .dim_count = 3,
	    .dims = { 4, 4, 8 },
	    .shift = { { 0, 0, 4 }, { 0, 0, 4 }, { 0 } },
	    .hosts = 1 },
	  128,
	  384,
	  6 },
	// Two pods of 4 x 4, four gateways each to two spines.
	{ "a hybrid",
	  { .dim_count = 2,
	    .dims = { 4, 4 },
	    .hosts = 2,
	    .pods = 2,
	    .spines = 2,
	    .gateways = 4,
	    .parallel = 1 },
	  34,
	  64 + 16,
	  0 },
};

TABLE_TEST(generate, torus, row, torus_rows)
{
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct fabric fabric;

	begin(&fabric);
	cr_assert_eq(generate_torus(&fabric, &plain, &row->shape, &faults), 0, "%s", row->what);
	finish(&fabric, &graph);
	cr_assert_eq(fabric.switch_count, row->switches, "%s", row->what);
	cr_assert_eq(fabric.cable_count, row->cables, "%s", row->what);
	for (uint32_t s = 0; row->distance > 0 && s < fabric.switch_count; s++)
		cr_assert_eq(eccentricity(&graph.topo, s), row->distance, "%s: from %u", row->what,
			     s);
	for (uint32_t s = 0; s < fabric.switch_count; s++) {
		if (graph.switch_edge[s] != TOPO_NONE)
			cr_assert_eq(topo_edge_hosts(&graph.topo, graph.switch_edge[s]),
				     row->shape.hosts);
	}
}

Test(generate, hybrid_gateways_are_spread)
{
	static const struct generate_torus shape = { .dim_count = 2,
						     .dims = { 4, 4 },
						     .hosts = 2,
						     .pods = 2,
						     .spines = 2,
						     .gateways = 4,
						     .parallel = 1 };
	struct fabric_faults faults = { .count = 0 };
	struct fabric_graph graph;
	struct fabric fabric;

	begin(&fabric);
	cr_assert_eq(generate_torus(&fabric, &plain, &shape, &faults), 0);
	finish(&fabric, &graph);
	cr_assert_eq(fabric_find_switch(&fabric, "pod2-sw-0-1"), 20);
	for (uint32_t s = 0; s < 32; s++)
		cr_assert_eq(topo_degree(&graph.topo, s), s % 4 == 0 ? 6 : 4);
	cr_assert_eq(topo_degree(&graph.topo, 32), 8);
	eccentricity(&graph.topo, 0);
}

// --- hosts ------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t attach;
	bool rails;
	uint32_t hosts; // 0: refused
} attach_rows[] = {
	{ "single", 1, false, 64 },
	{ "dual-homed", 2, false, 32 },
	{ "rails", 8, true, 8 },
	{ "rails that do not fit", 3, true, 0 },
};

TABLE_TEST(generate, attaches_hosts, row, attach_rows)
{
	const struct generate_leaf_spine shape = { .leaves = 8, .spines = 4, .hosts = 8 };
	struct fabric_faults faults = { .count = 0 };
	struct generate_options options = plain;
	struct fabric_graph graph;
	struct fabric fabric;

	begin(&fabric);
	options.attach = row->attach;
	options.rails = row->rails;
	cr_assert_eq(generate_leaf_spine(&fabric, &options, &shape, &faults),
		     row->hosts > 0 ? 0 : -22, "%s", row->what);
	cr_assert_eq(fabric.host_count, row->hosts, "%s", row->what);
	if (row->hosts == 0)
		return;
	finish(&fabric, &graph);
	cr_assert_eq(graph.topo.host_count, 64);
	for (uint32_t i = 0; i < fabric.host_port_count; i++) {
		const struct fabric_host_port *port = &fabric.host_ports[i];
		const uint32_t nth = i % row->attach;

		cr_assert_eq(port->host, i / row->attach);
		cr_assert_eq(port->at, port->host / 8 * row->attach + nth);
		cr_assert_eq(port->port, port->host % 8);
		cr_assert_eq(port->rail, row->rails ? nth : 0);
		cr_assert_eq(port->mac, 0x020000000001 + i);
	}
}

// --- refusals ---------------------------------------------------------------------------------

static int odd(struct fabric *fabric, struct fabric_faults *faults)
{
	return generate_fat_tree(fabric, &plain, 7, faults);
}

static int huge(struct fabric *fabric, struct fabric_faults *faults)
{
	return generate_fat_tree(fabric, &plain, 300, faults);
}

static int unpaired(struct fabric *fabric, struct fabric_faults *faults)
{
	static const struct generate_level levels[] = { { 4, 5, 2 }, { 8, 0, 1 } };

	return generate_clos(fabric, &plain, levels, 2, faults);
}

static int no_way_up(struct fabric *fabric, struct fabric_faults *faults)
{
	static const struct generate_level levels[] = { { 4, 0, 1 }, { 8, 0, 1 } };

	return generate_clos(fabric, &plain, levels, 2, faults);
}

static int twisted_mesh(struct fabric *fabric, struct fabric_faults *faults)
{
	static const struct generate_torus shape = { .dim_count = 2,
						     .dims = { 2, 4 },
						     .shift = { { 0, 2 } } };

	return generate_torus(fabric, &plain, &shape, faults);
}

static int twisted_far(struct fabric *fabric, struct fabric_faults *faults)
{
	static const struct generate_torus shape = { .dim_count = 2,
						     .dims = { 4, 4 },
						     .shift = { { 0, 4 } } };

	return generate_torus(fabric, &plain, &shape, faults);
}

static int many_gateways(struct fabric *fabric, struct fabric_faults *faults)
{
	static const struct generate_torus shape = {
		.dim_count = 1, .dims = { 4 }, .pods = 1, .spines = 1, .gateways = 5, .parallel = 1
	};

	return generate_torus(fabric, &plain, &shape, faults);
}

static const struct {
	const char *what;
	int (*make)(struct fabric *fabric, struct fabric_faults *faults);
	const char *want;
} refusal_rows[] = {
	{ "odd k", odd, "fat_tree: k is 7; a fat-tree needs an even number" },
	{ "huge k", huge, "switches: 65536 is more than the 65535 that a fabric may have" },
	{ "unpaired", unpaired, "tier 1: 5 links up are not divided by 2 parallel ones" },
	{ "no way up", no_way_up, "tier 1: has 4 ports down and none up" },
	{ "twisted mesh", twisted_mesh,
	  "x: only a ring of 3 and more can be twisted, along another dimension" },
	{ "twisted far", twisted_far,
	  "x: twisted by 4, further than the 4 switches of the other dimension" },
	{ "gateways", many_gateways, "hybrid: 5 switches of a pod go up, there are 4" },
};

TABLE_TEST(generate, refuses, row, refusal_rows)
{
	struct fabric_faults faults = { .count = 0 };
	const struct fabric_fault *fault = &faults.fault[0];
	struct fabric fabric;
	char text[256];

	begin(&fabric);
	cr_assert_eq(row->make(&fabric, &faults), -22, "%s", row->what);
	fault_render(text, sizeof(text), fabric_fault_texts[fault->kind], fault->object,
		     fault->detail, fault->have, fault->want);
	cr_assert_str_eq(text, row->want);
}
