// SPDX-License-Identifier: BSD-3-Clause
//
// One rank of a run on several machines, for the files of the run alone: what it does itself
// (verbs_run.c), what it says and hears (verbs_talk.c), and what rank 0 does for all
// (verbs_lead.c).
//
// Everybody goes through the same rounds: ready for the first iteration of a collective, or for
// flows; for each of the next; and in the end, done. After each, rank 0 says on. Rank 0 says to
// itself what others say to it by TCP.
#pragma once

#include <signal.h>

#include "traffic/core/meet.h"
#include "traffic/meet_talk.h"
#include "traffic/report.h"
#include "traffic/verbs_host.h"

enum {
	VERBS_SECOND_NS = 1000000000,
	VERBS_LAST_NS = 2000000000,     // for work that a stopped job still has on its way
	VERBS_SILENCE_NS = 10000000000, // after which a rank counts as lost
	VERBS_TEXT_BYTES = MEET_TEXT_BYTES + 1,
};

// What rank 0 knows of all.
struct verbs_lead {
	struct meet meet;
	uint8_t *hosts; // a list of all ranks' addresses
	uint8_t **qps;  // of each rank, its numbers
	struct report_host *host;
	enum report_outcome outcome;
	uint64_t elapsed_ns;
	bool stuck;
};

struct verbs_rank {
	const struct traffic_config *config;
	const volatile sig_atomic_t *stop;
	uint32_t rank;
	uint32_t world;
	uint32_t last; // round: done
	struct workload workload;
	struct job *job;
	struct verbs_host host;
	struct event_base *base;
	struct event *tick;
	struct event *wake;
	struct event *completions;
	struct meet_talk talk;
	struct meet_talk_owner talk_owner;
	struct verbs_lead lead; // of rank 0
	uint32_t round;         // that it is in, or gets ready for
	bool is_connected;
	bool said_ready; // for this round
	bool said_result;
	bool said_stop;
	bool stopped;
	bool stuck;
	bool over;
	int status; // of the program
	bool armed; // completions wake it
	uint32_t turns;
	uint32_t idle;              // of them, those in which nothing moved, in a row
	uint64_t retransmits;       // of the device, when it was looked at last
	struct meet_numbers before; // counters of the device
	ns_t opened;
	ns_t begun; // the first round; zero: it has not
	ns_t ended;
	ns_t stop_at;  // work that is still on its way is given up
	ns_t look_at;  // at what it waits for
	ns_t alive_at; // then it says so
	ns_t leader_heard;
};

ns_t verbs_now(void);

// --- verbs_run.c ------------------------------------------------------------------------------

// Queue pairs lead to these peers now.
int verbs_rank_connect(struct verbs_rank *run, const struct meet_peers *peers);

// All are ready for the round.
void verbs_rank_go(struct verbs_rank *run, const struct meet_ready *go);

// Begins nothing more.
void verbs_rank_stop(struct verbs_rank *run);

// --- verbs_talk.c -----------------------------------------------------------------------------

int verbs_talk_open(struct verbs_rank *run);

// Says it to rank 0, which may be this one.
void verbs_say(struct verbs_rank *run, const struct meet_message *message);

// What rank 0 says to this one.
void verbs_obey(struct verbs_rank *run, const struct meet_message *message);

void verbs_say_hello(struct verbs_rank *run);
void verbs_say_result(struct verbs_rank *run);

// The run is no use any more, by the fault of this rank; all are told.
void verbs_fail(struct verbs_rank *run, const char *text);

// Looks at the time: who is silent, what is overdue.
void verbs_talk_tick(struct verbs_rank *run, ns_t now);

// Lets what was said leave.
void verbs_talk_end(struct verbs_rank *run);

// --- verbs_lead.c -----------------------------------------------------------------------------

int verbs_lead_open(struct verbs_rank *run);
void verbs_lead_close(struct verbs_rank *run);

// What a rank says. `joins` returns why it may not take part, NULL when it may.
const char *verbs_lead_joins(struct verbs_rank *run, const struct meet_hello *hello);
void verbs_lead_hears(struct verbs_rank *run, uint32_t rank, const struct meet_message *message);

// Ends the run for all of them, by the fault of a rank.
void verbs_lead_fail(struct verbs_rank *run, uint32_t rank, const char *text);

void verbs_lead_tick(struct verbs_rank *run, ns_t now);
