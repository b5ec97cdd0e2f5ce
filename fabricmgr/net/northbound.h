// SPDX-License-Identifier: BSD-3-Clause
//
// How people and programs see and change a live fabric: HTTP with JSON on the unix socket
// fabric.socket, which its group may write to, as with a switch's. docs/fabric.md lists what can be
// asked. Errors are {"error": "..."}, with "errors": [...] where there are more lines.
//
// Nothing that is asked waits for a switch: what is ordered is planned and distributed afterwards,
// and /v1/fabric/watch tells how it goes.
#pragma once

#include <event2/event.h>
#include <event2/http.h>
#include <jansson.h>

#include "fabricmgr/net/manager.h"

struct northbound;

struct northbound_options {
	const char *run_dir; // of the socket
	uint16_t port;       // of 127.0.0.1, to look only: no method but GET; 0: none
	ns_t (*clock)(void); // the manager's
};

// NULL after a line of the log. The manager outlives it.
struct northbound *northbound_open(struct event_base *base, struct manager *manager,
				   const struct northbound_options *options);
void northbound_close(struct northbound *nb); // accepts NULL

// Appends to what GET /v1/fabric/errors tells: objects as view_errors_json() has them.
void northbound_on_errors(struct northbound *nb, void (*more)(void *arg, json_t *errors),
			  void *arg);

// Answers GET `path` with more than what is above: `handler` as with evhttp_set_cb().
void northbound_handle(struct northbound *nb, const char *path,
		       void (*handler)(struct evhttp_request *request, void *arg), void *arg);
