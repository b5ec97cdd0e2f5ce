// SPDX-License-Identifier: BSD-3-Clause
//
// Suggestions for mistyped words: the distance is optimal string alignment, so the expected values
// are counted by hand, and a word suggests itself only when it is plainly a slip.

#include "sys/nearest.h"

#include "tests/table.h"

#define A63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *what;
	const char *a, *b;
	uint32_t want;
} distance_rows[] = {
	{ "equal", "port", "port", 0 },
	{ "both empty", "", "", 0 },
	{ "one empty", "", "port", 4 },
	{ "a letter added", "port", "ports", 1 },
	{ "a letter removed", "port", "pot", 1 },
	{ "a letter changed", "port", "part", 1 },
	{ "neighbours swapped", "port", "prot", 1 },
	{ "swapped twice", "abcd", "badc", 2 },
	{ "swapped, then edited between: not one edit", "ca", "abc", 3 },
	{ "nothing in common", "abc", "xyz", 3 },
	{ "the longest word", A63, A63, 0 },
	{ "a word too long", A63 "a", A63, UINT32_MAX },
};

TABLE_TEST(nearest, distance, row, distance_rows)
{
	cr_expect_eq(nearest_distance(row->a, row->b), row->want, "%s", row->what);
	cr_expect_eq(nearest_distance(row->b, row->a), row->want, "%s, reversed", row->what);
}

static const struct {
	const char *what;
	const char *word;
	const char *want; // NULL: none
} suggestion_rows[] = {
	{ "a slip", "intreface", "interface" },
	{ "the nearer of two", "quere", "queue" },
	{ "one edit is allowed in a short word", "mc", "mac" },
	{ "two are not", "m", NULL },
	{ "nothing near", "frobnicate", NULL },
};

TABLE_TEST(nearest, suggestion, row, suggestion_rows)
{
	static const char *const words[] = { "queue", "queries", "interface", "mac" };
	struct nearest search = nearest_to(row->word);

	for (size_t i = 0; i < TABLE_COUNT(words); i++)
		nearest_offer(&search, words[i]);
	if (row->want == NULL)
		cr_assert_null(search.best, "%s: %s", row->what, search.best);
	else
		cr_assert_str_eq(search.best, row->want, "%s", row->what);
}
