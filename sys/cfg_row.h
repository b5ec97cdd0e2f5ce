// SPDX-License-Identifier: BSD-3-Clause
//
// Tables, rows and knobs of a configuration by name. A row is known by the first knobs of its table
// (key_count of schema/config.h); what else a configuration holds, nothing here knows.
#pragma once

#include "schema/config.h"

// How people call the table of the top level, which has no name in the file.
#define CFG_TOP_NAME "switch"

// Bytes of a label: a word, a space and a few quotes for each knob of the longest key.
enum { CFG_LABEL_BYTES = 512 };

// NULL when there is none. The top level answers to CFG_TOP_NAME and to "".
const struct config_table *cfg_find_table(const struct config_table *tables, uint32_t count,
					  const char *name);

const struct config_knob *cfg_find_knob(const struct config_table *table, const char *key);

// The knobs of a table, separated by spaces, cut to `out_bytes`.
void cfg_knob_list(const struct config_table *table, size_t out_bytes, char *out);

// "switch" or the table's own name.
const char *cfg_table_name(const struct config_table *table);

// Rows in use, 1 at the top level.
uint32_t cfg_row_count(const struct config_table *table, const void *config);
void cfg_set_row_count(const struct config_table *table, void *config, uint32_t count);

static inline uint8_t *cfg_row(const struct config_table *table, void *config, uint32_t at)
{
	return (uint8_t *)config + table->rows_offset + (size_t)at * table->row_bytes;
}

static inline const uint8_t *cfg_row_const(const struct config_table *table, const void *config,
					   uint32_t at)
{
	return (const uint8_t *)config + table->rows_offset + (size_t)at * table->row_bytes;
}

// Fills a row with its knobs' defaults, its line with 0 and what is between with zeros.
void cfg_row_default(const struct config_table *table, uint8_t *row);

// Forgets where the rows stand in a file.
void cfg_clear_lines(void *config, const struct config_table *tables, uint32_t count);

// True when the fields of a knob, or of all knobs of the key, are alike in two rows.
bool cfg_field_equal(const struct config_knob *knob, const uint8_t *a, const uint8_t *b);
bool cfg_key_equal(const struct config_table *table, const uint8_t *a, const uint8_t *b);

// Writes the value of a knob as it stands in the file, in quotes unless it is a bare number or
// truth value, or as people say it, in quotes when it is text or a set; "unset" without one. `out`
// has CFG_SHOWN_BYTES bytes.
enum { CFG_SHOWN_BYTES = 2 * CONFIG_TEXT_BYTES + 4 };
void cfg_value_show(const struct config_knob *knob, const uint8_t *row, char *out);
void cfg_value_say(const struct config_knob *knob, const uint8_t *row, char *out);

// Writes the key of a row as words: "Ethernet0", "all 3-4". Unset and empty ones are "-", at the
// end they are left out. Empty at the top level.
void cfg_row_label(const struct config_table *table, const uint8_t *row, char out[CFG_LABEL_BYTES]);
