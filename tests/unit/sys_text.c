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

static const char known[][CONFIG_NAME_BYTES] = { "leaf1", "leaf" };

static const struct {
	const char *what;
	enum log_level level;
	const char *text;
	uint32_t swallowed;
	const char *want; // behind the time
} json_rows[] = {
	{ "of a switch", LOG_LEVEL_INFO, "leaf1: ready, 4 ports", 0,
	  "\"level\":\"info\",\"switch\":\"leaf1\",\"message\":\"ready, 4 ports\"}" },
	{ "of a port", LOG_LEVEL_WARN, "leaf Ethernet0: link up", 0,
	  "\"level\":\"warning\",\"switch\":\"leaf\",\"port\":\"Ethernet0\","
	  "\"message\":\"link up\"}" },
	{ "of the process", LOG_LEVEL_ERR, "Terminated: ending", 0,
	  "\"level\":\"error\",\"message\":\"Terminated: ending\"}" },
	{ "of a switch that is not known", LOG_LEVEL_ERR, "leaf2: gone", 0,
	  "\"level\":\"error\",\"message\":\"leaf2: gone\"}" },
	{ "more words are no port", LOG_LEVEL_ERR, "leaf1 is not here: gone", 0,
	  "\"level\":\"error\",\"message\":\"leaf1 is not here: gone\"}" },
	{ "a file is no switch", LOG_LEVEL_ERR, "leaf1:7: wrong", 0,
	  "\"level\":\"error\",\"message\":\"leaf1:7: wrong\"}" },
	{ "a name alone", LOG_LEVEL_ERR, "leaf1", 0, "\"level\":\"error\",\"message\":\"leaf1\"}" },
	{ "after silence", LOG_LEVEL_INFO, "again", 12,
	  "\"level\":\"info\",\"message\":\"again\",\"left_out\":12}" },
	{ "quotes and backslashes", LOG_LEVEL_INFO, "a \"b\" \\c", 0,
	  "\"level\":\"info\",\"message\":\"a \\\"b\\\" \\\\c\"}" },
	{ "one line whatever the text", LOG_LEVEL_INFO, "a\nb\x7f", 0,
	  "\"level\":\"info\",\"message\":\"a b \"}" },
	{ "characters beyond ASCII", LOG_LEVEL_INFO, "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x8e", 0,
	  "\"level\":\"info\",\"message\":\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x8e\"}" },
	// RFC 3629: an overlong slash, a surrogate, beyond U+10FFFF, a cut character, a stray byte
	{ "bytes that are no characters", LOG_LEVEL_INFO,
	  "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82", 0,
	  "\"level\":\"info\",\"message\":\"?? ??? ???? ??\"}" },
	{ "nothing", LOG_LEVEL_INFO, "", 0, "\"level\":\"info\",\"message\":\"\"}" },
};

TABLE_TEST(log, json, row, json_rows)
{
	// 2^31 seconds after 1970, and 7 us.
	static const char stamp[] = "{\"time\":\"2038-01-19T03:14:08.000007Z\",";
	char out[LOG_JSON_BYTES];
	const size_t len = log_json(row->level, row->text, row->swallowed,
				    (struct log_time){ 2147483648, 7 }, known, 2, out);

	cr_assert_eq(len, strlen(stamp) + strlen(row->want) + 1, "%s: %.*s", row->what, (int)len,
		     out);
	cr_assert_arr_eq(out, stamp, strlen(stamp), "%s", row->what);
	cr_assert_arr_eq(out + strlen(stamp), row->want, strlen(row->want), "%s: %.*s", row->what,
			 (int)len, out);
	cr_assert_eq(out[len - 1], '\n');
}

Test(log, long_json_is_still_an_object)
{
	char text[2 * LOG_JSON_BYTES];
	char out[LOG_JSON_BYTES];
	size_t len;

	memset(text, '"', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	len = log_json(LOG_LEVEL_WARN, text, UINT32_MAX, (struct log_time){ 0, 0 }, known, 2, out);
	cr_assert_leq(len, LOG_JSON_BYTES);
	cr_assert_arr_eq(out + len - 27, "\\\"\",\"left_out\":4294967295}\n", 27);
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
