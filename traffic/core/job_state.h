// SPDX-License-Identifier: BSD-3-Clause
//
// What a job is made of, for the files of the job alone. One owner writes all of it.
//
// A queue pair carries one flow, or the pieces of a collective between two ranks. The id of work is
// the flow, or the index of the send in its rank's program; what a receive is for is told by the
// immediate, or by its queue pair.
#pragma once

#include "base/rng.h"
#include "traffic/core/job.h"

struct job_qp {
	struct job_link link;
	uint32_t flow;     // JOB_NONE: of a collective
	uint32_t receives; // posted and not used
	uint32_t wants;    // that should be posted
	bool blocked;      // its send queue is full: until a completion
	// Collective: sends that may go, in the order in which they became so, linked by
	// job_rank.next_send. JOB_NONE: there is none.
	uint32_t ready_first;
	uint32_t ready_last;
};

struct job_flow_state {
	uint32_t src_qp; // of that rank
	uint32_t dst_qp;
	uint64_t posted;
	uint64_t done;
	uint32_t replies; // that dst owes (ping-pong)
	bool closed;      // posts no more
	uint64_t bytes;   // of the ping that is on its way
	ns_t next;        // no post before
	ns_t asked;       // when the ping left that is on its way
	struct job_flow_result result;
};

struct job_rank {
	uint8_t *data; // NULL: lengths alone
	uint64_t va;
	uint32_t rkey;
	uint32_t first_qp; // in job->qp
	uint32_t qp_count;
	ns_t idle;             // there is nothing to post before; zero: not known
	uint32_t lacking;      // queue pairs that want receives
	uint32_t receive_turn; // that is looked at next
	// Flows: those of which it is an end, in job->member.
	uint32_t first_member;
	uint32_t member_count;
	uint32_t turn;
	// Collective, of the iteration.
	uint32_t *next_send; // by send: the one behind it on its queue pair
	uint8_t *received;   // a byte for each receive
	uint32_t sends_left;
	uint32_t receives_left;
	uint32_t missing; // all receives below have come
	// Observation.
	ns_t seen;
	uint64_t retransmits;
	uint64_t waited_ns; // by how much `waited_for` is ahead of all others
	struct job_rank_result result;
};

struct job {
	const struct job_config *config;
	struct rng rng;
	bool stopped;
	struct job_rank *rank;
	struct job_qp *qp;
	struct job_flow_state *flow;
	uint32_t *member;
	uint32_t qp_count;
	uint64_t memory_bytes; // of a rank
	uint32_t first_open;   // flows below are over
	// Collective.
	bool prepared;      // memory and programs are ready for the iteration
	bool begun;         // it runs
	uint32_t iteration; // warm-up included
	uint32_t ranks_left;
	ns_t start;
	// Results.
	ns_t window; // of peak_bytes
	uint64_t window_bytes;
	struct job_result result;
};

// --- job.c ------------------------------------------------------------------------------------

bool job_is_collective(const struct job_config *config);

// A receive that a queue pair of the rank lacks.
bool job_receive_next(struct job *job, uint32_t rank, struct job_post *out);

// A message is done that took so long.
void job_count(struct job *job, uint64_t bytes, uint64_t latency_ns, ns_t now);

// --- job_flow.c -------------------------------------------------------------------------------

bool job_flow_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out);
void job_flow_refused(struct job *job, uint32_t rank, const struct job_post *post);
void job_flow_done(struct job *job, uint32_t rank, struct job_qp *qp,
		   const struct rc_completion *completion, ns_t now);

// --- job_collective.c -------------------------------------------------------------------------

bool job_collective_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out);
void job_collective_refused(struct job *job, uint32_t rank, const struct job_post *post);
void job_collective_done(struct job *job, uint32_t rank, const struct rc_completion *completion,
			 ns_t now);

// The queue pair of a rank that leads to a peer, as an index into job->qp.
uint32_t job_collective_qp(const struct job *job, uint32_t rank, uint32_t peer);
