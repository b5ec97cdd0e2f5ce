// SPDX-License-Identifier: BSD-3-Clause
//
// A waiting call is an entry of a list, with a timer; it knows its switch by name, since numbers
// change with the intent. An answer has the tables that the switch does not run already: routes as
// a delta when it runs what that changes.

#include "fabricmgr/net/fabric_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "fabric.gen.h"
#include "routing/packed.h"
#include "sys/log.h"

enum { ROUTES = FABRIC_TABLE_ROUTES - 1, CONFIG_VERSION = 1 };

struct waiting {
	struct waiting *next;
	struct fabric_fetches *fetches;
	struct rpc_call *call;
	struct event *timer;
	char name[FABRIC_NAME_BYTES];
};

struct fabric_fetches {
	struct event_base *base;
	struct manager *manager;
	struct waiting *first;
};

// --- answers ------------------------------------------------------------------------------------

static void say_generation(struct rpc_generation *out, const struct generation *generation)
{
	*out = (struct rpc_generation){ .epoch = generation->epoch,
					.has_epoch = true,
					.number = generation->number,
					.has_number = true,
					.hash = generation->hash,
					.has_hash = true };
}

static bool add_table(struct rpc_fetch_reply *reply, uint32_t kind, const struct table_bytes *table,
		      bool is_delta)
{
	struct rpc_table *out = rpc_fetch_reply_add_tables(reply);

	if (out == NULL)
		return false;
	out->has_kind = out->has_version = out->has_hash = true;
	out->kind = kind;
	out->version = kind == FABRIC_TABLE_ROUTES ? PACKED_VERSION : CONFIG_VERSION;
	out->hash = table->hash;
	out->has_base = is_delta;
	out->base = table->base;
	return rpc_table_set_data(out, table->data, table->size) == 0;
}

// What a switch runs, as far as it is known: tables of the last decided generation, or nothing.
static const struct switch_tables *known_tables(const struct manager_view *view, uint32_t at)
{
	static const struct switch_tables none;
	const struct distribute_switch *told = &view->distributor->at[at];
	const struct switch_tables *good = &view->switches[at].good;

	return !told->whole && told->running.number != 0 && good->table[ROUTES] != NULL &&
			       switch_tables_hash(good) == told->running.hash ?
		       good :
		       &none;
}

static bool add_tables(const struct manager_view *view, uint32_t at,
		       const struct switch_tables *tables, struct rpc_fetch_reply *reply)
{
	const struct switch_tables *known = known_tables(view, at);

	for (uint32_t k = 0; k < SWITCH_TABLE_KINDS; k++) {
		const struct table_bytes *table = tables->table[k];
		const struct table_bytes *runs = known->table[k];
		bool is_delta;

		if (table == NULL ||
		    (runs != NULL && runs->hash == table->hash && runs->size == table->size))
			continue;
		is_delta = k == ROUTES && runs != NULL && tables->delta != NULL &&
			   tables->delta->base == runs->hash;
		if (!add_table(reply, k + 1, is_delta ? tables->delta : table, is_delta))
			return false;
	}
	return true;
}

static void reply_nothing(const struct fabric_fetches *fetches, struct rpc_call *call)
{
	const struct rpc_fetch_reply reply = {
		.has_epoch = true,
		.epoch = manager_view(fetches->manager)->distributor->epoch,
		.has_step = true,
		.step = FABRIC_STEP_NONE,
	};

	rpc_reply(call, &reply);
}

// Whether there was something to answer.
static bool answer(const struct fabric_fetches *fetches, uint32_t at, struct rpc_call *call)
{
	const struct manager_view *view = manager_view(fetches->manager);
	struct rpc_fetch_reply reply = { .has_epoch = true,
					 .epoch = view->distributor->epoch,
					 .has_step = true,
					 .has_generation = true };
	const struct switch_tables *tables = NULL;
	struct generation generation;
	bool whole = true;

	reply.step = distribute_next(view->distributor, at, &generation);
	if (reply.step == FABRIC_STEP_PREPARE)
		tables = manager_tables(fetches->manager, at, &generation);
	if (reply.step == FABRIC_STEP_NONE || (reply.step == FABRIC_STEP_PREPARE && tables == NULL))
		return false;
	say_generation(&reply.generation, &generation);
	if (tables != NULL)
		whole = add_tables(view, at, tables, &reply);
	if (whole)
		rpc_reply(call, &reply);
	else
		rpc_refuse(call, 503, "memory is short");
	rpc_fetch_reply_clear(&reply);
	return true;
}

// --- waiting ------------------------------------------------------------------------------------

struct fabric_fetches *fabric_fetches_open(struct event_base *base, struct manager *manager)
{
	struct fabric_fetches *fetches = calloc(1, sizeof(*fetches));

	if (fetches == NULL)
		return NULL;
	fetches->base = base;
	fetches->manager = manager;
	return fetches;
}

static void remove_waiting(struct waiting *waiting)
{
	struct waiting **at = &waiting->fetches->first;

	while (*at != waiting)
		at = &(*at)->next;
	*at = waiting->next;
	event_free(waiting->timer);
	free(waiting);
}

void fabric_fetches_close(struct fabric_fetches *fetches)
{
	if (fetches == NULL)
		return;
	while (fetches->first != NULL)
		remove_waiting(fetches->first);
	free(fetches);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	struct waiting *waiting = arg;

	reply_nothing(waiting->fetches, waiting->call);
	remove_waiting(waiting);
}

static struct waiting *find(struct fabric_fetches *fetches, const char *name)
{
	struct waiting *waiting = fetches->first;

	while (waiting != NULL && strcmp(waiting->name, name) != 0)
		waiting = waiting->next;
	return waiting;
}

static void wait_for_news(struct fabric_fetches *fetches, const char *name, struct rpc_call *call,
			  uint32_t wait_ms)
{
	const uint32_t ms = (uint32_t)u64_min(wait_ms, FABRIC_WAIT_MS_MAX);
	const struct timeval late = { .tv_sec = ms / 1000, .tv_usec = (long)(ms % 1000) * 1000 };
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	if (waiting != NULL)
		waiting->timer = evtimer_new(fetches->base, on_late, waiting);
	if (waiting == NULL || waiting->timer == NULL || evtimer_add(waiting->timer, &late) != 0) {
		rpc_refuse(call, 503, "memory is short");
		if (waiting != NULL && waiting->timer != NULL)
			event_free(waiting->timer);
		free(waiting);
		return;
	}
	waiting->fetches = fetches;
	waiting->call = call;
	snprintf(waiting->name, sizeof(waiting->name), "%s", name);
	waiting->next = fetches->first;
	fetches->first = waiting;
}

void fabric_fetches_add(struct fabric_fetches *fetches, uint32_t at, struct rpc_call *call,
			uint32_t wait_ms)
{
	const char *name = manager_view(fetches->manager)->source->fabric.switches[at].name;
	struct waiting *before = find(fetches, name);

	if (before != NULL) {
		reply_nothing(fetches, before->call);
		remove_waiting(before);
	}
	if (!answer(fetches, at, call))
		wait_for_news(fetches, name, call, wait_ms);
}

void fabric_fetches_forget(struct fabric_fetches *fetches, const struct rpc_call *call)
{
	struct waiting *waiting = fetches->first;

	while (waiting != NULL && waiting->call != call)
		waiting = waiting->next;
	if (waiting != NULL)
		remove_waiting(waiting);
}

void fabric_fetches_answer(struct fabric_fetches *fetches)
{
	struct waiting *next;

	for (struct waiting *waiting = fetches->first; waiting != NULL; waiting = next) {
		const uint32_t at = manager_find(fetches->manager, waiting->name);

		next = waiting->next;
		if (at == FABRIC_NONE)
			rpc_refuse(waiting->call, 403, "the fabric has no such switch any more");
		else if (!answer(fetches, at, waiting->call))
			continue;
		remove_waiting(waiting);
	}
}
