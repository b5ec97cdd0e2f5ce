// SPDX-License-Identifier: BSD-3-Clause
//
// Plans by definition: distances are spread until nothing changes, and each row is worked out from
// the places of two switches.
//
// No care is taken to be fast.

#include "tests/rig/routes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { LINKS = 1, DOWN = 1, UP = 2 };

// Marks those that are one hop beyond distance d; false when there are none.
static bool spread(const struct graph *g, uint32_t d, uint32_t *distance)
{
	bool more = false;

	for (uint32_t l = 0; l < g->topo.link_count; l++) {
		const uint32_t at = g->topo.link_switch[l];

		if (distance[topo_far(&g->topo, l)] != d || distance[at] != TOPO_NONE ||
		    !topo_link_up(&g->topo, &g->state, l))
			continue;
		distance[at] = d + 1;
		more = true;
	}
	return more;
}

// Distances of all switches to one over what is left, TOPO_NONE: none.
static void find_distances(const struct graph *g, uint32_t to, uint32_t *distance)
{
	for (uint32_t s = 0; s < g->topo.switch_count; s++)
		distance[s] = TOPO_NONE;
	if (g->state.switch_lost[to])
		return;
	distance[to] = 0;
	for (uint32_t d = 0; spread(g, d, distance); d++)
		;
}

static uint16_t nearer(const struct graph *g, struct plan *plan, uint32_t at,
		       const uint32_t *distance)
{
	const uint32_t first = g->topo.link_first[at];
	uint16_t links[TOPO_DEGREE_MAX];
	uint32_t count = 0;
	uint16_t group;

	if (distance[at] == 0)
		return PLAN_LOCAL;
	for (uint32_t l = first; l < g->topo.link_first[at + 1]; l++) {
		if (distance[at] != TOPO_NONE && topo_link_up(&g->topo, &g->state, l) &&
		    distance[topo_far(&g->topo, l)] == distance[at] - 1)
			links[count++] = (uint16_t)(l - first);
	}
	cr_assert_eq(plan_group_plain(plan, links, count, &group), 0);
	return group;
}

void routes_shortest(const struct graph *g, struct plan *plan)
{
	uint32_t *distance = calloc(g->topo.switch_count, sizeof(*distance));

	cr_assert_not_null(distance);
	for (uint32_t e = 0; e < g->topo.edge_count; e++) {
		find_distances(g, g->topo.edge_switch[e], distance);
		for (uint32_t s = 0; s < g->topo.switch_count; s++)
			plan_rows(plan, e)[s] = nearer(g, plan, s, distance);
	}
	free(distance);
}

void routes_allow_all(const struct graph *g, struct plan *plan)
{
	cr_assert_eq(turn_rules_init(&g->topo, 1, 2, 0, plan->keep, &plan->turns), 0);
	for (uint32_t l = 0; l < g->topo.link_count; l++)
		plan->turns.link_class[l] = LINKS;
	turn_rules_allow(&plan->turns, TURN_CLASS_HOST, LINKS, 0, 0);
	turn_rules_allow(&plan->turns, LINKS, LINKS, 0, 0);
}

void routes_valley_free(const struct graph *g, struct plan *plan, const uint8_t *level)
{
	cr_assert_eq(turn_rules_init(&g->topo, 1, 3, 0, plan->keep, &plan->turns), 0);
	for (uint32_t l = 0; l < g->topo.link_count; l++) {
		const bool up = level[topo_far(&g->topo, l)] > level[g->topo.link_switch[l]];

		plan->turns.link_class[l] = up ? UP : DOWN;
	}
	turn_rules_allow(&plan->turns, TURN_CLASS_HOST, UP, 0, 0);
	turn_rules_allow(&plan->turns, TURN_CLASS_HOST, DOWN, 0, 0);
	turn_rules_allow(&plan->turns, DOWN, UP, 0, 0);
	turn_rules_allow(&plan->turns, DOWN, DOWN, 0, 0);
	turn_rules_allow(&plan->turns, UP, DOWN, 0, 0);
}

void routes_fat_tree_levels(uint32_t k, uint8_t *level)
{
	const uint32_t leaves = k * k / 2;

	for (uint32_t s = 0; s < 2 * leaves + k * k / 4; s++)
		level[s] = (uint8_t)(s / leaves);
}

// Where a switch is, with a size for each dimension.
struct place {
	uint32_t at[GRAPH_DIMS_MAX];
};

static struct place place_of(uint32_t at, uint32_t dim_count, const uint32_t *dims)
{
	struct place place = { { 0 } };

	for (uint32_t d = 0; d < dim_count; at /= dims[d++])
		place.at[d] = at % dims[d];
	return place;
}

static uint16_t local_of(const struct graph *g, uint32_t at, uint32_t port)
{
	const uint32_t link = topo_link_at(&g->topo, at, (uint16_t)port);

	cr_assert_neq(link, TOPO_NONE);
	return (uint16_t)(link - g->topo.link_first[at]);
}

// The links of dimension order: those of the first dimension in which the places differ.
static uint32_t torus_links(const struct graph *g, uint32_t at, uint32_t to, uint32_t dim_count,
			    const uint32_t *dims, enum routes_tie tie, uint16_t links[2])
{
	const struct place here = place_of(at, dim_count, dims);
	const struct place there = place_of(to, dim_count, dims);
	uint32_t sum = 0;
	uint32_t d = 0;
	uint32_t ahead, count = 0;
	bool plus, minus;

	for (uint32_t e = 0; e < dim_count; e++)
		sum += here.at[e];
	while (here.at[d] == there.at[d])
		d++;
	ahead = (there.at[d] + dims[d] - here.at[d]) % dims[d];
	plus = 2 * ahead <= dims[d];
	minus = 2 * ahead >= dims[d] && dims[d] > 2;
	if (plus && minus && tie == ROUTES_TIE_PARITY)
		*(sum % 2 == 0 ? &minus : &plus) = false;
	if (plus)
		links[count++] = local_of(g, at, 2 * d);
	if (minus)
		links[count++] = local_of(g, at, 2 * d + 1);
	return count;
}

// Classes: 1 + 4 x dimension + 2 x (towards -1) + (the cable is a wrap).
static void class_links(const struct graph *g, struct turn_rules *rules, uint32_t dim_count,
			const uint32_t *dims)
{
	for (uint32_t l = 0; l < g->topo.link_count; l++) {
		const uint32_t port = g->topo.link_port[l];
		const struct place here = place_of(g->topo.link_switch[l], dim_count, dims);
		const uint32_t x = here.at[port / 2];
		const bool wrap = dims[port / 2] > 2 &&
				  x == (port % 2 == 0 ? dims[port / 2] - 1 : 0);

		rules->link_class[l] = (uint8_t)(1 + 2 * port + wrap);
	}
}

static void allow_torus(struct turn_rules *rules, uint32_t in, uint32_t out, bool dateline)
{
	const bool wrap = (out - 1) % 2 == 1 && dateline;
	const uint32_t in_dim = (in - 1) / 4;
	const uint32_t out_dim = (out - 1) / 4;
	const bool straight = in != TURN_CLASS_HOST && in_dim == out_dim;

	if (in != TURN_CLASS_HOST &&
	    (in_dim > out_dim || (straight && (in - 1) / 2 % 2 == (out - 1) / 2 % 2)))
		return;
	turn_rules_allow(rules, in, out, 0, wrap);
	if (dateline && in != TURN_CLASS_HOST && !(straight && wrap))
		turn_rules_allow(rules, in, out, 1, straight || wrap);
}

void routes_torus(const struct graph *g, struct plan *plan, uint32_t dim_count,
		  const uint32_t *dims, enum routes_tie tie, bool dateline)
{
	const uint32_t classes = 1 + 4 * dim_count;

	for (uint32_t i = 0; i < g->topo.edge_count * g->topo.switch_count; i++) {
		const uint32_t at = i % g->topo.switch_count;
		const uint32_t to = g->topo.edge_switch[i / g->topo.switch_count];
		uint16_t links[2];
		uint32_t count;

		plan->row[i] = PLAN_LOCAL;
		if (at == to)
			continue;
		count = torus_links(g, at, to, dim_count, dims, tie, links);
		cr_assert_eq(plan_group_plain(plan, links, count, &plan->row[i]), 0);
	}
	cr_assert_eq(turn_rules_init(&g->topo, dateline ? 2 : 1, classes, 0, plan->keep,
				     &plan->turns),
		     0);
	class_links(g, &plan->turns, dim_count, dims);
	for (uint32_t in = 0; in < classes; in++) {
		for (uint32_t out = 1; out < classes; out++)
			allow_torus(&plan->turns, in, out, dateline);
	}
}
