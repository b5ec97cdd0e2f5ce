// SPDX-License-Identifier: BSD-3-Clause
//
// Turn maps: everything that nobody allowed is denied, and what is allowed is that turn alone. A
// map is small here, so each test looks at all of it: one allowed turn must not show up anywhere
// else, and what is refused must leave no trace.

#include "routing/turn_map.h"

#include <errno.h>

#include "tests/table.h"

enum { PORTS = 5, LANES = 3 };

static struct turn_map *new_map(void)
{
	struct turn_map *map = malloc(turn_map_bytes(PORTS, LANES));

	turn_map_init(map, PORTS, LANES);
	return map;
}

static uint32_t allowed_turns(const struct turn_map *map)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PORTS * PORTS; i++) {
		const port_t in = { (uint16_t)(i / PORTS) }, out = { (uint16_t)(i % PORTS) };

		for (uint32_t lane = 0; lane <= LANE_MAX; lane++)
			count += turn_map_get(map, in, out, lane) != TURN_DENY;
	}
	return count;
}

Test(turn_map, denies_by_default)
{
	struct turn_map *map = new_map();

	cr_assert_eq(allowed_turns(map), 0);
	free(map);
}

static const struct {
	const char *what;
	uint16_t in, out;
	uint32_t lane, to;
	int want;
} rows[] = {
	{ "a turn on its lane", 0, 4, 0, 0, 0 },
	{ "a turn to the next lane, over a dateline", 3, 1, 0, 1, 0 },
	{ "the last of everything", 4, 3, 2, 2, 0 },
	{ "a U-turn", 2, 2, 0, 0, -EINVAL },
	{ "a U-turn that changes lanes", 2, 2, 0, 1, -EINVAL },
	{ "an ingress port that is not there", 5, 1, 0, 0, -EINVAL },
	{ "an egress port that is not there", 1, 5, 0, 0, -EINVAL },
	{ "no port", 1, UINT16_MAX, 0, 0, -EINVAL },
	{ "from a lane that is not there", 0, 1, 3, 0, -EINVAL },
	{ "to a lane that is not there", 0, 1, 0, 3, -EINVAL },
	{ "to what means denied", 0, 1, 0, TURN_DENY, -EINVAL },
};

TABLE_TEST(turn_map, allows_one_turn, row, rows)
{
	struct turn_map *map = new_map();
	const port_t in = { row->in }, out = { row->out };

	cr_assert_eq(turn_map_allow(map, in, out, row->lane, row->to), row->want, "%s", row->what);
	cr_assert_eq(allowed_turns(map), row->want == 0 ? 1 : 0, "%s", row->what);
	if (row->want == 0)
		cr_assert_eq(turn_map_get(map, in, out, row->lane), row->to, "%s", row->what);
	free(map);
}

// Each turn has a place of its own, and the bytes asked for hold them all.
Test(turn_map, turns_do_not_disturb_each_other)
{
	struct turn_map *map = new_map();

	for (uint32_t i = 0; i < PORTS * PORTS * LANES; i++) {
		const port_t in = { (uint16_t)(i / LANES / PORTS) };
		const port_t out = { (uint16_t)(i / LANES % PORTS) };

		if (in.v != out.v)
			cr_assert_eq(turn_map_allow(map, in, out, i % LANES, i % 7 % LANES), 0);
	}
	for (uint32_t i = 0; i < PORTS * PORTS * LANES; i++) {
		const port_t in = { (uint16_t)(i / LANES / PORTS) };
		const port_t out = { (uint16_t)(i / LANES % PORTS) };

		cr_assert_eq(turn_map_get(map, in, out, i % LANES),
			     in.v == out.v ? TURN_DENY : i % 7 % LANES);
	}
	cr_assert_eq(allowed_turns(map), PORTS * (PORTS - 1) * LANES);
	free(map);
}
