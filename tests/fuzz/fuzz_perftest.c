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

enum { QPS = 4 };

static void check_side(const struct perftest_side *side)
{
	WEFT_CHECK(side->version[PERFTEST_VERSION_BYTES - 1] == '\0');
	WEFT_CHECK(side->buffer_bytes <= PERFTEST_BUFFER_MAX);
	for (uint32_t i = 0; i < QPS; i++)
		WEFT_CHECK(side->keys[i].qp < 1 << 24 && side->keys[i].psn < 1 << 24);
	WEFT_CHECK(side->mtu == 0 || (side->mtu >= 256 && side->mtu <= 4096));
}

static void check_same(struct perftest_turn turn, const struct perftest_side *a,
		       const struct perftest_side *b, uint32_t bytes)
{
	uint8_t first[PERFTEST_BYTES_MAX], second[PERFTEST_BYTES_MAX];

	perftest_write(turn, a, first);
	perftest_write(turn, b, second);
	WEFT_CHECK(memcmp(first, second, bytes) == 0);
}

static bool take(const struct perftest_shape *shape, struct perftest_turn turn, const uint8_t *data,
		 uint32_t bytes, struct perftest_side *side)
{
	static struct perftest_side before, back;
	uint8_t again[PERFTEST_BYTES_MAX];
	uint8_t *copy = malloc(bytes);
	bool good;

	before = *side;
	memcpy(copy, data, bytes);
	good = perftest_read(shape, turn, copy, side) == PERFTEST_OK;
	free(copy);
	if (!good) {
		WEFT_CHECK(memcmp(side, &before, sizeof(before)) == 0);
		return false;
	}
	check_side(side);
	back = *side;
	perftest_write(turn, side, again);
	WEFT_CHECK(perftest_read(shape, turn, again, &back) == PERFTEST_OK);
	check_same(turn, side, &back, bytes);
	return true;
}

static struct perftest_shape shape_of(uint8_t choice)
{
	return (struct perftest_shape){
		.op = (enum rc_op)(choice % 3),
		.both = (choice / 3 & 1) != 0,
		.qps = 1 + choice / 6 % QPS,
		.size = 4096,
		.count = 40,
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct perftest_shape shape = shape_of(size == 0 ? 0 : data[0]);
	static struct perftest_side side;
	struct perftest_turn turn = perftest_turn(&shape, 0);
	size_t at = 1;

	memset(&side, 0, sizeof(side));
	for (uint32_t i = 0; turn.step != PERFTEST_END; turn = perftest_turn(&shape, ++i)) {
		const uint32_t bytes = perftest_bytes(turn.step);

		WEFT_CHECK(i < PERFTEST_TURNS_MAX && bytes <= PERFTEST_BYTES_MAX);
		WEFT_CHECK(turn.qp < shape.qps);
		if (bytes == 0)
			continue;
		if (at > size || bytes > size - at || !take(&shape, turn, data + at, bytes, &side))
			break;
		at += bytes;
	}
	return 0;
}
