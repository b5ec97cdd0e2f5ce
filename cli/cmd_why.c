// SPDX-License-Identifier: BSD-3-Clause
//
// weft show why PORT [QUEUE]: what holds a port's queues or eats its packets, in words. Two looks a
// moment apart go through the rules of why.c. It ends with exit status 1 when
// something holds or loses traffic; the line above says no more than the worst finding does.

#include "cli/command.h"

#include <errno.h>
#include <string.h>

#include "cli/ports.h"
#include "cli/rate.h"
#include "cli/why.h"

static const struct column columns[] = {
	{ "Severity", "severity", CELL_TEXT }, { "Where", "where", CELL_TEXT },
	{ "Finding", "finding", CELL_TEXT },   { "Change", "change", CELL_TEXT },
	{ "Rule", "rule", CELL_TEXT },         { "Evidence", "evidence", CELL_TEXT },
};

// "3" or "UC3".
static bool parse_queue(const char *word, int *queue)
{
	if (strncmp(word, "UC", 2) == 0)
		word += 2;
	if (word[0] < '0' || word[0] >= '0' + QUEUE_COUNT || word[1] != '\0')
		return false;
	*queue = word[0] - '0';
	return true;
}

static void add_finding(struct table *table, const struct why_finding *finding)
{
	json_t *row = table_row(table);

	row_text(row, why_severity_name(finding->severity));
	row_text(row, finding->where);
	row_text(row, finding->text);
	row_text(row, finding->advice);
	row_text(row, finding->rule);
	json_array_append(row, finding->evidence);
}

static const char *summary(enum why_severity worst)
{
	switch (worst) {
	case WHY_NOTE: return "nothing holds it";
	case WHY_WARNING: return "something slows traffic, or is near a limit";
	case WHY_WRONG: break;
	}
	return "something holds or loses traffic";
}

static void add_findings(const struct query *query, struct report *report,
			 const struct why_scene *scene)
{
	struct table *table = report_table(report, "findings", COLUMNS(columns));
	enum why_severity worst = WHY_NOTE;
	struct why_findings found;

	table->sentences = true;
	why_find(scene, &found);
	if (found.count > 0)
		worst = found.finding[0].severity;
	for (uint32_t i = 0; i < found.count; i++)
		add_finding(table, &found.finding[i]);
	why_release(&found);
	report->alarm = worst == WHY_WRONG;
	table_heading(table, "%s%s%s: %s", scene->port, query->queue != NULL ? " queue " : "",
		      query->queue != NULL ? query->queue : "", summary(worst));
}

int cmd_show_why(const struct query *query, struct report *report)
{
	struct why_scene scene = {
		.before = query->before,
		.after = query->reply,
		.acl_before = query->also_before,
		.acl_after = query->also,
		.lldp = query->lldp,
		.queue = WHY_ANY_QUEUE,
	};
	size_t at = 0;

	if (query->queue != NULL && !parse_queue(query->queue, &scene.queue)) {
		fprintf(stderr, "weft: show why: queue %s: allowed: 0 to 7\n", query->queue);
		return -EINVAL;
	}
	scene.port = json_string_value(json_object_get(port_next(query, &at), "name"));
	add_findings(query, report, &scene);
	return 0;
}
