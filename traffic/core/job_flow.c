// SPDX-License-Identifier: BSD-3-Clause
//
// Flows of a job: when the next message of one may be posted, and what its completion means. The
// flows of a rank take turns. In ping-pong the far end answers each message with one of its own
// queue pair, and a round is measured from the post of the first to the arrival of the second.

#include "traffic/core/job_state.h"

static uint64_t next_size(struct job *job, const struct job_flow *flow)
{
	return flow->size == NULL ? flow->bytes :
				    flow->size[rng_below(&job->rng, flow->size_count)];
}

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
		st->bytes = next_size(job, flow);
	*out = (struct job_post){
		.qp = reply ? st->dst_qp : st->src_qp,
		.work = { .id = index,
			  .op = flow->op,
			  .has_imm = wants_imm(flow),
			  .data = from->data,
			  .bytes = st->bytes,
			  .remote_va = to->va,
			  .rkey = to->rkey },
	};
}

// Time at which the flow's source may post, NS_NEVER: not before something completes.
static ns_t post_at(struct job *job, uint32_t index, ns_t now)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_flow_state *st = &job->flow[index];
	const uint64_t on_way = st->posted - st->done;
	const bool blocked = job->qp[job->rank[flow->src].first_qp + st->src_qp].blocked;
	ns_t at = ns_before(st->next, flow->start) ? flow->start : st->next;

	if (flow->stop.v != 0 && !ns_before(now, flow->stop))
		st->closed = true;
	if (flow->messages != 0 && st->posted == flow->messages)
		st->closed = true;
	if (st->closed || blocked || on_way >= (flow->ping_pong ? 1 : flow->depth))
		return NS_NEVER;
	return at;
}

static void post(struct job *job, uint32_t index, ns_t now, struct job_post *out)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_flow_state *st = &job->flow[index];

	message(job, index, false, out);
	st->posted++;
	st->asked = now;
	if (st->result.first.v == NS_NEVER.v)
		st->result.first = now;
	// A late post does not put off those behind it.
	st->next = ns_add(ns_before(st->next, flow->start) ? flow->start : st->next, flow->gap_ns);
	if (flow->gap_ns == 0)
		st->next = now;
}

bool job_flow_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out)
{
	struct job_rank *r = &job->rank[rank];

	r->idle = NS_NEVER;
	for (uint32_t i = 0; i < r->member_count; i++) {
		const uint32_t turn = (r->turn + i) % r->member_count;
		const uint32_t index = job->member[r->first_member + turn];
		const struct job_flow *flow = &job->config->flow[index];
		ns_t at = NS_NEVER;

		if (flow->dst == rank && job->flow[index].replies > 0 &&
		    !job->qp[r->first_qp + job->flow[index].dst_qp].blocked) {
			job->flow[index].replies--;
			message(job, index, true, out);
			r->idle = (ns_t){ 0 };
			return true;
		}
		if (flow->src == rank)
			at = post_at(job, index, now);
		if (!ns_before(now, at)) {
			post(job, index, now, out);
			r->turn = turn + 1;
			r->idle = (ns_t){ 0 };
			return true;
		}
		r->idle = ns_min(r->idle, at);
		if (!job->flow[index].closed && flow->src == rank && flow->stop.v != 0)
			r->idle = ns_min(r->idle, flow->stop);
	}
	return false;
}

// As if it had not been posted.
void job_flow_refused(struct job *job, uint32_t rank, const struct job_post *post)
{
	const struct job_flow *flow = &job->config->flow[post->work.id];
	struct job_flow_state *st = &job->flow[post->work.id];

	if (rank == flow->dst) {
		st->replies++;
		return;
	}
	st->posted--;
	st->next = (ns_t){ u64_minus(st->next.v, flow->gap_ns) };
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

void job_flow_done(struct job *job, uint32_t rank, struct job_qp *qp,
		   const struct rc_completion *completion, ns_t now)
{
	const struct job_flow *flow = &job->config->flow[qp->flow];
	struct job_flow_state *st = &job->flow[qp->flow];

	if (!completion->receive) {
		if (!flow->ping_pong)
			finish(job, qp->flow, completion->bytes,
			       ns_since(completion->done, completion->posted), now);
		return;
	}
	if (!flow->ping_pong)
		return;
	if (rank == flow->dst) {
		st->replies++;
		return;
	}
	finish(job, qp->flow, completion->bytes, ns_since(now, st->asked) / 2, now);
}
