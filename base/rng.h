// SPDX-License-Identifier: BSD-3-Clause
//
// Deterministic dice: xorshift128+ seeded through splitmix64 (Vigna 2014). The state is a value;
// the seed is the caller's, so the same seed gives the same run everywhere.
#pragma once

#include "base/types.h"

struct rng {
	uint64_t s[2];
};

static inline uint64_t rng_splitmix64(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	rng->s[0] = rng_splitmix64(&seed);
	rng->s[1] = rng_splitmix64(&seed) | 1;
}

static inline uint64_t rng_next64(struct rng *rng)
{
	uint64_t a = rng->s[0];
	const uint64_t b = rng->s[1];

	rng->s[0] = b;
	a ^= a << 23;
	rng->s[1] = a ^ b ^ a >> 18 ^ b >> 5;
	return rng->s[1] + b;
}

// The upper half: the lower bits of xorshift128+ are the weak ones.
static inline uint32_t rng_next32(struct rng *rng)
{
	return (uint32_t)(rng_next64(rng) >> 32);
}

// Uniform in 0..bound-1 (bound > 0) by multiplication; the bias is below bound / 2^32.
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	return (uint32_t)((uint64_t)rng_next32(rng) * bound >> 32);
}
