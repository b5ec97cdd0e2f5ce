// SPDX-License-Identifier: BSD-3-Clause
//
// The table of test hooks: a row per port and hook, with its queues. An older switch says nothing
// of hooks, which reads as off.

#include "cli/hooks.h"

#include "cli/ports.h"

static const struct column columns[] = {
	{ "Interface", "name", CELL_TEXT },
	{ "Test hook", "hook", CELL_TEXT },
	{ "Queues", "queues", CELL_TEXT },
};

// Queues of a port that have a hook, as "3,4"; false when none has.
static bool list_queues(const json_t *port, const char *key, char out[2 * QUEUE_COUNT])
{
	size_t at = 0;

	for (size_t i = 0; i < QUEUE_COUNT; i++) {
		const json_t *queue = port_element(port, "queues", i);

		if (!json_is_true(json_object_get(queue, key)))
			continue;
		if (at > 0)
			out[at++] = ',';
		out[at++] = (char)('0' + i);
	}
	out[at] = '\0';
	return at > 0;
}

static void add_row(struct report *report, struct table **table, const json_t *port,
		    const char *hook, const char *queues)
{
	json_t *row;

	if (*table == NULL) {
		*table = report_table(report, "test_hooks", COLUMNS(columns));
		table_heading(*table, "Test hooks are on (weft debug ... off ends them):");
	}
	row = table_row(*table);
	row_member(row, port, "name");
	row_text(row, hook);
	row_text(row, queues);
}

void hooks_add_table(const struct query *query, struct report *report)
{
	char queues[2 * QUEUE_COUNT];
	struct table *table = NULL;
	const json_t *port;
	size_t at = 0;

	while ((port = port_next(query, &at)) != NULL) {
		if (json_is_true(json_object_get(port, "tx_disabled")))
			add_row(report, &table, port, "tx-disable", "all");
		if (list_queues(port, "dequeue_disabled", queues))
			add_row(report, &table, port, "dequeue-disable", queues);
		if (list_queues(port, "storm_forced", queues))
			add_row(report, &table, port, "storm", queues);
	}
}
