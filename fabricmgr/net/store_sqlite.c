// SPDX-License-Identifier: BSD-3-Clause
//
// The store as one SQLite file. WAL with synchronous=FULL: a commit is on the disk when it returns,
// and a crash leaves the last one. The lock is exclusive and taken at once, which also spares the
// file of shared memory. SQLite's integers are signed: numbers are kept bit by bit.

#include "fabricmgr/net/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "sys/log.h"

enum { FORMAT = 1, PATH_BYTES = 512, SQL_BYTES = 256 };

struct store {
	sqlite3 *db;
	char path[PATH_BYTES];
	int failed; // since store_begin()
};

static const char *const set_names[STORE_SETS] = {
	[STORE_HASHES] = "hashes",
	[STORE_LOST] = "lost",
	[STORE_KEPT] = "kept",
	[STORE_DRAINED] = "drained",
};

static const char *const number_names[STORE_NUMBERS] = {
	[STORE_EPOCH] = "epoch",
	[STORE_GENERATION] = "generation",
	[STORE_FROZEN] = "frozen",
	[STORE_BETWEEN] = "between",
};

static const char *const text_names[STORE_TEXTS] = {
	[STORE_INTENT_FILE] = "intent file",         [STORE_INTENT] = "intent",
	[STORE_INTENT_BEFORE] = "intent before",     [STORE_CANARY] = "canary",
	[STORE_INTENT_PROPOSED] = "intent proposed",
};

static const char tables_sql[] =
	"CREATE TABLE IF NOT EXISTS number (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS text (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS row (in_set TEXT, name TEXT, value INTEGER, data BLOB,"
	" PRIMARY KEY (in_set, name, value)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS event (number INTEGER PRIMARY KEY, wall_ms INTEGER, kind TEXT,"
	" object TEXT, detail TEXT);"
	"PRAGMA user_version = 1;";
static_assert(FORMAT == 1, "user_version above");

// --- opening ------------------------------------------------------------------------------------

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return -EBADMSG;
	case SQLITE_READONLY:
	case SQLITE_PERM: return -EACCES;
	default: return -EIO;
	}
}

// What a person needs to know of a file that cannot be used.
static const char *advice(int code)
{
	switch (errno_of(code)) {
	case -EBUSY: return "another manager uses it";
	case -EBADMSG: return "it is damaged; put a copy of it back, or move it away to begin anew";
	default: return NULL;
	}
}

static int query_int(struct store *store, const char *sql, int64_t *value)
{
	sqlite3_stmt *statement;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

	*value = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

// Whether every page is as it should be: the answer is one row that says so.
static int check_pages(struct store *store)
{
	sqlite3_stmt *statement;
	int rc = sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		rc = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0 ?
			     SQLITE_OK :
			     SQLITE_CORRUPT;
	sqlite3_finalize(statement);
	return rc;
}

static int prepare_file(struct store *store)
{
	int rc = sqlite3_exec(store->db,
			      "PRAGMA locking_mode = EXCLUSIVE;"
			      "PRAGMA journal_mode = WAL;"
			      "PRAGMA synchronous = FULL;"
			      "BEGIN EXCLUSIVE; COMMIT;",
			      NULL, NULL, NULL);

	return rc == SQLITE_OK ? check_pages(store) : rc;
}

static bool open_file(struct store *store, FILE *errors)
{
	int64_t format = 0;
	int rc = sqlite3_open_v2(store->path, &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		rc = prepare_file(store);
	if (rc == SQLITE_OK)
		rc = query_int(store, "PRAGMA user_version", &format);
	if (rc == SQLITE_OK && format > FORMAT) {
		fprintf(errors, "%s: it is of a newer version of this program\n", store->path);
		return false;
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(store->db, tables_sql, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return true;
	fprintf(errors, "%s: %s\n", store->path,
		advice(rc) != NULL ? advice(rc) : sqlite3_errmsg(store->db));
	return false;
}

struct store *store_open(const char *state_dir, FILE *errors)
{
	struct store *store = calloc(1, sizeof(*store));

	if (store == NULL) {
		fprintf(errors, "%s: memory is short\n", state_dir);
		return NULL;
	}
	if ((size_t)snprintf(store->path, sizeof(store->path), "%s/fabric.sqlite", state_dir) >=
	    sizeof(store->path)) {
		fprintf(errors, "%s: the name is too long\n", state_dir);
	} else if (open_file(store, errors)) {
		return store;
	}
	store_close(store);
	return NULL;
}

void store_close(struct store *store)
{
	if (store == NULL)
		return;
	sqlite3_close(store->db);
	free(store);
}

// --- statements ---------------------------------------------------------------------------------

static int fail(struct store *store, int code)
{
	const int error = sqlite3_system_errno(store->db);

	if (errno_of(code) == -EIO && error != 0)
		log_err("%s: %s: %s", store->path, sqlite3_errmsg(store->db), strerror(error));
	else
		log_err("%s: %s", store->path, sqlite3_errmsg(store->db));
	store->failed = errno_of(code);
	return store->failed;
}

// A statement with its parameters: each letter of `kinds` is one, i (uint64_t), t (text) or b
// (bytes, then their uint32_t count). NULL after a line.
static sqlite3_stmt *prepare(struct store *store, const char *sql, const char *kinds, va_list args)
{
	sqlite3_stmt *statement;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
	const void *data;

	for (int i = 0; rc == SQLITE_OK && kinds[i] != '\0'; i++) {
		if (kinds[i] == 'i') {
			rc = sqlite3_bind_int64(statement, i + 1, (int64_t)va_arg(args, uint64_t));
		} else if (kinds[i] == 't') {
			rc = sqlite3_bind_text(statement, i + 1, va_arg(args, const char *), -1,
					       SQLITE_STATIC);
		} else {
			data = va_arg(args, const void *);
			rc = sqlite3_bind_blob(statement, i + 1, data, (int)va_arg(args, uint32_t),
					       SQLITE_STATIC);
		}
	}
	if (rc == SQLITE_OK)
		return statement;
	fail(store, rc);
	sqlite3_finalize(statement);
	return NULL;
}

// A statement that changes something.
static int change(struct store *store, const char *sql, const char *kinds, ...)
{
	sqlite3_stmt *statement;
	va_list args;
	int rc;

	if (store->failed != 0)
		return store->failed;
	va_start(args, kinds);
	statement = prepare(store, sql, kinds, args);
	va_end(args);
	if (statement == NULL)
		return store->failed;
	rc = sqlite3_step(statement);
	if (rc != SQLITE_DONE)
		fail(store, rc);
	sqlite3_finalize(statement);
	return store->failed;
}

// One that asks; to be stepped with next_row() until that says false, and ended with end_rows().
static sqlite3_stmt *ask(struct store *store, const char *sql, const char *kinds, ...)
{
	sqlite3_stmt *statement;
	va_list args;

	store->failed = 0;
	va_start(args, kinds);
	statement = prepare(store, sql, kinds, args);
	va_end(args);
	return statement;
}

static bool next_row(struct store *store, sqlite3_stmt *statement)
{
	const int rc = statement == NULL ? SQLITE_DONE : sqlite3_step(statement);

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		fail(store, rc);
	return rc == SQLITE_ROW;
}

static int end_rows(struct store *store, sqlite3_stmt *statement)
{
	const int rc = store->failed;

	sqlite3_finalize(statement);
	store->failed = 0;
	return rc;
}

static const char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text != NULL ? text : "";
}

// --- changes ------------------------------------------------------------------------------------

int store_begin(struct store *store)
{
	store->failed = 0;
	return change(store, "BEGIN IMMEDIATE", "");
}

int store_commit(struct store *store)
{
	const int rc = change(store, "COMMIT", "");

	store->failed = 0;
	if (rc != 0 && sqlite3_get_autocommit(store->db) == 0)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

int store_set_number(struct store *store, enum store_number key, uint64_t number)
{
	return change(store, "INSERT OR REPLACE INTO number VALUES (?, ?)", "ti", number_names[key],
		      number);
}

int store_set_text(struct store *store, enum store_text key, const char *text)
{
	if (text == NULL)
		return change(store, "DELETE FROM text WHERE name = ?", "t", text_names[key]);
	return change(store, "INSERT OR REPLACE INTO text VALUES (?, ?)", "tt", text_names[key],
		      text);
}

int store_clear(struct store *store, enum store_set set)
{
	return change(store, "DELETE FROM row WHERE in_set = ?", "t", set_names[set]);
}

int store_add(struct store *store, enum store_set set, const struct store_row *row)
{
	// Only kept tables have several rows of a name.
	if (set != STORE_KEPT && store_remove(store, set, row->name) != 0)
		return store->failed;
	return change(store, "INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?)", "ttib",
		      set_names[set], row->name, row->number, row->data, row->bytes);
}

int store_remove(struct store *store, enum store_set set, const char *name)
{
	return change(store, "DELETE FROM row WHERE in_set = ? AND name = ?", "tt", set_names[set],
		      name);
}

int store_add_event(struct store *store, const struct journal_event *event)
{
	const uint64_t first = event->number > JOURNAL_MAX ? event->number - JOURNAL_MAX : 0;

	change(store, "DELETE FROM event WHERE number <= ?", "i", first);
	return change(store, "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?)", "iittt",
		      event->number, event->wall_ms, journal_kind_names[event->kind], event->object,
		      event->detail);
}

// --- questions ----------------------------------------------------------------------------------

int store_number(struct store *store, enum store_number key, uint64_t *number)
{
	sqlite3_stmt *rows = ask(store, "SELECT value FROM number WHERE name = ?", "t",
				 number_names[key]);

	*number = next_row(store, rows) ? (uint64_t)sqlite3_column_int64(rows, 0) : 0;
	return end_rows(store, rows);
}

int store_text(struct store *store, enum store_text key, char **text)
{
	sqlite3_stmt *rows = ask(store, "SELECT value FROM text WHERE name = ?", "t",
				 text_names[key]);

	*text = NULL;
	if (next_row(store, rows)) {
		*text = strdup(column_text(rows, 0));
		if (*text == NULL)
			store->failed = -ENOMEM;
	}
	return end_rows(store, rows);
}

int store_each(struct store *store, enum store_set set, store_row_fn *each, void *arg)
{
	sqlite3_stmt *rows = ask(store,
				 "SELECT name, value, data FROM row WHERE in_set = ?"
				 " ORDER BY name, value",
				 "t", set_names[set]);

	while (next_row(store, rows)) {
		const struct store_row row = {
			.name = column_text(rows, 0),
			.number = (uint64_t)sqlite3_column_int64(rows, 1),
			.data = sqlite3_column_blob(rows, 2),
			.bytes = (uint32_t)sqlite3_column_bytes(rows, 2),
		};

		each(arg, &row);
	}
	return end_rows(store, rows);
}

static enum journal_kind find_kind(const char *name)
{
	for (uint32_t i = 0; i < JOURNAL_KIND_COUNT; i++) {
		if (strcmp(journal_kind_names[i], name) == 0)
			return (enum journal_kind)i;
	}
	return JOURNAL_OTHER;
}

int store_journal(struct store *store, struct journal *journal)
{
	sqlite3_stmt *rows = ask(store,
				 "SELECT number, wall_ms, kind, object, detail FROM event"
				 " WHERE number > 0 ORDER BY number",
				 "");

	while (next_row(store, rows)) {
		struct journal_event event = {
			.number = (uint64_t)sqlite3_column_int64(rows, 0),
			.wall_ms = (uint64_t)sqlite3_column_int64(rows, 1),
			.kind = find_kind(column_text(rows, 2)),
		};

		snprintf(event.object, sizeof(event.object), "%s", column_text(rows, 3));
		snprintf(event.detail, sizeof(event.detail), "%s", column_text(rows, 4));
		journal_restore(journal, &event);
	}
	return end_rows(store, rows);
}
