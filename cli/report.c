// SPDX-License-Identifier: BSD-3-Clause
//
// Filling tables. Cells are JSON values taken over from the switch's answer: what it did not say
// stays null and is never shown as a zero.

#include "cli/report.h"

#include <stdarg.h>

#include "base/check.h"

struct table *report_table(struct report *report, const char *key, const struct column *columns,
			   uint32_t column_count)
{
	struct table *table;

	WEFT_CHECK(report->table_count < REPORT_TABLES_MAX);
	table = &report->table[report->table_count++];
	*table = (struct table){
		.key = key,
		.columns = columns,
		.column_count = column_count,
		.rows = json_array(),
	};
	return table;
}

void table_heading(struct table *table, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(table->heading, sizeof(table->heading), format, args);
	va_end(args);
}

json_t *table_row(struct table *table)
{
	json_t *row = json_array();

	json_array_append_new(table->rows, row);
	return row;
}

void row_text(json_t *row, const char *text)
{
	json_array_append_new(row, json_string(text));
}

void row_number(json_t *row, uint64_t number)
{
	json_array_append_new(row, json_integer((json_int_t)number));
}

void row_member(json_t *row, const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (value != NULL)
		json_array_append(row, value);
	else
		json_array_append_new(row, json_null());
}

void table_drop_zero_row(struct table *table, size_t first)
{
	const size_t last = json_array_size(table->rows) - 1;
	const json_t *row = json_array_get(table->rows, last);

	for (size_t i = first; i < json_array_size(row); i++) {
		if (json_integer_value(json_array_get(row, i)) != 0)
			return;
	}
	json_array_remove(table->rows, last);
}

void table_add_list(struct table *table, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *row = table_row(table);

		for (uint32_t j = 0; j < table->column_count; j++)
			row_member(row, json_array_get(list, i), table->columns[j].key);
	}
}

void report_release(struct report *report)
{
	for (uint32_t i = 0; i < report->table_count; i++)
		json_decref(report->table[i].rows);
	report->table_count = 0;
	json_decref(report->raw);
	report->raw = NULL;
}
