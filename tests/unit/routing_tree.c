// SPDX-License-Identifier: BSD-3-Clause
//
// Trees: levels and rules, how many paths there are, what each tier carries with and without
// losses, how many rows change, and what is refused. Numbers are arithmetic on k = 16: 128 leaves
// of 8 hosts in 16 pods, 64 cores; a leaf sends 8 x 1016 units, 8 x 960 of them out of its pod.

#include "routing/tree.h"

#include <math.h>

#include "routing/verify.h"
#include "tests/rig/follow.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum {
	K = 16,
	HALF = K / 2,
	AGGREGATIONS = K * HALF, // the first; leaves come before
	CORES = 2 * AGGREGATIONS,
};

static const struct tree_hints no_hints = { 0 };
static const struct tree_options plain = { .weights = VALLEY_FREE_PLAIN };
static const struct tree_options exact = { .weights = VALLEY_FREE_EXACT,
					   .churn_rows = VALLEY_FREE_ANY_CHURN };
static const struct tree_options pinned = { .pinned = true };

struct bench {
	struct graph g;
	struct tree tree;
	struct plan before; // with nothing lost
	struct plan plan;
	double *load;
};

static void make_plan(struct bench *b, const struct tree_options *options, struct plan *plan)
{
	struct plan_fault fault;

	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, plan), 0);
	cr_assert(tree_plan(&b->tree, &b->g.state, options, &b->g.scratch, plan, &fault));
	cr_assert_eq(b->g.scratch.used, 0);
}

static void begin(struct bench *b, const struct tree_options *options)
{
	struct plan_fault fault;

	cr_assert(tree_init(&b->g.topo, &no_hints, &b->g.keep, &b->g.scratch, &b->tree, &fault));
	cr_assert_eq(b->g.scratch.used, 0);
	make_plan(b, options, &b->before);
	b->load = arena_take(&b->g.keep, b->g.topo.link_count, sizeof(*b->load));
}

static void begin_fat_tree(struct bench *b, const struct tree_options *options)
{
	graph_fat_tree(&b->g, K);
	begin(b, options);
}

static double tier_max(struct bench *b, uint32_t tier)
{
	follow_load(&b->g.topo, &b->plan, b->load);
	return follow_tier_max(&b->g.topo, &b->plan, b->load, tier);
}

static void assert_near(double got, double want)
{
	cr_assert_lt(fabs(got - want), 1e-6 * want, "%f, not %f", got, want);
}

static uint64_t changed_rows(struct bench *b)
{
	struct plan_change change;

	cr_assert_eq(plan_diff(&b->before, &b->plan, &b->g.scratch, &change), 0);
	return change.rows;
}

Test(tree, levels_and_rules)
{
	struct bench b;

	begin_fat_tree(&b, &plain);
	cr_assert_eq(b.tree.level_count, 3);
	for (uint32_t s = 0; s < b.g.topo.switch_count; s++)
		cr_assert_eq(b.tree.order.height[s], s < AGGREGATIONS ? 0 : s < CORES ? 1 : 2);
	cr_assert_eq(b.before.turns.lane_count, 1);
	cr_assert_eq(b.before.tier_count, 2);
	follow_prove(&b.g, &b.before);
	graph_free(&b.g);
}

// All of them: HALF over each aggregation switch of the pod, HALF^2 over the cores.
Test(tree, every_minimal_path)
{
	struct follow_paths paths;
	struct bench b;

	begin_fat_tree(&b, &plain);
	paths = follow_paths(&b.g.topo, &b.before, 0, 1);
	cr_assert_eq(paths.count, HALF);
	cr_assert_eq(paths.longest, 2);
	paths = follow_paths(&b.g.topo, &b.before, 0, AGGREGATIONS - 1);
	cr_assert_eq(paths.count, HALF * HALF);
	cr_assert_eq(paths.longest, 4);
	graph_free(&b.g);
}

Test(tree, whole_tree_carries_alike)
{
	static const struct tree_options *const options[] = { &plain, &exact };
	struct bench b;

	for (uint32_t i = 0; i < 2; i++) {
		begin_fat_tree(&b, options[i]);
		b.plan = b.before;
		assert_near(tier_max(&b, 0), 1016);
		assert_near(tier_max(&b, 1), 960);
		graph_free(&b.g);
	}
}

// Of edge 0: the other 127 leaves, the aggregation switch, its 8 cores and the 15 others below
// these; and of leaf 0 its rows towards 7 edges of the pod and 120 others. The 7 links that are
// left carry what 8 did.
Test(tree, lost_leaf_uplink)
{
	static const struct tree_options *const options[] = { &plain, &exact };
	struct bench b;

	for (uint32_t i = 0; i < 2; i++) {
		begin_fat_tree(&b, options[i]);
		graph_cut(&b.g, 0, AGGREGATIONS, 0);
		make_plan(&b, options[i], &b.plan);
		cr_assert_eq(changed_rows(&b), 127 + 1 + 8 + 15 + 7 + 120);
		assert_near(tier_max(&b, 0), 8 * 1016 / 7.0);
		graph_free(&b.g);
	}
}

// Rows of edges of the pod: the core's 8 and those of 15 aggregation switches; and of the one that
// lost it towards 120 others. Plain weights leave 7 links what 8 carried.
enum { CORE_LOST_ROWS = 8 + 15 * 8 + 120 };

Test(tree, lost_core_link)
{
	struct bench b;

	begin_fat_tree(&b, &plain);
	graph_cut(&b.g, AGGREGATIONS, CORES, 0);
	make_plan(&b, &plain, &b.plan);
	cr_assert_eq(changed_rows(&b), CORE_LOST_ROWS);
	assert_near(tier_max(&b, 1), 960 * 8 / 7.0);
	graph_free(&b.g);
}

// 63 links carry what 64 did, for which 8 leaves weigh 120 edges, and 120 leaves 8. A leaf of the
// pod sends 8 parts of 63 by each whole switch, and 56 units to its pod.
Test(tree, lost_core_link_with_exact_weights)
{
	struct bench b;

	begin_fat_tree(&b, &exact);
	graph_cut(&b.g, AGGREGATIONS, CORES, 0);
	make_plan(&b, &exact, &b.plan);
	cr_assert_eq(changed_rows(&b), CORE_LOST_ROWS + 2 * 8 * 120);
	assert_near(tier_max(&b, 1), 960 * 64 / 63.0);
	assert_near(tier_max(&b, 0), 7680 * 8 / 63.0 + 56);
	graph_free(&b.g);
}

// Pods other than the one that lost cost 8 rows an edge, 64 together; its own edges 120 each.
static const struct {
	const char *what;
	uint64_t churn;
	uint64_t rows;
} churns[] = {
	{ "nothing", 0, 0 },
	{ "one row too few for a pod", 63, 0 },
	{ "one pod", 64, 64 },
	{ "a row too few for all the others", 959, 14 * 64 },
	{ "all the others", 960, 960 },
	{ "a row too few for all", 1919, 960 },
	{ "all", 1920, 1920 },
};

TABLE_TEST(tree, churn, row, churns)
{
	const struct tree_options options = { .weights = VALLEY_FREE_EXACT,
					      .churn_rows = row->churn };
	struct bench b;

	begin_fat_tree(&b, &options);
	graph_cut(&b.g, AGGREGATIONS, CORES, 0);
	make_plan(&b, &options, &b.plan);
	cr_assert_eq(changed_rows(&b), CORE_LOST_ROWS + row->rows, "%s", row->what);
	graph_free(&b.g);
}

// Two spines with two cables to each leaf. One lost cable of leaf 0 halves what gets to it by its
// spine, so exact weights send it a third of what others send, 2 of 6 units by each link left.
Test(tree, parallel_links)
{
	struct bench b;

	graph_leaf_spine(&b.g, 4, 2, 2, 6);
	begin(&b, &exact);
	b.plan = b.before;
	assert_near(tier_max(&b, 0), 6 * 18 / 4.0);
	graph_cut(&b.g, 0, 4, 1);
	make_plan(&b, &plain, &b.plan);
	assert_near(tier_max(&b, 0), 3 * 36 / 2.0);
	make_plan(&b, &exact, &b.plan);
	assert_near(tier_max(&b, 0), 3 * 36 / 3.0);
	graph_free(&b.g);
}

// --- D-mod-K ------------------------------------------------------------------------------------

static void send_pinned(const struct topo *topo, const struct plan *plan, uint32_t from,
			uint32_t to, uint32_t *load)
{
	const uint32_t hosts = topo->edge_first_host[1];
	const uint32_t edge = to / hosts;
	uint32_t at = topo->edge_switch[from / hosts];

	while (at != topo->edge_switch[edge]) {
		const struct plan_group *group = &plan->group[plan_rows(plan, edge)[at]];
		const uint32_t n = group->hop_count == 1 ? 0 : to / group->pin % group->hop_count;
		const uint32_t link = topo->link_first[at] + plan->hop[group->first + n].link;

		load[link]++;
		at = topo_far(topo, link);
	}
}

static uint32_t worst_shift(const struct topo *topo, const struct plan *plan)
{
	uint32_t *load = calloc(topo->link_count, sizeof(*load));
	uint32_t worst = 0;

	for (uint32_t shift = 1; shift < topo->host_count; shift++) {
		memset(load, 0, topo->link_count * sizeof(*load));
		for (uint32_t h = 0; h < topo->host_count; h++)
			send_pinned(topo, plan, h, (h + shift) % topo->host_count, load);
		for (uint32_t link = 0; link < topo->link_count; link++)
			worst = load[link] > worst ? load[link] : worst;
	}
	free(load);
	return worst;
}

// Every shift has each link to itself (Zahavi 2010), on full trees with and without parallel links.
Test(tree, pinned_shifts_do_not_meet)
{
	struct bench b;

	graph_fat_tree(&b.g, 8);
	begin(&b, &pinned);
	cr_assert_eq(worst_shift(&b.g.topo, &b.before), 1);
	graph_free(&b.g);
	graph_leaf_spine(&b.g, 6, 3, 2, 6);
	begin(&b, &pinned);
	cr_assert_eq(worst_shift(&b.g.topo, &b.before), 1);
	graph_free(&b.g);
}

// --- what is no tree, and what is hidden --------------------------------------------------------

struct shape {
	uint32_t switches;
	uint32_t cables[8][2];
	uint32_t cable_count;
	uint32_t edges[4];
	uint32_t edge_count;
};

static void make_shape(struct graph *g, const struct shape *shape)
{
	struct topo_cable cables[8];
	struct topo_edge edges[4];
	uint16_t port[16] = { 0 };
	uint32_t at;

	for (uint32_t i = 0; i < shape->cable_count; i++) {
		const uint32_t *ends = shape->cables[i];

		cables[i] = (struct topo_cable){ .end_switch = { ends[0], ends[1] }, .weight = 1 };
		cables[i].end_port[0] = port[ends[0]]++;
		cables[i].end_port[1] = port[ends[1]]++;
	}
	for (uint32_t i = 0; i < shape->edge_count; i++)
		edges[i] = (struct topo_edge){ .at = shape->edges[i], .host_count = 1 };
	g->keep = graph_arena();
	g->scratch = graph_arena();
	cr_assert_eq(topo_build(shape->switches, cables, shape->cable_count, edges,
				shape->edge_count, &g->keep, &g->scratch, &g->topo, &at),
		     TOPO_GOOD);
	cr_assert_eq(topo_state_init(&g->topo, &g->keep, &g->state), 0);
}

// Leaves 0 and 1 below spine 2, with a cable between them.
static const struct shape crossed = { 3, { { 0, 2 }, { 1, 2 }, { 0, 1 } }, 3, { 0, 1 }, 2 };

Test(tree, link_within_a_level)
{
	struct tree_hints hints = { 0 };
	struct plan_fault fault;
	struct tree tree;
	struct graph g;

	make_shape(&g, &crossed);
	cr_assert_not(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_NOT_A_TREE);
	cr_assert_eq(fault.at, 0);
	cr_assert_eq(fault.other, 1);
	cr_assert_eq(g.scratch.used, 0);
	// As it is without the cable.
	graph_cut(&g, 0, 1, 0);
	hints.ignored = &g.state;
	cr_assert(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(tree.level_count, 2);
	graph_free(&g);
}

// A spine with hosts looks like a leaf, until it is said to be a root, or all levels are.
Test(tree, hosts_on_a_spine)
{
	static const struct shape shape = { 3, { { 0, 2 }, { 1, 2 } }, 2, { 0, 1, 2 }, 3 };
	static const uint8_t levels[] = { 0, 0, 4 };
	static const uint8_t no_level[] = { 0, 0, TREE_NO_LEVEL };
	static const uint32_t root[] = { 2, 3 };
	struct tree_hints hints = { 0 };
	struct plan_fault fault;
	struct tree tree;
	struct graph g;

	make_shape(&g, &shape);
	cr_assert_not(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	hints.level = levels;
	cr_assert(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	hints.level = no_level;
	cr_assert_not(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_NOT_A_TREE);
	cr_assert_eq(fault.at, 2);
	hints = (struct tree_hints){ .root = root, .root_count = 1 };
	cr_assert(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(tree.order.height[0], 0);
	cr_assert_eq(tree.order.height[2], 1);
	hints.root_count = 2;
	cr_assert_not(tree_init(&g.topo, &hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_ROOT);
	cr_assert_eq(fault.at, 3);
	graph_free(&g);
}

// Leaves 0, 1 and 2 with spine 3 between the first two and 4 between the last two: from 0 to 2
// there are only valleys.
Test(tree, only_a_valley)
{
	static const struct shape shape = {
		5, { { 0, 3 }, { 1, 3 }, { 1, 4 }, { 2, 4 } }, 4, { 0, 1, 2 }, 3
	};
	struct plan_fault fault;
	struct bench b;

	make_shape(&b.g, &shape);
	cr_assert(tree_init(&b.g.topo, &no_hints, &b.g.keep, &b.g.scratch, &b.tree, &fault));
	cr_assert_eq(plan_init(&b.g.topo, &b.g.keep, &b.plan), 0);
	cr_assert_not(tree_plan(&b.tree, &b.g.state, &plain, &b.g.scratch, &b.plan, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_UNREACHABLE);
	cr_assert_eq(fault.edge, 0);
	cr_assert_eq(fault.at, 2);
	cr_assert_eq(b.g.scratch.used, 0);
	graph_free(&b.g);
}

// The same without the cable from 1 to 4 is two parts. When that returns, no row that it touches is
// without a way, but 0 and 2 are connected now.
Test(tree, return_that_opens_a_valley)
{
	static const struct shape shape = {
		5, { { 0, 3 }, { 1, 3 }, { 1, 4 }, { 2, 4 } }, 4, { 0, 1, 2 }, 3
	};
	struct topo_state whole;
	struct plan_fault fault;
	struct bench b;

	make_shape(&b.g, &shape);
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &whole), 0);
	graph_cut(&b.g, 1, 4, 0);
	begin(&b, &plain);
	cr_assert_not(
		tree_replan(&b.tree, &b.g.state, &whole, &plain, &b.g.scratch, &b.before, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_UNREACHABLE);
	cr_assert_eq(fault.edge, 0);
	cr_assert_eq(fault.at, 2);
	graph_free(&b.g);
}

// A plan that may be partial leaves those two without a row to each other, and is the plan for all
// others; so does a replan, and it connects them when a link from 0 to 4 returns.
Test(tree, partial_plan_around_a_valley)
{
	static const struct shape shape = {
		5, { { 0, 3 }, { 1, 3 }, { 1, 4 }, { 2, 4 }, { 0, 4 } }, 5, { 0, 1, 2 }, 3
	};
	static const struct tree_options partial = { .partial = true };
	struct verify_report report;
	struct topo_state whole;
	struct plan_fault fault;
	struct bench b;

	make_shape(&b.g, &shape);
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &whole), 0);
	graph_cut(&b.g, 0, 4, 0);
	begin(&b, &partial);
	for (uint32_t edge = 0; edge < 3; edge++) {
		for (uint32_t at = 0; at < 3; at++)
			cr_expect_eq(plan_rows(&b.before, edge)[at] == PLAN_NONE,
				     edge + at == 2 && edge != at, "%u to %u", at, edge);
	}
	cr_assert_eq(verify_plan(&b.g.topo, &b.g.state, &b.before, true, &b.g.keep, &b.g.scratch,
				 &report),
		     0);
	cr_expect(verify_safe(&report));
	cr_expect_not(verify_good(&report));

	cr_assert(tree_replan(&b.tree, &b.g.state, &whole, &partial, &b.g.scratch, &b.before,
			      &fault));
	cr_assert_eq(verify_plan(&b.g.topo, &whole, &b.before, true, &b.g.keep, &b.g.scratch,
				 &report),
		     0);
	cr_expect(verify_good(&report));
	cr_expect_eq(report.unreachable_pairs, 0);

	cr_assert(tree_replan(&b.tree, &whole, &b.g.state, &partial, &b.g.scratch, &b.before,
			      &fault));
	cr_expect_eq(plan_rows(&b.before, 0)[2], PLAN_NONE);
	cr_expect_eq(plan_rows(&b.before, 2)[0], PLAN_NONE);
	cr_expect_neq(plan_rows(&b.before, 1)[0], PLAN_NONE);
	graph_free(&b.g);
}

// Leaves 0 and 1 below 2 and 3, these below 4. Without 0-3 and 1-2 the way is over 4.
Test(tree, any_common_ancestor)
{
	static const struct shape shape = {
		5, { { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 } }, 6, { 0, 1 }, 2
	};
	struct follow_paths paths;
	struct bench b;

	make_shape(&b.g, &shape);
	begin(&b, &plain);
	paths = follow_paths(&b.g.topo, &b.before, 0, 1);
	cr_assert_eq(paths.count, 2);
	cr_assert_eq(paths.longest, 2);
	graph_cut(&b.g, 0, 3, 0);
	graph_cut(&b.g, 1, 2, 0);
	make_plan(&b, &plain, &b.plan);
	paths = follow_paths(&b.g.topo, &b.plan, 0, 1);
	cr_assert_eq(paths.count, 1);
	cr_assert_eq(paths.longest, 4);
	graph_free(&b.g);
}

// Spine 2 above leaves 0 and 1, spine 4 above leaf 3: a root alone gives the others no level.
Test(tree, out_of_reach_of_the_roots)
{
	static const struct shape shape = {
		5, { { 0, 2 }, { 1, 2 }, { 3, 4 } }, 3, { 3, 0, 1 }, 3
	};
	static const uint32_t root[] = { 2 };
	const struct tree_hints hints = { .root = root, .root_count = 1 };
	struct plan_fault fault;
	struct bench b;

	make_shape(&b.g, &shape);
	cr_assert(tree_init(&b.g.topo, &hints, &b.g.keep, &b.g.scratch, &b.tree, &fault));
	make_plan(&b, &plain, &b.plan);
	for (uint32_t e = 0; e < 3; e++) {
		for (uint32_t s = 0; s < 5; s++) {
			const uint16_t row = plan_rows(&b.plan, e)[s];

			cr_assert_eq(row == PLAN_LOCAL, s == shape.edges[e]);
			cr_assert_eq(row != PLAN_NONE, e == 0 ? s == 3 : s < 3);
		}
	}
	graph_free(&b.g);
}
