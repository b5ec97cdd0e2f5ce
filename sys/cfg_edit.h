// SPDX-License-Identifier: BSD-3-Clause
//
// Edits of a configuration: add, change and remove rows by name, as an operator says them. Edits go
// by the descriptors of schema/config.h, values by cfg_value_parse(), so an edit can set what a
// file can set and nothing else. Whether the result makes sense together is for the profile.
#pragma once

#include <stdio.h>

#include "schema/config.h"

enum {
	CFG_EDIT_KEY_MAX = 8,
	CFG_EDIT_KNOB_MAX = 64,
	CFG_EDIT_ERRORS_MAX = 20,
};

enum cfg_edit_op {
	CFG_EDIT_SET,     // knobs of a row that is there
	CFG_EDIT_INCLUDE, // members into knobs that are sets or lists of words
	CFG_EDIT_EXCLUDE, // and out of them
	CFG_EDIT_ADD,     // a row that is not there
	CFG_EDIT_PUT,     // a row, there or not
	CFG_EDIT_REMOVE,  // a row that is there
	CFG_EDIT_CLEAR,   // every row that the key names, if any
	CFG_EDIT_OP_COUNT,
};

// The names of the operations, in order: "set" and so on.
extern const char *const cfg_edit_op_names[CFG_EDIT_OP_COUNT];

struct cfg_setting {
	const char *knob;
	const char *value; // NULL: back to the default
};

// One edit. The key holds values of the table's first knobs, in order: as many as tell the row from
// all others, "-" for one that is unset. A new row takes them, and goes before the row that
// `before` names, else behind the last.
struct cfg_edit {
	enum cfg_edit_op op;
	const char *table;
	const char *key[CFG_EDIT_KEY_MAX];
	const char *before[CFG_EDIT_KEY_MAX];
	struct cfg_setting setting[CFG_EDIT_KNOB_MAX];
	uint32_t key_count;
	uint32_t before_count;
	uint32_t setting_count;
};

// Applies the edits in order: all of them, or none. Returns 0, or -EINVAL (a line for each edit
// that is wrong, at most CFG_EDIT_ERRORS_MAX, on `errors`) or -ENOMEM with `config` untouched.
// Rows that are new have line 0; the line of others stays.
int cfg_edit_apply(void *config, const struct config_table *tables, uint32_t count,
		   const struct cfg_edit *edits, uint32_t edit_count, FILE *errors);
