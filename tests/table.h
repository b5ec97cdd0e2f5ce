// SPDX-License-Identifier: BSD-3-Clause
//
// Tests as tables. TABLE_TEST(suite, name, row, table) {} runs its body once per row of `table`,
// each time as a Criterion test of its own with `row` pointing at it. Rows begin with `what`, the
// sentence that a failure prints; what follows the table are Criterion's options (.signal).
//
// The parameter that Criterion carries is the index of the row: every test is a fresh process, in
// which a pointer taken by the parent means nothing.
#pragma once

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/rng.h"

#define TABLE_COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define TABLE_TEST(suite, name, row, table, ...)                                                   \
	static void suite##_##name##_row(const typeof((table)[0]) *row);                           \
	ParameterizedTestParameters(suite, name)                                                   \
	{                                                                                          \
		static size_t index[TABLE_COUNT(table)];                                           \
		for (size_t i = 0; i < TABLE_COUNT(table); i++)                                    \
			index[i] = i;                                                              \
		return cr_make_param_array(size_t, index, TABLE_COUNT(table));                     \
	}                                                                                          \
	ParameterizedTest(size_t *index, suite, name __VA_OPT__(, ) __VA_ARGS__)                   \
	{                                                                                          \
		suite##_##name##_row(&(table)[*index]);                                            \
	}                                                                                          \
	static void suite##_##name##_row(const typeof((table)[0]) *row)

// Seeds that a run takes of those a test asks for: twenty times as many with WEFT_TEST_LONG=1.
enum { SEED_LONG_FACTOR = 20 };

static inline size_t seed_count(size_t count)
{
	const char *wanted = getenv("WEFT_TEST_LONG");

	return wanted != NULL && wanted[0] == '1' ? count * SEED_LONG_FACTOR : count;
}

// SEED_TEST(suite, name, rng, count) {} runs its body for `count` seeds from 1 on, with `rng`
// seeded. Run with --verbose=1 -j1 to see the seed of one that fails.
#define SEED_TEST(suite, name, rng, count)                                                         \
	static void suite##_##name##_seed(struct rng *rng);                                        \
	ParameterizedTestParameters(suite, name)                                                   \
	{                                                                                          \
		static size_t seed[SEED_LONG_FACTOR * (count)];                                    \
		for (size_t i = 0; i < seed_count(count); i++)                                     \
			seed[i] = i + 1;                                                           \
		return cr_make_param_array(size_t, seed, seed_count(count));                       \
	}                                                                                          \
	ParameterizedTest(size_t *seed, suite, name)                                               \
	{                                                                                          \
		struct rng seeded;                                                                 \
		cr_log_info("seed %zu", *seed);                                                    \
		rng_seed(&seeded, *seed);                                                          \
		suite##_##name##_seed(&seeded);                                                    \
	}                                                                                          \
	static void suite##_##name##_seed(struct rng *rng)
