// SPDX-License-Identifier: BSD-3-Clause
//
// Rates between two answers: by the switch's clock, within one life of it, and never below zero.
// Wanted values are worked out by hand: bytes times eight over seconds.

#include "cli/rate.h"

#include <string.h>

#include "tests/table.h"

static const struct {
	const char *what;
	const char *before;
	const char *after;
	uint64_t want_ns;
} elapsed_rows[] = {
	{ "two seconds", "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":1000000000}}",
	  "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":3000000000}}", 2000000000 },
	{ "another life", "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":1000000000}}",
	  "{\"switch\":{\"boot_id\":\"b\",\"uptime_ns\":3000000000}}", 0 },
	{ "the same instant", "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":7}}",
	  "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":7}}", 0 },
	{ "the other way round", "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":9}}",
	  "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":7}}", 0 },
	{ "nothing before", "{}", "{\"switch\":{\"boot_id\":\"a\",\"uptime_ns\":7}}", 0 },
};

TABLE_TEST(rate, elapsed, row, elapsed_rows)
{
	json_t *before = json_loads(row->before, 0, NULL);
	json_t *after = json_loads(row->after, 0, NULL);

	cr_assert_eq(rate_elapsed_ns(before, after), row->want_ns, "%s", row->what);
	json_decref(before);
	json_decref(after);
}

static const struct {
	const char *what;
	const char *before;
	const char *after;
	bool known;
	uint64_t want;
} difference_rows[] = {
	{ "it grew", "{\"n\":5}", "{\"n\":12}", true, 7 },
	{ "it stayed", "{\"n\":5}", "{\"n\":5}", true, 0 },
	{ "it went back", "{\"n\":5}", "{\"n\":4}", false, 0 },
	{ "it is new", "{}", "{\"n\":4}", false, 0 },
	{ "it is unknown now", "{\"n\":4}", "{\"n\":null}", false, 0 },
};

TABLE_TEST(rate, difference, row, difference_rows)
{
	json_t *before = json_loads(row->before, 0, NULL);
	json_t *after = json_loads(row->after, 0, NULL);
	uint64_t by = 0;

	cr_assert_eq(rate_difference(before, after, "n", &by), row->known, "%s", row->what);
	cr_assert_eq(by, row->want, "%s", row->what);
	json_decref(before);
	json_decref(after);
}

static const struct {
	const char *what;
	uint64_t count, scale, elapsed_ns, want;
} second_rows[] = {
	{ "1250 bytes in a microsecond are 10 Gb/s", 1250, 8, 1000, 10000000000 },
	{ "nothing", 0, 8, 1000000000, 0 },
	{ "one frame in three seconds is rounded down", 1, 1, 3000000000, 0 },
	{ "2^60 bytes in a second do not overflow", 1ull << 60, 4, 1000000000, 1ull << 62 },
	{ "beyond what JSON can hold", 1ull << 62, 8, 1, INT64_MAX },
};

TABLE_TEST(rate, per_second, row, second_rows)
{
	cr_assert_eq(rate_per_second(row->count, row->scale, row->elapsed_ns), row->want, "%s",
		     row->what);
}

Test(rate, share)
{
	cr_assert_eq(rate_share_ppm(1, 4), 250000);
	cr_assert_eq(rate_share_ppm(5, 0), 0);
}
