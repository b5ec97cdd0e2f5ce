// SPDX-License-Identifier: BSD-3-Clause
//
// What the parts of a manager share; private to manager*.c. By subject: manager.c starts and ends
// it, manager_links.c turns reports into a state to plan for, manager_plan.c has plans made and
// given out, manager_ask.c does what operators ask, manager_intent.c changes intents.
#pragma once

#include "fabricmgr/find.h"
#include "fabricmgr/net/manager.h"
#include "fabricmgr/net/plan_thread.h"
#include "fabricmgr/net/store.h"

enum { MANAGER_PATH_BYTES = 512, MANAGER_COALESCE_MS = 2, MANAGER_TICK_MS = 100 };

// An intent, and what is known of its switches and links. Arrays are by numbers of its fabric.
struct manager_fabric {
	struct manager_fabric *next; // of those that are gone
	uint64_t serial;             // of intents of this process
	char *text;                  // of its file, as stored
	struct source source;
	struct manager_link *links;
	struct manager_switch *switches;
	struct distribute_switch *at;
	uint64_t *stored;          // hash of each switch as the store has it
	struct topo_state state;   // that the plan in use is for
	struct topo_state wanted;  // that was found last
	struct topo_state good;    // that the last decided plan is for
	struct topo_state refused; // that there is no plan for
	bool has_refused;
};

struct manager {
	struct manager_view view;
	struct manager_options options;
	struct event_base *base;
	struct store *store;
	struct manager_fabric *fabric; // in force
	struct manager_fabric *coming; // an intent that is being planned or waits to be confirmed
	struct manager_fabric *gone;   // a list: the thread may still read one
	uint64_t serial;
	struct distributor distributor;
	struct plan_thread *thread;
	struct plan_result *pending;        // the distributor is not ready for it
	struct turns_in_force turns;        // by the numbers of the fabric in force
	struct turns_in_force coming_turns; // the same by those of the one that comes
	ns_t everywhere;                    // since when all run what was decided; 0: they do not
	struct manager_plan good; // that was last decided, and its planner; NULL: not any more
	const struct planner *good_planner;
	struct event *plan_event;
	struct event *tick;
	void (*news)(void *arg);
	void *news_arg;
	struct journal journal;
	uint64_t journal_stored; // number of the last event that is in the store
	ns_t journal_due;
	bool is_fresh_intent;    // the next decision stores everything
	uint64_t told_number;    // in force, and said so
	uint64_t refused_number; // of what was fallen back to
	ns_t asked;              // first event that nothing was planned for; 0: none
	ns_t damping_due;
	ns_t store_due; // when the decision that could not be stored is tried again; 0: it could
	bool frozen;
	bool held;      // a mass change
	bool confirmed; // it is not to be held
	bool is_stale;  // a plan is to be made though the state is that of the last
	bool between;   // what was decided is to be given again when nothing else is in force
	uint32_t config_lanes; // that configurations of switches are for; 0: some may not be
	char canary_wish[FABRIC_NAME_BYTES]; // the switch that the intent which comes is for first
	char canary[FABRIC_NAME_BYTES];      // that has got it; "": none
	char fault[PLAN_WHY_BYTES];          // why there is no plan, "": there is
	char hold_why[PLAN_WHY_BYTES];
};

// A state in one block of memory, to be freed by its link_lost; nothing is lost.
bool manager_state_make(const struct topo *topo, struct topo_state *state);
bool manager_state_same(const struct topo *topo, const struct topo_state *a,
			const struct topo_state *b);

// Sets view.hold by what is so.
void manager_show_hold(struct manager *manager);

// --- manager_links.c ----------------------------------------------------------------------------

// The switch or link of "leaf1" or "leaf1:Ethernet4"; *link is TOPO_NONE for a switch. False: there
// is none, and `why` says so.
bool manager_find_object(const struct source *source, const char *object, uint32_t *at,
			 uint32_t *link, char why[FIND_WHY_BYTES]);

// What is to be planned for, into fabric->wanted.
void manager_find_wanted(struct manager *manager, struct manager_fabric *fabric);

// Whether so many links would be lost at once that an operator has to confirm it.
bool manager_is_mass_loss(struct manager *manager);

// Time passes: links become calm, switches silent.
void manager_tick_links(struct manager *manager);

// --- manager_plan.c -----------------------------------------------------------------------------

// What is wanted may have changed: a plan is made soon.
void manager_replan(struct manager *manager);
void manager_try_plan(struct manager *manager);
// Looks whether anything else than what was decided last may be in force.
void manager_look_everywhere(struct manager *manager);
void manager_on_result(void *arg);

// --- manager_intent.c ---------------------------------------------------------------------------

// Reads an intent, "FILE" or "FORM:FILE". NULL after lines on `errors`.
struct manager_fabric *manager_fabric_open(struct manager *manager, const char *name, FILE *errors);
// One that was stored.
struct manager_fabric *manager_fabric_restore(struct manager *manager, const char *text,
					      FILE *errors);
void manager_fabric_close(struct manager_fabric *fabric); // accepts NULL

// The text of an intent's file as it is stored, to be freed; NULL after a line.
char *manager_intent_read(const char *name, FILE *errors);

// Puts the fabric in force into the view.
void manager_show_fabric(struct manager *manager);

// The same rules by the numbers of another fabric. 0, or -ENOMEM.
int manager_map_rules(const struct manager_fabric *fabric, const struct manager_fabric *from,
		      const struct turn_rules *rules, struct arena *keep, struct turn_rules *out);
int manager_map_turns(const struct manager_fabric *fabric, struct turns_in_force *turns,
		      const struct manager_fabric *from, const struct turns_in_force *rules);

// Takes what is known of switches and links over, by their names.
void manager_fabric_inherit(struct manager_fabric *fabric, const struct manager_fabric *from);

// The intent that comes is not wanted any more.
void manager_forget_coming(struct manager *manager);

// A plan of the intent that comes was made: it is in force from now on. 0, or -errno and the old
// one is.
int manager_switch_over(struct manager *manager);
