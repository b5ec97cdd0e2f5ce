// SPDX-License-Identifier: BSD-3-Clause
//
// Figures of a run against a perftest, of messages whose times are given: MB are 2^20 bytes, and
// the peak is that of as many messages in a row as are on their way.

#include "tests/table.h"
#include "traffic/perftest_report.h"

enum { MESSAGES_MAX = 6, MS = 1000000, MB = 1 << 20 };

struct measure_row {
	const char *what;
	uint64_t depth;
	uint64_t qps;
	uint64_t count;
	uint64_t done_ms[MESSAGES_MAX];
	double average; // MB/s, of messages of 1 MB that began at 10 ms
	double peak;
};

static const struct measure_row rows[] = {
	{ "one a millisecond", 2, 1, 4, { 11, 12, 13, 14 }, 1000, 1000 },
	{ "two came faster", 2, 1, 5, { 15, 20, 21, 22, 30 }, 250, 1000 },
	{ "but not four", 4, 1, 5, { 15, 20, 21, 22, 35 }, 200, 200 },
	{ "on two queue pairs", 1, 2, 5, { 15, 20, 21, 22, 30 }, 250, 1000 },
	{ "fewer than are on their way", 8, 1, 2, { 11, 12 }, 1000, 1000 },
	{ "none", 1, 1, 0, { 0 }, 0, 0 },
};

TABLE_TEST(traffic_perftest_report, measure, row, rows)
{
	struct traffic_config config;
	struct perftest_report got;
	uint64_t done_ns[MESSAGES_MAX];

	traffic_config_init(&config);
	config.run.size = MB;
	config.run.depth = row->depth;
	config.run.qps = row->qps;
	for (uint32_t i = 0; i < MESSAGES_MAX; i++)
		done_ns[i] = row->done_ms[i] * (uint64_t)MS;
	perftest_measure(done_ns, row->count, &config, 10ull * MS, &got);
	cr_assert_eq(got.size, MB);
	cr_assert_eq(got.count, row->count);
	cr_assert_float_eq(got.average, row->average, 1e-6, "%s: %f", row->what, got.average);
	cr_assert_float_eq(got.peak, row->peak, 1e-6, "%s: %f", row->what, got.peak);
	cr_assert_float_eq(got.rate, row->average / 1e6, 1e-9, "%s: %f", row->what, got.rate);
}

// Each side adds what the other one measured, and the count is its own.
Test(traffic_perftest_report, both_ways)
{
	const struct perftest_report own = { 65536, 40, 300, 200, 0.25 };
	const struct perftest_report peer = { 65536, 40, 30, 20, 0.5 };
	struct perftest_report got;

	perftest_measure_both(&own, &peer, &got);
	cr_assert_eq(got.size, 65536);
	cr_assert_eq(got.count, 40);
	cr_assert_float_eq(got.peak, 330, 1e-9);
	cr_assert_float_eq(got.average, 220, 1e-9);
	cr_assert_float_eq(got.rate, 0.75, 1e-9);
}
