// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration files that are refused, and in which words: a row is a text and every line that the
// loader says about it. Refusal must leave the caller's configuration alone.

#include <errno.h>

#include "tests/unit/sys_cfg.h"

#define WIDE "does not fit a plain number; write it in quotes; "
#define MASK_RANGE "allowed: numbers 0 to 7 such as \"3-4\" or \"3,4\"\n"
#define NAME_48 "a234567890b234567890c234567890d234567890e2345678"
#define TEXT_64 "a23456789abcdef_b23456789abcdef_c23456789abcdef_d23456789abcdef_"

static const struct {
	const char *what;
	const char *text;
	const char *errors; // every line, without the file's name
} refused_rows[] = {
	{ "an unknown key gets the nearest name", "\nsped = 1;",
	  ":2: sped: unknown; did you mean speed?\n" },
	{ "swapped letters are one mistake", "siez = 64;",
	  ":1: siez: unknown; did you mean size?\n" },
	{ "tables are near names too", "itme = ();", ":1: itme: unknown; did you mean item?\n" },
	{ "far from everything, all names are listed",
	  "item = ({ name = \"a\"; pg = 1; zzzz = 1; });",
	  ":1: item.zzzz: unknown; allowed: name weight pg\n" },
	{ "a duplicate key", "count = 1;\n  count = 2;\n",
	  ":2: duplicate setting name: count = 2;\n" },
	{ "a duplicate key in a row", "item = ({\n name = \"a\";\n name = \"b\"; });",
	  ":3: duplicate setting name: name = \"b\"; });\n" },
	{ "a syntax error shows its line", "count = 1;\nlevel == 2;\n",
	  ":2: syntax error: level == 2;\n" },
	{ "a trailing comma", "item = (\n{ name = \"a\"; pg = 1; },\n);",
	  ":3: syntax error: );\n" },
	{ "text for a number", "count = \"many\";",
	  ":1: count: \"many\" is not valid; " COUNT_RANGE "\n" },
	{ "a group for a number", "count = { };", ":1: count: is a group; " COUNT_RANGE "\n" },
	{ "an array for a number", "count = [1];", ":1: count: is an array; " COUNT_RANGE "\n" },
	{ "a list for a number", "count = (1);", ":1: count: is a list; " COUNT_RANGE "\n" },
	{ "a fraction for a number", "count = 1.0;",
	  ":1: count: is a fraction; " COUNT_RANGE "\n" },
	{ "a truth value for a number", "count = true;",
	  ":1: count: is true or false; " COUNT_RANGE "\n" },
	{ "a number for text", "note = 5;",
	  ":1: note: is a number; allowed: text of at most 255 bytes\n" },
	{ "a number for a truth value", "on = 1;",
	  ":1: on: is a number; allowed: true or false\n" },
	{ "a word that is not one", "pause = \"hodl\";",
	  ":1: pause: \"hodl\" is not valid; allowed: frames or hold\n" },
	{ "a part of a word", "pause = \"frame\";",
	  ":1: pause: \"frame\" is not valid; allowed: frames or hold\n" },
	{ "no word", "pause = \"\";", ":1: pause: \"\" is not valid; allowed: frames or hold\n" },
	{ "below the range", "count = 0;", ":1: count: 0 is too small; " COUNT_RANGE "\n" },
	{ "above the range", "size = \"9217\";",
	  ":1: size: \"9217\" is too large; allowed: 64 to 9K\n" },
	{ "below a signed range", "level = -9;", ":1: level: -9 is too small; allowed: -8 to 7\n" },
	{ "above a signed range", "level = \"8\";",
	  ":1: level: \"8\" is too large; allowed: -8 to 7\n" },
	{ "two signs", "level = \"--1\";", ":1: level: \"--1\" is not valid; allowed: -8 to 7\n" },
	{ "a unit of another kind", "speed = \"10s\";",
	  ":1: speed: \"10s\" is not valid; allowed: 0 to 400G\n" },
	{ "a rate without a unit", "speed = 400;",
	  ":1: speed: 400 has no unit; write it in quotes with one; allowed: 0 to 400G\n" },
	{ "a time without a unit", "age = 300;",
	  ":1: age: 300 has no unit; write it in quotes with one; allowed: 1us to 86400s\n" },
	{ "a priority too many", "set = \"3,8\";", ":1: set: \"3,8\" is not valid; " MASK_RANGE },
	{ "a name too long", "name = \"" NAME_48 "\";",
	  ":1: name: \"" NAME_48 "\" is too long; allowed: text of at most 47 bytes\n" },
	{ "a text too long", "note = \"" TEXT_64 TEXT_64 TEXT_64 TEXT_64 "\";",
	  ":1: note: \"a23456789abcdef_b23456789abcdef_c23456789abcdef_d23456789abc\" is too long;"
	  " allowed: text of at most 255 bytes\n" },
	{ "a control character", "name = \"a\\nb\";",
	  ":1: name: \"...\" contains a control character; allowed: text of at most 47 bytes\n" },
	{ "a number that libconfig cuts", "count = 400000000000;",
	  ":1: count: 400000000000 " WIDE COUNT_RANGE "\n" },
	{ "a hexadecimal one", "count = 0x100000001;",
	  ":1: count: 0x100000001 " WIDE COUNT_RANGE "\n" },
	{ "a hexadecimal one that turns negative", "level = 0xFFFFFFFF;",
	  ":1: level: 0xFFFFFFFF " WIDE "allowed: -8 to 7\n" },
	{ "a long one beyond 64 bits", "count = 99999999999999999999L;",
	  ":1: count: 99999999999999999999L " WIDE COUNT_RANGE "\n" },
	{ "a cut number whose name is on another line, behind comments",
	  "/* 1\n*/ # 2\n// 3\nnote = \"4\\\"5\"; \ncount\n=\n\n4294967297; level = 1;",
	  ":5: count: 4294967297 " WIDE COUNT_RANGE "\n" },
	{ "what must be given is missing", "\nitem = (\n { weight = 2; });",
	  ":3: item.name: missing; allowed: text of at most 47 bytes\n"
	  ":3: item.pg: missing; " MASK_RANGE },
	{ "what must be given is empty", "item = ({ name = \"\"; pg = \"\"; });",
	  ":1: item.name: \"\" must not be empty; allowed: text of at most 47 bytes\n"
	  ":1: item.pg: \"\" must not be empty; " MASK_RANGE },
	{ "a group for a table", "item = { };",
	  ":1: item: is a group; allowed: a list of groups, item = ( { ... }, { ... } );\n" },
	{ "a value for a table", "item = 5;",
	  ":1: item: is a number; allowed: a list of groups, item = ( { ... }, { ... } );\n" },
	{ "a value for a row", "item = (\n5, \"x\");",
	  ":2: item: row 1 is a number; allowed: a group { ... }\n"
	  ":2: item: row 2 is text; allowed: a group { ... }\n" },
	{ "too many rows, once",
	  "item = ({ name = \"a\"; pg = 0; }, { name = \"a\"; pg = 0; },\n"
	  "{ name = \"a\"; pg = 0; },\n{ name = \"a\"; pg = 0; }, { });",
	  ":3: item: has 5 rows; allowed: 3\n" },
	{ "all errors of a file, in its order",
	  "count = 0;\nitem = ({ name = \"a\"; pg = 9; });\nsize = 1;\nx = 1;",
	  ":1: count: 0 is too small; " COUNT_RANGE "\n"
	  ":2: item.pg: 9 is not valid; " MASK_RANGE ":3: size: 1 is too small; allowed: 64 to 9K\n"
	  ":4: x: unknown; allowed: name note count level size speed age cable share on pause set"
	  " limit th item\n" },
};

TABLE_TEST(cfg, refused, row, refused_rows)
{
	struct outcome out;

	load_text(row->text, &out);
	cr_expect_eq(out.rc, -EINVAL, "%s: %d", row->what, out.rc);
	cr_expect_str_eq(out.errors, row->errors, "%s:\n%s", row->what, out.errors);
	for (size_t i = 0; i < sizeof(out.config); i++)
		cr_assert_eq(((uint8_t *)&out.config)[i], 0xaa, "%s: byte %zu touched", row->what,
			     i);
}

Test(cfg, at_most_twenty_errors_and_a_count)
{
	char text[TEXT_BYTES] = "";
	struct outcome out;
	size_t lines = 0;

	for (int i = 0; i < 25; i++)
		snprintf(text + strlen(text), 16, "x%d = 1;\n", i);
	load_text(text, &out);
	for (const char *c = out.errors; *c != '\0'; c++)
		lines += *c == '\n';
	cr_assert_eq(lines, 21);
	cr_assert(strstr(out.errors, "\n: 5 more errors\n"), "%s", out.errors);
}
