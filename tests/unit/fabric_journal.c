// SPDX-License-Identifier: BSD-3-Clause
//
// The journal as a ring: numbers go on, the last JOURNAL_MAX events are there, long texts are cut,
// and those of an earlier run keep their numbers.

#include "fabricmgr/core/journal.h"

#include <string.h>

#include "tests/table.h"

static struct journal journal;

Test(journal, numbers_events_from_one_on)
{
	cr_expect_null(journal_at(&journal, 0));
	cr_expect_null(journal_at(&journal, 1));
	journal_add(&journal, 0, 1234, "leaf1", "why");
	cr_assert_not_null(journal_at(&journal, 1));
	cr_expect_eq(journal_at(&journal, 1)->wall_ms, 1234);
	cr_expect_str_eq(journal_at(&journal, 1)->object, "leaf1");
	cr_expect_str_eq(journal_at(&journal, 1)->detail, "why");
	cr_expect_null(journal_at(&journal, 2));
}

Test(journal, keeps_the_last_ones)
{
	for (uint32_t i = 1; i <= JOURNAL_MAX + 10; i++)
		journal_add(&journal, 0, i, "", "");
	cr_expect_eq(journal.count, JOURNAL_MAX + 10);
	cr_expect_null(journal_at(&journal, 10));
	for (uint32_t i = 11; i <= JOURNAL_MAX + 10; i++)
		cr_expect_eq(journal_at(&journal, i)->wall_ms, i);
}

Test(journal, cuts_long_texts)
{
	char text[2 * JOURNAL_DETAIL_BYTES];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	journal_add(&journal, 0, 0, text, text);
	cr_expect_eq(strlen(journal_at(&journal, 1)->object), JOURNAL_OBJECT_BYTES - 1);
	cr_expect_eq(strlen(journal_at(&journal, 1)->detail), JOURNAL_DETAIL_BYTES - 1);
}

Test(journal, goes_on_behind_an_earlier_run)
{
	const struct journal_event old = { .number = 9000, .object = "leaf2" };

	journal_restore(&journal, &old);
	journal_add(&journal, 0, 0, "leaf3", "");
	cr_expect_str_eq(journal_at(&journal, 9000)->object, "leaf2");
	cr_expect_str_eq(journal_at(&journal, 9001)->object, "leaf3");
	cr_expect_null(journal_at(&journal, 8999));
}

Test(journal, a_budget_is_a_burst_and_then_one_a_second)
{
	const uint64_t second = 1000000000;
	struct journal_budget budget = { 0 };
	ns_t now = { 5 * second };
	uint32_t taken = 0;

	for (uint32_t i = 0; i < 10 * JOURNAL_BURST; i++)
		taken += journal_budget_take(&budget, now);
	cr_expect_eq(taken, JOURNAL_BURST);
	now = ns_add(now, 2 * second);
	for (uint32_t i = 0; i < 10; i++)
		taken += journal_budget_take(&budget, now);
	cr_expect_eq(taken, JOURNAL_BURST + 2);
	// A long silence saves up no more than the burst.
	now = ns_add(now, 1000 * second);
	for (uint32_t i = 0; i < 10 * JOURNAL_BURST; i++)
		taken += journal_budget_take(&budget, now);
	cr_expect_eq(taken, 2 * JOURNAL_BURST + 2);
}
