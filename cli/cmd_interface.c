// SPDX-License-Identifier: BSD-3-Clause
//
// weft show interface: what each port is and what went through it. Frames and bytes are those of
// SAI's port counters, so MAC control frames are in none of them.

#include "cli/command.h"
#include "cli/hooks.h"
#include "cli/keys.h"
#include "cli/ports.h"

static const struct column state_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Alias", "alias", CELL_TEXT },
	{ "Admin", "admin", CELL_TEXT },
	{ "Oper", "link", CELL_TEXT },
	{ "Speed", "speed_bps", CELL_RATE },
	{ "MTU", "mtu", CELL_TEXT },
	{ "Driver", "driver", CELL_TEXT },
	{ "Class", "class", CELL_TEXT },
	{ "Pause", "pause", CELL_TEXT },
	{ "PFC", "pfc_path", CELL_TEXT },
	{ "TX ring/bytes", "ring_bytes", CELL_COUNT },
	{ "Headroom need", "headroom_need_bytes", CELL_COUNT },
	{ "Max poll gap", "max_poll_gap_ns", CELL_TIME },
};

// One row per lossless priority group.
static const struct column headroom_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Class", "class", CELL_TEXT },
	{ "Required", "headroom_need_bytes", CELL_COUNT },
	{ "PG", "pg", CELL_COUNT },
	{ "Xoff", "xoff_bytes", CELL_COUNT },
	{ "Verdict", "headroom_verdict", CELL_TEXT },
};

static const struct column counter_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "RX_OK", "rx_packets", CELL_COUNT },
	{ "RX_BYTES", "rx_bytes", CELL_COUNT },
	{ "RX_DRP", "rx_dropped_packets", CELL_COUNT },
	{ "RX_LOST", "rx_lost_packets", CELL_COUNT },
	{ "TX_OK", "tx_packets", CELL_COUNT },
	{ "TX_BYTES", "tx_bytes", CELL_COUNT },
	{ "TX_DRP", "tx_dropped_packets", CELL_COUNT },
	{ "ECN_MARKED", "ecn_marked_packets", CELL_COUNT },
	{ "CNP_RX", "cnp_rx_packets", CELL_COUNT },
	{ "CNP_TX", "cnp_tx_packets", CELL_COUNT },
};

// A state that the switch gives as a truth value.
static void row_up(json_t *row, const json_t *port, const char *key)
{
	if (json_is_boolean(json_object_get(port, key)))
		row_text(row, json_is_true(json_object_get(port, key)) ? "up" : "down");
	else
		row_member(row, port, key);
}

static void row_sum(json_t *row, const json_t *stats, const char *a, const char *b)
{
	const json_t *x = json_object_get(stats, a);
	const json_t *y = json_object_get(stats, b);

	if (json_is_integer(x) && json_is_integer(y))
		row_number(row, (uint64_t)json_integer_value(x) + (uint64_t)json_integer_value(y));
	else
		row_member(row, NULL, a);
}

static void add_state(struct table *table, const json_t *port)
{
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_member(row, port, "alias");
	row_up(row, port, "admin");
	if (json_is_false(json_object_get(port, "present")))
		row_text(row, "absent");
	else
		row_up(row, port, "link");
	for (size_t i = 4; i < table->column_count; i++)
		row_member(row, port, table->columns[i].key);
}

static void add_counters(struct table *table, const json_t *port)
{
	const json_t *stats = json_object_get(port, "stats");
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_sum(row, stats, port_key.if_in_ucast_pkts, port_key.if_in_non_ucast_pkts);
	row_member(row, stats, port_key.if_in_octets);
	row_member(row, stats, port_key.in_dropped_pkts);
	row_sum(row, stats, port_key.rx_no_buffer, port_key.rx_missed);
	row_sum(row, stats, port_key.if_out_ucast_pkts, port_key.if_out_non_ucast_pkts);
	row_member(row, stats, port_key.if_out_octets);
	row_member(row, stats, port_key.out_dropped_pkts);
	row_member(row, stats, port_key.ecn_marked_packets);
	row_member(row, stats, port_key.cnp_rx_packets);
	row_member(row, stats, port_key.cnp_tx_packets);
}

int cmd_show_interface(const struct query *query, struct report *report)
{
	struct table *state = report_table(report, "interfaces", COLUMNS(state_columns));
	struct table *counters = report_table(report, "counters", COLUMNS(counter_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		add_state(state, port);
		add_counters(counters, port);
	}
	hooks_add_table(query, report);
	return 0;
}

static void add_headroom(struct table *table, const json_t *port, size_t at)
{
	const json_t *pg = port_element(port, "priority_groups", at);
	json_t *row;

	if (!json_is_true(json_object_get(pg, "lossless")))
		return;
	row = table_row(table);
	row_member(row, port, "name");
	row_member(row, port, "class");
	row_member(row, port, "headroom_need_bytes");
	row_number(row, at);
	row_member(row, pg, "xoff_bytes");
	row_member(row, pg, "headroom_verdict");
}

int cmd_show_interface_headroom(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "headroom", COLUMNS(headroom_columns));
	const json_t *port;
	size_t at = 0;

	table_heading(table, "Headroom of lossless priority groups, bytes:");
	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < PG_COUNT; i++)
			add_headroom(table, port, i);
	}
	return 0;
}
