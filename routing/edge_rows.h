// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of an edge table of one kind: a chained hash table of keys in memory of the caller.
//
// One writer, any number of readers. A row is linked by one store and its value is changed by one.
// A removed row still leads a reader that stands on it back into its chain; it is given out again
// only after the second edge_rows_quiesce(). Internal to routing/.
#pragma once

#include <stdatomic.h>

#include "base/types.h"

#define EDGE_ROW_END UINT32_MAX

// `tag` is the length of a prefix or the VLAN of a MAC.
struct edge_row_key {
	uint64_t hi;
	uint64_t lo;
	uint32_t tag;
};

struct edge_row_slot {
	uint64_t hi;
	uint64_t lo;
	uint32_t tag;
	_Atomic uint32_t next;  // in the chain
	_Atomic uint32_t value; // EDGE_TABLE_NONE: not in the table
	uint32_t waiting;       // writer: next in the list of free or removed rows
};

static_assert(sizeof(struct edge_row_slot) == 32, "two rows are a cache line");

struct edge_rows {
	_Atomic uint32_t *head;
	struct edge_row_slot *slot;
	uint64_t seed;
	uint32_t head_mask;
	uint32_t capacity;
	// control: rw, readers: none
	uint32_t count;
	uint32_t free;
	uint32_t removed; // since the last quiesce
	uint32_t leaving; // before it
};

// Bytes for so many rows, at most 2^24; a multiple of 64.
size_t edge_rows_bytes(uint32_t capacity);
void edge_rows_init(struct edge_rows *rows, void *memory, uint32_t capacity, uint64_t seed);

// The value of a key, EDGE_TABLE_NONE when there is none. For readers and the writer.
uint32_t edge_rows_find(const struct edge_rows *rows, const struct edge_row_key *key);

// True when a new row can be had.
bool edge_rows_has_room(const struct edge_rows *rows);

// Adds or changes; a new row needs room. True when the row is new.
bool edge_rows_set(struct edge_rows *rows, const struct edge_row_key *key, uint32_t value);

// False when there is no such row.
bool edge_rows_delete(struct edge_rows *rows, const struct edge_row_key *key);

void edge_rows_quiesce(struct edge_rows *rows);
