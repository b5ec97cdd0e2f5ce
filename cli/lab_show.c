// SPDX-License-Identifier: BSD-3-Clause
//
// weft lab status: each process and each switch of a lab, and what the fabric did and lost, summed
// over its ports. A switch that does not answer has a row all the same.

#include "cli/lab.h"

#include "cli/report.h"
#include "cli/run.h"

static const struct column process_columns[] = {
	{ "Process", "process", CELL_TEXT },
	{ "PID", "pid", CELL_TEXT },
	{ "State", "state", CELL_TEXT },
};

static const struct column switch_columns[] = {
	{ "Switch", "switch", CELL_TEXT },
	{ "State", "state", CELL_TEXT },
	{ "Ports", "ports", CELL_COUNT },
	{ "Up", "up", CELL_COUNT },
	{ "XOFF", "xoff_events", CELL_COUNT },
	{ "Marked", "marked_packets", CELL_COUNT },
	{ "Dropped", "dropped_packets", CELL_COUNT },
	{ "Lossless", "lossless_dropped_packets", CELL_COUNT },
	{ "Reasons", "drops", CELL_TEXT },
};

static const struct column total_columns[] = {
	{ "Lab", "lab", CELL_TEXT },
	{ "Fabric", "fabric", CELL_TEXT },
	{ "Hosts", "hosts", CELL_TEXT },
	{ "Fastest port", "speed_bps", CELL_RATE },
};

enum { REASONS_BYTES = 200 };

struct counts {
	uint64_t up;
	uint64_t xoffs;
	uint64_t marked;
	uint64_t dropped;
	uint64_t lossless; // of them, in lossless groups
	char reasons[REASONS_BYTES];
};

static uint64_t number(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

// Lossless groups, and the queues of their priorities.
static void add_groups(const json_t *port, struct counts *counts)
{
	const json_t *groups = json_object_get(port, "priority_groups");
	const json_t *queues = json_object_get(port, "queues");
	const json_t *group;
	size_t i;

	json_array_foreach(groups, i, group) {
		if (!json_is_true(json_object_get(group, "lossless")))
			continue;
		counts->xoffs += number(group, "xoff_events");
		counts->lossless += number(group, "dropped_packets") +
				    number(json_array_get(queues, i), "dropped_packets");
	}
	for (i = 0; i < json_array_size(queues); i++)
		counts->marked += number(json_array_get(queues, i), "wred_ecn_marked_packets");
}

static void add_reasons(json_t *all, struct counts *counts)
{
	size_t len = 0;
	const char *name;
	json_t *packets;

	json_object_foreach(all, name, packets) {
		counts->dropped += (uint64_t)json_integer_value(packets);
		if (len < REASONS_BYTES)
			len += (size_t)snprintf(counts->reasons + len, REASONS_BYTES - len,
						"%s%s:%" JSON_INTEGER_FORMAT, len > 0 ? " " : "",
						name, json_integer_value(packets));
	}
}

static void count(const json_t *reply, struct counts *counts)
{
	json_t *all = json_object();
	const char *name;
	json_t *port, *packets;
	size_t i;

	json_array_foreach(json_object_get(reply, "ports"), i, port) {
		counts->up += json_is_true(json_object_get(port, "link"));
		add_groups(port, counts);
		json_object_foreach(json_object_get(port, "drops"), name, packets)
			json_object_set_new(
				all, name,
				json_integer(json_integer_value(packets) +
					     json_integer_value(json_object_get(all, name))));
	}
	add_reasons(all, counts);
	json_decref(all);
}

static void add_switch(const struct lab *lab, const char *name, struct table *table)
{
	const bool lives = lab_process_lives(lab_process_of(lab, name));
	json_t *reply = lives ? lab_ask(lab, name, "GET", "/v1/stats") : NULL;
	json_t *row = table_row(table);
	struct counts counts = { 0 };

	row_text(row, name);
	row_text(row, reply != NULL ? "up" : lives ? "silent" : "gone");
	if (reply == NULL)
		return;
	count(reply, &counts);
	row_number(row, json_array_size(json_object_get(reply, "ports")));
	row_number(row, counts.up);
	row_number(row, counts.xoffs);
	row_number(row, counts.marked);
	row_number(row, counts.dropped);
	row_number(row, counts.lossless);
	row_text(row, counts.reasons);
	json_decref(reply);
}

static void add_processes(const struct lab *lab, struct report *report)
{
	struct table *table = report_table(report, "processes", COLUMNS(process_columns));
	const json_t *process;
	size_t i;

	json_array_foreach(json_object_get(lab->state, "process"), i, process) {
		json_t *row = table_row(table);

		row_member(row, process, "name");
		row_member(row, process, "pid");
		row_text(row, lab_process_lives(process) ? "runs" : "has ended");
	}
}

// Something that was not asked for: a process that is gone, a switch that does not answer.
static void report_lab(const struct lab *lab, const struct lab_fabric *fabric,
		       struct report *report)
{
	const struct fabric *own = &fabric->work.source.fabric;
	struct table *table = report_table(report, "lab", COLUMNS(total_columns));
	json_t *row = table_row(table);

	for (uint32_t i = 0; i < table->column_count; i++)
		row_member(row, lab->state, i == 0 ? "name" : total_columns[i].key);
	add_processes(lab, report);
	table = report_table(report, "switches", COLUMNS(switch_columns));
	for (uint32_t i = 0; i < own->switch_count; i++)
		add_switch(lab, own->switches[i].name, table);
}

int lab_status(const struct lab_options *options)
{
	struct lab_fabric fabric = { .open = false };
	struct report report = { .table_count = 0 };
	struct lab lab;
	int status = lab_open(options, &lab);

	if (status != EXIT_DONE)
		return status;
	lab_unlock(&lab); // looking changes nothing
	status = lab_fabric_open(&lab, &fabric);
	if (status == EXIT_DONE) {
		report_lab(&lab, &fabric, &report);
		if ((options->json ? out_json(&report, stdout) : out_table(&report, stdout)) < 0)
			status = EXIT_USAGE;
	}
	report_release(&report);
	lab_fabric_close(&fabric);
	lab_close(&lab);
	return status;
}
