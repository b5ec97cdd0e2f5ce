// SPDX-License-Identifier: BSD-3-Clause
//
// A job's memory, queue pairs, observation and results. What is posted when is in job_flow.c and
// job_collective.c; receives, which both need, are posted here, ahead of all else.

#include "traffic/core/job_state.h"

#include <errno.h>
#include <string.h>

enum { PEER_WORDS = JOB_RANK_MAX / 64, WINDOW_NS = 1000000 };

// Ranks as a set of bits.
struct peers {
	uint64_t word[PEER_WORDS];
};

bool job_is_collective(const struct job_config *config)
{
	return config->iterations > 0;
}

// --- checks -----------------------------------------------------------------------------------

static const char *wrong_with_arrivals(const struct job_flow *flow)
{
	if (flow->ping_pong || flow->gap_ns != 0 || flow->stop.v != 0)
		return "arrivals have their own times";
	for (uint64_t i = 0; i < flow->messages; i++) {
		if (flow->arrival[i].bytes > flow->bytes || flow->arrival[i].ideal_ns == 0)
			return "an arrival that is larger than its flow's, or has no ideal";
		if (i > 0 && ns_before(flow->arrival[i].at, flow->arrival[i - 1].at))
			return "arrivals out of order";
	}
	return NULL;
}

static bool has_arrivals(const struct job_config *config)
{
	bool has = false;

	for (uint32_t i = 0; i < config->flow_count; i++)
		has |= config->flow[i].arrival != NULL;
	return has;
}

static const char *wrong_with(const struct job_config *config, const struct job_flow *flow)
{
	if (flow->src >= config->rank_count || flow->dst >= config->rank_count)
		return "no such rank";
	if (flow->src == flow->dst)
		return "from a rank to itself";
	if (flow->depth == 0)
		return "depth: at least 1";
	if (flow->messages == 0 && flow->stop.v == 0 && flow->arrival == NULL)
		return "without an end";
	if (flow->ping_pong && flow->op == RC_READ)
		return "a READ is answered by its data";
	if (flow->bytes > RC_BYTES_MAX)
		return "message too long";
	if (config->receive_depth == 0 && (flow->ping_pong || flow->op == RC_SEND))
		return "receives: at least 1";
	return flow->arrival == NULL ? NULL : wrong_with_arrivals(flow);
}

int job_check(const struct job_config *config, const char **what, uint32_t *flow)
{
	*what = NULL;
	*flow = JOB_NONE;
	if (config->rank_count < 2 || config->rank_count > JOB_RANK_MAX)
		*what = "ranks: 2 to 1024";
	else if (job_is_collective(config) && config->collective.rank_count != config->rank_count)
		*what = "ranks of the collective";
	else if (job_is_collective(config) && config->receive_depth == 0)
		*what = "receives: at least 1";
	else if (job_is_collective(config))
		return collective_check(&config->collective, what);
	else if (config->flow_count == 0)
		*what = "nothing to do";
	for (uint32_t i = 0; i < config->flow_count && *what == NULL; i++) {
		*what = wrong_with(config, &config->flow[i]);
		*flow = *what != NULL ? i : JOB_NONE;
	}
	return *what == NULL ? 0 : -EINVAL;
}

// --- memory -----------------------------------------------------------------------------------

static struct peers peers_of(const struct job_config *config, uint32_t rank)
{
	const struct collective_config *c = &config->collective;
	struct peers peers = { 0 };

	for (uint32_t i = 0; i < collective_send_count(c, rank); i++) {
		const uint32_t to = collective_send(c, rank, i).to;

		peers.word[to / 64] |= 1ull << to % 64;
	}
	for (uint32_t i = 0; i < collective_receive_count(c, rank); i++) {
		const uint32_t from = collective_receive(c, rank, i).from;

		peers.word[from / 64] |= 1ull << from % 64;
	}
	return peers;
}

static uint32_t count_peers(const struct peers *peers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PEER_WORDS; i++)
		count += (uint32_t)__builtin_popcountll(peers->word[i]);
	return count;
}

// Arrays one behind the other; with `base` NULL only their sizes count.
struct layout {
	uint8_t *base;
	size_t used;
};

static void *take(struct layout *layout, size_t count, size_t bytes)
{
	void *at = layout->base == NULL ? NULL : layout->base + layout->used;

	layout->used += (count * bytes + 63) / 64 * 64;
	return at;
}

static uint32_t count_qps(const struct job_config *config)
{
	uint32_t count = 2 * config->flow_count;

	if (!job_is_collective(config))
		return count;
	count = 0;
	for (uint32_t rank = 0; rank < config->rank_count; rank++) {
		const struct peers peers = peers_of(config, rank);

		count += count_peers(&peers);
	}
	return count;
}

static struct job *lay_out(struct layout *layout, const struct job_config *config)
{
	struct job *job = take(layout, 1, sizeof(*job));
	struct job fixed = {
		.config = config,
		.qp_count = count_qps(config),
		.carried = JOB_NONE,
	};

	fixed.rank = take(layout, config->rank_count, sizeof(*fixed.rank));
	fixed.qp = take(layout, fixed.qp_count, sizeof(*fixed.qp));
	fixed.flow = take(layout, config->flow_count, sizeof(*fixed.flow));
	fixed.timer = take(layout, 2 * (size_t)config->flow_count, sizeof(*fixed.timer));
	fixed.timer_place = take(layout, 2 * (size_t)config->flow_count,
				 sizeof(*fixed.timer_place));
	fixed.size = take(layout, has_arrivals(config) ? JOB_SIZES : 0, sizeof(*fixed.size));
	if (!has_arrivals(config))
		fixed.size = NULL;
	if (job != NULL)
		*job = fixed;
	for (uint32_t i = 0; i < config->rank_count && job_is_collective(config); i++) {
		uint32_t *next_send = take(layout, collective_send_count(&config->collective, i),
					   sizeof(*next_send));
		uint8_t *received = take(layout, collective_receive_count(&config->collective, i),
					 1);

		if (job == NULL)
			continue;
		job->rank[i].next_send = next_send;
		job->rank[i].received = received;
	}
	return job;
}

size_t job_bytes(const struct job_config *config)
{
	struct layout layout = { 0 };

	lay_out(&layout, config);
	return layout.used;
}

// --- queue pairs ------------------------------------------------------------------------------

// Queue pairs of a rank from `first` on, by peer.
static void add_peers(struct job *job, uint32_t rank, uint32_t first)
{
	const struct peers peers = peers_of(job->config, rank);
	struct job_qp *qp = &job->qp[first];

	job->rank[rank].first_qp = first;
	job->rank[rank].qp_count = count_peers(&peers);
	for (uint32_t i = 0; i < job->config->rank_count; i++) {
		if (!(peers.word[i / 64] >> i % 64 & 1))
			continue;
		*qp++ = (struct job_qp){
			.link = { .rank = i, .dscp = job->config->dscp },
			.flow = JOB_NONE,
			.wants = job->config->receive_depth,
		};
	}
}

static void link_collective(struct job *job)
{
	uint32_t next = 0;

	for (uint32_t rank = 0; rank < job->config->rank_count; rank++) {
		add_peers(job, rank, next);
		next += job->rank[rank].qp_count;
	}
	for (uint32_t rank = 0; rank < job->config->rank_count; rank++) {
		for (uint32_t i = 0; i < job->rank[rank].qp_count; i++) {
			struct job_link *link = &job->qp[job->rank[rank].first_qp + i].link;

			link->qp = job_collective_qp(job, link->rank, rank) -
				   job->rank[link->rank].first_qp;
		}
	}
}

static bool receives(const struct job_flow *flow, bool is_src)
{
	return flow->ping_pong || (flow->op == RC_SEND && !is_src);
}

// Adds one end of a flow to its rank; returns its queue pair there.
static uint32_t add_end(struct job *job, uint32_t index, bool is_src)
{
	const struct job_flow *flow = &job->config->flow[index];
	struct job_rank *r = &job->rank[is_src ? flow->src : flow->dst];
	const uint32_t qp = r->qp_count++;

	job->qp[r->first_qp + qp] = (struct job_qp){
		.link = { .rank = is_src ? flow->dst : flow->src, .dscp = flow->dscp },
		.flow = index,
		.is_src = is_src,
		.wants = receives(flow, is_src) ? job->config->receive_depth : 0,
	};
	return qp;
}

static void link_flows(struct job *job)
{
	const struct job_config *config = job->config;
	uint32_t next = 0;

	for (uint32_t i = 0; i < config->flow_count; i++) {
		job->rank[config->flow[i].src].qp_count++;
		job->rank[config->flow[i].dst].qp_count++;
	}
	for (uint32_t rank = 0; rank < config->rank_count; rank++) {
		job->rank[rank].first_qp = next;
		heap_init(&job->rank[rank].timers, job->timer + next, job->timer_place + next,
			  job->rank[rank].qp_count);
		next += job->rank[rank].qp_count;
		job->rank[rank].qp_count = 0;
	}
	for (uint32_t i = 0; i < config->flow_count; i++) {
		struct job_flow_state *st = &job->flow[i];
		const struct job_rank *src = &job->rank[config->flow[i].src];
		const struct job_rank *dst = &job->rank[config->flow[i].dst];

		st->src_qp = add_end(job, i, true);
		st->dst_qp = add_end(job, i, false);
		job->qp[src->first_qp + st->src_qp].link.qp = st->dst_qp;
		job->qp[dst->first_qp + st->dst_qp].link.qp = st->src_qp;
		st->result.first = NS_NEVER;
	}
}

// All of its queue pairs, since it is not known yet which of them have something to do.
static void fill_lists(struct job *job, uint32_t rank)
{
	struct job_rank *r = &job->rank[rank];

	for (uint32_t list = 0; list < JOB_LISTS; list++) {
		r->list[list] = (struct job_fifo){ JOB_NONE, JOB_NONE };
		for (uint32_t i = 0; i < r->qp_count; i++) {
			job->qp[r->first_qp + i].next[list] = JOB_OUT;
			job_push(job, rank, (enum job_list)list, i);
		}
	}
}

struct job *job_init(const struct job_config *config, void *memory)
{
	struct layout layout = { .base = memory };
	struct job *job = lay_out(&layout, config);

	for (uint32_t rank = 0; rank < config->rank_count; rank++)
		job->rank[rank].result.waited_for = JOB_NONE;
	if (job_is_collective(config))
		link_collective(job);
	else
		link_flows(job);
	for (uint32_t rank = 0; rank < config->rank_count; rank++)
		fill_lists(job, rank);
	if (job_is_collective(config))
		job->memory_bytes = collective_memory(&config->collective);
	for (uint32_t i = 0; i < config->flow_count; i++)
		job->memory_bytes = u64_max(job->memory_bytes, config->flow[i].bytes);
	return job;
}

uint32_t job_qp_count(const struct job *job, uint32_t rank)
{
	return job->rank[rank].qp_count;
}

struct job_link job_link(const struct job *job, uint32_t rank, uint32_t qp)
{
	return job->qp[job->rank[rank].first_qp + qp].link;
}

uint64_t job_memory_bytes(const struct job *job)
{
	return job->memory_bytes;
}

void job_attach(struct job *job, uint32_t rank, uint8_t *data, uint64_t va, uint32_t rkey)
{
	job->rank[rank].data = data;
	job->rank[rank].va = va;
	job->rank[rank].rkey = rkey;
}

// --- running ----------------------------------------------------------------------------------

void job_push(struct job *job, uint32_t rank, enum job_list list, uint32_t qp)
{
	const uint32_t first = job->rank[rank].first_qp;
	struct job_fifo *fifo = &job->rank[rank].list[list];

	if (job->qp[first + qp].next[list] != JOB_OUT)
		return;
	job->qp[first + qp].next[list] = JOB_NONE;
	if (fifo->first == JOB_NONE)
		fifo->first = qp;
	else
		job->qp[first + fifo->last].next[list] = qp;
	fifo->last = qp;
}

uint32_t job_pop(struct job *job, uint32_t rank, enum job_list list)
{
	struct job_fifo *fifo = &job->rank[rank].list[list];
	const uint32_t qp = fifo->first;
	struct job_qp *q;

	if (qp == JOB_NONE)
		return JOB_NONE;
	q = &job->qp[job->rank[rank].first_qp + qp];
	fifo->first = q->next[list];
	q->next[list] = JOB_OUT;
	return qp;
}

// A receive that a queue pair of the rank lacks. One queue pair gets all of its own in a row.
static bool receive_next(struct job *job, uint32_t rank, struct job_post *out)
{
	struct job_rank *r = &job->rank[rank];

	for (uint32_t at = r->list[JOB_LACKING].first; at != JOB_NONE;
	     at = r->list[JOB_LACKING].first) {
		struct job_qp *qp = &job->qp[r->first_qp + at];

		if (qp->receives >= qp->wants) {
			job_pop(job, rank, JOB_LACKING);
			continue;
		}
		qp->receives++;
		*out = (struct job_post){
			.qp = at,
			.is_receive = true,
			.receive = { .data = r->data, .bytes = job->memory_bytes },
		};
		return true;
	}
	return false;
}

bool job_next(struct job *job, uint32_t rank, ns_t now, struct job_post *out)
{
	if (ns_before(now, job->rank[rank].idle))
		return false;
	if (receive_next(job, rank, out))
		return true;
	if (job_is_collective(job->config))
		return job_collective_next(job, rank, now, out);
	if (job->held) {
		job->rank[rank].idle = NS_NEVER;
		return false;
	}
	return job_flow_next(job, rank, now, out);
}

void job_refused(struct job *job, uint32_t rank, const struct job_post *post)
{
	struct job_rank *r = &job->rank[rank];
	struct job_qp *qp = &job->qp[r->first_qp + post->qp];

	if (post->is_receive) { // it has room for so many
		qp->wants = --qp->receives;
		return;
	}
	qp->blocked = true;
	job_push(job, rank, JOB_READY, post->qp);
	if (job_is_collective(job->config))
		job_collective_refused(job, rank, post);
	else
		job_flow_refused(job, rank, post);
}

void job_count(struct job *job, uint64_t bytes, uint64_t latency_ns, ns_t now)
{
	struct job_result *result = &job->result;

	if (ns_since(now, job->window) >= WINDOW_NS) {
		job->window = now;
		job->window_bytes = 0;
	}
	job->window_bytes += bytes;
	result->peak_bytes = u64_max(result->peak_bytes, job->window_bytes);
	result->bytes += bytes;
	histogram_add(&result->latency, latency_ns);
}

// The largest but of the last size, which has no bound.
static const uint64_t size_bounds[JOB_SIZES - 1] = { 1000, 10000, 100000, 1000000, 10000000 };

void job_count_arrival(struct job *job, const struct job_arrival *arrival, uint64_t latency_ns,
		       uint64_t late_ns)
{
	const uint64_t slowdown = latency_ns * 1000 / arrival->ideal_ns;
	uint32_t size = 0;

	while (size < JOB_SIZES - 1 && arrival->bytes > size_bounds[size])
		size++;
	histogram_add(&job->size[size].time, latency_ns);
	histogram_add(&job->size[size].slowdown, slowdown);
	histogram_add(&job->result.slowdown, slowdown);
	histogram_add(&job->result.lateness, late_ns);
}

void job_done(struct job *job, uint32_t rank, uint32_t qp, const struct rc_completion *completion,
	      ns_t now)
{
	struct job_rank *r = &job->rank[rank];
	struct job_qp *q = &job->qp[r->first_qp + qp];

	r->idle = (ns_t){ 0 };
	if (completion->receive) {
		q->receives--;
		job_push(job, rank, JOB_LACKING, qp);
	} else {
		q->blocked = false;
	}
	if (completion->status != RC_OK) {
		if (job->result.failed++ == 0)
			job->result.status = completion->status;
		return;
	}
	if (job_is_collective(job->config)) {
		job_push(job, rank, JOB_READY, qp);
		job_collective_done(job, rank, completion, now);
	} else {
		job_flow_done(job, rank, q, completion, now);
		job_flow_wake(job, rank, qp, now);
	}
}

ns_t job_deadline(const struct job *job, ns_t now)
{
	ns_t at = NS_NEVER;

	for (uint32_t rank = 0; rank < job->config->rank_count; rank++) {
		if (job_carries(job, rank))
			at = ns_min(at, job->rank[rank].idle);
	}
	return ns_before(at, now) ? now : at;
}

void job_stop(struct job *job)
{
	job->stopped = true;
	for (uint32_t i = 0; i < job->config->flow_count; i++)
		job->flow[i].closed = true;
}

static bool is_over(const struct job *job, uint32_t flow)
{
	const struct job_flow_state *st = &job->flow[flow];

	return !job_carries(job, job->config->flow[flow].src) ||
	       (st->closed && st->posted == st->done);
}

enum job_state job_state(struct job *job)
{
	const struct job_config *config = job->config;

	if (job->result.failed > 0)
		return JOB_FAILED;
	if (job_is_collective(config)) {
		if (job->stopped)
			return JOB_OVER;
		return job->iteration < config->warmup + config->iterations ? JOB_RUNNING :
									      JOB_OVER;
	}
	while (job->first_open < config->flow_count && is_over(job, job->first_open))
		job->first_open++;
	return job->first_open < config->flow_count ? JOB_RUNNING : JOB_OVER;
}

// --- ranks with owners of their own -----------------------------------------------------------

void job_carry(struct job *job, uint32_t rank)
{
	job->carried = rank;
	job->held = true;
}

bool job_is_held(const struct job *job)
{
	return job->held && (job->prepared || !job_is_collective(job->config));
}

void job_go(struct job *job, uint64_t longest_ns)
{
	if (job->unmeasured && longest_ns != 0 && job->iteration > job->config->warmup)
		histogram_add(&job->result.iteration, longest_ns);
	job->unmeasured = false;
	job->held = false;
	job->rank[job->carried].idle = (ns_t){ 0 };
}

uint64_t job_last_ns(const struct job *job)
{
	return job->last_ns;
}

void job_take_result(struct job *job, const struct job_result *more)
{
	struct job_result *sum = &job->result;

	histogram_merge(&sum->latency, &more->latency);
	histogram_merge(&sum->lateness, &more->lateness);
	histogram_merge(&sum->slowdown, &more->slowdown);
	sum->bytes += more->bytes;
	sum->peak_bytes += more->peak_bytes;
	sum->wrong += more->wrong;
	sum->checked += more->checked;
	if (sum->failed == 0)
		sum->status = more->status;
	sum->failed += more->failed;
}

void job_take_rank(struct job *job, uint32_t rank, const struct job_rank_result *result)
{
	job->rank[rank].result = *result;
}

void job_take_flow(struct job *job, uint32_t flow, const struct job_flow_result *result)
{
	job->flow[flow].result = *result;
}

void job_take_size(struct job *job, uint32_t size, const struct job_size_result *more)
{
	if (job->size == NULL)
		return;
	histogram_merge(&job->size[size].time, &more->time);
	histogram_merge(&job->size[size].slowdown, &more->slowdown);
}

// --- what a rank waits for --------------------------------------------------------------------

static bool is_waiting(const struct job *job, const struct job_rank *r)
{
	return job_is_collective(job->config) && job->begun && r->receives_left > 0;
}

static enum job_cause cause_of(const struct job *job, const struct job_rank *r,
			       const struct sight *sight)
{
	if (sight->retransmits != r->retransmits)
		return JOB_CAUSE_RETRANSMITTED;
	if (sight->sending && sight->paused)
		return JOB_CAUSE_PAUSED;
	if (sight->sending && sight->rate_bps < sight->line_bps / 10 * 9)
		return JOB_CAUSE_MARKED;
	if (sight->sending)
		return JOB_CAUSE_PORT;
	return is_waiting(job, r) ? JOB_CAUSE_PEER : JOB_CAUSE_NONE;
}

// The majority vote of Boyer and Moore (1981), by time.
static void vote(struct job_rank *r, uint32_t peer, uint64_t ns)
{
	if (r->result.waited_for == peer) {
		r->waited_ns += ns;
	} else if (r->waited_ns >= ns) {
		r->waited_ns -= ns;
	} else {
		r->result.waited_for = peer;
		r->waited_ns = ns - r->waited_ns;
	}
}

void job_observe(struct job *job, uint32_t rank, const struct sight *sight, ns_t now)
{
	struct job_rank *r = &job->rank[rank];
	const enum job_cause cause = cause_of(job, r, sight);
	const uint64_t ns = r->seen.v == 0 ? 0 : ns_since(now, r->seen);

	r->seen = now;
	r->retransmits = sight->retransmits;
	r->result.cause_ns[cause] += ns;
	if (cause == JOB_CAUSE_PEER)
		vote(r, collective_receive(&job->config->collective, rank, r->missing).from, ns);
}

static uint64_t own_ns(const struct job_rank *r)
{
	return r->result.cause_ns[JOB_CAUSE_RETRANSMITTED] + r->result.cause_ns[JOB_CAUSE_PAUSED] +
	       r->result.cause_ns[JOB_CAUSE_MARKED] + r->result.cause_ns[JOB_CAUSE_PORT];
}

static void find_slowest(const struct job *job, struct job_result *out)
{
	const struct job_rank *slowest = &job->rank[0];
	uint64_t most = 0;

	for (uint32_t i = 1; i < job->config->rank_count; i++) {
		if (own_ns(&job->rank[i]) > own_ns(slowest))
			slowest = &job->rank[i];
	}
	out->slowest_rank = (uint32_t)(slowest - job->rank);
	out->cause = JOB_CAUSE_NONE;
	for (uint32_t i = JOB_CAUSE_RETRANSMITTED; i <= JOB_CAUSE_PORT; i++) {
		if (slowest->result.cause_ns[i] <= most)
			continue;
		most = slowest->result.cause_ns[i];
		out->cause = i;
	}
}

void job_result(const struct job *job, struct job_result *out)
{
	*out = job->result;
	find_slowest(job, out);
}

void job_rank_result(const struct job *job, uint32_t rank, struct job_rank_result *out)
{
	*out = job->rank[rank].result;
}

void job_flow_result(const struct job *job, uint32_t flow, struct job_flow_result *out)
{
	*out = job->flow[flow].result;
}

void job_size_result(const struct job *job, uint32_t size, struct job_size_result *out)
{
	memset(out, 0, sizeof(*out));
	if (job->size != NULL)
		*out = job->size[size];
	out->most_bytes = size < JOB_SIZES - 1 ? size_bounds[size] : UINT64_MAX;
}
