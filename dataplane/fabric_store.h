// SPDX-License-Identifier: BSD-3-Clause
//
// What a managed switch keeps of its fabric over a restart, in STATE_DIR/NAME/fabric: a record of
// what runs, what is prepared and which epoch was met, and the tables of both, each a file that is
// named by its hash.
//
// Tables are written before a record that names them, and the record as a whole or not at all
// (sys/file_replace.h), so one record replaced is one step, whatever happens meanwhile. What is
// read is held against its hash: a file that is torn or damaged is as good as none.
#pragma once

#include <stdio.h>

#include "dataplane/follower.h"

enum { FABRIC_TABLES = 2, FABRIC_STORE_PATH_BYTES = 256 };

// A generation and the hashes of its tables; table k is enum fabric_table k + 1 (schema/fabric.h).
// Number 0: none, and all is 0.
struct fabric_set {
	struct follower_generation generation;
	uint64_t table[FABRIC_TABLES];
};

struct fabric_record {
	uint64_t boot;  // of the run that wrote it
	uint64_t epoch; // highest met
	struct fabric_set running;
	struct fabric_set prepared;
};

struct fabric_store {
	char dir[FABRIC_STORE_PATH_BYTES];
};

// 0, or -ENAMETOOLONG. Nothing is made yet.
int fabric_store_open(struct fabric_store *store, const char *state_dir, const char *name);

// Reads the record; there is none: zeros. 0, or -errno after a line on `errors`, and zeros: it
// cannot be read, or is not what was written (-EBADMSG).
int fabric_store_read(const struct fabric_store *store, struct fabric_record *record, FILE *errors);

// Writes the record, durably. 0 or -errno.
int fabric_store_write(const struct fabric_store *store, const struct fabric_record *record);

// Forgets tables that the record does not name: once nothing goes back to what was before it.
void fabric_store_forget(const struct fabric_store *store, const struct fabric_record *record);

// Keeps a table, durably, and says its hash. 0 or -errno.
int fabric_store_put(const struct fabric_store *store, uint32_t table, const void *data,
		     size_t size, uint64_t *hash);

// Reads a table into memory that the caller frees, with a 0 byte behind it. 0, -errno, or -EBADMSG:
// it is damaged.
int fabric_store_get(const struct fabric_store *store, uint32_t table, uint64_t hash,
		     uint8_t **data, size_t *size);

// Where a table is.
void fabric_store_path(const struct fabric_store *store, uint32_t table, uint64_t hash,
		       char out[FABRIC_STORE_PATH_BYTES]);
