// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: PFC watchdogs. A row of pfc_wd names queues of a port; what else belongs to each of
// them, the priorities that pause it and the groups that these announce, follows from the maps.
//
// A port without PFC has nothing to watch, so a row that names it is skipped; the shell says so.

#include "dataplane/core/profile_build.h"

// What of a port belongs to a queue.
static void relate(const struct port_profile *port, uint32_t queue, struct watchdog_profile *out)
{
	const uint8_t announced = port->gen.enable | port->held.enable;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		const uint8_t group = port->prio_to_pg[prio];

		if (!(port->rx.obey >> prio & 1) || port->prio_to_queue[prio] != queue)
			continue;
		out->priorities |= (uint8_t)(1u << prio);
		if ((announced >> prio & 1) && port->pg[group].lossless)
			out->groups |= (uint8_t)(1u << group);
	}
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (out->groups >> port->prio_to_pg[prio] & 1)
			out->announced |= (uint8_t)(1u << prio);
	}
}

static int watch(struct build *b, const struct pfc_wd_config *row, struct port_profile *port,
		 uint32_t queue)
{
	struct watchdog_profile *pf = &port->watchdog[queue];

	if (port->watched >> queue & 1)
		return build_fail(b, FAULT_OVERLAP, row->line, port->name, "pfc_wd of queue", queue,
				  0);
	port->watched |= (uint8_t)(1u << queue);
	pf->action = (enum watchdog_action)row->action;
	pf->pfc = (struct pfc_watchdog_profile){
		.poll_ns = b->config->sw.pfc_wd_poll_interval,
		.detection_ns = row->detection_time,
		.restoration_ns = row->restoration_time == CONFIG_UNSET ? 2 * row->detection_time :
									  row->restoration_time,
		.paused_ppm = (uint32_t)b->config->sw.pfc_wd_threshold,
	};
	relate(port, queue, pf);
	if (pf->priorities == 0)
		return build_fail(b, FAULT_PFC_WD_QUEUE, row->line, port->name, "", queue, 0);
	return 0;
}

// Queues that a row without any means.
static uint8_t enabled_queues(const struct port_profile *port, uint8_t priorities)
{
	uint8_t queues = 0;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
		queues |= (uint8_t)((priorities >> prio & 1) << port->prio_to_queue[prio]);
	return queues;
}

static int watch_port(struct build *b, const struct pfc_wd_config *row, uint32_t n)
{
	const uint8_t enabled = (uint8_t)b->config->port[n].pfc_enable;
	struct port_profile *port = &b->pf->port[n];
	uint8_t queues = row->queue != 0 ? (uint8_t)row->queue : enabled_queues(port, enabled);
	int rc = 0;

	if (enabled == 0) {
		port->watchdog_skipped = true;
		return 0;
	}
	port->pfc_history |= row->pfc_stat_history != 0;
	for (uint32_t i = 0; rc == 0 && i < QUEUE_COUNT; i++) {
		if (queues >> i & 1)
			rc = watch(b, row, port, i);
	}
	return rc;
}

static int check_poll(struct build *b, const struct pfc_wd_config *row, uint64_t time_ns)
{
	const uint64_t poll_ns = b->config->sw.pfc_wd_poll_interval;

	if (time_ns >= poll_ns)
		return 0;
	return build_fail(b, FAULT_PFC_WD_POLL, row->line, row->port, "", time_ns, poll_ns);
}

int build_watchdogs(struct build *b)
{
	for (uint32_t i = 0; i < b->config->pfc_wd_count; i++) {
		const struct pfc_wd_config *row = &b->config->pfc_wd[i];
		uint32_t first, end;
		int rc = find_ports(b, row->port, row->line, "pfc_wd", &first, &end);

		if (rc == 0)
			rc = check_poll(b, row, row->detection_time);
		if (rc == 0)
			rc = check_poll(b, row, row->restoration_time);
		for (uint32_t n = first; rc == 0 && n < end; n++)
			rc = watch_port(b, row, n);
		if (rc != 0)
			return rc;
	}
	return 0;
}
