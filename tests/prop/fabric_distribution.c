// SPDX-License-Identifier: BSD-3-Clause
//
// Distribution of tables in virtual time, with real plans: whatever the network, managers, switches
// and cables do, no mix of tables that comes into force can stop or turn packets in a circle,
// nothing is in force that was not decided, nothing that was said is lost, and when the world is
// calm all run the plan for it within a bound. What must hold at each event is checked at each
// (tests/prop/distribution_*.c).

#include <string.h>

#include "tests/prop/distribution_world.h"
#include "tests/table.h"

enum {
	TREE_SEEDS = 20,
	TORUS_SEEDS = 40,
	REPAIR_SEEDS = 4,
	STORMY_MS = 20000,
	// A switch waits 5 s at most before it calls again, and half a second for the answer; then
	// two steps of 2 s each, and half a second of turns that drain, at most twice.
	CALM_MS = 15000,
	LATER_MS = 8000,
};

static struct plans plans;
static struct world world;

static void run_until(struct world *w, uint64_t ms)
{
	world_put(w, ms * WORLD_MS - w->now.v, WORLD_FATE, 0, 0, NULL);
	while (w->now.v < ms * WORLD_MS)
		world_step(w);
}

// What is to be in force everywhere: the plan for the links that are.
static void check_converged(struct world *w)
{
	struct topo_state state;
	uint32_t plan;

	cr_assert_eq(topo_state_init(&w->plans->graph.topo, &w->plans->keep, &state), 0);
	memcpy(state.link_lost, w->cut.link_lost, w->plans->graph.topo.link_count);
	plan = plans_for(w->plans, &state);
	cr_assert_neq(plan, PLANS_MAX);
	for (uint32_t at = 0; at < w->node_count; at++) {
		const struct follower_state *f = &w->node[at].f.state;

		cr_assert_eq(f->running.hash, w->plans->at[plan].hash[at], "switch %u", at);
		cr_assert_eq(f->running.epoch, w->boss[0].d.epoch, "switch %u", at);
		cr_assert_eq(f->running.number, w->boss[0].d.number, "switch %u", at);
		cr_assert_eq(f->prepared.number, 0, "switch %u", at);
	}
	cr_assert(distribute_everywhere(&w->boss[0].d, NULL));
}

static void weather(enum plans_fabric fabric, struct rng *rng)
{
	struct world *w = &world;
	uint32_t stored;

	plans_make(&plans, fabric);
	world_make(w, &plans, rng);
	run_until(w, STORMY_MS);
	world_calm(w);
	run_until(w, STORMY_MS + CALM_MS);
	check_converged(w);
	stored = w->counts.stored;
	world_replace_boss(w);
	run_until(w, STORMY_MS + CALM_MS + LATER_MS);
	check_converged(w);
	cr_assert_eq(w->counts.stored, stored, "a manager that starts changes tables");
	cr_log_info("%u lost, %u late, %u twice; %u decided, %u applied, %u renamed, %u failed, %u "
		    "between; %u boots, %u managers",
		    w->counts.lost, w->counts.late, w->counts.repeated, w->counts.decided,
		    w->counts.applied, w->counts.renamed, w->counts.failed, w->counts.between,
		    w->counts.restarted, w->counts.bosses);
	// It was no fine day.
	cr_assert_gt(w->counts.lost, 0);
	cr_assert_gt(w->counts.late, 0);
	cr_assert_gt(w->counts.repeated, 0);
	cr_assert_gt(w->counts.decided, 1);
	cr_assert_gt(w->counts.applied, w->node_count);
	cr_assert_gt(w->counts.renamed, 0);
	cr_assert_gt(w->counts.restarted, w->node_count);
}

SEED_TEST(distribution, of_a_fat_tree, rng, TREE_SEEDS)
{
	weather(PLANS_FAT_TREE, rng);
}

SEED_TEST(distribution, of_a_torus, rng, TORUS_SEEDS)
{
	weather(PLANS_TORUS, rng);
}

// --- how long it takes --------------------------------------------------------------------------

static uint32_t switches_changed(const struct world *w, uint32_t before, uint32_t after)
{
	uint32_t changed = 0;

	for (uint32_t at = 0; at < w->node_count; at++)
		changed += w->plans->at[before].hash[at] != w->plans->at[after].hash[at];
	return changed;
}

// From the plan to its being in force on all: there and back twice, by the switches that it changes
// and nobody else.
static void repair(enum plans_fabric fabric, struct rng *rng)
{
	const struct world_boss *b = &world.boss[0];
	struct world *w = &world;
	uint32_t link, before, stored;

	plans_make(&plans, fabric);
	world_make(w, &plans, rng);
	w->calm = true;
	w->steady_ns = WORLD_MS;
	run_until(w, CALM_MS);
	check_converged(w);
	before = b->plan;
	stored = w->counts.stored;
	link = rng_below(rng, plans.graph.topo.link_count);
	w->cut.link_lost[link] = w->cut.link_lost[plans.graph.topo.link_peer[link]] = 1;
	run_until(w, CALM_MS + LATER_MS);
	check_converged(w);
	cr_assert_eq(ns_since(b->d.done, b->d.began), 4 * w->steady_ns);
	cr_assert_gt(switches_changed(w, before, b->plan), 0);
	cr_assert_lt(switches_changed(w, before, b->plan), w->node_count);
	cr_assert_eq(w->counts.stored - stored, switches_changed(w, before, b->plan));
}

SEED_TEST(distribution, repairs_a_fat_tree, rng, REPAIR_SEEDS)
{
	repair(PLANS_FAT_TREE, rng);
}

SEED_TEST(distribution, repairs_a_torus, rng, REPAIR_SEEDS)
{
	repair(PLANS_TORUS, rng);
}
