// SPDX-License-Identifier: BSD-3-Clause
//
// weft show route | group | arp | switch-hash | turns: what the switch forwards by, besides the
// addresses that its bridge has learned (weft show mac).

#include "cli/command.h"

static const struct column route_columns[] = {
	{ "Prefix", "prefix", CELL_TEXT },
	{ "Type", "type", CELL_TEXT },
	{ "Vlan", "vlan", CELL_TEXT },
	{ "MacAddress", "mac", CELL_TEXT },
	{ "Usable", "usable_members", CELL_COUNT },
	{ "Members", "members", CELL_COUNT },
	{ "Via", "via", CELL_TEXT },
};

static const struct column group_columns[] = {
	{ "Group", "group", CELL_TEXT },
	{ "Usable", "usable_members", CELL_COUNT },
	{ "Members", "members", CELL_COUNT },
	{ "Buckets", "buckets", CELL_COUNT },
};

static const struct column member_columns[] = {
	{ "Group", "group", CELL_TEXT },    { "NextHop", "address", CELL_TEXT },
	{ "Port", "port", CELL_TEXT },      { "Vlan", "vlan", CELL_TEXT },
	{ "MacAddress", "mac", CELL_TEXT }, { "Weight", "weight", CELL_COUNT },
	{ "Bank", "bank", CELL_COUNT },     { "Buckets", "buckets", CELL_COUNT },
	{ "State", "state", CELL_TEXT },
};

static const struct column arp_columns[] = {
	{ "Address", "address", CELL_TEXT }, { "MacAddress", "mac", CELL_TEXT },
	{ "Iface", "port", CELL_TEXT },      { "Vlan", "vlan", CELL_TEXT },
	{ "Type", "type", CELL_TEXT },       { "State", "state", CELL_TEXT },
	{ "Heard", "age_ns", CELL_TIME },
};

static const struct column hash_columns[] = {
	{ "Hash", "hash", CELL_TEXT },           { "Algorithm", "algorithm", CELL_TEXT },
	{ "Seed", "seed", CELL_TEXT },           { "Offset", "offset", CELL_TEXT },
	{ "Symmetric", "symmetric", CELL_TEXT },
};

static const struct column field_columns[] = { { "Hash field", "field", CELL_TEXT } };
static const struct column algorithm_columns[] = { { "Algorithm", "algorithm", CELL_TEXT } };

static const struct column limit_columns[] = {
	{ "Largest seed", "seed_max", CELL_TEXT },
	{ "Largest offset", "offset_max", CELL_TEXT },
};

static const struct column turn_columns[] = {
	{ "In", "in", CELL_TEXT },
	{ "Out", "out", CELL_TEXT },
	{ "Lane", "lane", CELL_TEXT },
	{ "To lane", "to", CELL_TEXT },
};

static void add_one(struct table *table, const json_t *object)
{
	json_t *row = table_row(table);

	for (uint32_t i = 0; i < table->column_count; i++)
		row_member(row, object, table->columns[i].key);
}

// A row of one cell per value of a list.
static void add_values(struct table *table, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		json_array_append(table_row(table), json_array_get(list, i));
}

int cmd_show_route(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "routes", COLUMNS(route_columns));

	table_add_list(table, json_object_get(query->reply, "routes"));
	return 0;
}

int cmd_show_group(const struct query *query, struct report *report)
{
	struct table *groups = report_table(report, "groups", COLUMNS(group_columns));
	struct table *members = report_table(report, "members", COLUMNS(member_columns));

	table_add_list(groups, json_object_get(query->reply, "groups"));
	table_add_list(members, json_object_get(query->reply, "members"));
	return 0;
}

int cmd_show_arp(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "neighbors", COLUMNS(arp_columns));

	table_add_list(table, json_object_get(query->reply, "neighbors"));
	return 0;
}

int cmd_show_hash(const struct query *query, struct report *report)
{
	struct table *hash = report_table(report, "hash", COLUMNS(hash_columns));
	struct table *fields = report_table(report, "fields", COLUMNS(field_columns));
	const json_t *ecmp = json_object_get(query->reply, "ecmp");

	add_one(hash, ecmp);
	add_values(fields, json_object_get(ecmp, "fields"));
	return 0;
}

int cmd_show_hash_capabilities(const struct query *query, struct report *report)
{
	struct table *limits = report_table(report, "limits", COLUMNS(limit_columns));
	struct table *algorithms = report_table(report, "algorithms", COLUMNS(algorithm_columns));
	struct table *fields = report_table(report, "fields", COLUMNS(field_columns));
	const json_t *can = json_object_get(query->reply, "capabilities");

	add_one(limits, can);
	add_values(algorithms, json_object_get(can, "algorithms"));
	add_values(fields, json_object_get(can, "fields"));
	return 0;
}

int cmd_show_turns(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "turns", COLUMNS(turn_columns));

	if (json_is_false(json_object_get(query->reply, "judged")))
		table_heading(table, "No turn map: every turn is allowed.");
	table_add_list(table, json_object_get(query->reply, "turns"));
	return 0;
}
