// SPDX-License-Identifier: BSD-3-Clause
//
// Laws of rows without valleys, on random graphs under random losses: in a tree they give exactly
// the shortest valley-free paths that an exhaustive search finds; rules of turns let every one of
// them pass and close no cycle; and a plan that followed events one by one, in any order, is the
// plan of the state that they led to.

#include "routing/tree.h"
#include "routing/updown.h"
#include "tests/rig/follow.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum {
	LEVELS_MAX = 4,
	WIDTH_MAX = 6,
};

static const struct tree_hints no_hints = { 0 };

static void lose_some(struct graph *g, struct rng *rng)
{
	for (uint32_t n = rng_below(rng, 4); n > 0 && g->topo.link_count > 0; n--)
		g->state.link_lost[rng_below(rng, g->topo.link_count)] = 1;
	if (rng_below(rng, 3) == 0)
		g->state.switch_lost[rng_below(rng, g->topo.switch_count)] = 1;
}

// --- exhaustive search --------------------------------------------------------------------------

struct search {
	const struct graph *g;
	const struct order *order;
	uint32_t to;
	struct follow_paths found;
};

// Adds the paths of `left` links that begin so.
static void search_on(struct search *s, uint32_t at, bool down, uint32_t left, uint64_t hash)
{
	const struct topo *topo = &s->g->topo;

	if (left == 0) {
		s->found.count += at == s->to;
		s->found.hash += at == s->to ? hash : 0;
		return;
	}
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const bool up = s->order->height[topo_far(topo, link)] > s->order->height[at];

		if (topo_link_up(topo, &s->g->state, link) && !(down && up))
			search_on(s, topo_far(topo, link), !up, left - 1, follow_hash(hash, link));
	}
}

static struct follow_paths shortest(const struct graph *g, const struct order *order, uint32_t from,
				    uint32_t to)
{
	struct search s = { .g = g, .order = order, .to = to };

	for (uint32_t length = 0; length < 2 * LEVELS_MAX && s.found.count == 0; length++) {
		s.found.longest = length;
		search_on(&s, from, false, length, 0);
	}
	return s.found;
}

static bool spread(const struct graph *g, uint8_t *seen)
{
	const struct topo *topo = &g->topo;
	bool more = false;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t far = topo_far(topo, link);

		if (!seen[topo->link_switch[link]] || seen[far] ||
		    !topo_link_up(topo, &g->state, link))
			continue;
		seen[far] = 1;
		more = true;
	}
	return more;
}

static bool connected(const struct graph *g, uint32_t from, uint32_t to)
{
	uint8_t seen[LEVELS_MAX * WIDTH_MAX] = { 0 };

	seen[from] = 1;
	while (spread(g, seen))
		;
	return seen[to] != 0;
}

static void check_pair(const struct graph *g, const struct tree *tree, const struct plan *plan,
		       uint32_t from, uint32_t edge)
{
	const uint32_t to = g->topo.edge_switch[edge];
	const struct follow_paths want = shortest(g, &tree->order, from, to);
	const struct follow_paths got = follow_paths(&g->topo, plan, from, edge);

	cr_assert_eq(got.count, want.count, "from %u to %u: %lu paths, not %lu", from, to,
		     (unsigned long)got.count, (unsigned long)want.count);
	cr_assert_eq(got.hash, want.hash);
	cr_assert(want.count != 0 || !connected(g, from, to));
}

SEED_TEST(valley_free, rows_of_a_tree_are_all_shortest_paths, rng, 60)
{
	struct tree_options options = { .weights = (enum valley_free_weights)rng_below(rng, 2),
					.churn_rows = VALLEY_FREE_ANY_CHURN,
					.pinned = rng_below(rng, 4) == 0 };
	struct plan_fault fault;
	struct graph g;
	struct tree tree;
	struct plan plan;

	graph_random_tree(&g, rng, 2 + rng_below(rng, LEVELS_MAX - 1), 2 + rng_below(rng, 5));
	lose_some(&g, rng);
	cr_assert(tree_init(&g.topo, &no_hints, &g.keep, &g.scratch, &tree, &fault));
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	if (!tree_plan(&tree, &g.state, &options, &g.scratch, &plan, &fault)) {
		const uint32_t to = g.topo.edge_switch[fault.edge];

		cr_assert_eq(fault.kind, PLAN_FAULT_UNREACHABLE);
		cr_assert(connected(&g, fault.at, to));
		cr_assert_eq(shortest(&g, &tree.order, fault.at, to).count, 0);
		graph_free(&g);
		return;
	}
	for (uint32_t e = 0; e < g.topo.edge_count; e++) {
		for (uint32_t from = 0; from < g.topo.edge_count; from++)
			check_pair(&g, &tree, &plan, g.topo.edge_switch[from], e);
	}
	follow_prove(&g, &plan);
	graph_free(&g);
}

SEED_TEST(valley_free, updown_reaches_all_that_is_connected, rng, 60)
{
	struct plan_fault fault;
	struct updown updown;
	struct graph g;
	struct plan plan;

	graph_random(&g, rng, 2 + rng_below(rng, LEVELS_MAX * WIDTH_MAX - 2), rng_below(rng, 30));
	lose_some(&g, rng);
	cr_assert(updown_init(&g.topo, NULL, 0, NULL, &g.keep, &g.scratch, &updown, &fault));
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	cr_assert(updown_plan(&updown, &g.state, &g.scratch, &plan, &fault));
	follow_prove(&g, &plan);
	graph_free(&g);
}

// --- events -------------------------------------------------------------------------------------

struct engine {
	const struct tree *tree; // or NULL
	const struct updown *updown;
	struct tree_options options;
};

struct story {
	struct graph g;
	struct engine engine;
	struct topo_state after;
	struct arena keep; // of one plan made in full
	struct plan plan;  // which follows
};

static bool plan_full(struct story *s, const struct topo_state *state, struct arena *keep,
		      struct plan *plan, struct plan_fault *fault)
{
	const struct engine *e = &s->engine;

	cr_assert_eq(plan_init(&s->g.topo, keep, plan), 0);
	if (e->tree != NULL)
		return tree_plan(e->tree, state, &e->options, &s->g.scratch, plan, fault);
	return updown_plan(e->updown, state, &s->g.scratch, plan, fault);
}

static bool replan(struct story *s, struct plan_fault *fault)
{
	const struct engine *e = &s->engine;
	struct arena *scratch = &s->g.scratch;

	if (e->tree != NULL)
		return tree_replan(e->tree, &s->g.state, &s->after, &e->options, scratch, &s->plan,
				   fault);
	return updown_replan(e->updown, &s->g.state, &s->after, scratch, &s->plan, fault);
}

// Mostly one link; what was lost returns as often as not.
static void happen(struct story *s, struct rng *rng)
{
	const struct topo *topo = &s->g.topo;

	for (uint32_t n = 1 + rng_below(rng, 2) * rng_below(rng, 3); n > 0; n--) {
		uint8_t *lost = rng_below(rng, 4) == 0 ?
					&s->after.switch_lost[rng_below(rng, topo->switch_count)] :
					&s->after.link_lost[rng_below(rng, topo->link_count)];

		*lost = rng_below(rng, 2) == 0;
	}
	for (uint32_t link = 0; link < topo->link_count; link++)
		s->after.link_lost[link] &= rng_below(rng, 8) != 0;
}

static void step(struct story *s, struct rng *rng)
{
	struct plan_fault fault, want_fault;
	struct plan want;
	bool good;

	happen(s, rng);
	s->keep.used = 0;
	good = plan_full(s, &s->after, &s->keep, &want, &want_fault);
	cr_assert_eq(replan(s, &fault), good);
	cr_assert_eq(s->g.scratch.used, 0);
	if (good) {
		follow_assert_same(&s->g.topo, &s->plan, &want);
		topo_state_copy(&s->g.topo, &s->after, &s->g.state);
		return;
	}
	// Both say the same, and the story goes on from where it was.
	cr_assert_eq(fault.kind, want_fault.kind);
	cr_assert_eq(fault.at, want_fault.at);
	cr_assert_eq(fault.edge, want_fault.edge);
	topo_state_copy(&s->g.topo, &s->g.state, &s->after);
	cr_assert(plan_full(s, &s->g.state, &s->g.keep, &s->plan, &fault));
}

// From a state in which all is connected.
static bool tell(struct story *s, struct rng *rng)
{
	struct plan_fault fault;

	s->keep = graph_arena();
	cr_assert_eq(topo_state_init(&s->g.topo, &s->g.keep, &s->after), 0);
	if (s->g.topo.link_count == 0 || !plan_full(s, &s->g.state, &s->g.keep, &s->plan, &fault))
		return false;
	for (uint32_t i = 0; i < 40; i++)
		step(s, rng);
	return true;
}

static struct tree_options random_options(struct rng *rng)
{
	struct tree_options options = { .weights = (enum valley_free_weights)rng_below(rng, 2),
					.churn_rows = VALLEY_FREE_ANY_CHURN,
					.pinned = rng_below(rng, 4) == 0,
					.partial = rng_below(rng, 2) == 0 };

	if (rng_below(rng, 3) == 0)
		options.churn_rows = rng_below(rng, 40);
	return options;
}

SEED_TEST(valley_free, events_in_a_random_tree, rng, 60)
{
	struct story s = { .engine.options = random_options(rng) };
	struct plan_fault fault;
	struct tree tree;

	graph_random_tree(&s.g, rng, 2 + rng_below(rng, LEVELS_MAX - 1), 2 + rng_below(rng, 5));
	cr_assert(tree_init(&s.g.topo, &no_hints, &s.g.keep, &s.g.scratch, &tree, &fault));
	s.engine.tree = &tree;
	// One in which there are only valleys somewhere has no first plan.
	tell(&s, rng);
	graph_free(&s.g);
}

SEED_TEST(valley_free, events_in_a_fat_tree, rng, 24)
{
	struct story s = { .engine.options = random_options(rng) };
	struct plan_fault fault;
	struct tree tree;

	graph_fat_tree(&s.g, rng_below(rng, 2) == 0 ? 4 : 8);
	cr_assert(tree_init(&s.g.topo, &no_hints, &s.g.keep, &s.g.scratch, &tree, &fault));
	s.engine.tree = &tree;
	cr_assert(tell(&s, rng));
	graph_free(&s.g);
}

SEED_TEST(valley_free, events_under_updown, rng, 40)
{
	struct story s = { 0 };
	struct plan_fault fault;
	struct updown updown;

	graph_random(&s.g, rng, 2 + rng_below(rng, 22), rng_below(rng, 30));
	cr_assert(updown_init(&s.g.topo, NULL, 0, NULL, &s.g.keep, &s.g.scratch, &updown, &fault));
	s.engine.updown = &updown;
	cr_assert(tell(&s, rng));
	graph_free(&s.g);
}
