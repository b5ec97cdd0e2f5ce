// SPDX-License-Identifier: BSD-3-Clause
//
// What a managed switch keeps: read as it was written, whatever bit of it was changed or cut off is
// found, and a crash between two steps leaves what the last record names.

#include "dataplane/fabric_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "tests/table.h"

enum { PATH_BYTES = 128, SAID_BYTES = 512 };

struct place {
	char dir[PATH_BYTES];
	struct fabric_store store;
	char said[SAID_BYTES];
};

static void start(struct place *at)
{
	char own[PATH_BYTES + 8];

	snprintf(at->dir, sizeof(at->dir), "/tmp/weft-fabric-XXXXXX");
	cr_assert(mkdtemp(at->dir));
	snprintf(own, sizeof(own), "%s/leaf1", at->dir);
	cr_assert_eq(mkdir(own, 0755), 0);
	cr_assert_eq(fabric_store_open(&at->store, at->dir, "leaf1"), 0);
}

// With nothing in it but the record.
static void end(const struct place *at)
{
	char path[PATH_BYTES + 32];
	const struct fabric_record none = { 0 };

	cr_assert_eq(fabric_store_write(&at->store, &none), 0);
	fabric_store_forget(&at->store, &none);
	snprintf(path, sizeof(path), "%s/leaf1/fabric/record", at->dir);
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(rmdir(at->store.dir), 0, "files are left: %s", at->store.dir);
	snprintf(path, sizeof(path), "%s/leaf1", at->dir);
	rmdir(path);
	rmdir(at->dir);
}

static int read_record(struct place *at, struct fabric_record *record)
{
	FILE *errors = fmemopen(at->said, sizeof(at->said), "w");
	const int rc = fabric_store_read(&at->store, record, errors);

	fclose(errors);
	return rc;
}

static const struct fabric_record full = {
	.boot = 3,
	.epoch = 7,
	.running = { .generation = { 7, 41, 0xfedcba9876543210 }, .table = { 1, UINT64_MAX } },
	.prepared = { .generation = { UINT64_MAX, 42, 5 }, .table = { 1, 0x8000000000000000 } },
};

Test(fabric_store, nothing_yet)
{
	const struct fabric_record none = { 0 };
	struct fabric_record record = full;
	struct place at;

	start(&at);
	cr_assert_eq(read_record(&at, &record), 0);
	cr_assert_eq(memcmp(&record, &none, sizeof(none)), 0);
	end(&at);
}

Test(fabric_store, record)
{
	struct fabric_record record;
	struct place at;

	start(&at);
	cr_assert_eq(fabric_store_write(&at.store, &full), 0);
	cr_assert_eq(read_record(&at, &record), 0);
	cr_assert_eq(memcmp(&record, &full, sizeof(full)), 0);
	end(&at);
}

static void put_bytes(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

// Every record that lacks its end or has one bit changed.
Test(fabric_store, damaged_record)
{
	const struct fabric_record none = { 0 };
	struct fabric_record record;
	char path[PATH_BYTES + 32];
	char bytes[1024];
	struct place at;
	FILE *file;
	size_t size;

	start(&at);
	cr_assert_eq(fabric_store_write(&at.store, &full), 0);
	snprintf(path, sizeof(path), "%s/leaf1/fabric/record", at.dir);
	file = fopen(path, "r");
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (size_t cut = 0; cut < size; cut++) {
		put_bytes(path, bytes, cut);
		cr_assert_eq(read_record(&at, &record), -EBADMSG, "cut to %zu", cut);
		cr_assert_eq(memcmp(&record, &none, sizeof(none)), 0);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		put_bytes(path, bytes, size);
		cr_assert_eq(read_record(&at, &record), -EBADMSG, "bit %zu", bit);
		bytes[bit / 8] ^= (char)(1 << bit % 8);
	}
	cr_assert(strstr(at.said, path));
	put_bytes(path, bytes, size);
	cr_assert_eq(read_record(&at, &record), 0);
	end(&at);
}

static bool has(const struct place *at, uint32_t table, uint64_t hash, const char *want)
{
	uint8_t *data;
	size_t size;
	bool same;

	if (fabric_store_get(&at->store, table, hash, &data, &size) != 0)
		return false;
	same = size == strlen(want) && memcmp(data, want, size) == 0 && data[size] == 0;
	free(data);
	return same;
}

// A new table is there before the record that names it, the old one until nothing names it.
Test(fabric_store, tables)
{
	struct fabric_record record = { .epoch = 1 };
	struct place at;
	uint64_t old, next, text;

	start(&at);
	cr_assert_eq(fabric_store_put(&at.store, 0, "old", 3, &old), 0);
	cr_assert_eq(fabric_store_put(&at.store, 1, "text", 4, &text), 0);
	record.running = (struct fabric_set){ { 1, 1, 1 }, { old, text } };
	cr_assert_eq(fabric_store_write(&at.store, &record), 0);
	cr_assert_eq(fabric_store_put(&at.store, 0, "next", 4, &next), 0);
	cr_assert_neq(old, next);
	cr_assert(has(&at, 0, old, "old") && has(&at, 0, next, "next"));
	record.prepared = (struct fabric_set){ { 1, 2, 2 }, { next, text } };
	cr_assert_eq(fabric_store_write(&at.store, &record), 0);
	fabric_store_forget(&at.store, &record);
	cr_assert(has(&at, 0, old, "old") && has(&at, 0, next, "next"));
	record.running = record.prepared;
	record.prepared = (struct fabric_set){ 0 };
	cr_assert_eq(fabric_store_write(&at.store, &record), 0);
	cr_assert(has(&at, 0, old, "old"));
	fabric_store_forget(&at.store, &record);
	cr_assert(!has(&at, 0, old, "old"));
	cr_assert(has(&at, 0, next, "next") && has(&at, 1, text, "text"));
	end(&at);
}

Test(fabric_store, damaged_table)
{
	char path[FABRIC_STORE_PATH_BYTES];
	struct place at;
	uint8_t *data;
	size_t size;
	uint64_t hash, again;

	start(&at);
	cr_assert_eq(fabric_store_put(&at.store, 0, "table", 5, &hash), 0);
	fabric_store_path(&at.store, 0, hash, path);
	put_bytes(path, "tablf", 5);
	cr_assert_eq(fabric_store_get(&at.store, 0, hash, &data, &size), -EBADMSG);
	cr_assert_eq(fabric_store_get(&at.store, 0, hash + 1, &data, &size), -ENOENT);
	// Who gets it anew has it whole again.
	cr_assert_eq(fabric_store_put(&at.store, 0, "table", 5, &again), 0);
	cr_assert_eq(again, hash);
	cr_assert(has(&at, 0, hash, "table"));
	end(&at);
}

// FNV-1a, 64 bits: the published value of "foobar".
Test(fabric_store, hash)
{
	cr_assert_eq(hash_bytes("foobar", 6), 0x85944171f73967e8);
}

Test(fabric_store, long_path)
{
	struct fabric_store store;
	char dir[FABRIC_STORE_PATH_BYTES];

	memset(dir, 'x', sizeof(dir));
	dir[sizeof(dir) - 1] = '\0';
	cr_assert_eq(fabric_store_open(&store, dir, "leaf1"), -ENAMETOOLONG);
}
