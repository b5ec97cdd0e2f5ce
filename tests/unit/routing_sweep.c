// SPDX-License-Identifier: BSD-3-Clause
//
// Sweeps: every cable and switch is broken once and mended, and what is reported of them is what
// arithmetic says.

#include "routing/sweep.h"

#include <string.h>

#include "tests/rig/routes.h"
#include "tests/table.h"

enum { LEAVES = 4, HOSTS = 3, ALL = LEAVES * HOSTS };

// Who plans for a failure.
enum planner {
	SHORTEST, // what there is
	STALE,    // the plan from before
	REFUSING,
};

struct want {
	uint32_t refused, unsafe, unrouted, cutting;
	uint64_t unreachable;
	double load;
};

static const struct {
	const char *what;
	uint32_t spines;
	enum planner planner;
	struct want cable, node;
} rows[] = {
	// A leaf without one of two links up has all of its 27 pairs on the other.
	{ "two spines", 2, SHORTEST, { 0, 0, 0, 0, 0, 27 }, { 0, 0, 0, 0, 0, 27 } },
	// The leaf of the cable is alone; without the spine all are. Without a leaf 3 x 6 are left.
	{ "one spine", 1, SHORTEST, { 0, 0, 0, LEAVES, 54, 18 }, { 0, 0, 0, 1, 108, 18 } },
	{ "the old plan", 2, STALE, { 0, 8, 8, 0, 54, 13.5 }, { 0, 6, 2, 0, 108, 13.5 } },
	{ "none", 2, REFUSING, { 8, 0, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0, 0 } },
};

static void check(const struct sweep_result *got, const struct want *want, uint32_t count)
{
	cr_assert_eq(got->count, count);
	cr_assert_eq(got->refused, want->refused);
	cr_assert_eq(got->unsafe, want->unsafe, "%u unsafe", got->unsafe);
	cr_assert_eq(got->unrouted, want->unrouted, "%u unrouted", got->unrouted);
	cr_assert_eq(got->cutting, want->cutting, "%u cutting", got->cutting);
	cr_assert_eq(got->unreachable_worst, want->unreachable, "%lu", got->unreachable_worst);
	cr_assert_eq(got->load_worst, want->load, "%f", got->load_worst);
}

TABLE_TEST(sweep, leaf_spine, row, rows)
{
	struct sweep sweep;
	struct graph g;
	struct plan plan;

	graph_leaf_spine(&g, LEAVES, row->spines, 1, HOSTS);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_shortest(&g, &plan);
	routes_valley_free(&g, &plan, (const uint8_t[LEAVES + 2]){ 0, 0, 0, 0, 1, 1 });
	cr_assert_eq(sweep_begin(&g.topo, &g.state, &g.keep, &sweep), 0);
	while (sweep_next(&sweep)) {
		struct graph broken = g;

		broken.state = sweep.state;
		if (row->planner == SHORTEST)
			routes_shortest(&broken, &plan);
		cr_assert_eq(sweep_judge(&sweep, row->planner == REFUSING ? NULL : &plan,
					 &g.scratch),
			     0);
		cr_assert_eq(g.scratch.used, 0);
	}
	check(&sweep.result[SWEEP_CABLE], &row->cable, LEAVES * row->spines);
	check(&sweep.result[SWEEP_SWITCH], &row->node, LEAVES + row->spines);
	// All is mended.
	for (uint32_t l = 0; l < g.topo.link_count; l++)
		cr_assert_eq(sweep.state.link_lost[l], 0);
	for (uint32_t s = 0; s < g.topo.switch_count; s++)
		cr_assert_eq(sweep.state.switch_lost[s], 0);
	graph_free(&g);
}

// What was lost before stays lost, and is no case.
Test(sweep, on_top_of_a_loss)
{
	struct sweep sweep;
	struct graph g;
	uint32_t cases = 0;

	graph_leaf_spine(&g, LEAVES, 2, 1, HOSTS);
	graph_cut(&g, 0, 4, 0);
	g.state.switch_lost[3] = 1;
	cr_assert_eq(sweep_begin(&g.topo, &g.state, &g.keep, &sweep), 0);
	while (sweep_next(&sweep)) {
		cases++;
		cr_assert_eq(sweep.state.switch_lost[3], 1);
		cr_assert_eq(sweep.state.link_lost[topo_link_at(&g.topo, 0, HOSTS)], 1);
	}
	// Of 8 cables one is lost and two are of a lost leaf; of 6 switches one is lost.
	cr_assert_eq(cases, 5 + 5);
	graph_free(&g);
}
