// SPDX-License-Identifier: BSD-3-Clause
//
// Min-hop with lanes: shortest paths on any graph.
//
// Switches are in an order, by distance from roots and then by number, so each link goes up or
// down. A packet that goes up after it went down moves to the next lane (Tagger, Hu et al. 2017);
// as long as it does not, its links rise and then fall, so whatever rows say no cycle of (link,
// lane) pairs closes. Of all shortest paths, rows hold those that the fewest lanes which are enough
// for every switch with hosts and every edge let through; a fabric that needs more than LANE_MAX is
// refused.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

struct minhop {
	const struct topo *topo;
	uint32_t *above; // [switch_count] place in the order, 0 at the top
	uint32_t *rank;  // [switch_count] distance from the next root
	// For who plans a part of a fabric, between the two calls.
	uint32_t lanes_most; // LANE_MAX: what needs more is refused
	bool hosts_only;     // lanes need not be enough for edges without hosts
};

// Ranks from the given roots, which may be none: the first of the switches with most links is
// one. So is the first that no root is connected with. False: PLAN_FAULT_ROOT, `at` is no switch;
// PLAN_FAULT_MEMORY.
bool minhop_init(const struct topo *topo, const uint32_t *roots, uint32_t root_count,
		 struct arena *keep, struct arena *scratch, struct minhop *minhop,
		 struct plan_fault *fault);

// Into a plan that plan_init has made, or over one of another state. Tiers are the ranks of the
// upper ends. False: PLAN_FAULT_LANES, from switch `at` to edge `edge`; memory or groups.
bool minhop_plan(const struct minhop *minhop, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault);
