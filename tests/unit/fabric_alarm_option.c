// SPDX-License-Identifier: BSD-3-Clause
//
// Limits of alarms from the command line: what is said changes, what is left out stays as
// schema/alarms.def has it, and what cannot be meant is refused and changes nothing.

#include "fabricmgr/net/alarm_option.h"

#include <string.h>

#include "tests/table.h"

static const struct {
	const char *what;
	const char *text;
	struct alarm_limits want; // of PAUSED, 50 % for 10 s and 20 % for 30 s by default
} rows[] = {
	{ "all of it", "PAUSED:30:5:10:60", { 30, 10, 5, 60 } },
	{ "where it is raised", "PAUSED:30", { 30, 20, 10, 30 } },
	{ "the last alone", "PAUSED::::7", { 50, 20, 10, 7 } },
	{ "nothing", "PAUSED", { 50, 20, 10, 30 } },
	{ "at once", "PAUSED:20:0:20:0", { 20, 20, 0, 0 } },
};

static void defaults(struct alarm_limits limits[ALARM_COUNT])
{
	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		limits[i] = alarm_infos[i].limits;
}

TABLE_TEST(alarm_option, taken, row, rows)
{
	struct alarm_limits limits[ALARM_COUNT];
	const struct alarm_limits *got = &limits[ALARM_PAUSED];
	char why[ALARM_OPTION_WHY_BYTES];

	defaults(limits);
	cr_assert(alarm_option_parse(row->text, limits, why), "%s: %s", row->what, why);
	cr_assert_eq(got->raise, row->want.raise);
	cr_assert_eq(got->clear, row->want.clear);
	cr_assert_eq(got->raise_s, row->want.raise_s);
	cr_assert_eq(got->clear_s, row->want.clear_s);
	cr_assert_eq(limits[ALARM_ERRORS].raise, alarm_infos[ALARM_ERRORS].limits.raise);
}

static const struct {
	const char *what;
	const char *text;
	const char *why; // part of it
} refused_rows[] = {
	{ "another name", "PAUSE:30", "did you mean PAUSED?" },
	{ "no name", "", "there is no alarm" },
	{ "cleared above where it is raised", "PAUSED:10", "CLEAR not above RAISE" },
	{ "no number", "PAUSED:x", "whole numbers" },
	{ "a fraction", "PAUSED:30.5", "whole numbers" },
	{ "too long", "PAUSED:30:3601", "3600 seconds" },
	{ "too much", "PAUSED:30:5:10:60:1", "whole numbers" },
};

TABLE_TEST(alarm_option, refused, row, refused_rows)
{
	struct alarm_limits limits[ALARM_COUNT];
	char why[ALARM_OPTION_WHY_BYTES] = "";

	defaults(limits);
	cr_assert_not(alarm_option_parse(row->text, limits, why), "%s", row->what);
	cr_assert_not_null(strstr(why, row->why), "%s: %s", row->what, why);
	for (uint32_t i = 0; i < ALARM_COUNT; i++) {
		cr_assert_eq(limits[i].raise, alarm_infos[i].limits.raise);
		cr_assert_eq(limits[i].clear, alarm_infos[i].limits.clear);
		cr_assert_eq(limits[i].raise_s, alarm_infos[i].limits.raise_s);
		cr_assert_eq(limits[i].clear_s, alarm_infos[i].limits.clear_s);
	}
}
