// SPDX-License-Identifier: BSD-3-Clause
//
// weft fabric counters | alarms | health: what the fabric manager knows of traffic. Rates are those
// of the last second in which a switch reported; how long ago that was stands beside them.

#include "cli/command.h"

#include <math.h>
#include <string.h>

#include "cli/fabric_text.h"

enum { CELL_BYTES = 256 };

#define RATE_COLUMNS                                                                               \
	{ "TX", "tx_bps", CELL_SPEED }, { "RX", "rx_bps", CELL_SPEED },                            \
		{ "TX/pps", "tx_packets", CELL_COUNT }, { "RX/pps", "rx_packets", CELL_COUNT },    \
		{ "DRP/s", "drops", CELL_COUNT }, { "Lossless/s", "lossless_drops", CELL_COUNT },  \
		{ "Errors/s", "errors", CELL_COUNT }, { "CE/s", "ecn_marks", CELL_COUNT },         \
		{ "Paused", "paused", CELL_SHARE }, { "Pauses", "pausing", CELL_SHARE },           \
	{                                                                                          \
		"Deepest queue", "peak_bytes", CELL_COUNT                                          \
	}

static const struct column switch_columns[] = { { "Switch", "switch", CELL_TEXT },
						{ "Seen", "age_ns", CELL_TIME },
						RATE_COLUMNS };

static const struct column port_columns[] = { { "Port", "name", CELL_TEXT }, RATE_COLUMNS };

static const struct column alarm_columns[] = {
	{ "For", "for", CELL_TEXT },
	{ "Severity", "severity", CELL_TEXT },
	{ "Where", "where", CELL_TEXT },
	{ "Alarm", "alarm", CELL_TEXT },
	{ "Level", "level", CELL_TEXT },
	{ "Limit", "raised_above", CELL_TEXT },
	{ "What it means", "what", CELL_TEXT },
};

static const struct column bad_columns[] = {
	{ "Port", "where", CELL_TEXT },
	{ "Dropped", "dropped", CELL_COUNT },
	{ "Lossless", "lossless_dropped", CELL_COUNT },
	{ "Errors", "errors", CELL_COUNT },
	{ "Alarms", "alarms", CELL_TEXT },
};

static const struct column root_columns[] = {
	{ "Pauses come from", "where", CELL_TEXT },
	{ "Kind", "kind", CELL_TEXT },
	{ "Victims", "victims", CELL_COUNT },
	{ "Why", "why", CELL_TEXT },
};

static const struct column cable_columns[] = {
	{ "Port", "where", CELL_TEXT },
	{ "Meant for", "expected", CELL_TEXT },
	{ "Plugged into", "seen", CELL_TEXT },
	{ "State", "state", CELL_TEXT },
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

// "leaf1 Ethernet4", or "leaf1" of what has no port; "-" of nobody.
static void row_place(json_t *row, const json_t *object, const char *name, const char *port)
{
	char text[CELL_BYTES];

	snprintf(text, sizeof(text), "%s%s%s", text_of(object, name),
		 text_of(object, port)[0] != '\0' ? " " : "", text_of(object, port));
	row_text(row, text[0] != '\0' ? text : "-");
}

// A rate in whole numbers, times `scale`; null where nothing is known.
static void row_rate(json_t *row, const json_t *rates, const char *key, double scale)
{
	const json_t *value = json_object_get(rates, key);

	if (json_is_number(value))
		row_number(row, (uint64_t)llround(json_number_value(value) * scale));
	else
		json_array_append_new(row, json_null());
}

static void row_rates(json_t *row, const json_t *object)
{
	static const struct {
		const char *key;
		double scale;
	} rates[] = {
		{ "tx_bytes", 8 },      { "rx_bytes", 8 },   { "tx_packets", 1 },
		{ "rx_packets", 1 },    { "drops", 1 },      { "lossless_drops", 1 },
		{ "errors", 1 },        { "ecn_marks", 1 },  { "paused", 1000000 },
		{ "pausing", 1000000 }, { "peak_bytes", 1 },
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		row_rate(row, json_object_get(object, "rates"), rates[i].key, rates[i].scale);
}

static void add_switch(struct table *table, const json_t *sw)
{
	json_t *row = table_row(table);

	row_member(row, sw, "switch");
	row_member(row, sw, "age_ns");
	row_rates(row, sw);
}

int cmd_fabric_counters(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "switches", COLUMNS(switch_columns));
	const json_t *switches = json_object_get(query->reply, "switches");
	const json_t *ports = json_object_get(query->reply, "ports");

	for (size_t i = 0; i < json_array_size(switches); i++)
		add_switch(table, json_array_get(switches, i));
	if (ports == NULL)
		return 0;
	add_switch(table, query->reply);
	table = report_table(report, "ports", COLUMNS(port_columns));
	for (size_t i = 0; i < json_array_size(ports); i++) {
		json_t *row = table_row(table);

		row_member(row, json_array_get(ports, i), "name");
		row_rates(row, json_array_get(ports, i));
	}
	return 0;
}

// "62.0 %".
static void row_level(json_t *row, const json_t *alarm, const char *key)
{
	char text[CELL_BYTES];

	snprintf(text, sizeof(text), "%.4g %s", json_number_value(json_object_get(alarm, key)),
		 text_of(alarm, "unit"));
	row_text(row, text);
}

int cmd_fabric_alarms(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "alarms", COLUMNS(alarm_columns));
	const json_t *alarms = json_object_get(query->reply, "alarms");

	for (size_t i = 0; i < json_array_size(alarms); i++) {
		const json_t *alarm = json_array_get(alarms, i);
		const json_int_t ns = json_integer_value(json_object_get(alarm, "for_ns"));
		json_t *row = table_row(table);
		char time[FABRIC_TEXT_BYTES];

		row_text(row, fabric_text_time(ns > 0 ? (uint64_t)ns : 0, time));
		row_member(row, alarm, "severity");
		row_place(row, alarm, "switch", "port");
		row_member(row, alarm, "alarm");
		row_level(row, alarm, "level");
		row_level(row, alarm, "raised_above");
		row_member(row, alarm, "what");
	}
	return 0;
}

// --- health -----------------------------------------------------------------------------------

static void add_bad_port(struct table *table, const json_t *port)
{
	const json_t *alarms = json_object_get(port, "alarms");
	json_t *row = table_row(table);
	char text[CELL_BYTES] = "";
	size_t len = 0;

	row_place(row, port, "switch", "port");
	row_member(row, port, "dropped");
	row_member(row, port, "lossless_dropped");
	row_member(row, port, "errors");
	for (size_t i = 0; i < json_array_size(alarms) && len + 1 < sizeof(text); i++) {
		const char *name = json_string_value(json_array_get(alarms, i));

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len > 0 ? " " : "",
					name != NULL ? name : "");
	}
	row_text(row, text);
}

static void add_root(struct table *table, const json_t *root)
{
	json_t *row = table_row(table);

	row_place(row, root, "switch", "port");
	row_member(row, root, "kind");
	row_member(row, root, "victims");
	row_member(row, root, "why");
}

static void add_cable(struct table *table, const json_t *cable)
{
	json_t *row = table_row(table);

	row_place(row, cable, "switch", "port");
	row_place(row, cable, "expected", "expected_port");
	row_place(row, cable, "seen", "seen_port");
	row_member(row, cable, "state");
}

static void add_all(struct table *table, const json_t *list,
		    void (*add)(struct table *table, const json_t *object))
{
	for (size_t i = 0; i < json_array_size(list); i++)
		add(table, json_array_get(list, i));
}

int cmd_fabric_health(const struct query *query, struct report *report)
{
	const json_t *storms = json_object_get(query->reply, "storms");

	add_all(report_table(report, "ports", COLUMNS(bad_columns)),
		json_object_get(query->reply, "ports"), add_bad_port);
	add_all(report_table(report, "storms", COLUMNS(root_columns)),
		json_object_get(storms, "roots"), add_root);
	add_all(report_table(report, "cables", COLUMNS(cable_columns)),
		json_object_get(query->reply, "cables"), add_cable);
	return 0;
}
