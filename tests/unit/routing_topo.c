// SPDX-License-Identifier: BSD-3-Clause
//
// The graph: what is refused and where, that each link of random graphs finds its way back, and
// that a k-ary fat-tree has as many switches, hosts and cables as Al-Fares (2008) counts. Memory
// that is too small is a fault at every size, never a crash.

#include "routing/topo.h"

#include "tests/rig/graph.h"
#include "tests/table.h"

enum { SWITCHES = 3 };

static const struct {
	const char *what;
	struct topo_cable cable[3];
	uint32_t cable_count;
	struct topo_edge edge[2];
	uint32_t edge_count;
	enum topo_fault want;
	uint32_t want_at;
} fault_rows[] = {
	{ "nothing at all", { { { 0 }, { 0 }, 0 } }, 0, { { 0 } }, 0, TOPO_GOOD, 0 },
	{ "a triangle",
	  { { { 0, 1 }, { 0, 0 }, 1 }, { { 1, 2 }, { 1, 0 }, 1 }, { { 2, 0 }, { 1, 1 }, 1 } },
	  3,
	  { { 2, 4 }, { 2, 1 } },
	  2,
	  TOPO_GOOD,
	  2 },
	{ "a switch that is not there",
	  { { { 0, 1 }, { 0, 0 }, 1 }, { { 0, SWITCHES }, { 1, 0 }, 1 } },
	  2,
	  { { 0 } },
	  0,
	  TOPO_NO_SUCH_SWITCH,
	  1 },
	{ "both ends on one switch",
	  { { { 1, 1 }, { 0, 1 }, 1 } },
	  1,
	  { { 0 } },
	  0,
	  TOPO_LOOPED_CABLE,
	  0 },
	{ "a port twice",
	  { { { 0, 1 }, { 5, 0 }, 1 }, { { 1, 2 }, { 1, 0 }, 1 }, { { 2, 0 }, { 3, 5 }, 1 } },
	  3,
	  { { 0 } },
	  0,
	  TOPO_PORT_TAKEN,
	  2 },
	{ "no weight", { { { 0, 1 }, { 0, 0 }, 0 } }, 1, { { 0 } }, 0, TOPO_NO_WEIGHT, 0 },
	{ "an edge nowhere",
	  { { { 0, 1 }, { 0, 0 }, 1 } },
	  1,
	  { { 0, 1 }, { 7, 1 } },
	  2,
	  TOPO_NO_SUCH_SWITCH,
	  1 },
	{ "more hosts than can be counted",
	  { { { 0, 1 }, { 0, 0 }, 1 } },
	  1,
	  { { 0, INT32_MAX }, { 1, 1 } },
	  2,
	  TOPO_TOO_LARGE,
	  1 },
};

static uint8_t memory[2][1 << 16] __attribute__((aligned(64)));

TABLE_TEST(topo, fault, row, fault_rows)
{
	struct arena keep = { .memory = memory[0], .size = sizeof(memory[0]) };
	struct arena scratch = { .memory = memory[1], .size = sizeof(memory[1]) };
	struct topo topo;
	uint32_t at;
	const enum topo_fault fault = topo_build(SWITCHES, row->cable, row->cable_count, row->edge,
						 row->edge_count, &keep, &scratch, &topo, &at);

	cr_assert_eq(fault, row->want, "%s: %d", row->what, fault);
	cr_assert_eq(at, row->want_at, "%s: at %u", row->what, at);
	cr_assert_eq(scratch.used, 0);
}

Test(topo, memory_at_its_end)
{
	const struct topo_cable cable = { { 0, 1 }, { 0, 0 }, 1 };

	for (size_t size = 0;; size += 64) {
		struct arena keep = { .memory = memory[0], .size = size };
		struct arena scratch = { .memory = memory[1], .size = size };
		struct topo topo;
		uint32_t at;
		const enum topo_fault fault = topo_build(2, &cable, 1, NULL, 0, &keep, &scratch,
							 &topo, &at);

		if (fault == TOPO_GOOD)
			return;
		cr_assert_eq(fault, TOPO_NO_MEMORY);
		cr_assert_lt(size, sizeof(memory[0]));
	}
}

// Links of a switch are in the order of its ports, and the way back leads back.
SEED_TEST(topo, random, rng, 50)
{
	struct graph g;

	graph_random(&g, rng, 2 + (uint32_t)rng_below(rng, 20), (uint32_t)rng_below(rng, 60));
	for (uint32_t link = 0; link < g.topo.link_count; link++) {
		const uint32_t peer = g.topo.link_peer[link];
		const uint32_t at = g.topo.link_switch[link];

		cr_assert_eq(g.topo.link_peer[peer], link);
		cr_assert_neq(topo_far(&g.topo, link), at);
		cr_assert(link >= g.topo.link_first[at] && link < g.topo.link_first[at + 1]);
		cr_assert_eq(topo_link_at(&g.topo, at, g.topo.link_port[link]), link);
	}
	cr_assert_eq(topo_link_at(&g.topo, 0, TOPO_PORT_MAX), TOPO_NONE);
	graph_free(&g);
}

// A k-ary fat-tree has 5/4 k^2 switches, k^3/4 hosts and k^3/2 cables between switches.
Test(topo, fat_tree)
{
	struct graph g;

	graph_fat_tree(&g, 8);
	cr_assert_eq(g.topo.switch_count, 80);
	cr_assert_eq(g.topo.host_count, 128);
	cr_assert_eq(g.topo.link_count, 512);
	cr_assert(topo_link_up(&g.topo, &g.state, 0));
	g.state.link_lost[g.topo.link_peer[0]] = 1;
	cr_assert_not(topo_link_up(&g.topo, &g.state, 0));
	graph_free(&g);
}
