// SPDX-License-Identifier: BSD-3-Clause
//
// up*/down*: which roots are chosen, what given ones do, and ranks that are made anew when those of
// the whole topology no longer connect what is connected. That every path is without a valley and
// every pair is reached is for the property test.

#include "routing/updown.h"

#include "tests/rig/follow.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

struct bench {
	struct graph g;
	struct updown updown;
	struct plan plan;
	struct plan_fault fault;
};

static void begin(struct bench *b, const uint32_t *root, uint32_t root_count)
{
	cr_assert(updown_init(&b->g.topo, root, root_count, NULL, &b->g.keep, &b->g.scratch,
			      &b->updown, &b->fault));
	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, &b->plan), 0);
	cr_assert_eq(b->g.scratch.used, 0);
}

static bool make_plan(struct bench *b)
{
	return updown_plan(&b->updown, &b->g.state, &b->g.scratch, &b->plan, &b->fault);
}

// All cores are roots, so there are as many paths as the tree engine gives: (k/2)^2.
Test(updown, a_tree_is_one)
{
	struct follow_paths paths;
	struct bench b;

	graph_fat_tree(&b.g, 8);
	begin(&b, NULL, 0);
	cr_assert(make_plan(&b));
	paths = follow_paths(&b.g.topo, &b.plan, 0, 31);
	cr_assert_eq(paths.count, 16);
	cr_assert_eq(paths.longest, 4);
	follow_prove(&b.g, &b.plan);
	graph_free(&b.g);
}

// A ring of 7 without one cable is a line, from 0 to 6: the middle is on top.
Test(updown, the_middle_of_a_line)
{
	static const uint32_t dims[] = { 7 };
	struct bench b;

	graph_torus(&b.g, 1, dims, NULL, 1);
	graph_cut(&b.g, 6, 0, 0);
	cr_assert(updown_init(&b.g.topo, NULL, 0, &b.g.state, &b.g.keep, &b.g.scratch, &b.updown,
			      &b.fault));
	cr_assert_eq(b.updown.order.top_down[0], 3);
	cr_assert_eq(b.updown.order.top_down[5], 0);
	graph_free(&b.g);
}

// On a ring of 8 from root 0, ranks go up to 4 at switch 4, below 3 and 5. From 3 to 5 the short
// way is a valley; the other goes over the root.
Test(updown, no_valley_on_a_ring)
{
	static const uint32_t dims[] = { 8 };
	static const uint32_t root[] = { 0 };
	struct follow_paths paths;
	struct bench b;

	graph_torus(&b.g, 1, dims, NULL, 1);
	begin(&b, root, 1);
	cr_assert(make_plan(&b));
	paths = follow_paths(&b.g.topo, &b.plan, 3, 5);
	cr_assert_eq(paths.count, 1);
	cr_assert_eq(paths.longest, 6);
	paths = follow_paths(&b.g.topo, &b.plan, 0, 4);
	cr_assert_eq(paths.count, 2);
	cr_assert_eq(paths.longest, 4);
	follow_prove(&b.g, &b.plan);
	graph_free(&b.g);
}

// Without its first link the ring is a line whose ranks no longer fit: 1 has no way up. They are
// made anew, and as they were once the link is back.
Test(updown, ranks_made_anew)
{
	static const uint32_t dims[] = { 8 };
	static const uint32_t root[] = { 0 };
	struct topo_state whole;
	struct plan first;
	struct bench b;

	graph_torus(&b.g, 1, dims, NULL, 1);
	begin(&b, root, 1);
	cr_assert(make_plan(&b));
	cr_assert_eq(plan_copy(&b.g.topo, &b.plan, &b.g.keep, &first), 0);
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &whole), 0);
	graph_cut(&b.g, 0, 1, 0);
	cr_assert(updown_replan(&b.updown, &whole, &b.g.state, &b.g.scratch, &b.plan, &b.fault));
	cr_assert_eq(follow_paths(&b.g.topo, &b.plan, 0, 1).longest, 7);
	cr_assert(updown_replan(&b.updown, &b.g.state, &whole, &b.g.scratch, &b.plan, &b.fault));
	follow_assert_same(&b.g.topo, &b.plan, &first);
	graph_free(&b.g);
}

// Two roots at opposite places of a ring of 8 have a valley between them, and no other way.
Test(updown, given_roots_are_taken)
{
	static const uint32_t dims[] = { 8 };
	static const uint32_t roots[] = { 0, 4, 8 };
	struct bench b;

	graph_torus(&b.g, 1, dims, NULL, 1);
	begin(&b, roots, 2);
	cr_assert_not(make_plan(&b));
	cr_assert_eq(b.fault.kind, PLAN_FAULT_UNREACHABLE);
	b.g.state.switch_lost[4] = 1;
	cr_assert(make_plan(&b));
	b.g.state.switch_lost[0] = 1;
	cr_assert_not(make_plan(&b));
	cr_assert_eq(b.fault.kind, PLAN_FAULT_ROOT);
	cr_assert_not(updown_init(&b.g.topo, roots, 3, NULL, &b.g.keep, &b.g.scratch, &b.updown,
				  &b.fault));
	cr_assert_eq(b.fault.kind, PLAN_FAULT_ROOT);
	cr_assert_eq(b.fault.at, 8);
	graph_free(&b.g);
}

// More of them than there are switches.
Test(updown, a_root_given_again_and_again)
{
	uint32_t roots[1000] = { 0 };
	struct bench b;

	graph_leaf_spine(&b.g, 2, 2, 1, 1);
	for (uint32_t i = 0; i < TABLE_COUNT(roots); i++)
		roots[i] = 3 - i % 2;
	begin(&b, roots, TABLE_COUNT(roots));
	cr_assert(make_plan(&b));
	cr_assert_eq(b.updown.order.top_down[0], 2);
	cr_assert_eq(b.updown.order.top_down[1], 3);
	follow_prove(&b.g, &b.plan);
	graph_free(&b.g);
}

Test(updown, scratch_is_left_as_it_was)
{
	struct bench b;

	graph_fat_tree(&b.g, 4);
	for (size_t bytes = 0; bytes < 4096; bytes += 64) {
		struct arena scratch = { .memory = b.g.scratch.memory, .size = bytes };

		if (!updown_init(&b.g.topo, NULL, 0, NULL, &b.g.keep, &scratch, &b.updown,
				 &b.fault))
			cr_assert_eq(b.fault.kind, PLAN_FAULT_MEMORY);
		cr_assert_eq(scratch.used, 0);
	}
	graph_free(&b.g);
}
