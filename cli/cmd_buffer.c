// SPDX-License-Identifier: BSD-3-Clause
//
// weft show buffer, buffer_pool watermark and headroom-pool watermark: what pools and lossless
// priority groups hold now, their highest use, and the sizes they were given. Headroom is on top
// of a pool's occupancy, never in it.

#include "cli/command.h"
#include "cli/keys.h"
#include "cli/ports.h"

static const struct column pool_columns[] = {
	{ "Pool", "name", CELL_TEXT },
	{ "Type", "type", CELL_TEXT },
	{ "Size", "size_bytes", CELL_COUNT },
	{ "Used", "curr_occupancy_bytes", CELL_COUNT },
	{ "Used max", "watermark_bytes", CELL_COUNT },
	{ "Shared", "shared_curr_occupancy_bytes", CELL_COUNT },
	{ "Headroom pool", "headroom_bytes", CELL_COUNT },
	{ "Headroom", "xoff_room_curr_occupancy_bytes", CELL_COUNT },
	{ "Headroom max", "xoff_room_watermark_bytes", CELL_COUNT },
	{ "Drop/pkts", "dropped_packets", CELL_COUNT },
};

static const struct column pg_columns[] = {
	{ "Port", "name", CELL_TEXT },
	{ "PG", "pg", CELL_COUNT },
	{ "Pool", "pool", CELL_TEXT },
	{ "Reserved", "reserved_bytes", CELL_COUNT },
	{ "Xoff", "xoff_bytes", CELL_COUNT },
	{ "Xon", "xon_bytes", CELL_COUNT },
	{ "Limit now", "xoff_threshold_bytes", CELL_COUNT },
	{ "Used", "curr_occupancy_bytes", CELL_COUNT },
	{ "Used max", "watermark_bytes", CELL_COUNT },
	{ "Headroom", "xoff_room_curr_occupancy_bytes", CELL_COUNT },
	{ "Headroom max", "xoff_room_watermark_bytes", CELL_COUNT },
	{ "In XOFF", "xoff_state", CELL_COUNT },
	{ "XOFFs", "xoff_events", CELL_COUNT },
};

static void add_pool(struct table *table, const json_t *pool)
{
	json_t *row = table_row(table);

	row_member(row, pool, "name");
	row_member(row, pool, "type");
	row_member(row, pool, "size_bytes");
	row_member(row, pool, pool_key.curr_occupancy_bytes);
	row_member(row, pool, pool_key.watermark_bytes);
	row_member(row, pool, pool_key.shared_curr_occupancy_bytes);
	row_member(row, pool, "headroom_bytes");
	row_member(row, pool, pool_key.xoff_room_curr_occupancy_bytes);
	row_member(row, pool, pool_key.xoff_room_watermark_bytes);
	row_member(row, pool, pool_key.dropped_packets);
}

static void add_pg(struct table *table, const json_t *port, size_t at)
{
	const json_t *pg = port_element(port, "priority_groups", at);
	json_t *row;

	if (!json_is_true(json_object_get(pg, "lossless")))
		return;
	row = table_row(table);
	row_member(row, port, "name");
	row_number(row, at);
	row_member(row, pg, "pool");
	row_member(row, pg, "reserved_bytes");
	row_member(row, pg, "xoff_bytes");
	row_member(row, pg, "xon_bytes");
	row_member(row, pg, pg_key.xoff_threshold_bytes);
	row_member(row, pg, pg_key.curr_occupancy_bytes);
	row_member(row, pg, pg_key.watermark_bytes);
	row_member(row, pg, pg_key.xoff_room_curr_occupancy_bytes);
	row_member(row, pg, pg_key.xoff_room_watermark_bytes);
	row_member(row, pg, pg_key.xoff_state);
	row_member(row, pg, pg_key.xoff_events);
}

int cmd_show_buffer(const struct query *query, struct report *report)
{
	struct table *pools = report_table(report, "pools", COLUMNS(pool_columns));
	struct table *pgs = report_table(report, "priority_groups", COLUMNS(pg_columns));
	const json_t *list = json_object_get(query->reply, "pools");
	const json_t *port;
	size_t at = 0;

	table_heading(pools, "Pools, bytes (maxima: %s):", query->kind);
	table_heading(pgs, "Lossless priority groups, bytes (maxima: %s):", query->kind);
	for (size_t i = 0; i < json_array_size(list); i++)
		add_pool(pools, json_array_get(list, i));
	while ((port = port_next(query, &at)) != NULL) {
		for (size_t i = 0; i < PG_COUNT; i++)
			add_pg(pgs, port, i);
	}
	return 0;
}

static int show_pools(const struct query *query, struct report *report, bool headroom)
{
	static const struct column columns[] = {
		{ "Pool", "name", CELL_TEXT },
		{ "Bytes", "bytes", CELL_COUNT },
	};
	const char *key = headroom ? pool_key.xoff_room_watermark_bytes : pool_key.watermark_bytes;
	struct table *table = report_table(report, "pools", COLUMNS(columns));
	const json_t *list = json_object_get(query->reply, "pools");

	table_heading(table,
		      headroom ? "Headroom pool maximum occupancy (%s):" :
				 "Pool maximum occupancy, reserved and shared (%s):",
		      query->kind);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *pool = json_array_get(list, i);
		const char *type = json_string_value(json_object_get(pool, "type"));
		json_t *row;

		if (headroom && (type == NULL || type[0] != 'i'))
			continue;
		row = table_row(table);
		row_member(row, pool, "name");
		row_member(row, pool, key);
	}
	return 0;
}

int cmd_show_pool_watermark(const struct query *query, struct report *report)
{
	return show_pools(query, report, false);
}

int cmd_show_headroom_watermark(const struct query *query, struct report *report)
{
	return show_pools(query, report, true);
}
