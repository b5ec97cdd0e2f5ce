// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks with owners of their own, as hosts on several machines have them: a job for each, between
// them a transport that delivers at once and in order, and somebody who says when all are ready.
// What one job of all ranks would reach is reached: data, messages, results.

#include <stdlib.h>
#include <string.h>

#include "tests/table.h"
#include "traffic/core/job.h"

enum { RANKS_MAX = 5, EVENTS_MAX = 4096, RECEIVES_MAX = 64, QPS_MAX = 16, TURNS_MAX = 100000 };

struct event {
	uint32_t rank;
	uint32_t qp;
	struct rc_completion completion;
};

struct owner {
	struct job *job;
	uint8_t *data;
	struct rc_receive receive[QPS_MAX][RECEIVES_MAX];
	uint32_t receive_count[QPS_MAX]; // posted so far
	uint32_t receive_used[QPS_MAX];
};

struct apart {
	const struct job_config *config;
	struct owner owner[RANKS_MAX];
	struct event event[EVENTS_MAX];
	uint32_t head, tail;
	uint32_t rounds;
	ns_t now;
};

static struct apart apart;

static void *zeros(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);

	cr_assert_not_null(memory);
	memset(memory, 0, bytes);
	return memory;
}

static void tell(uint32_t rank, uint32_t qp, struct rc_completion completion)
{
	cr_assert_lt(apart.head - apart.tail, EVENTS_MAX);
	apart.event[apart.head++ % EVENTS_MAX] = (struct event){ rank, qp, completion };
}

// The place of a peer's memory that work names.
static uint8_t *remote(const struct rc_work *work)
{
	return (uint8_t *)(uintptr_t)work->remote_va;
}

// A message takes a receive of the peer, which was posted before.
static void arrive(const struct job_link *to, const struct rc_work *work)
{
	struct owner *peer = &apart.owner[to->rank];
	const uint32_t at = peer->receive_used[to->qp]++;
	uint8_t *into = peer->receive[to->qp][at % RECEIVES_MAX].data;

	cr_assert_lt(at, peer->receive_count[to->qp], "a receive was posted");
	if (work->op == RC_SEND)
		memcpy(into, work->data, work->bytes);
	tell(to->rank, to->qp,
	     (struct rc_completion){ .receive = true,
				     .has_imm = work->has_imm,
				     .imm = work->imm,
				     .bytes = work->bytes });
}

static void carry(uint32_t rank, const struct job_post *post)
{
	struct owner *owner = &apart.owner[rank];
	const struct rc_work *work = &post->work;
	const struct job_link to = job_link(owner->job, rank, post->qp);

	if (post->is_receive) {
		const uint32_t at = owner->receive_count[post->qp]++;

		owner->receive[post->qp][at % RECEIVES_MAX] = post->receive;
		return;
	}
	cr_assert(apart.rounds > 0, "nothing is posted before all are ready");
	if (work->op == RC_WRITE)
		memmove(remote(work), work->data, work->bytes);
	if (work->op == RC_READ)
		memmove(work->data, remote(work), work->bytes);
	if (work->op == RC_SEND || work->has_imm)
		arrive(&to, work);
	tell(rank, post->qp,
	     (struct rc_completion){ .id = work->id,
				     .bytes = work->bytes,
				     .posted = apart.now,
				     .done = ns_add(apart.now, 1) });
}

static void start(const struct job_config *config)
{
	const char *what;
	uint32_t flow;

	memset(&apart, 0, sizeof(apart));
	apart.config = config;
	cr_assert_eq(job_check(config, &what, &flow), 0, "%s", what);
	for (uint32_t i = 0; i < config->rank_count; i++) {
		struct owner *owner = &apart.owner[i];

		owner->job = job_init(config, zeros(job_bytes(config)));
		owner->data = zeros(job_memory_bytes(owner->job));
		job_carry(owner->job, i);
		cr_assert_leq(job_qp_count(owner->job, i), QPS_MAX);
	}
	for (uint32_t i = 0; i < config->rank_count * config->rank_count; i++) {
		const uint32_t mine = i / config->rank_count, rank = i % config->rank_count;
		uint8_t *data = apart.owner[rank].data;

		job_attach(apart.owner[mine].job, rank, mine == rank ? data : NULL,
			   (uint64_t)(uintptr_t)data, rank);
	}
}

static void pass_events(void)
{
	while (apart.tail != apart.head) {
		const struct event *event = &apart.event[apart.tail++ % EVENTS_MAX];

		apart.now = ns_add(apart.now, 10);
		job_done(apart.owner[event->rank].job, event->rank, event->qp, &event->completion,
			 apart.now);
	}
}

// All that wait are let go once nobody has anything to do.
static void let_go(void)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < apart.config->rank_count; i++) {
		cr_assert(job_is_held(apart.owner[i].job));
		longest = u64_max(longest, job_last_ns(apart.owner[i].job));
	}
	for (uint32_t i = 0; i < apart.config->rank_count; i++)
		job_go(apart.owner[i].job, longest);
	apart.rounds++;
}

static bool turn(void)
{
	bool moved = false;
	struct job_post post;

	for (uint32_t i = 0; i < apart.config->rank_count; i++) {
		while (job_next(apart.owner[i].job, i, apart.now, &post)) {
			carry(i, &post);
			moved = true;
		}
	}
	moved |= apart.head != apart.tail;
	pass_events();
	return moved;
}

static bool is_running(void)
{
	for (uint32_t i = 0; i < apart.config->rank_count; i++) {
		if (job_state(apart.owner[i].job) == JOB_RUNNING)
			return true;
	}
	return false;
}

static void run(void)
{
	uint32_t turns = 0;
	uint32_t idle = 0;

	while (is_running()) {
		cr_assert_lt(turns++, TURNS_MAX, "it does not end");
		// A job that has filled memory says nothing once.
		idle = turn() ? 0 : idle + 1;
		if (idle == 2)
			let_go();
	}
	while (turn())
		;
}

// Rank 0 gets everybody's results.
static void gather(struct job_result *out)
{
	const struct job_config *config = apart.config;
	struct job *first = apart.owner[0].job;

	job_go(first, job_last_ns(first));
	for (uint32_t i = 1; i < config->rank_count; i++) {
		struct job_rank_result rank;

		job_result(apart.owner[i].job, out);
		job_rank_result(apart.owner[i].job, i, &rank);
		job_take_result(first, out);
		job_take_rank(first, i, &rank);
	}
	for (uint32_t i = 0; i < config->flow_count; i++) {
		struct job_flow_result flow;

		job_flow_result(apart.owner[config->flow[i].src].job, i, &flow);
		job_take_flow(first, i, &flow);
	}
	job_result(first, out);
}

static void end(void)
{
	for (uint32_t i = 0; i < apart.config->rank_count; i++) {
		free(apart.owner[i].data);
		free(apart.owner[i].job);
	}
}

// --- collectives ------------------------------------------------------------------------------

struct collective_row {
	const char *what;
	enum collective_kind kind;
	uint64_t elements;
};

static const struct collective_row collective_rows[] = {
	{ "ring all-reduce", COLLECTIVE_ALL_REDUCE, 1003 },
	{ "tree all-reduce", COLLECTIVE_ALL_REDUCE_TREE, 1003 },
	{ "all-gather", COLLECTIVE_ALL_GATHER, 1000 },
	{ "reduce-scatter", COLLECTIVE_REDUCE_SCATTER, 1000 },
	{ "all-to-all", COLLECTIVE_ALL_TO_ALL, 1000 },
	{ "one element", COLLECTIVE_ALL_REDUCE, 1 },
};

TABLE_TEST(job_apart, collective, row, collective_rows)
{
	const struct job_config config = { .rank_count = RANKS_MAX,
					   .receive_depth = 8,
					   .collective = { .kind = row->kind,
							   .rank_count = RANKS_MAX,
							   .elements = row->elements,
							   .slice_bytes = 256 },
					   .iterations = 3,
					   .warmup = 2 };
	static struct job_result result;

	start(&config);
	run();
	gather(&result);
	cr_assert_eq(result.failed, 0);
	cr_assert_eq(apart.rounds, 5);
	cr_assert_eq(result.iteration.count, 3, "the last one counts with the last word");
	// The first and the last iteration of every rank.
	cr_assert_eq(result.checked, 2 * RANKS_MAX * row->elements);
	cr_assert_eq(result.wrong, 0, "%s: %lu wrong", row->what, result.wrong);
	end();
}

// The duration of an iteration is that of the slowest owner; one that not all have ended has none.
Test(job_apart, iteration_lasts_as_long_as_its_slowest)
{
	const struct job_config config = {
		.rank_count = 2,
		.receive_depth = 8,
		.collective = { .kind = COLLECTIVE_ALL_REDUCE, .rank_count = 2, .elements = 2 },
		.iterations = 2
	};
	static struct job_result result;

	start(&config);
	while (apart.rounds < 2) {
		if (!turn() && !turn())
			let_go();
	}
	while (turn())
		;
	job_result(apart.owner[1].job, &result);
	cr_assert_eq(result.iteration.count, 1);
	cr_assert_eq(result.iteration.most, result.iteration.least);
	job_go(apart.owner[1].job, 123456);
	job_go(apart.owner[0].job, 0);
	job_result(apart.owner[1].job, &result);
	cr_assert_eq(result.iteration.count, 2);
	cr_assert_eq(result.iteration.most, 123456);
	// Nothing is left to do, and nothing to look at the clock for.
	turn();
	cr_assert_eq(job_deadline(apart.owner[1].job, apart.now).v, NS_NEVER.v);
	job_result(apart.owner[0].job, &result);
	cr_assert_eq(result.iteration.count, 1);
	end();
}

// --- flows ------------------------------------------------------------------------------------

struct flow_row {
	const char *what;
	enum rc_op op;
	bool ping_pong;
};

static const struct flow_row flow_rows[] = {
	{ "writes", RC_WRITE, false },       { "reads", RC_READ, false },
	{ "sends", RC_SEND, false },         { "write ping-pong", RC_WRITE, true },
	{ "send ping-pong", RC_SEND, true },
};

// Two to one, and one of them back: an answer is as long as what came, which its owner did not
// post.
TABLE_TEST(job_apart, flow, row, flow_rows)
{
	struct job_flow flow[3];
	const struct job_config config = {
		.rank_count = 3, .receive_depth = 8, .flow = flow, .flow_count = 3
	};
	static struct job_result result;

	for (uint32_t i = 0; i < 3; i++)
		flow[i] = (struct job_flow){ .src = i,
					     .dst = i == 0 ? 1 : 0,
					     .op = row->op,
					     .ping_pong = row->ping_pong,
					     .depth = row->ping_pong ? 1 : 4,
					     .bytes = 1000 + i,
					     .messages = 100 };
	start(&config);
	run();
	gather(&result);
	cr_assert_eq(result.failed, 0);
	cr_assert_eq(result.latency.count, 300);
	for (uint32_t i = 0; i < 3; i++) {
		struct job_flow_result got;

		job_flow_result(apart.owner[0].job, i, &got);
		cr_assert_eq(got.messages, 100, "%s, flow %u", row->what, i);
		cr_assert(ns_before(got.first, got.last));
		cr_assert_eq(got.bytes, 100 * flow[i].bytes);
	}
	cr_assert_eq(result.bytes, 300 * 1001);
	end();
}

// A held job begins nothing even when it is stopped, and is over.
Test(job_apart, stopped_before_it_began)
{
	struct job_flow flow = { .dst = 1, .depth = 1, .bytes = 1, .messages = 1 };
	const struct job_config config = {
		.rank_count = 2, .receive_depth = 1, .flow = &flow, .flow_count = 1
	};
	struct job_post post;

	start(&config);
	cr_assert_not(job_next(apart.owner[0].job, 0, apart.now, &post));
	cr_assert(job_is_held(apart.owner[0].job));
	cr_assert_eq(job_deadline(apart.owner[0].job, apart.now).v, NS_NEVER.v);
	cr_assert_eq(job_state(apart.owner[0].job), JOB_RUNNING);
	cr_assert_eq(job_state(apart.owner[1].job), JOB_OVER, "has nothing of its own to do");
	job_stop(apart.owner[0].job);
	cr_assert_eq(job_state(apart.owner[0].job), JOB_OVER);
	end();
}
