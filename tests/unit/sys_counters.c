// SPDX-License-Identifier: BSD-3-Clause
//
// Packed counters, byte by byte as sys/counters_packed.h says: what a few values look like, counted
// by hand, what of other bytes is refused and changes nothing, and what receivers with fewer ports
// or a new beginning make of it.

#include "sys/counters_packed.h"

#include <errno.h>
#include <string.h>

#include "tests/table.h"

enum { PORTS = 2, BYTES = 256 };

static uint64_t *numbers(void)
{
	return calloc(counters_count(PORTS), sizeof(uint64_t));
}

// The header, and behind it `count` bytes.
static size_t message(const uint8_t *rows, size_t count, uint8_t flags, uint8_t out[BYTES])
{
	const uint64_t hash = counters_layout_hash();

	for (uint32_t i = 0; i < 8; i++)
		out[i] = (uint8_t)(hash >> (56 - 8 * i));
	out[8] = flags;
	memcpy(out + 9, rows, count);
	return 9 + count;
}

static const struct {
	const char *what;
	struct {
		uint32_t place;
		uint64_t value;
	} row[3];
	uint32_t count;
	uint8_t bytes[24];
	size_t size;
} rows[] = {
	{ "the first", { { 0, 1 } }, 1, { 0, 1 }, 2 },
	{ "largest of one byte", { { 127, 127 } }, 1, { 127, 127 }, 2 },
	{ "two bytes each", { { 128, 300 } }, 1, { 0x80, 1, 0xac, 2 }, 4 },
	{ "neighbours", { { 5, 7 }, { 6, 8 } }, 2, { 5, 7, 0, 8 }, 4 },
	{ "passed over", { { 1, 1 }, { 4, 1 }, { 5, 2 } }, 3, { 1, 1, 2, 1, 0, 2 }, 6 },
	{ "unknown",
	  { { 0, COUNTERS_UNKNOWN } },
	  1,
	  { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
	  11 },
};

TABLE_TEST(counters, bytes, row, rows)
{
	uint64_t *now = numbers(), *told = numbers();
	uint8_t want[BYTES], got[BYTES];
	uint32_t from = 0;
	size_t size;

	for (uint32_t i = 0; i < row->count; i++)
		now[row->row[i].place] = row->row[i].value;
	size = message(row->bytes, row->size, 0, want);
	cr_assert_eq(counters_encode(now, told, PORTS, false, &from, got, BYTES), size);
	cr_assert_arr_eq(got, want, size);
	cr_assert_eq(from, 0);
	cr_assert_eq(counters_decode(got, size, told, PORTS), 0);
	cr_assert_arr_eq(told, now, counters_count(PORTS) * sizeof(*now));
	cr_assert_eq(counters_encode(now, told, PORTS, false, &from, got, BYTES), 0);
	free(now);
	free(told);
}

static const struct {
	const char *what;
	uint8_t bytes[24];
	size_t size;
} refused_rows[] = {
	{ "a place without a value", { 5 }, 1 },
	{ "a value that is cut", { 5, 0x80 }, 2 },
	{ "a place that is cut", { 1, 1, 0x80 }, 3 },
	{ "a place with a byte too many", { 0x85, 0, 1 }, 3 },
	{ "a value with a byte too many", { 5, 0x81, 0 }, 3 },
	{ "a value beyond 64 bits",
	  { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 },
	  11 },
	{ "a value of eleven bytes",
	  { 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 1 },
	  12 },
	{ "a place that no switch has", { 0xff, 0xff, 0xff, 0x7f, 1 }, 5 },
	{ "places that wrap around",
	  { 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1 },
	  13 },
};

TABLE_TEST(counters, refused, row, refused_rows)
{
	uint64_t *values = numbers(), *before = numbers();
	uint8_t bytes[BYTES];
	const size_t size = message(row->bytes, row->size, COUNTERS_ANEW, bytes);

	values[1] = before[1] = 77;
	cr_assert_eq(counters_decode(bytes, size, values, PORTS), -EBADMSG, "%s", row->what);
	cr_assert_arr_eq(values, before, counters_count(PORTS) * sizeof(*values));
	free(values);
	free(before);
}

Test(counters, other_rows_are_left_alone)
{
	static const uint8_t row[] = { 0, 1 };
	uint64_t *values = numbers();
	uint8_t bytes[BYTES];
	const size_t size = message(row, sizeof(row), 0, bytes);

	bytes[3] ^= 1;
	cr_assert_eq(counters_decode(bytes, size, values, PORTS), -EPROTONOSUPPORT);
	cr_assert_eq(values[0], 0);
	bytes[3] ^= 1;
	bytes[8] = 4;
	cr_assert_eq(counters_decode(bytes, size, values, PORTS), -EBADMSG);
	cr_assert_eq(counters_decode(bytes, 8, values, PORTS), -EBADMSG);
	free(values);
}

Test(counters, a_new_beginning_forgets)
{
	static const uint8_t row[] = { 3, 9 };
	uint64_t *values = numbers();
	uint8_t bytes[BYTES];

	values[0] = 5;
	values[counters_count(PORTS) - 1] = 6;
	cr_assert_eq(counters_decode(bytes, message(row, sizeof(row), 0, bytes), values, PORTS), 0);
	cr_assert_eq(values[0], 5);
	cr_assert_eq(counters_decode(bytes, message(row, sizeof(row), COUNTERS_ANEW, bytes), values,
				     PORTS),
		     COUNTERS_ANEW);
	cr_assert_eq(values[0], 0);
	cr_assert_eq(values[3], 9);
	cr_assert_eq(values[counters_count(PORTS) - 1], 0);
	free(values);
}

// A switch may have ports that the fabric does not know.
Test(counters, more_ports_than_the_receiver_has)
{
	uint64_t *now = numbers(), *told = numbers(), *few = numbers();
	uint8_t bytes[BYTES];
	uint32_t from = 0;
	size_t size;

	now[counters_port_at(0)] = 1;
	now[counters_port_at(1)] = 2;
	size = counters_encode(now, told, PORTS, true, &from, bytes, BYTES);
	cr_assert_eq(counters_decode(bytes, size, few, 1), COUNTERS_ANEW);
	cr_assert_eq(few[counters_port_at(0)], 1);
	cr_assert_eq(few[counters_port_at(1)], 0);
	free(now);
	free(told);
	free(few);
}

// Parts of a port lie behind each other, without gaps.
Test(counters, places)
{
	uint32_t at = 0;

	for (uint32_t i = COUNTERS_OF_PORT; i < COUNTERS_OBJECTS; i++) {
		cr_assert_eq(counters_tables[i].at, at, "%s", counters_tables[i].object);
		at += counters_tables[i].count * counters_tables[i].parts;
	}
	cr_assert_eq(at, COUNTERS_BLOCK);
	cr_assert_eq(counters_tables[COUNTERS_OF_SWITCH].count, COUNTERS_POOL_AT);
	cr_assert_eq(counters_pool_at(COUNTERS_POOL_MAX), counters_port_at(0));
	cr_assert_str_eq(counters_tables[COUNTERS_OF_QUEUE].rows[COUNTERS_QUEUE_BYTES].key,
			 "bytes");
	cr_assert_str_eq(counters_tables[COUNTERS_OF_PORT].rows[PORT_STATE_UP].key, "up");
	cr_assert_str_eq(counters_tables[COUNTERS_OF_DROP].rows[COUNTERS_DROP_QUEUE_FULL].key,
			 "QUEUE_FULL");
}

// What does not fit says that more comes, and where to go on.
Test(counters, in_two_messages)
{
	uint64_t *now = numbers(), *told = numbers();
	uint8_t bytes[BYTES];
	uint32_t from = 0;
	size_t size;

	for (uint32_t i = 0; i < 20; i++)
		now[i] = 1;
	size = counters_encode(now, told, PORTS, true, &from, bytes, COUNTERS_BYTES_MIN + 6);
	cr_assert_eq(from, 4);
	cr_assert_eq(size, COUNTERS_HEADER_BYTES + 4 * 2);
	cr_assert_eq(counters_decode(bytes, size, told, PORTS), COUNTERS_ANEW | COUNTERS_MORE);
	size = counters_encode(now, told, PORTS, false, &from, bytes, BYTES);
	cr_assert_eq(from, 0);
	cr_assert_eq(counters_decode(bytes, size, told, PORTS), 0);
	cr_assert_arr_eq(told, now, counters_count(PORTS) * sizeof(*now));
	free(now);
	free(told);
}
