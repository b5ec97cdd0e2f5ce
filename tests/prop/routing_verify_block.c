// SPDX-License-Identifier: BSD-3-Clause
//
// Two ways to one verdict: blocks of 64 edges, with the walk for what they leave, against the walk
// alone. Totals and every dependency must be the same, and where nothing is wrong, nothing is left.

#include "routing/verify_block.h"

#include <math.h>
#include <string.h>

#include "tests/rig/routes.h"
#include "tests/rig/spoil.h"
#include "tests/table.h"

struct verdict {
	struct verify_run run;
	struct verify_report report;
	uint32_t walked;
};

static void judge(struct graph *g, const struct plan *plan, bool in_blocks, struct verdict *v)
{
	struct block block;
	struct walk walk;

	*v = (struct verdict){ .run = { .topo = &g->topo, .plan = plan, .keep = &g->keep } };
	v->run.report = &v->report;
	cr_assert_eq(verify_prepare(&v->run, &g->state, true, &g->keep), 0);
	cr_assert_eq(walk_init(&v->run, &g->keep, &walk), 0);
	cr_assert_eq(block_init(&v->run, &g->keep, &block), 0);
	for (uint32_t e = 0; e < g->topo.edge_count; e++) {
		static uint64_t left;

		if (e % BLOCK_EDGES == 0)
			left = in_blocks ? block_verify(&block, e) : ~0ull;
		if (left >> e % BLOCK_EDGES & 1) {
			walk_edge(&walk, e);
			v->walked++;
		}
	}
}

static void check_same(const struct verdict *a, const struct verdict *b)
{
	const struct lane_graph *graph = &a->run.graph;
	const size_t words = (size_t)graph->topo->link_count * graph->lanes * graph->words;

	cr_assert_eq(a->report.reachable_pairs, b->report.reachable_pairs);
	cr_assert_eq(a->report.unreachable_pairs, b->report.unreachable_pairs);
	cr_assert_eq(a->report.parted_pairs, b->report.parted_pairs);
	cr_assert_eq(a->report.loops, b->report.loops);
	cr_assert_arr_eq(a->report.violation_count, b->report.violation_count,
			 sizeof(a->report.violation_count));
	cr_assert_eq(a->report.hops_max, b->report.hops_max);
	cr_assert_eq(a->report.lanes, b->report.lanes);
	cr_assert_lt(fabs(a->run.hop_sum - b->run.hop_sum), 1e-9 * (1 + a->run.hop_sum));
	for (size_t i = 0; i < words; i++)
		cr_assert_eq(graph->held[i], b->run.graph.held[i]);
}

static void compare(struct graph *g, const struct plan *plan, uint32_t walked)
{
	struct verdict blocks, walks;

	judge(g, plan, true, &blocks);
	judge(g, plan, false, &walks);
	check_same(&blocks, &walks);
	cr_assert_leq(blocks.walked, walked, "%u edges were walked", blocks.walked);
}

// 150 switches have about a hundred edges.
SEED_TEST(verify_block, random_graphs, rng, 10)
{
	for (uint32_t i = 0; i < 10; i++) {
		struct graph g;
		struct plan plan;

		graph_random(&g, rng, 2 + rng_below(rng, 150), rng_below(rng, 200));
		if (rng_below(rng, 2) == 0)
			spoil_links(rng, &g);
		cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
		routes_shortest(&g, &plan);
		routes_allow_all(&g, &plan);
		compare(&g, &plan, 0);
		if (rng_below(rng, 2) == 0)
			spoil_rules(rng, &g, &plan, LANE_MAX);
		compare(&g, &plan, g.topo.edge_count);
		spoil_rows(rng, &g, &plan, 10000);
		compare(&g, &plan, g.topo.edge_count);
		graph_free(&g);
	}
}

// Exceptions that say what the classes say anyway are looked up port by port.
static void repeat_as_exceptions(struct graph *g, struct plan *plan)
{
	struct turn_rules *rules = &plan->turns;
	const uint32_t links = g->topo.link_count;

	rules->exception = arena_take(&g->keep, (size_t)links * TOPO_DEGREE_MAX,
				      sizeof(*rules->exception));
	cr_assert_not_null(rules->exception);
	for (uint32_t in = 0; in < links; in += 5) {
		const uint32_t at = g->topo.link_switch[in];

		for (uint32_t out = g->topo.link_first[at]; out < g->topo.link_first[at + 1]; out++)
			rules->exception[rules->exception_count++] = (struct turn_exception){
				.in = in,
				.out = out,
				.lane = (uint8_t)(out % 2),
				.to = turn_rules_get(
					&(struct turn_rules){
						.lane_count = rules->lane_count,
						.class_count = rules->class_count,
						.link_class = rules->link_class,
						.lane = rules->lane,
					},
					in, out, out % 2),
			};
	}
}

Test(verify_block, torus_with_exceptions)
{
	const uint32_t dims[] = { 5, 4, 6 };
	struct graph g;
	struct plan plan;

	graph_torus(&g, 3, dims, NULL, 3);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, 3, dims, ROUTES_TIE_ECMP, true);
	compare(&g, &plan, 0);
	repeat_as_exceptions(&g, &plan);
	compare(&g, &plan, 0);
	graph_free(&g);
}

// Rules that are free of cycles keep any rows from looping: packets are dropped instead. The same
// rows without rules do loop.
SEED_TEST(verify_block, rules_hold_whatever_the_rows, rng, 10)
{
	uint64_t loops = 0;

	for (uint32_t i = 0; i < 20; i++) {
		const uint32_t dims[] = { 2 + rng_below(rng, 5), 3 + rng_below(rng, 4),
					  1 + rng_below(rng, 3) };
		struct verify_report report;
		struct graph g;
		struct plan plan;

		graph_torus(&g, 3, dims, NULL, 1);
		cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
		routes_torus(&g, &plan, 3, dims, ROUTES_TIE_ECMP, true);
		spoil_rows(rng, &g, &plan, 1 + rng_below(rng, 20));
		cr_assert_eq(verify_plan(&g.topo, &g.state, &plan, true, &g.keep, &g.scratch,
					 &report),
			     0);
		cr_assert(report.turns_acyclic);
		cr_assert(report.rows_acyclic);
		cr_assert_eq(report.loops, 0);
		cr_assert_eq(verify_plan(&g.topo, &g.state, &plan, false, &g.keep, &g.scratch,
					 &report),
			     0);
		loops += report.loops;
		graph_free(&g);
	}
	cr_assert_gt(loops, 0);
}
