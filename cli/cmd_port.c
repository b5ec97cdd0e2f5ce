// SPDX-License-Identifier: BSD-3-Clause
//
// weft show interface status | counters | description | pfc: ports in the columns of SONiC's show
// interfaces. RX_ERR are frames that are no valid frames, TX_ERR those that the device refused;
// both are drops too, and the column of drops has the rest. Rates are of the moment: two looks.

#include "cli/command.h"

#include <string.h>

#include "cli/keys.h"
#include "cli/ports.h"
#include "cli/rate.h"
#include "cli/reasons.h"

static const struct column status_columns[] = {
	{ "Interface", "name", CELL_TEXT },    { "Speed", "speed_bps", CELL_RATE },
	{ "MTU", "mtu", CELL_TEXT },           { "Alias", "alias", CELL_TEXT },
	{ "Vlan", "vlan", CELL_TEXT },         { "Oper", "oper", CELL_TEXT },
	{ "Admin", "admin", CELL_TEXT },       { "Type", "type", CELL_TEXT },
	{ "Asym PFC", "asym_pfc", CELL_TEXT },
};

static const struct column counter_columns[] = {
	{ "IFACE", "name", CELL_TEXT },
	{ "STATE", "state", CELL_TEXT },
	{ "RX_OK", "rx_packets", CELL_COUNT },
	{ "RX_BPS", "rx_bps", CELL_SPEED },
	{ "RX_UTIL", "rx_share_ppm", CELL_SHARE },
	{ "RX_ERR", "rx_error_packets", CELL_COUNT },
	{ "RX_DRP", "rx_dropped_packets", CELL_COUNT },
	{ "RX_OVR", "rx_lost_packets", CELL_COUNT },
	{ "TX_OK", "tx_packets", CELL_COUNT },
	{ "TX_BPS", "tx_bps", CELL_SPEED },
	{ "TX_UTIL", "tx_share_ppm", CELL_SHARE },
	{ "TX_ERR", "tx_error_packets", CELL_COUNT },
	{ "TX_DRP", "tx_dropped_packets", CELL_COUNT },
	{ "TX_OVR", "tx_lost_packets", CELL_COUNT },
};

static const struct column description_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Oper", "oper", CELL_TEXT },
	{ "Admin", "admin", CELL_TEXT },
	{ "Alias", "alias", CELL_TEXT },
	{ "Description", "description", CELL_TEXT },
};

static const struct column pfc_columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Lossless priorities", "pfc_enable", CELL_TEXT },
	{ "Asymmetric", "pfc_asymmetric", CELL_TEXT },
	{ "Pause", "pause", CELL_TEXT },
	{ "PFC", "pfc_path", CELL_TEXT },
	{ "Groups in XOFF", "xoff", CELL_TEXT },
	{ "Paused by peer", "paused", CELL_TEXT },
	{ "Why", "why", CELL_TEXT },
};

static const enum reason_id bad_frames[] = {
	REASON_PARSE_TRUNCATED, REASON_PARSE_LENGTH,    REASON_PARSE_HEADER,
	REASON_PARSE_TAGS,      REASON_FRAME_OVERSIZE,  REASON_PFC_MALFORMED,
	REASON_SRC_MAC_INVALID, REASON_HELLO_MALFORMED, REASON_LACP_MALFORMED,
};

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *up(const json_t *port, const char *key)
{
	return json_is_true(json_object_get(port, key)) ? "up" : "down";
}

static const char *oper(const json_t *port)
{
	return json_is_false(json_object_get(port, "present")) ? "absent" : up(port, "link");
}

// How a port belongs to a VLAN, NULL: it does not.
static const char *tagging_of(const json_t *vlan, const json_t *name)
{
	const json_t *members = json_object_get(vlan, "members");

	for (size_t i = 0; i < json_array_size(members); i++) {
		const json_t *member = json_array_get(members, i);

		if (json_equal(json_object_get(member, "name"), name))
			return json_string_value(json_object_get(member, "tagging"));
	}
	return NULL;
}

// The VLAN of untagged frames, and "trunk" for a port that carries tags only.
static void row_vlan(json_t *row, const struct query *query, const json_t *port)
{
	const json_t *vlans = json_object_get(query->also, "vlans");
	const json_t *name = json_object_get(port, "name");
	bool member = false;

	for (size_t i = 0; i < json_array_size(vlans); i++) {
		const json_t *vlan = json_array_get(vlans, i);
		const char *tagging = tagging_of(vlan, name);

		member |= tagging != NULL;
		if (tagging != NULL && strcmp(tagging, "untagged") == 0) {
			row_member(row, vlan, "vlan");
			return;
		}
	}
	if (member)
		row_text(row, "trunk");
	else
		json_array_append_new(row, json_null());
}

int cmd_show_interface_status(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "interfaces", COLUMNS(status_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_member(row, port, "speed_bps");
		row_member(row, port, "mtu");
		row_member(row, port, "alias");
		row_vlan(row, query, port);
		row_text(row, oper(port));
		row_text(row, up(port, "admin"));
		row_member(row, port, "driver");
		row_text(row, json_is_true(json_object_get(port, "pfc_asymmetric")) ? "on" : "off");
	}
	return 0;
}

static uint64_t sum_drops(const json_t *port, const enum reason_id *ids, size_t count)
{
	const json_t *drops = json_object_get(port, "drops");
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += number(drops, reasons[ids[i]].name);
	return sum;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

// Rate and share of the line of one direction, null where they cannot be said.
static void row_rate(json_t *row, const struct query *query, const json_t *port, const char *key)
{
	const uint64_t elapsed = rate_elapsed_ns(query->before, query->reply);
	const json_t *before = rate_same_port(query->before, port);
	const uint64_t speed = number(port, "speed_bps");
	uint64_t bytes, bps;

	if (elapsed == 0 || !rate_difference(json_object_get(before, "stats"),
					     json_object_get(port, "stats"), key, &bytes)) {
		json_array_append_new(row, json_null());
		json_array_append_new(row, json_null());
		return;
	}
	bps = rate_per_second(bytes, 8, elapsed);
	row_number(row, bps);
	if (speed > 0)
		row_number(row, rate_share_ppm(bps, speed));
	else
		json_array_append_new(row, json_null());
}

static const char *state_letter(const json_t *port)
{
	if (!json_is_true(json_object_get(port, "admin")))
		return "X";
	return json_is_true(json_object_get(port, "link")) ? "U" : "D";
}

static void add_counters(struct table *table, const struct query *query, const json_t *port)
{
	static const enum reason_id refused[] = { REASON_TX_REFUSED };
	const json_t *stats = json_object_get(port, "stats");
	const uint64_t bad = sum_drops(port, bad_frames,
				       sizeof(bad_frames) / sizeof(bad_frames[0]));
	const uint64_t unsent = sum_drops(port, refused, 1);
	json_t *row = table_row(table);

	row_member(row, port, "name");
	row_text(row, state_letter(port));
	row_number(row, number(stats, port_key.if_in_ucast_pkts) +
				number(stats, port_key.if_in_non_ucast_pkts));
	row_rate(row, query, port, port_key.if_in_octets);
	row_number(row, bad);
	row_number(row, minus(number(stats, port_key.in_dropped_pkts), bad));
	row_number(row, number(stats, port_key.rx_no_buffer) + number(stats, port_key.rx_missed));
	row_number(row, number(stats, port_key.if_out_ucast_pkts) +
				number(stats, port_key.if_out_non_ucast_pkts));
	row_rate(row, query, port, port_key.if_out_octets);
	row_number(row, unsent);
	row_number(row, minus(number(stats, port_key.out_dropped_pkts), unsent));
	// What the switch hands over, the device takes or refuses: nothing counts more.
	json_array_append_new(row, json_null());
}

int cmd_show_interface_counters(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "counters", COLUMNS(counter_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL)
		add_counters(table, query, port);
	return 0;
}

int cmd_show_interface_description(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "interfaces", COLUMNS(description_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_text(row, oper(port));
		row_text(row, up(port, "admin"));
		row_member(row, port, "alias");
		row_member(row, port, "devargs");
	}
	return 0;
}

// Priorities whose objects in a list have a number other than 0, as "3,4".
static void row_priorities(json_t *row, const json_t *port, const char *list, const char *key)
{
	char text[2 * PRIO_COUNT + 1] = "";
	size_t len = 0;

	for (size_t i = 0; i < PRIO_COUNT; i++) {
		if (number(port_element(port, list, i), key) == 0)
			continue;
		if (len > 0)
			text[len++] = ',';
		text[len++] = (char)('0' + i);
	}
	text[len] = '\0';
	row_text(row, len > 0 ? text : "-");
}

int cmd_show_interface_pfc(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "pfc", COLUMNS(pfc_columns));
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		const char *why = json_string_value(json_object_get(port, "pfc_path_reason"));
		json_t *row = table_row(table);

		row_member(row, port, "name");
		row_mask(row, port, "pfc_enable");
		row_text(row, json_is_true(json_object_get(port, "pfc_asymmetric")) ? "on" : "off");
		row_member(row, port, "pause");
		row_member(row, port, "pfc_path");
		row_priorities(row, port, "priority_groups", pg_key.xoff_state);
		row_priorities(row, port, "priorities", prio_key.rx_paused);
		row_text(row, why != NULL && why[0] != '\0' ? why : "-");
	}
	return 0;
}
