// SPDX-License-Identifier: BSD-3-Clause
//
// weft show fabric manager: whether the manager of the switch's fabric is there, which generation
// of its tables runs, and what went wrong last.

#include "cli/command.h"

enum { CELL_BYTES = 64 };

static const struct column columns[] = {
	{ "Manager", "manager", CELL_TEXT },    { "State", "state", CELL_TEXT },
	{ "Seconds", "since_s", CELL_COUNT },   { "Epoch", "epoch", CELL_COUNT },
	{ "Running", "running", CELL_TEXT },    { "Prepared", "prepared", CELL_TEXT },
	{ "Events", "events_due", CELL_COUNT }, { "Last error", "error", CELL_TEXT },
};

// "epoch.number", as generations are ordered; nothing when there is none.
static void row_generation(json_t *row, const json_t *body, const char *key)
{
	const json_t *generation = json_object_get(body, key);
	char cell[CELL_BYTES] = "";

	if (json_is_object(generation))
		snprintf(cell, sizeof(cell), "%lld.%lld",
			 (long long)json_integer_value(json_object_get(generation, "epoch")),
			 (long long)json_integer_value(json_object_get(generation, "number")));
	row_text(row, cell);
}

int cmd_show_fabric_manager(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "fabric_manager", COLUMNS(columns));
	json_t *row = table_row(table);

	row_member(row, query->reply, "manager");
	row_text(row,
		 json_is_true(json_object_get(query->reply, "connected")) ? "connected" : "away");
	row_member(row, query->reply, "since_s");
	row_member(row, query->reply, "epoch");
	row_generation(row, query->reply, "running");
	row_generation(row, query->reply, "prepared");
	row_member(row, query->reply, "events_due");
	row_member(row, query->reply, "error");
	return 0;
}
