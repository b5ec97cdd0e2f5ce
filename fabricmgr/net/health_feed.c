// SPDX-License-Identifier: BSD-3-Clause
//
// Glue between the manager and health: everything that is called looks first whether the intent is
// still the one that the numbers are for, since its memory may be gone.

#include "fabricmgr/net/health_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fabric.gen.h"
#include "fabricmgr/core/health.h"
#include "fabricmgr/memory.h"
#include "fabricmgr/net/health_errors.h"
#include "fabricmgr/net/health_json.h"
#include "fabricmgr/net/metrics.h"
#include "sys/counters_packed.h"
#include "sys/http_reply.h"
#include "sys/log.h"

enum { HISTORY_BYTES = 256 << 20 };

// Of the run of a switch that reports.
struct feed_switch {
	uint64_t boot;
	uint64_t sequence; // of its last event
	bool whole;        // it has told all of its counters
};

struct health_feed {
	struct manager *manager;
	struct event *second;
	uint64_t serial; // of the intent that the rest is for; 0: none
	struct arena keep;
	struct arena scratch; // empty between calls
	struct health *health;
	struct feed_switch *switches;
	uint64_t changes; // of alarms that are in the journal
	struct metrics_plans plans;
	struct alarm_limits limits[ALARM_COUNT];
	bool failed; // memory is short, said once
};

// --- the fabric that it is for ------------------------------------------------------------------

static int begin(struct health_feed *feed, const struct manager_view *view)
{
	const struct fabric *fabric = &view->source->fabric;

	feed->serial = view->serial;
	feed->changes = 0;
	feed->health = NULL;
	memory_close(&feed->keep);
	if (!memory_open(&feed->keep))
		return -ENOMEM;
	feed->switches = arena_take(&feed->keep, fabric->switch_count, sizeof(*feed->switches));
	feed->health = arena_take(&feed->keep, 1, sizeof(*feed->health));
	if (feed->switches == NULL || feed->health == NULL)
		return -ENOMEM;
	if (health_init(feed->health, fabric, HISTORY_BYTES, manager_now(feed->manager),
			&feed->keep) != 0)
		return -ENOMEM;
	memcpy(feed->health->limits, feed->limits, sizeof(feed->limits));
	return 0;
}

// The health of the fabric as it is led now; NULL: memory is short.
static struct health *current(struct health_feed *feed)
{
	const struct manager_view *view = manager_view(feed->manager);

	if (view->serial == feed->serial)
		return feed->failed ? NULL : feed->health;
	feed->failed = begin(feed, view) != 0;
	if (!feed->failed)
		return feed->health;
	log_err("%s: no memory for its counters: they are not kept", view->source->fabric.name);
	return NULL;
}

// --- what switches report -----------------------------------------------------------------------

// False: the switch is to tell all again.
static bool take_counters(struct health_feed *feed, struct health *health, uint32_t at,
			  const struct rpc_bytes *bytes)
{
	struct health_switch *sw = &health->switches[at];
	struct feed_switch *own = &feed->switches[at];
	const uint32_t ports = health->fabric->switches[at].port_count;
	const bool anew = counters_is_anew(bytes->data, bytes->size);
	int flags;

	if (!anew && !own->whole)
		return sw->unreadable;
	flags = counters_decode(bytes->data, bytes->size, sw->values, ports);
	if (flags < 0) {
		own->whole = false;
		sw->unreadable = true;
		return true; // again would be no better; the next hello begins anew
	}
	own->whole = true;
	if (anew)
		health_forget_neighbors(health, at);
	if (!(flags & COUNTERS_MORE))
		health_report(health, at, manager_now(feed->manager));
	return true;
}

static void take_events(struct health_feed *feed, struct health *health, uint32_t at,
			const struct rpc_report *report)
{
	struct feed_switch *own = &feed->switches[at];

	if (own->boot != report->boot)
		*own = (struct feed_switch){ .boot = report->boot };
	for (uint32_t i = 0; i < report->events_count; i++) {
		const struct rpc_event *event = &report->events[i];

		// Those that were not acknowledged come again.
		if (event->sequence <= own->sequence)
			continue;
		own->sequence = event->sequence;
		if (event->kind == FABRIC_EVENT_LINK_UP || event->kind == FABRIC_EVENT_LINK_DOWN)
			health_link(health, at, event->port, event->kind == FABRIC_EVENT_LINK_UP,
				    manager_now(feed->manager));
	}
}

bool health_feed_report(void *arg, uint32_t at, const struct rpc_report *report)
{
	struct health_feed *feed = arg;
	struct health *health = current(feed);
	bool whole = true;

	if (health == NULL)
		return false;
	take_events(feed, health, at, report);
	if (report->has_counters)
		whole = take_counters(feed, health, at, &report->counters);
	for (uint32_t i = 0; i < report->neighbors_count && whole; i++) {
		const struct rpc_neighbor *row = &report->neighbors[i];

		health_neighbor(health, at, row->port, row->name, row->remote_port, row->chassis);
	}
	return !whole;
}

// --- seconds ------------------------------------------------------------------------------------

static void note_change(struct health_feed *feed, const struct health *health,
			const struct health_change *change)
{
	const struct alarm_info *info = &alarm_infos[change->kind];
	const struct fabric *fabric = health->fabric;
	char object[JOURNAL_OBJECT_BYTES];
	char detail[JOURNAL_DETAIL_BYTES];
	char memory[FABRIC_NAME_BYTES];
	uint32_t at = change->object;

	if (info->object == HEALTH_PORT) {
		at = health_switch_of(health, change->object);
		snprintf(object, sizeof(object), "%.45s:%.45s", fabric->switches[at].name,
			 fabric_port_name(&fabric->switches[at],
					  (uint16_t)(change->object - health->first_port[at]),
					  memory));
	} else {
		snprintf(object, sizeof(object), "%s", fabric->switches[at].name);
	}
	snprintf(detail, sizeof(detail), "%s", info->name);
	if (info->unit[0] != '\0')
		snprintf(detail, sizeof(detail), "%s, %.1f %s", info->name, change->level,
			 info->unit);
	manager_journal_of(feed->manager, at,
			   change->on ? JOURNAL_ALARM_RAISED : JOURNAL_ALARM_CLEARED, object,
			   detail);
}

void health_feed_second(struct health_feed *feed)
{
	const struct manager_view *view = manager_view(feed->manager);
	struct health *health = current(feed);

	metrics_count_plan(&feed->plans, &view->plan);
	if (health == NULL)
		return;
	for (uint32_t i = 0; i < health->fabric->switch_count; i++)
		health_life(health, i, view->distributor->at[i].life == DISTRIBUTE_THERE);
	health_second(health, manager_now(feed->manager));
	// Beyond the last ones of a second the journal would be nothing but alarms.
	if (health->change_count - feed->changes > HEALTH_CHANGES_MAX)
		feed->changes = health->change_count - HEALTH_CHANGES_MAX;
	for (; feed->changes < health->change_count; feed->changes++)
		note_change(feed, health, &health->change[feed->changes % HEALTH_CHANGES_MAX]);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
	health_feed_second(arg);
}

// --- what is asked ------------------------------------------------------------------------------

// A query of a request that may be answered; false after it was answered otherwise.
static bool begin_reply(struct health_feed *feed, struct evhttp_request *request,
			struct evkeyvalq *query)
{
	if (!accept_method(request, EVHTTP_REQ_GET))
		return false;
	if (current(feed) == NULL) {
		reply_error(request, HTTP_SERVUNAVAIL, "no memory for counters");
		return false;
	}
	return parse_query(request, query);
}

static void end_reply(struct evhttp_request *request, struct evkeyvalq *query, json_t *answer,
		      const char *why)
{
	if (answer != NULL || why[0] == '\0')
		reply_ok(request, answer);
	else
		reply_error(request, HTTP_BADREQUEST, why);
	evhttp_clear_headers(query);
}

static void on_counters(struct evhttp_request *request, void *arg)
{
	struct health_feed *feed = arg;
	char why[FIND_WHY_BYTES] = "";
	struct evkeyvalq query;

	if (begin_reply(feed, request, &query))
		end_reply(request, &query,
			  health_counters_json(feed->health, evhttp_find_header(&query, "switch"),
					       evhttp_find_header(&query, "port"),
					       manager_now(feed->manager), why),
			  why);
}

static void on_health(struct evhttp_request *request, void *arg)
{
	struct health_feed *feed = arg;
	struct evkeyvalq query;

	if (begin_reply(feed, request, &query))
		end_reply(request, &query,
			  health_errors_json(feed->health, manager_now(feed->manager),
					     &feed->scratch),
			  "");
}

static void on_alarms(struct evhttp_request *request, void *arg)
{
	struct health_feed *feed = arg;
	struct evkeyvalq query;

	if (begin_reply(feed, request, &query))
		end_reply(request, &query,
			  health_alarms_json(feed->health, manager_now(feed->manager)), "");
}

static void on_history(struct evhttp_request *request, void *arg)
{
	struct health_feed *feed = arg;
	char why[FIND_WHY_BYTES] = "";
	uint64_t seconds = HEALTH_HISTORY_SECONDS;
	const char *port, *row, *span;
	json_t *answer = NULL;
	struct evkeyvalq query;

	if (!begin_reply(feed, request, &query))
		return;
	port = evhttp_find_header(&query, "port");
	row = evhttp_find_header(&query, "row");
	span = evhttp_find_header(&query, "seconds");
	if (span != NULL && (!unit_parse(UNIT_COUNT, span, strlen(span), &seconds) ||
			     seconds > HEALTH_HISTORY_SECONDS))
		snprintf(why, sizeof(why), "seconds is a number up to %d", HEALTH_HISTORY_SECONDS);
	else
		answer = health_history_json(feed->health, port != NULL ? port : "",
					     row != NULL ? row : "", (uint32_t)seconds, why);
	end_reply(request, &query, answer, why);
}

static void on_metrics(struct evhttp_request *request, void *arg)
{
	struct health_feed *feed = arg;
	struct metrics_source source = { .only = FABRIC_NONE };
	char why[FIND_WHY_BYTES];
	struct evkeyvalq query;
	const char *only;
	bool found;

	if (!begin_reply(feed, request, &query))
		return;
	source.health = feed->health;
	source.view = manager_view(feed->manager);
	// The plan of this second, which may be the first, is told as well.
	metrics_count_plan(&feed->plans, &source.view->plan);
	source.plans = &feed->plans;
	only = evhttp_find_header(&query, "switch");
	found = only == NULL || find_switch(feed->health->fabric, only, &source.only, why);
	evhttp_clear_headers(&query);
	if (!found) {
		reply_error(request, HTTP_BADREQUEST, why);
		return;
	}
	if (metrics_write(&source, evhttp_request_get_output_buffer(request)) != 0) {
		evhttp_send_error(request, HTTP_INTERNAL, "out of memory");
		return;
	}
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
			  "text/plain; version=0.0.4; charset=utf-8");
	evhttp_send_reply(request, HTTP_OK, "OK", NULL);
}

static void add_errors(void *arg, json_t *errors)
{
	struct health_feed *feed = arg;
	const struct health *health = current(feed);

	if (health != NULL)
		health_errors_add(health, manager_now(feed->manager), &feed->scratch, errors);
}

void health_feed_serve(struct health_feed *feed, struct northbound *nb)
{
	northbound_on_errors(nb, add_errors, feed);
	northbound_handle(nb, "/metrics", on_metrics, feed);
	northbound_handle(nb, "/v1/fabric/counters", on_counters, feed);
	northbound_handle(nb, "/v1/fabric/health", on_health, feed);
	northbound_handle(nb, "/v1/fabric/alarms", on_alarms, feed);
	northbound_handle(nb, "/v1/fabric/history", on_history, feed);
}

// --- opening ------------------------------------------------------------------------------------

struct health_feed *health_feed_open(struct event_base *base, struct manager *manager,
				     const struct alarm_limits limits[ALARM_COUNT])
{
	static const struct timeval period = { .tv_sec = 1 };
	struct health_feed *feed = calloc(1, sizeof(*feed));

	if (feed == NULL)
		return NULL;
	feed->manager = manager;
	memcpy(feed->limits, limits, sizeof(feed->limits));
	if (!memory_open(&feed->scratch) || current(feed) == NULL) {
		health_feed_close(feed);
		return NULL;
	}
	feed->second = event_new(base, -1, EV_PERSIST, on_second, feed);
	if (feed->second == NULL || event_add(feed->second, &period) != 0) {
		log_err("no memory for the health of the fabric");
		health_feed_close(feed);
		return NULL;
	}
	return feed;
}

void health_feed_close(struct health_feed *feed)
{
	if (feed == NULL)
		return;
	if (feed->second != NULL)
		event_free(feed->second);
	memory_close(&feed->keep);
	memory_close(&feed->scratch);
	free(feed);
}
