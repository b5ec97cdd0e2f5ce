// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a plan that lead up to a common ancestor and down from there, in a given order.
//
// A switch that has a way down to the edge takes the shortest; others take all shortest ways up. A
// switch above the edge may go up too when that is shorter and nobody sends it packets that came
// down; in the levels of a tree it never is. So every pair that has a path without a valley has
// one, and in a tree the paths are all the shortest ones.
//
// Edges whose switches hang on the same parents differ in their own and their parents' rows only,
// so the rest is worked out once for all of them. What an event touches is worked out alike: below
// a link that changed, all switches towards every edge, and towards the edges there, every switch.
#pragma once

#include "routing/order.h"
#include "routing/plan.h"

enum valley_free_weights {
	// Hops by the weights of their links.
	VALLEY_FREE_PLAIN,
	// By what gets through to the edge when every pair sends alike. A switch passes up no more
	// than comes from below, links share it by weight, and a hop counts the link times what is
	// beyond it. Where that is the same for all hops, these are plain.
	VALLEY_FREE_EXACT,
};

#define VALLEY_FREE_ANY_CHURN UINT64_MAX

struct valley_free_options {
	enum valley_free_weights weights;
	// Of exact weights: rows that may differ from plain ones. Edges that cost the fewest rows
	// get exact weights first, then the lower number; edges of like switches go together.
	uint64_t churn_rows;
	// [switch_count] what a host's number is divided by for hops up from a switch (plan_group);
	// NULL: flows are hashed. Goes with plain weights only.
	const uint32_t *pin;
	// A switch with hosts that is connected to an edge, but not without a valley, has no row
	// towards it, and the plan is for the others; false: there is no plan.
	bool partial;
};

// Writes all rows of a plan, not its rules. On false, *fault says why: memory, groups, or, unless
// it may be partial, a switch with hosts that is connected to an edge but has no way without a
// valley.
bool valley_free_plan(const struct order *order, const struct topo_state *state,
		      const struct valley_free_options *options, struct arena *scratch,
		      struct plan *plan, struct plan_fault *fault);

// Turns the plan of `before` into that of `after`, row for row what valley_free_plan makes of it.
// `plan` must have been made for `before` without a fault, with the same options; after a fault it
// is neither.
bool valley_free_replan(const struct order *order, const struct topo_state *before,
			const struct topo_state *after, const struct valley_free_options *options,
			struct arena *scratch, struct plan *plan, struct plan_fault *fault);
