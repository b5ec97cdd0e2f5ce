// SPDX-License-Identifier: BSD-3-Clause
//
// weft show priority-group watermark | drop counters: the ingress side of the buffer, one column
// per priority group.

#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"

static const struct column pg_columns[] = {
	{ "Port", "name", CELL_TEXT }, { "PG0", "pg0", CELL_COUNT }, { "PG1", "pg1", CELL_COUNT },
	{ "PG2", "pg2", CELL_COUNT },  { "PG3", "pg3", CELL_COUNT }, { "PG4", "pg4", CELL_COUNT },
	{ "PG5", "pg5", CELL_COUNT },  { "PG6", "pg6", CELL_COUNT }, { "PG7", "pg7", CELL_COUNT },
};

static void add_watermarks(const struct query *query, struct report *report, bool headroom)
{
	struct table *table = report_table(report, headroom ? "headroom_bytes" : "shared_bytes",
					   COLUMNS(pg_columns));
	const json_t *port;
	size_t at = 0;

	table_heading(table,
		      headroom ? "Maximum ingress headroom use per PG, bytes (%s):" :
				 "Maximum ingress shared pool occupancy per PG, bytes (%s):",
		      query->kind);
	while ((port = port_next(query, &at)) != NULL)
		port_row(table, port, "priority_groups",
			 headroom ? pg_key.xoff_room_watermark_bytes :
				    pg_key.shared_watermark_bytes);
}

int cmd_show_pg_watermark(const struct query *query, struct report *report)
{
	add_watermarks(query, report, false);
	add_watermarks(query, report, true);
	return 0;
}

int cmd_show_pg_watermark_shared(const struct query *query, struct report *report)
{
	add_watermarks(query, report, false);
	return 0;
}

int cmd_show_pg_watermark_headroom(const struct query *query, struct report *report)
{
	add_watermarks(query, report, true);
	return 0;
}

int cmd_show_pg_drops(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "dropped_packets", COLUMNS(pg_columns));
	const json_t *port;
	size_t at = 0;

	table_heading(table, "Ingress PG dropped packets:");
	while ((port = port_next(query, &at)) != NULL)
		port_row(table, port, "priority_groups", pg_key.dropped_packets);
	return 0;
}
