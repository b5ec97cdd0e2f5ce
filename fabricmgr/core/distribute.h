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
// A switch that is not there does not hold the others up: it is headless, and the plan was made
// with its last tables and links as they are, or with it lost when its neighbours say so. When it
// is back it gets the generation that is in force, both steps at once. A switch that cannot prepare
// (an error, or silence for DISTRIBUTE_PREPARE_MS) makes it headless, or the generation fail when
// it says that the tables are wrong: then all forget it and the last good one stays.
//
// Safety does not depend on any of this: the turn map keeps any mix of tables free of loops and
// deadlock (docs/routing.md). What must never mix is two turn maps: a plan that changes that of a
// switch says so, and is committed when every switch that is there has prepared.

enum {
	DISTRIBUTE_SILENCE_MS = 3000, // without a call: headless
	DISTRIBUTE_PREPARE_MS = 2000,
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
	struct generation target;   // that it is to run
	bool failed;                // it refused `target`
};

struct distributor {
	uint64_t epoch;  // of this manager
	uint64_t number; // of the generation that is being distributed or in force
	uint32_t switch_count;
	struct distribute_switch *at; // [switch_count]
	bool decided;                 // `number` is only completed
	ns_t began;                   // of the distribution
	ns_t done;                    // when the last switch that was there had it; 0: not yet
};

// `at` is memory of the caller for so many switches, all of which are written: nothing is known.
// `epoch` is above all that any earlier manager used.
void distribute_init(struct distributor *d, uint64_t epoch, struct distribute_switch *at,
		     uint32_t switch_count);

// A new plan: `hash` has for each switch the hash of what it is to get. Switches whose hash is that
// of what they run need nothing but the number, which they get with their next step; the generation
// before, if it was not decided, is forgotten. -EBUSY: the one before is decided but not yet
// complete on switches that are there, try again after the next acknowledgement.
int distribute_plan(struct distributor *d, const uint64_t *hash, ns_t now);

// A switch says who it is. False: refused, `why` is why (an older boot than that which is there).
bool distribute_hello(struct distributor *d, uint32_t at, uint64_t boot,
		      const struct generation *running, const struct generation *prepared, ns_t now,
		      const char **why);

// What it is to do now; DISTRIBUTE_NOTHING: let the call wait. A call of another boot than that of
// the last hello gets nothing.
enum distribute_step distribute_fetch(struct distributor *d, uint32_t at, uint64_t boot,
				      const struct generation *running,
				      const struct generation *prepared, ns_t now,
				      struct generation *generation);

// It has done a step, or could not: `error` is an errno. True when others have something to do now.
bool distribute_ack(struct distributor *d, uint32_t at, uint64_t boot, enum distribute_step step,
		    const struct generation *generation, int error, ns_t now);

// Any other call of it: it is there.
void distribute_heard(struct distributor *d, uint32_t at, uint64_t boot, ns_t now);

// Time passes: silent switches become headless. True when others have something to do now, or the
// headless are others (then the caller plans anew). *next is when to call again.
bool distribute_tick(struct distributor *d, ns_t now, ns_t *next);

// Every switch that must has prepared: the caller stores (epoch, number, hashes), then says so.
bool distribute_wants_decision(const struct distributor *d);
void distribute_decided(struct distributor *d);

// A manager that starts: what it decided is stored, and is completed.
void distribute_restore(struct distributor *d, uint64_t number, const uint64_t *hash);
