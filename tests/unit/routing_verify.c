// SPDX-License-Identifier: BSD-3-Clause
//
// The verifier on plans that are known: full trees and Torus by arithmetic, and single faults, each
// of which must be found and named.

#include "routing/verify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/rig/routes.h"
#include "tests/table.h"

static struct verify_report verify(struct graph *g, const struct plan *plan)
{
	struct verify_report report;

	cr_assert_eq(verify_plan(&g->topo, &g->state, plan, true, &g->keep, &g->scratch, &report),
		     0);
	cr_assert_eq(g->scratch.used, 0);
	return report;
}

// Shortest paths on a fat-tree, without valleys.
static void plan_tree(struct graph *g, struct plan *plan, uint32_t k)
{
	uint8_t *level = calloc(k * k * 5 / 4, 1);

	cr_assert_not_null(level);
	graph_fat_tree(g, k);
	cr_assert_eq(plan_init(&g->topo, &g->keep, plan), 0);
	routes_shortest(g, plan);
	routes_fat_tree_levels(k, level);
	routes_valley_free(g, plan, level);
	free(level);
}

// Hosts of one leaf are 0 apart, of one pod 2, of others 4.
Test(verify, fat_tree)
{
	const uint64_t hosts = 1024;
	const double pod = 64, leaf = 8;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 16);
	report = verify(&g, &plan);
	cr_assert(verify_good(&report));
	cr_assert_eq(report.reachable_pairs, hosts * (hosts - 1));
	cr_assert_eq(report.unreachable_pairs, 0);
	cr_assert_eq(report.hops_max, 4);
	cr_assert_lt(fabs(report.hops_avg -
			  (2 * (pod - leaf) + 4 * ((double)hosts - pod)) / ((double)hosts - 1)),
		     1e-12);
	cr_assert_eq(report.lanes, 1);
	graph_free(&g);
}

enum { T8 = 8 };

static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[3];
	enum routes_tie tie;
	bool dateline;
	bool acyclic;
} torus_rows[] = {
	{ "8x8 with datelines", 2, { 8, 8 }, ROUTES_TIE_ECMP, true, true },
	{ "8x8 without, ties by ECMP", 2, { 8, 8 }, ROUTES_TIE_ECMP, false, false },
	{ "8x8 without, ties by parity", 2, { 8, 8 }, ROUTES_TIE_PARITY, false, false },
	{ "4x4x4 with datelines", 3, { 4, 4, 4 }, ROUTES_TIE_ECMP, true, true },
	{ "4x4x4 without, ties by ECMP", 3, { 4, 4, 4 }, ROUTES_TIE_ECMP, false, false },
	{ "4x4x4 without, ties by parity", 3, { 4, 4, 4 }, ROUTES_TIE_PARITY, false, true },
	{ "a mesh of rings of 2 needs none", 3, { 2, 2, 2 }, ROUTES_TIE_ECMP, false, true },
	{ "rings of 3 turn once at most", 2, { 3, 3 }, ROUTES_TIE_ECMP, false, true },
};

TABLE_TEST(verify, torus, row, torus_rows)
{
	struct verify_report report;
	struct graph g;
	struct plan plan;
	uint64_t hosts = 4;
	double hops = 0;

	graph_torus(&g, row->dim_count, row->dims, NULL, 4);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, row->dim_count, row->dims, row->tie, row->dateline);
	report = verify(&g, &plan);
	for (uint32_t d = 0; d < row->dim_count; d++) {
		const uint32_t n = row->dims[d];

		// Of a ring: n/4 when n is even, (n^2 - 1) / 4n when it is odd.
		hops += n % 2 == 0 ? n / 4.0 : (n * n - 1) / (4.0 * n);
		hosts *= n;
	}
	// The average is over all places, its own among them.
	hops *= (double)hosts / (double)(hosts - 1);
	cr_assert_eq(report.unreachable_pairs, 0);
	cr_assert_eq(report.reachable_pairs, hosts * (hosts - 1));
	cr_assert_lt(fabs(report.hops_avg - hops), 1e-9, "%f, not %f", report.hops_avg, hops);
	cr_assert_eq(report.lanes, row->dateline ? 2u : 1u);
	cr_assert_eq(report.rows_acyclic, row->acyclic);
	cr_assert_eq(report.cycle_count == 0, report.rows_acyclic && report.turns_acyclic);
	cr_assert_eq(verify_good(&report), row->acyclic && report.turns_acyclic);
	if (row->dateline)
		cr_assert(report.turns_acyclic);
	graph_free(&g);
}

// The cycle of 8x8 without datelines stays in one ring, all round it.
Test(verify, cycle_is_a_ring)
{
	const uint32_t dims[] = { T8, T8 };
	struct verify_report report;
	struct graph g;
	struct plan plan;

	graph_torus(&g, 2, dims, NULL, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, 2, dims, ROUTES_TIE_ECMP, false);
	report = verify(&g, &plan);
	cr_assert_eq(report.cycle_count, T8);
	for (uint32_t i = 0; i < T8; i++) {
		const uint32_t next = report.cycle[(i + 1) % T8].link;

		cr_assert_eq(g.topo.link_port[report.cycle[i].link], g.topo.link_port[next]);
		cr_assert_eq(topo_far(&g.topo, report.cycle[i].link), g.topo.link_switch[next]);
	}
	graph_free(&g);
}

// What is kept of a kind, which must have been counted `count` times.
static const struct violation *find(const struct verify_report *report, enum violation_kind kind,
				    uint64_t count)
{
	cr_assert_eq(report->violation_count[kind], count, "%lu of kind %d",
		     report->violation_count[kind], kind);
	cr_assert_not(verify_good(report));
	for (uint32_t i = 0; i < report->violation_kept; i++) {
		if (report->violation[i].kind == kind)
			return &report->violation[i];
	}
	cr_assert_fail("not kept");
	return NULL;
}

static uint16_t single(struct plan *plan, uint16_t local)
{
	uint16_t group;

	cr_assert_eq(plan_group_plain(plan, &local, 1, &group), 0);
	return group;
}

// k = 4: leaf 0 and 1, aggregations 8 and 9 are pod 0; ports of leaves and aggregations 0, 1 down
// (leaves: hosts), 2, 3 up. Local links of a leaf: 0, 1 up; of an aggregation 0, 1 down, 2, 3 up.

// Aggregation 8 sends what is for leaf 0 to leaf 1, which has no way up again: a valley.
Test(verify, wrong_next_hop)
{
	const struct violation *v;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	plan_rows(&plan, 0)[8] = single(&plan, 1);
	report = verify(&g, &plan);
	v = find(&report, VIOLATION_TURN_DENIED, 2);
	cr_assert_eq(v->edge, 0);
	cr_assert_eq(report.loops, 0);
	cr_assert(report.rows_acyclic);
	cr_assert_eq(g.topo.link_switch[v->hop[v->hop_count - 1].link], v->at);
	// From all other leaves: half of their flows meet it.
	cr_assert_eq(report.unreachable_pairs, 28);
	graph_free(&g);
}

// Without rules the same is a loop between leaf 1 and aggregation 8.
Test(verify, loop_without_turns)
{
	const struct violation *v;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	plan_rows(&plan, 0)[8] = single(&plan, 1);
	cr_assert_eq(verify_plan(&g.topo, &g.state, &plan, false, &g.keep, &g.scratch, &report), 0);
	v = find(&report, VIOLATION_LOOP, 7);
	cr_assert_eq(report.loops, 7);
	cr_assert_not(report.rows_acyclic);
	cr_assert_eq(v->from, 1);
	cr_assert_eq(v->hop_count, 2);
	cr_assert_eq(topo_far(&g.topo, v->hop[0].link), 8);
	cr_assert_eq(topo_far(&g.topo, v->hop[1].link), 1);
	graph_free(&g);
}

// Core 16 has no row for leaf 0.
Test(verify, no_row)
{
	const struct violation *v;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	plan_rows(&plan, 0)[16] = PLAN_NONE;
	report = verify(&g, &plan);
	v = find(&report, VIOLATION_NO_ROUTE, 1);
	cr_assert_eq(v->at, 16);
	cr_assert_eq(v->edge, 0);
	cr_assert_eq(v->hop_count, 2);
	cr_assert_eq(v->from, 2, "the first leaf outside the pod");
	cr_assert_eq(report.unreachable_pairs, 24);
	graph_free(&g);
}

Test(verify, lost_link)
{
	const struct violation *v;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	graph_cut(&g, 0, 8, 0);
	report = verify(&g, &plan);
	// Leaf 0 towards the 7 others, aggregation 8 towards leaf 0.
	v = find(&report, VIOLATION_LOST_LINK, 8);
	cr_assert(v->at == 0 || v->at == 8);
	cr_assert(topo_link_at(&g.topo, 0, 2) == v->hop[v->hop_count - 1].link ||
		  topo_link_at(&g.topo, 8, 0) == v->hop[v->hop_count - 1].link);
	cr_assert_eq(report.parted_pairs, 0);
	graph_free(&g);
}

Test(verify, bad_rows)
{
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	plan_rows(&plan, 0)[16] = (uint16_t)plan.group_count;
	plan_rows(&plan, 1)[17] = PLAN_LOCAL;
	plan_rows(&plan, 2)[18] = single(&plan, 4);
	report = verify(&g, &plan);
	cr_assert_eq(find(&report, VIOLATION_BAD_ROW, 3)->at, 16);
	cr_assert_eq(report.violation_kept, 3);
	graph_free(&g);
}

// Nobody is told off for what is not connected: 6 leaves stay, of the other two one is lost and one
// alone.
Test(verify, parted)
{
	const uint64_t hosts = 16, left = 12;
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	g.state.switch_lost[0] = 1;
	graph_cut(&g, 7, 14, 0);
	graph_cut(&g, 7, 15, 0);
	routes_shortest(&g, &plan);
	report = verify(&g, &plan);
	cr_assert(verify_good(&report));
	// Hosts of leaf 7 still reach each other.
	cr_assert_eq(report.reachable_pairs, left * (left - 1) + 2);
	cr_assert_eq(report.parted_pairs, hosts * (hosts - 1) - left * (left - 1) - 2);
	cr_assert_eq(report.unreachable_pairs, report.parted_pairs);
	graph_free(&g);
}

// Rules that let a packet go up again after it came down: nothing uses it, yet it is found.
Test(verify, valley_in_the_rules)
{
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	turn_rules_allow(&plan.turns, 2, 2, 0, 0);
	report = verify(&g, &plan);
	cr_assert(report.rows_acyclic);
	cr_assert_not(report.turns_acyclic);
	cr_assert_not(verify_good(&report));
	cr_assert_gt(report.cycle_count, 2);
	graph_free(&g);
}

// One valley is no cycle, but two are, at leaf 0 and leaf 1 between the same aggregation switches.
// Both are exceptions, of ports that are not the first of their class.
Test(verify, valleys_by_exceptions)
{
	struct turn_exception exceptions[2];
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 8);
	for (uint32_t leaf = 0; leaf < 2; leaf++)
		exceptions[leaf] = (struct turn_exception){
			.in = topo_link_at(&g.topo, leaf, (uint16_t)(5 + leaf)),
			.out = topo_link_at(&g.topo, leaf, (uint16_t)(6 - leaf)),
		};
	plan.turns.exception = exceptions;
	plan.turns.exception_count = 1;
	report = verify(&g, &plan);
	cr_assert(verify_good(&report));
	plan.turns.exception_count = 2;
	report = verify(&g, &plan);
	cr_assert(report.rows_acyclic);
	cr_assert_not(report.turns_acyclic);
	cr_assert_eq(report.cycle_count, 4);
	graph_free(&g);
}

static const struct {
	const char *what;
	uint32_t classes, lanes;
	struct turn_exception exception[2];
	uint32_t exception_count;
} unfit_rows[] = {
	{ "no lane", 3, 0, { { 0 } }, 0 },
	{ "too many lanes", 3, LANE_MAX + 1, { { 0 } }, 0 },
	{ "no class", 0, 1, { { 0 } }, 0 },
	{ "a link of a class that there is not", 2, 1, { { 0 } }, 0 },
	{ "an exception for no link", 3, 1, { { 0, UINT32_MAX, 0, 0 } }, 1 },
	{ "an exception across switches", 3, 1, { { 0, 2, 0, 0 } }, 1 },
	{ "exceptions out of order", 3, 1, { { 1, 0, 0, 0 }, { 0, 1, 0, 0 } }, 2 },
};

TABLE_TEST(verify, unfit_rules, row, unfit_rows)
{
	struct verify_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 4);
	plan.turns.class_count = row->classes;
	plan.turns.lane_count = row->lanes;
	plan.turns.exception = (struct turn_exception *)row->exception;
	plan.turns.exception_count = row->exception_count;
	cr_assert_eq(verify_plan(&g.topo, &g.state, &plan, true, &g.keep, &g.scratch, &report),
		     -EINVAL);
	graph_free(&g);
}

// Without the dateline of one ring of 8x8, the cycle lies in that ring.
Test(verify, missing_dateline)
{
	const uint32_t dims[] = { T8, T8 };
	struct verify_report report;
	struct graph g;
	struct plan plan;
	uint32_t wrap;

	graph_torus(&g, 2, dims, NULL, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, 2, dims, ROUTES_TIE_ECMP, true);
	// Row 3 towards +1: the wrap leaves switch 31. Its class becomes that of any other link.
	wrap = topo_link_at(&g.topo, 31, 0);
	plan.turns.link_class[wrap] = plan.turns.link_class[topo_link_at(&g.topo, 30, 0)];
	report = verify(&g, &plan);
	cr_assert_not(report.rows_acyclic);
	cr_assert_eq(report.cycle_count, T8);
	for (uint32_t i = 0; i < T8; i++) {
		cr_assert_eq(g.topo.link_switch[report.cycle[i].link] / T8, 3);
		cr_assert_eq(report.cycle[i].lane, 0);
	}
	graph_free(&g);
}
