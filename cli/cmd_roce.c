// SPDX-License-Identifier: BSD-3-Clause
//
// weft show roce: congestion as RoCE sees it. Ports: frames that got CE, CNPs, and time in pause;
// flows: those that send most, what they send, and marks and CNPs about them; pairs: who sends CNPs
// to whom, which is the receiver of a congested flow to its sender. Rates are since the user's last
// look, which is kept beside the baseline of cleared counters.

#include "cli/command.h"

#include <stdlib.h>

#include "cli/baseline.h"
#include "cli/keys.h"
#include "cli/ports.h"
#include "cli/rate.h"

enum { FLOWS_SHOWN = 20 };

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

static const struct column flow_columns[] = {
	{ "Port", "port", CELL_TEXT },
	{ "Source", "source", CELL_TEXT },
	{ "Destination", "destination", CELL_TEXT },
	{ "QP", "destination_qp", CELL_TEXT },
	{ "Rate", "bits_per_second", CELL_SPEED },
	{ "Bytes", "bytes", CELL_COUNT },
	{ "Marks", "ecn_marked_packets", CELL_COUNT },
	{ "MARKS/s", "ecn_marked_per_second", CELL_COUNT },
	{ "CNPs", "cnp_packets", CELL_COUNT },
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

static bool same_members(const json_t *one, const json_t *other, const char *const *keys)
{
	for (; *keys != NULL; keys++) {
		if (!json_equal(json_object_get(one, *keys), json_object_get(other, *keys)))
			return false;
	}
	return true;
}

// The object of a list that is about the same as another, NULL when there is none.
static const json_t *find_same(const json_t *list, const json_t *other, const char *const *keys)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (same_members(json_array_get(list, i), other, keys))
			return json_array_get(list, i);
	}
	return NULL;
}

static const json_t *same_pair(const json_t *pairs, const json_t *pair)
{
	static const char *const keys[] = { "src", "dst", NULL };

	return find_same(pairs, pair, keys);
}

static const json_t *same_flow(const json_t *flows, const json_t *flow)
{
	static const char *const keys[] = { "port", "src", "dst", "dst_qp", "since_ns", NULL };

	return find_same(flows, flow, keys);
}

// A flow and what it did since the last look; counters of one that was listed later began at 0.
struct flow_view {
	const json_t *flow;
	size_t at;  // in the answer
	bool known; // what follows can be said
	uint64_t bytes;
	uint64_t marks;
};

static struct flow_view view_flow(const json_t *flow, const json_t *before, uint64_t elapsed)
{
	const json_t *then = same_flow(json_object_get(before, "flows"), flow);
	const json_int_t looked_at = json_integer_value(json_object_get(before, "uptime_ns"));
	struct flow_view view = { .flow = flow };

	if (elapsed == 0)
		return view;
	if (then != NULL) {
		view.known = rate_difference(then, flow, flow_key.bytes, &view.bytes) &&
			     rate_difference(then, flow, flow_key.ecn_marked_packets, &view.marks);
	} else if (json_integer_value(json_object_get(flow, "since_ns")) >= looked_at) {
		view.known = true;
		view.bytes = (uint64_t)json_integer_value(json_object_get(flow, flow_key.bytes));
		view.marks = (uint64_t)json_integer_value(
			json_object_get(flow, flow_key.ecn_marked_packets));
	}
	return view;
}

// Those that are the fastest now; without rates the order is the switch's, by bytes.
static int fastest_first(const void *a, const void *b)
{
	const struct flow_view *x = a;
	const struct flow_view *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void add_flow(struct table *table, const struct flow_view *view, uint64_t elapsed)
{
	json_t *row = table_row(table);

	row_member(row, view->flow, "port");
	row_member(row, view->flow, "src");
	row_member(row, view->flow, "dst");
	row_member(row, view->flow, "dst_qp");
	if (view->known)
		row_number(row, rate_per_second(view->bytes, 8, elapsed));
	else
		json_array_append_new(row, json_null());
	row_member(row, view->flow, flow_key.bytes);
	row_member(row, view->flow, flow_key.ecn_marked_packets);
	if (view->known)
		row_number(row, rate_per_second(view->marks, 1, elapsed));
	else
		json_array_append_new(row, json_null());
	row_member(row, view->flow, flow_key.cnp_packets);
}

static bool is_wanted(const struct query *query, const json_t *flow)
{
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		if (json_equal(json_object_get(port, "name"), json_object_get(flow, "port")))
			return true;
	}
	return false;
}

static void add_flows(struct table *table, const struct query *query, const json_t *before,
		      uint64_t elapsed)
{
	const json_t *flows = json_object_get(query->also, "flows");
	struct flow_view *view = calloc(json_array_size(flows) + 1, sizeof(*view));
	size_t count = 0;

	for (size_t i = 0; view != NULL && i < json_array_size(flows); i++) {
		const json_t *flow = json_array_get(flows, i);

		if (!is_wanted(query, flow))
			continue;
		view[count] = view_flow(flow, before, elapsed);
		view[count++].at = i;
	}
	table_heading(table, "RoCE flows (CNPs: about all queue pairs of the two hosts):");
	if (count > FLOWS_SHOWN)
		table_heading(table,
			      "Top %u of %zu RoCE flows (CNPs: about all queue pairs of "
			      "the two hosts):",
			      FLOWS_SHOWN, count);
	if (elapsed > 0)
		qsort(view, count, sizeof(*view), fastest_first);
	for (size_t i = 0; i < count && i < FLOWS_SHOWN; i++)
		add_flow(table, &view[i], elapsed);
	free(view);
}

static void add_pairs(struct table *table, const json_t *now, const json_t *before,
		      uint64_t elapsed)
{
	const json_t *pairs = json_object_get(now, "cnp_pairs");

	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *pair = json_array_get(pairs, i);
		const json_t *then = same_pair(json_object_get(before, "cnp_pairs"), pair);
		json_t *row = table_row(table);

		row_member(row, pair, "src");
		row_member(row, pair, "dst");
		row_member(row, pair, "count");
		row_member(row, pair, "error");
		row_per_second(row, then, pair, "count", elapsed);
	}
}

int cmd_show_roce(const struct query *query, struct report *report)
{
	struct table *ports = report_table(report, "ports", COLUMNS(port_columns));
	struct table *flows = report_table(report, "flows", COLUMNS(flow_columns));
	struct table *pairs = report_table(report, "pairs", COLUMNS(pair_columns));
	json_t *look = json_pack("{s:O?, s:O?, s:O?}", "switch",
				 json_object_get(query->reply, "switch"), "ports",
				 json_object_get(query->reply, "ports"), "roce", query->also);
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
	add_flows(flows, query, json_object_get(before, "roce"), elapsed);
	add_pairs(pairs, query->also, json_object_get(before, "roce"), elapsed);
	json_decref(before);
	json_decref(look);
	return 0;
}
