// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric that lives: what the intent says, what switches report, the plan for it and how far it
// has got. All is on one event loop but planning, which a thread does on copies (plan_thread.h).
//
//	report ──▶ links as they are ──▶ damped, drained, ignored ──▶ state to plan for
//	  ──▶ worker: replan, verify, tables of each switch ──▶ distribute (core/distribute.h)
//
// Stored before it is acted on: the epoch, the plan's number and decision, what operators asked
// for (drained, frozen, the intent in force and the one before; store.h). After a restart the same
// plan is made of it, so no table changes.
//
// Those who only look (northbound, metrics) read the structs below, on the loop.
#pragma once

#include <event2/event.h>

#include "fabricmgr/core/damping.h"
#include "fabricmgr/core/distribute.h"
#include "fabricmgr/core/journal.h"
#include "fabricmgr/core/planner.h"
#include "fabricmgr/net/switch_tables.h"
#include "fabricmgr/source.h"
#include "schema/config_limits.h"

// A cable is planned with when both directions are up, neither is damped, drained or ignored and
// both switches are. A link of which nothing was said since the start is as it was stored, at first
// up. A switch that does not call stays in the plan with what it last said, and is lost when those
// of its neighbours that call say so of all links to it (core/deaths.h). One that is lost or
// drained keeps its tables: packets that are on their way through it arrive.

struct manager;

// A link, which is one direction of a cable, as its transmitting switch last said.
struct manager_link {
	bool known;      // said since the manager started
	bool up;         // likewise; as it was stored until then
	bool drained;    // an operator took it out; both directions are
	ns_t lost;       // when it was said to be down last; 0: never
	uint32_t losses; // that the manager was told of since it started
	struct damping damping;
};

// A bit of each port. Events are told once: a later intent may have a cable there.
struct manager_ports {
	uint64_t said[CONFIG_PORT_MAX / 64];
	uint64_t up[CONFIG_PORT_MAX / 64];
};

struct manager_switch {
	char software[64];
	uint64_t boot;              // of its events
	uint64_t event_sequence;    // of the last one that was taken
	struct manager_ports ports; // what it says of them, with a cable in this intent or without
	enum distribute_life life;  // as distribute_switch.life was when somebody last looked
	ns_t since;                 // of its life
	struct journal_budget budget; // of events that it causes
	bool drained;                 // an operator took it out
	bool dead;                    // planned without: all of its neighbours have lost it
	struct switch_tables tables;  // that it is to run
	struct switch_tables good;    // that were last decided: what it falls back to
};

// What a plan was found to be.
struct manager_plan {
	uint64_t number; // 0: none yet
	bool between;    // its turns are those that all have; it is given again when it is in force
	ns_t asked;      // when the first event that it is for came
	ns_t planned;    // when it was planned and verified
	ns_t in_force;   // on all switches that were there; 0: not yet
	uint32_t switches_changed;
	uint32_t lanes;
	uint64_t rows_changed;
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
	uint64_t serial;               // of the intent; two never have the same, as sources may
	const struct planner *planner; // of the plan in force; NULL: none yet
	const struct distributor *distributor;
	const struct manager_link *links;      // [topo.link_count]
	const struct manager_switch *switches; // [switch_count]
	const struct topo_state *state;        // that the last plan is for
	const char *intent_path;
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
ns_t manager_now(const struct manager *manager);

// `news` is called when switches may have something to fetch: net/fabric_rpc.c answers calls that
// wait. One listener.
void manager_on_news(struct manager *manager, void (*news)(void *arg), void *arg);

// Writes an event into the journal; it is stored within a second.
void manager_journal(struct manager *manager, enum journal_kind kind, const char *object,
		     const char *detail);

// --- what switches say (net/fabric_rpc.c) -------------------------------------------------------

struct distributor *manager_distributor(struct manager *manager);
// The number of a switch, FABRIC_NONE: the fabric has none of this name.
uint32_t manager_find(const struct manager *manager, const char *name);
// Likewise, of what switch `at` causes: no more than its budget is written.
void manager_journal_of(struct manager *manager, uint32_t at, enum journal_kind kind,
			const char *object, const char *detail);
// After distribute_hello().
void manager_hello(struct manager *manager, uint32_t at, const char *software);
// The tables of a generation that distribute_next() told switch `at` to prepare; NULL: there are
// none any more, ask again.
const struct switch_tables *manager_tables(const struct manager *manager, uint32_t at,
					   const struct generation *generation);
// A link event; events come in the order of (boot, sequence), repeated ones are passed over.
void manager_link_event(struct manager *manager, uint32_t at, uint64_t boot, uint64_t sequence,
			uint16_t port, bool up);
// After any call of the distributor: it may have news.
void manager_progress(struct manager *manager);

// --- what operators ask (net/northbound.c) ------------------------------------------------------
//
// 0, or -errno with a sentence in `why`: -ENOENT no such object, -EBUSY something waits to be
// confirmed, -EINVAL the intent is wrong (lines).

enum { MANAGER_WHY_BYTES = 4096 };

// "leaf1" or "leaf1:Ethernet4": packets go other ways, then the operator may take it away. What
// would part hosts is refused with -EPERM, unless it is forced.
int manager_drain(struct manager *manager, const char *object, bool drained, bool forced,
		  char *why);
int manager_freeze(struct manager *manager, bool frozen, char *why);
// A new intent. With `canary`, a switch, it goes to that one first and waits for
// manager_confirm(); "" is everywhere. What would change is in manager_diff().
int manager_apply(struct manager *manager, const char *path, const char *canary, char *why);
// The file of the command line, if it says something else than when it was last read. What is wrong
// is on `errors`, and changes nothing.
int manager_reload(struct manager *manager, FILE *errors);
int manager_confirm(struct manager *manager, char *why);
int manager_rollback(struct manager *manager, char *why);
// What a new intent would change, a line for each object, to `out`.
int manager_diff(struct manager *manager, const char *path, FILE *out, char *why);
