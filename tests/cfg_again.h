// SPDX-License-Identifier: BSD-3-Clause
//
// The round trip of a configuration: dump it, load the dump, compare all but the lines of the file.
// Shared by the property test, the fuzz target and the test of the examples, so that all three mean
// the same by "reads back".
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_load.h"
#include "sys/cfg_row.h"

// Field by field: what a compound literal leaves between the fields is nobody's.
static inline bool cfg_row_equal(const struct config_table *table, const uint8_t *a,
				 const uint8_t *b)
{
	for (uint32_t k = 0; k < table->knob_count; k++) {
		if (!cfg_field_equal(&table->knobs[k], a, b))
			return false;
	}
	return true;
}

static inline bool cfg_rows_equal(const struct config_table *table, const void *a, const void *b)
{
	const uint32_t rows = cfg_row_count(table, a);

	if (cfg_row_count(table, b) != rows)
		return false;
	for (uint32_t at = 0; at < rows; at++) {
		if (!cfg_row_equal(table, cfg_row_const(table, a, at), cfg_row_const(table, b, at)))
			return false;
	}
	return true;
}

// True when the dump of `config` loads to the same rows; what went wrong is on `errors`.
static inline bool cfg_again(const void *config, const struct config_table *tables, uint32_t count,
			     FILE *errors)
{
	void *again = calloc(1, cfg_bytes(tables, count));
	FILE *file = tmpfile();
	char path[32];
	bool same;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	same = cfg_dump(config, tables, count, file) == 0 &&
	       cfg_load(path, tables, count, again, errors) == 0;
	for (uint32_t t = 0; same && t < count; t++) {
		same = cfg_rows_equal(&tables[t], config, again);
		if (!same)
			fprintf(errors, "%s: does not read back from its dump\n",
				cfg_table_name(&tables[t]));
	}
	fclose(file);
	free(again);
	return same;
}
