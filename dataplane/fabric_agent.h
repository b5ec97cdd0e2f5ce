// SPDX-License-Identifier: BSD-3-Clause
//
// The conversation of a managed switch with its fabric manager: it dials out, says who it is, asks
// for what is new in a long poll, does it, and tells about its links meanwhile. What to follow
// decides the follower (dataplane/follower.h), what is kept the store; what it does to the switch
// are the calls of struct fabric_switch. On the event loop of the control thread.
//
// A manager that is away, wrong or hostile costs nothing but news: the switch goes on with what it
// has, and asks again with growing pauses.
#pragma once

#include <event2/event.h>

#include "dataplane/fabric_tables.h"
#include "sys/rpc_client.h"

struct rpc_report; // schema/fabric.rpc

// A switch as its agent sees it. Calls return before the switch goes on.
struct fabric_switch {
	// Whether it could use tables; nothing changes. 0, or -errno after lines.
	int (*check)(void *arg, const struct fabric_tables *tables, FILE *errors);
	// Uses tables, which are the switch's when this returns 0: then nobody can use those
	// before. -errno after lines: nothing has changed.
	int (*use)(void *arg, struct fabric_tables *tables, FILE *errors);
	// What it uses; NULL: nothing.
	const struct fabric_tables *(*running)(void *arg);
	// Whether a port can send, by the numbers of the fabric in what it uses.
	bool (*usable)(void *arg, uint32_t port);
	// Adds to a report what else it has to tell. 0, or -errno: the report is not sent. Then it
	// hears that the manager has all of it, or asks for all again; or that what was told is to
	// be told anew.
	int (*report)(void *arg, struct rpc_report *report);
	void (*answered)(void *arg, bool again);
	void (*forget)(void *arg);
};

struct fabric_agent_options {
	const char *name;            // of the switch
	const char *address;         // of the manager, see sys/rpc_client.h
	const struct tls_files *tls; // NULL: none
	const char *state_dir;       // which has the directory of the switch
	const struct fabric_switch *sw;
	void *arg; // of its calls
};

struct fabric_agent;

// What people are told.
struct fabric_agent_status {
	const char *address;
	bool connected;
	uint64_t since_s; // of that
	uint64_t boot;
	struct follower_generation running;  // number 0: none
	struct follower_generation prepared; // likewise
	uint64_t epoch;
	uint32_t events_due;
	const char *error; // the last one, "": none
	uint64_t error_s;  // since then
};

// Begins to talk. NULL after a line in the log.
struct fabric_agent *fabric_agent_open(struct event_base *base,
				       const struct fabric_agent_options *options);

// Accepts NULL.
void fabric_agent_close(struct fabric_agent *agent);

// Ports may have changed: looks at them, and tells at once what is new. Accepts NULL.
void fabric_agent_look(struct fabric_agent *agent);

void fabric_agent_status(const struct fabric_agent *agent, struct fabric_agent_status *status);
