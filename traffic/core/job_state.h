// SPDX-License-Identifier: BSD-3-Clause
//
// What a job is made of, for the files of the job alone. One owner writes all of it.
//
// A queue pair carries one flow, or the pieces of a collective between two ranks. The id of work is
// the flow, or the index of the send in its rank's program; what a receive is for is told by the
// immediate, or by its queue pair.
//
// Whatever the number of queue pairs, only those that have something to do are looked at: one that
// may post is in its rank's list, one that waits for time in its rank's heap. Both may hold one
// that has lost its reason since, which shows when its turn comes.
#pragma once

#include "base/heap.h"
#include "traffic/core/job.h"

enum job_list {
	JOB_READY,   // may post work
	JOB_LACKING, // want receives
	JOB_LISTS,
};

enum { JOB_OUT = UINT32_MAX - 1 }; // in no list of this kind

struct job_fifo {
	uint32_t first; // JOB_NONE: there is none
	uint32_t last;
};

struct job_qp {
	struct job_link link;
	uint32_t flow;     // JOB_NONE: of a collective
	uint32_t receives; // posted and not used
	uint32_t wants;    // that should be posted
	bool blocked;      // its send queue is full: until a completion
	bool is_src;       // of its flow
	uint32_t next[JOB_LISTS];
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
	ns_t before;      // likewise, before the last post: one that is refused is undone
	ns_t asked;       // when the ping left that is on its way
	struct job_flow_result result;
};

struct job_rank {
	uint8_t *data; // NULL: lengths alone
	uint64_t va;
	uint32_t rkey;
	uint32_t first_qp; // in job->qp
	uint32_t qp_count;
	ns_t idle; // there is nothing to post before; zero: not known
	struct job_fifo list[JOB_LISTS];
	struct heap timers; // of its queue pairs, where flows wait for time
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
	bool stopped;
	uint32_t carried; // the only rank that this owner has; JOB_NONE: it has all
	bool held;        // until all owners are ready
	bool unmeasured;  // an iteration has ended whose duration is not known yet
	uint64_t last_ns; // of the last iteration, here
	struct job_rank *rank;
	struct job_qp *qp;
	struct job_flow_state *flow;
	struct heap_node *timer; // for the heaps of all ranks
	uint32_t *timer_place;
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
	struct job_size_result *size; // JOB_SIZES of them, NULL: no flow has arrivals
};

// --- job.c ------------------------------------------------------------------------------------

bool job_is_collective(const struct job_config *config);

static inline bool job_carries(const struct job *job, uint32_t rank)
{
	return job->carried == JOB_NONE || job->carried == rank;
}

// Appends a queue pair of the rank to a list unless it is in there already.
void job_push(struct job *job, uint32_t rank, enum job_list list, uint32_t qp);

// The first of a list, which leaves it; JOB_NONE when it is empty.
uint32_t job_pop(struct job *job, uint32_t rank, enum job_list list);

// A message is done that took so long.
void job_count(struct job *job, uint64_t bytes, uint64_t latency_ns, ns_t now);

// It was one that had its time.
void job_count_arrival(struct job *job, const struct job_arrival *arrival, uint64_t latency_ns,
		       uint64_t late_ns);

// --- job_flow.c -------------------------------------------------------------------------------

// Puts a queue pair into the list or the heap, where it belongs; closes its flow when that is over.
void job_flow_wake(struct job *job, uint32_t rank, uint32_t qp, ns_t now);

bool job_flow_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out);
void job_flow_refused(struct job *job, uint32_t rank, const struct job_post *post);
void job_flow_done(struct job *job, uint32_t rank, const struct job_qp *qp,
		   const struct rc_completion *completion, ns_t now);

// --- job_collective.c -------------------------------------------------------------------------

bool job_collective_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out);
void job_collective_refused(struct job *job, uint32_t rank, const struct job_post *post);
void job_collective_done(struct job *job, uint32_t rank, const struct rc_completion *completion,
			 ns_t now);

// The queue pair of a rank that leads to a peer, as an index into job->qp.
uint32_t job_collective_qp(const struct job *job, uint32_t rank, uint32_t peer);
