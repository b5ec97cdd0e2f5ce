// SPDX-License-Identifier: BSD-3-Clause
//
// The record is text with a hash at its end. It has one form: what was read must print to the same
// bytes again.

#include "dataplane/fabric_store.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "sys/file_read.h"
#include "sys/file_replace.h"

enum { RECORD_BYTES = 512, TABLE_BYTES_MAX = 16 << 20, NAME_BYTES = 40 };

static const char *const kinds[FABRIC_TABLES] = { "routes", "config" };

#define SET_FORMAT                                                                                 \
	" %" PRIu64 " %" PRIu64 " %016" PRIx64 " routes %016" PRIx64 " config %016" PRIx64 "\n"
#define SET_SCAN " %" SCNu64 " %" SCNu64 " %" SCNx64 " routes %" SCNx64 " config %" SCNx64 "\n"

int fabric_store_open(struct fabric_store *store, const char *state_dir, const char *name)
{
	const int len = snprintf(store->dir, sizeof(store->dir), "%s/%s/fabric", state_dir, name);

	return len + NAME_BYTES < (int)sizeof(store->dir) ? 0 : -ENAMETOOLONG;
}

// --- paths ------------------------------------------------------------------------------------

static void name_table(uint32_t table, uint64_t hash, char out[NAME_BYTES])
{
	snprintf(out, NAME_BYTES, "%s-%016" PRIx64, kinds[table], hash);
}

// That there is room fabric_store_open() has seen to.
static void place(const struct fabric_store *store, const char *name,
		  char out[FABRIC_STORE_PATH_BYTES])
{
	snprintf(out, FABRIC_STORE_PATH_BYTES, "%.*s/%.*s",
		 FABRIC_STORE_PATH_BYTES - NAME_BYTES - 2, store->dir, NAME_BYTES, name);
}

void fabric_store_path(const struct fabric_store *store, uint32_t table, uint64_t hash,
		       char out[FABRIC_STORE_PATH_BYTES])
{
	char name[NAME_BYTES];

	name_table(table, hash, name);
	place(store, name, out);
}

// --- the record -------------------------------------------------------------------------------

static void print_record(const struct fabric_record *record, char out[RECORD_BYTES])
{
	const struct fabric_set *run = &record->running;
	const struct fabric_set *prep = &record->prepared;
	const int len = snprintf(out, RECORD_BYTES,
				 "weft fabric 1\nboot %" PRIu64 "\nepoch %" PRIu64
				 "\nrunning" SET_FORMAT "prepared" SET_FORMAT,
				 record->boot, record->epoch, run->generation.epoch,
				 run->generation.number, run->generation.hash, run->table[0],
				 run->table[1], prep->generation.epoch, prep->generation.number,
				 prep->generation.hash, prep->table[0], prep->table[1]);

	snprintf(out + len, RECORD_BYTES - (size_t)len, "hash %016" PRIx64 "\n", hash_text(out));
}

static bool scan_record(const char *text, struct fabric_record *record)
{
	struct fabric_set *run = &record->running;
	struct fabric_set *prep = &record->prepared;
	char again[RECORD_BYTES];

	// NOLINTNEXTLINE(cert-err34-c): what does not print as the same text again is refused.
	if (sscanf(text,
		   "weft fabric 1\nboot %" SCNu64 "\nepoch %" SCNu64 "\nrunning" SET_SCAN
		   "prepared" SET_SCAN,
		   &record->boot, &record->epoch, &run->generation.epoch, &run->generation.number,
		   &run->generation.hash, &run->table[0], &run->table[1], &prep->generation.epoch,
		   &prep->generation.number, &prep->generation.hash, &prep->table[0],
		   &prep->table[1]) != 12)
		return false;
	print_record(record, again);
	return strcmp(text, again) == 0;
}

int fabric_store_read(const struct fabric_store *store, struct fabric_record *record, FILE *errors)
{
	char path[FABRIC_STORE_PATH_BYTES];
	char text[RECORD_BYTES] = "";
	FILE *file;
	size_t len;

	*record = (struct fabric_record){ 0 };
	place(store, "record", path);
	file = fopen(path, "re");
	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL) {
		fprintf(errors, "%s: %s\n", path, strerror(errno));
		return -errno;
	}
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	if (strlen(text) == len && scan_record(text, record))
		return 0;
	*record = (struct fabric_record){ 0 };
	fprintf(errors, "%s: damaged: it is not what was written\n", path);
	return -EBADMSG;
}

static bool is_named(const struct fabric_record *record, const char *name)
{
	char table[NAME_BYTES];

	for (uint32_t i = 0; i < FABRIC_TABLES; i++) {
		name_table(i, record->running.table[i], table);
		if (record->running.generation.number != 0 && strcmp(name, table) == 0)
			return true;
		name_table(i, record->prepared.table[i], table);
		if (record->prepared.generation.number != 0 && strcmp(name, table) == 0)
			return true;
	}
	return strcmp(name, "record") == 0;
}

// --- files ------------------------------------------------------------------------------------

// Makes the directory, whose parent is the switch's own.
static int make_dir(const struct fabric_store *store)
{
	return mkdir(store->dir, 0755) == 0 || errno == EEXIST ? 0 : -errno;
}

static int write_file(const struct fabric_store *store, const char *name, const void *data,
		      size_t size)
{
	char path[FABRIC_STORE_PATH_BYTES];
	struct file_replace replace;
	int rc = make_dir(store);

	place(store, name, path);
	if (rc == 0)
		rc = file_replace_open(&replace, path);
	if (rc != 0)
		return rc;
	fwrite(data, 1, size, replace.file);
	return file_replace_finish(&replace);
}

int fabric_store_write(const struct fabric_store *store, const struct fabric_record *record)
{
	char text[RECORD_BYTES];

	print_record(record, text);
	return write_file(store, "record", text, strlen(text));
}

// A file that cannot be removed is in nobody's way.
void fabric_store_forget(const struct fabric_store *store, const struct fabric_record *record)
{
	char path[FABRIC_STORE_PATH_BYTES];
	DIR *dir = opendir(store->dir);
	const struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || is_named(record, entry->d_name))
			continue;
		place(store, entry->d_name, path);
		unlink(path);
	}
	closedir(dir);
}

int fabric_store_put(const struct fabric_store *store, uint32_t table, const void *data,
		     size_t size, uint64_t *hash)
{
	char name[NAME_BYTES];
	uint8_t *before;
	size_t before_size;

	*hash = hash_bytes(data, size);
	if (size > TABLE_BYTES_MAX)
		return -EFBIG;
	if (fabric_store_get(store, table, *hash, &before, &before_size) == 0) {
		free(before);
		return 0;
	}
	name_table(table, *hash, name);
	return write_file(store, name, data, size);
}

int fabric_store_get(const struct fabric_store *store, uint32_t table, uint64_t hash,
		     uint8_t **data, size_t *size)
{
	char path[FABRIC_STORE_PATH_BYTES];
	char *text = NULL;
	int rc;

	*size = 0;
	fabric_store_path(store, table, hash, path);
	rc = file_read(path, TABLE_BYTES_MAX, &text, size);
	*data = (uint8_t *)text;
	if (rc != 0 || hash_bytes(*data, *size) == hash)
		return rc;
	free(*data);
	*data = NULL;
	return -EBADMSG;
}
