// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of packed tables and deltas. The input is
//
//   u16 length of a table, the table, a delta against it
//
// Checked: nothing beyond either is read; what is read writes the same bytes again; what a delta
// makes of the table is a table. The hash of the base is put into the delta, or none would fit.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "routing/packed.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA_BYTES = 8 << 20, BASE_HASH_AT = 12 };

// A copy of its own, so that a sanitiser sees where it ends.
static uint8_t *own(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + (size == 0));

	WEFT_CHECK(copy != NULL);
	if (size != 0)
		memcpy(copy, data, size);
	return copy;
}

static void check_same_bytes(const struct packed_table *table, const uint8_t *data, size_t size)
{
	uint8_t *again = malloc(table->size);

	WEFT_CHECK(again != NULL && table->size == size);
	packed_table_encode(table, again);
	WEFT_CHECK(memcmp(again, data, size) == 0);
	free(again);
}

static void check_result(const struct packed_table *table, struct arena *keep)
{
	uint8_t *bytes = malloc(table->size);
	struct packed_table again;

	WEFT_CHECK(bytes != NULL);
	packed_table_encode(table, bytes);
	WEFT_CHECK(packed_table_decode(bytes, table->size, keep, &again) == 0);
	WEFT_CHECK(again.hash == table->hash);
	free(bytes);
}

static void try_delta(const struct packed_table *base, const uint8_t *data, size_t size,
		      struct arena *keep, struct arena *scratch)
{
	uint8_t *delta = own(data, size);
	struct packed_table next;

	if (size >= BASE_HASH_AT + 8) {
		store_be32(delta + BASE_HASH_AT, (uint32_t)(base->hash >> 32));
		store_be32(delta + BASE_HASH_AT + 4, (uint32_t)base->hash);
	}
	if (packed_delta_apply(base, delta, size, keep, scratch, &next) == 0)
		check_result(&next, keep);
	free(delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(64) uint8_t memory[2][ARENA_BYTES];
	struct arena keep = { .memory = memory[0], .size = ARENA_BYTES };
	struct arena scratch = { .memory = memory[1], .size = ARENA_BYTES };
	struct packed_table base;
	size_t table_size;
	uint8_t *table;

	if (size < 2)
		return 0;
	table_size = u64_min(load_be16(data), size - 2);
	table = own(data + 2, table_size);
	if (packed_table_decode(table, table_size, &keep, &base) == 0) {
		check_same_bytes(&base, table, table_size);
		try_delta(&base, data + 2 + table_size, size - 2 - table_size, &keep, &scratch);
	}
	free(table);
	return 0;
}
