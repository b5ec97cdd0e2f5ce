// SPDX-License-Identifier: BSD-3-Clause
//
// A manager's start, end and clock. It starts from what was stored: the epoch is raised first, the
// intent in force is that of the store, decisions are those of the manager before, and the first
// plan is for what was lost then. What has changed since, in the intent's file too, comes after.

#include "fabricmgr/net/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabricmgr/net/manager_state.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { JOURNAL_STORE_MS = 1000, MS_NS = 1000000 };

// --- states, view, journal ----------------------------------------------------------------------

bool manager_state_make(const struct topo *topo, struct topo_state *state)
{
	state->link_lost = calloc(1, (size_t)topo->link_count + topo->switch_count + 1);
	if (state->link_lost == NULL)
		return false;
	state->switch_lost = state->link_lost + topo->link_count;
	return true;
}

bool manager_state_same(const struct topo *topo, const struct topo_state *a,
			const struct topo_state *b)
{
	return memcmp(a->link_lost, b->link_lost, topo->link_count) == 0 &&
	       memcmp(a->switch_lost, b->switch_lost, topo->switch_count) == 0;
}

const struct manager_view *manager_view(struct manager *manager)
{
	return &manager->view;
}

ns_t manager_now(const struct manager *manager)
{
	return manager->options.clock();
}

struct distributor *manager_distributor(struct manager *manager)
{
	return &manager->distributor;
}

uint32_t manager_find(const struct manager *manager, const char *name)
{
	return fabric_find_switch(&manager->fabric->source.fabric, name);
}

void manager_on_news(struct manager *manager, void (*news)(void *arg), void *arg)
{
	manager->news = news;
	manager->news_arg = arg;
}

static uint64_t wall_ms(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / MS_NS;
}

void manager_journal(struct manager *manager, enum journal_kind kind, const char *object,
		     const char *detail)
{
	char text[LOG_LINE_BYTES];

	journal_add(&manager->journal, kind, wall_ms(), object, detail);
	fault_render(text, sizeof(text), journal_kind_texts[kind], object, detail, 0, 0);
	switch (journal_kind_severity[kind]) {
	case JOURNAL_INFO: log_info("%s", text); return;
	case JOURNAL_WARNING: log_warn("%s", text); return;
	case JOURNAL_ERROR: log_err("%s", text); return;
	}
}

void manager_journal_of(struct manager *manager, uint32_t at, enum journal_kind kind,
			const char *object, const char *detail)
{
	if (journal_budget_take(&manager->fabric->switches[at].budget, manager_now(manager)))
		manager_journal(manager, kind, object, detail);
}

void manager_show_hold(struct manager *manager)
{
	struct manager_view *view = &manager->view;
	char *why = manager->hold_why;

	view->hold_why = why;
	why[0] = '\0';
	view->hold = MANAGER_HOLD_NONE;
	if (manager->frozen) {
		view->hold = MANAGER_HOLD_FROZEN;
		snprintf(why, sizeof(manager->hold_why), "an operator froze the fabric");
	} else if (manager->held) {
		view->hold = MANAGER_HOLD_MASS;
		snprintf(why, sizeof(manager->hold_why),
			 "so many links were lost at once that a mistake is likelier");
	} else if (manager->canary[0] != '\0') {
		view->hold = MANAGER_HOLD_CANARY;
		snprintf(why, sizeof(manager->hold_why), "a new intent is on %s", manager->canary);
	} else if (manager->fault[0] != '\0') {
		view->hold = MANAGER_HOLD_FAULT;
		snprintf(why, sizeof(manager->hold_why), "%s", manager->fault);
	}
}

void manager_hello(struct manager *manager, uint32_t at, const char *software)
{
	struct manager_switch *sw = &manager->fabric->switches[at];
	const struct distribute_switch *known = &manager->distributor.at[at];
	char text[JOURNAL_DETAIL_BYTES];

	snprintf(sw->software, sizeof(sw->software), "%s", software);
	if (sw->life != known->life) {
		snprintf(text, sizeof(text), "it runs generation %" PRIu64 " of epoch %" PRIu64,
			 known->running.number, known->running.epoch);
		manager_journal_of(manager, at, JOURNAL_SWITCH_JOINED,
				   manager->fabric->source.fabric.switches[at].name, text);
		sw->life = known->life;
		sw->since = manager_now(manager);
		manager_replan(manager);
	}
	manager_progress(manager);
}

const struct switch_tables *manager_tables(const struct manager *manager, uint32_t at,
					   const struct generation *generation)
{
	const struct manager_switch *sw = &manager->fabric->switches[at];

	if (sw->tables.table[0] != NULL && switch_tables_hash(&sw->tables) == generation->hash)
		return &sw->tables;
	if (sw->good.table[0] != NULL && switch_tables_hash(&sw->good) == generation->hash)
		return &sw->good;
	return NULL;
}

// --- time ---------------------------------------------------------------------------------------

static void store_events(struct manager *manager)
{
	const struct journal *journal = &manager->journal;
	const ns_t now = manager_now(manager);
	const struct journal_event *event;

	if (manager->journal_stored == journal->count || ns_before(now, manager->journal_due))
		return;
	manager->journal_due = ns_add(now, JOURNAL_STORE_MS * (uint64_t)MS_NS);
	store_begin(manager->store);
	for (uint64_t i = manager->journal_stored + 1; i <= journal->count; i++) {
		event = journal_at(journal, i);
		if (event != NULL)
			store_add_event(manager->store, event);
	}
	if (store_commit(manager->store) == 0)
		manager->journal_stored = journal->count;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct manager *manager = arg;
	ns_t next;

	distribute_tick(&manager->distributor, manager_now(manager), &next);
	manager_tick_links(manager);
	manager_look_everywhere(manager);
	manager_progress(manager);
	store_events(manager);
}

static void on_plan_event(evutil_socket_t fd, short what, void *arg)
{
	manager_try_plan(arg);
}

// --- starting -----------------------------------------------------------------------------------

static void restore_hash(void *arg, const struct store_row *row)
{
	struct manager *manager = arg;
	const uint32_t at = manager_find(manager, row->name);

	if (at != FABRIC_NONE)
		manager->fabric->stored[at] = row->number;
}

static void restore_lost(void *arg, const struct store_row *row)
{
	struct manager_fabric *fabric = ((struct manager *)arg)->fabric;
	char why[FIND_WHY_BYTES];
	uint32_t at, link;

	if (!manager_find_object(&fabric->source, row->name, &at, &link, why))
		return;
	if (link != TOPO_NONE) {
		fabric->state.link_lost[link] = 1;
		fabric->links[link].up = fabric->links[link].damping.up = false;
		return;
	}
	fabric->state.switch_lost[at] = 1;
	// Drained ones are told apart by restore_drained(), which comes after this.
	fabric->switches[at].dead = fabric->source.graph.state.switch_lost[at] == 0;
}

static void restore_drained(void *arg, const struct store_row *row)
{
	struct manager_fabric *fabric = ((struct manager *)arg)->fabric;
	char why[FIND_WHY_BYTES];
	uint32_t at, link;

	if (!manager_find_object(&fabric->source, row->name, &at, &link, why))
		return;
	if (link == TOPO_NONE) {
		fabric->switches[at].drained = true;
		fabric->switches[at].dead = false;
		return;
	}
	for (uint32_t end = 0; end < 2; end++) {
		fabric->links[link].drained = true;
		fabric->links[link].up = fabric->links[link].damping.up = true;
		link = fabric->source.graph.topo.link_peer[link];
	}
}

static void restore_kept(void *arg, const struct store_row *row)
{
	struct manager *manager = arg;
	const uint32_t at = manager_find(manager, row->name);
	struct table_bytes **table;

	if (at == FABRIC_NONE || row->number < 1 || row->number > SWITCH_TABLE_KINDS)
		return;
	table = &manager->fabric->switches[at].tables.table[row->number - 1];
	table_bytes_drop(*table);
	*table = table_bytes_new(row->data, row->bytes);
	// Stored while a new intent was on it.
	if (strcmp(row->name, manager->canary_wish) == 0)
		snprintf(manager->canary, sizeof(manager->canary), "%s", row->name);
}

// An intent that was accepted and is not in force yet, for all switches or for one first.
static int restore_proposed(struct manager *manager, FILE *errors)
{
	char *text, *canary = NULL;
	int rc = store_text(manager->store, STORE_INTENT_PROPOSED, &text);

	if (rc < 0 || text == NULL)
		return rc;
	rc = store_text(manager->store, STORE_CANARY, &canary);
	if (rc == 0)
		manager->coming = manager_fabric_restore(manager, text, errors);
	if (manager->coming != NULL && canary != NULL)
		snprintf(manager->canary_wish, sizeof(manager->canary_wish), "%s", canary);
	free(canary);
	free(text);
	return rc;
}

static int restore(struct manager *manager, FILE *errors)
{
	struct store *store = manager->store;
	uint64_t number = 0;
	uint64_t frozen = 0;
	uint64_t between = 0;
	int rc = restore_proposed(manager, errors);

	if (rc == 0)
		rc = store_each(store, STORE_HASHES, restore_hash, manager);
	if (rc == 0)
		rc = store_each(store, STORE_LOST, restore_lost, manager);
	if (rc == 0)
		rc = store_each(store, STORE_DRAINED, restore_drained, manager);
	if (rc == 0)
		rc = store_each(store, STORE_KEPT, restore_kept, manager);
	if (rc == 0)
		rc = store_number(store, STORE_FROZEN, &frozen);
	if (rc == 0)
		rc = store_number(store, STORE_BETWEEN, &between);
	if (rc == 0)
		rc = store_number(store, STORE_GENERATION, &number);
	if (rc == 0)
		rc = store_journal(store, &manager->journal);
	manager->frozen = frozen != 0;
	manager->between = between != 0;
	manager->journal_stored = manager->journal.count;
	if (rc == 0 && number != 0)
		distribute_restore(&manager->distributor, number, manager->fabric->stored);
	return rc;
}

// A new epoch is on disk before anybody hears of it.
static int raise_epoch(struct manager *manager, uint64_t *epoch)
{
	int rc = store_number(manager->store, STORE_EPOCH, epoch);

	if (rc < 0)
		return rc;
	++*epoch;
	store_begin(manager->store);
	store_set_number(manager->store, STORE_EPOCH, *epoch);
	return store_commit(manager->store);
}

// The first time it is that of the file.
static int store_first_intent(struct manager *manager)
{
	store_begin(manager->store);
	store_set_text(manager->store, STORE_INTENT_FILE, manager->fabric->text);
	store_set_text(manager->store, STORE_INTENT, manager->fabric->text);
	return store_commit(manager->store);
}

static int open_intent(struct manager *manager, FILE *errors)
{
	char *text;
	int rc = store_text(manager->store, STORE_INTENT, &text);

	if (rc < 0)
		return rc;
	if (text != NULL) {
		manager->fabric = manager_fabric_restore(manager, text, errors);
		free(text);
		return manager->fabric != NULL ? 0 : -EINVAL;
	}
	manager->fabric = manager_fabric_open(manager, manager->options.intent_path, errors);
	return manager->fabric != NULL ? store_first_intent(manager) : -EINVAL;
}

static int add_events(struct manager *manager)
{
	const struct timeval period = { .tv_usec = MANAGER_TICK_MS * 1000l };

	manager->plan_event = evtimer_new(manager->base, on_plan_event, manager);
	manager->tick = event_new(manager->base, -1, EV_PERSIST, on_tick, manager);
	manager->thread = plan_thread_open(manager->base, manager_on_result, manager);
	if (manager->plan_event == NULL || manager->tick == NULL || manager->thread == NULL)
		return -ENOMEM;
	return event_add(manager->tick, &period) == 0 ? 0 : -ENOMEM;
}

static int open_parts(struct manager *manager, FILE *errors)
{
	uint64_t epoch;
	char text[32];
	int rc;

	if (!turns_open(&manager->turns) || !turns_open(&manager->coming_turns)) {
		fputs("memory is short\n", errors);
		return -ENOMEM;
	}
	manager->store = store_open(manager->options.state_dir, errors);
	if (manager->store == NULL)
		return -EIO;
	rc = raise_epoch(manager, &epoch);
	if (rc == 0)
		rc = open_intent(manager, errors);
	if (rc < 0)
		return rc;
	manager_show_fabric(manager);
	distribute_init(&manager->distributor, epoch, manager->fabric->at,
			manager->fabric->source.fabric.switch_count);
	rc = restore(manager, errors);
	if (rc == 0)
		rc = add_events(manager);
	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "epoch %" PRIu64, epoch);
	manager_journal(manager, JOURNAL_MANAGER_STARTED, "", text);
	return 0;
}

struct manager *manager_open(struct event_base *base, const struct manager_options *options,
			     FILE *errors)
{
	struct manager *manager = calloc(1, sizeof(*manager));

	if (manager == NULL) {
		fputs("memory is short\n", errors);
		return NULL;
	}
	manager->base = base;
	manager->options = *options;
	manager->damping_due = NS_NEVER;
	manager->view.distributor = &manager->distributor;
	manager->view.journal = &manager->journal;
	manager->view.intent_path = options->intent_path;
	manager_show_hold(manager);
	if (open_parts(manager, errors) == 0) {
		manager_try_plan(manager);
		manager_reload(manager, errors);
		return manager;
	}
	manager_close(manager);
	return NULL;
}

void manager_close(struct manager *manager)
{
	if (manager == NULL)
		return;
	plan_thread_close(manager->thread);
	if (manager->store != NULL && manager->fabric != NULL) {
		manager->journal_due = (ns_t){ 0 };
		store_events(manager);
	}
	if (manager->tick != NULL)
		event_free(manager->tick);
	if (manager->plan_event != NULL)
		event_free(manager->plan_event);
	plan_result_free(manager->pending);
	while (manager->gone != NULL) {
		struct manager_fabric *fabric = manager->gone;

		manager->gone = fabric->next;
		manager_fabric_close(fabric);
	}
	manager_fabric_close(manager->coming);
	manager_fabric_close(manager->fabric);
	store_close(manager->store);
	turns_close(&manager->turns);
	turns_close(&manager->coming_turns);
	free(manager);
}
