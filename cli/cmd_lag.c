// SPDX-License-Identifier: BSD-3-Clause
//
// weft show lag: LAGs and which of their ports are in use, in the shape of SONiC's show interfaces
// portchannel, and for each port with LACP what its machine and its partner say.

#include "cli/command.h"

#include <ctype.h>
#include <string.h>

static const struct column lag_columns[] = {
	{ "No.", "number", CELL_TEXT },
	{ "Team Dev", "name", CELL_TEXT },
	{ "Protocol", "protocol", CELL_TEXT },
	{ "Ports", "ports", CELL_TEXT },
};

static const struct column member_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "Receive", "receive", CELL_TEXT },
	{ "Mux", "mux", CELL_TEXT },
	{ "Partner", "partner_system", CELL_TEXT },
	{ "Key", "partner_key", CELL_COUNT },
	{ "Partner port", "partner_port", CELL_COUNT },
	{ "RX/pdus", "lacp_rx_pdus", CELL_COUNT },
	{ "TX/pdus", "lacp_tx_pdus", CELL_COUNT },
};

enum { CELL_BYTES = 512 };

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "-" : text;
}

static bool is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

// The digits at the end of a name: PortChannel12 is number 12.
static const char *number_of(const char *name)
{
	const char *at = name + strlen(name);

	while (at > name && isdigit((unsigned char)at[-1]))
		at--;
	return *at == '\0' ? "-" : at;
}

static void ports_of(const json_t *members, char out[CELL_BYTES])
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < json_array_size(members) && used < CELL_BYTES; i++) {
		const json_t *member = json_array_get(members, i);

		used += (size_t)snprintf(out + used, CELL_BYTES - used, "%s%s(%c)",
					 i == 0 ? "" : " ", text_of(member, "name"),
					 is_true(member, "selected") ? 'S' : 'D');
	}
}

static void add_members(struct table *table, const json_t *members)
{
	for (size_t i = 0; i < json_array_size(members); i++) {
		const json_t *member = json_array_get(members, i);
		json_t *row;

		if (json_object_get(member, "mux") == NULL)
			continue;
		row = table_row(table);
		for (uint32_t k = 0; k < table->column_count; k++)
			row_member(row, member, table->columns[k].key);
	}
}

static void add_lag(struct table *table, const json_t *lag)
{
	const bool lacp = strcmp(text_of(lag, "mode"), "lacp") == 0;
	char cell[CELL_BYTES];
	json_t *row = table_row(table);

	row_text(row, number_of(text_of(lag, "name")));
	row_text(row, text_of(lag, "name"));
	snprintf(cell, sizeof(cell), "%s(A)(%s)", lacp ? "LACP" : "STATIC",
		 is_true(lag, "up") ? "Up" : "Dw");
	row_text(row, cell);
	ports_of(json_object_get(lag, "members"), cell);
	row_text(row, cell);
}

int cmd_show_lag(const struct query *query, struct report *report)
{
	struct table *lags = report_table(report, "lags", COLUMNS(lag_columns));
	struct table *members = report_table(report, "members", COLUMNS(member_columns));
	const json_t *list = json_object_get(query->reply, "lags");

	table_heading(lags, "Flags: A - active, Up - up, Dw - down, S - selected, D - deselected");
	for (size_t i = 0; i < json_array_size(list); i++) {
		add_lag(lags, json_array_get(list, i));
		add_members(members, json_object_get(json_array_get(list, i), "members"));
	}
	return 0;
}
