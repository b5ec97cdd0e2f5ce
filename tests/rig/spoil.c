// SPDX-License-Identifier: BSD-3-Clause
//
// Spoiling: numbers are drawn so that most of a plan still makes sense, since where nothing does,
// walks end at their first step and little is tested.

#include "tests/rig/spoil.h"

#include <criterion/criterion.h>

// A group of any links, now and then of one that there is not.
static uint16_t any_group(struct rng *rng, const struct graph *g, struct plan *plan, uint32_t at)
{
	const uint32_t degree = topo_degree(&g->topo, at);
	struct plan_hop hops[TOPO_DEGREE_MAX + 1];
	uint32_t count = 0;
	uint16_t group;

	for (uint32_t l = 0; l < degree + (rng_below(rng, 30) == 0); l++) {
		if (rng_below(rng, 2) == 0)
			hops[count++] = (struct plan_hop){ (uint16_t)l,
							   (uint16_t)(1 + rng_below(rng, 3)) };
	}
	cr_assert_eq(plan_group(plan, hops, count, rng_below(rng, 4) == 0, &group), 0);
	return group;
}

void spoil_rows(struct rng *rng, const struct graph *g, struct plan *plan, uint32_t rarity)
{
	for (uint32_t i = 0; i < g->topo.edge_count * g->topo.switch_count; i++) {
		if (rng_below(rng, rarity) != 0)
			continue;
		switch (rng_below(rng, 8)) {
		case 0: plan->row[i] = PLAN_NONE; break;
		case 1: plan->row[i] = PLAN_LOCAL; break;
		case 2: plan->row[i] = (uint16_t)rng_next32(rng); break;
		default: plan->row[i] = any_group(rng, g, plan, i % g->topo.switch_count);
		}
	}
}

void spoil_rules(struct rng *rng, const struct graph *g, struct plan *plan, uint32_t most_lanes)
{
	struct turn_rules *rules = &plan->turns;
	const uint32_t lanes = 1 + rng_below(rng, most_lanes);
	const uint32_t rarity = 1 + rng_below(rng, rng_below(rng, 2) == 0 ? 4 : 30);

	cr_assert_eq(turn_rules_init(&g->topo, lanes, 4, g->topo.link_count, plan->keep, rules), 0);
	for (uint32_t l = 0; l < g->topo.link_count; l++)
		rules->link_class[l] = (uint8_t)rng_below(rng, 4);
	for (uint32_t i = 0; i < 4 * 4 * LANE_MAX; i++) {
		rules->lane[i] = (uint8_t)rng_below(rng, lanes + (rng_below(rng, 20) == 0));
		if (rng_below(rng, rarity) == 0)
			rules->lane[i] = TURN_DENY;
	}
	for (uint32_t l = 0; l < g->topo.link_count && rng_below(rng, 3) != 0; l++) {
		const uint32_t at = g->topo.link_switch[l];

		rules->exception[rules->exception_count++] = (struct turn_exception){
			.in = l,
			.out = g->topo.link_first[at] + rng_below(rng, topo_degree(&g->topo, at)),
			.lane = (uint8_t)rng_below(rng, lanes),
			.to = rng_below(rng, 3) == 0 ? (uint8_t)TURN_DENY :
						       (uint8_t)rng_below(rng, lanes),
		};
	}
}

void spoil_links(struct rng *rng, struct graph *g)
{
	for (uint32_t l = 0; l < g->topo.link_count; l++)
		g->state.link_lost[l] = rng_below(rng, 20) == 0;
	for (uint32_t s = 0; s < g->topo.switch_count; s++)
		g->state.switch_lost[s] = rng_below(rng, 15) == 0;
}
