// SPDX-License-Identifier: BSD-3-Clause
//
// What a fabric has decided about a switch, read from the store: the text as a configuration and
// the routes unpacked. A whole object, or none; it borrows nothing.
#pragma once

#include <stdio.h>

#include "dataplane/fabric_merge.h"
#include "dataplane/fabric_store.h"

struct fabric_tables {
	struct fabric_set set;
	struct sw_config *config;
	struct packed_table routes;
	struct arena memory; // of `routes`
};

// Reads the tables of a set. 0, or with lines on `errors` -EBADMSG (damaged, or no packed routes),
// -EINVAL (no configuration), -EPROTONOSUPPORT (another version) or another -errno.
int fabric_tables_read(const struct fabric_store *store, const struct fabric_set *set,
		       struct fabric_tables **out, FILE *errors);

// Accepts NULL.
void fabric_tables_free(struct fabric_tables *tables);

// Memory for routes of so many packed bytes and what is made of them. False: memory is short.
bool fabric_arena_open(struct arena *arena, size_t packed_bytes);
void fabric_arena_close(struct arena *arena);

static inline struct fabric_side fabric_tables_side(const struct fabric_tables *tables)
{
	return (struct fabric_side){ tables->config, &tables->routes };
}
