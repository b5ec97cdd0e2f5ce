// SPDX-License-Identifier: BSD-3-Clause
//
// Flows of a job: when the next message of one may be posted, and what its completion means. The
// flows of a rank that may post take turns. In ping-pong the far end answers each message with one
// of its own queue pair, and a round is measured from the post of the first to the arrival of the
// second.

#include "traffic/core/job_state.h"

static bool wants_imm(const struct job_flow *flow)
{
	return flow->ping_pong && flow->op == RC_WRITE;
}

// Work of a flow from one of its ends to the other; a reply is as long as what it answers.
static void message(struct job *job, uint32_t index, bool reply, struct job_post *out)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_flow_state *st = &job->flow[index];
	const struct job_rank *from = &job->rank[reply ? flow->dst : flow->src];
	const struct job_rank *to = &job->rank[reply ? flow->src : flow->dst];

	if (!reply)
		st->bytes = flow->arrival != NULL ? flow->arrival[st->posted].bytes : flow->bytes;
	*out = (struct job_post){
		.qp = reply ? st->dst_qp : st->src_qp,
		.work = { .id = index,
			  .op = flow->op,
			  .has_imm = wants_imm(flow),
			  .asks = flow->arrival != NULL,
			  .data = from->data,
			  .bytes = st->bytes,
			  .remote_va = to->va,
			  .rkey = to->rkey },
	};
}

static ns_t due_at(const struct job_flow *flow, uint64_t message)
{
	return ns_add(flow->start, flow->arrival[message].at.v);
}

// Time at which the flow's source may post, NS_NEVER: not before something completes.
static ns_t post_at(struct job *job, uint32_t index, ns_t now)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_flow_state *st = &job->flow[index];
	const uint64_t on_way = st->posted - st->done;
	const bool blocked = job->qp[job->rank[flow->src].first_qp + st->src_qp].blocked;

	if (flow->stop.v != 0 && !ns_before(now, flow->stop))
		st->closed = true;
	if ((flow->messages != 0 || flow->arrival != NULL) && st->posted == flow->messages)
		st->closed = true;
	if (st->closed || blocked || on_way >= (flow->ping_pong ? 1 : flow->depth))
		return NS_NEVER;
	if (flow->arrival != NULL)
		return due_at(flow, st->posted);
	return ns_before(st->next, flow->start) ? flow->start : st->next;
}

// The gap is one from burst to burst, counted from when the first message could have gone: a late
// post does not put off those behind it.
static void post(struct job *job, uint32_t index, ns_t now, struct job_post *out)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_flow_state *st = &job->flow[index];

	message(job, index, false, out);
	st->posted++;
	st->asked = now;
	if (st->result.first.v == NS_NEVER.v)
		st->result.first = now;
	st->before = st->next;
	st->next = ns_before(st->next, flow->start) ? flow->start : st->next;
	if (flow->gap_ns != 0 && st->posted % u64_max(flow->burst, 1) == 0)
		st->next = ns_add(st->next, flow->gap_ns);
}

static bool owes_reply(const struct job *job, const struct job_qp *qp)
{
	return job->flow[qp->flow].replies > 0 && !qp->blocked;
}

// Time at which a queue pair may post: now, later, or NS_NEVER.
static ns_t turn_at(struct job *job, const struct job_qp *qp, ns_t now)
{
	if (qp->is_src)
		return post_at(job, qp->flow, now);
	return owes_reply(job, qp) ? now : NS_NEVER;
}

void job_flow_wake(struct job *job, uint32_t rank, uint32_t qp, ns_t now)
{
	const struct job_qp *q = &job->qp[job->rank[rank].first_qp + qp];
	const struct job_flow *flow = &job->config->flow[q->flow];
	ns_t at = turn_at(job, q, now);

	if (!ns_before(now, at)) {
		job_push(job, rank, JOB_READY, qp);
		return;
	}
	// It is over then, whatever it waits for.
	if (q->is_src && !job->flow[q->flow].closed && flow->stop.v != 0)
		at = ns_min(at, flow->stop);
	heap_set(&job->rank[rank].timers, qp, at);
}

// Posts of a queue pair whose turn it is.
static void take_turn(struct job *job, const struct job_qp *qp, ns_t now, struct job_post *out)
{
	if (qp->is_src) {
		post(job, qp->flow, now, out);
		return;
	}
	job->flow[qp->flow].replies--;
	message(job, qp->flow, true, out);
}

bool job_flow_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out)
{
	struct job_rank *r = &job->rank[rank];
	uint32_t qp;

	while (!ns_before(now, heap_next(&r->timers))) {
		qp = r->timers.node[0].id;
		heap_remove(&r->timers, qp);
		job_flow_wake(job, rank, qp, now);
	}
	while ((qp = job_pop(job, rank, JOB_READY)) != JOB_NONE) {
		const struct job_qp *q = &job->qp[r->first_qp + qp];
		const bool is_turn = !ns_before(now, turn_at(job, q, now));

		if (is_turn)
			take_turn(job, q, now, out);
		job_flow_wake(job, rank, qp, now);
		if (is_turn) {
			r->idle = (ns_t){ 0 };
			return true;
		}
	}
	r->idle = heap_next(&r->timers);
	return false;
}

// As if it had not been posted.
void job_flow_refused(struct job *job, uint32_t rank, const struct job_post *post)
{
	const struct job_flow *flow = &job->config->flow[post->work.id];
	struct job_flow_state *st = &job->flow[post->work.id];

	// It may have been the last; whether the flow is over shows when the queue pair is looked
	// at.
	st->closed &= job->stopped;
	if (rank == flow->dst) {
		st->replies++;
		return;
	}
	st->posted--;
	st->next = st->before;
	if (st->result.messages == 0 && st->posted == 0)
		st->result.first = NS_NEVER;
}

static void finish(struct job *job, uint32_t index, uint64_t bytes, uint64_t latency_ns, ns_t now)
{
	struct job_flow_state *st = &job->flow[index];

	st->done++;
	st->result.messages++;
	st->result.bytes += bytes;
	st->result.last = now;
	job_count(job, bytes, latency_ns, now);
}

// Completions come in the order of posts, so that this is the one that was due first.
static void finish_arrival(struct job *job, uint32_t index, const struct rc_completion *completion,
			   ns_t now)
{
	const struct job_flow *flow = &job->config->flow[index];
	const uint64_t message = job->flow[index].done;
	const ns_t due = due_at(flow, message);
	const uint64_t latency_ns = ns_since(completion->done, due);

	finish(job, index, completion->bytes, latency_ns, now);
	job_count_arrival(job, &flow->arrival[message], latency_ns,
			  ns_since(completion->posted, due));
}

void job_flow_done(struct job *job, uint32_t rank, const struct job_qp *qp,
		   const struct rc_completion *completion, ns_t now)
{
	const struct job_flow *flow = &job->config->flow[qp->flow];
	struct job_flow_state *st = &job->flow[qp->flow];

	if (!completion->receive) {
		if (flow->arrival != NULL)
			finish_arrival(job, qp->flow, completion, now);
		else if (!flow->ping_pong)
			finish(job, qp->flow, completion->bytes,
			       ns_since(completion->done, completion->posted), now);
		return;
	}
	if (!flow->ping_pong)
		return;
	if (rank == flow->dst) {
		st->replies++;
		st->bytes = completion->bytes;
		return;
	}
	finish(job, qp->flow, completion->bytes, ns_since(now, st->asked) / 2, now);
}
