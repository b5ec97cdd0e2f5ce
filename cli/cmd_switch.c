// SPDX-License-Identifier: BSD-3-Clause
//
// weft show switch | lcores | drivers | mac | acl and weft link: what belongs to the switch as a
// whole rather than to one of its ports, and links between switches.

#include "cli/command.h"

struct counter {
	const char *key;
	const char *name;
	const char *doc;
};

static const struct counter counters[] = {
#define SWITCH_STAT(kind, name, field, doc) { #field, #name, doc },
#include "schema/stats.def"
};

static const struct column counter_columns[] = {
	{ "Counter", "counter", CELL_TEXT },
	{ "Value", "value", CELL_COUNT },
	{ "Meaning", "meaning", CELL_TEXT },
};

static const struct column name_columns[] = {
	{ "Switch", "name", CELL_TEXT },
	{ "Uptime", "uptime_ns", CELL_TIME },
};

static const struct column lcore_columns[] = {
	{ "Lcore", "id", CELL_COUNT },
	{ "Polls", "polls", CELL_COUNT },
	{ "Busy polls", "busy_polls", CELL_COUNT },
	{ "RX/pkts", "rx_packets", CELL_COUNT },
	{ "TX/pkts", "tx_packets", CELL_COUNT },
	{ "Sleeps", "sleeps", CELL_COUNT },
	{ "Max poll gap", "max_poll_gap_ns", CELL_TIME },
};

static const struct column driver_columns[] = {
	{ "Driver", "name", CELL_TEXT },
	{ "Class", "class", CELL_TEXT },
	{ "Max MTU", "max_mtu", CELL_TEXT },
	{ "May lose", "may_lose", CELL_TEXT },
};

static const struct column mac_columns[] = {
	{ "Vlan", "vlan", CELL_TEXT },
	{ "MacAddress", "mac", CELL_TEXT },
	{ "Port", "port", CELL_TEXT },
	{ "Unseen for", "age_ns", CELL_TIME },
};

static const struct column acl_columns[] = {
	{ "Row", "name", CELL_TEXT },
	{ "Action", "action", CELL_TEXT },
	{ "Packets", "packets", CELL_COUNT },
	{ "Bytes", "bytes", CELL_COUNT },
	{ "Drop/pkts", "dropped_packets", CELL_COUNT },
};

int cmd_show_switch(const struct query *query, struct report *report)
{
	struct table *name = report_table(report, "switch", COLUMNS(name_columns));
	struct table *table = report_table(report, "counters", COLUMNS(counter_columns));
	const json_t *sw = json_object_get(query->reply, "switch");
	json_t *row = table_row(name);

	row_member(row, sw, "name");
	row_member(row, sw, "uptime_ns");
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		row = table_row(table);
		row_text(row, counters[i].name);
		row_member(row, sw, counters[i].key);
		row_text(row, counters[i].doc);
	}
	return 0;
}

int cmd_show_lcores(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "lcores", COLUMNS(lcore_columns));

	table_add_list(table, json_object_get(query->reply, "lcores"));
	return 0;
}

int cmd_show_drivers(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "drivers", COLUMNS(driver_columns));

	table_add_list(table, json_object_get(query->reply, "drivers"));
	return 0;
}

int cmd_show_mac(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "entries", COLUMNS(mac_columns));

	table_add_list(table, json_object_get(query->reply, "entries"));
	return 0;
}

int cmd_show_acl(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "rows", COLUMNS(acl_columns));

	table_add_list(table, json_object_get(query->reply, "rows"));
	return 0;
}

int cmd_link(const struct query *query, struct report *report)
{
	static const struct column columns[] = {
		{ "IFACE", "port", CELL_TEXT },
		{ "Link", "link", CELL_TEXT },
		{ "Cut", "cut", CELL_TEXT },
	};
	struct table *table = report_table(report, "links", COLUMNS(columns));
	json_t *row = table_row(table);

	for (uint32_t i = 0; i < table->column_count; i++)
		row_member(row, query->reply, columns[i].key);
	return 0;
}
