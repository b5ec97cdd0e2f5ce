// SPDX-License-Identifier: BSD-3-Clause
//
// Who is dead among switches that do not call, on a ring of six: a link that is said
// to be down is no death, silence is none, and two that die side by side are found as one is.

#include "fabricmgr/core/deaths.h"

#include <string.h>

#include "tests/rig/graph.h"
#include "tests/table.h"

enum { RING = 6 };

// A letter for each switch: t calls, s is silent, d is silent and was dead before.
// Links that their transmitting switches say are down, as "from to" digits; others are up.
static const struct {
	const char *what;
	const char *switches;
	const char *down;
	const char *dead; // x: dead
} rows[] = {
	{ "all call", "tttttt", "", "......" },
	{ "one is silent", "tstttt", "", "......" },
	{ "one is silent, and one neighbour lost it", "tstttt", "01", "......" },
	{ "both neighbours lost it", "tstttt", "01 21", ".x...." },
	{ "both neighbours lost it, but it calls", "tttttt", "01 21", "......" },
	{ "two beside each other died", "tssttt", "01 32", ".xx..." },
	{ "two beside each other, of which one is seen", "tssttt", "01", "......" },
	{ "three died: nobody has lost the one in the middle", "tssstt", "01 43", "......" },
	{ "a part without its manager, one cable cut", "tsssst", "01", "......" },
	{ "all but one without their manager, and that one cut off", "tsssss", "01 05", "......" },
	{ "a neighbour is silent as well, but alive", "tststt", "01", "......" },
	{ "dead before, and nothing new", "tdtttt", "01 21", ".x...." },
	{ "dead before, and one neighbour sees it", "tdtttt", "01", "......" },
	{ "nobody calls: nothing is known", "ssssss", "01 21", "......" },
	{ "nobody calls: who was dead stays so", "sdssss", "01 21", ".x...." },
};

static uint32_t link_between(const struct topo *topo, uint32_t from, uint32_t to)
{
	for (uint32_t i = topo->link_first[from]; i < topo->link_first[from + 1]; i++) {
		if (topo_far(topo, i) == to)
			return i;
	}
	cr_assert_fail("%u %u", from, to);
	return TOPO_NONE;
}

TABLE_TEST(deaths, ring, row, rows)
{
	static const uint32_t dims[] = { RING };
	uint8_t there[RING], dead[RING], word[2 * RING];
	struct graph g;

	graph_torus(&g, 1, dims, NULL, 1);
	memset(word, DEATHS_UP, sizeof(word));
	for (const char *c = row->down; c[0] != '\0'; c += c[2] == ' ' ? 3 : 2)
		word[link_between(&g.topo, (uint32_t)(c[0] - '0'), (uint32_t)(c[1] - '0'))] =
			DEATHS_DOWN;
	for (uint32_t i = 0; i < RING; i++) {
		there[i] = row->switches[i] == 't';
		dead[i] = row->switches[i] == 'd';
	}
	deaths_find(&g.topo, there, word, dead);
	for (uint32_t i = 0; i < RING; i++)
		cr_expect_eq(dead[i], row->dead[i] == 'x', "%s: switch %u", row->what, i);
	// What was found stays so when nothing new is said.
	deaths_find(&g.topo, there, word, dead);
	for (uint32_t i = 0; i < RING; i++)
		cr_expect_eq(dead[i], row->dead[i] == 'x', "%s: switch %u", row->what, i);
}

Test(deaths, a_manager_that_starts_believes_what_was_before)
{
	static const uint32_t dims[] = { RING };
	const uint8_t there[RING] = { 0 };
	const uint8_t word[2 * RING] = { DEATHS_NOTHING };
	uint8_t dead[RING] = { 0, 1 };
	struct graph g;

	graph_torus(&g, 1, dims, NULL, 1);
	deaths_find(&g.topo, there, word, dead);
	cr_expect_eq(dead[1], 1);
	cr_expect_eq(dead[0], 0);
}
