// SPDX-License-Identifier: BSD-3-Clause
//
// What is asked for is judged by its generation and what the switch has: an answer may be late,
// repeated, or of a manager that has been replaced. Only one that leads on from here is followed;
// the next fetch says where the switch is, so passing over an answer loses nothing.

#include "dataplane/follower.h"

#include <errno.h>
#include <limits.h>

#include "schema/fabric.h"

#define WAIT_FIRST_NS 100000000ull
#define WAIT_MOST_NS 5000000000ull

enum { DOUBLE_MOST = 6 }; // 0.1 s x 2^6 is above the most

static const struct follower_generation none;

void follower_init(struct follower *f, const struct follower_state *state, uint64_t boot)
{
	*f = (struct follower){ .state = *state, .boot = boot };
}

enum follower_call follower_next(const struct follower *f)
{
	if (!f->greeted)
		return FOLLOWER_HELLO;
	return f->ack_step != FABRIC_STEP_NONE ? FOLLOWER_ACK : FOLLOWER_FETCH;
}

uint64_t follower_wait_ns(const struct follower *f, uint32_t dice)
{
	uint64_t most;

	if (f->tries == 0)
		return 0;
	most = WAIT_FIRST_NS << (f->tries > DOUBLE_MOST ? DOUBLE_MOST : f->tries - 1);
	most = u64_min(most, WAIT_MOST_NS);
	return most - (most / 2 * dice >> 32);
}

void follower_failed(struct follower *f)
{
	f->greeted = false;
	if (f->tries < UINT32_MAX)
		f->tries++;
}

// Whether an answer of this epoch is followed. Nothing that a higher one finds was of its making.
static bool meet(struct follower *f, uint64_t epoch)
{
	if (epoch < f->state.epoch) {
		follower_failed(f);
		return false;
	}
	f->state.epoch = epoch;
	f->tries = 0;
	return true;
}

bool follower_hello_reply(struct follower *f, uint64_t epoch, uint32_t version, const char **why)
{
	*why = "";
	if (version < FABRIC_VERSION_OLDEST || version > FABRIC_VERSION) {
		*why = version == 0 ? "it refuses this switch" : "it speaks another version";
		follower_failed(f);
		return false;
	}
	if (!meet(f, epoch)) {
		*why = "another manager has come after it";
		return false;
	}
	f->greeted = true;
	return true;
}

static void owe_ack(struct follower *f, uint32_t step, const struct follower_generation *generation,
		    int error)
{
	f->ack_step = step;
	f->ack_generation = *generation;
	f->ack_error = error >= 0 ? error : error == INT_MIN ? INT_MAX : -error;
}

// Older than what the switch has come to: a late answer.
static bool is_late(const struct follower_state *state, const struct follower_generation *asked)
{
	return !follower_generation_before(&state->running, asked) ||
	       follower_generation_before(asked, &state->prepared);
}

static enum follower_task asked_to_prepare(const struct follower_state *state,
					   const struct follower_generation *asked)
{
	if (is_late(state, asked) || follower_generation_equal(asked, &state->prepared))
		return FOLLOWER_NOTHING;
	return FOLLOWER_STORE;
}

static enum follower_task asked_to_commit(struct follower *f,
					  const struct follower_generation *asked)
{
	const struct follower_state *state = &f->state;

	if (is_late(state, asked))
		return FOLLOWER_NOTHING;
	if (state->running.number != 0 && asked->hash == state->running.hash)
		return FOLLOWER_RENAME;
	if (follower_generation_equal(asked, &state->prepared))
		return FOLLOWER_APPLY;
	owe_ack(f, FABRIC_STEP_COMMIT, asked, ENOENT);
	return FOLLOWER_NOTHING;
}

static enum follower_task asked_to(struct follower *f, uint64_t epoch, uint32_t step,
				   const struct follower_generation *asked)
{
	if (step == FABRIC_STEP_FORGET)
		return follower_generation_equal(asked, &f->state.prepared) ? FOLLOWER_FORGET :
									      FOLLOWER_NOTHING;
	// A manager gives generations of its own epoch.
	if (asked->epoch != epoch)
		return FOLLOWER_NOTHING;
	if (step == FABRIC_STEP_PREPARE)
		return asked_to_prepare(&f->state, asked);
	return step == FABRIC_STEP_COMMIT ? asked_to_commit(f, asked) : FOLLOWER_NOTHING;
}

enum follower_task follower_fetch_reply(struct follower *f, uint64_t epoch, uint32_t step,
					const struct follower_generation *generation)
{
	if (!meet(f, epoch) || generation == NULL || generation->number == 0 ||
	    f->task != FOLLOWER_NOTHING)
		return FOLLOWER_NOTHING;
	f->task = asked_to(f, epoch, step, generation);
	f->task_generation = *generation;
	return f->task;
}

void follower_ack_reply(struct follower *f, uint64_t epoch)
{
	if (meet(f, epoch))
		f->ack_step = FABRIC_STEP_NONE;
}

static void run(struct follower_state *state, const struct follower_generation *generation)
{
	state->running = *generation;
	// What is prepared is of later use only if it is later.
	if (!follower_generation_before(generation, &state->prepared))
		state->prepared = none;
}

static uint32_t step_of(enum follower_task task)
{
	switch (task) {
	case FOLLOWER_NOTHING: break;
	case FOLLOWER_STORE: return FABRIC_STEP_PREPARE;
	case FOLLOWER_APPLY:
	case FOLLOWER_RENAME: return FABRIC_STEP_COMMIT;
	case FOLLOWER_FORGET: return FABRIC_STEP_FORGET;
	}
	return FABRIC_STEP_NONE;
}

static void change_state(struct follower_state *state, enum follower_task task,
			 const struct follower_generation *generation)
{
	switch (task) {
	case FOLLOWER_NOTHING: break;
	case FOLLOWER_STORE: state->prepared = *generation; break;
	case FOLLOWER_APPLY:
	case FOLLOWER_RENAME: run(state, generation); break;
	case FOLLOWER_FORGET: state->prepared = none; break;
	}
}

void follower_done(struct follower *f, enum follower_task task,
		   const struct follower_generation *generation, int error)
{
	if (task == FOLLOWER_NOTHING || task != f->task ||
	    !follower_generation_equal(generation, &f->task_generation))
		return;
	f->task = FOLLOWER_NOTHING;
	if (error != 0) {
		// What was stored in place of what was prepared may be half of it.
		if (task == FOLLOWER_STORE)
			f->state.prepared = none;
		owe_ack(f, step_of(task), generation, error);
		return;
	}
	change_state(&f->state, task, generation);
}
