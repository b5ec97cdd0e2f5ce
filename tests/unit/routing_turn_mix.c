// SPDX-License-Identifier: BSD-3-Clause
//
// Mixes of rules of turns, against definitions: whether all turns together can be taken apart from
// the ends on, and whether a turn is in both. Random rules, two textbook rings, and a Torus.

#include "routing/turn_mix.h"

#include "tests/rig/spoil.h"
#include "tests/rig/torus.h"
#include "tests/table.h"

enum {
	SEEDS = 60,
	SWITCHES = 5,
	MORE_CABLES = 4, // below; without, it is a tree
	RULES = 3,
	PAIRS_MAX = 64 * LANE_MAX,
	RING = 4,
	CLOCKWISE = 1,
	BACKWARDS = 2,
};

static uint8_t turn(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane)
{
	const uint8_t to = turn_rules_get(rules, in, out, lane);

	return to < rules->lane_count ? to : (uint8_t)TURN_DENY;
}

static bool leads_on(const struct topo *topo, const struct turn_rules *const *rules, uint32_t count,
		     uint32_t pair, const bool *gone)
{
	const uint32_t in = topo->link_peer[pair / LANE_MAX];
	const uint32_t at = topo->link_switch[in];

	for (uint32_t i = topo->link_first[at] * count; i < topo->link_first[at + 1] * count; i++) {
		const uint8_t to = turn(rules[i % count], in, i / count, pair % LANE_MAX);

		if (to != TURN_DENY && !gone[i / count * LANE_MAX + to])
			return true;
	}
	return false;
}

static uint32_t take_ends(const struct topo *topo, const struct turn_rules *const *rules,
			  uint32_t count, bool *gone)
{
	uint32_t taken = 0;

	for (uint32_t pair = 0; pair < topo->link_count * LANE_MAX; pair++) {
		if (gone[pair] || leads_on(topo, rules, count, pair, gone))
			continue;
		gone[pair] = true;
		taken++;
	}
	return taken;
}

// Takes away pairs that lead to nothing that is left, until nothing changes.
static bool can_be_taken_apart(const struct topo *topo, const struct turn_rules *const *rules,
			       uint32_t count)
{
	bool gone[PAIRS_MAX] = { false };
	uint32_t left = topo->link_count * LANE_MAX, taken;

	do {
		taken = take_ends(topo, rules, count, gone);
		left -= taken;
	} while (taken != 0);
	return left == 0;
}

static bool is_safe(struct graph *g, const struct turn_rules *const *rules, uint32_t count)
{
	bool safe;

	cr_assert_eq(turn_mix_safe(&g->topo, rules, count, &g->scratch, &safe), 0);
	cr_assert_eq(g->scratch.used, 0);
	return safe;
}

static void check_common(const struct topo *topo, const struct turn_rules *a,
			 const struct turn_rules *b, const struct turn_rules *common)
{
	for (uint32_t i = 0; i < (topo->link_count + 1) * topo->link_count * LANE_MAX; i++) {
		const uint32_t lane = i % LANE_MAX;
		const uint32_t out = i / LANE_MAX % topo->link_count;
		const uint32_t link = i / LANE_MAX / topo->link_count;
		const uint32_t in = link == topo->link_count ? TOPO_NONE : link;
		const uint8_t x = turn(a, in, out, lane);

		if (in != TOPO_NONE && topo->link_switch[in] != topo->link_switch[out])
			continue;
		cr_assert_eq(turn(common, in, out, lane),
			     x == turn(b, in, out, lane) ? x : TURN_DENY, "%u to %u on %u", in, out,
			     lane);
	}
}

SEED_TEST(turn_mix, is_what_it_says, rng, SEEDS)
{
	const struct turn_rules *rules[RULES];
	struct turn_rules common;
	struct plan plan[RULES];
	struct graph g;

	graph_random(&g, rng, SWITCHES, SWITCHES - 1 + rng_below(rng, MORE_CABLES));
	for (uint32_t i = 0; i < RULES; i++) {
		cr_assert_eq(plan_init(&g.topo, &g.keep, &plan[i]), 0);
		spoil_rules(rng, &g, &plan[i], 1 + rng_below(rng, LANE_MAX));
		rules[i] = &plan[i].turns;
	}
	for (uint32_t count = 1; count <= RULES; count++)
		cr_assert_eq(is_safe(&g, rules, count), can_be_taken_apart(&g.topo, rules, count));
	cr_assert_eq(turn_mix_common(&g.topo, rules[0], rules[1], &g.keep, &common), 0);
	check_common(&g.topo, rules[0], rules[1], &common);
	cr_assert_eq(turn_mix_common(&g.topo, rules[0], rules[0], &g.keep, &common), 0);
	check_common(&g.topo, rules[0], rules[0], &common);
	cr_assert(turn_mix_same(&g.topo, rules[0], rules[0]));
	cr_assert_not(turn_mix_same(&g.topo, rules[0], rules[1]));
	graph_free(&g);
}

// A ring on one lane, which packets may go round but for one switch, `at`.
static void make_ring_rules(struct graph *g, uint32_t at, struct turn_rules *rules)
{
	cr_assert_eq(turn_rules_init(&g->topo, 1, 3, 2, &g->keep, rules), 0);
	for (uint32_t link = 0; link < g->topo.link_count; link++)
		rules->link_class[link] = g->topo.link_port[link] == 0 ? CLOCKWISE : BACKWARDS;
	turn_rules_allow(rules, BACKWARDS, CLOCKWISE, 0, 0);
	turn_rules_allow(rules, CLOCKWISE, BACKWARDS, 0, 0);
	for (uint32_t i = 0; i < 2; i++)
		rules->exception[i] = (struct turn_exception){
			.in = g->topo.link_first[at] + i,
			.out = g->topo.link_first[at] + !i,
			.to = TURN_DENY,
		};
	rules->exception_count = 2;
}

// Either ring is cut, both together are whole: the reason for a step in between.
Test(turn_mix, two_cuts_heal_each_other)
{
	struct turn_rules cut[2], common;
	struct graph g;

	graph_torus(&g, 1, (const uint32_t[]){ RING }, NULL, 1);
	for (uint32_t i = 0; i < 2; i++) {
		make_ring_rules(&g, i, &cut[i]);
		cr_assert(is_safe(&g, &(const struct turn_rules *){ &cut[i] }, 1));
	}
	cr_assert_not(is_safe(&g, (const struct turn_rules *[]){ &cut[0], &cut[1] }, 2));
	cr_assert_eq(turn_mix_common(&g.topo, &cut[0], &cut[1], &g.keep, &common), 0);
	check_common(&g.topo, &cut[0], &cut[1], &common);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert(is_safe(&g, (const struct turn_rules *[]){ &cut[i], &common }, 2));
	graph_free(&g);
}

static const struct {
	const char *what;
	uint32_t count; // of rules in force: those of the first cut, then those of the second
	uint32_t plan;  // whose
	bool between;
} choose_rows[] = {
	{ "the first plan", 0, 0, false },
	{ "nothing changes", 1, 0, false },
	{ "the ring is cut elsewhere", 1, 1, true },
	{ "both cuts are in force", 2, 0, true },
};

TABLE_TEST(turn_mix, chooses, row, choose_rows)
{
	struct turn_rules cut[2], common, chosen;
	const struct turn_rules *const in_force[] = { &cut[0], &cut[1] };
	struct graph g;
	bool between;

	graph_torus(&g, 1, (const uint32_t[]){ RING }, NULL, 1);
	for (uint32_t i = 0; i < 2; i++)
		make_ring_rules(&g, i, &cut[i]);
	cr_assert_eq(turn_mix_common(&g.topo, &cut[0], &cut[1], &g.keep, &common), 0);
	cr_assert_eq(turn_mix_choose(&g.topo, &cut[row->plan], in_force, row->count, &g.keep,
				     &g.scratch, &chosen, &between),
		     0);
	cr_assert_eq(between, row->between, "%s", row->what);
	cr_assert(turn_mix_same(&g.topo, &chosen, between ? &common : &cut[row->plan]));
	cr_assert_eq(g.scratch.used, 0);
	graph_free(&g);
}

// Whatever switch a Torus loses, the turns of before and after may be mixed.
Test(turn_mix, a_loss_of_a_torus_adds_turns)
{
	struct turn_rules before;
	struct torus_bench b;
	uint32_t changed = 0;

	torus_bench_make(&b, 2, (const uint32_t[]){ 4, 4 }, NULL, 1);
	torus_bench_plan(&b);
	cr_assert_eq(turn_rules_copy(&b.g.topo, &b.plan.turns, &b.g.keep, &before), 0);
	for (uint32_t s = 0; s < b.g.topo.switch_count; s++) {
		torus_bench_mend(&b);
		b.g.state.switch_lost[s] = 1;
		torus_bench_plan(&b);
		changed += !turn_mix_same(&b.g.topo, &before, &b.plan.turns);
		cr_assert(
			is_safe(&b.g, (const struct turn_rules *[]){ &before, &b.plan.turns }, 2));
	}
	cr_assert_eq(changed, b.g.topo.switch_count);
	graph_free(&b.g);
}
