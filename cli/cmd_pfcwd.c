// SPDX-License-Identifier: BSD-3-Clause
//
// weft show pfcwd config | stats, weft debug storm | big-red: the PFC watchdog in the shapes of the
// field's tools. OK/DROP are frames that passed and that were dropped while an action was applied.

#include "cli/command.h"

#include <inttypes.h>

#include "cli/hooks.h"
#include "cli/keys.h"
#include "cli/ports.h"

static const struct column config_columns[] = {
	{ "PORT", "name", CELL_TEXT },
	{ "ACTION", "action", CELL_TEXT },
	{ "DETECTION TIME", "detection_time_ms", CELL_COUNT },
	{ "RESTORATION TIME", "restoration_time_ms", CELL_COUNT },
	{ "HISTORY", "history", CELL_TEXT },
	{ "QUEUES", "queues", CELL_TEXT },
};

static const struct column stats_columns[] = {
	{ "QUEUE", "queue", CELL_TEXT },
	{ "STATUS", "status", CELL_TEXT },
	{ "STORM DETECTED/RESTORED", "storm_detected_restored", CELL_TEXT },
	{ "TX OK/DROP", "tx_ok_drop", CELL_TEXT },
	{ "RX OK/DROP", "rx_ok_drop", CELL_TEXT },
	{ "TX LAST OK/DROP", "tx_last_ok_drop", CELL_TEXT },
	{ "RX LAST OK/DROP", "rx_last_ok_drop", CELL_TEXT },
};

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value != NULL ? value : "-";
}

static const json_t *watchdog(const json_t *port, size_t queue)
{
	return json_object_get(port_element(port, "queues", queue), "pfc_wd");
}

// Watched queues from `first` on that are configured alike, as "3,4".
static void alike(const json_t *port, size_t first, char out[2 * QUEUE_COUNT])
{
	size_t at = 0;

	for (size_t i = first; i < QUEUE_COUNT; i++) {
		if (!json_equal(watchdog(port, i), watchdog(port, first)))
			continue;
		if (at > 0)
			out[at++] = ',';
		out[at++] = (char)('0' + i);
	}
	out[at] = '\0';
}

static bool seen_before(const json_t *port, size_t queue)
{
	for (size_t i = 0; i < queue; i++) {
		if (json_equal(watchdog(port, i), watchdog(port, queue)))
			return true;
	}
	return false;
}

static void add_config(struct table *table, const json_t *port)
{
	for (size_t i = 0; i < QUEUE_COUNT; i++) {
		const json_t *wd = watchdog(port, i);
		const bool history = json_is_true(json_object_get(port, "pfc_stat_history"));
		char queues[2 * QUEUE_COUNT];
		json_t *row;

		if (wd == NULL || seen_before(port, i))
			continue;
		alike(port, i, queues);
		row = table_row(table);
		row_member(row, port, "name");
		row_text(row, text(wd, "action"));
		row_number(row, number(wd, "detection_time_ns") / 1000000);
		row_number(row, number(wd, "restoration_time_ns") / 1000000);
		row_text(row, history ? "enable" : "disable");
		row_text(row, queues);
	}
}

int cmd_show_pfcwd_config(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "config", COLUMNS(config_columns));
	const json_t *wd = json_object_get(json_object_get(query->reply, "switch"), "pfc_wd");
	const bool red = json_is_true(json_object_get(wd, "big_red_switch"));
	const json_t *port;
	size_t at = 0;

	table_heading(table,
		      "Polling interval %" PRIu64 " ms, threshold %" PRIu64
		      " ppm, big red switch %s",
		      number(wd, "poll_interval_ns") / 1000000, number(wd, "threshold_ppm"),
		      red ? "enable" : "disable");
	while ((port = port_next(query, &at)) != NULL)
		add_config(table, port);
	return 0;
}

static void row_pair(json_t *row, const json_t *stats, const char *first, const char *second)
{
	char pair[48];

	snprintf(pair, sizeof(pair), "%" PRIu64 "/%" PRIu64, number(stats, first),
		 number(stats, second));
	row_text(row, pair);
}

// True when the queue is stormed.
static bool add_stats(struct table *table, const json_t *port, size_t queue)
{
	const json_t *stats = port_element(port, "queues", queue);
	const bool stormed = number(stats, queue_key.pfc_wd_status) != 0;
	json_t *row = table_row(table);
	char name[64];

	snprintf(name, sizeof(name), "%s:%zu", text(port, "name"), queue);
	row_text(row, name);
	row_text(row, stormed ? "stormed" : "operational");
	row_pair(row, stats, queue_key.pfc_wd_deadlock_detected,
		 queue_key.pfc_wd_deadlock_restored);
	row_pair(row, stats, queue_key.pfc_wd_tx_packets, queue_key.pfc_wd_tx_dropped_packets);
	row_pair(row, stats, queue_key.pfc_wd_rx_packets, queue_key.pfc_wd_rx_dropped_packets);
	row_pair(row, stats, queue_key.pfc_wd_tx_packets_last,
		 queue_key.pfc_wd_tx_dropped_packets_last);
	row_pair(row, stats, queue_key.pfc_wd_rx_packets_last,
		 queue_key.pfc_wd_rx_dropped_packets_last);
	return stormed;
}

int cmd_show_pfcwd_stats(const struct query *query, struct report *report)
{
	struct table *table = report_table(report, "stats", COLUMNS(stats_columns));
	bool stormed = false;
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < QUEUE_COUNT; i++)
			stormed |= watchdog(port, i) != NULL && add_stats(table, port, i);
	}
	hooks_add_table(query, report);
	report->alarm = query->check_storm && stormed;
	return 0;
}

// The switch has said what it did.
int cmd_debug(const struct query *query, struct report *report)
{
	static const struct column columns[] = { { "Done", "done", CELL_TEXT } };

	row_member(table_row(report_table(report, "debug", COLUMNS(columns))), query->reply,
		   "done");
	return 0;
}
