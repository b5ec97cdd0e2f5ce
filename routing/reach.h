// SPDX-License-Identifier: BSD-3-Clause
//
// What engines ask of themselves before they hand out a plan: whether each switch with hosts has a
// row towards each edge that it is connected to. That rows lead there is the verifier's business.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

// False: *fault is PLAN_FAULT_UNREACHABLE with the lowest edge and the lowest such switch, or
// PLAN_FAULT_MEMORY. `scratch` is left as it was.
bool reach_check(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		 struct arena *scratch, struct plan_fault *fault);

// Whether every switch with hosts has a row towards edge 0: then all of them are connected.
bool reach_is_whole(const struct topo *topo, const struct plan *plan);
