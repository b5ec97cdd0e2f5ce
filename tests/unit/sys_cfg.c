// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration files that are taken: every way to write a value, defaults, rows, included files,
// and the dump that reads back.

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/sys_cfg.h"

#define NUMBER(member, want) offsetof(struct config, top.member), (uint64_t)(want)

static const struct {
	const char *what;
	const char *text;
	size_t offset;
	uint64_t want;
} taken_rows[] = {
	{ "default of a count", "", NUMBER(count, 7) },
	{ "default of a signed number", "", NUMBER(level, -1) },
	{ "default of bytes", "", NUMBER(size, 2048) },
	{ "default of a rate", "", NUMBER(speed, 0) },
	{ "default of a time", "", NUMBER(age, 300000000000) },
	{ "default of a length", "", NUMBER(cable, 5) },
	{ "default of a share", "", NUMBER(share, 50000) },
	{ "default of a truth value", "", NUMBER(on, 1) },
	{ "default of a word", "", NUMBER(pause, 0) },
	{ "default of a set", "", NUMBER(set, 0) },
	{ "unset bytes", "", NUMBER(limit, CONFIG_UNSET) },
	{ "unset signed number", "", NUMBER(th, CONFIG_UNSET_INT) },
	{ "a plain count", "count = 3;", NUMBER(count, 3) },
	{ "a long count", "count = 3000000000L;", NUMBER(count, 3000000000) },
	{ "a count in quotes", "count = \"400000000000\";", NUMBER(count, 400000000000) },
	{ "a hexadecimal count", "count = 0x7fffffff;", NUMBER(count, 0x7fffffff) },
	{ "a large long hexadecimal count", "count = 0x100000001L;", NUMBER(count, 0x100000001) },
	{ "a negative number", "level = -8;", NUMBER(level, -8) },
	{ "a negative number in quotes", "level = \"-8\";", NUMBER(level, -8) },
	{ "plain bytes", "size = 9216;", NUMBER(size, 9216) },
	{ "bytes with a unit", "size = \"9KiB\";", NUMBER(size, 9216) },
	{ "a rate", "speed = \"2.5G\";", NUMBER(speed, 2500000000) },
	{ "zero needs no unit", "speed = 0;", NUMBER(speed, 0) },
	{ "a time", "age = \"200ms\";", NUMBER(age, 200000000) },
	{ "a length", "cable = \"1.5km\";", NUMBER(cable, 1500) },
	{ "a share", "share = \"0.1%\";", NUMBER(share, 1000) },
	{ "a truth value", "on = false;", NUMBER(on, 0) },
	{ "a truth value in quotes", "on = \"false\";", NUMBER(on, 0) },
	{ "a word", "pause = \"hold\";", NUMBER(pause, 1) },
	{ "one priority", "set = 3;", NUMBER(set, 0x08) },
	{ "several priorities", "set = \"0,3-4\";", NUMBER(set, 0x19) },
	{ "the lowest limit", "limit = 0;", NUMBER(limit, 0) },
	{ "a wide number in a comment is none", "# 400000000000\ncount = 5;", NUMBER(count, 5) },
	{ "a wide number in a string is none", "note = \"a 400000000000\"; count = 5;",
	  NUMBER(count, 5) },
	{ "rows of an empty list", "item = ();", offsetof(struct config, item_count), 0 },
};

TABLE_TEST(cfg, taken, row, taken_rows)
{
	struct outcome out;
	uint64_t have = 0;
	const size_t bytes = row->offset == offsetof(struct config, item_count) ? 4 : 8;

	load_text(row->text, &out);
	cr_expect_str_eq(out.errors, "", "%s: %s", row->what, out.errors);
	cr_assert_eq(out.rc, 0, "%s", row->what);
	memcpy(&have, (uint8_t *)&out.config + row->offset, bytes);
	cr_assert_eq(have, row->want, "%s: %ld", row->what, (long)have);
}

Test(cfg, rows_have_lines_names_and_zeros_behind_them)
{
	static const char zeros[sizeof(struct item)];
	struct outcome out;

	load_text(
		"item = (\n{ name = \"a\"; pg = 1; weight = 9; },\n{ name = \"b\"; pg = \"2\"; });",
		&out);
	cr_assert_eq(out.rc, 0, "%s", out.errors);
	cr_assert_eq(out.config.item_count, 2);
	cr_assert_eq(out.config.item[0].line, 2);
	cr_assert_eq(out.config.item[1].line, 3);
	cr_assert_str_eq(out.config.item[0].name, "a");
	cr_assert_str_eq(out.config.item[1].name, "b");
	cr_assert_eq(out.config.item[0].weight, 9);
	cr_assert_eq(out.config.item[1].weight, 1);
	cr_assert_arr_eq(out.config.item[0].name + 1, zeros, CONFIG_NAME_BYTES - 1);
	cr_assert_arr_eq(&out.config.item[2], zeros, sizeof(zeros));
}

Test(cfg, longest_name_fits)
{
	struct outcome out;

	load_text("name = \"a234567890b234567890c234567890d234567890e234567\";", &out);
	cr_assert_eq(out.rc, 0, "%s", out.errors);
	cr_assert_eq(strlen(out.config.top.name), CONFIG_NAME_BYTES - 1);
}

static const char dump_text[] = "name = \"a \\\"quoted\\\" \\\\ name\";\n"
				"note = \"\";\n"
				"count = \"3000000000\";\n"
				"level = -3;\n"
				"size = \"9K\";\n"
				"speed = \"2.5G\";\n"
				"age = \"1us\";\n"
				"cable = \"40m\";\n"
				"share = \"0.1%\";\n"
				"on = false;\n"
				"pause = \"hold\";\n"
				"set = \"0,3-4\";\n"
				"limit = \"1M\";\n"
				"\n"
				"item = ({\n"
				"\tname = \"a\";\n"
				"\tweight = 9;\n"
				"\tpg = \"1\";\n"
				"}, {\n"
				"\tname = \"b\";\n"
				"\tweight = 1;\n"
				"\tpg = \"0-7\";\n"
				"});\n";

Test(cfg, dump_is_canonical_and_reads_back)
{
	char text[TEXT_BYTES] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");
	struct outcome out;

	load_text(dump_text, &out);
	cr_assert_eq(out.rc, 0, "%s", out.errors);
	cr_assert_eq(out.config.top.th, CONFIG_UNSET_INT);
	cr_assert_eq(cfg_dump(&out.config, tables, TABLE_COUNT(tables), file), 0);
	fclose(file);
	cr_assert_str_eq(text, dump_text);
}

Test(cfg, dump_says_when_it_cannot_write)
{
	FILE *full = fopen("/dev/full", "w");
	struct outcome out;

	load_text("", &out);
	cr_assert_eq(cfg_dump(&out.config, tables, TABLE_COUNT(tables), full), -ENOSPC);
	fclose(full);
}

// --- files ------------------------------------------------------------------------------------

struct directory {
	char path[64];
};

static void directory_make(struct directory *dir)
{
	snprintf(dir->path, sizeof(dir->path), "/tmp/weft-cfg-XXXXXX");
	cr_assert(mkdtemp(dir->path));
}

static void directory_write(const struct directory *dir, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir->path, name);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
}

// Loads dir/main.cfg; errors have the directory cut out.
static void directory_load(const struct directory *dir, struct outcome *out)
{
	char path[128];

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "%s/main.cfg", dir->path);
	load_file(path, out);
	remove_all(out->errors, dir->path);
}

static void directory_remove(const struct directory *dir)
{
	static const char *const names[] = { "main.cfg", "part.cfg", "" };
	char path[128];

	for (size_t i = 0; i < TABLE_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir->path, names[i]);
		remove(path);
	}
}

static const struct {
	const char *what;
	const char *text; // of main.cfg, NULL: there is none
	const char *part; // of part.cfg
	const char *errors;
	int rc;
} file_rows[] = {
	{ "no file", NULL, "", "/main.cfg: No such file or directory\n", -ENOENT },
	{ "errors name the included file", "count = 0;\n@include \"part.cfg\"\nsize = 1;",
	  "\nlevel = 9;",
	  "/main.cfg:1: count: 0 is too small; " COUNT_RANGE "\n"
	  "/part.cfg:2: level: 9 is too large; allowed: -8 to 7\n"
	  "/main.cfg:3: size: 1 is too small; allowed: 64 to 9K\n",
	  -EINVAL },
	{ "a cut number in an included file", "\t@include \"part.cfg\"\n", "\ncount = 4294967297;",
	  "/part.cfg:2: count: 4294967297 does not fit a plain number; "
	  "write it in quotes; " COUNT_RANGE "\n",
	  -EINVAL },
	{ "a syntax error in an included file", "@include \"part.cfg\"\n", "count =\n;",
	  "/part.cfg:2: syntax error: ;\n", -EINVAL },
	{ "a missing include", "\n@include \"nope.cfg\"\n", "",
	  "/main.cfg:2: @include: /nope.cfg: No such file or directory\n", -ENOENT },
	{ "an include that is a directory", "@include \".\"\n", "",
	  "/main.cfg:1: @include: /.: not a regular file\n", -ENOTSUP },
	{ "an include of itself", "@include \"main.cfg\"\n", "",
	  "/main.cfg:1: include file nesting too deep: @include \"main.cfg\"\n", -EINVAL },
	{ "no include in the middle of a line", "count = 5; @include \"part.cfg\"\n", "level = 9;",
	  "/main.cfg:1: syntax error: count = 5; @include \"part.cfg\"\n", -EINVAL },
	{ "an include is taken", "@include \"part.cfg\"\ncount = 5;", "level = 3;", "", 0 },
};

TABLE_TEST(cfg, files, row, file_rows)
{
	struct directory dir;
	struct outcome out;

	directory_make(&dir);
	if (row->text != NULL)
		directory_write(&dir, "main.cfg", row->text);
	directory_write(&dir, "part.cfg", row->part);
	directory_load(&dir, &out);
	directory_remove(&dir);
	cr_expect_eq(out.rc, row->rc, "%s: %d", row->what, out.rc);
	cr_expect_str_eq(out.errors, row->errors, "%s:\n%s", row->what, out.errors);
	cr_expect(row->rc != 0 || (out.config.top.level == 3 && out.config.top.count == 5));
}

Test(cfg, a_directory_is_not_a_file)
{
	struct outcome out = { 0 };

	load_file("/tmp", &out);
	cr_assert_eq(out.rc, -ENOTSUP);
	cr_assert_str_eq(out.errors, "/tmp: not a regular file\n");
}
