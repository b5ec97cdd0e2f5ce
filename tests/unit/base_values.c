// SPDX-License-Identifier: BSD-3-Clause
//
// The small values of base: time (types.h), sets of ports (set.h), dice (rng.h). Expected values
// are those of plain arithmetic at the ends of each range, of sets enumerated by hand, and, for the
// dice, of the published generators.

#include <math.h>

#include "base/rng.h"
#include "base/set.h"
#include "base/types.h"
#include "tests/table.h"

static const struct {
	const char *what;
	uint64_t at, delta, sum;
} add_rows[] = {
	{ "plain", 5, 7, 12 },
	{ "up to never", UINT64_MAX - 1, 1, UINT64_MAX },
	{ "never more than never", UINT64_MAX - 1, 2, UINT64_MAX },
	{ "never stays", UINT64_MAX, 1, UINT64_MAX },
};

TABLE_TEST(time, adds_without_wrapping, row, add_rows)
{
	cr_assert_eq(ns_add((ns_t){ row->at }, row->delta).v, row->sum, "%s", row->what);
}

Test(time, orders)
{
	const ns_t early = { 3 }, late = { 10 };

	cr_assert_eq(ns_since(late, early), 7);
	cr_assert_eq(ns_since(early, late), 0);
	cr_assert_eq(ns_since(late, late), 0);
	cr_assert(ns_before(early, late));
	cr_assert_not(ns_before(late, late));
	cr_assert_not(ns_before(late, early));
	cr_assert_eq(ns_min(early, late).v, 3);
	cr_assert_eq(ns_min(NS_NEVER, late).v, 10);
	cr_assert_eq(u64_min(2, 3), 2);
	cr_assert_eq(u64_max(2, 3), 3);
}

static const struct {
	const char *what;
	uint32_t count;
	uint16_t member[4];
} set_rows[] = {
	{ "empty", 0, { 0 } },
	{ "the first", 1, { 0 } },
	{ "the last", 1, { PORT_SET_MAX - 1 } },
	{ "around a word's edge", 4, { 62, 63, 64, 65 } },
	{ "one in each word", 4, { 5, 64 + 5, 128 + 5, 192 + 5 } },
};

TABLE_TEST(port_set, walks_its_members_in_order, row, set_rows)
{
	struct port_set set = { 0 };
	uint32_t seen = 0;

	cr_assert(port_set_empty(&set));
	for (uint32_t i = row->count; i > 0; i--)
		port_set_add(&set, (port_t){ row->member[i - 1] });
	cr_assert_eq(port_set_empty(&set), row->count == 0, "%s", row->what);
	PORT_SET_FOR_EACH(port, &set) {
		cr_assert_lt(seen, row->count, "%s: too many", row->what);
		cr_assert_eq(port.v, row->member[seen], "%s", row->what);
		cr_assert(port_set_has(&set, port), "%s", row->what);
		port_set_remove(&set, port);
		cr_assert_not(port_set_has(&set, port), "%s", row->what);
		seen++;
	}
	cr_assert_eq(seen, row->count, "%s: too few", row->what);
	cr_assert(port_set_empty(&set), "%s", row->what);
}

Test(port_set, next_starts_where_asked)
{
	struct port_set set = { 0 };

	port_set_add(&set, (port_t){ 70 });
	cr_assert_eq(port_set_next(&set, 70).v, 70);
	cr_assert_eq(port_set_next(&set, 71).v, PORT_NONE.v);
	cr_assert_eq(port_set_next(&set, PORT_SET_MAX).v, PORT_NONE.v);
}

// The reference sequence of splitmix64 from seed 1234567 (Vigna's public-domain code, the numbers
// as published with it on Rosetta Code).
static const struct {
	const char *what;
	uint64_t want;
} splitmix_rows[] = {
	{ "first", 6457827717110365317u },  { "second", 3203168211198807973u },
	{ "third", 9817491932198370423u },  { "fourth", 4593380528125082431u },
	{ "fifth", 16408922859458223821u },
};

TABLE_TEST(rng, splitmix64_is_the_published_one, row, splitmix_rows)
{
	const size_t index = (size_t)(row - splitmix_rows);
	uint64_t x = 1234567;
	uint64_t got = 0;

	for (size_t i = 0; i <= index; i++)
		got = rng_splitmix64(&x);
	cr_assert_eq(got, row->want, "%s: %lu", row->what, got);
}

// xorshift128+ is linear over GF(2) up to its final sum: from state (0, 1) the first steps can be
// written down by hand with shifts 23, 18, 5.
Test(rng, xorshift128plus_steps)
{
	struct rng rng = { .s = { 1, 0 } };
	// a = 1 | 1 << 23, b = 0: s1 = a ^ a >> 18
	const uint64_t first = 1 ^ 1u << 23 ^ 1u << 5;

	cr_assert_eq(rng_next64(&rng), first);
	// a = 0, b = first: s1 = b ^ b >> 5, and the sum adds b.
	cr_assert_eq(rng_next64(&rng), (first ^ first >> 5) + first);
}

Test(rng, same_seed_same_run)
{
	struct rng a, b, c;
	uint32_t same = 0;

	rng_seed(&a, 7);
	rng_seed(&b, 7);
	rng_seed(&c, 8);
	for (uint32_t i = 0; i < 1000; i++) {
		const uint64_t value = rng_next64(&a);

		cr_assert_eq(value, rng_next64(&b));
		same += value == rng_next64(&c);
	}
	cr_assert_eq(same, 0);
}

static const struct {
	const char *what;
	uint32_t bound;
} below_rows[] = {
	{ "a coin", 2 },
	{ "not a power of two", 10 },
	{ "wide", 1000 },
};

// Each of `bound` cells is binomial with p = 1 / bound; 6 sigma leave a false alarm of 2e-9 a cell.
TABLE_TEST(rng, below_is_uniform, row, below_rows)
{
	const uint32_t draws = 1000000;
	const double p = 1.0 / row->bound;
	const double margin = 6 * sqrt(draws * p * (1 - p));
	uint32_t seen[1000] = { 0 };
	struct rng rng;

	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < draws; i++) {
		const uint32_t value = rng_below(&rng, row->bound);

		cr_assert_lt(value, row->bound, "%s", row->what);
		seen[value]++;
	}
	for (uint32_t i = 0; i < row->bound; i++)
		cr_assert_lt(fabs(seen[i] - draws * p), margin, "%s: %u times %u", row->what,
			     seen[i], i);
}
