// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric that lives: what the intent says, what switches report, the plan for it and how far it
// has got. Everything happens on one event loop but planning, which a worker thread does on copies.
//
//	report ──▶ links as they are ──▶ damped, drained, ignored ──▶ state to plan for
//	  ──▶ worker: replan, verify, tables of each switch ──▶ distribute (core/distribute.h)
//
// Stored before it is acted on: the epoch, the plan's number and decision, what operators asked
// for (drained, frozen, the intent in force and the one before). See store.h.
//
// Those who only look (northbound, metrics) read the structs below, on the loop.
#pragma once

#include <event2/event.h>

#include "fabricmgr/core/damping.h"
#include "fabricmgr/core/distribute.h"
#include "fabricmgr/core/journal.h"
#include "fabricmgr/source.h"

struct manager;
struct store;

// A link, which is one direction of a cable, as its transmitting switch last said.
struct manager_link {
	bool known;   // said since the manager started
	bool up;      // likewise
	bool drained; // an operator took it out; both directions are
	struct damping damping;
};

struct manager_switch {
	char software[64];
	uint64_t event_sequence; // of its last event that was taken, of boot `boot`
	uint64_t boot;
	ns_t since; // of its life as distribute_switch.life says
	bool drained;
	const uint8_t *tables[2]; // packed form of each table that it is to run, by enum
	uint32_t table_bytes[2];  // fabric_table - 1
	uint64_t table_hash[2];
};

// What a plan was found to be.
struct manager_plan {
	uint64_t number; // 0: none yet
	ns_t asked;      // when the first event that it is for came
	ns_t planned;    // when it was planned and verified
	ns_t in_force;   // on all switches that were there; 0: not yet
	uint32_t switches_changed;
	uint32_t lanes;
	uint32_t rows_changed;
	uint64_t pairs;       // of host ports that are to reach each other
	uint64_t unreachable; // of them, because links or switches are lost
	enum planner_engine engine;
	double max_over_avg; // load, of the worst tier
};

// A mass change, or one in confirmed steps, waits for an operator.
enum manager_hold {
	MANAGER_HOLD_NONE,
	MANAGER_HOLD_MASS,   // so many links were lost at once that a mistake is likelier
	MANAGER_HOLD_FROZEN, // an operator froze the fabric
	MANAGER_HOLD_CANARY, // a new intent is on some switches, and waits to be confirmed
	MANAGER_HOLD_FAULT,  // no plan: the engine refuses, or the verifier does
};

struct manager_options {
	const char *intent_path;
	const char *state_dir; // of fabric.sqlite
	uint32_t damping_ms;   // half-life of a flap's penalty
	uint32_t mass_ppm;     // of the links: a loss of more at once is held; 0: never
	ns_t (*clock)(void);   // monotonic
};

// What is public of a manager. Arrays are by the numbers of the fabric.
struct manager_view {
	const struct source *source;
	const struct planner *planner; // of the plan in force; NULL: none yet
	const struct distributor *distributor;
	const struct manager_link *links;      // [topo.link_count]
	const struct manager_switch *switches; // [switch_count]
	const struct topo_state *state;        // that the last plan is for
	const struct journal *journal;
	struct manager_plan plan; // the last one
	enum manager_hold hold;
	const char *hold_why; // a sentence, "" for none
};

// Reads the intent and the store. NULL after lines on `errors`; nothing that was stored is lost.
struct manager *manager_open(struct event_base *base, const struct manager_options *options,
			     FILE *errors);
void manager_close(struct manager *manager); // accepts NULL

const struct manager_view *manager_view(struct manager *manager);

// Called when a switch may have something to fetch: net/fabric_rpc.c answers calls that wait.
void manager_on_news(struct manager *manager, void (*news)(void *arg, uint32_t at), void *arg);

// --- what switches say (net/fabric_rpc.c) -------------------------------------------------------

struct distributor *manager_distributor(struct manager *manager);
void manager_hello(struct manager *manager, uint32_t at, const char *software);
// A link event; events come in the order of (boot, sequence), repeated ones are passed over.
void manager_link_event(struct manager *manager, uint32_t at, uint64_t boot, uint64_t sequence,
			uint16_t port, bool up);
// After distribute_ack() or distribute_tick() said that others have something to do.
void manager_progress(struct manager *manager);

// --- what operators ask (net/northbound.c) ------------------------------------------------------
//
// 0, or -errno with a sentence in `why`: -ENOENT no such object, -EBUSY something waits to be
// confirmed, -EINVAL the intent is wrong (lines).

enum { MANAGER_WHY_BYTES = 4096 };

// "leaf1" or "leaf1:Ethernet4": packets go other ways, then the operator may take it away.
int manager_drain(struct manager *manager, const char *object, bool drained, char *why);
int manager_freeze(struct manager *manager, bool frozen, char *why);
// A new intent. With `canary`, a switch, it goes to that one first and waits for
// manager_confirm(); "" is everywhere. What would change is in manager_diff().
int manager_apply(struct manager *manager, const char *path, const char *canary, char *why);
int manager_confirm(struct manager *manager, char *why);
int manager_rollback(struct manager *manager, char *why);
// What a new intent would change, a line for each object, to `out`.
int manager_diff(struct manager *manager, const char *path, FILE *out, char *why);
