// SPDX-License-Identifier: BSD-3-Clause
//
// Counters over a network that loses reports and answers, with receivers that start anew and
// buffers too small for all that changed: after an answer the sender has told what the receiver
// has, and once nothing is lost any more that is what there is. Damaged bytes are refused whole or
// are a message.

#include "sys/counters_packed.h"

#include <string.h>

#include "tests/table.h"

enum { SEEDS = 30, ROUNDS = 200, DAMAGES = 200, PORTS = 3, BYTES_MAX = 4096, QUIET_MAX = 4000 };

struct ends {
	uint64_t *now, *told, *seen;
	uint32_t count, from;
	bool anew;
	uint64_t lost, cut;
};

static void open_ends(struct ends *ends)
{
	*ends = (struct ends){ .count = counters_count(PORTS), .anew = true };
	ends->now = calloc(ends->count, sizeof(uint64_t));
	ends->told = calloc(ends->count, sizeof(uint64_t));
	ends->seen = calloc(ends->count, sizeof(uint64_t));
}

static void close_ends(struct ends *ends)
{
	free(ends->now);
	free(ends->told);
	free(ends->seen);
}

static uint64_t some_value(struct rng *rng)
{
	return rng_below(rng, 20) == 0 ? COUNTERS_UNKNOWN : rng_next64(rng) >> rng_below(rng, 64);
}

static void change(struct ends *ends, struct rng *rng)
{
	for (uint32_t n = rng_below(rng, 200); n > 0; n--)
		ends->now[rng_below(rng, ends->count)] = some_value(rng);
}

static void forget(struct ends *ends)
{
	ends->anew = true;
	ends->from = 0;
	memset(ends->told, 0, ends->count * sizeof(uint64_t));
}

// One report; false: there was nothing to tell.
static bool report(struct ends *ends, struct rng *rng, bool arrives, bool answered)
{
	const size_t room = COUNTERS_BYTES_MIN + rng_below(rng, BYTES_MAX - COUNTERS_BYTES_MIN);
	uint8_t bytes[BYTES_MAX];
	const size_t size = counters_encode(ends->now, ends->told, PORTS, ends->anew, &ends->from,
					    bytes, room);

	cr_assert_leq(size, room);
	ends->cut += ends->from != 0;
	if (size > 0 && arrives)
		cr_assert_eq(counters_decode(bytes, size, ends->seen, PORTS),
			     (ends->anew ? COUNTERS_ANEW : 0) |
				     (ends->from != 0 ? COUNTERS_MORE : 0));
	if (!arrives || !answered) {
		ends->lost++;
		forget(ends);
		return true;
	}
	if (size > 0)
		cr_assert_geq(counters_decode(bytes, size, ends->told, PORTS), 0);
	ends->anew = false;
	cr_assert_arr_eq(ends->told, ends->seen, ends->count * sizeof(uint64_t));
	return size > 0;
}

SEED_TEST(counters, nothing_is_lost, rng, SEEDS)
{
	struct ends ends;
	uint32_t quiet = 0;

	open_ends(&ends);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		change(&ends, rng);
		if (rng_below(rng, 50) == 0)
			forget(&ends);
		report(&ends, rng, rng_below(rng, 8) != 0, rng_below(rng, 8) != 0);
	}
	while (report(&ends, rng, true, true) || ends.from != 0)
		cr_assert_lt(quiet++, QUIET_MAX);
	cr_assert_arr_eq(ends.seen, ends.now, ends.count * sizeof(uint64_t));
	cr_assert_gt(ends.lost, 0);
	cr_assert_gt(ends.cut, 0);
	close_ends(&ends);
}

SEED_TEST(counters, damage, rng, SEEDS)
{
	struct ends ends;
	uint8_t bytes[BYTES_MAX];
	uint32_t refused = 0;
	size_t size;

	open_ends(&ends);
	change(&ends, rng);
	ends.now[0] = 1;
	size = counters_encode(ends.now, ends.told, PORTS, true, &ends.from, bytes, BYTES_MAX);
	for (uint32_t i = 0; i < DAMAGES; i++) {
		const uint32_t at = rng_below(rng, (uint32_t)size);
		const uint8_t was = bytes[at];
		const uint64_t before = ends.seen[0];

		bytes[at] = (uint8_t)rng_next32(rng);
		if (counters_decode(bytes, size - rng_below(rng, 2), ends.seen, PORTS) < 0) {
			cr_assert_eq(ends.seen[0], before);
			refused++;
		}
		bytes[at] = was;
	}
	cr_assert_gt(refused, 0);
	close_ends(&ends);
}
