// SPDX-License-Identifier: BSD-3-Clause
//
// Plans for tests, written down plainly from where switches are. They are what engines and the
// verifier are measured against, so they know the graphs of graph.h alone.
#pragma once

#include "routing/plan.h"
#include "tests/rig/graph.h"

// Rows by all links that lead nearer over what is left; without one, PLAN_NONE.
void routes_shortest(const struct graph *g, struct plan *plan);

// One class of links, every turn on lane 0.
void routes_allow_all(const struct graph *g, struct plan *plan);

// Rules of a tree: level[switch] rises towards the root, and what came down never goes up.
void routes_valley_free(const struct graph *g, struct plan *plan, const uint8_t *level);

// Level of each switch of graph_fat_tree().
void routes_fat_tree_levels(uint32_t k, uint8_t *level);

enum routes_tie {
	ROUTES_TIE_ECMP,   // half way round a ring: either way
	ROUTES_TIE_PARITY, // the way that the sum of the source's coordinates says
};

// Dimension order on graph_torus() without shifts. With `dateline`, what passes the wrap of a ring
// goes on on lane 1 until it leaves the ring; else there is one lane.
void routes_torus(const struct graph *g, struct plan *plan, uint32_t dim_count,
		  const uint32_t *dims, enum routes_tie tie, bool dateline);
