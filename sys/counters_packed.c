// SPDX-License-Identifier: BSD-3-Clause
//
// Decoding goes over the bytes twice: first to see that all of them are right, then to take them,
// so that half a message is never in force. Work and memory are bounded by the bytes that came.

#include "sys/counters_packed.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

enum {
	VARINT_BYTES = 10,
	VARINT_PLACE_BYTES = 5,
	PLACES_MAX = COUNTERS_PORT_MAX * COUNTERS_BLOCK + COUNTERS_PORT_AT
};

static_assert(PLACES_MAX < 1u << 28, "a place takes four bytes");

#define STAT_ROW(kind, field, doc) { #field, doc, COUNTERS_##kind },
#define STATE_ROW(key, doc) { #key, doc, COUNTERS_GAUGE },

#define SWITCH_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
#define SWITCH_STATE(name, key, doc) STATE_ROW(key, doc)
static const struct counters_row switch_rows[] = {
#include "schema/stats.def"

#include "schema/states.def"
};

#define POOL_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
#define POOL_STATE(name, key, doc) STATE_ROW(key, doc)
static const struct counters_row pool_rows[] = {
#include "schema/stats.def"

#include "schema/states.def"
};

#define PORT_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
#define PORT_STATE(name, key, doc) STATE_ROW(key, doc)
static const struct counters_row port_rows[] = {
#include "schema/stats.def"

#include "schema/states.def"
};

#define PRIO_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
static const struct counters_row prio_rows[] = {
#include "schema/stats.def"
};

#define PG_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
#define PG_STATE(name, key, doc) STATE_ROW(key, doc)
static const struct counters_row pg_rows[] = {
#include "schema/stats.def"

#include "schema/states.def"
};

#define QUEUE_STAT(kind, name, field, doc) STAT_ROW(kind, field, doc)
#define QUEUE_STATE(name, key, doc) STATE_ROW(key, doc)
static const struct counters_row queue_rows[] = {
#include "schema/stats.def"

#include "schema/states.def"
};

#define DROP(name, side, doc) { #name, doc, COUNTERS_COUNTER },
static const struct counters_row drop_rows[] = {
#include "schema/drops.def"
};

#define ROWS(rows) rows, (uint32_t)(sizeof(rows) / sizeof((rows)[0]))

const struct counters_table counters_tables[COUNTERS_OBJECTS] = {
	[COUNTERS_OF_SWITCH] = { "switch", ROWS(switch_rows), 0, 1 },
	[COUNTERS_OF_POOL] = { "pool", ROWS(pool_rows), 0, 1 },
	[COUNTERS_OF_PORT] = { "port", ROWS(port_rows), 0, 1 },
	[COUNTERS_OF_PRIO] = { "priority", ROWS(prio_rows), COUNTERS_PRIO_AT, COUNTERS_PARTS },
	[COUNTERS_OF_PG] = { "priority_group", ROWS(pg_rows), COUNTERS_PG_AT, COUNTERS_PARTS },
	[COUNTERS_OF_QUEUE] = { "queue", ROWS(queue_rows), COUNTERS_QUEUE_AT, COUNTERS_PARTS },
	[COUNTERS_OF_DROP] = { "drops", ROWS(drop_rows), COUNTERS_DROP_AT, 1 },
};

uint64_t counters_layout_hash(void)
{
	uint64_t hash = HASH_EMPTY;

	for (uint32_t i = 0; i < COUNTERS_OBJECTS; i++) {
		const struct counters_table *table = &counters_tables[i];

		hash = hash_add(hash, table->count);
		for (uint32_t k = 0; k < table->count; k++)
			hash = hash_add(hash_add(hash, hash_text(table->rows[k].key)),
					table->rows[k].kind);
	}
	return hash_add(hash, COUNTERS_POOL_MAX);
}

static size_t put_varint(uint8_t *out, uint64_t value)
{
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		out[len++] = (uint8_t)(value | 0x80);
	out[len++] = (uint8_t)value;
	return len;
}

static void put_header(uint8_t *out, uint8_t flags)
{
	const uint64_t hash = counters_layout_hash();

	for (uint32_t i = 0; i < 8; i++)
		out[i] = (uint8_t)(hash >> (56 - 8 * i));
	out[COUNTERS_FLAGS_AT] = flags;
}

size_t counters_encode(const uint64_t *now, const uint64_t *told, uint32_t ports, bool anew,
		       uint32_t *from, uint8_t *out, size_t size)
{
	const uint32_t count = counters_count(ports);
	size_t len = COUNTERS_HEADER_BYTES;
	uint32_t next = 0; // behind the row before

	put_header(out, anew ? COUNTERS_ANEW : 0);
	for (uint32_t i = *from; i < count; i++) {
		if (now[i] == told[i])
			continue;
		if (size - len < VARINT_PLACE_BYTES + VARINT_BYTES) {
			*from = i;
			out[COUNTERS_FLAGS_AT] |= COUNTERS_MORE;
			return len;
		}
		len += put_varint(out + len, i - next);
		len += put_varint(out + len, now[i]);
		next = i + 1;
	}
	*from = 0;
	return next == 0 && !anew ? 0 : len;
}

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static uint64_t get_varint(struct reader *reader)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; reader->at < reader->end && shift < 7 * VARINT_BYTES; shift += 7) {
		const uint8_t byte = *reader->at++;

		if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->bad = true;
	return 0;
}

// Takes the rows into `values`, NULL: only looks whether they are right.
static bool read_rows(const uint8_t *data, size_t size, uint64_t *values, uint32_t count)
{
	struct reader reader = { data, data + size, false };
	uint64_t place = 0;

	while (reader.at < reader.end) {
		const uint64_t gap = get_varint(&reader);
		const uint64_t value = get_varint(&reader);

		if (reader.bad || gap >= PLACES_MAX || place + gap >= PLACES_MAX)
			return false;
		place += gap;
		if (values != NULL && place < count)
			values[place] = value;
		place++;
	}
	return true;
}

int counters_decode(const uint8_t *data, size_t size, uint64_t *values, uint32_t ports)
{
	uint8_t header[COUNTERS_HEADER_BYTES];

	if (size < COUNTERS_HEADER_BYTES ||
	    data[COUNTERS_FLAGS_AT] > (COUNTERS_ANEW | COUNTERS_MORE))
		return -EBADMSG;
	put_header(header, data[COUNTERS_FLAGS_AT]);
	if (memcmp(data, header, sizeof(header)) != 0)
		return -EPROTONOSUPPORT;
	data += sizeof(header);
	size -= sizeof(header);
	if (!read_rows(data, size, NULL, 0))
		return -EBADMSG;
	if (header[COUNTERS_FLAGS_AT] & COUNTERS_ANEW)
		memset(values, 0, counters_count(ports) * sizeof(*values));
	read_rows(data, size, values, counters_count(ports));
	return header[COUNTERS_FLAGS_AT];
}
