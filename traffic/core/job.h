// SPDX-License-Identifier: BSD-3-Clause
//
// A job: what a number of ranks (hosts) do to each other, as flows of messages or as a collective
// operation, whatever carries it: endpoints, verbs, the simulator. It says which work each rank's
// transport is to post, hears of completions, and measures. Its owner, for each of its ranks:
//	while (job_next()): post it on its queue pair, or job_refused()
//	for each completion: job_done()
//	now and then: job_observe()
// until job_state() is no longer JOB_RUNNING. What messages carry lives in memory that the owner
// attaches; without it (a simulation) lengths alone count, and nothing is reduced or checked.
#pragma once

#include "traffic/core/collective.h"
#include "traffic/core/histogram.h"
#include "traffic/core/rc.h"
#include "traffic/core/sight.h"

enum { JOB_RANK_MAX = COLLECTIVE_RANK_MAX, JOB_NONE = UINT32_MAX };

// A message that is due at its time, whatever is still on its way: what it takes counts from then.
struct job_arrival {
	ns_t at; // from the flow's start on
	uint64_t bytes;
	uint64_t ideal_ns; // that it takes in an empty network; at least 1
};

// Messages from one rank to another.
struct job_flow {
	uint32_t src; // posts the work; of a READ the data comes to it
	uint32_t dst;
	enum rc_op op;
	bool ping_pong; // dst answers each message with one like it, one at a time; not READ
	uint8_t dscp;
	uint32_t depth;    // messages on their way
	uint64_t bytes;    // of a message, or of the largest
	uint64_t messages; // in total; 0: until `stop`
	uint64_t burst;    // messages in a row; 0: 1
	uint64_t gap_ns;   // from burst to burst at least, by their first messages
	ns_t start;
	ns_t stop; // zero: when its messages are done
	// NULL, or `messages` of them, one not before the other; then it has no ping-pong, bursts
	// or stop. Not owned.
	const struct job_arrival *arrival;
};

struct job_config {
	uint32_t rank_count;
	uint32_t receive_depth; // receives posted ahead on each queue pair
	// A collective when it has iterations, flows otherwise.
	struct collective_config collective;
	uint32_t iterations; // that count
	uint32_t warmup;     // iterations before them
	uint8_t dscp;        // of the collective
	const struct job_flow *flow;
	uint32_t flow_count;
};

struct job;

// 0, or -EINVAL with what is wrong in *what (static text) and, of flows, the flow in *flow.
int job_check(const struct job_config *config, const char **what, uint32_t *flow);

// Bytes of memory for a job, aligned to 64.
size_t job_bytes(const struct job_config *config);

// Makes a job of a configuration that passes job_check(), which the caller keeps, in zeroed memory.
struct job *job_init(const struct job_config *config, void *memory);

// A queue pair of a rank and where it leads.
struct job_link {
	uint32_t rank;
	uint32_t qp;
	uint8_t dscp;
};
uint32_t job_qp_count(const struct job *job, uint32_t rank);
struct job_link job_link(const struct job *job, uint32_t rank, uint32_t qp);

// Memory of a rank that its peers read and write, and how they call it. Before the first
// job_next(); also of ranks that others carry, with `data` NULL.
uint64_t job_memory_bytes(const struct job *job);
void job_attach(struct job *job, uint32_t rank, uint8_t *data, uint64_t va, uint32_t rkey);

struct job_post {
	uint32_t qp;
	bool is_receive;
	struct rc_work work;
	struct rc_receive receive;
};

// What the transport of a rank is to post next; false: nothing now. One that it has no room for is
// handed back, and comes again once something completes on its queue pair. A job that has just
// filled memory says false, too, so that its owner looks at the clock again.
bool job_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out);
void job_refused(struct job *job, uint32_t rank, const struct job_post *post);

void job_done(struct job *job, uint32_t rank, uint32_t qp, const struct rc_completion *completion,
	      ns_t now);

// When job_next() may have something without a completion before.
ns_t job_deadline(const struct job *job, ns_t now);

// No more work begins; what is on its way still arrives.
void job_stop(struct job *job);

enum job_state { JOB_RUNNING, JOB_OVER, JOB_FAILED };
enum job_state job_state(struct job *job);

// --- what a rank waits for --------------------------------------------------------------------

enum job_cause {
	JOB_CAUSE_NONE,          // nothing to do
	JOB_CAUSE_RETRANSMITTED, // packets are sent again
	JOB_CAUSE_PAUSED,        // its priority is held by PFC
	JOB_CAUSE_MARKED,        // DCQCN holds it below its line
	JOB_CAUSE_PORT,          // it sends as fast as its port can
	JOB_CAUSE_PEER,          // all is sent; what it waits for has not come
	JOB_CAUSES,
};

// Adds the time since the last look at this rank to a cause.
void job_observe(struct job *job, uint32_t rank, const struct sight *sight, ns_t now);

// --- results ----------------------------------------------------------------------------------

struct job_rank_result {
	uint64_t cause_ns[JOB_CAUSES];
	uint32_t waited_for; // the rank it waited for longest; JOB_NONE: for nobody
	uint64_t busy_ns;    // of its collective's iterations, in sum
};

struct job_flow_result {
	uint64_t bytes; // of messages that are done
	uint64_t messages;
	ns_t first; // posted; NS_NEVER: nothing was
	ns_t last;  // done
};

// Messages by size, of flows that have arrivals.
enum { JOB_SIZES = 6 };
struct job_size_result {
	uint64_t most_bytes;       // those that are larger than of the size before
	struct histogram time;     // from when they were due to their completion
	struct histogram slowdown; // that by their ideal, in thousandths
};

struct job_result {
	// Of messages: from post to completion, half a round of ping-pong, or from when they were
	// due.
	struct histogram latency;
	struct histogram lateness;  // from when they were due to their post
	struct histogram slowdown;  // of all sizes
	struct histogram iteration; // durations of a collective's iterations
	uint64_t bytes;             // of messages that are done
	uint64_t peak_bytes;        // most of them within 1 ms
	uint64_t wrong;             // elements of collectives that are not what they should be
	uint64_t checked;           // elements that were looked at
	uint64_t failed;            // messages that completed with an error, or made no sense
	enum rc_status status;      // of the first that did
	// The rank that waited least for others, and what it was busy with.
	uint32_t slowest_rank;
	enum job_cause cause;
};

void job_result(const struct job *job, struct job_result *out);
void job_rank_result(const struct job *job, uint32_t rank, struct job_rank_result *out);
void job_flow_result(const struct job *job, uint32_t flow, struct job_flow_result *out);
void job_size_result(const struct job *job, uint32_t size, struct job_size_result *out);

// --- ranks with owners of their own -----------------------------------------------------------

// Hosts on several machines have a job each, of the same configuration. This one carries `rank`
// only, and is held in the beginning and behind each iteration of a collective: receives are posted
// and memory is filled, nothing else. Before the first job_next().
void job_carry(struct job *job, uint32_t rank);

// Ready, and waiting for the others.
bool job_is_held(const struct job *job);

// All are ready. `longest_ns` is the most of their job_last_ns(); 0: some have not ended the last
// iteration.
void job_go(struct job *job, uint64_t longest_ns);

// What the last iteration took this rank.
uint64_t job_last_ns(const struct job *job);

// Adds results of another owner, so that those above are of all ranks.
void job_take_result(struct job *job, const struct job_result *more);
void job_take_rank(struct job *job, uint32_t rank, const struct job_rank_result *result);
void job_take_flow(struct job *job, uint32_t flow, const struct job_flow_result *result);
void job_take_size(struct job *job, uint32_t size, const struct job_size_result *more);
