// SPDX-License-Identifier: BSD-3-Clause
//
// weft show lldp table, weft show lldp neighbors and weft show dcbx: who is at the other end of a
// link, in the shape of SONiC's commands of these names, and how the two ends differ in what DCBX
// says. Ports without a neighbour have no row in the first two, and our side alone in the third.

#include "cli/command.h"

#include <string.h>

#include "cli/ports.h"

enum { CELL_BYTES = 256, SECONDS_PER_DAY = 86400 };

static const struct column table_columns[] = {
	{ "LocalPort", "name", CELL_TEXT },
	{ "RemoteDevice", "remote_device", CELL_TEXT },
	{ "RemotePortID", "remote_port", CELL_TEXT },
	{ "Capability", "capability", CELL_TEXT },
	{ "RemotePortDescr", "remote_port_description", CELL_TEXT },
};

static const struct column neighbor_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Field", "field", CELL_TEXT },
	{ "Value", "value", CELL_TEXT },
};

static const struct column dcbx_columns[] = {
	{ "Interface", "name", CELL_TEXT }, { "Neighbor", "neighbor", CELL_TEXT },
	{ "What", "topic", CELL_TEXT },     { "Ours", "ours", CELL_TEXT },
	{ "Theirs", "theirs", CELL_TEXT },  { "Differs", "differs", CELL_TEXT },
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

static uint64_t number_of(const json_t *object, const char *key)
{
	const json_int_t number = json_integer_value(json_object_get(object, key));

	return number < 0 ? 0 : (uint64_t)number;
}

// B and R as SONiC shows them, from what is enabled; O for all else.
static void capability_letters(const json_t *neighbor, char out[CELL_BYTES])
{
	const json_t *enabled = json_object_get(neighbor, "enabled");
	bool bridge = false, router = false, other = false;
	size_t at = 0;

	for (size_t i = 0; i < json_array_size(enabled); i++) {
		const char *name = json_string_value(json_array_get(enabled, i));

		if (name == NULL)
			continue;
		bridge |= strcmp(name, "Bridge") == 0;
		router |= strcmp(name, "Router") == 0;
		other |= strcmp(name, "Bridge") != 0 && strcmp(name, "Router") != 0;
	}
	if (bridge)
		out[at++] = 'B';
	if (router)
		out[at++] = 'R';
	if (other)
		out[at++] = 'O';
	out[at] = '\0';
}

static void add_entry(struct table *table, const json_t *port, const json_t *neighbor)
{
	char letters[CELL_BYTES];
	json_t *row = table_row(table);

	capability_letters(neighbor, letters);
	row_member(row, port, "name");
	row_member(row, neighbor, "name");
	row_member(row, neighbor, "port");
	row_text(row, letters);
	row_member(row, neighbor, "port_description");
}

int cmd_show_lldp_table(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "lldp", COLUMNS(table_columns));
	const json_t *port;
	size_t at = 0;

	table_heading(table, "Capability codes: (R) Router, (B) Bridge, (O) Other");
	while ((port = port_next(query, &at)) != NULL) {
		const json_t *list = json_object_get(port, "neighbors");

		for (size_t i = 0; i < json_array_size(list); i++)
			add_entry(table, port, json_array_get(list, i));
	}
	return 0;
}

static void add_field(struct table *table, const json_t *port, const char *field, const char *value)
{
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_text(row, field);
	row_text(row, value);
}

static void add_number(struct table *table, const json_t *port, const json_t *neighbor,
		       const char *field, const char *key)
{
	char cell[CELL_BYTES];

	if (json_object_get(neighbor, key) == NULL)
		return;
	snprintf(cell, sizeof(cell), "%llu", (unsigned long long)number_of(neighbor, key));
	add_field(table, port, field, cell);
}

// "mac 02:00:00:00:00:01".
static void add_id(struct table *table, const json_t *port, const json_t *neighbor,
		   const char *field, const char *kind, const char *key)
{
	char cell[CELL_BYTES];

	snprintf(cell, sizeof(cell), "%s %s", text_of(neighbor, kind), text_of(neighbor, key));
	add_field(table, port, field, cell);
}

static void add_text(struct table *table, const json_t *port, const json_t *neighbor,
		     const char *field, const char *key)
{
	if (text_of(neighbor, key)[0] != '\0')
		add_field(table, port, field, text_of(neighbor, key));
}

static bool has_text(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *word = json_string_value(json_array_get(list, i));

		if (word != NULL && strcmp(word, text) == 0)
			return true;
	}
	return false;
}

static void add_capabilities(struct table *table, const json_t *port, const json_t *neighbor)
{
	const json_t *list = json_object_get(neighbor, "capabilities");
	const json_t *enabled = json_object_get(neighbor, "enabled");
	char cell[CELL_BYTES];

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (name == NULL)
			continue;
		snprintf(cell, sizeof(cell), "%s, %s", name,
			 has_text(enabled, name) ? "on" : "off");
		add_field(table, port, "Capability", cell);
	}
}

static void add_neighbor(struct table *table, const json_t *port, const json_t *neighbor)
{
	const uint64_t age = number_of(neighbor, "age_s");
	char cell[CELL_BYTES];

	snprintf(cell, sizeof(cell), "RID: %llu, Time: %llu day, %02u:%02u:%02u",
		 (unsigned long long)number_of(neighbor, "index"),
		 (unsigned long long)(age / SECONDS_PER_DAY),
		 (unsigned int)(age % SECONDS_PER_DAY / 3600), (unsigned int)(age % 3600 / 60),
		 (unsigned int)(age % 60));
	add_field(table, port, "via LLDP", cell);
	add_id(table, port, neighbor, "ChassisID", "chassis_kind", "chassis");
	add_text(table, port, neighbor, "SysName", "system_name");
	add_text(table, port, neighbor, "SysDescr", "system_description");
	add_number(table, port, neighbor, "TTL", "ttl_s");
	add_text(table, port, neighbor, "MgmtIP", "management_address");
	add_capabilities(table, port, neighbor);
	add_id(table, port, neighbor, "PortID", "port_kind", "port");
	add_text(table, port, neighbor, "PortDescr", "port_description");
	add_number(table, port, neighbor, "MFS", "max_frame_bytes");
	add_number(table, port, neighbor, "PVID", "pvid");
}

int cmd_show_lldp_neighbors(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "neighbors", COLUMNS(neighbor_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		const json_t *list = json_object_get(port, "neighbors");

		for (size_t i = 0; i < json_array_size(list); i++)
			add_neighbor(table, port, json_array_get(list, i));
	}
	return 0;
}

// Of a neighbour, or of the port when it has none.
static void add_comparison(struct table *table, const json_t *port, const json_t *neighbor)
{
	const json_t *list = json_object_get(neighbor != NULL ? neighbor : port, "comparison");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *line = json_array_get(list, i);
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_member(row, neighbor, "name");
		row_member(row, line, "topic");
		row_member(row, line, "ours");
		row_member(row, line, "theirs");
		row_member(row, line, "differs");
	}
}

int cmd_show_dcbx(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "dcbx", COLUMNS(dcbx_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		const json_t *list = json_object_get(port, "neighbors");

		for (size_t i = 0; i < json_array_size(list); i++)
			add_comparison(table, port, json_array_get(list, i));
		if (json_array_size(list) == 0)
			add_comparison(table, port, NULL);
	}
	return 0;
}
