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

#include "schema/counters.h"

// A hash of all names and their order travels with the bytes: ends that were built of other rows
// see it and leave the numbers alone.
//
//	u64 hash, big endian   u8 flags
//	rows by rising place:  varint places passed over since the row before   varint value
//
// A varint has 7 bits in each byte, the lowest first, bit 7 set in all but the last; no more bytes
// than are needed.
enum counters_flag {
	COUNTERS_ANEW = 1, // the receiver forgets all that it had
	COUNTERS_MORE = 2, // what had no room comes next: the values are not of one time until then
};

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

// Header, and one row behind it.
enum {
	COUNTERS_FLAGS_AT = 8,
	COUNTERS_HEADER_BYTES,
	COUNTERS_BYTES_MIN = COUNTERS_HEADER_BYTES + 15
};

// Writes what of `now` is not as in `told`, from place *from on, as far as it fits into `size`
// bytes (at least COUNTERS_BYTES_MIN). *from is where to go on next time, 0: all was written.
// `anew`: the receiver forgets what it had; `told` is all 0 then. Returns the bytes, 0: nothing to
// tell.
size_t counters_encode(const uint64_t *now, const uint64_t *told, uint32_t ports, bool anew,
		       uint32_t *from, uint8_t *out, size_t size);

// Puts the values into an array of counters_count(ports) numbers; ports beyond are passed over.
// Returns the flags (enum counters_flag), or nothing has changed: -EPROTONOSUPPORT, the sender has
// other rows, or -EBADMSG, anything that counters_encode() would not write.
int counters_decode(const uint8_t *data, size_t size, uint64_t *values, uint32_t ports);

// Whether a message begins anew, right or wrong otherwise.
static inline bool counters_is_anew(const uint8_t *data, size_t size)
{
	return size >= COUNTERS_HEADER_BYTES && (data[COUNTERS_FLAGS_AT] & COUNTERS_ANEW);
}
