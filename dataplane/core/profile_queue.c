// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: queues. Scheduler, shaper and WRED of each egress queue. A queue without a scheduler
// is DWRR with weight 1; the CNP queue is strict and capped, so that it can neither be starved nor
// starve the others.

#include "dataplane/core/profile_build.h"

enum {
	TAG_BYTES = 8,                  // a frame may carry two VLAN tags beyond the MTU
	CNP_MIN_BPS = 1000000,          // default cap: one percent of the speed, at least this
	SHAPER_BURST_BYTES = 16 * 1024, // what a shaped queue may catch up
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
		bps, bps == 0 ? 0 : SHAPER_BURST_BYTES * 8 * 1000000000ull / bps
	};
}

// One queue of one port; a NULL row is the default.
static int set_queue(struct build *b, uint32_t n, uint32_t id, const struct queue_config *row,
		     uint64_t weight[QUEUE_COUNT])
{
	const struct scheduler_config *scheduler = find_scheduler(b->config, row->scheduler);
	const struct wred_config *wred = find_wred(b->config, row->wred_profile);
	struct queue_profile *queue = &b->pf->port[n].queue[id];

	if (row->scheduler[0] != '\0' && scheduler == NULL)
		return build_fail(b, FAULT_UNKNOWN_SCHEDULER, row->line, b->pf->port[n].name,
				  row->scheduler, 0, 0);
	if (row->wred_profile[0] != '\0' && wred == NULL)
		return build_fail(b, FAULT_UNKNOWN_WRED, row->line, b->pf->port[n].name,
				  row->wred_profile, 0, 0);
	if (scheduler != NULL) {
		queue->strict = scheduler->type == CONFIG_SCHEDULER_STRICT;
		weight[id] = scheduler->weight;
		shape(queue, scheduler->pir);
	}
	queue->has_wred = wred != NULL;
	return wred == NULL ? 0 : wred_of(b, wred, &queue->wred);
}

static int set_queues(struct build *b, uint32_t n, uint64_t weight[QUEUE_COUNT])
{
	for (uint32_t i = 0; i < b->config->queue_count; i++) {
		const struct queue_config *row = &b->config->queue[i];
		uint32_t first, end;
		int rc = find_ports(b, row->port, row->line, &first, &end);

		if (rc != 0)
			return rc;
		for (uint32_t id = 0; n >= first && n < end && id < QUEUE_COUNT; id++) {
			if (!(row->queue >> id & 1))
				continue;
			rc = set_queue(b, n, id, row, weight);
			if (rc != 0)
				return rc;
		}
	}
	return 0;
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

static uint64_t cnp_cap(const struct port_config *row)
{
	if (row->cnp_rate != 0)
		return row->cnp_rate;
	return row->speed == 0 ? 0 : u64_max(row->speed / 100, CNP_MIN_BPS);
}

int build_queues(struct build *b)
{
	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		struct port_profile *port = &b->pf->port[n];
		uint64_t weight[QUEUE_COUNT] = { 1, 1, 1, 1, 1, 1, 1, 1 };
		struct queue_profile *cnp = &port->queue[port->tc_to_queue[b->pf->cnp_tc]];
		uint64_t cap = cnp_cap(&b->config->port[n]);
		int rc;

		cnp->strict = true; // unless a scheduler says otherwise
		rc = set_queues(b, n, weight);
		if (rc != 0)
			return rc;
		if (cnp->strict && cap != 0 && (cnp->shaper.bps == 0 || cap < cnp->shaper.bps))
			shape(cnp, cap);
		set_quanta(port, weight);
	}
	return 0;
}
