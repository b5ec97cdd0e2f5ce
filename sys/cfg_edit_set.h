// SPDX-License-Identifier: BSD-3-Clause
//
// The values of an edit (sys/cfg_edit.h): what becomes of the knobs of one row, by the operation of
// the edit, and how an edit is refused. The row is a copy: cfg_edit.c takes it over when all of the
// edit is right.
#pragma once

#include "sys/cfg_edit.h"

// What errors of an edit go to and begin with: "port Ethernet0".
struct cfg_edit_errors {
	FILE *out;
	char place[256];
};

// Writes a line "PLACE: ...". Returns -EINVAL.
__attribute__((format(printf, 2, 3))) int cfg_edit_refuse(const struct cfg_edit_errors *errors,
							  const char *format, ...);

// Parses `text` into the knob's field of `row`. 0, or -EINVAL after a line.
int cfg_edit_parse(const struct config_knob *knob, const char *text, uint8_t *row,
		   const struct cfg_edit_errors *errors);

// Applies the settings of an edit to a row. `given`, unless NULL, has a flag for each knob of the
// table, set for those that got a value. 0, or -EINVAL after a line for each that is wrong; then
// the row may have changed in part.
int cfg_edit_settings(const struct config_table *table, const struct cfg_edit *edit, uint8_t *row,
		      bool *given, const struct cfg_edit_errors *errors);
