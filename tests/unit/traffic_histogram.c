// SPDX-License-Identifier: BSD-3-Clause
//
// Histograms: a quantile is never below the true one and at most 1/32 above it, and that of two
// histograms together is that of all their samples.
//
// The true one follows from the samples, which are evenly spaced.

#include <string.h>

#include "tests/table.h"
#include "traffic/core/histogram.h"

struct quantile_row {
	const char *what;
	uint64_t first;
	uint64_t step;
	uint32_t count;
	uint32_t ppm;
};

static const struct quantile_row quantile_rows[] = {
	{ "the only sample is the median", 12345, 1, 1, 500000 },
	{ "small values are exact", 0, 1, 32, 500000 },
	{ "the least", 1000, 7, 1000, 0 },
	{ "the median", 1000, 7, 1001, 500000 },
	{ "99 %", 1000, 7, 1000, 990000 },
	{ "99.9 %", 50, 13, 100000, 999000 },
	{ "the most", 1000, 7, 1000, 1000000 },
	{ "above the last octave", 1ull << 41, 1, 3, 500000 },
};

TABLE_TEST(traffic_histogram, quantile, row, quantile_rows)
{
	static struct histogram h;
	uint32_t at = (uint32_t)((uint64_t)row->count * row->ppm / 1000000);
	uint64_t got, want;

	for (uint32_t i = 0; i < row->count; i++)
		histogram_add(&h, row->first + i * row->step);
	at = at < row->count ? at : row->count - 1;
	want = row->first + at * row->step;
	got = histogram_quantile(&h, row->ppm);
	if (want >> HISTOGRAM_OCTAVES != 0)
		want = (1ull << HISTOGRAM_OCTAVES) - 1; // as the header says
	cr_assert_geq(got, want, "%s: %lu instead of %lu", row->what, got, want);
	cr_assert_leq(got, want + want / 32, "%s: %lu instead of %lu", row->what, got, want);
	cr_assert_eq(h.least, row->first);
	cr_assert_eq(h.most, row->first + (row->count - 1) * row->step);
}

Test(traffic_histogram, sums_of_two_are_those_of_all)
{
	static struct histogram a, b, all, none;

	for (uint64_t i = 0; i < 1000; i++) {
		histogram_add(i % 3 == 0 ? &a : &b, i * i);
		histogram_add(&all, i * i);
	}
	histogram_merge(&a, &b);
	histogram_merge(&a, &none);
	cr_assert_eq(memcmp(&a, &all, sizeof(a)), 0);
	cr_assert_eq(histogram_quantile(&none, 500000), 0);
}
