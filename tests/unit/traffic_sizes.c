// SPDX-License-Identifier: BSD-3-Clause
//
// Distributions of sizes against their definition, and times of a Poisson process against its
// moments.

#include <math.h>

#include "tests/table.h"
#include "traffic/core/poisson.h"
#include "traffic/core/sizes.h"

enum { DRAWS = 1000000, PERCENT = SIZES_WHOLE / 100 };

// Zero to 1000 over half of the messages, a step there, then up to 3000.
static struct sizes make(void)
{
	static const struct sizes_point points[] = {
		{ 0, 0 }, { 1000, 50 * PERCENT }, { 1000, 75 * PERCENT }, { 3000, 100 * PERCENT }
	};
	struct sizes sizes = { 0 };

	for (uint32_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		cr_assert_null(sizes_add(&sizes, points[i].bytes, points[i].share));
	cr_assert_null(sizes_check(&sizes));
	return sizes;
}

struct at_row {
	const char *what;
	uint32_t share;
	uint64_t bytes;
};

static const struct at_row at_rows[] = {
	{ "no message has no bytes", 0, 1 },
	{ "a tenth of the first half", 5 * PERCENT, 100 },
	{ "half", 25 * PERCENT, 500 },
	{ "where the step begins", 50 * PERCENT, 1000 },
	{ "within the step", 60 * PERCENT, 1000 },
	{ "where it ends", 75 * PERCENT, 1000 },
	{ "behind it", 80 * PERCENT, 1400 },
	{ "the last", SIZES_WHOLE - 1, 2999 },
};

TABLE_TEST(traffic_sizes, at, row, at_rows)
{
	const struct sizes sizes = make();

	cr_expect_eq(sizes_at(&sizes, row->share), row->bytes, "%s: %lu", row->what,
		     sizes_at(&sizes, row->share));
}

// One point is one size; several begin with a step of the first.
Test(traffic_sizes, first_point)
{
	struct sizes sizes = { 0 };

	cr_assert_null(sizes_add(&sizes, 700, 40 * PERCENT));
	cr_assert_null(sizes_add(&sizes, 800, SIZES_WHOLE));
	cr_expect_eq(sizes_at(&sizes, 0), 700);
	cr_expect_eq(sizes_at(&sizes, 40 * PERCENT - 1), 700);
	cr_expect_eq(sizes_at(&sizes, 70 * PERCENT), 750);
}

struct refusal_row {
	const char *what;
	struct sizes_point point[2]; // behind 1000 bytes and 50 percent
	const char *says;
};

static const struct refusal_row refusals[] = {
	{ "smaller than before", { { 999, 60 * PERCENT } }, "sizes must not decrease" },
	{ "less than before", { { 1001, 49 * PERCENT } }, "percentages must not decrease" },
	{ "too much", { { 1001, SIZES_WHOLE + 1 } }, "percentages are at most 100" },
	{ "too large", { { (1ull << 30) + 1, SIZES_WHOLE } }, "sizes are at most 1 GiB" },
	{ "more than all",
	  { { 2000, SIZES_WHOLE }, { 3000, SIZES_WHOLE } },
	  "nothing comes behind 100 percent" },
};

TABLE_TEST(traffic_sizes, refusal, row, refusals)
{
	struct sizes sizes = { 0 };
	const char *says;

	cr_assert_null(sizes_add(&sizes, 1000, 50 * PERCENT));
	says = sizes_add(&sizes, row->point[0].bytes, row->point[0].share);
	if (row->point[1].bytes != 0) {
		cr_assert_null(says, "%s", row->what);
		says = sizes_add(&sizes, row->point[1].bytes, row->point[1].share);
	}
	cr_assert_not_null(says, "%s", row->what);
	cr_expect_str_eq(says, row->says);
}

Test(traffic_sizes, whole)
{
	struct sizes sizes = { 0 };

	cr_expect_str_eq(sizes_check(&sizes), "no points");
	cr_assert_null(sizes_add(&sizes, 0, 99 * PERCENT));
	cr_expect_str_eq(sizes_check(&sizes), "the last percentage is not 100");
	cr_assert_null(sizes_add(&sizes, 0, SIZES_WHOLE));
	cr_expect_str_eq(sizes_check(&sizes), "no size above 0");
	sizes = (struct sizes){ 0 };
	for (uint32_t i = 0; i < SIZES_MAX; i++)
		cr_assert_null(sizes_add(&sizes, i, 0));
	cr_expect_str_eq(sizes_add(&sizes, SIZES_MAX, 0), "more than 1024 points");
}

// Half of the messages have 500 bytes in the mean, a quarter 1000 and a quarter 2000.
Test(traffic_sizes, mean)
{
	const struct sizes sizes = make();
	struct rng rng;
	double sum = 0;

	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < DRAWS; i++)
		sum += (double)sizes_draw(&sizes, &rng);
	// The deviation of one draw is 661, that of the mean 0.7.
	cr_expect_float_eq(sum / DRAWS, 1000, 3, "%f", sum / DRAWS);
}

struct poisson_row {
	const char *what;
	uint64_t mean_ns;
};

static const struct poisson_row poisson_rows[] = {
	{ "microseconds", 1000 },
	{ "an odd second", 1234567891 },
	{ "the longest", POISSON_MEAN_MAX },
};

// Mean and deviation of an exponential distribution are the same, and a part of 1/e is longer; in
// so many draws each is 0.1 % off, or 0.2 % the deviation.
TABLE_TEST(traffic_poisson, moments, row, poisson_rows)
{
	const double mean = (double)row->mean_ns;
	double sum = 0, squares = 0, longer = 0;
	struct rng rng;

	rng_seed(&rng, 7);
	for (uint32_t i = 0; i < DRAWS; i++) {
		const double gap = (double)poisson_gap(&rng, row->mean_ns) / mean;

		sum += gap;
		squares += gap * gap;
		longer += gap > 1;
	}
	sum /= DRAWS;
	cr_expect_float_eq(sum, 1, 0.004, "%s: %f", row->what, sum);
	cr_expect_float_eq(sqrt(squares / DRAWS - sum * sum), 1, 0.008, "%s", row->what);
	cr_expect_float_eq(longer / DRAWS, exp(-1), 0.002, "%s: %f", row->what, longer / DRAWS);
}
