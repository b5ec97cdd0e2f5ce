// SPDX-License-Identifier: BSD-3-Clause
//
// The mix of tables is judged by brute force and by none of the code that plans or verifies: pairs
// of (link, lane) from which no pair that is left follows are taken away, until nothing changes.

#include "tests/prop/distribution_plans.h"

#include <string.h>

#include "fabricmgr/core/generate.h"
#include "routing/turn_mix.h"
#include "routing/verify.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { PAIRS_MAX = 128 * LANE_MAX, DEGREE_MAX = 4 };

static void make_fabric(struct fabric *fabric, enum plans_fabric kind)
{
	static const struct generate_options options = {
		.host = { 100000000000, 2000, 1 },
		.tier = { { 100000000000, 5000, 1 }, { 100000000000, 5000, 1 } },
		.attach = 1,
	};
	static const struct generate_torus torus = { .dim_count = 2, .dims = { 4, 4 }, .hosts = 1 };
	struct fabric_faults faults = { .count = 0 };
	int rc = 0;

	switch (kind) {
	case PLANS_FAT_TREE: rc = generate_fat_tree(fabric, &options, 4, &faults); break;
	case PLANS_TORUS: rc = generate_torus(fabric, &options, &torus, &faults); break;
	}
	cr_assert_eq(rc, 0);
}

static bool plan_anew(struct plans *plans)
{
	const struct planner_options options = { .engine_count = 0 };

	return planner_plan(&plans->fabric, &plans->graph, &options, &plans->keep, &plans->scratch,
			    &plans->planner);
}

// The tables of a plan. What is there already is not kept twice.
static uint32_t keep_plan(struct plans *plans, const struct plan *plan)
{
	struct planned *new = &plans->at[plans->count];

	cr_assert_lt(plans->count, PLANS_MAX - 1);
	cr_assert_eq(plan_copy(&plans->graph.topo, plan, &plans->keep, &new->plan), 0);
	for (uint32_t s = 0; s < plan->switch_count; s++) {
		new->table[s] = arena_take(&plans->keep, 1, sizeof(*new->table[s]));
		cr_assert_eq(packed_table_of(&plans->graph.topo, plan, s, &plans->keep,
					     &plans->scratch, new->table[s]),
			     0);
		new->hash[s] = new->table[s]->hash;
	}
	for (uint32_t i = 0; i < plans->count; i++) {
		if (memcmp(plans->at[i].hash, new->hash, sizeof(new->hash)) == 0)
			return i;
	}
	return plans->count++;
}

void plans_make(struct plans *plans, enum plans_fabric kind)
{
	struct fabric_faults faults = { .count = 0 };

	memset(plans, 0, sizeof(*plans));
	plans->keep = graph_arena();
	plans->scratch = graph_arena();
	cr_assert_eq(fabric_init(&plans->fabric, &plans->keep), 0);
	make_fabric(&plans->fabric, kind);
	cr_assert_eq(fabric_finish(&plans->fabric, &plans->scratch, &faults), 0);
	cr_assert_eq(fabric_graph_build(&plans->fabric, &plans->keep, &plans->scratch,
					&plans->graph, &faults),
		     0);
	cr_assert_leq(plans->fabric.switch_count, PLANS_SWITCHES_MAX);
	cr_assert_leq(plans->graph.topo.link_count * LANE_MAX, PAIRS_MAX);
	cr_assert(plan_anew(plans));
	cr_assert_eq(keep_plan(plans, &plans->planner.plan), 0);
}

uint32_t plans_for(struct plans *plans, const struct topo_state *state)
{
	struct verify_report report;
	struct plan_fault fault;

	if (!planner_replan(&plans->planner, state, &fault)) {
		cr_assert(plan_anew(plans));
		return PLANS_MAX;
	}
	cr_assert_eq(verify_plan(&plans->graph.topo, state, &plans->planner.plan, true,
				 &plans->keep, &plans->scratch, &report),
		     0);
	cr_assert(verify_good(&report));
	return keep_plan(plans, &plans->planner.plan);
}

uint32_t plans_choose(struct plans *plans, uint32_t plan, const uint32_t *others, uint32_t count)
{
	const struct turn_rules *rules[PLANS_MAX];
	struct plan chosen = plans->at[plan].plan;
	bool between;

	for (uint32_t i = 0; i < count; i++)
		rules[i] = &plans->at[others[i]].plan.turns;
	cr_assert_eq(turn_mix_choose(&plans->graph.topo, &plans->at[plan].plan.turns, rules, count,
				     &plans->keep, &plans->scratch, &chosen.turns, &between),
		     0);
	return between ? keep_plan(plans, &chosen) : plan;
}

const struct packed_table *plans_table(const struct plans *plans, uint32_t at, uint64_t hash)
{
	for (uint32_t i = 0; i < plans->count; i++) {
		if (plans->at[i].hash[at] == hash)
			return plans->at[i].table[at];
	}
	cr_assert(false, "switch %u has a table that nobody made", at);
	return NULL;
}

// --- the mix ------------------------------------------------------------------------------------

// The pairs that follow one, by the turns that the switch it leads to may have: bit LANE_MAX x
// local link + lane.
static uint16_t find_followers(const struct plans *plans, const uint32_t *list, uint32_t count,
			       uint32_t pair)
{
	const struct topo *topo = &plans->graph.topo;
	const uint32_t in = topo->link_peer[pair / LANE_MAX];
	const uint32_t at = topo->link_switch[in];
	const uint32_t first = topo->link_first[at];
	uint16_t followers = 0;

	for (uint32_t i = 0; i < count * topo_degree(topo, at); i++) {
		const struct turn_rules *turns = &plans->at[list[i % count]].table[at]->plan.turns;
		const uint32_t out = i / count;
		const uint8_t to = turn_rules_get(turns, in - first, out, pair % LANE_MAX);

		if (to < turns->lane_count)
			followers |= (uint16_t)(1u << (LANE_MAX * out + to));
	}
	return followers;
}

static bool leads_on(const struct topo *topo, uint32_t pair, uint16_t followers, const bool *gone)
{
	const uint32_t first = topo->link_first[topo_far(topo, pair / LANE_MAX)];

	for (uint32_t i = 0; i < LANE_MAX * DEGREE_MAX; i++) {
		if ((followers >> i & 1) != 0 && !gone[first * LANE_MAX + i])
			return true;
	}
	return false;
}

// Returns how many pairs lead to nothing that is left, and are gone now.
static uint32_t take_ends(const struct topo *topo, const uint16_t *followers, bool *gone)
{
	uint32_t taken = 0;

	for (uint32_t pair = 0; pair < topo->link_count * LANE_MAX; pair++) {
		if (gone[pair] || leads_on(topo, pair, followers[pair], gone))
			continue;
		gone[pair] = true;
		taken++;
	}
	return taken;
}

bool plans_any_mix_is_safe(const struct plans *plans, const uint32_t *list, uint32_t count)
{
	const struct topo *topo = &plans->graph.topo;
	uint32_t left = topo->link_count * LANE_MAX, taken;
	uint16_t followers[PAIRS_MAX];
	bool gone[PAIRS_MAX] = { false };

	for (uint32_t pair = 0; pair < left; pair++)
		followers[pair] = find_followers(plans, list, count, pair);
	do {
		taken = take_ends(topo, followers, gone);
		left -= taken;
	} while (taken != 0);
	return left == 0;
}
