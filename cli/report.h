// SPDX-License-Identifier: BSD-3-Clause
//
// What a command shows: tables of cells, filled once and printed either for people (out_table.c)
// or for programs (out_json.c), so both always say the same.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "base/types.h"

enum cell_form {
	CELL_TEXT,
	CELL_COUNT, // a plain number, with thousands separated for people
	CELL_RATE,  // bits per second
	CELL_TIME,  // nanoseconds
	CELL_SPEED, // bits per second as measured: rounded
	CELL_SHARE, // parts per million, for people in percent
};

struct column {
	const char *title;
	const char *key; // in JSON; its unit is in the name
	enum cell_form form;
};

struct table {
	const char *key;  // in JSON
	char heading[96]; // a line above, "" for none
	const struct column *columns;
	uint32_t column_count;
	bool blocks;    // each row as a block: a line with its first cell, then a line per cell
	bool lines;     // the heading as it is, and each row as a line of its only cell
	bool sentences; // each row as lines: severity, where and what; below it what to change
	json_t *rows;   // array of arrays, a cell per column; null is shown as "-"
};

enum { REPORT_TABLES_MAX = 6 };

struct report {
	struct table table[REPORT_TABLES_MAX];
	uint32_t table_count;
	bool alarm;  // found what the options asked about: ends with exit status 1
	json_t *raw; // what programs get in place of the tables; NULL: those
};

#define COLUMNS(array) (array), (uint32_t)(sizeof(array) / sizeof((array)[0]))

// Adds an empty table. At most REPORT_TABLES_MAX.
struct table *report_table(struct report *report, const char *key, const struct column *columns,
			   uint32_t column_count);

// Gives a table a line above it.
__attribute__((format(printf, 2, 3))) void table_heading(struct table *table, const char *format,
							 ...);

// Adds an empty row; cells follow from left to right.
json_t *table_row(struct table *table);

void row_text(json_t *row, const char *text);
void row_number(json_t *row, uint64_t number);

// The member `key` of `object` as it is, null when there is none.
void row_member(json_t *row, const json_t *object, const char *key);

// Takes the last row away again when its cells from `first` on are all zero.
void table_drop_zero_row(struct table *table, size_t first);

// Adds a row per object of a list; cells are the members that the columns name.
void table_add_list(struct table *table, const json_t *list);

void report_release(struct report *report);

// The report as JSON: a new reference.
json_t *report_json(const struct report *report);

// Both print to `out` and return 0 or -errno.
int out_table(const struct report *report, FILE *out);
int out_json(const struct report *report, FILE *out);
