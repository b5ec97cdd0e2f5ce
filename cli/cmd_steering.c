// SPDX-License-Identifier: BSD-3-Clause
//
// weft show steering: of ports that share their interface with the kernel, the frames that the
// switch took and those that it left. docs/steering.md says what belongs to each class; the classes
// are those of the answer, in the order in which the switch decides.

#include "cli/command.h"
#include "cli/ports.h"

static const struct column columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "Class", "class", CELL_TEXT },
	{ "Taken/pkts", "taken_packets", CELL_COUNT },
	{ "Left/pkts", "left_packets", CELL_COUNT },
};

static void add_class(const struct query *query, struct table *table, const json_t *port,
		      const json_t *class)
{
	json_t *row = table_row(table);

	row_member(row, port, "name");
	for (size_t i = 1; i < table->column_count; i++)
		row_member(row, class, table->columns[i].key);
	if (query->nonzero)
		table_drop_zero_row(table, 2);
}

int cmd_show_steering(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "steering", COLUMNS(columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		const json_t *class;

		for (size_t i = 0; (class = port_element(port, "steering", i)) != NULL; i++)
			add_class(query, table, port, class);
	}
	return 0;
}
