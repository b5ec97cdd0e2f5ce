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
	uint64_t count;
	uint64_t done_ms[MESSAGES_MAX];
	double average; // MB/s, of messages of 1 MB that began at 10 ms
	double peak;
};

static const struct measure_row rows[] = {
	{ "one a millisecond", 2, 4, { 11, 12, 13, 14 }, 1000, 1000 },
	{ "two came faster", 2, 5, { 15, 20, 21, 22, 30 }, 250, 1000 },
	{ "but not four", 4, 5, { 15, 20, 21, 22, 35 }, 200, 200 },
	{ "fewer than are on their way", 8, 2, { 11, 12 }, 1000, 1000 },
	{ "none", 1, 0, { 0 }, 0, 0 },
};

TABLE_TEST(traffic_perftest_report, measure, row, rows)
{
	struct traffic_config config;
	struct perftest_report got;
	uint64_t done_ns[MESSAGES_MAX];

	traffic_config_init(&config);
	config.run.size = MB;
	config.run.depth = row->depth;
	for (uint32_t i = 0; i < MESSAGES_MAX; i++)
		done_ns[i] = row->done_ms[i] * (uint64_t)MS;
	perftest_measure(done_ns, row->count, &config, 10ull * MS, &got);
	cr_assert_eq(got.size, MB);
	cr_assert_eq(got.count, row->count);
	cr_assert_float_eq(got.average, row->average, 1e-6, "%s: %f", row->what, got.average);
	cr_assert_float_eq(got.peak, row->peak, 1e-6, "%s: %f", row->what, got.peak);
	cr_assert_float_eq(got.rate, row->average / 1e6, 1e-9, "%s: %f", row->what, got.rate);
}
