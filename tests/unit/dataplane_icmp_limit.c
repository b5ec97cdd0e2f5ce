// SPDX-License-Identifier: BSD-3-Clause
//
// Buckets of ICMP errors: how many go out after silence, how many in the long run, and that one
// source leaves room for the others. Wanted numbers follow from rate, burst and time.

#include "dataplane/icmp_limit.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/table.h"

#define SECOND 1000000000ull
#define KEY 0x1234567890abcdefu

static struct icmp_limit limit;

static bool take(uint32_t source, ns_t now)
{
	uint8_t address[16] = { 10 };

	store_be32(address + 12, source);
	return icmp_limit_take(&limit, address, now);
}

static const struct {
	const char *what;
	uint64_t rate, source_rate;
	uint32_t sources; // that take turns
	uint32_t seconds;
	uint64_t least, most;
} rows[] = {
	{ "one source has its own rate", 1000, 10, 1, 20, 200, 200 + ICMP_LIMIT_BURST },
	{ "many share the switch's", 100, 10, 500, 20, 2000, 2000 + ICMP_LIMIT_BURST },
	{ "a source may not have more than the switch", 5, 1000, 1, 20, 100,
	  100 + ICMP_LIMIT_BURST },
	{ "few do not reach the switch's rate", 1000, 10, 3, 20, 400, 600 + 3 * ICMP_LIMIT_BURST },
};

// A thousand attempts a second of each.
TABLE_TEST(icmp_limit, long_run, row, rows)
{
	uint64_t sent = 0;

	icmp_limit_init(&limit, row->rate, row->source_rate, KEY);
	for (uint64_t ms = 0; ms < 1000ull * row->seconds; ms++) {
		for (uint32_t i = 0; i < row->sources; i++)
			sent += take(i, (ns_t){ SECOND + ms * 1000000 });
	}
	cr_assert_geq(sent, row->least, "%s: %zu", row->what, (size_t)sent);
	cr_assert_leq(sent, row->most, "%s: %zu", row->what, (size_t)sent);
}

Test(icmp_limit, a_burst_goes_out_after_silence)
{
	uint32_t sent = 0;

	icmp_limit_init(&limit, 1000, 10, KEY);
	for (uint32_t i = 0; i < 100; i++)
		sent += take(1, (ns_t){ 100 * SECOND });
	cr_assert_eq(sent, ICMP_LIMIT_BURST);
	cr_assert_not(take(1, (ns_t){ 100 * SECOND + SECOND / 10 - 1 }));
	cr_assert(take(1, (ns_t){ 100 * SECOND + SECOND / 10 }));
}

// Sources 1 and 2 have different buckets under this key, which the last line shows.
Test(icmp_limit, one_source_leaves_room_for_another)
{
	icmp_limit_init(&limit, 1000, 10, KEY);
	for (uint32_t i = 0; i < 100; i++)
		take(1, (ns_t){ SECOND });
	cr_assert_not(take(1, (ns_t){ SECOND + SECOND / 1000 }));
	cr_assert(take(2, (ns_t){ SECOND + SECOND / 1000 }));
}

// What is refused to one costs the switch nothing.
Test(icmp_limit, refusals_are_free)
{
	uint32_t sent = 0;

	icmp_limit_init(&limit, 10, 1, KEY);
	for (uint32_t i = 0; i < 10000; i++)
		take(1, (ns_t){ SECOND });
	for (uint32_t i = 2; i < 1000; i++)
		sent += take(i, (ns_t){ 2 * SECOND });
	cr_assert_geq(sent, ICMP_LIMIT_BURST - 1);
	cr_assert_leq(sent, ICMP_LIMIT_BURST);
}
