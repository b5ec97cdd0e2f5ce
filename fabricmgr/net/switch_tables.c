// SPDX-License-Identifier: BSD-3-Clause
//
// Routes are packed by routing/packed.h, the configuration is text of switch_config.h. A delta is
// made against the table before, which is what nearly every switch runs when a plan changes: so
// nobody has to pack anything when a switch asks.

#include "fabricmgr/net/switch_tables.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "fabricmgr/switch_config.h"
#include "routing/packed.h"

enum { ROUTES = FABRIC_TABLE_ROUTES - 1, CONFIG = FABRIC_TABLE_CONFIG - 1 };

// Room for so many bytes, of one user.
static struct table_bytes *make_room(uint32_t size)
{
	struct table_bytes *table = malloc(sizeof(*table) + size);

	if (table == NULL)
		return NULL;
	table->size = size;
	table->base = 0;
	atomic_init(&table->users, 1);
	return table;
}

struct table_bytes *table_bytes_new(const void *data, uint32_t size)
{
	struct table_bytes *table = make_room(size);

	if (table == NULL)
		return NULL;
	memcpy(table->data, data, size);
	table->hash = hash_bytes(table->data, size);
	return table;
}

struct table_bytes *table_bytes_hold(struct table_bytes *table)
{
	if (table != NULL)
		atomic_fetch_add_explicit(&table->users, 1, memory_order_relaxed);
	return table;
}

void table_bytes_drop(struct table_bytes *table)
{
	if (table != NULL && atomic_fetch_sub_explicit(&table->users, 1, memory_order_acq_rel) == 1)
		free(table);
}

// --- making -------------------------------------------------------------------------------------

// Whether `before` is these bytes already.
static bool is_same(const struct table_bytes *before, uint64_t hash, uint32_t size)
{
	return before != NULL && before->hash == hash && before->size == size;
}

// What changes the table before into this one, when that is shorter. It never fails: a switch can
// take the whole.
static struct table_bytes *make_delta(const struct switch_tables_of *of,
				      const struct table_bytes *before,
				      const struct packed_table *next)
{
	struct packed_table base;
	struct packed_bytes delta;
	struct table_bytes *table;

	if (before == NULL ||
	    packed_table_decode(before->data, before->size, of->keep, &base) < 0 ||
	    packed_delta_encode(&base, next, of->keep, of->scratch, &delta) < 0 ||
	    delta.size >= next->size)
		return NULL;
	table = table_bytes_new(delta.data, delta.size);
	if (table == NULL)
		return NULL;
	table->hash = next->hash;
	table->base = before->hash;
	return table;
}

static int make_routes(const struct switch_tables_of *of, uint32_t at,
		       const struct switch_tables *base, struct switch_tables *tables)
{
	const size_t mark = arena_mark(of->keep);
	struct table_bytes *before = base->table[ROUTES];
	struct packed_table packed;
	struct table_bytes *table;
	int rc = packed_table_of(&of->source->graph.topo, of->plan, at, of->keep, of->scratch,
				 &packed);

	if (rc == 0 && is_same(before, packed.hash, packed.size)) {
		tables->table[ROUTES] = table_bytes_hold(before);
	} else if (rc == 0 && (table = make_room(packed.size)) == NULL) {
		rc = -ENOMEM;
	} else if (rc == 0) {
		packed_table_encode(&packed, table->data);
		table->hash = packed.hash;
		tables->table[ROUTES] = table;
		tables->delta = make_delta(of, before, &packed);
	}
	arena_release(of->keep, mark);
	return rc;
}

// Text into memory.
static int make_config(const struct switch_tables_of *of, uint32_t at,
		       const struct switch_tables *base, struct switch_tables *tables)
{
	struct table_bytes *before = base->table[CONFIG];
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct table_bytes *table = NULL;
	int rc = -ENOMEM;

	if (out == NULL)
		return rc;
	rc = switch_config_write(of->source, of->plan, of->qos, at, NULL, false, out, of->errors);
	if (fclose(out) != 0 && rc == 0)
		rc = -ENOMEM;
	if (rc == 0)
		table = table_bytes_new(text, (uint32_t)size);
	free(text);
	if (rc == 0 && table == NULL)
		return -ENOMEM;
	if (rc == 0 && is_same(before, table->hash, table->size)) {
		table_bytes_drop(table);
		table = table_bytes_hold(before);
	}
	tables->table[CONFIG] = table;
	return rc;
}

int switch_tables_make(const struct switch_tables_of *of, uint32_t at,
		       const struct switch_tables *base, bool with_config,
		       struct switch_tables *tables)
{
	int rc;

	*tables = (struct switch_tables){ 0 };
	rc = make_routes(of, at, base, tables);
	if (rc < 0)
		fprintf(of->errors, "%s: its table of routes cannot be made: %s\n",
			of->source->fabric.switches[at].name, strerror(-rc));
	else if (with_config || base->table[CONFIG] == NULL)
		rc = make_config(of, at, base, tables);
	else
		tables->table[CONFIG] = table_bytes_hold(base->table[CONFIG]);
	if (rc < 0)
		switch_tables_drop(tables);
	return rc;
}

// --- comparing ----------------------------------------------------------------------------------

bool switch_tables_equal(const struct switch_tables *a, const struct switch_tables *b)
{
	for (uint32_t i = 0; i < SWITCH_TABLE_KINDS; i++) {
		const struct table_bytes *one = a->table[i];
		const struct table_bytes *other = b->table[i];

		if ((one == NULL) != (other == NULL))
			return false;
		if (one != NULL && !is_same(one, other->hash, other->size))
			return false;
	}
	return true;
}

uint64_t switch_tables_hash(const struct switch_tables *tables)
{
	uint64_t hash = HASH_EMPTY;

	for (uint32_t i = 0; i < SWITCH_TABLE_KINDS; i++) {
		if (tables->table[i] != NULL)
			hash = hash_add(hash_add(hash, i + 1), tables->table[i]->hash);
	}
	return hash;
}

void switch_tables_copy(struct switch_tables *to, const struct switch_tables *from)
{
	struct switch_tables copy = { .delta = table_bytes_hold(from->delta) };

	for (uint32_t i = 0; i < SWITCH_TABLE_KINDS; i++)
		copy.table[i] = table_bytes_hold(from->table[i]);
	switch_tables_drop(to);
	*to = copy;
}

void switch_tables_drop(struct switch_tables *tables)
{
	for (uint32_t i = 0; i < SWITCH_TABLE_KINDS; i++)
		table_bytes_drop(tables->table[i]);
	table_bytes_drop(tables->delta);
	*tables = (struct switch_tables){ 0 };
}
