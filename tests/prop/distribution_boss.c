// SPDX-License-Identifier: BSD-3-Clause
//
// A manager: the distributor with a store below and a planner beside it. It keeps the rule for
// plans that change turn maps (fabricmgr/core/distribute.h).

#include <string.h>

#include "tests/prop/distribution_world.h"
#include "tests/table.h"

enum {
	POLL_MS = 2000,
	PLAN_MOST_US = 5000,
	RETRY_MS = 300,
	TICK_MS = 50,
	LISTEN_MS = 500, // before the first plan
};

static struct generation to_manager(const struct follower_generation *g)
{
	return (struct generation){ g->epoch, g->number, g->hash };
}

static struct follower_generation to_switch(const struct generation *g)
{
	return (struct follower_generation){ g->epoch, g->number, g->hash };
}

static uint32_t number_of(const struct world *w, const struct world_boss *b)
{
	return (uint32_t)(b - w->boss);
}

static void answer(struct world *w, const struct world_boss *b, uint32_t at,
		   const struct world_message *question, enum distribute_step step,
		   const struct generation *generation, bool refused)
{
	const struct world_message m = {
		.kind = question->kind,
		.refused = refused,
		.boot = question->boot,
		.call = question->call,
		.epoch = b->d.epoch,
		.step = step,
		.generation = to_switch(generation),
	};

	world_send(w, WORLD_TO_NODE, at, question->boot, &m);
}

// --- plans --------------------------------------------------------------------------------------

static void mix_in(uint32_t *mix, uint32_t *count, uint32_t plan)
{
	for (uint32_t i = 0; i < *count; i++) {
		if (mix[i] == plan)
			return;
	}
	cr_assert_lt(*count, WORLD_MIX_MAX);
	mix[(*count)++] = plan;
}

// Power fails before the decision is stored, or before it is used.
static void decide(struct world *w, struct world_boss *b)
{
	struct world_store *store = &w->store;

	if (store->epoch != b->d.epoch) {
		b->up = false;
		return;
	}
	if (world_chance(w, 5)) {
		world_replace_boss(w);
		return;
	}
	mix_in(b->mix, &b->mix_count, b->plan);
	store->number = b->d.number;
	store->plan = b->plan;
	store->mix_count = b->mix_count;
	memcpy(store->mix, b->mix, sizeof(store->mix));
	cr_assert_lt(w->decision_count, PLANS_MAX);
	w->decision[w->decision_count++] = b->plan;
	w->counts.decided++;
	if (world_chance(w, 5)) {
		world_replace_boss(w);
		return;
	}
	distribute_decided(&b->d, w->now);
}

// When all have run the same long enough, nothing else is in force.
static void look_everywhere(struct world *w, struct world_boss *b)
{
	if (!b->d.decided || !distribute_everywhere(&b->d, NULL)) {
		b->everywhere = NS_NEVER;
		return;
	}
	if (!ns_before(b->everywhere, NS_NEVER))
		b->everywhere = w->now;
	if (ns_since(w->now, b->everywhere) < DISTRIBUTE_DRAIN_MS * WORLD_MS)
		return;
	b->mix_count = 1;
	b->mix[0] = b->plan;
}

static void give(struct world *w, struct world_boss *b, uint32_t plan)
{
	if (plan == b->plan && b->d.refused_by == UINT32_MAX)
		return;
	if (distribute_plan(&b->d, w->plans->at[plan].hash, w->now) == 0)
		b->plan = plan;
}

static void give_wanted(struct world *w, struct world_boss *b)
{
	uint32_t plan;

	if (b->wanted == PLANS_MAX || ns_before(w->now, b->retry))
		return;
	plan = plans_choose(w->plans, b->wanted, b->mix, b->mix_count);
	w->counts.between += plan != b->wanted && plan != b->plan;
	give(w, b, plan);
}

static void fail(struct world *w, struct world_boss *b)
{
	w->counts.failed++;
	b->plan = w->store.plan;
	b->retry = ns_add(w->now, RETRY_MS * WORLD_MS);
}

// What follows from whatever has happened.
static void go_on(struct world *w, struct world_boss *b)
{
	struct generation g;

	if (b->news_of_links && !b->planning) {
		b->planning = true;
		world_put(w, rng_below(w->rng, PLAN_MOST_US) * 1000ull, WORLD_BOSS_PLANS,
			  number_of(w, b), b->d.epoch, NULL);
	}
	if (distribute_wants_decision(&b->d))
		decide(w, b);
	if (!b->up)
		return;
	look_everywhere(w, b);
	give_wanted(w, b);
	if (!distribute_news(&b->d))
		return;
	for (uint32_t at = 0; at < w->node_count; at++) {
		const enum distribute_step step = distribute_next(&b->d, at, &g);

		if (b->waiting[at].call == 0 || step == DISTRIBUTE_NOTHING)
			continue;
		answer(w, b, at, &b->waiting[at], step, &g, false);
		b->waiting[at].call = 0;
	}
}

static void plan(struct world *w, struct world_boss *b)
{
	const uint32_t found = plans_for(w->plans, &b->seen);

	b->planning = false;
	b->news_of_links = false;
	// Without a plan the last one stays.
	if (found != PLANS_MAX)
		b->wanted = found;
}

void boss_start(struct world *w)
{
	struct world_boss *b = &w->boss[0];
	const struct topo_state seen = b->seen;
	const struct topo *topo = &w->plans->graph.topo;

	memset(b, 0, sizeof(*b));
	memset(seen.link_lost, 0, topo->link_count);
	b->seen = seen;
	b->up = true;
	b->everywhere = NS_NEVER;
	b->wanted = PLANS_MAX;
	b->plan = PLANS_MAX;
	distribute_init(&b->d, ++w->store.epoch, b->at, w->node_count);
	if (w->store.number != 0) {
		b->plan = w->store.plan;
		b->mix_count = w->store.mix_count;
		memcpy(b->mix, w->store.mix, sizeof(b->mix));
		distribute_restore(&b->d, w->store.number, w->plans->at[b->plan].hash);
	}
	b->planning = true;
	world_put(w, LISTEN_MS * WORLD_MS, WORLD_BOSS_PLANS, 0, b->d.epoch, NULL);
	world_put(w, 1, WORLD_BOSS_TICKS, 0, b->d.epoch, NULL);
}

// --- what switches say --------------------------------------------------------------------------

static bool is_later(const struct world_message *m, const struct world_message *than)
{
	return m->boot > than->boot || (m->boot == than->boot && m->sequence > than->sequence);
}

static void take_report(struct world *w, struct world_boss *b, uint32_t at,
			const struct world_message *m)
{
	const struct topo *topo = &w->plans->graph.topo;

	distribute_heard(&b->d, at, m->boot, w->now);
	if (!is_later(m, &b->reported[at]))
		return;
	b->reported[at] = *m;
	for (uint32_t i = 0; i < topo_degree(topo, at); i++) {
		uint8_t *lost = &b->seen.link_lost[topo->link_first[at] + i];

		b->news_of_links |= *lost != m->lost[i];
		*lost = m->lost[i];
	}
}

static void take_fetch(struct world *w, struct world_boss *b, uint32_t at,
		       const struct world_message *m)
{
	const struct generation running = to_manager(&m->running);
	const struct generation prepared = to_manager(&m->prepared);
	enum distribute_step step;
	struct generation g;

	step = distribute_fetch(&b->d, at, m->boot, &running, &prepared, w->now, &g);
	b->waiting[at] = *m;
	if (step == DISTRIBUTE_NOTHING) {
		world_put(w, POLL_MS * WORLD_MS, WORLD_BOSS_ANSWERS, at, m->call, NULL);
		return;
	}
	answer(w, b, at, m, step, &g, false);
	b->waiting[at].call = 0;
}

static void note_told(struct world *w, uint32_t at, const struct world_message *m)
{
	struct world_node *n = &w->node[at];

	if (follower_generation_before(&n->told, &m->running))
		n->told = m->running;
}

static void take(struct world *w, struct world_boss *b, uint32_t at, const struct world_message *m)
{
	const struct generation running = to_manager(&m->running);
	const struct generation prepared = to_manager(&m->prepared);
	const struct generation acked = to_manager(&m->generation);
	static const struct generation nothing;
	const char *why;
	bool good = true;

	switch (m->kind) {
	case WORLD_HELLO:
		good = distribute_hello(&b->d, at, m->boot, &running, &prepared, w->now, &why);
		answer(w, b, at, m, DISTRIBUTE_NOTHING, &nothing, !good);
		break;
	case WORLD_FETCH:
		good = distribute_knows(&b->d, at, m->boot);
		if (good)
			take_fetch(w, b, at, m);
		else
			answer(w, b, at, m, DISTRIBUTE_NOTHING, &nothing, true);
		break;
	case WORLD_ACK:
		if (distribute_ack(&b->d, at, m->boot, (enum distribute_step)m->step, &acked,
				   m->error, w->now))
			b->d.news = true;
		if (b->d.refused_by != UINT32_MAX && ns_before(b->retry, w->now))
			fail(w, b);
		answer(w, b, at, m, DISTRIBUTE_NOTHING, &nothing, false);
		break;
	case WORLD_REPORT: take_report(w, b, at, m); break;
	}
	if (good && m->kind != WORLD_REPORT)
		note_told(w, at, m);
}

// To the manager that the switch reaches: mostly the last.
static struct world_boss *reached(struct world *w)
{
	if (w->boss[1].up && (!w->boss[0].up || rng_below(w->rng, 2) == 0))
		return &w->boss[1];
	return w->boss[0].up ? &w->boss[0] : NULL;
}

static void end_poll(struct world *w, const struct world_event *event)
{
	static const struct generation nothing;

	for (uint32_t i = 0; i < WORLD_BOSSES; i++) {
		struct world_message *m = &w->boss[i].waiting[event->who];

		if (!w->boss[i].up || m->call != event->life)
			continue;
		answer(w, &w->boss[i], event->who, m, DISTRIBUTE_NOTHING, &nothing, false);
		m->call = 0;
	}
}

void boss_event(struct world *w, const struct world_event *event)
{
	struct world_boss *b = NULL;
	ns_t next;

	switch ((int)event->kind) {
	case WORLD_TO_BOSS:
		b = reached(w);
		if (b != NULL)
			take(w, b, event->who, &event->message);
		break;
	case WORLD_BOSS_STARTS:
		if (!w->boss[0].up)
			boss_start(w);
		return;
	case WORLD_BOSS_ANSWERS: end_poll(w, event); return;
	default: b = &w->boss[event->who]; break;
	}
	if (b == NULL || !b->up || (event->kind != WORLD_TO_BOSS && event->life != b->d.epoch))
		return;
	if (event->kind == WORLD_BOSS_ENDS)
		b->up = false;
	if (event->kind == WORLD_BOSS_PLANS)
		plan(w, b);
	if (event->kind == WORLD_BOSS_TICKS && distribute_tick(&b->d, w->now, &next))
		b->d.news = true;
	if (event->kind == WORLD_BOSS_TICKS)
		world_put(w, TICK_MS * WORLD_MS, WORLD_BOSS_TICKS, event->who, b->d.epoch, NULL);
	if (b->up)
		go_on(w, b);
}
