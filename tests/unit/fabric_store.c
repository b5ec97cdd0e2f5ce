// SPDX-License-Identifier: BSD-3-Clause
//
// The store over restarts, crashes, full disks and damage: a transaction is there as a whole or not
// at all, what fails says why, and a file that cannot be used is left as it is.

#include "fabricmgr/net/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/table.h"

enum { PATH_BYTES = 128, TEXT_BYTES = 1024 };

static char dir[] = "/tmp/weft-store.XXXXXX";
static char said[TEXT_BYTES];

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
}

static const char *file_name(const char *name, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/%s", dir, name);
	return out;
}

static void remove_dir(void)
{
	static const char *const names[] = { "fabric.sqlite", "fabric.sqlite-wal",
					     "fabric.sqlite-shm", "fabric.sqlite-journal" };
	char path[PATH_BYTES];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(file_name(names[i], path));
	rmdir(dir);
}

TestSuite(store, .init = make_dir, .fini = remove_dir);

// What is wrong is in `said`.
static struct store *open_store(void)
{
	FILE *errors = fmemopen(said, sizeof(said), "w");
	struct store *store = store_open(dir, errors);

	fclose(errors);
	return store;
}

static struct store *open_good(void)
{
	struct store *store = open_store();

	cr_assert_not_null(store, "%s", said);
	return store;
}

static uint64_t number(struct store *store, enum store_number key)
{
	uint64_t value;

	cr_assert_eq(store_number(store, key, &value), 0);
	return value;
}

static void add_to(void *arg, const struct store_row *row)
{
	char *text = arg;
	const size_t length = strlen(text);

	snprintf(text + length, TEXT_BYTES - length, "%s=%llu:%.*s;", row->name,
		 (unsigned long long)row->number, (int)row->bytes,
		 row->data != NULL ? (const char *)row->data : "");
}

static const char *rows(struct store *store, enum store_set set, char text[TEXT_BYTES])
{
	text[0] = '\0';
	cr_assert_eq(store_each(store, set, add_to, text), 0);
	return text;
}

static void add(struct store *store, enum store_set set, const char *name, uint64_t value,
		const char *data)
{
	const struct store_row row = { .name = name,
				       .number = value,
				       .data = data,
				       .bytes = data != NULL ? (uint32_t)strlen(data) : 0 };

	store_add(store, set, &row);
}

Test(store, keeps_what_was_committed)
{
	struct store *store = open_good();
	char text[TEXT_BYTES];
	char *intent;

	cr_expect_eq(number(store, STORE_EPOCH), 0);
	cr_assert_eq(store_begin(store), 0);
	store_set_number(store, STORE_EPOCH, 7);
	store_set_number(store, STORE_GENERATION, UINT64_MAX - 1);
	store_set_text(store, STORE_INTENT, "name = \"lab\";");
	store_set_text(store, STORE_CANARY, "leaf1");
	store_set_text(store, STORE_CANARY, NULL);
	add(store, STORE_HASHES, "leaf1", UINT64_MAX, NULL);
	add(store, STORE_HASHES, "leaf1", 5, NULL);
	add(store, STORE_HASHES, "leaf2", 6, NULL);
	add(store, STORE_KEPT, "leaf2", 2, "config");
	add(store, STORE_KEPT, "leaf2", 1, "routes");
	add(store, STORE_DRAINED, "leaf3", 0, NULL);
	store_remove(store, STORE_DRAINED, "leaf3");
	cr_assert_eq(store_commit(store), 0);
	store_close(store);

	store = open_good();
	cr_expect_eq(number(store, STORE_EPOCH), 7);
	cr_expect_eq(number(store, STORE_GENERATION), UINT64_MAX - 1);
	cr_expect_str_eq(rows(store, STORE_HASHES, text), "leaf1=5:;leaf2=6:;");
	cr_expect_str_eq(rows(store, STORE_KEPT, text), "leaf2=1:routes;leaf2=2:config;");
	cr_expect_str_eq(rows(store, STORE_DRAINED, text), "");
	cr_assert_eq(store_text(store, STORE_INTENT, &intent), 0);
	cr_expect_str_eq(intent, "name = \"lab\";");
	free(intent);
	cr_assert_eq(store_text(store, STORE_CANARY, &intent), 0);
	cr_expect_null(intent);
	store_close(store);
}

Test(store, another_manager_is_refused)
{
	struct store *store = open_good();

	cr_expect_null(open_store());
	cr_expect_not_null(strstr(said, "/fabric.sqlite: another manager uses it\n"), "%s", said);
	store_close(store);
	store_close(open_good());
}

// A process that is killed in a transaction, behind one that it committed.
static void die_in_transaction(void)
{
	struct store *store = store_open(dir, stderr);

	if (store == NULL)
		_exit(1);
	store_begin(store);
	store_set_number(store, STORE_EPOCH, 1);
	if (store_commit(store) != 0)
		_exit(1);
	store_begin(store);
	store_set_number(store, STORE_EPOCH, 2);
	add(store, STORE_HASHES, "leaf1", 1, NULL);
	raise(SIGKILL);
}

Test(store, a_crash_leaves_the_last_commit)
{
	const pid_t child = fork();
	struct store *store;
	char text[TEXT_BYTES];
	int status;

	if (child == 0)
		die_in_transaction();
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	store = open_good();
	cr_expect_eq(number(store, STORE_EPOCH), 1);
	cr_expect_str_eq(rows(store, STORE_HASHES, text), "");
	store_close(store);
}

// No file may grow any more, as on a disk that is full.
static void let_files_grow(bool grow)
{
	struct rlimit limit;
	char path[PATH_BYTES];
	struct stat st;

	cr_assert_eq(stat(file_name("fabric.sqlite-wal", path), &st), 0);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = grow ? limit.rlim_max : (rlim_t)st.st_size;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(store, a_disk_that_takes_no_more_loses_nothing)
{
	static char big[1 << 20];
	struct store *store = open_good();
	char text[TEXT_BYTES];

	signal(SIGXFSZ, SIG_IGN);
	memset(big, 'x', sizeof(big) - 1);
	store_begin(store);
	add(store, STORE_HASHES, "leaf1", 1, NULL);
	cr_assert_eq(store_commit(store), 0);
	let_files_grow(false);
	store_begin(store);
	store_clear(store, STORE_HASHES);
	add(store, STORE_KEPT, "leaf1", 1, big);
	cr_expect_lt(store_commit(store), 0);
	let_files_grow(true);
	cr_expect_str_eq(rows(store, STORE_HASHES, text), "leaf1=1:;");

	store_begin(store);
	add(store, STORE_HASHES, "leaf2", 2, NULL);
	cr_expect_eq(store_commit(store), 0, "it goes on when there is room again");
	store_close(store);
	store = open_good();
	cr_expect_str_eq(rows(store, STORE_HASHES, text), "leaf1=1:;leaf2=2:;");
	cr_expect_str_eq(rows(store, STORE_KEPT, text), "");
	store_close(store);
}

Test(store, keeps_the_end_of_the_journal)
{
	static struct journal journal;
	const struct journal_event first = { .number = 7, .wall_ms = 99, .object = "leaf1" };
	const struct journal_event last = { .number = JOURNAL_MAX + 7, .object = "leaf2" };
	struct store *store = open_good();

	store_begin(store);
	store_add_event(store, &first);
	cr_assert_eq(store_commit(store), 0);
	cr_assert_eq(store_journal(store, &journal), 0);
	cr_assert_not_null(journal_at(&journal, 7));
	cr_expect_eq(journal_at(&journal, 7)->wall_ms, 99);
	cr_expect_str_eq(journal_at(&journal, 7)->object, "leaf1");

	store_begin(store);
	store_add_event(store, &last);
	cr_assert_eq(store_commit(store), 0);
	store_close(store);
	store = open_good();
	journal.count = 0;
	journal.event[6] = (struct journal_event){ 0 };
	cr_assert_eq(store_journal(store, &journal), 0);
	cr_expect_null(journal_at(&journal, 7));
	cr_assert_not_null(journal_at(&journal, JOURNAL_MAX + 7));
	cr_expect_str_eq(journal_at(&journal, JOURNAL_MAX + 7)->object, "leaf2");
	store_close(store);
}

static const struct {
	const char *what;
	off_t at; // of bytes that are overwritten
	const char *says;
} damages[] = {
	{ "no database at all", 0, "it is damaged" },
	{ "a page that is none", 4096, "it is damaged" },
};

TABLE_TEST(store, damage_is_told_and_left_alone, row, damages)
{
	static const char garbage[512] = "this is not what was written";
	struct store *store = open_good();
	char path[PATH_BYTES];
	char found[sizeof(garbage)];
	int fd;

	store_begin(store);
	for (char name[] = "leaf0"; name[4] < 'z'; name[4]++)
		add(store, STORE_HASHES, name, 1, NULL);
	cr_assert_eq(store_commit(store), 0);
	store_close(store);
	fd = open(file_name("fabric.sqlite", path), O_RDWR);
	cr_assert_geq(fd, 0);
	cr_assert_eq(pwrite(fd, garbage, sizeof(garbage), row->at), sizeof(garbage));
	cr_expect_null(open_store(), "%s", row->what);
	cr_expect_not_null(strstr(said, row->says), "%s: %s", row->what, said);
	cr_assert_eq(pread(fd, found, sizeof(found), row->at), sizeof(found));
	cr_expect_arr_eq(found, garbage, sizeof(garbage), "%s", row->what);
	close(fd);
}
