// SPDX-License-Identifier: BSD-3-Clause
//
// The order of events, the network between switches and managers, and fate: what is cut, restarted
// and replaced. After each event that changes what is in force, or where, the mix of tables is
// looked at.

#include "tests/prop/distribution_world.h"

#include <string.h>

#include "tests/rig/graph.h"
#include "tests/table.h"

enum {
	CUTS_MAX = 3,
	FATE_MOST_MS = 400,
};

bool world_chance(struct world *w, uint32_t percent)
{
	return !w->calm && rng_below(w->rng, 100) < percent;
}

void world_put(struct world *w, uint64_t after_ns, enum world_event_kind kind, uint32_t who,
	       uint64_t life, const struct world_message *message)
{
	struct world_event *event = &w->event[w->event_count++];

	cr_assert_lt(w->event_count, WORLD_EVENTS_MAX);
	*event = (struct world_event){ ns_add(w->now, after_ns), kind, who, life, { 0 } };
	if (message != NULL)
		event->message = *message;
}

// Mostly quick, sometimes later than those that are sent after it.
static uint64_t delay_ns(struct world *w)
{
	const uint64_t quick = 50000 + rng_below(w->rng, 400000);

	if (w->steady_ns != 0)
		return w->steady_ns;
	if (world_chance(w, 2))
		return rng_below(w->rng, 4000) * WORLD_MS;
	return world_chance(w, 15) ? rng_below(w->rng, 200) * WORLD_MS : quick;
}

void world_send(struct world *w, enum world_event_kind kind, uint32_t who, uint64_t life,
		const struct world_message *message)
{
	uint32_t copies = 1;

	if (world_chance(w, 10)) {
		w->counts.lost++;
		copies = 0;
	} else if (world_chance(w, 10)) {
		w->counts.repeated++;
		copies = 2;
	}
	while (copies-- > 0)
		world_put(w, delay_ns(w), kind, who, life, message);
}

bool world_link_works(const struct world *w, uint32_t link)
{
	const struct topo *topo = &w->plans->graph.topo;

	return topo_link_up(topo, &w->cut, link) && w->node[topo->link_switch[link]].up &&
	       w->node[topo_far(topo, link)].up;
}

static void mend_or_cut(struct world *w)
{
	const struct topo *topo = &w->plans->graph.topo;
	const uint32_t link = rng_below(w->rng, topo->link_count);
	uint32_t cuts = 0;

	for (uint32_t i = 0; i < topo->link_count; i++)
		cuts += w->cut.link_lost[i];
	if (!w->cut.link_lost[link] && cuts / 2 == CUTS_MAX)
		return;
	w->cut.link_lost[link] ^= 1;
	w->cut.link_lost[topo->link_peer[link]] ^= 1;
}

void world_replace_boss(struct world *w)
{
	w->boss[1].up = false;
	if (world_chance(w, 50)) {
		// It goes on for a while, to switches that still listen.
		w->boss[1] = w->boss[0];
		w->boss[1].d.at = w->boss[1].at;
		world_put(w, rng_below(w->rng, 4000) * WORLD_MS, WORLD_BOSS_ENDS, 1,
			  w->boss[1].d.epoch, NULL);
		world_put(w, 1, WORLD_BOSS_TICKS, 1, w->boss[1].d.epoch, NULL);
	}
	w->boss[0].up = false;
	w->counts.bosses++;
	world_put(w, w->calm ? 1 : rng_below(w->rng, 1500) * WORLD_MS, WORLD_BOSS_STARTS, 0, 0,
		  NULL);
}

static void fate(struct world *w)
{
	const uint32_t dice = rng_below(w->rng, 100);

	if (w->calm)
		return;
	world_put(w, rng_below(w->rng, FATE_MOST_MS) * WORLD_MS, WORLD_FATE, 0, 0, NULL);
	if (dice < 65)
		mend_or_cut(w);
	else if (dice < 96)
		node_die(w, rng_below(w->rng, w->node_count));
	else if (w->boss[0].up)
		world_replace_boss(w);
}

void world_make(struct world *w, struct plans *plans, struct rng *rng)
{
	memset(w, 0, sizeof(*w));
	w->plans = plans;
	w->rng = rng;
	w->now = (ns_t){ WORLD_MS };
	w->node_count = plans->graph.topo.switch_count;
	cr_assert_eq(topo_state_init(&plans->graph.topo, &plans->keep, &w->cut), 0);
	for (uint32_t i = 0; i < WORLD_BOSSES; i++)
		cr_assert_eq(topo_state_init(&plans->graph.topo, &plans->keep, &w->boss[i].seen),
			     0);
	for (uint32_t at = 0; at < w->node_count; at++)
		node_boot(w, at);
	boss_start(w);
	world_put(w, 0, WORLD_FATE, 0, 0, NULL);
}

void world_calm(struct world *w)
{
	const struct topo *topo = &w->plans->graph.topo;
	bool kept = false;

	w->calm = true;
	for (uint32_t link = 0; link < topo->link_count; link++) {
		if (!w->cut.link_lost[link] || topo->link_peer[link] < link)
			continue;
		w->cut.link_lost[link] = !kept;
		w->cut.link_lost[topo->link_peer[link]] = !kept;
		kept = true;
	}
	w->boss[1].up = false;
}

static bool is_of_boss(enum world_event_kind kind)
{
	return kind == WORLD_TO_BOSS || (kind >= WORLD_BOSS_STARTS && kind <= WORLD_BOSS_ENDS);
}

// The last decided plan that gives a switch the table that it has.
static uint32_t plan_in_force(const struct world *w, uint32_t at)
{
	for (uint32_t i = w->decision_count; i-- > 0;) {
		if (w->plans->at[w->decision[i]].table[at]->hash == w->node[at].in_force->hash)
			return w->decision[i];
	}
	cr_assert(false, "switch %u runs what was not decided", at);
	return 0;
}

// Switches could as well have got them in another order, so any mix must do.
static void check_mix(struct world *w)
{
	uint32_t list[PLANS_SWITCHES_MAX];
	uint32_t count = 0;

	for (uint32_t at = 0; at < w->node_count; at++) {
		uint32_t i = 0, plan;

		if (w->node[at].in_force == NULL)
			continue;
		plan = plan_in_force(w, at);
		while (i < count && list[i] != plan)
			i++;
		list[i] = plan;
		count += i == count;
	}
	cr_assert(plans_any_mix_is_safe(w->plans, list, count), "packets can wait in a circle");
}

void world_step(struct world *w)
{
	const uint32_t applied = w->counts.applied + w->counts.restarted;
	struct world_event event;
	uint32_t first = 0;

	for (uint32_t i = 1; i < w->event_count; i++) {
		if (ns_before(w->event[i].at, w->event[first].at))
			first = i;
	}
	cr_assert_gt(w->event_count, 0);
	event = w->event[first];
	w->event[first] = w->event[--w->event_count];
	w->now = event.at;
	if (event.kind == WORLD_FATE)
		fate(w);
	else if (is_of_boss(event.kind))
		boss_event(w, &event);
	else
		node_event(w, &event);
	if (w->counts.applied + w->counts.restarted != applied)
		check_mix(w);
}
