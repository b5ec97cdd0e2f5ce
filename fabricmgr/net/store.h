// SPDX-License-Identifier: BSD-3-Clause
//
// What a fabric manager must not forget: epochs, the decision that is being completed, what
// operators asked for, intents, the end of the journal. Numbers, texts and sets of rows, changed in
// transactions: after a crash, or on a full disk, there is all of a transaction or nothing.
//
// One process has a store at a time. Each function returns 0, or -errno after a line in the log; a
// change that fails has changed nothing, and its transaction is over.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/journal.h"

struct store;

// Numbers; one that was never set is 0.
enum store_number {
	STORE_EPOCH,      // of the last manager
	STORE_GENERATION, // number that was decided last
	STORE_FROZEN,
	STORE_BETWEEN, // the decision is one that is given again; STORE_KEPT has all tables
	STORE_NUMBERS,
};

// Texts; one that was never set is NULL.
enum store_text {
	STORE_INTENT_FILE,     // what the file of the command line said when it was last read
	STORE_INTENT,          // in force
	STORE_INTENT_BEFORE,   // to go back to
	STORE_INTENT_PROPOSED, // accepted, not in force yet
	STORE_CANARY,          // the switch that it is for first; none: for all
	STORE_TEXTS,
};

// Sets of rows: a name, a number and bytes.
enum store_set {
	STORE_HASHES,  // switch: hash of what was decided for it
	STORE_LOST,    // switch or link that the decided plan is without
	STORE_KEPT,    // switch: enum fabric_table and the table, of those that keep what they had
	STORE_DRAINED, // switch or link that an operator took out
	STORE_SETS,
};

struct store_row {
	const char *name;
	uint64_t number;
	const void *data; // NULL: none
	uint32_t bytes;
};

// Opens or makes "fabric.sqlite" in a directory. NULL after lines on `errors`: it cannot be made,
// another manager has it, it is of a newer version, or it is damaged; it is left as it is then.
struct store *store_open(const char *state_dir, FILE *errors);

void store_close(struct store *store); // accepts NULL

// Changes are made between these two. What fails in between makes store_commit() fail as well.
int store_begin(struct store *store);
int store_commit(struct store *store);

int store_set_number(struct store *store, enum store_number key, uint64_t number);
int store_set_text(struct store *store, enum store_text key, const char *text); // NULL: none
int store_clear(struct store *store, enum store_set set);
// A row of this name, and number in STORE_KEPT, is replaced.
int store_add(struct store *store, enum store_set set, const struct store_row *row);
int store_remove(struct store *store, enum store_set set, const char *name);
// The journal keeps its last JOURNAL_MAX events.
int store_add_event(struct store *store, const struct journal_event *event);

int store_number(struct store *store, enum store_number key, uint64_t *number);
int store_text(struct store *store, enum store_text key, char **text); // to be freed
typedef void store_row_fn(void *arg, const struct store_row *row);
int store_each(struct store *store, enum store_set set, store_row_fn *each, void *arg);
// Events of kinds that this program does not know are JOURNAL_OTHER.
int store_journal(struct store *store, struct journal *journal);
