// SPDX-License-Identifier: BSD-3-Clause
//
// Readings of the bench: statistics by value, so that a test can write
// rig_pg(rig, 0, 3).xoff_events. Watermarks are the user's.

#include "tests/rig/rig.h"

#include <string.h>

#include "base/check.h"

static port_t port_of(uint32_t port)
{
	return (port_t){ (uint16_t)port };
}

static uint32_t find_pool(const struct rig *rig, const char *name)
{
	uint32_t i = 0;

	while (i < rig->pf->pool_count && strcmp(rig->pf->pool[i].name, name) != 0)
		i++;
	WEFT_CHECK(i < rig->pf->pool_count);
	return i;
}

struct switch_stats rig_switch(const struct rig *rig)
{
	struct switch_stats stats;

	sw_stats_switch(rig->sw, WATERMARK_USER, &stats);
	return stats;
}

struct pool_stats rig_pool(const struct rig *rig, const char *name)
{
	struct pool_stats stats;

	sw_stats_pool(rig->sw, find_pool(rig, name), WATERMARK_USER, &stats);
	return stats;
}

const struct pool_profile *rig_pool_profile(const struct rig *rig, const char *name)
{
	return &rig->pf->pool[find_pool(rig, name)];
}

struct port_stats rig_port(const struct rig *rig, uint32_t port)
{
	struct port_stats stats;

	sw_stats_port(rig->sw, port_of(port), &stats);
	return stats;
}

struct prio_stats rig_prio(const struct rig *rig, uint32_t port, uint32_t prio)
{
	struct prio_stats stats;

	sw_stats_prio(rig->sw, port_of(port), (prio_t){ (uint8_t)prio }, rig->now, &stats);
	return stats;
}

struct pg_stats rig_pg(const struct rig *rig, uint32_t port, uint32_t pg)
{
	struct pg_stats stats;

	sw_stats_pg(rig->sw, port_of(port), (pg_t){ (uint8_t)pg }, WATERMARK_USER, &stats);
	return stats;
}

struct queue_stats rig_queue(const struct rig *rig, uint32_t port, uint32_t queue)
{
	struct queue_stats stats;

	sw_stats_queue(rig->sw, port_of(port), (queue_t){ (uint8_t)queue }, WATERMARK_USER,
		       rig->now, &stats);
	return stats;
}

uint64_t rig_drops(const struct rig *rig, uint32_t port, enum drop_reason reason)
{
	return sw_drops(rig->sw, port_of(port), reason);
}

uint64_t rig_all_drops(const struct rig *rig)
{
	return rig_switch(rig).dropped_packets;
}
