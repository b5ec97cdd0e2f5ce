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

// True when the dump of `config` loads to the same rows; what went wrong is on `errors`. Clears the
// lines of `config`.
static inline bool cfg_again(void *config, const struct config_table *tables, uint32_t count,
			     FILE *errors)
{
	const size_t bytes = cfg_bytes(tables, count);
	void *again = calloc(1, bytes);
	FILE *file = tmpfile();
	char path[32];
	bool same = false;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	if (cfg_dump(config, tables, count, file) == 0 &&
	    cfg_load(path, tables, count, again, errors) == 0) {
		cfg_clear_lines(config, tables, count);
		cfg_clear_lines(again, tables, count);
		same = memcmp(config, again, bytes) == 0;
	}
	fclose(file);
	free(again);
	return same;
}
