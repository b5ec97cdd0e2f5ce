// SPDX-License-Identifier: BSD-3-Clause
//
// Plans as data: groups are kept once, copies are equal, a difference counts what it says, and the
// table of a switch does not depend on how a plan came about.

#include "routing/plan.h"

#include <errno.h>

#include "tests/rig/graph.h"
#include "tests/table.h"

static uint16_t group_of(struct plan *plan, uint16_t first, uint16_t second)
{
	const uint16_t links[] = { first, second };
	uint16_t group;

	cr_assert_eq(plan_group_plain(plan, links, 2, &group), 0);
	return group;
}

Test(plan, groups_are_kept_once)
{
	struct plan_hop hops[] = { { .link = 1, .weight = 1 }, { .link = 2, .weight = 1 } };
	struct graph g;
	struct plan plan;
	uint16_t group, other;

	graph_leaf_spine(&g, 2, 2, 1, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	cr_assert_eq(plan_group(&plan, hops, 2, 0, &group), 0);
	cr_assert_eq(group_of(&plan, 1, 2), group);
	cr_assert_eq(plan_group(&plan, hops, 2, 3, &other), 0);
	cr_assert_neq(other, group, "pinned");
	hops[0].weight = 2;
	cr_assert_eq(plan_group(&plan, hops, 2, 0, &other), 0);
	cr_assert_neq(other, group, "other weights");
	cr_assert_eq(plan_group(&plan, hops, 0, 0, &other), 0);
	cr_assert_eq(other, PLAN_NONE);
	graph_free(&g);
}

Test(plan, as_many_groups_as_there_may_be)
{
	struct graph g;
	struct plan plan;
	uint16_t group;

	graph_leaf_spine(&g, 2, 2, 1, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	for (uint32_t i = 0; i < PLAN_GROUP_MAX; i++) {
		const struct plan_hop hop = { .link = (uint16_t)i, .weight = 1 };

		cr_assert_eq(plan_group(&plan, &hop, 1, 0, &group), 0);
		cr_assert_eq(group, i);
	}
	cr_assert_eq(plan_group(&plan, &(struct plan_hop){ 0, 2 }, 1, 0, &group), -EOVERFLOW);
	cr_assert_eq(plan_group(&plan, &(struct plan_hop){ 7, 1 }, 1, 0, &group), 0);
	cr_assert_eq(group, 7);
	graph_free(&g);
}

// Wherever memory ends, what was made before is still found and nothing else is: engines go on for
// a while before they look at what they were told.
Test(plan, memory_that_ends)
{
	enum { GROUPS = 400 };
	uint32_t ended = 0;
	struct graph g;

	graph_leaf_spine(&g, 2, 2, 1, 1);
	for (size_t bytes = 0; bytes < 64 * 1024; bytes += 64) {
		struct arena keep = { .memory = g.keep.memory + g.keep.used, .size = bytes };
		struct plan plan;
		uint32_t made = 0;

		if (plan_init(&g.topo, &keep, &plan) != 0)
			continue;
		for (uint16_t i = 0; i < GROUPS; i++) {
			const struct plan_hop hop = { .link = i, .weight = 1 };
			uint16_t group;
			const int rc = plan_group(&plan, &hop, 1, 0, &group);

			cr_assert(rc == 0 || rc == -ENOMEM);
			cr_assert_eq(group, rc == 0 ? (uint16_t)made : PLAN_NONE);
			made += rc == 0;
		}
		ended += made < GROUPS;
		for (uint32_t k = 0; k < made; k++) {
			uint16_t group;

			cr_assert_eq(plan_group(&plan, &plan.hop[k], 1, 0, &group), 0);
			cr_assert_eq(group, k);
		}
	}
	cr_assert_gt(ended, 0);
	graph_free(&g);
}

Test(plan, groups_wider_than_a_switch_has)
{
	const uint16_t links[] = { 0, 1, 2 };
	struct plan_fault fault;
	struct graph g;
	struct plan plan;
	uint16_t wide;

	graph_leaf_spine(&g, 4, 3, 1, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	cr_assert_eq(plan_group_plain(&plan, links, 3, &wide), 0);
	plan_rows(&plan, 1)[0] = group_of(&plan, 0, 1);
	cr_assert(plan_fits_groups(&plan, 2, &fault), "of no row");
	plan_rows(&plan, 2)[3] = wide;
	cr_assert(plan_fits_groups(&plan, 3, &fault));
	cr_assert_not(plan_fits_groups(&plan, 2, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_WIDE);
	cr_assert_eq(fault.at, 3);
	cr_assert_eq(fault.edge, 2);
	graph_free(&g);
}

// Four leaves, edges 0 to 3. Leaf 0 loses a spine for two edges: two rows, one group of one hop,
// 2 x 4 + 4 + 4 bytes.
Test(plan, difference)
{
	struct plan before, after;
	struct plan_change change;
	struct graph g;

	graph_leaf_spine(&g, 4, 2, 1, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &before), 0);
	plan_rows(&before, 0)[0] = PLAN_LOCAL;
	for (uint32_t e = 1; e < 4; e++)
		plan_rows(&before, e)[0] = group_of(&before, 0, 1);
	cr_assert_eq(plan_copy(&g.topo, &before, &g.keep, &after), 0);
	cr_assert_eq(plan_diff(&before, &after, &g.scratch, &change), 0);
	cr_assert_eq(change.rows + change.switches + change.groups + change.bytes, 0);
	for (uint32_t e = 1; e < 3; e++)
		cr_assert_eq(plan_group_plain(&after, (const uint16_t[]){ 1 }, 1,
					      &plan_rows(&after, e)[0]),
			     0);
	cr_assert_eq(plan_diff(&before, &after, &g.scratch, &change), 0);
	cr_assert_eq(change.switches, 1);
	cr_assert_eq(change.rows, 2);
	cr_assert_eq(change.groups, 1);
	cr_assert_eq(change.bytes, 16);
	// A group that the switch has for another edge costs a row alone.
	plan_rows(&after, 1)[0] = plan_rows(&before, 1)[0];
	plan_rows(&after, 2)[0] = PLAN_NONE;
	cr_assert_eq(plan_diff(&before, &after, &g.scratch, &change), 0);
	cr_assert_eq(change.groups, 0);
	cr_assert_eq(change.bytes, 4);
	graph_free(&g);
}

Test(plan, tables_are_numbered_by_use)
{
	struct plan_table table[2];
	struct plan plan[2];
	uint16_t group[2];
	struct graph g;

	graph_leaf_spine(&g, 4, 3, 1, 1);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(plan_init(&g.topo, &g.keep, &plan[i]), 0);
		// Made in either order.
		group[i] = group_of(&plan[i], i == 0 ? 0 : 1, i == 0 ? 1 : 2);
		group[1 - i] = group_of(&plan[i], i == 0 ? 1 : 0, i == 0 ? 2 : 1);
		plan_rows(&plan[i], 1)[0] = group[1];
		plan_rows(&plan[i], 2)[0] = group[0];
		plan_rows(&plan[i], 3)[0] = group[1];
		cr_assert_eq(plan_table(&plan[i], 0, &g.keep, &g.scratch, &table[i]), 0);
		cr_assert_eq(table[i].row_count, 3);
		cr_assert_eq(table[i].group_count, 2);
		cr_assert_eq(table[i].row[0], PLAN_NONE);
		cr_assert_eq(table[i].row[1], 0);
		cr_assert_eq(table[i].row[2], 1);
		cr_assert_eq(table[i].row[3], 0);
	}
	cr_assert_neq(table[0].group[0], table[1].group[0]);
	cr_assert(plan_same(&plan[0], table[0].group[0], &plan[1], table[1].group[0]));
	cr_assert_not(plan_same(&plan[0], table[0].group[0], &plan[1], table[1].group[1]));
	graph_free(&g);
}

Test(plan, turns_are_denied_until_allowed)
{
	struct turn_rules rules;
	struct graph g;

	graph_leaf_spine(&g, 2, 2, 1, 1);
	cr_assert_eq(turn_rules_init(&g.topo, 2, 2, 1, &g.keep, &rules), 0);
	for (uint32_t link = 0; link < g.topo.link_count; link++)
		rules.link_class[link] = 1;
	cr_assert_eq(turn_rules_get(&rules, 0, 1, 0), TURN_DENY);
	turn_rules_allow(&rules, 1, 1, 0, 1);
	turn_rules_allow(&rules, TURN_CLASS_HOST, 1, 0, 0);
	cr_assert_eq(turn_rules_get(&rules, 0, 1, 0), 1);
	cr_assert_eq(turn_rules_get(&rules, 0, 0, 0), TURN_DENY, "back where it came from");
	cr_assert_eq(turn_rules_get(&rules, 0, 1, 1), TURN_DENY, "another lane");
	cr_assert_eq(turn_rules_get(&rules, 0, 1, 2), TURN_DENY, "no such lane");
	cr_assert_eq(turn_rules_get(&rules, TOPO_NONE, 1, 0), 0);
	rules.exception[rules.exception_count++] = (struct turn_exception){ 0, 1, 0, TURN_DENY };
	cr_assert_eq(turn_rules_get(&rules, 0, 1, 0), TURN_DENY, "an exception");
	cr_assert_eq(turn_rules_get(&rules, 1, 0, 0), 1);
	graph_free(&g);
}
