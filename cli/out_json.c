// SPDX-License-Identifier: BSD-3-Clause
//
// A report as JSON: {"TABLE": [{"COLUMN": value, …}, …], …}. Numbers stay numbers in base units,
// keys keep the order of the columns. An answer that is more than rows of columns is passed on as
// it came.

#include "cli/report.h"

#include <errno.h>

static json_t *rows_as_objects(const struct table *table)
{
	json_t *list = json_array();
	size_t at;
	json_t *row;

	json_array_foreach(table->rows, at, row) {
		json_t *object = json_object();

		for (uint32_t i = 0; i < table->column_count; i++)
			json_object_set(object, table->columns[i].key, json_array_get(row, i));
		json_array_append_new(list, object);
	}
	return list;
}

json_t *report_json(const struct report *report)
{
	json_t *tables;

	if (report->raw != NULL)
		return json_incref(report->raw);
	tables = json_object();
	for (uint32_t i = 0; i < report->table_count; i++) {
		const struct table *table = &report->table[i];

		json_object_set_new(tables, table->key, rows_as_objects(table));
	}
	return tables;
}

int out_json(const struct report *report, FILE *out)
{
	json_t *tables = report_json(report);
	int rc = 0;

	if (json_dumpf(tables, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) < 0 ||
	    fputc('\n', out) == EOF || fflush(out) != 0)
		rc = -EIO;
	json_decref(tables);
	return rc;
}
