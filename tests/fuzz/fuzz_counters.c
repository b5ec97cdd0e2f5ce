// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of packed counters. The first byte says how many ports the receiver has, the rest is
// a message without its hash, which no input would meet.
//
// Checked: nothing beyond is read or written; a refused message changes nothing; what was taken is
// told again by a message that makes the same of nothing.

#include "sys/counters_packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"

enum { HASH_BYTES = 8, PORTS = 4, ROUNDS_MAX = 64 };

static void check_again(const uint64_t *values, uint32_t ports)
{
	const uint32_t count = counters_count(ports);
	const size_t room = COUNTERS_BYTES_MIN + count * 15;
	uint64_t *none = calloc(count, sizeof(*none));
	uint8_t *bytes = malloc(room);
	uint32_t from = 0;
	size_t size;

	WEFT_CHECK(none != NULL && bytes != NULL);
	size = counters_encode(values, none, ports, true, &from, bytes, room);
	WEFT_CHECK(from == 0 && size >= COUNTERS_HEADER_BYTES);
	WEFT_CHECK(counters_decode(bytes, size, none, ports) == COUNTERS_ANEW);
	WEFT_CHECK(memcmp(none, values, count * sizeof(*none)) == 0);
	free(bytes);
	free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t ports = size == 0 ? 0 : data[0] % (PORTS + 1);
	const uint32_t count = counters_count(ports);
	const uint64_t hash = counters_layout_hash();
	uint64_t *values = calloc(count, sizeof(*values));
	uint8_t *bytes = malloc(HASH_BYTES + size);

	WEFT_CHECK(values != NULL && bytes != NULL);
	for (uint32_t i = 0; i < HASH_BYTES; i++)
		bytes[i] = (uint8_t)(hash >> (56 - 8 * i));
	if (size > 1)
		memcpy(bytes + HASH_BYTES, data + 1, size - 1);
	if (counters_decode(bytes, HASH_BYTES + size - (size > 0), values, ports) >= 0)
		check_again(values, ports);
	else
		for (uint32_t i = 0; i < count; i++)
			WEFT_CHECK(values[i] == 0);
	free(bytes);
	free(values);
	return 0;
}
