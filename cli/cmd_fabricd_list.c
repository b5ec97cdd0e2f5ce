// SPDX-License-Identifier: BSD-3-Clause
//
// weft fabric topology | links | hosts | routes | trace | balance: the fabric manager's lists as
// tables, a row for each thing; what belongs to several things of a row is joined into one cell.

#include "cli/command.h"

#include <string.h>

#include "cli/fabric_text.h"

enum { CELL_BYTES = 256 };

static const struct column switch_columns[] = {
	{ "Switch", "name", CELL_TEXT },       { "State", "state", CELL_TEXT },
	{ "For", "state_for", CELL_TEXT },     { "Runs", "running", CELL_TEXT },
	{ "Drained", "drained", CELL_TEXT },   { "Pod", "pod", CELL_COUNT },
	{ "Level", "level", CELL_COUNT },      { "Host ports", "host_ports", CELL_COUNT },
	{ "Software", "software", CELL_TEXT },
};

static const struct column link_columns[] = {
	{ "Link", "name", CELL_TEXT },       { "Peer", "peer", CELL_TEXT },
	{ "State", "state", CELL_TEXT },     { "Used", "planned", CELL_TEXT },
	{ "Speed", "speed_bps", CELL_RATE }, { "Length/mm", "length_mm", CELL_COUNT },
	{ "Weight", "weight", CELL_COUNT },  { "Losses", "losses", CELL_COUNT },
};

static const struct column host_columns[] = {
	{ "Host", "name", CELL_TEXT },     { "Tenant", "tenant", CELL_TEXT },
	{ "Switch", "switch", CELL_TEXT }, { "Port", "port", CELL_TEXT },
	{ "Rail", "rail", CELL_COUNT },    { "Speed", "speed_bps", CELL_RATE },
	{ "MAC", "mac", CELL_TEXT },       { "IPv4", "ip", CELL_TEXT },
	{ "IPv6", "ip6", CELL_TEXT },
};

static const struct column route_columns[] = {
	{ "Switch", "switch", CELL_TEXT },
	{ "To", "to", CELL_TEXT },
	{ "Host ports", "host_ports", CELL_COUNT },
	{ "Next hops", "next_hops", CELL_TEXT },
};

static const struct column path_columns[] = {
	{ "Share", "share", CELL_TEXT },
	{ "End", "end", CELL_TEXT },
	{ "Path", "path", CELL_TEXT },
};

static const struct column tier_columns[] = {
	{ "Tier", "tier", CELL_TEXT },
	{ "Links", "links", CELL_COUNT },
	{ "Max load", "max", CELL_TEXT },
	{ "Avg load", "avg", CELL_TEXT },
	{ "Max/avg", "max_over_avg", CELL_TEXT },
	{ "Most loaded", "most_loaded", CELL_TEXT },
};

static const struct column load_columns[] = {
	{ "Load", "load", CELL_TEXT },
	{ "Link", "link", CELL_TEXT },
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

// A number that is no integer.
static void row_real(json_t *row, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	char text[CELL_BYTES];

	snprintf(text, sizeof(text), "%.2f", json_number_value(value));
	if (json_is_number(value))
		row_text(row, text);
	else
		json_array_append_new(row, json_null());
}

// --- things -----------------------------------------------------------------------------------

// "7", of the epoch that is the manager's, or "6 (of epoch 2)".
static void row_generation(json_t *row, const json_t *running, const json_t *target)
{
	const json_int_t number = json_integer_value(json_object_get(running, "number"));
	const json_int_t epoch = json_integer_value(json_object_get(running, "epoch"));
	char text[CELL_BYTES];

	if (!json_is_object(running)) {
		json_array_append_new(row, json_null());
		return;
	}
	if (json_equal(json_object_get(running, "epoch"), json_object_get(target, "epoch")))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, number);
	else
		snprintf(text, sizeof(text),
			 "%" JSON_INTEGER_FORMAT " (of epoch %" JSON_INTEGER_FORMAT ")", number,
			 epoch);
	row_text(row, text);
}

static void add_switch(struct table *table, const json_t *sw)
{
	const json_t *time = json_object_get(sw, "state_for_ns");
	char text[FABRIC_TEXT_BYTES];
	json_t *row = table_row(table);

	row_member(row, sw, "name");
	row_member(row, sw, "state");
	if (json_is_integer(time))
		row_text(row, fabric_text_time((uint64_t)json_integer_value(time), text));
	else
		json_array_append_new(row, json_null());
	row_generation(row, json_object_get(sw, "running"), json_object_get(sw, "target"));
	row_member(row, sw, "drained");
	row_member(row, sw, "pod");
	row_member(row, sw, "level");
	row_member(row, sw, "host_ports");
	row_member(row, sw, "software");
}

int cmd_fabric_links(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "links", COLUMNS(link_columns));

	table_add_list(table, json_object_get(query->reply, "links"));
	return 0;
}

int cmd_fabric_topology(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "switches", COLUMNS(switch_columns));
	const json_t *switches = json_object_get(query->reply, "switches");

	for (size_t i = 0; i < json_array_size(switches); i++)
		add_switch(table, json_array_get(switches, i));
	return cmd_fabric_links(query, report);
}

static void add_host(struct table *table, const json_t *host)
{
	const json_t *ports = json_object_get(host, "ports");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		json_t *row = table_row(table);

		row_member(row, host, "name");
		row_member(row, host, "tenant");
		for (size_t column = 2; column < table->column_count; column++)
			row_member(row, port, table->columns[column].key);
	}
}

int cmd_fabric_hosts(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "hosts", COLUMNS(host_columns));
	const json_t *hosts = json_object_get(query->reply, "hosts");

	for (size_t i = 0; i < json_array_size(hosts); i++)
		add_host(table, json_array_get(hosts, i));
	return 0;
}

// --- routes -----------------------------------------------------------------------------------

// "Ethernet4 spine1, Ethernet5 spine2 x2", cut where a cell ends.
static void row_hops(json_t *row, const json_t *route)
{
	const json_t *hops = json_object_get(route, "next_hops");
	char cell[CELL_BYTES];
	size_t len = 0;

	snprintf(cell, sizeof(cell), "%s",
		 strcmp(text_of(route, "kind"), "local") == 0 ? "here" : "no way");
	for (size_t i = 0; i < json_array_size(hops) && len + 1 < sizeof(cell); i++) {
		const json_t *hop = json_array_get(hops, i);
		const json_int_t weight = json_integer_value(json_object_get(hop, "weight"));
		char times[24] = "";

		if (weight != 1)
			snprintf(times, sizeof(times), " x%" JSON_INTEGER_FORMAT, weight);
		len += (size_t)snprintf(cell + len, sizeof(cell) - len, "%s%s %s%s",
					len > 0 ? ", " : "", text_of(hop, "port"),
					text_of(hop, "peer"), times);
	}
	row_text(row, cell);
}

int cmd_fabric_routes(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "routes", COLUMNS(route_columns));
	const json_t *routes = json_object_get(query->reply, "routes");

	for (size_t i = 0; i < json_array_size(routes); i++) {
		const json_t *route = json_array_get(routes, i);
		json_t *row = table_row(table);

		row_member(row, route, "switch");
		row_member(row, route, "to");
		row_member(row, route, "host_ports");
		row_hops(row, route);
	}
	if (json_is_true(json_object_get(query->reply, "cut")))
		table_heading(table, "There are more.");
	return 0;
}

// "leaf1:Ethernet4 lane 0 > spine1:Ethernet0 lane 0".
static void row_path(json_t *row, const json_t *path)
{
	const json_t *hops = json_object_get(path, "hops");
	char cell[CELL_BYTES] = "the same switch";
	size_t len = 0;

	for (size_t i = 0; i < json_array_size(hops) && len + 1 < sizeof(cell); i++) {
		const json_t *hop = json_array_get(hops, i);

		len += (size_t)snprintf(cell + len, sizeof(cell) - len,
					"%s%s lane %" JSON_INTEGER_FORMAT, len > 0 ? " > " : "",
					text_of(hop, "link"),
					json_integer_value(json_object_get(hop, "lane")));
	}
	row_text(row, cell);
}

int cmd_fabric_trace(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "paths", COLUMNS(path_columns));
	const json_t *paths = json_object_get(query->reply, "paths");

	for (size_t i = 0; i < json_array_size(paths); i++) {
		const json_t *path = json_array_get(paths, i);
		json_t *row = table_row(table);
		char share[CELL_BYTES];

		snprintf(share, sizeof(share), "%.2f%%",
			 100 * json_number_value(json_object_get(path, "share")));
		row_text(row, share);
		row_member(row, path, "end");
		row_path(row, path);
		if (strcmp(text_of(path, "end"), "arrives") != 0)
			report->alarm = true;
	}
	if (json_is_true(json_object_get(query->reply, "cut")))
		table_heading(table, "There are more.");
	return 0;
}

static void add_tiers(struct table *table, const json_t *tiers)
{
	for (size_t i = 0; i < json_array_size(tiers); i++) {
		const json_t *tier = json_array_get(tiers, i);
		json_t *row = table_row(table);

		row_member(row, tier, "tier");
		row_member(row, tier, "links");
		row_real(row, tier, "max");
		row_real(row, tier, "avg");
		row_real(row, tier, "max_over_avg");
		row_member(row, tier, "most_loaded");
	}
}

int cmd_fabric_balance(const struct query *query, struct report *report)
{
	struct table *tiers = report_table(report, "tiers", COLUMNS(tier_columns));
	struct table *loads = report_table(report, "most_loaded", COLUMNS(load_columns));
	const json_t *most = json_object_get(query->reply, "most_loaded");

	add_tiers(tiers, json_object_get(query->reply, "tiers"));
	for (size_t i = 0; i < json_array_size(most); i++) {
		const json_t *link = json_array_get(most, i);
		json_t *row = table_row(loads);

		row_real(row, link, "load");
		row_member(row, link, "link");
	}
	return 0;
}
