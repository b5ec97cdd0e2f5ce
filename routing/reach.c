// SPDX-License-Identifier: BSD-3-Clause
//
// Connected parts of what is left, and rows compared with them: a switch with hosts and no row is
// in another part than the edge, or the plan has failed.

#include "routing/reach.h"

#include <string.h>

#include "routing/distance.h"

// Numbers the parts. Work space in `scratch`; false when there is too little.
static bool find_parts(const struct topo *topo, const struct topo_state *state, uint32_t *part,
		       struct arena *scratch)
{
	uint32_t *distance = arena_take_raw(scratch, topo->switch_count, sizeof(*distance));
	uint32_t *queue = arena_take_raw(scratch, topo->switch_count, sizeof(*queue));

	if (distance == NULL || queue == NULL)
		return false;
	memset(distance, 0xff, topo->switch_count * sizeof(*distance));
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		uint32_t count = 0;

		if (distance[s] == DISTANCE_NONE)
			count = distance_spread(topo, state, s, distance, queue);
		for (uint32_t k = 0; k < count; k++)
			part[queue[k]] = s;
	}
	return true;
}

static bool check_edge(const struct topo *topo, const struct plan *plan, const uint32_t *part,
		       uint32_t edge, uint32_t *at)
{
	const uint16_t *rows = plan_rows(plan, edge);
	const uint32_t here = part[topo->edge_switch[edge]];

	*at = TOPO_NONE;
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		const uint32_t s = topo->edge_switch[e];

		if (rows[s] == PLAN_NONE && part[s] == here && s < *at)
			*at = s;
	}
	return *at == TOPO_NONE;
}

bool reach_check(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		 struct arena *scratch, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	uint32_t *part = arena_take_raw(scratch, topo->switch_count, sizeof(*part));
	uint32_t at = TOPO_NONE;

	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	if (part == NULL || !find_parts(topo, state, part, scratch))
		fault->kind = PLAN_FAULT_MEMORY;
	for (uint32_t e = 0; e < topo->edge_count && fault->kind == PLAN_FAULT_NONE; e++) {
		if (!state->switch_lost[topo->edge_switch[e]] &&
		    !check_edge(topo, plan, part, e, &at))
			*fault = (struct plan_fault){
				.kind = PLAN_FAULT_UNREACHABLE,
				.at = at,
				.edge = e,
			};
	}
	arena_release(scratch, mark);
	return fault->kind == PLAN_FAULT_NONE;
}

bool reach_is_whole(const struct topo *topo, const struct plan *plan)
{
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		if (plan_rows(plan, 0)[topo->edge_switch[e]] == PLAN_NONE)
			return false;
	}
	return true;
}
