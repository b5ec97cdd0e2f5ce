// SPDX-License-Identifier: BSD-3-Clause
//
// A change of routes is worked out at once and its result stored, so that what is on disk never
// depends on what else is.

#include "dataplane/fabric_receive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "schema/fabric.gen.h"
#include "schema/fabric.h"

struct receive {
	const struct fabric_store *store;
	const struct fabric_tables *running;
	struct fabric_set *set;
	FILE *errors;
};

// The table that a change makes of the routes that run, to be freed.
static int change_routes(const struct receive *r, const struct rpc_table *table, uint8_t **data,
			 size_t *size)
{
	struct arena keep = { 0 };
	struct arena scratch = { 0 };
	struct packed_table next;
	size_t bytes;
	int rc = -ENOMEM;

	if (r->running == NULL || table->base != r->running->routes.hash)
		return -ESTALE;
	bytes = r->running->routes.size + (size_t)table->data.size;
	if (fabric_arena_open(&keep, bytes) && fabric_arena_open(&scratch, bytes))
		rc = packed_delta_apply(&r->running->routes, table->data.data, table->data.size,
					&keep, &scratch, &next);
	if (rc == 0) {
		*data = malloc(next.size);
		*size = next.size;
		rc = *data != NULL ? 0 : -ENOMEM;
	}
	if (rc == 0)
		packed_table_encode(&next, *data);
	fabric_arena_close(&scratch);
	fabric_arena_close(&keep);
	return rc;
}

static const char *why_not(int rc)
{
	switch (rc) {
	case -ESTALE: return "it changes another table than the one that is used here";
	case -EBADMSG: return "its bytes are not what its hash says, or make no sense";
	case -EPROTONOSUPPORT: return "of a kind or version that this program does not know";
	}
	return strerror(-rc);
}

static int keep_table(const struct receive *r, const struct rpc_table *table, const void *data,
		      size_t size)
{
	uint64_t hash = hash_bytes(data, size);

	if (hash != table->hash)
		return -EBADMSG;
	r->set->table[table->kind - 1] = hash;
	return fabric_store_put(r->store, table->kind - 1, data, size, &hash);
}

static int receive_table(const struct receive *r, const struct rpc_table *table)
{
	uint8_t *data;
	size_t size;
	int rc;

	if (table->kind == 0 || table->kind > FABRIC_TABLES)
		return -EPROTONOSUPPORT;
	if (table->kind == FABRIC_TABLE_ROUTES && table->version != PACKED_VERSION)
		return -EPROTONOSUPPORT;
	if (!table->has_base)
		return keep_table(r, table, table->data.data, table->data.size);
	if (table->kind != FABRIC_TABLE_ROUTES)
		return -EPROTONOSUPPORT;
	rc = change_routes(r, table, &data, &size);
	if (rc != 0)
		return rc;
	rc = keep_table(r, table, data, size);
	free(data);
	return rc;
}

int fabric_receive(const struct fabric_store *store, const struct fabric_tables *running,
		   const struct follower_generation *generation,
		   const struct rpc_fetch_reply *reply, struct fabric_set *set, FILE *errors)
{
	const struct receive r = { store, running, set, errors };
	bool has[FABRIC_TABLES] = { false };
	int rc = 0;

	*set = (struct fabric_set){ .generation = *generation };
	for (uint32_t i = 0; i < reply->tables_count && rc == 0; i++) {
		rc = receive_table(&r, &reply->tables[i]);
		if (rc != 0)
			fprintf(errors, "table %u of the fabric is not taken: %s\n",
				reply->tables[i].kind, why_not(rc));
		else
			has[reply->tables[i].kind - 1] = true;
	}
	for (uint32_t i = 0; i < FABRIC_TABLES && rc == 0; i++) {
		if (has[i])
			continue;
		if (running == NULL) {
			fprintf(errors, "table %u of the fabric is missing\n", i + 1);
			rc = -ESTALE;
		} else {
			set->table[i] = running->set.table[i];
		}
	}
	return rc;
}
