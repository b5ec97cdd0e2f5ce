// SPDX-License-Identifier: BSD-3-Clause
//
// weft show queue counters | wredcounters | watermark | persistent-watermark: the eight unicast
// queues of each port. All queues carry group-addressed frames as well; SONiC's name UC is kept
// because scripts look for it.

#include "cli/command.h"
#include "cli/hooks.h"
#include "cli/keys.h"
#include "cli/ports.h"

static const struct column counter_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "TxQ", "queue", CELL_TEXT },
	{ "Counter/pkts", "packets", CELL_COUNT },
	{ "Counter/bytes", "bytes", CELL_COUNT },
	{ "Drop/pkts", "dropped_packets", CELL_COUNT },
	{ "Drop/bytes", "dropped_bytes", CELL_COUNT },
	{ "WredDrp/pkts", "wred_dropped_packets", CELL_COUNT },
	{ "EcnMarked/pkts", "wred_ecn_marked_packets", CELL_COUNT },
};

static const struct column wred_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "TxQ", "queue", CELL_TEXT },
	{ "WredDrp/pkts", "wred_dropped_packets", CELL_COUNT },
	{ "WredDrp/bytes", "wred_dropped_bytes", CELL_COUNT },
	{ "EcnMarked/pkts", "wred_ecn_marked_packets", CELL_COUNT },
	{ "EcnMarked/bytes", "wred_ecn_marked_bytes", CELL_COUNT },
};

static const struct column shared_columns[] = {
	{ "Port", "name", CELL_TEXT }, { "UC0", "uc0", CELL_COUNT }, { "UC1", "uc1", CELL_COUNT },
	{ "UC2", "uc2", CELL_COUNT },  { "UC3", "uc3", CELL_COUNT }, { "UC4", "uc4", CELL_COUNT },
	{ "UC5", "uc5", CELL_COUNT },  { "UC6", "uc6", CELL_COUNT }, { "UC7", "uc7", CELL_COUNT },
};

static const struct column delay_columns[] = {
	{ "Port", "name", CELL_TEXT },  { "UC0", "uc0_ns", CELL_TIME },
	{ "UC1", "uc1_ns", CELL_TIME }, { "UC2", "uc2_ns", CELL_TIME },
	{ "UC3", "uc3_ns", CELL_TIME }, { "UC4", "uc4_ns", CELL_TIME },
	{ "UC5", "uc5_ns", CELL_TIME }, { "UC6", "uc6_ns", CELL_TIME },
	{ "UC7", "uc7_ns", CELL_TIME },
};

static void add_queue(const struct query *query, struct table *table, const json_t *port,
		      uint32_t queue)
{
	const json_t *stats = port_element(port, "queues", queue);
	json_t *row = table_row(table);
	char name[16];

	snprintf(name, sizeof(name), "UC%u", queue);
	row_member(row, port, "name");
	row_text(row, name);
	for (uint32_t i = 2; i < table->column_count; i++)
		row_member(row, stats, table->columns[i].key);
	if (query->nonzero)
		table_drop_zero_row(table, 2);
}

// A row per queue: behind its port and name the counters that the columns name.
static void add_queues(const struct query *query, struct table *table)
{
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			add_queue(query, table, port, i);
	}
}

int cmd_show_queue_counters(const struct query *query, struct report *report)
{
	add_queues(query, report_table(report, "queues", COLUMNS(counter_columns)));
	hooks_add_table(query, report);
	return 0;
}

int cmd_show_queue_wredcounters(const struct query *query, struct report *report)
{
	add_queues(query, report_table(report, "queues", COLUMNS(wred_columns)));
	return 0;
}

int cmd_show_queue_watermark(const struct query *query, struct report *report)
{
	struct table *shared = report_table(report, "shared_bytes", COLUMNS(shared_columns));
	struct table *delay = report_table(report, "delay", COLUMNS(delay_columns));
	const json_t *port;
	size_t at = 0;

	table_heading(shared,
		      "Maximum egress shared pool occupancy per queue, bytes (%s):", query->kind);
	table_heading(delay, "Longest stay of a frame per queue (%s):", query->kind);
	while ((port = port_next(query, &at)) != NULL) {
		port_row(shared, port, "queues", queue_key.shared_watermark_bytes);
		port_row(delay, port, "queues", queue_key.delay_watermark_ns);
	}
	hooks_add_table(query, report);
	return 0;
}
