// SPDX-License-Identifier: BSD-3-Clause
//
// Names of files of tables: that of a switch with what a path cannot hold written as %2F and so on,
// so that two switches never share a file.
#pragma once

#include <stdio.h>
#include <string.h>

enum { TABLES_PATH_BYTES = 4096 };

static inline void tables_path(const char *directory, const char *name, char out[TABLES_PATH_BYTES])
{
	size_t len = (size_t)snprintf(out, TABLES_PATH_BYTES, "%s/", directory);

	for (const char *c = name; *c != '\0' && len < TABLES_PATH_BYTES - 16; c++) {
		const int escape = *c == '/' || *c == '%' || (*c == '.' && c == name);

		len += (size_t)snprintf(out + len, TABLES_PATH_BYTES - len,
					escape ? "%%%02X" : "%c", (unsigned char)*c);
	}
	snprintf(out + len, TABLES_PATH_BYTES - len, ".table");
}
