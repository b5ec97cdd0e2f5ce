// SPDX-License-Identifier: BSD-3-Clause
//
// The two small renderers of the shell: log lines with their rate limit, and faults of the pure
// libraries as sentences.

#include <string.h>

#include "sys/fault.h"
#include "sys/log.h"
#include "tests/table.h"

static const struct {
	const char *what;
	int priority;
	const char *text;
	uint32_t swallowed;
	const char *want;
} line_rows[] = {
	{ "on a terminal", -1, "port up", 0, "port up\n" },
	{ "for the journal", LOG_LEVEL_ERR, "port gone", 0, "<3>port gone\n" },
	{ "after silence", LOG_LEVEL_INFO, "again", 12, "<6>again (12 such lines left out)\n" },
	{ "one line whatever the text", -1, "a\nb\tc\x7f\x1b[2J", 0, "a b c  [2J\n" },
	{ "nothing", -1, "", 0, "\n" },
};

TABLE_TEST(log, line, row, line_rows)
{
	char out[LOG_LINE_BYTES];
	const size_t len = log_line(row->priority, row->text, row->swallowed, out);

	cr_assert_eq(len, strlen(row->want), "%s", row->what);
	cr_assert_arr_eq(out, row->want, len, "%s", row->what);
}

Test(log, a_long_line_is_cut_not_split)
{
	char text[2 * LOG_LINE_BYTES];
	char out[LOG_LINE_BYTES];
	size_t len;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	len = log_line(LOG_LEVEL_WARN, text, 5, out);
	cr_assert_leq(len, LOG_LINE_BYTES);
	cr_assert_eq(out[len - 1], '\n');
	cr_assert_arr_eq(out, "<4>xxx", 6);
}

Test(log, a_call_site_is_limited_per_second)
{
	struct log_site site = { 0 };
	uint32_t swallowed = 99;

	for (int i = 0; i < LOG_PER_SECOND; i++) {
		cr_assert(log_site_pass(&site, 7, &swallowed));
		cr_assert_eq(swallowed, 0);
	}
	for (int i = 0; i < 3; i++)
		cr_assert_not(log_site_pass(&site, 7, &swallowed));
	cr_assert(log_site_pass(&site, 8, &swallowed));
	cr_assert_eq(swallowed, 3);
	cr_assert(log_site_pass(&site, 8, &swallowed));
	cr_assert_eq(swallowed, 0);
}

static const struct {
	const char *what;
	const char *text;
	size_t room;
	const char *want;
} fault_rows[] = {
	{ "all four", "%o: \"%d\" has %h of %w", 64,
	  "pg3: \"lossless\" has 7 of 18446744073709551615" },
	{ "no placeholder", "nothing", 64, "nothing" },
	{ "a percent sign", "5%% of %o", 64, "5% of pg3" },
	{ "an unknown placeholder stays", "%s%x %o", 64, "%s%x pg3" },
	{ "a percent sign at the end", "%o%", 64, "pg3%" },
	{ "cut", "%d and more", 6, "lossl" },
	{ "cut between", "%o%d", 4, "pg3" },
	{ "room for the end only", "%o", 1, "" },
	{ "empty", "", 64, "" },
};

TABLE_TEST(fault, render, row, fault_rows)
{
	char out[64];
	const size_t len = fault_render(out, row->room, row->text, "pg3", "lossless", 7,
					UINT64_MAX);

	cr_assert_str_eq(out, row->want, "%s: %s", row->what, out);
	cr_assert_eq(len, strlen(row->want), "%s", row->what);
}
