// SPDX-License-Identifier: BSD-3-Clause
//
// Getting a generation into force on many switches over a network that loses, delays, repeats and
// reorders, with switches and managers that die at any moment. Pure: messages in, messages out,
// time and stable storage are the caller's.
#pragma once

#include "base/types.h"

// A generation is (epoch, number, hash of all that a switch gets). It goes in two steps:
//
//	prepare  every switch that the plan changes and that is there keeps its tables durably and
//	         says so
//	decide   the caller stores the decision (distribute_wants_decision()) and says that it has;
//	         from here on it is only ever completed, by this manager or the next
//	commit   each switch uses what it prepared, and says so when no lcore can use the old
//
// Both are told by state, not by event: each call of a switch says what it runs and what it has
// prepared, and is answered by the step from there. So a message that is lost, repeated or late
// costs time and nothing else, and a fetch says as much as an acknowledgement: a repair takes two
// round trips of the switches that it changes, prepare and commit. What a switch runs only rises
// (epoch, number) while it lives, so a message that says less is a late one and not believed.
//
// What a switch needs goes by the hash alone: one that runs tables of the same hash, by whatever
// name, needs nothing but the name, and gets it when all that need more are done. So a manager that
// starts changes no table, and a switch that comes back with an older generation, a newer one of an
// earlier manager, or one that nobody knows, gets what is in force, whole or renamed.
//
// A switch that is not there does not hold the others up: it is headless, and the plan was made
// with its last tables and links as they are, or with it lost when its neighbours say so. When it
// is back it gets the generation that is in force, one step after the other. Nor does one that has
// no room or memory, and none at all longer than DISTRIBUTE_STEP_MS for each step: whatever a
// switch does or says, plans go on, and it is told what is in force when it calls. Only one that
// says in time that its tables are wrong (distribute_error_is_of_tables()) makes the generation
// fail: then all forget it and the last good one stays, by a new number.
//
// Turn maps. While no plan changes them, safety does not depend on any of this: whatever mix of
// tables is in force, the turn map keeps it free of loops and deadlock (docs/routing.md). A mix of
// two turn maps is safe when the turns of both together close no cycle, for each switch has the
// turns of one of them, so any mix allows a part of both. Losses that only add turns, as those of a
// Torus do, and returns that only take some away, are of that kind. For others there is a third
// set, of the turns that both have: together with either it is that one. So a plan that changes
// turn maps is given in one of two ways, which turn_mix_choose() (routing/turn_mix.h) says:
//
//	with its own turns, when they close no cycle with those that may be in force: as any other
//	else a plan of the same ways with the turns that all have goes first; when
//	distribute_everywhere() says that no switch forwards by another, and DISTRIBUTE_DRAIN_MS
//	later, when no packet waits for a turn that it was given before, the plan is given again
//
// Turns that may be in force are those of all plans that were decided since the last time that
// distribute_everywhere() was true for DISTRIBUTE_DRAIN_MS, over restarts of the manager too. A
// manager that has kept only those of the last decided plan gives no turns that are not among
// them until then (turn_mix_common()): they could be mixed with whatever else is in force.

enum {
	DISTRIBUTE_SILENCE_MS = 3000, // without a call: headless
	DISTRIBUTE_STEP_MS = 2000,    // of all together: then nobody is waited for any more
	DISTRIBUTE_RETRY_MS = 5000,   // one without room or memory is asked again
	DISTRIBUTE_DRAIN_MS = 500,    // a packet that waits longer is the PFC watchdog's
};

struct generation {
	uint64_t epoch;
	uint64_t number; // 0: none
	uint64_t hash;
};

static inline bool generation_equal(const struct generation *a, const struct generation *b)
{
	return a->epoch == b->epoch && a->number == b->number && a->hash == b->hash;
}

static inline bool generation_before(const struct generation *a, const struct generation *b)
{
	return a->epoch < b->epoch || (a->epoch == b->epoch && a->number < b->number);
}

// What a switch is asked to do; the numbers are those of enum fabric_step.
enum distribute_step {
	DISTRIBUTE_NOTHING,
	DISTRIBUTE_PREPARE,
	DISTRIBUTE_COMMIT,
	DISTRIBUTE_FORGET,
};

enum distribute_life {
	DISTRIBUTE_UNSEEN,   // since this manager started
	DISTRIBUTE_THERE,    // it calls
	DISTRIBUTE_HEADLESS, // it did, and forwards by what it has
};

struct distribute_switch {
	enum distribute_life life;
	uint64_t boot;
	ns_t heard;                 // last call
	struct generation running;  // as it last said; number 0: none
	struct generation prepared; // likewise
	struct generation target;   // that it is to run; number 0: there is no plan
	uint64_t good_hash;         // of what was last decided for it, if distributor.good
	bool failed;                // it could not do its step: hello, a plan or `retry` clear it
	int error;                  // why, an errno
	ns_t retry;                 // asked again then, unless the tables are wrong
	bool whole;                 // it could not use a delta: send tables whole
	bool slow;                  // was waited for in vain: not again before it does a step
	bool waited;                // counted in distributor.waited
};

struct distributor {
	uint64_t epoch;  // of this manager
	uint64_t number; // of the generation that is being distributed or in force
	uint64_t used;   // highest number that was given
	bool good;       // something was decided: good_hash of each switch
	uint32_t switch_count;
	struct distribute_switch *at; // [switch_count]
	bool decided;                 // `number` is only completed
	uint32_t waited;              // switches that the decision, or the end, waits for
	bool waiting;                 // until `due`
	bool patient;                 // the first plan waits for those who were not seen, too
	ns_t due;
	ns_t began;          // of the distribution
	ns_t done;           // when nobody was waited for any more; 0: not yet
	uint32_t refused_by; // the switch that the last plan failed for; UINT32_MAX: it did not
	int refused_error;
	bool news;
};

// `at` is memory of the caller for so many switches, all of which are written: nothing is known.
// `epoch` is above all that any earlier manager used.
void distribute_init(struct distributor *d, uint64_t epoch, struct distribute_switch *at,
		     uint32_t switch_count);

// A manager that starts: what it decided is stored, and is completed, in its own epoch. Right after
// distribute_init().
void distribute_restore(struct distributor *d, uint64_t number, const uint64_t *hash);

// A new plan: `hash` has for each switch the hash of what it is to get. The generation before, if
// it was not decided, is forgotten, and what is left of its time is that of the new one, so that
// plans that follow each other closely come to a decision. -EBUSY: the one before is decided but
// not yet complete on switches that are waited for, try again after the next news.
int distribute_plan(struct distributor *d, const uint64_t *hash, ns_t now);

// True when the caller has something to do since it was last asked, after any of the calls below:
// a decision to store (distribute_wants_decision()), waiting calls that may be answered
// (distribute_next()), or a new plan to give (`done` or `refused_by` is set).
bool distribute_news(struct distributor *d);

// --- calls of switches --------------------------------------------------------------------------
//
// `running` and `prepared` may be NULL: none. The caller knows from certificates who is calling. A
// call of another boot than that of the last hello says nothing and has nothing to do: the caller
// answers it with an error, so that the switch says hello.
bool distribute_knows(const struct distributor *d, uint32_t at, uint64_t boot);

// A switch says who it is. False: refused, `why` is why: another run of it that is younger is
// there, or it follows a manager of a later epoch, or one that gives other numbers in this epoch.
bool distribute_hello(struct distributor *d, uint32_t at, uint64_t boot,
		      const struct generation *running, const struct generation *prepared, ns_t now,
		      const char **why);

// What it is to do now; DISTRIBUTE_NOTHING: let the call wait, and look at distribute_next().
enum distribute_step distribute_fetch(struct distributor *d, uint32_t at, uint64_t boot,
				      const struct generation *running,
				      const struct generation *prepared, ns_t now,
				      struct generation *generation);

// The same for a call that waits: nothing new was heard.
enum distribute_step distribute_next(const struct distributor *d, uint32_t at,
				     struct generation *generation);

// It has done a step, or could not: `error` is an errno of either sign. ESTALE and ENOENT mean that
// it lacks what a delta changes, or what it is to commit: it is asked to prepare, once more and
// with tables whole. Returns distribute_news().
bool distribute_ack(struct distributor *d, uint32_t at, uint64_t boot, enum distribute_step step,
		    const struct generation *generation, int error, ns_t now);

// Any other call of it: it is there.
void distribute_heard(struct distributor *d, uint32_t at, uint64_t boot, ns_t now);

// --- time and decision --------------------------------------------------------------------------

// Time passes: silent switches become headless, slow ones are not waited for. True when the caller
// has something to do, or the headless are others (then the caller plans anew). *next is when to
// call again.
bool distribute_tick(struct distributor *d, ns_t now, ns_t *next);

// Every switch that must has prepared: the caller stores (number, hashes, and the turns that may
// be in force from now on), then says so, without another call in between.
bool distribute_wants_decision(const struct distributor *d);
void distribute_decided(struct distributor *d, ns_t now);

// Whether every switch, also those that are not there, runs what it is to run, by name too: then it
// can run nothing that is older any more. `lost` [switch_count], NULL: none, are those that do not
// count: dead for good, or out of service until they have called. One that has only lost its cables
// counts, since it forwards by what it has as soon as one is back.
bool distribute_everywhere(const struct distributor *d, const uint8_t *lost);

// Whether an error of a switch says that nobody should use the plan: the tables are wrong, not the
// switch.
bool distribute_error_is_of_tables(int error);
