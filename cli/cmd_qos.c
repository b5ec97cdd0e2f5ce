// SPDX-License-Identifier: BSD-3-Clause
//
// weft show ecn | mmu | buffer configuration | buffer information | qos maps | scheduler | vlan:
// what is configured by name, as blocks in the shape of ecnconfig and mmuconfig, and where it is
// in use.

#include "cli/command.h"

#include <stdio.h>

#include "cli/ports.h"

static const struct column pool_columns[] = {
	{ "Pool", "name", CELL_TEXT }, { "mode", "mode", CELL_TEXT }, { "size", "size", CELL_TEXT },
	{ "type", "type", CELL_TEXT }, { "xoff", "xoff", CELL_TEXT },
};

// As in use: what reserves leave, and the headroom pool.
static const struct column used_pool_columns[] = {
	{ "Pool", "name", CELL_TEXT },           { "size", "size_bytes", CELL_TEXT },
	{ "type", "type", CELL_TEXT },           { "shared", "shared_bytes", CELL_TEXT },
	{ "xoff", "headroom_bytes", CELL_TEXT },
};

static const struct column profile_columns[] = {
	{ "Profile", "name", CELL_TEXT },
	{ "dynamic_th", "dynamic_th", CELL_TEXT },
	{ "static_th", "static_th", CELL_TEXT },
	{ "pool", "pool", CELL_TEXT },
	{ "size", "size", CELL_TEXT },
	{ "xoff", "xoff", CELL_TEXT },
	{ "xon", "xon", CELL_TEXT },
	{ "xon_offset", "xon_offset", CELL_TEXT },
};

static const struct column wred_columns[] = {
	{ "Profile", "name", CELL_TEXT },
	{ "ecn", "ecn", CELL_TEXT },
	{ "mark_at", "mark_at", CELL_TEXT },
	{ "wred_green_enable", "wred_green_enable", CELL_TEXT },
	{ "green_min_threshold", "green_min_threshold", CELL_TEXT },
	{ "green_max_threshold", "green_max_threshold", CELL_TEXT },
	{ "green_drop_probability", "green_drop_probability", CELL_SHARE },
	{ "green_ect_min_threshold", "green_ect_min_threshold", CELL_TEXT },
	{ "green_ect_max_threshold", "green_ect_max_threshold", CELL_TEXT },
	{ "green_ect_mark_probability", "green_ect_mark_probability", CELL_SHARE },
};

static const struct column ecn_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "TxQ", "queue", CELL_TEXT },
	{ "Profile", "wred_profile", CELL_TEXT },
	{ "ECN", "ecn", CELL_TEXT },
	{ "Kmin", "min_bytes", CELL_COUNT },
	{ "Kmax", "max_bytes", CELL_COUNT },
	{ "Pmax", "probability_ppm", CELL_SHARE },
	{ "WRED", "wred", CELL_TEXT },
};

static const struct column map_columns[] = {
	{ "Type", "type", CELL_TEXT },
	{ "Name", "name", CELL_TEXT },
	{ "Map", "map", CELL_TEXT },
};

static const struct column port_map_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "Trust", "trust", CELL_TEXT },
	{ "dscp_to_tc", "dscp_to_tc", CELL_TEXT },
	{ "dot1p_to_tc", "dot1p_to_tc", CELL_TEXT },
	{ "ethertype_to_tc", "ethertype_to_tc", CELL_TEXT },
	{ "tc_to_queue", "tc_to_queue", CELL_TEXT },
	{ "tc_to_pg", "tc_to_pg", CELL_TEXT },
	{ "pfc_to_queue", "pfc_to_queue", CELL_TEXT },
	{ "pfc_to_pg", "pfc_to_pg", CELL_TEXT },
};

static const struct column scheduler_columns[] = {
	{ "Scheduler", "name", CELL_TEXT },
	{ "Type", "type", CELL_TEXT },
	{ "Weight", "weight", CELL_COUNT },
	{ "PIR", "pir", CELL_RATE },
};

static const struct column queue_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "TxQ", "queue", CELL_TEXT },
	{ "Scheduler", "scheduler", CELL_TEXT },
	{ "Type", "type", CELL_TEXT },
	{ "Round/bytes", "weight_bytes", CELL_COUNT },
	{ "PIR", "pir_bps", CELL_RATE },
};

static const struct column vlan_columns[] = {
	{ "VLAN ID", "vlan", CELL_TEXT },
	{ "IP Address", "address", CELL_TEXT },
	{ "Ports", "name", CELL_TEXT },
	{ "Port Tagging", "tagging", CELL_TEXT },
};

static const json_t *table_of(const struct query *query, const char *name)
{
	const json_t *qos = query->also != NULL ? query->also : query->reply;

	return json_object_get(json_object_get(qos, "tables"), name);
}

static struct table *blocks(struct report *report, const char *key, const struct column *columns,
			    uint32_t count, const json_t *rows)
{
	struct table *table = report_table(report, key, columns, count);

	table->blocks = true;
	table_add_list(table, rows);
	return table;
}

int cmd_show_mmu(const struct query *query, struct report *report)
{
	blocks(report, "pools", COLUMNS(pool_columns), table_of(query, "buffer_pool"));
	blocks(report, "profiles", COLUMNS(profile_columns), table_of(query, "buffer_profile"));
	return 0;
}

int cmd_show_buffer_information(const struct query *query, struct report *report)
{
	blocks(report, "pools", COLUMNS(used_pool_columns), json_object_get(query->reply, "pools"));
	blocks(report, "profiles", COLUMNS(profile_columns), table_of(query, "buffer_profile"));
	return 0;
}

// What /v1/qos says of a queue of a port.
static const json_t *names_of(const struct query *query, const json_t *port, size_t queue)
{
	const json_t *ports = json_object_get(query->also, "ports");
	const json_t *name = json_object_get(port, "name");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *one = json_array_get(ports, i);

		if (json_equal(json_object_get(one, "name"), name))
			return port_element(one, "queues", queue);
	}
	return NULL;
}

static void row_queue(json_t *row, const json_t *port, size_t queue)
{
	char name[16];

	snprintf(name, sizeof(name), "UC%zu", queue);
	row_member(row, port, "name");
	row_text(row, name);
}

// Queues that mark or drop by a curve.
static void add_ecn(struct table *table, const struct query *query, const json_t *port, size_t at)
{
	const json_t *queue = port_element(port, "queues", at);
	const json_t *ecn = json_object_get(queue, "ecn");
	const json_t *wred = json_object_get(queue, "wred");
	const json_t *curve = ecn != NULL ? ecn : wred;
	json_t *row;

	if (curve == NULL)
		return;
	row = table_row(table);
	row_queue(row, port, at);
	row_member(row, names_of(query, port, at), "wred_profile");
	row_text(row, ecn != NULL ? "on" : "off");
	for (size_t i = 4; i < 7; i++)
		row_member(row, curve, table->columns[i].key);
	row_text(row, wred != NULL ? "on" : "off");
}

int cmd_show_ecn(const struct query *query, struct report *report)
{
	struct table *queues;
	const json_t *port;
	size_t at = 0;

	blocks(report, "profiles", COLUMNS(wred_columns), table_of(query, "wred_profile"));
	queues = report_table(report, "queues", COLUMNS(ecn_columns));
	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < QUEUE_COUNT; i++)
			add_ecn(queues, query, port, i);
	}
	return 0;
}

int cmd_show_qos_maps(const struct query *query, struct report *report)
{
	struct table *maps = report_table(report, "maps", COLUMNS(map_columns));
	struct table *ports = report_table(report, "ports", COLUMNS(port_map_columns));
	const json_t *port;
	size_t at = 0;

	table_add_list(maps, json_object_get(query->reply, "maps"));
	while ((port = port_next(query, &at)) != NULL) {
		json_t *row = table_row(ports);

		row_member(row, port, "name");
		row_member(row, port, "trust");
		for (uint32_t i = 2; i < ports->column_count; i++)
			row_member(row, json_object_get(port, "maps"), ports->columns[i].key);
	}
	return 0;
}

static void add_scheduled(struct table *table, const struct query *query, const json_t *port,
			  size_t at)
{
	const json_t *queue = port_element(port, "queues", at);
	const bool strict = json_is_true(json_object_get(queue, "strict"));
	const json_t *pir = json_object_get(queue, "pir_bps");
	json_t *row = table_row(table);

	row_queue(row, port, at);
	row_member(row, names_of(query, port, at), "scheduler");
	row_text(row, strict ? "STRICT" : "DWRR");
	row_member(row, strict ? NULL : queue, "weight_bytes");
	row_member(row, json_integer_value(pir) > 0 ? queue : NULL, "pir_bps");
}

int cmd_show_scheduler(const struct query *query, struct report *report)
{
	struct table *schedulers = report_table(report, "schedulers", COLUMNS(scheduler_columns));
	struct table *queues = report_table(report, "queues", COLUMNS(queue_columns));
	const json_t *port;
	size_t at = 0;

	table_add_list(schedulers, table_of(query, "scheduler"));
	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < QUEUE_COUNT; i++)
			add_scheduled(queues, query, port, i);
	}
	return 0;
}

// The addresses of a VLAN, with spaces between them.
static void row_addresses(json_t *row, const struct query *query, const json_t *vlan)
{
	const json_t *rows = table_of(query, "interface");
	char text[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < json_array_size(rows) && len < sizeof(text); i++) {
		const json_t *one = json_array_get(rows, i);
		const char *address = json_string_value(json_object_get(one, "address"));

		if (address != NULL &&
		    json_equal(json_object_get(one, "vlan"), json_object_get(vlan, "vlan")))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len > 0 ? " " : "", address);
	}
	row_text(row, len > 0 ? text : "-");
}

// `member` NULL: the VLAN has none.
static void add_member(struct table *table, const struct query *query, const json_t *vlan,
		       const json_t *member)
{
	json_t *row = table_row(table);

	row_member(row, vlan, "vlan");
	row_addresses(row, query, vlan);
	row_member(row, member, "name");
	row_member(row, member, "tagging");
}

int cmd_show_vlan(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "vlans", COLUMNS(vlan_columns));
	const json_t *vlans = json_object_get(query->reply, "vlans");

	for (size_t i = 0; i < json_array_size(vlans); i++) {
		const json_t *vlan = json_array_get(vlans, i);
		const json_t *members = json_object_get(vlan, "members");

		if (json_array_size(members) == 0)
			add_member(table, query, vlan, NULL);
		for (size_t k = 0; k < json_array_size(members); k++)
			add_member(table, query, vlan, json_array_get(members, k));
	}
	return 0;
}
