// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration that is kept over a restart: saved and found again, out of date once the file
// or what it includes was edited, and left as it was when it cannot be written.

#include "dataplane/config_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/cfg_load.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { PATH_BYTES = 128, SAID_BYTES = 512 };

struct place {
	char dir[PATH_BYTES - 32];
	char file[PATH_BYTES];
	char part[PATH_BYTES];
	char saved[CONFIG_STORE_PATH_BYTES];
};

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	fputs(text, file);
	fclose(file);
}

static void start(struct place *at)
{
	snprintf(at->dir, sizeof(at->dir), "/tmp/weft-store-XXXXXX");
	cr_assert(mkdtemp(at->dir));
	snprintf(at->file, sizeof(at->file), "%s/lab.cfg", at->dir);
	snprintf(at->part, sizeof(at->part), "%s/part.inc", at->dir);
	cr_assert_eq(config_store_path(at->dir, "lab", at->saved), 0);
	write_text(at->file, "name = \"lab\";\n@include \"part.inc\"\n");
	write_text(at->part, "seed = 7;\n");
	snprintf(at->saved, sizeof(at->saved), "%s/lab", at->dir);
	mkdir(at->saved, 0755);
	cr_assert_eq(config_store_path(at->dir, "lab", at->saved), 0);
}

static void end(const struct place *at)
{
	char path[CONFIG_STORE_PATH_BYTES + 8];

	unlink(at->file);
	unlink(at->part);
	unlink(at->saved);
	snprintf(path, sizeof(path), "%s.old", at->saved);
	unlink(path);
	snprintf(path, sizeof(path), "%s/lab", at->dir);
	rmdir(path);
	cr_expect_eq(rmdir(at->dir), 0, "files are left: %s", at->dir);
}

static uint64_t hash_of(const struct place *at)
{
	uint64_t hash = 0;

	cr_assert_eq(cfg_hash(at->file, &hash, stderr), 0);
	return hash;
}

static enum config_saved look(const struct place *at, char said[SAID_BYTES])
{
	FILE *errors;
	enum config_saved verdict;

	memset(said, 0, SAID_BYTES);
	errors = fmemopen(said, SAID_BYTES, "w");
	verdict = config_store_look(at->saved, hash_of(at), errors);
	fclose(errors);
	return verdict;
}

static void save(const struct place *at, const struct sw_config *config)
{
	cr_assert_eq(config_store_save(at->saved, config, at->file, hash_of(at)), 0);
}

Test(config_store, saved_is_found_again)
{
	struct sw_config *config = setup_kvm(2);
	struct sw_config *again = calloc(1, sizeof(*again));
	char said[SAID_BYTES];
	struct place at;

	start(&at);
	cr_expect_eq(look(&at, said), CONFIG_SAVED_NONE);
	save(&at, config);
	cr_expect_eq(look(&at, said), CONFIG_SAVED_FITS);
	cr_assert_eq(cfg_load(at.saved, config_tables, CONFIG_TABLE_COUNT, again, stderr), 0);
	cr_expect_eq(again->port_count, 2);
	cr_expect_str_eq(again->port[1].name, config->port[1].name);
	end(&at);
	free(again);
	free(config);
}

// What the file says, and what a file says that it includes.
Test(config_store, an_edited_file_wins)
{
	struct sw_config *config = setup_kvm(1);
	char said[SAID_BYTES];
	struct stat st;
	struct place at;
	char old[CONFIG_STORE_PATH_BYTES + 8];

	start(&at);
	save(&at, config);
	write_text(at.part, "seed = 8;\n");
	cr_expect_eq(look(&at, said), CONFIG_SAVED_STALE);
	write_text(at.part, "seed = 7;\n");
	cr_expect_eq(look(&at, said), CONFIG_SAVED_FITS);
	write_text(at.file, "name = \"lab\";\n");
	cr_expect_eq(look(&at, said), CONFIG_SAVED_STALE);
	cr_expect_eq(config_store_put_aside(at.saved), 0);
	snprintf(old, sizeof(old), "%s.old", at.saved);
	cr_expect_eq(stat(old, &st), 0);
	cr_expect_eq(look(&at, said), CONFIG_SAVED_NONE);
	end(&at);
	free(config);
}

static const struct {
	const char *what;
	const char *text;
} unusable_rows[] = {
	{ "empty", "" },
	{ "no first line", "\nname = \"lab\";\n" },
	{ "no comment", "name = \"lab\"; , hash 0123456789abcdef\n" },
	{ "no hash", "# Saved by weft config save\n" },
	{ "a hash that is cut", "# stands in for lab.cfg, hash 0123456789abcde" },
	{ "a hash that is short", "# stands in for lab.cfg, hash 0123\n" },
	{ "a hash of other letters", "# stands in for lab.cfg, hash 0123456789abcdeg\n" },
};

TABLE_TEST(config_store, unusable, row, unusable_rows)
{
	char said[SAID_BYTES];
	struct place at;

	start(&at);
	write_text(at.saved, row->text);
	cr_expect_eq(look(&at, said), CONFIG_SAVED_UNUSABLE, "%s", row->what);
	cr_expect(strstr(said, "does not say which file it stands in for"), "%s: %s", row->what,
		  said);
	end(&at);
}

// A directory in place of the temporary file: it cannot be written, the old text stays.
Test(config_store, what_cannot_be_written_changes_nothing)
{
	struct sw_config *config = setup_kvm(1);
	char blocked[CONFIG_STORE_PATH_BYTES + 8];
	char said[SAID_BYTES];
	struct place at;

	start(&at);
	save(&at, config);
	snprintf(blocked, sizeof(blocked), "%s.new", at.saved);
	mkdir(blocked, 0755);
	cr_expect_lt(config_store_save(at.saved, config, at.file, 1), 0);
	cr_expect_eq(look(&at, said), CONFIG_SAVED_FITS);
	rmdir(blocked);
	end(&at);
	free(config);
}

Test(config_store, a_path_that_is_too_long)
{
	char dir[2 * CONFIG_STORE_PATH_BYTES];
	char out[CONFIG_STORE_PATH_BYTES];

	memset(dir, 'a', sizeof(dir));
	dir[sizeof(dir) - 1] = '\0';
	cr_assert_eq(config_store_path(dir, "lab", out), -ENAMETOOLONG);
}
