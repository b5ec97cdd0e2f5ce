// SPDX-License-Identifier: BSD-3-Clause
//
// Edits of a configuration, and the differences that they make: each row is a configuration, one
// edit, and what the difference between before and after must say; or what the edit must be refused
// with, and then nothing changes.

#include <errno.h>

#include "sys/cfg_diff.h"
#include "sys/cfg_edit.h"
#include "tests/unit/sys_cfg.h"

#define TWO "item = ({ name = \"a\"; pg = 1; }, { name = \"b\"; pg = 2; });"
#define THREE                                                                                      \
	"item = ({ name = \"a\"; pg = 1; }, { name = \"b\"; pg = 2; }, { name = \"c\"; pg = 3; });"
#define KEY(...)                                                                                   \
	.key = { __VA_ARGS__ },                                                                    \
	.key_count = sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *)
#define BEFORE(word) .before = { word }, .before_count = 1
#define SET1(k, v) .setting = { { k, v } }, .setting_count = 1
#define SET2(k, v, k2, v2) .setting = { { k, v }, { k2, v2 } }, .setting_count = 2

struct edit_row {
	const char *what;
	const char *text; // of the configuration before
	struct cfg_edit edit;
	const char *says; // the difference, or the errors
};

static const struct edit_row done_rows[] = {
	{ "a knob of the top level",
	  "",
	  { CFG_EDIT_SET, "switch", SET1("age", "60s") },
	  "switch: age 300s -> 60s\n" },
	{ "the top level by its empty name",
	  "",
	  { CFG_EDIT_SET, "", SET1("on", "false") },
	  "switch: on true -> false\n" },
	{ "two knobs of a row",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("b"), SET2("weight", "9", "pg", "3-4") },
	  "item b: weight 1 -> 9\nitem b: pg \"2\" -> \"3-4\"\n" },
	{ "a text with quotes and spaces",
	  "",
	  { CFG_EDIT_SET, "", SET1("note", "a \"b\" \\") },
	  "switch: note \"\" -> \"a \\\"b\\\" \\\\\"\n" },
	{ "a knob that has no value by default",
	  "",
	  { CFG_EDIT_SET, "", SET1("limit", "1K") },
	  "switch: limit unset -> 1K\n" },
	{ "back to no value",
	  "limit = 9;",
	  { CFG_EDIT_SET, "", SET1("limit", NULL) },
	  "switch: limit 9 -> unset\n" },
	{ "back to the default",
	  "size = 64;",
	  { CFG_EDIT_SET, "", SET1("size", NULL) },
	  "switch: size 64 -> 2K\n" },
	{ "the value it has", "size = 64;", { CFG_EDIT_SET, "", SET1("size", "64") }, "" },
	{ "members into a set",
	  "set = \"1,3\";",
	  { CFG_EDIT_INCLUDE, "", SET1("set", "3-4") },
	  "switch: set \"1,3\" -> \"1,3-4\"\n" },
	{ "members out of a set",
	  "set = \"1,3\";",
	  { CFG_EDIT_EXCLUDE, "", SET1("set", "3-4") },
	  "switch: set \"1,3\" -> \"1\"\n" },
	{ "words into a list",
	  "note = \"a b\";",
	  { CFG_EDIT_INCLUDE, "", SET1("note", "b c") },
	  "switch: note \"a b\" -> \"a b c\"\n" },
	{ "words out of a list",
	  "note = \"a b c\";",
	  { CFG_EDIT_EXCLUDE, "", SET1("note", "x c  a") },
	  "switch: note \"a b c\" -> \"b\"\n" },
	{ "a row behind the last",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY("c"), SET1("pg", "3") },
	  "+ item c: pg = \"3\"\n" },
	{ "a row before another",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY("c"), BEFORE("b"), SET2("pg", "3", "weight", "2") },
	  "+ item c: weight = 2, pg = \"3\", before b\n" },
	{ "a row whose key is a knob",
	  "",
	  { CFG_EDIT_ADD, "item", SET2("name", "c", "pg", "3") },
	  "+ item c: pg = \"3\"\n" },
	{ "a row that is not there is put",
	  TWO,
	  { CFG_EDIT_PUT, "item", KEY("c"), SET1("pg", "3") },
	  "+ item c: pg = \"3\"\n" },
	{ "a row that is there is put",
	  TWO,
	  { CFG_EDIT_PUT, "item", KEY("a"), SET1("pg", "3") },
	  "item a: pg \"1\" -> \"3\"\n" },
	{ "a row is removed", THREE, { CFG_EDIT_REMOVE, "item", KEY("b") }, "- item b\n" },
	{ "a row gets another name",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("b"), SET1("name", "c") },
	  "- item b\n+ item c: pg = \"2\"\n" },
	{ "all rows are removed",
	  TWO,
	  { .op = CFG_EDIT_CLEAR, .table = "item" },
	  "- item a\n- item b\n" },
	{ "the rows of a key are removed",
	  TWO,
	  { CFG_EDIT_CLEAR, "item", KEY("a") },
	  "- item a\n" },
	{ "no row is removed", TWO, { CFG_EDIT_CLEAR, "item", KEY("c") }, "" },
	{ "a row that more of its knobs tell from its double",
	  "item = ({ name = \"a\"; pg = 1; }, { name = \"a\"; weight = 2; pg = 2; });",
	  { CFG_EDIT_SET, "item", KEY("a", "2"), SET1("pg", "7") },
	  "item a: pg \"2\" -> \"7\"\n" },
};

static const struct edit_row refused_rows[] = {
	{ "no such table",
	  "",
	  { CFG_EDIT_SET, "itme", SET1("pg", "1") },
	  "itme: no such table; did you mean item?\n" },
	{ "a table like no other",
	  "",
	  { CFG_EDIT_SET, "zzzzz", SET1("pg", "1") },
	  "zzzzz: no such table\n" },
	{ "no such knob",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("wieght", "1") },
	  "item a: wieght: unknown; did you mean weight?\n" },
	{ "a knob like no other",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("q", "1") },
	  "item a: q: unknown; allowed: name weight pg\n" },
	{ "no such row",
	  "item = ({ name = \"Ethernet0\"; pg = 1; });",
	  { CFG_EDIT_SET, "item", KEY("Ethernt0"), SET1("pg", "1") },
	  "item Ethernt0: no such row; did you mean Ethernet0?\n" },
	{ "a row like no other",
	  TWO,
	  { CFG_EDIT_REMOVE, "item", KEY("xyz") },
	  "item xyz: no such row\n" },
	{ "which row",
	  TWO,
	  { CFG_EDIT_SET, "item", SET1("pg", "1") },
	  "item: which row? Its key begins with name\n" },
	{ "a value out of range",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("weight", "101") },
	  "item a: weight: \"101\" is too large; allowed: 1 to 100\n" },
	{ "a value of another kind",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("pg", "x") },
	  "item a: pg: \"x\" is not valid; allowed: numbers 0 to 7 such as \"3-4\" or \"3,4\"\n" },
	{ "a word that is none",
	  "",
	  { CFG_EDIT_SET, "", SET1("pause", "stop") },
	  "switch: pause: \"stop\" is not valid; allowed: frames or hold\n" },
	{ "a control character",
	  "",
	  { CFG_EDIT_SET, "", SET1("note", "a\nb") },
	  "switch: note: \"...\" contains a control character; "
	  "allowed: text of at most 255 bytes\n" },
	{ "each wrong knob is named",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET2("weight", "0", "pg", "9") },
	  "item a: weight: \"0\" is too small; allowed: 1 to 100\n"
	  "item a: pg: \"9\" is not valid; allowed: numbers 0 to 7 such as \"3-4\" or \"3,4\"\n" },
	{ "no default to go back to",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("pg", NULL) },
	  "item a: pg: must be given, it has no default\n" },
	{ "a row that is there is not added",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY("a"), SET1("pg", "1") },
	  "item a: there is a row a already\n" },
	{ "a row does not get the name of another",
	  TWO,
	  { CFG_EDIT_SET, "item", KEY("a"), SET1("name", "b") },
	  "item a: there is a row b already\n" },
	{ "what a new row must have",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY("c") },
	  "item c: pg: missing; allowed: numbers 0 to 7 such as \"3-4\" or \"3,4\"\n" },
	{ "a full table",
	  THREE,
	  { CFG_EDIT_ADD, "item", KEY("d"), SET1("pg", "1") },
	  "item d: the table is full: it has 3 rows\n" },
	{ "before a row that is not there",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY("c"), BEFORE("x"), SET1("pg", "1") },
	  "item c: no such row; did you mean a?\n" },
	{ "a key that fits several rows",
	  "item = ({ name = \"a\"; pg = 1; }, { name = \"a\"; weight = 2; pg = 2; });",
	  { CFG_EDIT_REMOVE, "item", KEY("a") },
	  "item a: fits 2 rows; say more of: name weight pg\n" },
	{ "a key that is too long",
	  TWO,
	  { CFG_EDIT_REMOVE, "item", KEY("a", "1", "1", "1") },
	  "item a 1 1 1: the key has more words than its rows have knobs\n" },
	{ "a key of the top level",
	  "",
	  { CFG_EDIT_SET, "", KEY("a"), SET1("size", "64") },
	  "switch a: the top level has no rows\n" },
	{ "a row of the top level",
	  "",
	  { CFG_EDIT_ADD, "switch", SET1("size", "64") },
	  "switch: the top level has no rows\n" },
	{ "members of what is no set",
	  "",
	  { CFG_EDIT_INCLUDE, "", SET1("size", "64") },
	  "switch: size: is no set and no list of words; give it a whole value\n" },
	{ "an empty key",
	  TWO,
	  { CFG_EDIT_ADD, "item", KEY(""), SET1("pg", "1") },
	  "item : name: \"\" must not be empty; allowed: text of at most 47 bytes\n" },
};

// Loads the text of a row, applies its edit and gives what was said.
static int edit(const struct edit_row *row, struct config *before, struct config *after,
		char errors[TEXT_BYTES])
{
	static struct outcome out;
	FILE *file;
	int rc;

	load_text(row->text, &out);
	cr_assert_eq(out.rc, 0, "%s: %s", row->what, out.errors);
	*before = *after = out.config;
	memset(errors, 0, TEXT_BYTES);
	file = fmemopen(errors, TEXT_BYTES, "w");
	rc = cfg_edit_apply(after, tables, TABLE_COUNT(tables), &row->edit, 1, file);
	fclose(file);
	return rc;
}

static int64_t diff(const struct config *from, const struct config *to, char said[TEXT_BYTES])
{
	FILE *file;
	int64_t lines;

	memset(said, 0, TEXT_BYTES);
	file = fmemopen(said, TEXT_BYTES, "w");
	lines = cfg_diff(from, to, tables, TABLE_COUNT(tables), file);
	fclose(file);
	return lines;
}

TABLE_TEST(cfg_edit, done, row, done_rows)
{
	char said[TEXT_BYTES];
	struct config before;
	struct config after;
	int64_t lines = 0;

	cr_assert_eq(edit(row, &before, &after, said), 0, "%s: %s", row->what, said);
	cr_expect_str_eq(said, "", "%s: %s", row->what, said);
	for (const char *c = row->says; *c != '\0'; c++)
		lines += *c == '\n';
	cr_expect_eq(diff(&before, &after, said), lines, "%s", row->what);
	cr_expect_str_eq(said, row->says, "%s:\n%s", row->what, said);
}

TABLE_TEST(cfg_edit, refused, row, refused_rows)
{
	char said[TEXT_BYTES];
	struct config before;
	struct config after;

	cr_expect_eq(edit(row, &before, &after, said), -EINVAL, "%s", row->what);
	cr_expect_str_eq(said, row->says, "%s:\n%s", row->what, said);
	cr_expect_eq(memcmp(&before, &after, sizeof(before)), 0, "%s: changed", row->what);
}

// One wrong edit of a list leaves the whole list undone; all that are wrong are named.
Test(cfg_edit, whole_list_or_nothing)
{
	static const struct cfg_edit edits[] = {
		{ CFG_EDIT_SET, "", SET1("size", "64") },
		{ CFG_EDIT_REMOVE, "item", KEY("x") },
		{ CFG_EDIT_ADD, "item", KEY("c"), SET1("pg", "1") },
		{ CFG_EDIT_SET, "", SET1("level", "8") },
	};
	char said[TEXT_BYTES] = "";
	FILE *errors = fmemopen(said, sizeof(said), "w");
	struct outcome out;
	struct config before;

	load_text(TWO, &out);
	before = out.config;
	cr_assert_eq(cfg_edit_apply(&out.config, tables, TABLE_COUNT(tables), edits,
				    TABLE_COUNT(edits), errors),
		     -EINVAL);
	fclose(errors);
	cr_assert_str_eq(said, "item x: no such row; did you mean a?\n"
			       "switch: level: \"8\" is too large; allowed: -8 to 7\n");
	cr_assert_eq(memcmp(&before, &out.config, sizeof(before)), 0);
}

// A later edit sees what an earlier one did, and the table stays packed with zeros behind it.
Test(cfg_edit, edits_follow_one_another)
{
	static const struct cfg_edit edits[] = {
		{ CFG_EDIT_REMOVE, "item", KEY("a") },
		{ CFG_EDIT_ADD, "item", KEY("d"), SET1("pg", "1") },
		{ CFG_EDIT_SET, "item", KEY("d"), SET1("weight", "7") },
		{ CFG_EDIT_REMOVE, "item", KEY("b") },
	};
	static const char zeros[sizeof(struct item)];
	struct outcome out;

	load_text(THREE, &out);
	cr_assert_eq(cfg_edit_apply(&out.config, tables, TABLE_COUNT(tables), edits,
				    TABLE_COUNT(edits), stderr),
		     0);
	cr_assert_eq(out.config.item_count, 2);
	cr_assert_str_eq(out.config.item[0].name, "c");
	cr_assert_str_eq(out.config.item[1].name, "d");
	cr_assert_eq(out.config.item[1].weight, 7);
	cr_assert_eq(out.config.item[1].line, 0);
	cr_assert_arr_eq(&out.config.item[2], zeros, sizeof(zeros));
}

// --- order ------------------------------------------------------------------------------------

static const struct {
	const char *what;
	const char *from; // names of the items, a letter each
	const char *to;
	const char *says;
} order_rows[] = {
	{ "the same order", "abc", "abc", "" },
	{ "the last to the front", "abc", "cab", "item c: now first\n" },
	{ "the first to the end", "abc", "bca", "item a: now behind c\n" },
	{ "two change places", "ab", "ba", "item b: now first\n" },
	{ "all turned round: one may stay", "abc", "cba",
	  "item c: now first\nitem b: now behind c\n" },
	{ "a removal moves nobody", "abc", "bc", "- item a\n" },
	{ "an insertion moves nobody", "bc", "abc", "+ item a: pg = \"0\", before b\n" },
	{ "a move beside a removal", "abc", "cb", "- item a\nitem c: now first\n" },
};

static void name_items(const char *names, struct config *config)
{
	char text[TEXT_BYTES] = "item = (";
	struct outcome out;

	for (const char *c = names; *c != '\0'; c++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s{ name = \"%c\"; pg = 0; }", c == names ? "" : ", ", *c);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ");");
	load_text(text, &out);
	cr_assert_eq(out.rc, 0, "%s", out.errors);
	*config = out.config;
}

TABLE_TEST(cfg_diff, order, row, order_rows)
{
	char said[TEXT_BYTES];
	struct config from;
	struct config to;

	name_items(row->from, &from);
	name_items(row->to, &to);
	diff(&from, &to, said);
	cr_expect_str_eq(said, row->says, "%s:\n%s", row->what, said);
}
