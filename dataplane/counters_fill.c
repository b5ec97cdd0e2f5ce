// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a snapshot to their places. That structs and places are of the same rows is checked by
// their sizes: both are made of schema/stats.def.

#include "dataplane/counters_fill.h"

#include <string.h>

#include "sys/counters_packed.h"

#define SAME_ROWS(type, rows)                                                                      \
	static_assert(sizeof(struct type) == (rows) * sizeof(uint64_t), "made of the same rows")

SAME_ROWS(switch_stats, COUNTERS_SWITCH_STATS);
SAME_ROWS(pool_stats, COUNTERS_POOL_STATS);
SAME_ROWS(port_stats, COUNTERS_PORT_STATS);
SAME_ROWS(prio_stats, COUNTERS_PRIO_ROWS);
SAME_ROWS(pg_stats, COUNTERS_PG_STATS);
SAME_ROWS(queue_stats, COUNTERS_QUEUE_STATS);

#define SAME_COUNT(a, b) static_assert((int)(a) == (int)(b), "a switch has what there is place for")

SAME_COUNT(COUNTERS_PORT_MAX, CONFIG_PORT_MAX);
SAME_COUNT(COUNTERS_POOL_MAX, CONFIG_POOL_MAX);
SAME_COUNT(COUNTERS_PARTS, PRIO_COUNT);
SAME_COUNT(COUNTERS_PARTS, PG_COUNT);
SAME_COUNT(COUNTERS_PARTS, QUEUE_COUNT);
SAME_COUNT(COUNTERS_DROP_ROWS, DROP_REASON_COUNT - 1);

static void fill_parts(const struct port_profile *pf, const struct port_snapshot *port,
		       const struct port_snapshot *peak, uint32_t at, uint64_t *values)
{
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		uint64_t *prio = &values[counters_prio_at(at, i)];
		uint64_t *pg = &values[counters_pg_at(at, i)];
		uint64_t *queue = &values[counters_queue_at(at, i)];

		memcpy(prio, &port->prio[i], sizeof(port->prio[i]));
		memcpy(pg, &port->pg[i], sizeof(port->pg[i]));
		memcpy(queue, &port->queue[i], sizeof(port->queue[i]));
		pg[PG_STATE_LOSSLESS] = pf->pg[i].lossless;
		queue[QUEUE_STATE_LOSSLESS] = pf->lossless_queues >> i & 1;
		queue[QUEUE_STATE_PEAK_BYTES] = peak->queue[i].watermark_bytes;
		queue[QUEUE_STATE_PEAK_DELAY_NS] = peak->queue[i].delay_watermark_ns;
	}
}

void counters_fill(const struct snapshot *snapshot, const struct snapshot *peak,
		   uint32_t port_count, uint64_t *values)
{
	memcpy(values, &snapshot->sw, sizeof(snapshot->sw));
	values[SWITCH_STATE_UPTIME_NS] = snapshot->now.v;
	memset(&values[COUNTERS_POOL_AT], 0,
	       (COUNTERS_PORT_AT - COUNTERS_POOL_AT) * sizeof(*values));
	for (uint32_t i = 0; i < snapshot->profile->pool_count; i++) {
		uint64_t *pool = &values[counters_pool_at(i)];

		memcpy(pool, &snapshot->pool[i], sizeof(snapshot->pool[i]));
		pool[POOL_STATE_SIZE_BYTES] = snapshot->profile->pool[i].size_bytes;
	}
	for (uint32_t i = 0; i < port_count; i++) {
		const struct port_snapshot *port = &snapshot->port[i];
		uint64_t *block = &values[counters_port_at(i)];

		memcpy(block, &port->stats, sizeof(port->stats));
		block[PORT_STATE_UP] = port->link_up;
		memcpy(block + COUNTERS_DROP_AT, &port->drops[DROP_NONE + 1],
		       COUNTERS_DROP_ROWS * sizeof(*block));
		fill_parts(&snapshot->profile->port[i], port, &peak->port[i], i, values);
	}
}
