// SPDX-License-Identifier: BSD-3-Clause
//
// Configuration files: libconfig text into rows and back, by walking descriptors (schema/config.h).
// Nothing here knows a particular knob.
//
// Syntax: the knobs of the top-level table stand in the file itself, every other table is a list of
// groups: `port = ( { name = "Ethernet0"; }, { name = "Ethernet4"; } );`. A table of at most one
// row may be that group, one of a single knob an array of its values: `roots = [ "a", "b" ];`.
// Quantities are text with units; counts, bytes and fractions may also be plain numbers.
#pragma once

#include <stdio.h>

#include "schema/config.h"

enum { CFG_LOAD_ERRORS_MAX = 20 };

// Bytes of the configuration that the `count` tables describe.
size_t cfg_bytes(const struct config_table *tables, uint32_t count);

// Reads the file at `path` into `out`, of cfg_bytes() bytes. All rows are written: defaults where
// the file is silent, zeros in unused rows.
//
// Returns 0, or -EINVAL (the file is wrong), -ENOMEM or -errno of opening it, with at most
// CFG_LOAD_ERRORS_MAX lines "FILE:LINE: TABLE.KEY: what; allowed: ..." on `errors` and `out`
// untouched. Files named by @include are relative to the directory of `path`.
int cfg_load(const char *path, const struct config_table *tables, uint32_t count, void *out,
	     FILE *errors);

// Likewise into memory of its own, to be freed, of which rows that are not used are not touched:
// for tables of many rows.
int cfg_load_new(const char *path, const struct config_table *tables, uint32_t count, void **out,
		 FILE *errors);

// The hash of the bytes of a file and all that it includes, which tells whether it was edited.
// 0, or -errno after a line on `errors` about a file that cannot be read.
int cfg_hash(const char *path, uint64_t *hash, FILE *errors);

// Writes a configuration as canonical text: every knob that is set, no comments. cfg_load() reads
// it back to the same rows but for their line numbers. Returns 0 or -errno of writing.
int cfg_dump(const void *config, const struct config_table *tables, uint32_t count, FILE *out);

// One table of it; the knobs of the top level for the first. Returns 0 or -errno of writing.
int cfg_dump_table(const void *config, const struct config_table *table, FILE *out);
