// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric that is managed, in virtual time: followers with disks, managers with a store, and a
// network between them that loses, delays, repeats and reorders. Cables, switches and managers come
// and go by the dice until the world is calm.
//
// What must hold always is checked where it could be broken.
#pragma once

#include "base/rng.h"
#include "dataplane/follower.h"
#include "fabricmgr/core/distribute.h"
#include "tests/prop/distribution_plans.h"

#define WORLD_MS 1000000ull

enum {
	WORLD_BOSSES = 2, // the last manager, and the one before it that has not noticed yet
	WORLD_EVENTS_MAX = 4096,
	WORLD_PORTS_MAX = 8,
	WORLD_MIX_MAX = 64,
};

enum world_event_kind {
	WORLD_TO_BOSS,
	WORLD_TO_NODE,
	WORLD_NODE_BOOTS,
	WORLD_NODE_CALLS,
	WORLD_NODE_GIVES_UP, // waiting for an answer
	WORLD_NODE_WORKS,    // at its task
	WORLD_NODE_REPORTS,
	WORLD_BOSS_STARTS,
	WORLD_BOSS_TICKS,
	WORLD_BOSS_PLANS,
	WORLD_BOSS_ANSWERS, // a call that has waited long enough
	WORLD_BOSS_ENDS,
	WORLD_FATE,
};

// What a switch and a manager say to each other; an answer has the call of its question.
struct world_message {
	enum { WORLD_HELLO, WORLD_FETCH, WORLD_ACK, WORLD_REPORT } kind;
	bool refused; // an answer without one
	uint64_t boot;
	uint64_t call;
	uint64_t epoch;
	struct follower_generation running;
	struct follower_generation prepared;
	uint32_t step;
	struct follower_generation generation;
	int error;
	uint64_t sequence; // of reports
	uint8_t lost[WORLD_PORTS_MAX];
};

struct world_event {
	ns_t at;
	enum world_event_kind kind;
	uint32_t who;
	uint64_t life; // of the one whom it is for: boot, call or epoch
	struct world_message message;
};

// What survives a restart of a switch. Its tables are known by their hash.
struct world_disk {
	struct follower_state state;
	uint64_t running_table;
	uint64_t prepared_table;
};

struct world_node {
	bool up;
	uint64_t boot;
	struct world_disk disk;
	struct follower f;
	bool in_grace; // the task is done but for the grace
	uint64_t call; // that it waits for, 0: none
	uint64_t sequence;
	const struct packed_table *in_force; // NULL: none
	// What it has shown so far.
	struct follower_generation most; // that was in force
	struct follower_generation told; // that a manager took note of
	uint64_t met;                    // highest epoch of an answer
};

// On the disk of the manager.
struct world_store {
	uint64_t epoch;
	uint64_t number;
	uint32_t plan; // that was decided
	uint32_t mix_count;
	uint32_t mix[WORLD_MIX_MAX]; // plans whose turns may be in force
};

struct world_boss {
	bool up;
	struct distributor d;
	struct distribute_switch at[PLANS_SWITCHES_MAX];
	struct world_message waiting[PLANS_SWITCHES_MAX]; // call 0: none
	struct world_message reported[PLANS_SWITCHES_MAX];
	struct topo_state seen;
	bool planning;
	bool news_of_links;
	uint32_t wanted; // plan for the links as they are
	uint32_t plan;   // that is distributed
	uint32_t mix_count;
	uint32_t mix[WORLD_MIX_MAX];
	ns_t everywhere; // since when, NS_NEVER: it is not
	ns_t retry;      // not before
};

struct world_counts {
	uint32_t lost, late, repeated;
	uint32_t stored, applied, renamed, restarted, bosses, decided, failed, between;
};

struct world {
	struct plans *plans;
	struct rng *rng;
	ns_t now;
	bool calm;
	uint64_t steady_ns; // each message takes this and all else nothing; 0: by the dice
	uint32_t node_count;
	struct world_node node[PLANS_SWITCHES_MAX];
	struct world_boss boss[WORLD_BOSSES]; // [0] is the last
	struct world_store store;
	struct topo_state cut; // cables that are, both ends
	uint64_t calls;
	uint32_t decision_count;
	uint32_t decision[PLANS_MAX]; // of any manager, in order
	struct world_counts counts;
	uint32_t event_count;
	struct world_event event[WORLD_EVENTS_MAX];
};

// Everything starts at 0.
void world_make(struct world *w, struct plans *plans, struct rng *rng);

// The next event happens.
void world_step(struct world *w);

// From now on nothing breaks, and what is broken is mended but for one cable.
void world_calm(struct world *w);

// The last manager is replaced by one that knows what is stored.
void world_replace_boss(struct world *w);

// --- for the parts of the world -----------------------------------------------------------------

bool world_chance(struct world *w, uint32_t percent); // never when it is calm
void world_put(struct world *w, uint64_t after_ns, enum world_event_kind kind, uint32_t who,
	       uint64_t life, const struct world_message *message);
void world_send(struct world *w, enum world_event_kind kind, uint32_t who, uint64_t life,
		const struct world_message *message);
bool world_link_works(const struct world *w, uint32_t link);

void node_boot(struct world *w, uint32_t at);
void node_die(struct world *w, uint32_t at);
void node_event(struct world *w, const struct world_event *event);

void boss_start(struct world *w);
void boss_event(struct world *w, const struct world_event *event);
