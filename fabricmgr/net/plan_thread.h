// SPDX-License-Identifier: BSD-3-Clause
//
// The thread that plans: one order at a time, everything it works on is its own or does not change
// meanwhile. It has two plans: the one that is in use, which others read, and another one, which it
// changes into the next. A plan is a function of topology, state and options, so
// it does not matter which one the next is made of; one that was changed often is made anew.
#pragma once

#include <event2/event.h>

#include "fabricmgr/core/planner.h"
#include "fabricmgr/net/switch_tables.h"
#include "fabricmgr/net/turns_in_force.h"
#include "routing/balance.h"
#include "routing/verify.h"

enum { PLAN_WHY_BYTES = 512, PLAN_REPLANS_MAX = 64 };

struct plan_thread;

struct plan_order {
	const struct source *source;  // does not change and lives until no plan of it is used
	uint64_t serial;              // of the source
	const struct planner *in_use; // of a result, not to be touched; NULL: none
	struct topo_state state;      // to plan for; copied
	// Copied: what each switch has or is to have, [switch_count] of it, and who keeps it
	// whatever the plan says.
	const struct switch_tables *base;
	const uint8_t *keeps;
	const struct turns_in_force *turns; // of this topology; copied
	uint32_t config_lanes;              // that configurations of `base` are for; 0: make them
};

struct plan_result {
	uint64_t serial;
	bool good;
	char why[PLAN_WHY_BYTES]; // it is not
	// Of a good one. The planner lives until an order says that another one is in use.
	const struct planner *planner;
	// Rules of turns of the tables: those of the plan, or with `between` those that it has in
	// common with all that may be in force. They live as long as the planner.
	struct turn_rules turns;
	bool between;
	struct topo_state state; // as ordered
	struct switch_tables *tables;
	uint32_t switch_count;
	uint32_t switches_changed; // from `base`
	uint64_t rows_changed;     // from the plan in use; 0: that is of another fabric
	uint64_t pairs;
	uint64_t unreachable;
	uint32_t lanes;
	double max_over_avg; // load of links, of the worst tier; 0: not known
};

// `done` is called on the loop when a result can be taken. NULL: memory or threads are short.
struct plan_thread *plan_thread_open(struct event_base *base, void (*done)(void *arg), void *arg);

// Waits for the order that is being worked on. Accepts NULL.
void plan_thread_close(struct plan_thread *thread);

// 0, -EBUSY: an order is being worked on or its result not taken, or -ENOMEM.
int plan_thread_order(struct plan_thread *thread, const struct plan_order *order);

bool plan_thread_is_busy(const struct plan_thread *thread);

// The result, to be freed; NULL: there is none.
struct plan_result *plan_thread_take(struct plan_thread *thread);
void plan_result_free(struct plan_result *result); // accepts NULL
