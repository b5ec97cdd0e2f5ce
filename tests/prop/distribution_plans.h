// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of a fabric for the property test of distribution: from the real planner, as the packed
// tables that switches get, found again by the hash of a table. A plan that cannot be mixed with
// what may be in force has another one in between.
#pragma once

#include "fabricmgr/core/planner.h"
#include "routing/packed.h"

enum {
	PLANS_MAX = 1024,
	PLANS_SWITCHES_MAX = 20,
};

enum plans_fabric { PLANS_FAT_TREE, PLANS_TORUS };

struct planned {
	struct plan plan;
	uint64_t hash[PLANS_SWITCHES_MAX];
	struct packed_table *table[PLANS_SWITCHES_MAX];
};

struct plans {
	struct fabric fabric;
	struct fabric_graph graph;
	struct planner planner;
	struct arena keep;
	struct arena scratch;
	uint32_t count;
	struct planned at[PLANS_MAX];
};

void plans_make(struct plans *plans, enum plans_fabric kind);

// A plan for a state, its number; PLANS_MAX: the engine refuses. Plan 0 has lost nothing.
uint32_t plans_for(struct plans *plans, const struct topo_state *state);

// What can be given of a plan while the others may be in force: itself, or the same ways with the
// turns that all have.
uint32_t plans_choose(struct plans *plans, uint32_t plan, const uint32_t *others, uint32_t count);

// The table of a switch with this hash, which must exist.
const struct packed_table *plans_table(const struct plans *plans, uint32_t at, uint64_t hash);

// Whether packets can neither wait in a circle nor go round for ever, when each switch has its
// table of one of these plans, no matter which. All links are up, all turns that may be are made.
bool plans_any_mix_is_safe(const struct plans *plans, const uint32_t *list, uint32_t count);
