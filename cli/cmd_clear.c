// SPDX-License-Identifier: BSD-3-Clause
//
// weft clear ...: counters are cleared for one user, all of them or those of one kind
// (cli/baseline.h); watermarks are restarted for everyone, since the switch keeps one maximum per
// kind.

#include "cli/baseline.h"
#include "cli/command.h"

static int clear(const struct query *query, struct report *report, enum baseline_part parts,
		 const char *what)
{
	static const struct column columns[] = {
		{ "Counters cleared of", "name", CELL_TEXT },
		{ "Which", "counters", CELL_TEXT },
	};
	struct table *table = report_table(report, "cleared", COLUMNS(columns));
	json_t *row = table_row(table);

	row_member(row, json_object_get(query->reply, "switch"), "name");
	row_text(row, what);
	return baseline_save(query->reply, parts);
}

int cmd_clear_counters(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_ALL, "all");
}

int cmd_clear_queue_counters(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_QUEUE, "queues");
}

int cmd_clear_pfc_counters(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_PRIO, "PFC");
}

int cmd_clear_pfcwd_stats(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_PFCWD, "PFC watchdog");
}

int cmd_clear_pg_drops(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_PG, "priority groups");
}

int cmd_clear_drops(const struct query *query, struct report *report)
{
	return clear(query, report, BASELINE_DROPS, "drops by reason");
}

int cmd_clear_watermark(const struct query *query, struct report *report)
{
	static const struct column columns[] = {
		{ "Watermarks restarted", "kind", CELL_TEXT },
		{ "Of", "objects", CELL_TEXT },
	};
	struct table *table = report_table(report, "cleared", COLUMNS(columns));
	json_t *row = table_row(table);

	row_text(row, query->kind);
	row_text(row, "queues, priority groups, pools and descriptors");
	return 0;
}
