// SPDX-License-Identifier: BSD-3-Clause
//
// Building a turn map: everything is denied until it is allowed, turn by turn. The look-up is in
// the header, since every packet takes it.

#include "routing/turn_map.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"

static size_t entry_count(uint32_t port_count, uint32_t lane_count)
{
	return (size_t)port_count * port_count * lane_count;
}

size_t turn_map_bytes(uint32_t port_count, uint32_t lane_count)
{
	return sizeof(struct turn_map) + entry_count(port_count, lane_count);
}

void turn_map_init(struct turn_map *map, uint32_t port_count, uint32_t lane_count)
{
	WEFT_CHECK(lane_count >= 1 && lane_count <= LANE_MAX);
	map->port_count = port_count;
	map->lane_count = lane_count;
	memset(map->lane, TURN_DENY, entry_count(port_count, lane_count));
}

int turn_map_allow(struct turn_map *map, port_t in, port_t out, uint32_t lane, uint32_t to)
{
	const size_t turn = (size_t)in.v * map->port_count + out.v;

	if (in.v >= map->port_count || out.v >= map->port_count || in.v == out.v)
		return -EINVAL;
	if (lane >= map->lane_count || to >= map->lane_count)
		return -EINVAL;
	map->lane[turn * map->lane_count + lane] = (uint8_t)to;
	return 0;
}
