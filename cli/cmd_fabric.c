// SPDX-License-Identifier: BSD-3-Clause
//
// weft show fabric links: for each port that sends hellos, who is at the other end, whether the
// port is used, and if not, or not for lossless traffic, why. Ports without hellos have no row; of
// a peer that has not spoken yet there is nothing to show.

#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"

enum { SEEN_BYTES = 256 };

static const struct column columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Hello", "state", CELL_TEXT },
	{ "Peer", "peer", CELL_TEXT },
	{ "Peer port", "peer_port", CELL_TEXT },
	{ "LLDP", "lldp", CELL_TEXT },
	{ "Edge", "peer_edge", CELL_COUNT },
	{ "Used", "used", CELL_TEXT },
	{ "Lossless", "lossless", CELL_TEXT },
	{ "RX", "hello_rx_pkts", CELL_COUNT },
	{ "TX", "hello_tx_pkts", CELL_COUNT },
	{ "Downs", "hello_downs", CELL_COUNT },
	{ "Masked edges", "hello_masked_edges", CELL_COUNT },
	{ "Why", "why", CELL_TEXT },
};

static void row_yes(json_t *row, const json_t *hello, const char *key)
{
	const json_t *value = json_object_get(hello, key);

	if (json_is_boolean(value))
		row_text(row, json_is_true(value) ? "yes" : "no");
	else
		row_member(row, hello, key);
}

// The neighbour of LLDP and its port: the cable as the other end names it.
static void row_seen(json_t *row, const json_t *lldp)
{
	const char *neighbor = json_string_value(json_object_get(lldp, "neighbor"));
	const char *port = json_string_value(json_object_get(lldp, "port"));
	char cell[SEEN_BYTES];

	if (neighbor == NULL || port == NULL) {
		row_member(row, lldp, "neighbor");
		return;
	}
	snprintf(cell, sizeof(cell), "%s %s", neighbor, port);
	row_text(row, cell);
}

static void add_link(struct table *table, const json_t *port, const json_t *hello)
{
	const json_t *stats = json_object_get(port, "stats");
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_member(row, hello, "state");
	row_member(row, hello, "peer");
	row_member(row, hello, "peer_port");
	row_seen(row, json_object_get(port, "lldp"));
	row_member(row, hello, "peer_edge");
	row_yes(row, hello, "used");
	row_yes(row, hello, "lossless");
	row_member(row, stats, port_key.hello_rx_pkts);
	row_member(row, stats, port_key.hello_tx_pkts);
	row_member(row, stats, port_key.hello_downs);
	row_member(row, stats, port_key.hello_masked_edges);
	row_member(row, hello, "why");
}

int cmd_show_fabric_links(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "fabric_links", COLUMNS(columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		const json_t *hello = json_object_get(port, "hello");

		if (json_is_object(hello))
			add_link(table, port, hello);
	}
	return 0;
}
