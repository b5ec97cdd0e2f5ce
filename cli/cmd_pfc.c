// SPDX-License-Identifier: BSD-3-Clause
//
// weft show pfc counters | pause | history | priority | asymmetric: frames by priority as they
// were received and sent, XON included, and the time they stood for; with --history the pauses
// received and the newest of them.

#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"

#include <time.h>

static const struct column rx_columns[] = {
	{ "Port Rx", "name", CELL_TEXT }, { "PFC0", "pfc0", CELL_COUNT },
	{ "PFC1", "pfc1", CELL_COUNT },   { "PFC2", "pfc2", CELL_COUNT },
	{ "PFC3", "pfc3", CELL_COUNT },   { "PFC4", "pfc4", CELL_COUNT },
	{ "PFC5", "pfc5", CELL_COUNT },   { "PFC6", "pfc6", CELL_COUNT },
	{ "PFC7", "pfc7", CELL_COUNT },
};

static const struct column tx_columns[] = {
	{ "Port Tx", "name", CELL_TEXT }, { "PFC0", "pfc0", CELL_COUNT },
	{ "PFC1", "pfc1", CELL_COUNT },   { "PFC2", "pfc2", CELL_COUNT },
	{ "PFC3", "pfc3", CELL_COUNT },   { "PFC4", "pfc4", CELL_COUNT },
	{ "PFC5", "pfc5", CELL_COUNT },   { "PFC6", "pfc6", CELL_COUNT },
	{ "PFC7", "pfc7", CELL_COUNT },
};

static const struct column pause_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "Priority", "priority", CELL_COUNT },
	{ "RX paused", "rx_paused", CELL_COUNT },
	{ "RX Pause Transitions", "rx_pause_transitions", CELL_COUNT },
	{ "Total RX Pause Time US", "rx_pause_duration_us", CELL_COUNT },
	{ "Total TX Pause Time US", "tx_pause_duration_us", CELL_COUNT },
};

static const struct column history_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "Priority", "priority", CELL_TEXT },
	{ "RX Pause Transitions", "rx_pause_transitions", CELL_COUNT },
	{ "Total RX Pause Time US", "rx_pause_duration_us", CELL_COUNT },
	{ "Recent RX Pause Time US", "rx_pause_recent_us", CELL_COUNT },
	{ "Recent RX Pause Timestamp", "rx_pause_recent_at", CELL_TEXT },
};

// The time of day, UTC, at which the newest pause began: the switch says both what time it is and
// for how long it has been up.
static void row_timestamp(json_t *row, const json_t *sw, const json_t *stats)
{
	const json_int_t at =
		json_integer_value(json_object_get(stats, prio_key.rx_pause_recent_at_ns));
	const json_int_t up = json_integer_value(json_object_get(sw, "uptime_ns"));
	const json_int_t now = json_integer_value(json_object_get(sw, "time_ns"));
	const time_t seconds = (time_t)((now - up + at) / 1000000000);
	struct tm tm;
	char text[32];

	if (at == 0 || now == 0 || gmtime_r(&seconds, &tm) == NULL ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		json_array_append_new(row, json_null());
	else
		row_text(row, text);
}

static void add_history(const struct query *query, struct table *table, const json_t *port)
{
	const json_t *sw = json_object_get(query->reply, "switch");

	for (size_t i = 0; i < PRIO_COUNT; i++) {
		const json_t *stats = port_element(port, "priorities", i);
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_number(row, i);
		row_member(row, stats, prio_key.rx_pause_transitions);
		row_member(row, stats, prio_key.rx_pause_duration_us);
		row_member(row, stats, prio_key.rx_pause_recent_us);
		row_timestamp(row, sw, stats);
		if (query->nonzero)
			table_drop_zero_row(table, 2);
	}
}

// Ports whose row of pfc_wd asks for it, or the one that was named.
int cmd_show_pfc_history(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "history", COLUMNS(history_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		if (query->port != NULL || json_is_true(json_object_get(port, "pfc_stat_history")))
			add_history(query, table, port);
	}
	return 0;
}

int cmd_show_pfc_counters(const struct query *query, struct report *report)
{
	struct table *rx, *tx;
	const json_t *port;
	size_t at = 0;

	if (query->history)
		return cmd_show_pfc_history(query, report);
	rx = report_table(report, "rx", COLUMNS(rx_columns));
	tx = report_table(report, "tx", COLUMNS(tx_columns));
	while ((port = port_next(query, &at)) != NULL) {
		port_row(rx, port, "priorities", prio_key.pfc_rx_pkts);
		port_row(tx, port, "priorities", prio_key.pfc_tx_pkts);
	}
	return 0;
}

static void add_pause(const struct query *query, struct table *table, const json_t *port,
		      size_t priority)
{
	const json_t *stats = port_element(port, "priorities", priority);
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_number(row, priority);
	row_member(row, stats, prio_key.rx_paused);
	row_member(row, stats, prio_key.rx_pause_transitions);
	row_member(row, stats, prio_key.rx_pause_duration_us);
	row_member(row, stats, prio_key.tx_pause_duration_us);
	if (query->nonzero)
		table_drop_zero_row(table, 2);
}

int cmd_show_pfc_pause(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "pause", COLUMNS(pause_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < PRIO_COUNT; i++)
			add_pause(query, table, port, i);
	}
	return 0;
}

int cmd_show_pfc_priority(const struct query *query, struct report *report)
{
	static const struct column columns[] = {
		{ "Interface", "name", CELL_TEXT },
		{ "Lossless priorities", "priorities", CELL_TEXT },
	};
	struct table *table = report_table(report, "priority", COLUMNS(columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_mask(row, port, "pfc_enable");
	}
	return 0;
}

int cmd_show_pfc_asymmetric(const struct query *query, struct report *report)
{
	static const struct column columns[] = {
		{ "Interface", "name", CELL_TEXT },
		{ "Asymmetric", "asymmetric", CELL_TEXT },
	};
	struct table *table = report_table(report, "asymmetric", COLUMNS(columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_text(row, json_is_true(json_object_get(port, "pfc_asymmetric")) ? "on" : "off");
	}
	return 0;
}
