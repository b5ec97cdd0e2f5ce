// SPDX-License-Identifier: BSD-3-Clause
//
// All counters of a switch as one array of numbers, and what has changed in it as bytes: what a
// switch tells its fabric manager every second. Pure; both ends include it.
//
// Bytes hold values, not differences, of what the receiver does not have. The sender takes them as
// told when the report was answered, by decoding its own bytes into the array of what it has told.
// Without an answer nobody knows whether they were taken, and a value that goes back to what was
// told before would never be sent: so the sender begins anew, and nothing is lost.
#pragma once

#include "base/types.h"

// The array is made of the rows of schema/stats.def, states.def and drops.def: those of the switch,
// of COUNTERS_POOL_MAX pools, and then a block of each port with its priorities, groups, queues and
// drop reasons. A hash of all names and their order travels with the bytes: ends that were built of
// other rows see it and leave the numbers alone.
//
//	u64 hash, big endian   u8 1: the receiver forgets all that it had, else 0
//	rows by rising place:  varint places passed over since the row before   varint value
//
// A varint has 7 bits in each byte, the lowest first, bit 7 set in all but the last; no more bytes
// than are needed.
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

// The rows by object, for those who walk them.
enum counters_object {
	COUNTERS_OF_SWITCH,
	COUNTERS_OF_POOL,
	COUNTERS_OF_PORT,
	COUNTERS_OF_PRIO,
	COUNTERS_OF_PG,
	COUNTERS_OF_QUEUE,
	COUNTERS_OF_DROP,
	COUNTERS_OBJECTS,
};

enum counters_kind { COUNTERS_COUNTER, COUNTERS_GAUGE, COUNTERS_WATERMARK };

struct counters_row {
	const char *key; // of JSON and metrics; a reason's name
	const char *doc;
	enum counters_kind kind;
};

struct counters_table {
	const char *object; // as in names of metrics: "priority_group"
	const struct counters_row *rows;
	uint32_t count;
	uint32_t at;    // place of the first part in the block of a port; not of switch and pool
	uint32_t parts; // of a port
};

extern const struct counters_table counters_tables[COUNTERS_OBJECTS];

uint64_t counters_layout_hash(void);

// Header and one row.
enum { COUNTERS_HEADER_BYTES = 9, COUNTERS_BYTES_MIN = COUNTERS_HEADER_BYTES + 15 };

// Writes what of `now` is not as in `told`, from place *from on, as far as it fits into `size`
// bytes (at least COUNTERS_BYTES_MIN). *from is where to go on next time, 0: all was written.
// `anew`: the receiver forgets what it had; `told` is all 0 then. Returns the bytes, 0: nothing to
// tell.
size_t counters_encode(const uint64_t *now, const uint64_t *told, uint32_t ports, bool anew,
		       uint32_t *from, uint8_t *out, size_t size);

// Puts the values into an array of counters_count(ports) numbers; ports beyond are passed over. 0,
// or nothing has changed: -EPROTONOSUPPORT, the sender has other rows, or -EBADMSG, anything that
// counters_encode() would not write.
int counters_decode(const uint8_t *data, size_t size, uint64_t *values, uint32_t ports);
