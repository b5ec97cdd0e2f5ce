// SPDX-License-Identifier: BSD-3-Clause
//
// Posting and counting. Completions of all queue pairs come from one queue, in the order in which
// they were done, which is what speed is measured by. Data is not looked at: it is zeros here, and
// what a peer sends is random.

#include "traffic/perftest_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/zeroed.h"

enum {
	PLACE_MIN = 65536, // the largest pages, in which a peer may go round
	RKEY = 0x5a,
};
#define BUFFER_VA 0x10000000000

static enum rc_op op_of(const struct run_config *run)
{
	if (run->op == TRAFFIC_SEND)
		return RC_SEND;
	return run->op == TRAFFIC_READ ? RC_READ : RC_WRITE;
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

int perftest_work_make(const struct traffic_config *config, struct perftest_work *work)
{
	const struct run_config *run = &config->run;
	const uint64_t place = run->size > PLACE_MIN ? run->size : PLACE_MIN;

	*work = (struct perftest_work){
		.shape = { .op = op_of(run),
			   .both = run->bidirectional,
			   .qps = (uint32_t)run->qps,
			   .size = run->size,
			   .count = run->iters * run->qps },
		.works = !run->listen || run->bidirectional,
		.iters = run->iters,
		.depth = run->depth,
		.place = round_up(place, PERFTEST_CACHE_LINE),
	};
	work->region = (struct rc_region){ .va = BUFFER_VA,
					   .bytes = work->place * work->shape.qps,
					   .data = zeroed(work->place * work->shape.qps),
					   .rkey = RKEY,
					   .remote_write = true,
					   .remote_read = true };
	work->local = zeroed(work->place);
	work->done_ns = calloc(work->shape.count, sizeof(*work->done_ns));
	if (work->region.data != NULL && work->local != NULL && work->done_ns != NULL)
		return 0;
	fputs("weft-traffic: out of memory\n", stderr);
	return -ENOMEM;
}

void perftest_work_free(struct perftest_work *work)
{
	free(work->region.data);
	free(work->local);
	free(work->done_ns);
}

uint64_t perftest_work_va(const struct perftest_work *work, uint32_t qp)
{
	return work->region.va + qp * work->place;
}

uint64_t perftest_work_target(const struct perftest_shape *shape, const struct perftest_side *peer,
			      uint32_t qp, uint64_t message)
{
	const uint64_t line = peer->line_bytes > PERFTEST_CACHE_LINE ? peer->line_bytes :
								       PERFTEST_CACHE_LINE;
	const uint64_t step = round_up(shape->size, line);
	const uint64_t places = peer->buffer_bytes / step;

	return peer->keys[qp].va + (places > 1 ? message % places * step : 0);
}

static bool post_receive(const struct perftest_work *work, struct endpoint_state *endpoint,
			 uint32_t qp)
{
	const struct rc_receive receive = { .data = work->region.data + qp * work->place,
					    .bytes = work->place };

	return endpoint_post_receive(endpoint, qp, &receive);
}

void perftest_work_listen(const struct perftest_work *work, struct endpoint_state *endpoint,
			  uint32_t qp)
{
	while (post_receive(work, endpoint, qp))
		;
}

static void post(struct perftest_work *work, const struct perftest_side *peer,
		 const struct endpoint_profile *profile, struct endpoint_state *endpoint,
		 uint32_t at, ns_t now)
{
	struct perftest_work_qp *qp = &work->qp[at];

	while (qp->posted < work->iters && qp->posted - qp->done < work->depth) {
		const struct rc_work one = {
			.op = work->shape.op,
			.data = work->local,
			.bytes = work->shape.size,
			.remote_va = perftest_work_target(&work->shape, peer, at, qp->posted),
			.rkey = peer->keys[at].rkey,
		};

		if (!endpoint_post(profile, endpoint, at, &one, now))
			return;
		qp->posted++;
	}
}

bool perftest_work_go(struct perftest_work *work, const struct perftest_side *peer,
		      const struct endpoint_profile *profile, struct endpoint_state *endpoint,
		      ns_t now)
{
	if (!work->works)
		return true;
	if (work->qp[0].posted == 0)
		work->begun = now;
	for (uint32_t i = 0; i < work->shape.qps; i++)
		post(work, peer, profile, endpoint, i, now);
	return work->done == work->shape.count;
}

static void count(struct perftest_work *work, struct endpoint_state *endpoint, uint32_t qp,
		  const struct rc_completion *done)
{
	if (done->status != RC_OK) {
		// Those behind it are flushed.
		if (!work->failed)
			fprintf(stderr, "weft-traffic: perftest: a message failed: status %d\n",
				(int)done->status);
		work->failed = true;
		return;
	}
	work->ended = done->done;
	if (!done->receive) {
		work->qp[qp].done++;
		work->done_ns[work->done++] = done->done.v;
		return;
	}
	if (work->received++ == 0 && !work->works)
		work->begun = done->posted;
	post_receive(work, endpoint, qp);
}

void perftest_work_take(struct perftest_work *work, struct endpoint_state *endpoint)
{
	struct rc_completion done;
	uint32_t qp;

	while (endpoint_complete(endpoint, &qp, &done))
		count(work, endpoint, qp, &done);
}
