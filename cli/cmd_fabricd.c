// SPDX-License-Identifier: BSD-3-Clause
//
// weft fabric status | errors | events, and what the fabric manager is told: how it is with the
// fabric as a whole. For programs its answers are passed on as they are.

#include "cli/command.h"

#include <string.h>

#include "cli/fabric_text.h"

static const struct column status_columns[] = {
	{ "Fabric", "fabric", CELL_TEXT }, { "Generation", "generation", CELL_TEXT },
	{ "Engine", "engine", CELL_TEXT }, { "Switches", "switches", CELL_TEXT },
	{ "Links", "links", CELL_TEXT },   { "Hosts", "hosts", CELL_TEXT },
	{ "Load", "load", CELL_TEXT },     { "Last repair", "last_repair", CELL_TEXT },
	{ "Hold", "hold", CELL_TEXT },     { "What to do", "advice", CELL_TEXT },
};

static const struct column error_columns[] = {
	{ "Severity", "severity", CELL_TEXT },
	{ "Where", "object", CELL_TEXT },
	{ "What", "what", CELL_TEXT },
	{ "What to do", "advice", CELL_TEXT },
};

static const struct column event_columns[] = {
	{ "Number", "number", CELL_TEXT },
	{ "Time", "time", CELL_TEXT },
	{ "Severity", "severity", CELL_TEXT },
	{ "What", "what", CELL_TEXT },
};

static const struct column change_columns[] = {
	{ "Changes", "change", CELL_TEXT },
};

__attribute__((format(printf, 2, 3))) static void row_format(json_t *row, const char *format, ...)
{
	char text[FABRIC_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	row_text(row, text);
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void row_nothing(json_t *row)
{
	json_array_append_new(row, json_null());
}

static void row_plan(json_t *row, const json_t *plan)
{
	const char *engine = json_string_value(json_object_get(plan, "engine"));
	const json_int_t lanes = number(plan, "lanes");

	if (engine != NULL)
		row_format(row, "%s, %" JSON_INTEGER_FORMAT " lane%s", engine, lanes,
			   lanes == 1 ? "" : "s");
	else
		row_nothing(row);
}

static void row_hosts(json_t *row, const json_t *status)
{
	const json_t *plan = json_object_get(status, "plan");
	const json_int_t hosts = number(status, "hosts");
	const json_int_t cut = number(plan, "unreachable_pairs");

	if (!json_is_object(plan))
		row_format(row, "%" JSON_INTEGER_FORMAT, hosts);
	else if (cut == 0)
		row_format(row, "%" JSON_INTEGER_FORMAT ", each reaches all that it may", hosts);
	else
		row_format(row,
			   "%" JSON_INTEGER_FORMAT "; %" JSON_INTEGER_FORMAT
			   " of %" JSON_INTEGER_FORMAT " pairs of ports have no way to each other",
			   hosts, cut, number(plan, "pairs"));
}

static void row_load(json_t *row, const json_t *plan)
{
	const json_t *load = json_object_get(plan, "load_max_over_avg");

	if (json_number_value(load) > 0)
		row_format(row, "the most loaded link has %.2f times the average of its tier",
			   json_number_value(load));
	else
		row_nothing(row);
}

// A fabric that nothing holds has no lines about it.
static void row_hold(json_t *row, const json_t *hold)
{
	const char *why = json_string_value(json_object_get(hold, "why"));
	const char *kind = json_string_value(json_object_get(hold, "kind"));

	if (kind == NULL || strcmp(kind, "none") == 0) {
		row_nothing(row);
		row_nothing(row);
		return;
	}
	row_format(row, "%s%s%s", kind, why != NULL && why[0] != '\0' ? ": " : "",
		   why != NULL ? why : "");
	row_member(row, hold, "advice");
}

int cmd_fabric_status(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "status", COLUMNS(status_columns));
	const json_t *status = query->reply;
	const json_t *plan = json_object_get(status, "plan");
	json_t *row = table_row(table);
	char text[FABRIC_TEXT_BYTES];

	table->blocks = true;
	row_member(row, status, "fabric");
	row_text(row, fabric_text_generation(status, text));
	row_plan(row, plan);
	row_text(row, fabric_text_counts(json_object_get(status, "switches"), text));
	row_text(row, fabric_text_counts(json_object_get(status, "links"), text));
	row_hosts(row, status);
	row_load(row, plan);
	row_text(row, fabric_text_repair(status, text));
	row_hold(row, json_object_get(status, "hold"));
	return 0;
}

int cmd_fabric_errors(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "errors", COLUMNS(error_columns));
	const json_t *errors = json_object_get(query->reply, "errors");
	const size_t count = json_array_size(errors);

	table->sentences = true;
	table_heading(table, count == 0 ? "Nothing is wrong." : "What is wrong:");
	table_add_list(table, errors);
	report->alarm = count > 0;
	return 0;
}

int cmd_fabric_events(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "events", COLUMNS(event_columns));
	const json_t *events = json_object_get(query->reply, "events");
	char text[FABRIC_TEXT_BYTES];

	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		json_t *row = table_row(table);

		row_member(row, event, "number");
		row_text(row, fabric_text_clock(number(event, "wall_ms"), text));
		row_member(row, event, "severity");
		row_member(row, event, "what");
	}
	return 0;
}

// Answers of all orders: a sentence, and for a diff what would change.
int cmd_fabric_order(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "changes", COLUMNS(change_columns));
	const char *done = json_string_value(json_object_get(query->reply, "done"));
	const json_t *changes = json_object_get(query->reply, "changes");

	table->lines = true;
	table_heading(table, "%s", done != NULL ? done : "");
	for (size_t i = 0; i < json_array_size(changes); i++)
		json_array_append(table_row(table), json_array_get(changes, i));
	return 0;
}
