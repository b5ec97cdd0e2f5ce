// SPDX-License-Identifier: BSD-3-Clause
//
// The turn map: (ingress port, egress port, lane) to the lane the packet leaves on, or to a drop.
//
// Default deny. It is derived from the topology, not from the routes, and its allowed transitions
// between (link, lane) pairs are acyclic over the whole fabric. So for any mix of old, new or wrong
// tables a packet can neither loop nor take part in a PFC deadlock (channel dependency graph, Dally
// and Seitz 1987). Const once built.
#pragma once

#include "base/types.h"

enum {
	LANE_MAX = 4,
	TURN_DENY = 0xff,
};

struct turn_map {
	uint32_t port_count;
	uint32_t lane_count; // 1..LANE_MAX
	uint8_t lane[];      // port_count x port_count x lane_count: [in][out][lane]
};

size_t turn_map_bytes(uint32_t port_count, uint32_t lane_count);

// Everything denied.
void turn_map_init(struct turn_map *map, uint32_t port_count, uint32_t lane_count);

// Allows a turn, from `lane` to `to`. -EINVAL when a port or lane is out of range, or in == out:
// a U-turn is never allowed.
int turn_map_allow(struct turn_map *map, port_t in, port_t out, uint32_t lane, uint32_t to);

// The lane to leave on, or TURN_DENY. Ports below port_count; a lane out of range is denied.
static inline uint8_t turn_map_get(const struct turn_map *map, port_t in, port_t out, uint32_t lane)
{
	if (lane >= map->lane_count)
		return TURN_DENY;
	return map->lane[((size_t)in.v * map->port_count + out.v) * map->lane_count + lane];
}
