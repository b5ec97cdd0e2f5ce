// SPDX-License-Identifier: BSD-3-Clause
//
// Breadth-first search, from several switches at once or from one after the other.
//
// A switch is put into the queue once, when it gets its distance, so the queue is no longer than
// there are switches, and each link is looked at once.

#include "routing/distance.h"

#include <string.h>

static uint32_t visit(const struct topo *topo, const struct topo_state *state, uint32_t at,
		      uint32_t *distance, uint32_t *queue, uint32_t count)
{
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);

		if (distance[far] != DISTANCE_NONE || !distance_link(topo, state, link))
			continue;
		distance[far] = distance[at] + 1;
		queue[count++] = far;
	}
	return count;
}

uint32_t distance_find(const struct topo *topo, const struct topo_state *state,
		       const uint32_t *from, uint32_t from_count, uint32_t *distance,
		       uint32_t *queue)
{
	uint32_t count = 0;

	memset(distance, 0xff, topo->switch_count * sizeof(*distance));
	for (uint32_t i = 0; i < from_count; i++) {
		if (distance[from[i]] == 0)
			continue;
		distance[from[i]] = 0;
		queue[count++] = from[i];
	}
	for (uint32_t k = 0; k < count; k++)
		count = visit(topo, state, queue[k], distance, queue, count);
	return count;
}

uint32_t distance_spread(const struct topo *topo, const struct topo_state *state, uint32_t from,
			 uint32_t *distance, uint32_t *queue)
{
	uint32_t count = 1;

	distance[from] = 0;
	queue[0] = from;
	for (uint32_t k = 0; k < count; k++)
		count = visit(topo, state, queue[k], distance, queue, count);
	return count;
}
