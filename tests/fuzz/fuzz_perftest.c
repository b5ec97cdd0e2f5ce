// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of perftest's handshake: what a peer says from its first byte on. The first byte of
// the input chooses the test.
//
// Checked: no byte behind a message is read; what is told is in range; what passes, written and
// read again, is the same; what is refused changes nothing.

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/core/perftest.h"

static void check_side(const struct perftest_side *side)
{
	WEFT_CHECK(side->version[PERFTEST_VERSION_BYTES - 1] == '\0');
	WEFT_CHECK(side->buffer_bytes <= PERFTEST_BUFFER_MAX);
	WEFT_CHECK(side->keys.qp < 1 << 24 && side->keys.psn < 1 << 24);
	WEFT_CHECK(side->mtu == 0 || (side->mtu >= 256 && side->mtu <= 4096));
}

static void check_same(enum perftest_step step, const struct perftest_side *a,
		       const struct perftest_side *b, uint32_t bytes)
{
	uint8_t first[PERFTEST_BYTES_MAX], second[PERFTEST_BYTES_MAX];

	perftest_write(step, a, first);
	perftest_write(step, b, second);
	WEFT_CHECK(memcmp(first, second, bytes) == 0);
}

static bool take(enum perftest_step step, const uint8_t *data, uint32_t bytes,
		 struct perftest_side *side)
{
	const struct perftest_side before = *side;
	uint8_t again[PERFTEST_BYTES_MAX];
	uint8_t *copy = malloc(bytes);
	struct perftest_side back;
	bool good;

	memcpy(copy, data, bytes);
	good = perftest_read(step, copy, side) == PERFTEST_OK;
	free(copy);
	if (!good) {
		check_same(step, side, &before, bytes);
		return false;
	}
	check_side(side);
	back = *side;
	perftest_write(step, side, again);
	WEFT_CHECK(perftest_read(step, again, &back) == PERFTEST_OK);
	check_same(step, side, &back, bytes);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const enum rc_op op = size == 0 ? RC_WRITE : (enum rc_op)(data[0] % (RC_READ + 1));
	enum perftest_step step = perftest_step(op, 0);
	struct perftest_side side;
	size_t at = 1;

	memset(&side, 0, sizeof(side));
	for (uint32_t i = 0; step != PERFTEST_END; step = perftest_step(op, ++i)) {
		const uint32_t bytes = perftest_bytes(step);

		WEFT_CHECK(i < PERFTEST_STEPS_MAX && bytes <= PERFTEST_BYTES_MAX);
		if (bytes == 0)
			continue;
		if (at > size || bytes > size - at || !take(step, data + at, bytes, &side))
			break;
		at += bytes;
	}
	return 0;
}
