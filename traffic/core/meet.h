// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 as the meeting point of a run on several machines: it knows who is there, and says on when
// all have said the same. First everybody says MEET_HELLO; then, round by round, MEET_READY; the
// last round is that in which all have done their work; then MEET_RESULT. Rank 0 takes part like
// any other. Pure: it is told what comes and at what time, and says what to answer; sockets are
// meet_talk.h's.
#pragma once

#include "traffic/core/meet_message.h"

enum meet_phase { MEET_GATHERS, MEET_ROUNDS, MEET_COLLECTS, MEET_OVER };

struct meet {
	uint32_t world; // ranks
	uint32_t last;  // number of the last round: what they were there for is done
	uint64_t digest;
	enum meet_phase phase;
	uint32_t round;
	uint32_t left;       // ranks that have not said what all are to say
	uint64_t longest_ns; // of those that have
	bool stopped;
	bool present[JOB_RANK_MAX];
	bool said[JOB_RANK_MAX];
	ns_t heard[JOB_RANK_MAX]; // when anything was
};

// Why a rank may not take part.
enum meet_refusal {
	MEET_WELCOME,
	MEET_OTHER_WORLD,   // it was told another number of ranks
	MEET_NO_SUCH_RANK,  // or one that is not below it
	MEET_TAKEN,         // that rank is there already
	MEET_OTHER_OPTIONS, // its digest differs
	MEET_OTHER_QPS,     // it has another number of queue pairs than it needs
	MEET_LATE,          // the run goes on without it
};

enum meet_step {
	MEET_WAITS, // for others
	MEET_ALL,   // have said it: the phase or round is the next one now
	MEET_WRONG, // that cannot be said now
};

void meet_init(struct meet *meet, uint32_t world, uint32_t last, uint64_t digest);

// `qps` are those that this rank's hello should have.
enum meet_refusal meet_join(struct meet *meet, const struct meet_hello *hello, uint32_t qps,
			    ns_t now);

// After meet_join(): have all come?
bool meet_is_full(const struct meet *meet);

// A rank is ready for a round, or has done its work. After MEET_ALL, `out` is what all are told:
// the round, and the most that the last one took, 0 when it was not ended.
enum meet_step meet_take_ready(struct meet *meet, uint32_t rank, const struct meet_ready *ready,
			       struct meet_ready *out);

enum meet_step meet_take_result(struct meet *meet, uint32_t rank, uint32_t waited_for);

// The last round comes next: all are to be told, and what they still say of others is left aside.
// False: there is nothing to stop.
bool meet_stop(struct meet *meet);

void meet_hears(struct meet *meet, uint32_t rank, ns_t now);

// The first rank that has not come yet, or was not heard of for `limit_ns`; JOB_NONE: there is
// none.
uint32_t meet_missing(const struct meet *meet);
uint32_t meet_silent(const struct meet *meet, ns_t now, uint64_t limit_ns);
