// SPDX-License-Identifier: BSD-3-Clause
//
// A collective of a job: each rank runs its program, send by send as what they need comes in. All
// ranks begin an iteration together, when all have ended the last one, so that its duration is that
// of the slowest; ranks with owners of their own are held until then. Memory is filled and the
// result is looked at in the first and the last iteration. That takes time which is nobody's: the
// iteration begins with the next question of its owner, who looks at the clock again.

#include "traffic/core/job_state.h"

static bool is_checked(const struct job *job)
{
	return job->iteration == 0 ||
	       job->iteration + 1 == job->config->warmup + job->config->iterations;
}

static struct job_qp *qp_of(struct job *job, uint32_t rank, uint32_t send)
{
	const uint32_t to = collective_send(&job->config->collective, rank, send).to;

	return &job->qp[job_collective_qp(job, rank, to)];
}

static void push_ready(struct job *job, uint32_t rank, uint32_t send)
{
	struct job_rank *r = &job->rank[rank];
	struct job_qp *qp = qp_of(job, rank, send);

	job_push(job, rank, JOB_READY, (uint32_t)(qp - job->qp) - r->first_qp);
	r->next_send[send] = JOB_NONE;
	if (qp->ready_first == JOB_NONE)
		qp->ready_first = send;
	else
		r->next_send[qp->ready_last] = send;
	qp->ready_last = send;
	r->idle = (ns_t){ 0 };
}

static void prepare(struct job *job, uint32_t rank)
{
	const struct collective_config *c = &job->config->collective;
	struct job_rank *r = &job->rank[rank];

	r->sends_left = collective_send_count(c, rank);
	r->receives_left = collective_receive_count(c, rank);
	r->missing = 0;
	for (uint32_t i = 0; i < r->qp_count; i++)
		job->qp[r->first_qp + i].ready_first = JOB_NONE;
	memset(r->received, 0, r->receives_left);
	for (uint32_t i = 0; i < r->sends_left; i++) {
		if (collective_send(c, rank, i).needs[0] == COLLECTIVE_NONE)
			push_ready(job, rank, i);
	}
	if (r->data != NULL && is_checked(job))
		collective_fill(c, rank, job->iteration, r->data);
}

static void prepare_all(struct job *job)
{
	job->ranks_left = 0;
	for (uint32_t rank = 0; rank < job->config->rank_count; rank++) {
		if (!job_carries(job, rank))
			continue;
		prepare(job, rank);
		job->ranks_left++;
	}
	job->prepared = true;
	job->begun = false;
}

uint32_t job_collective_qp(const struct job *job, uint32_t rank, uint32_t peer)
{
	const struct job_rank *r = &job->rank[rank];
	uint32_t low = r->first_qp, high = r->first_qp + r->qp_count;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (job->qp[middle].link.rank <= peer)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void post(struct job *job, uint32_t rank, uint32_t qp, struct job_post *out)
{
	struct job_rank *r = &job->rank[rank];
	struct job_qp *q = &job->qp[r->first_qp + qp];
	const uint32_t index = q->ready_first;
	const struct collective_send send = collective_send(&job->config->collective, rank, index);
	const struct job_rank *to = &job->rank[send.to];

	q->ready_first = r->next_send[index];
	*out = (struct job_post){
		.qp = qp,
		.work = { .id = index,
			  .op = RC_WRITE,
			  .has_imm = true,
			  .imm = send.receive,
			  .data = r->data == NULL ? NULL : r->data + send.from,
			  .bytes = send.bytes,
			  .remote_va = to->va + send.at,
			  .rkey = to->rkey },
	};
}

bool job_collective_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out)
{
	struct job_rank *r = &job->rank[rank];
	uint32_t qp;

	if (!job->prepared) {
		if (job->iteration < job->config->warmup + job->config->iterations)
			prepare_all(job);
		else
			r->idle = NS_NEVER;
		return false;
	}
	if (job->held) {
		r->idle = NS_NEVER;
		return false;
	}
	if (!job->begun) {
		job->begun = true;
		job->start = now;
	}
	r->idle = NS_NEVER;
	while (!job->stopped && (qp = job_pop(job, rank, JOB_READY)) != JOB_NONE) {
		if (job->qp[r->first_qp + qp].blocked ||
		    job->qp[r->first_qp + qp].ready_first == JOB_NONE)
			continue;
		post(job, rank, qp, out);
		job_push(job, rank, JOB_READY, qp);
		r->idle = (ns_t){ 0 };
		return true;
	}
	return false;
}

void job_collective_refused(struct job *job, uint32_t rank, const struct job_post *post)
{
	struct job_rank *r = &job->rank[rank];
	struct job_qp *qp = &job->qp[r->first_qp + post->qp];
	const uint32_t send = (uint32_t)post->work.id;

	r->next_send[send] = qp->ready_first;
	if (qp->ready_first == JOB_NONE)
		qp->ready_last = send;
	qp->ready_first = send;
}

static bool may_go(const struct job *job, uint32_t rank, uint32_t index)
{
	const struct collective_send send = collective_send(&job->config->collective, rank, index);

	for (uint32_t i = 0; i < 2; i++) {
		if (send.needs[i] != COLLECTIVE_NONE && !job->rank[rank].received[send.needs[i]])
			return false;
	}
	return true;
}

// False when the immediate names no receive that is missing: the peer is wrong.
static bool take(struct job *job, uint32_t rank, uint32_t index)
{
	const struct collective_config *c = &job->config->collective;
	struct job_rank *r = &job->rank[rank];
	struct collective_receive receive;
	uint32_t next[2];
	uint32_t count;

	if (index >= collective_receive_count(c, rank) || r->received[index])
		return false;
	receive = collective_receive(c, rank, index);
	if (receive.reduce && r->data != NULL)
		collective_reduce(r->data + receive.into, r->data + receive.at, receive.bytes);
	r->received[index] = 1;
	r->receives_left--;
	while (r->receives_left > 0 && r->received[r->missing])
		r->missing++;
	count = collective_unblocks(c, rank, index, next);
	for (uint32_t i = 0; i < count; i++) {
		if (may_go(job, rank, next[i]))
			push_ready(job, rank, next[i]);
	}
	return true;
}

static void end_iteration(struct job *job, ns_t now)
{
	const struct job_config *config = job->config;

	job->last_ns = ns_since(now, job->start);
	job->held = job->carried != JOB_NONE;
	job->unmeasured = job->held; // that is the slowest owner's to say
	if (job->iteration >= config->warmup && !job->held)
		histogram_add(&job->result.iteration, job->last_ns);
	for (uint32_t rank = 0; rank < config->rank_count && is_checked(job); rank++) {
		if (job->rank[rank].data == NULL)
			continue;
		job->result.wrong += collective_wrong(&config->collective, rank, job->iteration,
						      job->rank[rank].data);
		job->result.checked += config->collective.elements;
	}
	job->iteration++;
	job->prepared = false;
}

void job_collective_done(struct job *job, uint32_t rank, const struct rc_completion *completion,
			 ns_t now)
{
	struct job_rank *r = &job->rank[rank];

	if (!completion->receive) {
		r->sends_left--;
		job_count(job, completion->bytes, ns_since(completion->done, completion->posted),
			  now);
	} else if (!completion->has_imm || !take(job, rank, completion->imm)) {
		if (job->result.failed++ == 0)
			job->result.status = RC_REMOTE_INVALID;
		return;
	}
	if (r->sends_left != 0 || r->receives_left != 0)
		return;
	if (job->iteration >= job->config->warmup)
		r->result.busy_ns += ns_since(now, job->start);
	if (--job->ranks_left == 0)
		end_iteration(job, now);
}
