// SPDX-License-Identifier: BSD-3-Clause
//
// The QoS part of weft plan: which priority is for what, and per kind of port the bytes that
// lossless traffic needs. In JSON both are lists of the same columns.

#include "cli/plan_show.h"

#include "base/units.h"

static const struct column prio_columns[] = {
	{ "Priority", "priority", CELL_COUNT },
	{ "Use", "use", CELL_TEXT },
	{ "Lane", "lane", CELL_COUNT },
	{ "Share", "share_ppm", CELL_SHARE },
	{ "ECN", "ecn", CELL_TEXT },
	{ "DSCP", "dscp", CELL_TEXT },
};

static const struct column port_columns[] = {
	{ "Ports", "ports", CELL_COUNT },
	{ "Speed", "speed_bps", CELL_RATE },
	{ "Cable mm", "length_mm", CELL_COUNT },
	{ "Headroom", "headroom_bytes", CELL_COUNT },
	{ "ECN min", "ecn_min_bytes", CELL_COUNT },
	{ "ECN max", "ecn_max_bytes", CELL_COUNT },
	{ "To", "to", CELL_TEXT },
};

// "26, 46", in `out` of `bytes`.
static const char *dscp_text(uint64_t mask, size_t bytes, char *out)
{
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < 64 && len < bytes; i++) {
		if ((mask >> i & 1) != 0)
			len += (size_t)snprintf(out + len, bytes - len, "%s%u", len > 0 ? ", " : "",
						i);
	}
	return out;
}

static void add_prio(const struct plan_work *work, uint32_t at, struct table *table)
{
	const struct qos_prio *prio = &work->qos.prio[at];
	const bool is_class = prio->class < work->qos_options.class_count;
	const struct qos_class *class = &work->qos_options.class[is_class ? prio->class : 0];
	char dscp[QOS_CLASS_MAX * 8 * 4];
	json_t *row;

	if (prio->use == QOS_FREE)
		return;
	row = table_row(table);
	row_number(row, at);
	if (is_class) {
		row_text(row, class->name);
		if (prio->use == QOS_LOSSLESS)
			row_number(row, prio->lane);
		else
			json_array_append_new(row, json_null());
		row_number(row, class->share_ppm);
		row_text(row, class->ecn ? "marked" : "no");
		row_text(row,
			 prio->lane == 0 ? dscp_text(class->dscp, sizeof(dscp), dscp) : "none");
		return;
	}
	row_text(row, prio->use == QOS_CNP ? "congestion notification" : "all other");
	for (uint32_t i = 2; i < sizeof(prio_columns) / sizeof(prio_columns[0]); i++)
		json_array_append_new(row, json_null());
}

void plan_show_qos(const struct plan_work *work, struct report *report)
{
	struct table *table = report_table(report, "priorities", COLUMNS(prio_columns));

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		add_prio(work, i, table);
	table = report_table(report, "ports", COLUMNS(port_columns));
	for (uint32_t i = 0; i < work->qos.ports_count; i++) {
		const struct qos_ports *ports = &work->qos.ports[i];
		json_t *row = table_row(table);

		row_number(row, ports->count);
		row_number(row, ports->speed_bps);
		row_number(row, ports->length_mm);
		row_number(row, ports->headroom.bytes);
		row_number(row, ports->ecn_min_bytes);
		row_number(row, ports->ecn_max_bytes);
		row_text(row, ports->to_host ? "hosts" : "switches");
	}
	table_heading(table, "Headroom of each lossless priority; %s has most, %llu bytes in all",
		      work->source.fabric.switches[work->qos.headroom_at].name,
		      (unsigned long long)work->qos.headroom_worst);
}
