// SPDX-License-Identifier: BSD-3-Clause
//
// The text is loaded from its file, so that what is wrong with it has a place that can be looked
// at. It comes from elsewhere: what would read another file of this machine is refused.

#include "dataplane/fabric_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/fabric.h"
#include "sys/cfg_load.h"

// Unpacked, a table takes some times its packed bytes, most for lanes that are not in use.
enum { ARENA_MIN = 1 << 20, ARENA_FACTOR = 32, ARENA_ALIGN = 64 };

enum { ROUTES = FABRIC_TABLE_ROUTES - 1, CONFIG = FABRIC_TABLE_CONFIG - 1 };

bool fabric_arena_open(struct arena *arena, size_t packed_bytes)
{
	const size_t size = ARENA_MIN + ARENA_FACTOR * packed_bytes;

	*arena = (struct arena){ .memory = aligned_alloc(ARENA_ALIGN, size & -(size_t)ARENA_ALIGN),
				 .size = size & -(size_t)ARENA_ALIGN };
	return arena->memory != NULL;
}

void fabric_arena_close(struct arena *arena)
{
	free(arena->memory);
	*arena = (struct arena){ 0 };
}

static int read_routes(const struct fabric_store *store, struct fabric_tables *tables)
{
	uint8_t *data;
	size_t size;
	int rc = fabric_store_get(store, ROUTES, tables->set.table[ROUTES], &data, &size);

	if (rc != 0)
		return rc;
	if (!fabric_arena_open(&tables->memory, size))
		rc = -ENOMEM;
	else
		rc = packed_table_decode(data, size, &tables->memory, &tables->routes);
	free(data);
	return rc;
}

static int read_config(const struct fabric_store *store, struct fabric_tables *tables, FILE *errors)
{
	const uint64_t hash = tables->set.table[CONFIG];
	char path[FABRIC_STORE_PATH_BYTES];
	void *config = NULL;
	uint8_t *text;
	size_t size;
	int rc = fabric_store_get(store, CONFIG, hash, &text, &size);

	if (rc != 0)
		return rc;
	fabric_store_path(store, CONFIG, hash, path);
	if (strlen((char *)text) != size || strstr((char *)text, "@include") != NULL) {
		fprintf(errors, "%s: it includes other files, or is no text\n", path);
		rc = -EINVAL;
	}
	free(text);
	if (rc == 0)
		rc = cfg_load_new(path, config_tables, CONFIG_TABLE_COUNT, &config, errors);
	tables->config = config;
	return rc;
}

int fabric_tables_read(const struct fabric_store *store, const struct fabric_set *set,
		       struct fabric_tables **out, FILE *errors)
{
	struct fabric_tables *tables = calloc(1, sizeof(*tables));
	int rc;

	*out = NULL;
	if (tables == NULL)
		return -ENOMEM;
	tables->set = *set;
	rc = read_routes(store, tables);
	if (rc != 0)
		fprintf(errors, "the routes of the fabric cannot be read: %s\n", strerror(-rc));
	if (rc == 0) {
		rc = read_config(store, tables, errors);
		if (rc != 0)
			fprintf(errors, "the configuration of the fabric cannot be read: %s\n",
				strerror(-rc));
	}
	if (rc != 0) {
		fabric_tables_free(tables);
		return rc;
	}
	*out = tables;
	return 0;
}

void fabric_tables_free(struct fabric_tables *tables)
{
	if (tables == NULL)
		return;
	free(tables->config);
	fabric_arena_close(&tables->memory);
	free(tables);
}
