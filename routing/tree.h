// SPDX-License-Identifier: BSD-3-Clause
//
// The engine for fat-trees, Clos networks and leaf-spines of any radix per tier, oversubscribed,
// with parallel links or with links missing.
//
// Levels are found in the graph: the distance from the nearest switch with hosts, or, when roots
// are given, up to them. A link within a level makes it no tree, and that is said. Levels follow
// from the topology alone, so rules of turns stay as they are whatever is lost.
#pragma once

#include "routing/order.h"
#include "routing/plan.h"
#include "routing/valley_free.h"

enum { TREE_NO_LEVEL = 0xff };

// What is known beforehand; all zero: nothing.
struct tree_hints {
	const uint8_t *level; // [switch_count] 0: the lowest, TREE_NO_LEVEL; links may skip levels
	const uint32_t *root; // [root_count] switches of the top level
	uint32_t root_count;
	const struct topo_state *ignored; // links that do not count as part of the tree
};

struct tree_options {
	enum valley_free_weights weights;
	uint64_t churn_rows; // VALLEY_FREE_ANY_CHURN: no bound
	bool partial;        // pairs without a way have none (valley_free.h)
	bool pinned;         // D-mod-K: up-port (host / product of up-ports below) mod up-ports
};

struct tree {
	struct order order;
	uint32_t level_count;
	uint32_t *pin; // [switch_count] for pinned plans
};

// What plans are made from, once for a topology. False: *fault is PLAN_FAULT_NOT_A_TREE with the
// switches and the link, PLAN_FAULT_ROOT or PLAN_FAULT_MEMORY.
bool tree_init(const struct topo *topo, const struct tree_hints *hints, struct arena *keep,
	       struct arena *scratch, struct tree *tree, struct plan_fault *fault);

// Into a plan that plan_init has made: rows, rules of turns, and a tier per level. False as in
// valley_free_plan.
bool tree_plan(const struct tree *tree, const struct topo_state *state,
	       const struct tree_options *options, struct arena *scratch, struct plan *plan,
	       struct plan_fault *fault);

// As valley_free_replan, in place.
bool tree_replan(const struct tree *tree, const struct topo_state *before,
		 const struct topo_state *after, const struct tree_options *options,
		 struct arena *scratch, struct plan *plan, struct plan_fault *fault);
