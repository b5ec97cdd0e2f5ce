// SPDX-License-Identifier: BSD-3-Clause
//
// weft show drops: every dropped frame has exactly one reason; this lists those that happened, with
// the meaning from schema/drops.def. Their sums per port are RX_DRP and TX_DRP of show interface.

#include "cli/command.h"

#include "cli/ports.h"
#include "cli/reasons.h"

static const struct column columns[] = {
	{ "Port", "name", CELL_TEXT },       { "Side", "side", CELL_TEXT },
	{ "Reason", "reason", CELL_TEXT },   { "Drop/pkts", "packets", CELL_COUNT },
	{ "Meaning", "meaning", CELL_TEXT },
};

static void add_port(const struct query *query, struct table *table, const json_t *port)
{
	json_t *drops = json_object_get(port, "drops");
	const char *name;
	json_t *count;

	json_object_foreach(drops, name, count) {
		const enum reason_id id = reason_find(name);
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_text(row, id < REASON_COUNT ? reasons[id].side : "-");
		row_text(row, name);
		json_array_append(row, count);
		row_text(row, id < REASON_COUNT ? reasons[id].doc : "-");
	}
}

int cmd_show_drops(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "drops", COLUMNS(columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL)
		add_port(query, table, port);
	return 0;
}
