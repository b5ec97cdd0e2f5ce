// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of a switch as bytes: made once, of a plan, then only read. They are counted, since
// several hold them: what a switch is to run, what it falls back to, a plan that is being made.
// Counts are atomic: the planning thread holds some as well.
#pragma once

#include <stdio.h>

#include "fabricmgr/source.h"
#include "schema/fabric.h"

enum { SWITCH_TABLE_KINDS = 2 };

struct table_bytes {
	_Atomic uint32_t users;
	uint32_t size;
	uint64_t hash; // of the bytes; of a delta, of what it results in
	uint64_t base; // of a delta: hash of what it changes
	uint8_t data[];
};

// By enum fabric_table - 1; NULL: there is none. Equal bytes of one switch are the same object.
struct switch_tables {
	struct table_bytes *table[SWITCH_TABLE_KINDS];
	struct table_bytes *delta; // of routes; NULL: whole is shorter, or nothing to change
};

// What tables are made of. Nothing of it is kept.
struct switch_tables_of {
	const struct source *source;
	const struct plan *plan;
	const struct qos *qos;
	struct arena *keep; // both are left as they were
	struct arena *scratch;
	FILE *errors;
};

// A copy of bytes, with its hash; NULL: memory is short.
struct table_bytes *table_bytes_new(const void *data, uint32_t size);
struct table_bytes *table_bytes_hold(struct table_bytes *table); // accepts NULL
void table_bytes_drop(struct table_bytes *table);                // accepts NULL

// The tables of switch `at`, into empty `tables`. What `base` has as well is the same object, and a
// table of routes that differs comes with a delta. `with_config` false: the configuration of `base`
// stands. 0, or -errno after lines, and `tables` is empty.
int switch_tables_make(const struct switch_tables_of *of, uint32_t at,
		       const struct switch_tables *base, bool with_config,
		       struct switch_tables *tables);

// Whether two are of the same bytes.
bool switch_tables_equal(const struct switch_tables *a, const struct switch_tables *b);

// The hash of all that a switch gets: of its generation.
uint64_t switch_tables_hash(const struct switch_tables *tables);

// Makes `to`, which is empty or holds others, hold what `from` does.
void switch_tables_copy(struct switch_tables *to, const struct switch_tables *from);
void switch_tables_drop(struct switch_tables *tables);
