// SPDX-License-Identifier: BSD-3-Clause
//
// Profile step: lossless from end to end. A lossless class needs headroom at ingress, a priority
// that announces its XOFF, and an egress queue that nothing can make drop; a configuration that
// lacks one of them would lose packets under load and is refused now.

#include "dataplane/core/profile_build.h"

// Priorities in pfc_enable stand for lossless groups, and each lossless group has one (a `hold`
// port announces nothing).
static int check_priorities(struct build *b, uint32_t n)
{
	const struct port_config *row = &b->config->port[n];
	const struct port_profile *port = &b->pf->port[n];
	uint8_t announced = 0;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (!(row->pfc_enable >> prio & 1))
			continue;
		if (!port->pg[port->prio_to_pg[prio]].lossless)
			return build_fail(b, FAULT_PFC_NOT_LOSSLESS, row->line, port->name, "",
					  prio, 0);
		announced |= (uint8_t)(1u << port->prio_to_pg[prio]);
	}
	for (uint32_t pg = 0; pg < PG_COUNT; pg++) {
		if (port->pg[pg].lossless && !port->hold && !(announced >> pg & 1))
			return build_fail(b, FAULT_LOSSLESS_NO_PFC, row->line, port->name, "", pg,
					  0);
	}
	return 0;
}

// Which classes are lossless on some port: any port may send to any other.
static uint8_t lossless_classes(const struct sw_profile *pf)
{
	uint8_t classes = 0;

	for (uint32_t n = 0; n < pf->port_count; n++) {
		for (uint32_t tc = 0; tc < TC_COUNT; tc++)
			classes |= (uint8_t)(pf->port[n].pg[pf->port[n].tc_to_pg[tc]].lossless
					     << tc);
	}
	return classes;
}

static uint64_t largest_ingress_pool(const struct sw_profile *pf)
{
	uint64_t bytes = 0;

	for (uint32_t n = 0; n < pf->port_count; n++) {
		for (uint32_t i = 0; i < PG_COUNT; i++) {
			const struct pg_profile *pg = &pf->port[n].pg[i];

			if (pg->lossless)
				bytes = u64_max(bytes, pf->pool[pg->pool].size_bytes);
		}
	}
	return bytes;
}

static int check_queues(struct build *b, uint32_t n, uint8_t classes, uint64_t pool_bytes)
{
	struct port_profile *port = &b->pf->port[n];
	uint32_t line = b->config->port[n].line;

	for (uint32_t tc = 0; tc < TC_COUNT; tc++) {
		struct queue_profile *queue = &port->queue[port->tc_to_queue[tc]];
		const struct threshold *th = &queue->limit;

		if (!(classes >> tc & 1))
			continue;
		queue->lossless = true;
		if (th->dynamic ? th->alpha_log2 < 7 : th->static_bytes < pool_bytes)
			return build_fail(b, FAULT_LOSSLESS_EGRESS, line, port->name, "",
					  port->tc_to_queue[tc],
					  th->dynamic ? 0 : th->static_bytes);
		for (uint32_t other = 0; other < TC_COUNT; other++) {
			if (port->tc_to_queue[other] == port->tc_to_queue[tc] &&
			    !(classes >> other & 1))
				return build_fail(b, FAULT_MIXED_CLASS, line, port->name, "", tc,
						  other);
		}
	}
	return 0;
}

int check_lossless(struct build *b)
{
	uint8_t classes = lossless_classes(b->pf);
	uint64_t pool_bytes = largest_ingress_pool(b->pf);

	for (uint32_t n = 0; n < b->pf->port_count; n++) {
		int rc = check_priorities(b, n);

		if (rc == 0)
			rc = check_queues(b, n, classes, pool_bytes);
		if (rc != 0)
			return rc;
	}
	return 0;
}
