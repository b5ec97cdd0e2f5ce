// SPDX-License-Identifier: BSD-3-Clause
//
// Private to fabricmgr/net/northbound*.c: what looks (northbound.c), orders (northbound_order.c)
// and watchers (northbound_watch.c) share. All of it happens on the loop, one request after the
// other.
#pragma once

#include <sys/un.h>

#include "fabricmgr/net/northbound.h"
#include "fabricmgr/net/view_json.h"

enum {
	NORTHBOUND_LOOKS_MAX = 16,
	NORTHBOUND_ORDERS_MAX = 16,
	NORTHBOUND_SERVERS = 2, // the socket, and the port of those who only look
};

struct watchers;
struct look_row;
struct order_row;

// What evhttp gives back with a request.
struct northbound_look {
	struct northbound *nb;
	const struct look_row *row;
};

struct northbound_order {
	struct northbound *nb;
	const struct order_row *row;
};

struct northbound {
	struct manager *manager;
	ns_t (*clock)(void);
	const char *run_dir;
	struct evhttp *server[NORTHBOUND_SERVERS];
	struct sockaddr_un address; // sun_path empty: no socket of ours yet
	struct view_memory memory;
	struct watchers *watchers;
	void (*more_errors)(void *arg, json_t *errors); // NULL: there is nobody
	void *more_arg;
	struct northbound_look look[NORTHBOUND_LOOKS_MAX];
	struct northbound_order order[NORTHBOUND_ORDERS_MAX];
};

// Handlers of what operators ask, on the socket alone.
void northbound_order_handlers(struct northbound *nb);

// Server-sent events (WHATWG HTML, 9.2): of the journal by number, and of the status whenever the
// plan or what holds it has changed. NULL: memory is short.
struct watchers *northbound_watch_open(struct northbound *nb, struct event_base *base);
void northbound_watch_close(struct watchers *watchers); // accepts NULL; before evhttp_free()

// Reads a number of the query; *value stays without one. False: it is none.
bool northbound_number(const struct evkeyvalq *query, const char *key, uint64_t *value);
