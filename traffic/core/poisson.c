// SPDX-License-Identifier: BSD-3-Clause
//
// -ln(u) of an evenly drawn u in (0, 1], by the binary logarithm: whole bits first, then the
// fraction bit by bit, by squaring.

#include "traffic/core/poisson.h"

enum { FRACTION_BITS = 20 };

// ln 2 in units of 2^-32. With at most 32 << 27 bits the product stays below 2^64.
#define LN2 2977044472ull

// log2(x), x > 0, in units of 2^-27.
static uint64_t log2_of(uint32_t x)
{
	const uint32_t whole = 31 - (uint32_t)__builtin_clz(x);
	uint64_t rest = (uint64_t)x << (31 - whole); // 2^31 .. 2^32 - 1 is 1 .. 2
	uint64_t log = whole;

	for (uint32_t i = 0; i < 27; i++) {
		const uint64_t square = rest * rest >> 31;

		log = log << 1 | square >> 32;
		rest = square >> (square >> 32);
	}
	return log;
}

uint64_t poisson_gap(struct rng *rng, uint64_t mean_ns)
{
	// 0 stands for 2^32, which is u = 1.
	const uint32_t u = rng_next32(rng);
	const uint64_t bits = u == 0 ? 0 : (32ull << 27) - log2_of(u);
	const uint64_t ln = bits * LN2 >> (27 + 32 - FRACTION_BITS);

	return mean_ns * (ln >> FRACTION_BITS) +
	       (mean_ns * (ln & ((1u << FRACTION_BITS) - 1)) >> FRACTION_BITS);
}
