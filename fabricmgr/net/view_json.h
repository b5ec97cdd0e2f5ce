// SPDX-License-Identifier: BSD-3-Clause
//
// A live fabric as JSON: what the socket of the fabric manager answers with. Pure functions of a
// view and the time: names in place of numbers, keys and their order fixed, lists in the order of
// the fabric, times in nanoseconds, counts exact.
//
// Each returns a new reference, NULL: memory is short, or where there is a `why` what was asked for
// is not there, and `why` is a sentence ("": memory).
#pragma once

#include <jansson.h>

#include "fabricmgr/find.h"
#include "fabricmgr/net/manager.h"

enum {
	VIEW_ROWS_MAX = 20000, // of routes in one answer
	VIEW_PATHS_MAX = 1000,
	VIEW_EVENTS_MAX = JOURNAL_MAX,
	VIEW_NEWEST = 50, // events, when nobody says how many
	VIEW_LOADED = 10, // links of the balance
};

// To compute in.
struct view_memory {
	struct arena keep;
	struct arena scratch; // empty between calls
};

// All at a glance (view_status.c). `wall_ms` is the time of day, since 1970.
json_t *view_status_json(const struct manager_view *view, ns_t now, uint64_t wall_ms);
// What is wrong, what explains other trouble first, and what to do about it: {"errors": [{severity,
// object, what, advice}]}.
json_t *view_errors_json(const struct manager_view *view);

// Switches, cables and hosts (view_things.c).
json_t *view_topology_json(const struct manager_view *view, ns_t now);
json_t *view_links_json(const struct manager_view *view);
json_t *view_hosts_json(const struct manager_view *view);

// Of the plan in force (view_routes.c). A name that is NULL is any; of routes one has to be given.
// Memory is left as it was.
json_t *view_routes_json(const struct manager_view *view, const char *at, const char *to,
			 char why[FIND_WHY_BYTES]);
json_t *view_balance_json(const struct manager_view *view, struct view_memory *memory,
			  char why[FIND_WHY_BYTES]);
json_t *view_trace_json(const struct manager_view *view, const char *from, const char *to,
			struct view_memory *memory, char why[FIND_WHY_BYTES]);

// Events behind number `since`, the newest `most` of them, oldest first (view_events.c).
json_t *view_events_json(const struct journal *journal, uint64_t since, uint64_t most);
json_t *view_event_json(const struct journal_event *event);
