// SPDX-License-Identifier: BSD-3-Clause
//
// The switch's side of the distribution of tables (fabricmgr/core/distribute.h): which answers of a
// manager it follows, and what it says next. Pure: the caller stores, applies and sends.
//
// Invariants: a switch never follows an epoch below the highest that it has met; what it runs only
// rises by (epoch, number); what it says that it has prepared is on disk; it says that it runs a
// generation when no lcore can use the one before; without a manager it goes on with what it has,
// over restarts too.
#pragma once

#include "base/types.h"

struct follower_generation {
	uint64_t epoch;
	uint64_t number; // 0: none
	uint64_t hash;
};

static inline bool follower_generation_equal(const struct follower_generation *a,
					     const struct follower_generation *b)
{
	return a->epoch == b->epoch && a->number == b->number && a->hash == b->hash;
}

static inline bool follower_generation_before(const struct follower_generation *a,
					      const struct follower_generation *b)
{
	return a->epoch < b->epoch || (a->epoch == b->epoch && a->number < b->number);
}

// On disk whenever a call to the manager is made: the caller stores it, when it has changed, before
// the next one. Tables are stored before the state that names them: when a switch starts and the
// tables that it names as prepared are not there, nothing is.
struct follower_state {
	uint64_t epoch; // highest met
	struct follower_generation running;
	struct follower_generation prepared;
};

// What the caller does before it tells the follower with follower_done().
enum follower_task {
	FOLLOWER_NOTHING,
	FOLLOWER_STORE,  // the tables of the answer, as prepared, in place of what was; check first
	FOLLOWER_APPLY,  // what is prepared: store that it runs, use it, wait for the grace
	FOLLOWER_FORGET, // what is prepared
	FOLLOWER_RENAME, // only the number changes: store it
};

enum follower_call {
	FOLLOWER_HELLO, // of a new connection, or after a refusal
	FOLLOWER_FETCH, // says what was done, too
	FOLLOWER_ACK,   // of what could not be done
};

struct follower {
	struct follower_state state;
	uint64_t boot;
	bool greeted; // hello was answered on this connection
	// What is being done; FOLLOWER_NOTHING: nothing. Meanwhile answers ask for nothing.
	enum follower_task task;
	struct follower_generation task_generation;
	// What the next ack says; step 0: there is none.
	uint32_t ack_step; // enum fabric_step
	struct follower_generation ack_generation;
	int ack_error;  // errno, positive
	uint32_t tries; // in a row that failed
};

// `state` is what was on disk, zeros at first; `boot` is above that of every earlier run.
void follower_init(struct follower *f, const struct follower_state *state, uint64_t boot);

// What to say next, when no task is being done.
enum follower_call follower_next(const struct follower *f);

// When to say it: 0 when all is well; after failures 0.1 s and twice that with each, up to 5 s, of
// which `dice` takes off up to half.
uint64_t follower_wait_ns(const struct follower *f, uint32_t dice);

// The connection, or a call, failed.
void follower_failed(struct follower *f);

// Answers. An epoch below the highest met is refused, and counts as a failure; a higher one is met.
// False: the manager is not to be followed, `why` says why. `version` is that of the answer, 0: it
// refuses.
bool follower_hello_reply(struct follower *f, uint64_t epoch, uint32_t version, const char **why);
// What is to be done, with `generation`. NULL: the answer has none. Late answers ask for nothing.
enum follower_task follower_fetch_reply(struct follower *f, uint64_t epoch, uint32_t step,
					const struct follower_generation *generation);
void follower_ack_reply(struct follower *f, uint64_t epoch);

// The task is done, or could not be: `error` is an errno of either sign. The state is changed
// accordingly; an ack is due when there was an error, otherwise the next fetch says it. Nothing
// happens when it is not the task that was asked for. After a failed FOLLOWER_STORE nothing is
// prepared; after a failed FOLLOWER_APPLY the switch runs what it ran.
void follower_done(struct follower *f, enum follower_task task,
		   const struct follower_generation *generation, int error);
