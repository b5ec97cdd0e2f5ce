// SPDX-License-Identifier: BSD-3-Clause
//
// A plan's life: wanted, ordered from the thread, given to the distributor, decided (stored first),
// in force. What arrives while one is being made waits for the next, which is for everything that
// arrived. A plan that cannot be made, or that a switch says is wrong, changes nothing: the last
// good one stays, and the same state is not tried again.

#include "fabricmgr/net/manager_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sys/log.h"

enum { RETRY_S = 1, REACH_BYTES = 80 };

// --- wanting ------------------------------------------------------------------------------------

void manager_replan(struct manager *manager)
{
	const struct timeval soon = { .tv_usec = MANAGER_COALESCE_MS * 1000l };

	if (manager->asked.v == 0)
		manager->asked = manager_now(manager);
	if (!event_pending(manager->plan_event, EV_TIMEOUT, NULL))
		event_add(manager->plan_event, &soon);
}

static bool is_canary(const struct manager *manager, uint32_t at)
{
	return strcmp(manager->fabric->source.fabric.switches[at].name, manager->canary) == 0;
}

static uint32_t config_lanes(const struct manager *manager, const struct manager_fabric *fabric)
{
	return fabric == manager->fabric && !manager->is_stale ? manager->config_lanes : 0;
}

static int order(struct manager *manager, const struct manager_fabric *fabric,
		 const struct topo_state *state)
{
	const uint32_t count = fabric->source.fabric.switch_count;
	struct switch_tables *base = calloc(count + 1u, sizeof(*base));
	uint8_t *keeps = calloc(count + 1u, 1);
	const bool is_first = manager->view.planner == NULL;
	int rc = -ENOMEM;

	for (uint32_t i = 0; base != NULL && keeps != NULL && i < count; i++) {
		base[i] = fabric->switches[i].tables;
		keeps[i] = state->switch_lost[i] != 0 || (is_first && manager->between) ||
			   (fabric == manager->fabric && is_canary(manager, i));
	}
	if (base != NULL && keeps != NULL)
		rc = plan_thread_order(
			manager->thread,
			&(struct plan_order){ .source = &fabric->source,
					      .serial = fabric->serial,
					      .in_use = manager->view.planner,
					      .state = *state,
					      .base = base,
					      .turns = fabric == manager->fabric ?
							       &manager->turns :
							       &manager->coming_turns,
					      .config_lanes = config_lanes(manager, fabric),
					      .keeps = keeps });
	free(base);
	free(keeps);
	if (rc < 0)
		log_err("no plan can be ordered: %s", strerror(-rc));
	// The thread plans in the place of the one that is not in use.
	if (manager->good_planner != manager->view.planner)
		manager->good_planner = NULL;
	return rc;
}

// A first plan is of what was stored, so that it is that of before; what has changed since comes
// with the next.
static void order_first(struct manager *manager)
{
	manager->asked = manager_now(manager);
	order(manager, manager->fabric, &manager->fabric->state);
}

// That of the last plan, given out or not.
static const struct topo_state *planned_state(const struct manager *manager)
{
	const struct plan_result *pending = manager->pending;

	return pending != NULL && pending->serial == manager->fabric->serial ?
		       &pending->state :
		       &manager->fabric->state;
}

// The intent that comes, for what is known of the switches that it has too. Once it is on a canary
// it waits, and so it does when the distributor is not ready for the plan of it.
static bool order_coming(struct manager *manager)
{
	struct manager_fabric *coming = manager->coming;

	if (coming == NULL || manager->canary[0] != '\0' || manager->frozen)
		return false;
	if (manager->pending != NULL && manager->pending->serial == coming->serial)
		return true;
	manager_fabric_inherit(coming, manager->fabric);
	manager_find_wanted(manager, coming);
	if (manager_map_turns(coming, &manager->coming_turns, manager->fabric, &manager->turns) ==
	    0)
		order(manager, coming, &coming->wanted);
	return true;
}

static void order_next(struct manager *manager)
{
	struct manager_fabric *fabric = manager->fabric;
	const struct topo *topo = &fabric->source.graph.topo;

	manager_find_wanted(manager, fabric);
	if (fabric->has_refused && manager_state_same(topo, &fabric->wanted, &fabric->refused))
		return;
	if (manager_is_mass_loss(manager) || manager->frozen)
		return;
	// Of a manager before: which turns it gave is not known.
	if (manager->between && manager->turns.partly)
		return;
	if (!manager->is_stale &&
	    manager_state_same(topo, &fabric->wanted, planned_state(manager))) {
		manager->asked = manager->pending != NULL ? manager->asked : (ns_t){ 0 };
		return;
	}
	if (order(manager, fabric, &fabric->wanted) == 0)
		manager->is_stale = false;
}

void manager_try_plan(struct manager *manager)
{
	if (plan_thread_is_busy(manager->thread))
		return;
	while (manager->gone != NULL) {
		struct manager_fabric *fabric = manager->gone;

		manager->gone = fabric->next;
		manager_fabric_close(fabric);
	}
	// When no engine can plan the intent, another one, or other links, still can be planned.
	if (manager->view.planner == NULL && !manager->fabric->has_refused)
		order_first(manager);
	else if (!order_coming(manager))
		order_next(manager);
}

// --- giving -------------------------------------------------------------------------------------

static const char *say_reach(const struct manager_plan *plan, char text[REACH_BYTES])
{
	if (plan->unreachable == 0)
		snprintf(text, REACH_BYTES, "no hosts are cut off");
	else
		snprintf(text, REACH_BYTES, "%" PRIu64 " of %" PRIu64 " pairs of hosts are cut off",
			 plan->unreachable, plan->pairs);
	return text;
}

static void show_plan(struct manager *manager, const struct plan_result *result)
{
	struct manager_view *view = &manager->view;
	const bool is_told = manager->told_number == manager->distributor.number;
	char number[32];
	char reach[REACH_BYTES];
	char text[JOURNAL_DETAIL_BYTES];

	view->planner = result->planner;
	view->plan = (struct manager_plan){
		.number = manager->distributor.number,
		.asked = manager->asked,
		.planned = manager_now(manager),
		.in_force = is_told ? manager->distributor.done : (ns_t){ 0 },
		.switches_changed = result->switches_changed,
		.lanes = result->lanes,
		.rows_changed = result->rows_changed,
		.between = result->between,
		.pairs = result->pairs,
		.unreachable = result->unreachable,
		.engine = result->planner->engine,
		.max_over_avg = result->max_over_avg,
	};
	snprintf(number, sizeof(number), "%" PRIu64, view->plan.number);
	snprintf(text, sizeof(text), "%s, %u switches change, %s%s",
		 planner_engine_names[view->plan.engine], view->plan.switches_changed,
		 say_reach(&view->plan, reach),
		 view->plan.between ? "; with turns that go with those of before" : "");
	manager_journal(manager, JOURNAL_PLANNED, number, text);
}

// Tables of the result become those that switches are to run.
static void take_tables(struct manager_fabric *fabric, struct plan_result *result)
{
	const struct topo *topo = &fabric->source.graph.topo;

	for (uint32_t i = 0; i < result->switch_count; i++) {
		switch_tables_drop(&fabric->switches[i].tables);
		fabric->switches[i].tables = result->tables[i];
		result->tables[i] = (struct switch_tables){ 0 };
	}
	topo_state_copy(topo, &result->state, &fabric->state);
	fabric->has_refused = false;
}

static uint64_t *hashes_of(const struct switch_tables *tables, uint32_t count)
{
	uint64_t *hash = calloc(count + 1u, sizeof(*hash));

	for (uint32_t i = 0; hash != NULL && i < count; i++)
		hash[i] = switch_tables_hash(&tables[i]);
	return hash;
}

// Whether these are what switches are to have already: then there is nothing to give.
static bool is_in_use(const struct manager *manager, const uint64_t *hash)
{
	for (uint32_t i = 0; i < manager->distributor.switch_count; i++) {
		const struct generation *target = &manager->distributor.at[i].target;

		if (target->number == 0 || target->hash != hash[i])
			return false;
	}
	return manager->distributor.refused_by == UINT32_MAX;
}

// What there is to fall back to.
static void keep_good(struct manager *manager)
{
	struct manager_fabric *fabric = manager->fabric;

	manager->good = manager->view.plan;
	manager->good_planner = manager->view.planner;
	topo_state_copy(&fabric->source.graph.topo, &fabric->state, &fabric->good);
	turns_decide(&manager->turns, &fabric->source.graph.topo);
	for (uint32_t i = 0; i < fabric->source.fabric.switch_count; i++)
		switch_tables_copy(&fabric->switches[i].good, &fabric->switches[i].tables);
}

// 0, -EBUSY: not now, -E2BIG: not before all switches run the same, or -ENOMEM.
static int give(struct manager *manager, struct plan_result *result)
{
	struct distributor *d = &manager->distributor;
	const bool is_first = manager->view.planner == NULL;
	const bool is_new = result->serial != manager->fabric->serial;
	uint64_t *hash;
	int rc = 0;

	if (d->decided && d->waited != 0)
		return -EBUSY;
	hash = hashes_of(result->tables, result->switch_count);
	if (hash == NULL)
		return -ENOMEM;
	rc = turns_propose(is_new ? &manager->coming_turns : &manager->turns,
			   is_new ? &manager->coming->source.graph.topo :
				    &manager->fabric->source.graph.topo,
			   &result->turns);
	if (rc == 0 && is_new)
		rc = manager_switch_over(manager);
	if (rc == 0 && !is_new && is_in_use(manager, hash))
		result->switches_changed = 0;
	else if (rc == 0)
		rc = distribute_plan(d, hash, manager_now(manager));
	free(hash);
	if (rc < 0)
		return rc;
	take_tables(manager->fabric, result);
	manager->config_lanes = result->lanes;
	show_plan(manager, result);
	// Decided before this manager began, and found again.
	if (is_first && d->decided)
		keep_good(manager);
	if (is_first)
		manager->turns.partly = d->good;
	manager->asked = (ns_t){ 0 };
	return 0;
}

// Turns of the intent that comes, by the numbers of that in force.
static int propose_back(struct manager *manager, const struct turn_rules *rules)
{
	struct turns_in_force *turns = &manager->turns;
	int rc;

	if (turns->count == TURNS_MAX)
		return -E2BIG;
	arena_release(&turns->keep[turns->count], 0);
	rc = manager_map_rules(manager->fabric, manager->coming, rules, &turns->keep[turns->count],
			       &turns->rules[turns->count]);
	turns->has_proposed = rc == 0;
	return rc;
}

// The tables of a new intent to one switch; all others keep what they are to have. The plan that
// was made of it is made again when it is confirmed.
static int give_canary(struct manager *manager, struct plan_result *result)
{
	struct distributor *d = &manager->distributor;
	const uint32_t at = manager_find(manager, manager->canary_wish);
	const uint32_t from = fabric_find_switch(&manager->coming->source.fabric,
						 manager->canary_wish);
	uint64_t *hash;
	int rc;

	if (d->decided && d->waited != 0)
		return -EBUSY;
	if (result->between) {
		manager_journal(manager, JOURNAL_NOT_PLANNED, "",
				"turns of the new intent do not go with those of the old on one "
				"switch alone");
		manager_forget_coming(manager);
		return 0;
	}
	rc = propose_back(manager, &result->turns);
	if (rc < 0)
		return rc;
	hash = calloc(d->switch_count + 1u, sizeof(*hash));
	if (hash == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->switch_count; i++)
		hash[i] = d->at[i].target.hash;
	hash[at] = switch_tables_hash(&result->tables[from]);
	rc = distribute_plan(d, hash, manager_now(manager));
	free(hash);
	if (rc < 0)
		return rc;
	switch_tables_copy(&manager->fabric->switches[at].tables, &result->tables[from]);
	memcpy(manager->canary, manager->canary_wish, sizeof(manager->canary));
	manager->view.plan.number = d->number;
	manager->view.plan.in_force = (ns_t){ 0 };
	manager->view.plan.switches_changed = 1;
	manager_journal(manager, JOURNAL_HELD, manager->canary, "a new intent is on this switch");
	return 0;
}

static void give_up(struct manager *manager, const struct plan_result *result)
{
	manager_journal(manager, JOURNAL_NOT_PLANNED, "", result->why);
	if (result->serial != manager->fabric->serial) {
		manager_forget_coming(manager);
		return;
	}
	snprintf(manager->fault, sizeof(manager->fault), "%s", result->why);
	topo_state_copy(&manager->fabric->source.graph.topo, &result->state,
			&manager->fabric->refused);
	manager->fabric->has_refused = true;
	manager_show_hold(manager);
}

// An intent that was replaced or taken back while it was planned.
static bool is_stale(const struct manager *manager, const struct plan_result *result)
{
	return result->serial != manager->fabric->serial &&
	       (manager->coming == NULL || result->serial != manager->coming->serial);
}

// What cannot be given out now would fail again as fast as it is planned.
static void try_later(struct manager *manager)
{
	const struct timeval later = { .tv_sec = RETRY_S };

	event_add(manager->plan_event, &later);
}

static void take(struct manager *manager, struct plan_result *result)
{
	int rc;

	plan_result_free(manager->pending);
	manager->pending = NULL;
	if (is_stale(manager, result)) {
		plan_result_free(result);
		return;
	}
	if (!result->good) {
		give_up(manager, result);
		plan_result_free(result);
		return;
	}
	rc = manager->canary_wish[0] != '\0' && result->serial != manager->fabric->serial ?
		     give_canary(manager, result) :
		     give(manager, result);
	if (rc == -EBUSY) {
		manager->pending = result;
		return;
	}
	if (rc == -E2BIG)
		snprintf(manager->fault, sizeof(manager->fault),
			 "turns of too many plans may be in force: it waits until all switches "
			 "run the same");
	else if (rc < 0)
		log_err("a plan cannot be given out: %s", strerror(-rc));
	else
		manager->fault[0] = '\0';
	if (rc < 0)
		try_later(manager);
	plan_result_free(result);
	manager_show_hold(manager);
}

void manager_on_result(void *arg)
{
	struct manager *manager = arg;
	struct plan_result *result = plan_thread_take(manager->thread);

	if (result == NULL)
		return;
	take(manager, result);
	manager_progress(manager);
	if (!event_pending(manager->plan_event, EV_TIMEOUT, NULL))
		manager_try_plan(manager);
}

// --- deciding -----------------------------------------------------------------------------------

static int store_lost(struct manager *manager)
{
	const struct source *source = &manager->fabric->source;
	const struct topo *topo = &source->graph.topo;
	const struct topo_state *state = &manager->fabric->state;
	int rc = store_clear(manager->store, STORE_LOST);

	for (uint32_t i = 0; rc == 0 && i < topo->switch_count; i++) {
		const struct store_row row = { .name = source->fabric.switches[i].name };

		if (state->switch_lost[i] != 0)
			rc = store_add(manager->store, STORE_LOST, &row);
	}
	for (uint32_t i = 0; rc == 0 && i < topo->link_count; i++) {
		const struct label name = planner_link_name(&source->fabric, &source->graph, i);
		const struct store_row row = { .name = name.text };

		if (state->link_lost[i] != 0)
			rc = store_add(manager->store, STORE_LOST, &row);
	}
	return rc;
}

static int store_tables(struct store *store, const char *name, const struct switch_tables *tables)
{
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < SWITCH_TABLE_KINDS; k++) {
		const struct table_bytes *table = tables->table[k];

		if (table == NULL)
			continue;
		rc = store_add(store, STORE_KEPT,
			       &(struct store_row){ .name = name,
						    .number = k + 1,
						    .data = table->data,
						    .bytes = table->size });
	}
	return rc;
}

// Tables of those that keep what they had cannot be made of the plan again.
static int store_kept(struct manager *manager)
{
	const struct manager_fabric *fabric = manager->fabric;
	int rc = store_clear(manager->store, STORE_KEPT);

	for (uint32_t i = 0; rc == 0 && i < fabric->source.fabric.switch_count; i++) {
		if (fabric->state.switch_lost[i] != 0 || is_canary(manager, i) ||
		    manager->view.plan.between)
			rc = store_tables(manager->store, fabric->source.fabric.switches[i].name,
					  &fabric->switches[i].tables);
	}
	return rc;
}

static int store_hashes(struct manager *manager)
{
	const struct manager_fabric *fabric = manager->fabric;
	int rc = manager->is_fresh_intent ? store_clear(manager->store, STORE_HASHES) : 0;

	for (uint32_t i = 0; rc == 0 && i < fabric->source.fabric.switch_count; i++) {
		const struct store_row row = { .name = fabric->source.fabric.switches[i].name,
					       .number = fabric->at[i].target.hash };

		if (manager->is_fresh_intent || row.number != fabric->stored[i])
			rc = store_add(manager->store, STORE_HASHES, &row);
	}
	return rc;
}

static int store_decision(struct manager *manager)
{
	store_begin(manager->store);
	store_set_number(manager->store, STORE_GENERATION, manager->distributor.number);
	store_set_number(manager->store, STORE_BETWEEN, manager->view.plan.between);
	store_hashes(manager);
	store_lost(manager);
	store_kept(manager);
	return store_commit(manager->store);
}

// On disk before a switch hears of it. What cannot be stored is tried again, but not with every
// call of a switch.
static void decide(struct manager *manager)
{
	struct manager_fabric *fabric = manager->fabric;
	const ns_t now = manager_now(manager);
	int rc;

	if (ns_before(now, manager->store_due))
		return;
	rc = store_decision(manager);
	if (rc < 0) {
		if (manager->store_due.v == 0)
			manager_journal(manager, JOURNAL_STORE_FAILED, "", strerror(-rc));
		manager->store_due = ns_add(now, RETRY_S * 1000000000ull);
		return;
	}
	manager->store_due = (ns_t){ 0 };
	manager->is_fresh_intent = false;
	manager->between = manager->view.plan.between;
	keep_good(manager);
	for (uint32_t i = 0; i < fabric->source.fabric.switch_count; i++)
		fabric->stored[i] = fabric->at[i].target.hash;
	distribute_decided(&manager->distributor, now);
}

// --- the end of it ------------------------------------------------------------------------------

static void say_in_force(struct manager *manager)
{
	struct manager_plan *plan = &manager->view.plan;
	char number[32];
	char text[JOURNAL_DETAIL_BYTES] = "as it was before";

	plan->in_force = manager->distributor.done;
	snprintf(number, sizeof(number), "%" PRIu64, plan->number);
	if (!ns_before(plan->in_force, plan->planned))
		snprintf(text, sizeof(text), "%" PRIu64 " ms after it was asked for",
			 ns_since(plan->in_force, plan->asked) / 1000000);
	manager_journal(manager, JOURNAL_IN_FORCE, number, text);
}

// Its state is not planned for again, and what was decided last is what there is.
static void forget_plan(struct manager *manager)
{
	struct manager_fabric *fabric = manager->fabric;
	const struct topo *topo = &fabric->source.graph.topo;

	topo_state_copy(topo, &fabric->state, &fabric->refused);
	fabric->has_refused = true;
	if (manager->good_planner != NULL) {
		manager->view.planner = manager->good_planner;
		manager->view.plan = manager->good;
		topo_state_copy(topo, &fabric->good, &fabric->state);
	}
	manager->view.plan.number = manager->distributor.number;
	manager->view.plan.planned = manager_now(manager);
	manager->view.plan.in_force = (ns_t){ 0 };
	for (uint32_t i = 0; i < topo->switch_count; i++)
		switch_tables_copy(&fabric->switches[i].tables, &fabric->switches[i].good);
	manager->config_lanes = 0;
	manager->turns.has_proposed = false;
}

// A switch said that its tables are wrong: everybody goes back.
static void fall_back(struct manager *manager)
{
	const uint32_t by = manager->distributor.refused_by;
	char why[PLAN_WHY_BYTES];
	char number[32];

	snprintf(why, sizeof(why), "%s says that its tables are wrong: %s",
		 manager->fabric->source.fabric.switches[by].name,
		 strerror(manager->distributor.refused_error));
	snprintf(number, sizeof(number), "%" PRIu64, manager->view.plan.number);
	manager_journal(manager, JOURNAL_NOT_IN_FORCE, number, why);
	forget_plan(manager);
	if (is_canary(manager, by)) {
		// Only the new intent is wrong.
		manager->fabric->has_refused = false;
		manager_forget_coming(manager);
	} else {
		memcpy(manager->fault, why, sizeof(why));
	}
	manager_show_hold(manager);
}

static void look_at_end(struct manager *manager)
{
	const struct distributor *d = &manager->distributor;

	if (manager->view.plan.number == 0)
		return;
	if (d->refused_by != UINT32_MAX && manager->refused_number != d->number) {
		manager->refused_number = d->number;
		fall_back(manager);
	}
	if (d->decided && d->done.v != 0 && manager->told_number != manager->view.plan.number) {
		manager->told_number = manager->view.plan.number;
		say_in_force(manager);
	}
}

void manager_look_everywhere(struct manager *manager)
{
	const struct distributor *d = &manager->distributor;
	const ns_t now = manager_now(manager);

	if (manager->turns.count < 2 && !manager->turns.partly && !manager->between)
		return;
	if (!d->decided || !distribute_everywhere(d, manager->fabric->state.switch_lost)) {
		manager->everywhere = (ns_t){ 0 };
		return;
	}
	if (manager->everywhere.v == 0)
		manager->everywhere = now;
	if (ns_since(now, manager->everywhere) < DISTRIBUTE_DRAIN_MS * 1000000ull)
		return;
	turns_keep_last(&manager->turns);
	manager->is_stale |= manager->between;
	manager->between = false;
	// Also for a plan that could not be given.
	manager_replan(manager);
}

void manager_progress(struct manager *manager)
{
	struct plan_result *pending = manager->pending;

	if (distribute_wants_decision(&manager->distributor))
		decide(manager);
	look_at_end(manager);
	// While the thread works on the one after it, it may be changing this one.
	if (pending != NULL && !plan_thread_is_busy(manager->thread)) {
		manager->pending = NULL;
		take(manager, pending);
		if (distribute_wants_decision(&manager->distributor))
			decide(manager);
	}
	if (manager->news != NULL)
		manager->news(manager->news_arg);
}
