// SPDX-License-Identifier: BSD-3-Clause
//
// Traces: as many paths as there must be, shares that add up, lanes at the dateline, and paths that
// end where something is wrong.

#include "routing/trace.h"

#include <math.h>

#include "tests/rig/routes.h"
#include "tests/table.h"

static struct trace trace(struct graph *g, const struct plan *plan, uint32_t from, uint32_t edge,
			  uint32_t to_host, uint32_t most)
{
	struct trace trace;

	cr_assert_eq(trace_paths(&g->topo, &g->state, plan, true, from, edge, to_host, most,
				 &g->keep, &g->scratch, &trace),
		     0);
	cr_assert_eq(g->scratch.used, 0);
	return trace;
}

static void plan_tree(struct graph *g, struct plan *plan, uint32_t k)
{
	uint8_t level[80];

	graph_fat_tree(g, k);
	cr_assert_eq(plan_init(&g->topo, &g->keep, plan), 0);
	routes_shortest(g, plan);
	routes_fat_tree_levels(k, level);
	routes_valley_free(g, plan, level);
}

// k = 8: 16 paths of 4 hops to another pod, 1/16 each.
Test(trace, fat_tree)
{
	struct graph g;
	struct plan plan;
	struct trace t;

	plan_tree(&g, &plan, 8);
	t = trace(&g, &plan, 0, 31, TOPO_NONE, 100);
	cr_assert_eq(t.path_count, 16);
	cr_assert_not(t.cut);
	for (uint32_t i = 0; i < t.path_count; i++) {
		const struct trace_path *path = &t.path[i];

		cr_assert_eq(path->end, TRACE_ARRIVES);
		cr_assert_eq(path->hop_count, 4);
		cr_assert_lt(fabs(path->share - 1 / 16.0), 1e-12);
		cr_assert_eq(g.topo.link_switch[path->hop[0].link], 0);
		cr_assert_eq(topo_far(&g.topo, path->hop[3].link), 31);
		// In the order of links: up at the leaf, then at the aggregation switch.
		cr_assert_eq(path->hop[0].link, g.topo.link_first[0] + i / 4);
	}
	t = trace(&g, &plan, 0, 31, TOPO_NONE, 5);
	cr_assert_eq(t.path_count, 5);
	cr_assert(t.cut);
	t = trace(&g, &plan, 0, 0, TOPO_NONE, 5);
	cr_assert_eq(t.path_count, 1);
	cr_assert_eq(t.path[0].hop_count, 0);
	graph_free(&g);
}

// A pinned group leads one host one way: host 13 of 4 ways by number / 2.
Test(trace, pinned)
{
	const struct plan_hop up[] = { { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } };
	struct graph g;
	struct plan plan;
	struct trace t;

	plan_tree(&g, &plan, 8);
	cr_assert_eq(plan_group(&plan, up, 4, 2, &plan_rows(&plan, 3)[0]), 0);
	t = trace(&g, &plan, 0, 3, 13, 100);
	cr_assert_eq(t.path_count, 1);
	cr_assert_eq(t.path[0].hop[0].link, g.topo.link_first[0] + 13 / 2 % 4);
	cr_assert_lt(fabs(t.path[0].share - 1), 1e-12);
	t = trace(&g, &plan, 0, 3, TOPO_NONE, 100);
	cr_assert_eq(t.path_count, 4);
	cr_assert_lt(fabs(t.path[3].share - 0.25), 1e-12);
	graph_free(&g);
}

// A ring of 8 from 6 to 1: over the wrap onto lane 1.
Test(trace, lanes)
{
	const uint32_t dims[] = { 8 };
	struct graph g;
	struct plan plan;
	struct trace t;

	graph_torus(&g, 1, dims, NULL, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, 1, dims, ROUTES_TIE_ECMP, true);
	t = trace(&g, &plan, 6, 1, TOPO_NONE, 100);
	cr_assert_eq(t.path_count, 1);
	cr_assert_eq(t.path[0].hop_count, 3);
	cr_assert_eq(t.path[0].hop[0].lane, 0);
	cr_assert_eq(t.path[0].hop[1].lane, 1);
	cr_assert_eq(t.path[0].hop[2].lane, 1);
	graph_free(&g);
}

enum fault { NO_ROW, LOST, VALLEY, LOOP, BAD };

static const struct {
	const char *what;
	enum fault fault;
	enum trace_end end;
	uint32_t hops; // of the path that ends wrong
} fault_rows[] = {
	{ "a core without a row", NO_ROW, TRACE_NO_ROUTE, 2 },
	{ "a link that is lost", LOST, TRACE_LOST_LINK, 4 },
	{ "up again at a leaf", VALLEY, TRACE_TURN_DENIED, 5 },
	{ "between two switches for ever", LOOP, TRACE_LOOPS, 3 },
	{ "a group that there is not", BAD, TRACE_BAD_ROW, 1 },
};

// k = 4, from leaf 2 in pod 1 to leaf 0: by aggregations 10 or 11, cores 16 to 19, aggregation 8
// or 9. All paths by core 16 end there, or behind it.
TABLE_TEST(trace, faults, row, fault_rows)
{
	struct graph g;
	struct plan plan;
	struct trace t;
	uint32_t wrong = 0;
	uint16_t group;

	plan_tree(&g, &plan, 4);
	switch (row->fault) {
	case NO_ROW: plan_rows(&plan, 0)[16] = PLAN_NONE; break;
	case LOST: graph_cut(&g, 8, 0, 0); break;
	case VALLEY:
	case LOOP:
		cr_assert_eq(plan_group_plain(&plan, (const uint16_t[]){ 1 }, 1, &group), 0);
		plan_rows(&plan, 0)[row->fault == LOOP ? 16 : 8] = group;
		break;
	case BAD: plan_rows(&plan, 0)[10] = 9999; break;
	}
	// Without turns, since a loop of two switches would need one back.
	cr_assert_eq(trace_paths(&g.topo, &g.state, &plan, row->fault != LOOP, 2, 0, TOPO_NONE, 100,
				 &g.keep, &g.scratch, &t),
		     0);
	for (uint32_t i = 0; i < t.path_count; i++) {
		if (t.path[i].end == TRACE_ARRIVES)
			continue;
		cr_assert_eq(t.path[i].end, row->end);
		cr_assert_eq(t.path[i].hop_count, row->hops);
		wrong++;
	}
	cr_assert_geq(wrong, 1);
	graph_free(&g);
}
