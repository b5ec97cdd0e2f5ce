// SPDX-License-Identifier: BSD-3-Clause
//
// Distances between switches in what is left of a graph, counted in links.
//
// Engines take levels and ranks from them, checks the connected parts. Weights of links are of no
// account here: they say how much fits, not how far it is.
#pragma once

#include "routing/topo.h"

#define DISTANCE_NONE UINT32_MAX

// Whether a link is there; NULL: nothing is lost.
static inline bool distance_link(const struct topo *topo, const struct topo_state *state,
				 uint32_t link)
{
	return state == NULL || topo_link_up(topo, state, link);
}

// Fills distance [switch_count], DISTANCE_NONE where there is no path from any of `from`. `queue`
// [switch_count] is left with the switches that were found, by distance; their number is returned.
uint32_t distance_find(const struct topo *topo, const struct topo_state *state,
		       const uint32_t *from, uint32_t from_count, uint32_t *distance,
		       uint32_t *queue);

// Likewise from one switch, and only where distance is DISTANCE_NONE so far.
uint32_t distance_spread(const struct topo *topo, const struct topo_state *state, uint32_t from,
			 uint32_t *distance, uint32_t *queue);
