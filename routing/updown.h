// SPDX-License-Identifier: BSD-3-Clause
//
// up*/down* on any graph: switches are ranked by their distance from roots, the lower number being
// above within a rank, and paths never go up after down. One lane, and poor balance on rings.
//
// Roots that are given are taken. Otherwise they are the switches farthest from hosts, when the
// first of them is above all edges, as in a tree; if not, the middle of a longest path: from the
// farthest switch from number 0, half way to the farthest from there. Ranks are those of the whole
// topology as long as they connect what is connected; when they do not, what is left is ranked
// anew, and rules of turns change with the rows.
#pragma once

#include "routing/order.h"
#include "routing/plan.h"

struct updown {
	struct order order; // of the whole topology
	const uint32_t *root;
	uint32_t root_count; // 0: chosen
};

// `root` is kept as it is; `ignored` are links that do not count, NULL: none. False:
// PLAN_FAULT_ROOT, a root that there is not; PLAN_FAULT_MEMORY.
bool updown_init(const struct topo *topo, const uint32_t *root, uint32_t root_count,
		 const struct topo_state *ignored, struct arena *keep, struct arena *scratch,
		 struct updown *updown, struct plan_fault *fault);

// Into a plan that plan_init has made. False: PLAN_FAULT_ROOT, all given roots are lost;
// PLAN_FAULT_UNREACHABLE, which takes several roots; memory or groups.
bool updown_plan(const struct updown *updown, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault);

// Turns the plan of `before`, made without a fault, into that of `after`.
bool updown_replan(const struct updown *updown, const struct topo_state *before,
		   const struct topo_state *after, struct arena *scratch, struct plan *plan,
		   struct plan_fault *fault);
