// SPDX-License-Identifier: BSD-3-Clause
//
// weft show roce: congestion as RoCE sees it. Ports: frames that got CE, CNPs, and time in pause;
// pairs: who sends CNPs to whom, which is the receiver of a congested flow to its sender. Rates are
// since the user's last look, which is kept beside the baseline of cleared counters.

#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"
#include "cli/rate.h"

static const struct column port_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "ECN_MARKED", "ecn_marked_packets", CELL_COUNT },
	{ "MARKS/s", "ecn_marked_per_second", CELL_COUNT },
	{ "CNP_RX", "cnp_rx_packets", CELL_COUNT },
	{ "CNP_TX", "cnp_tx_packets", CELL_COUNT },
	{ "CNP_RX/s", "cnp_rx_per_second", CELL_COUNT },
	{ "RX paused", "rx_paused_share_ppm", CELL_SHARE },
	{ "TX paused", "tx_paused_share_ppm", CELL_SHARE },
};

static const struct column pair_columns[] = {
	{ "Receiver", "receiver", CELL_TEXT },
	{ "tells sender", "sender", CELL_TEXT },
	{ "CNPs", "cnp_packets", CELL_COUNT },
	{ "May be over by", "error_packets", CELL_COUNT },
	{ "CNP/s", "cnp_per_second", CELL_COUNT },
};

static void row_per_second(json_t *row, const json_t *before, const json_t *now, const char *key,
			   uint64_t elapsed)
{
	uint64_t by;

	if (elapsed > 0 && rate_difference(before, now, key, &by))
		row_number(row, rate_per_second(by, 1, elapsed));
	else
		json_array_append_new(row, json_null());
}

// The share of the time that the most paused priority was paused.
static void row_paused(json_t *row, const json_t *before, const json_t *port, const char *key,
		       uint64_t elapsed)
{
	uint64_t most = 0;
	bool known = false;

	for (size_t i = 0; elapsed > 0 && i < PRIO_COUNT; i++) {
		uint64_t us;

		if (!rate_difference(port_element(before, "priorities", i),
				     port_element(port, "priorities", i), key, &us))
			continue;
		known = true;
		if (us > most)
			most = us;
	}
	if (known)
		row_number(row, rate_share_ppm(most * 1000, elapsed));
	else
		json_array_append_new(row, json_null());
}

static void add_port(struct table *table, const json_t *port, const json_t *before,
		     uint64_t elapsed)
{
	const json_t *stats = json_object_get(port, "stats");
	const json_t *then = json_object_get(before, "stats");
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_member(row, stats, port_key.ecn_marked_packets);
	row_per_second(row, then, stats, port_key.ecn_marked_packets, elapsed);
	row_member(row, stats, port_key.cnp_rx_packets);
	row_member(row, stats, port_key.cnp_tx_packets);
	row_per_second(row, then, stats, port_key.cnp_rx_packets, elapsed);
	row_paused(row, before, port, prio_key.rx_pause_duration_us, elapsed);
	row_paused(row, before, port, prio_key.tx_pause_duration_us, elapsed);
}

static const json_t *same_pair(const json_t *flows, const json_t *flow)
{
	for (size_t i = 0; i < json_array_size(flows); i++) {
		const json_t *one = json_array_get(flows, i);

		if (json_equal(json_object_get(one, "src"), json_object_get(flow, "src")) &&
		    json_equal(json_object_get(one, "dst"), json_object_get(flow, "dst")))
			return one;
	}
	return NULL;
}

static void add_pairs(struct table *table, const json_t *now, const json_t *before,
		      uint64_t elapsed)
{
	const json_t *flows = json_object_get(now, "flows");

	for (size_t i = 0; i < json_array_size(flows); i++) {
		const json_t *flow = json_array_get(flows, i);
		const json_t *then = same_pair(json_object_get(before, "flows"), flow);
		json_t *row = table_row(table);

		row_member(row, flow, "src");
		row_member(row, flow, "dst");
		row_member(row, flow, "count");
		row_member(row, flow, "error");
		row_per_second(row, then, flow, "count", elapsed);
	}
}

int cmd_show_roce(const struct query *query, struct report *report)
{
	struct table *ports = report_table(report, "ports", COLUMNS(port_columns));
	struct table *pairs = report_table(report, "pairs", COLUMNS(pair_columns));
	json_t *look = json_pack("{s:O?, s:O?, s:O?}", "switch",
				 json_object_get(query->reply, "switch"), "ports",
				 json_object_get(query->reply, "ports"), "cnp", query->also);
	json_t *before = baseline_look(look);
	const uint64_t elapsed = rate_elapsed_ns(before, query->reply);
	const json_t *port;
	size_t at = 0;

	table_heading(ports, "Marks, CNPs and pauses%s:",
		      elapsed > 0 ? "" : " (no rates: there is no earlier look)");
	if (elapsed > 0)
		table_heading(ports, "Marks, CNPs and pauses (rates of the last %.1f s):",
			      (double)elapsed / 1e9);
	table_heading(pairs, "Congestion notifications by pair:");
	while ((port = port_next(query, &at)) != NULL)
		add_port(ports, port, rate_same_port(before, port), elapsed);
	add_pairs(pairs, query->also, json_object_get(before, "cnp"), elapsed);
	json_decref(before);
	json_decref(look);
	return 0;
}
