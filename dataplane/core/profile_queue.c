// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: queues. Scheduler, shaper and WRED of each egress queue; without a scheduler it is
// DWRR with weight 1. A queue that the CNP class has to itself is strict unless a scheduler says
// otherwise, and capped while it is strict, so that it can neither be starved nor starve others;
// one that CNPs share with other classes is like any other.

#include "dataplane/core/profile_build.h"

enum {
	CNP_MIN_BPS = 1000000,          // default cap: one percent of the rate, at least this
	SHAPER_BURST_BYTES = 16 * 1024, // what a shaped queue may catch up
};

// Of one port, while the rows are read.
struct queue_draft {
	uint64_t weight[QUEUE_COUNT];
	uint8_t scheduled; // queues that a row has given a scheduler
	uint8_t marked;    // queues that a row has given a wred_profile
};

static const struct scheduler_config *find_scheduler(const struct sw_config *config,
						     const char *name)
{
	for (uint32_t i = 0; i < config->scheduler_count; i++) {
		if (name_equal(config->scheduler[i].name, name))
			return &config->scheduler[i];
	}
	return NULL;
}

static const struct wred_config *find_wred(const struct sw_config *config, const char *name)
{
	for (uint32_t i = 0; i < config->wred_count; i++) {
		if (name_equal(config->wred[i].name, name))
			return &config->wred[i];
	}
	return NULL;
}

static uint64_t either(uint64_t value, uint64_t fallback)
{
	return value == CONFIG_UNSET ? fallback : value;
}

static int wred_of(struct build *b, const struct wred_config *row, struct wred_profile *out)
{
	*out = (struct wred_profile){
		.ecn = row->ecn != 0,
		.wred = row->wred_green_enable != 0,
		.mark_at_enqueue = row->mark_at != 0,
		.drop = { row->green_min_threshold, row->green_max_threshold,
			  (uint32_t)row->green_drop_probability },
		.mark = { either(row->green_ect_min_threshold, row->green_min_threshold),
			  either(row->green_ect_max_threshold, row->green_max_threshold),
			  (uint32_t)either(row->green_ect_mark_probability,
					   row->green_drop_probability) },
	};
	if (out->drop.min_bytes > out->drop.max_bytes)
		return build_fail(b, FAULT_RED_ORDER, row->line, row->name, "", out->drop.min_bytes,
				  out->drop.max_bytes);
	if (out->mark.min_bytes > out->mark.max_bytes)
		return build_fail(b, FAULT_RED_ORDER, row->line, row->name, "", out->mark.min_bytes,
				  out->mark.max_bytes);
	return 0;
}

static void shape(struct queue_profile *queue, uint64_t bps)
{
	queue->shaper = (struct pacer_profile){
		bps, bps == 0 ? 0 : SHAPER_BURST_BYTES * 8ull * 1000000000 / bps
	};
}

static int set_scheduler(struct build *b, uint32_t n, uint32_t id, const struct queue_config *row,
			 struct queue_draft *draft)
{
	const struct scheduler_config *scheduler = find_scheduler(b->config, row->scheduler);
	struct port_profile *port = &b->pf->port[n];

	if (scheduler == NULL)
		return build_fail(b, FAULT_UNKNOWN_SCHEDULER, row->line, port->name, row->scheduler,
				  0, 0);
	if (draft->scheduled >> id & 1)
		return build_fail(b, FAULT_OVERLAP, row->line, port->name, "scheduler of queue", id,
				  0);
	draft->scheduled |= (uint8_t)(1u << id);
	draft->weight[id] = scheduler->weight;
	port->queue[id].strict = scheduler->type == CONFIG_SCHEDULER_STRICT;
	shape(&port->queue[id], scheduler->pir);
	return 0;
}

static int set_wred(struct build *b, uint32_t n, uint32_t id, const struct queue_config *row,
		    struct queue_draft *draft)
{
	const struct wred_config *wred = find_wred(b->config, row->wred_profile);
	struct port_profile *port = &b->pf->port[n];

	if (wred == NULL)
		return build_fail(b, FAULT_UNKNOWN_WRED, row->line, port->name, row->wred_profile,
				  0, 0);
	if (draft->marked >> id & 1)
		return build_fail(b, FAULT_OVERLAP, row->line, port->name, "wred_profile of queue",
				  id, 0);
	draft->marked |= (uint8_t)(1u << id);
	port->queue[id].has_wred = true;
	return wred_of(b, wred, &port->queue[id].wred);
}

// One queue of one port: a row sets what it names and nothing else.
static int set_queue(struct build *b, uint32_t n, uint32_t id, const struct queue_config *row,
		     struct queue_draft *draft)
{
	int rc = row->scheduler[0] == '\0' ? 0 : set_scheduler(b, n, id, row, draft);

	if (rc != 0 || row->wred_profile[0] == '\0')
		return rc;
	return set_wred(b, n, id, row, draft);
}

static int set_row(struct build *b, uint32_t n, const struct queue_config *row,
		   struct queue_draft *draft)
{
	uint32_t first, end;
	int rc = find_ports(b, row->port, row->line, "queue", &first, &end);

	if (rc != 0 || n < first || n >= end)
		return rc;
	for (uint32_t id = 0; rc == 0 && id < QUEUE_COUNT; id++) {
		if (row->queue >> id & 1)
			rc = set_queue(b, n, id, row, draft);
	}
	return rc;
}

// Quanta keep the ratio of the weights, the lightest queue sending one largest frame per round.
static void set_quanta(struct port_profile *port, const uint64_t weight[QUEUE_COUNT])
{
	uint64_t least = UINT64_MAX;
	uint64_t frame = port->max_frame_bytes + TAG_BYTES;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		least = port->queue[i].strict ? least : u64_min(least, weight[i]);
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		struct queue_profile *queue = &port->queue[i];

		if (!queue->strict)
			queue->quantum_bytes = (uint32_t)(frame * weight[i] / least);
		port->strict_mask |= (uint8_t)(queue->strict << i);
		port->shaped_mask |= (uint8_t)((queue->shaper.bps != 0) << i);
	}
}

void cap_cnp_queue(const struct sw_profile *pf, struct port_profile *port)
{
	uint64_t bps = port->line.bps != 0 ? port->line.bps : port->rx.bps;

	shape(&port->queue[port->tc_to_queue[pf->cnp_tc]], u64_max(bps / 100, CNP_MIN_BPS));
}

// The queue of the CNP class, which no other class shares. A scheduler's own shaper holds when it
// is the tighter one.
static void set_cnp_queue(const struct sw_profile *pf, const struct port_config *row,
			  struct port_profile *port, const struct queue_draft *draft)
{
	const uint8_t id = port->tc_to_queue[pf->cnp_tc];
	struct queue_profile *queue = &port->queue[id];

	if (!(draft->scheduled >> id & 1))
		queue->strict = true;
	if (!queue->strict)
		return;
	port->cnp_mask = (uint8_t)(1u << id);
	port->cnp_follows_rate = row->cnp_rate == 0 && queue->shaper.bps == 0;
	if (port->cnp_follows_rate)
		cap_cnp_queue(pf, port);
	else if (row->cnp_rate != 0 &&
		 (queue->shaper.bps == 0 || row->cnp_rate < queue->shaper.bps))
		shape(queue, row->cnp_rate);
}

static int build_port_queues(struct build *b, uint32_t n)
{
	struct queue_draft draft = { .weight = { 1, 1, 1, 1, 1, 1, 1, 1 } };
	struct port_profile *port = &b->pf->port[n];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < b->config->queue_count; i++)
		rc = set_row(b, n, &b->config->queue[i], &draft);
	if (rc != 0)
		return rc;
	if (classes_in(port->tc_to_queue, port->tc_to_queue[b->pf->cnp_tc]) == 1)
		set_cnp_queue(b->pf, &b->config->port[n], port, &draft);
	set_quanta(port, draft.weight);
	return 0;
}

int build_queues(struct build *b)
{
	int rc = 0;

	for (uint32_t n = 0; rc == 0 && n < b->pf->port_count; n++)
		rc = build_port_queues(b, n);
	return rc;
}
