// SPDX-License-Identifier: BSD-3-Clause
//
// weft show pfc counters | pause: frames by priority as they were received and sent, XON included,
// and the time they stood for.

#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"

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

int cmd_show_pfc_counters(const struct query *query, struct report *report)
{
	struct table *rx = report_table(report, "rx", COLUMNS(rx_columns));
	struct table *tx = report_table(report, "tx", COLUMNS(tx_columns));
	const json_t *port;
	size_t at = 0;

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
