// SPDX-License-Identifier: BSD-3-Clause
//
// All counters of a switch as one array of numbers: the places of the rows of schema/stats.def,
// states.def and drops.def. First those of the switch, then those of COUNTERS_POOL_MAX pools, then
// a block of each port with its priorities, groups, queues and drop reasons. A switch and its
// fabric manager have the same array as long as they were built of the same rows;
// sys/counters_packed.h carries it between them.
#pragma once

#include "base/types.h"

enum {
	COUNTERS_POOL_MAX = 8,
	COUNTERS_PORT_MAX = 256,
	COUNTERS_PARTS = 8, // priorities, groups and queues of a port
};

// A value that the switch cannot know: what a device with PFC of its own does not count.
#define COUNTERS_UNKNOWN UINT64_MAX

#define SWITCH_STAT(kind, name, field, doc) COUNTERS_SWITCH_##name,
#define SWITCH_STATE(name, key, doc) SWITCH_STATE_##name,
enum counters_switch {
#include "schema/stats.def"
	COUNTERS_SWITCH_STATS, // of them are of stats.def
	COUNTERS_SWITCH_LAST = COUNTERS_SWITCH_STATS - 1,
#include "schema/states.def"
	COUNTERS_SWITCH_ROWS,
};

#define POOL_STAT(kind, name, field, doc) COUNTERS_POOL_##name,
#define POOL_STATE(name, key, doc) POOL_STATE_##name,
enum counters_pool {
#include "schema/stats.def"
	COUNTERS_POOL_STATS,
	COUNTERS_POOL_LAST = COUNTERS_POOL_STATS - 1,
#include "schema/states.def"
	COUNTERS_POOL_ROWS,
};

#define PORT_STAT(kind, name, field, doc) COUNTERS_PORT_##name,
#define PORT_STATE(name, key, doc) PORT_STATE_##name,
enum counters_port {
#include "schema/stats.def"
	COUNTERS_PORT_STATS,
	COUNTERS_PORT_LAST = COUNTERS_PORT_STATS - 1,
#include "schema/states.def"
	COUNTERS_PORT_ROWS,
};

#define PRIO_STAT(kind, name, field, doc) COUNTERS_PRIO_##name,
enum counters_prio {
#include "schema/stats.def"
	COUNTERS_PRIO_ROWS,
};

#define PG_STAT(kind, name, field, doc) COUNTERS_PG_##name,
#define PG_STATE(name, key, doc) PG_STATE_##name,
enum counters_pg {
#include "schema/stats.def"
	COUNTERS_PG_STATS,
	COUNTERS_PG_LAST = COUNTERS_PG_STATS - 1,
#include "schema/states.def"
	COUNTERS_PG_ROWS,
};

#define QUEUE_STAT(kind, name, field, doc) COUNTERS_QUEUE_##name,
#define QUEUE_STATE(name, key, doc) QUEUE_STATE_##name,
enum counters_queue {
#include "schema/stats.def"
	COUNTERS_QUEUE_STATS,
	COUNTERS_QUEUE_LAST = COUNTERS_QUEUE_STATS - 1,
#include "schema/states.def"
	COUNTERS_QUEUE_ROWS,
};

#define DROP(name, side, doc) COUNTERS_DROP_##name,
enum counters_drop {
#include "schema/drops.def"
	COUNTERS_DROP_ROWS,
};
#undef DROP

// Places in the block of a port, and of the blocks.
enum counters_place {
	COUNTERS_PRIO_AT = COUNTERS_PORT_ROWS,
	COUNTERS_PG_AT = COUNTERS_PRIO_AT + COUNTERS_PARTS * COUNTERS_PRIO_ROWS,
	COUNTERS_QUEUE_AT = COUNTERS_PG_AT + COUNTERS_PARTS * COUNTERS_PG_ROWS,
	COUNTERS_DROP_AT = COUNTERS_QUEUE_AT + COUNTERS_PARTS * COUNTERS_QUEUE_ROWS,
	COUNTERS_BLOCK = COUNTERS_DROP_AT + COUNTERS_DROP_ROWS,
	COUNTERS_POOL_AT = COUNTERS_SWITCH_ROWS,
	COUNTERS_PORT_AT = COUNTERS_POOL_AT + COUNTERS_POOL_MAX * COUNTERS_POOL_ROWS,
};

// Numbers of a switch with so many ports.
static inline uint32_t counters_count(uint32_t ports)
{
	return COUNTERS_PORT_AT + ports * COUNTERS_BLOCK;
}

// Rows of one object, in an array of counters_count() numbers.
static inline uint32_t counters_pool_at(uint32_t pool)
{
	return COUNTERS_POOL_AT + pool * COUNTERS_POOL_ROWS;
}

static inline uint32_t counters_port_at(uint32_t port)
{
	return COUNTERS_PORT_AT + port * COUNTERS_BLOCK;
}

static inline uint32_t counters_prio_at(uint32_t port, uint32_t prio)
{
	return counters_port_at(port) + COUNTERS_PRIO_AT + prio * COUNTERS_PRIO_ROWS;
}

static inline uint32_t counters_pg_at(uint32_t port, uint32_t pg)
{
	return counters_port_at(port) + COUNTERS_PG_AT + pg * COUNTERS_PG_ROWS;
}

static inline uint32_t counters_queue_at(uint32_t port, uint32_t queue)
{
	return counters_port_at(port) + COUNTERS_QUEUE_AT + queue * COUNTERS_QUEUE_ROWS;
}

static inline uint32_t counters_drop_at(uint32_t port)
{
	return counters_port_at(port) + COUNTERS_DROP_AT;
}
