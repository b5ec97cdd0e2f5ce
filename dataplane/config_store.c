// SPDX-License-Identifier: BSD-3-Clause
//
// The first line of the saved text is a comment that ends with the hash; the rest is what
// `weft-switch --dump` prints, so it can be read and used as a configuration file.

#include "dataplane/config_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_load.h"
#include "sys/file_replace.h"

static const char mark[] = ", hash ";

int config_store_path(const char *state_dir, const char *name, char out[CONFIG_STORE_PATH_BYTES])
{
	const int len = snprintf(out, CONFIG_STORE_PATH_BYTES, "%s/%s/saved.cfg", state_dir, name);

	return len < CONFIG_STORE_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

// The hash in the first line; false without one.
static bool read_hash(const char *line, uint64_t *hash)
{
	const char *at = NULL;
	char *end;

	for (const char *found = line; (found = strstr(found, mark)) != NULL; found++)
		at = found;
	if (line[0] != '#' || at == NULL)
		return false;
	at += strlen(mark);
	*hash = strtoull(at, &end, 16);
	return end - at == 16 && *end == '\n';
}

enum config_saved config_store_look(const char *path, uint64_t file_hash, FILE *errors)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	uint64_t hash;
	bool good;

	if (file == NULL && errno == ENOENT)
		return CONFIG_SAVED_NONE;
	if (file == NULL) {
		fprintf(errors, "%s: %s\n", path, strerror(errno));
		return CONFIG_SAVED_UNUSABLE;
	}
	good = getline(&line, &room, file) > 0 && read_hash(line, &hash);
	free(line);
	fclose(file);
	if (!good) {
		fprintf(errors, "%s:1: does not say which file it stands in for\n", path);
		return CONFIG_SAVED_UNUSABLE;
	}
	return hash == file_hash ? CONFIG_SAVED_FITS : CONFIG_SAVED_STALE;
}

int config_store_put_aside(const char *path)
{
	char old[CONFIG_STORE_PATH_BYTES + 8];

	snprintf(old, sizeof(old), "%s.old", path);
	return rename(path, old) == 0 ? 0 : -errno;
}

// A path may hold what would end a comment; such bytes are of no use to the reader.
static void write_head(FILE *out, const char *file, uint64_t file_hash)
{
	fputs("# Saved by weft config save; stands in for ", out);
	for (const char *c = file; *c != '\0'; c++)
		fputc((unsigned char)*c < ' ' ? '?' : *c, out);
	fprintf(out, "%s%016" PRIx64 "\n", mark, file_hash);
}

int config_store_save(const char *path, const struct sw_config *config, const char *file,
		      uint64_t file_hash)
{
	struct file_replace replace;
	int rc = file_replace_open(&replace, path);
	int dumped;

	if (rc != 0)
		return rc;
	write_head(replace.file, file, file_hash);
	dumped = cfg_dump(config, config_tables, CONFIG_TABLE_COUNT, replace.file);
	rc = file_replace_finish(&replace);
	return rc != 0 && dumped != 0 ? dumped : rc; // the first error says more
}
