// SPDX-License-Identifier: BSD-3-Clause
//
// Table by table: match the rows, then say what went, what changed, what came and what moved. A row
// has moved unless it belongs to a longest run of rows that kept their order, so taking one row to
// the front is one line and not a line for each row that it passed. Of runs of one length the one
// that ends last counts as unmoved.

#include "sys/cfg_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_row.h"
#include "sys/cfg_value.h"

#define NO_ROW UINT32_MAX

struct diff {
	const struct config_table *table;
	const uint8_t *from;
	const uint8_t *to;
	uint32_t from_count;
	uint32_t to_count;
	uint32_t *old;  // of each row of `to`: its row in `from`, or NO_ROW
	uint32_t *new;  // of each row of `from`: its row in `to`, or NO_ROW
	uint32_t *run;  // of each row of `to`: the length of the run that ends with it
	uint32_t *last; // of each length: the row in `from` that the lowest such run ends with
	FILE *out;
	int64_t lines;
};

static const uint8_t *from_row(const struct diff *d, uint32_t at)
{
	return cfg_row_const(d->table, d->from, at);
}

static const uint8_t *to_row(const struct diff *d, uint32_t at)
{
	return cfg_row_const(d->table, d->to, at);
}

// The first row of `from` without a partner that has the key of row `i`, from `next` on and round.
static uint32_t find_partner(const struct diff *d, uint32_t i, uint32_t next)
{
	for (uint32_t n = 0; n < d->from_count; n++) {
		const uint32_t at = (next + n) % d->from_count;

		if (d->new[at] == NO_ROW && cfg_key_equal(d->table, to_row(d, i), from_row(d, at)))
			return at;
	}
	return NO_ROW;
}

// Finds each row's partner. Most rows kept their neighbours, so the search starts behind the last
// one that was found.
static void match_rows(struct diff *d)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < d->from_count; i++)
		d->new[i] = NO_ROW;
	for (uint32_t i = 0; i < d->to_count; i++) {
		d->old[i] = find_partner(d, i, next);
		if (d->old[i] == NO_ROW)
			continue;
		d->new[d->old[i]] = i;
		next = d->old[i] + 1;
	}
}

// "+ vlan 20", "port Ethernet0"; the top level is "switch".
static void start_line(struct diff *d, const char *sign, const uint8_t *row)
{
	char label[CFG_LABEL_BYTES];

	cfg_row_label(d->table, row, label);
	fprintf(d->out, "%s%s%s%s", sign, cfg_table_name(d->table), label[0] != '\0' ? " " : "",
		label);
	d->lines++;
}

static void show_change(struct diff *d, const struct config_knob *knob, const uint8_t *from,
			const uint8_t *to)
{
	char text[CFG_SHOWN_BYTES];

	start_line(d, "", to);
	cfg_value_say(knob, from, text);
	fprintf(d->out, ": %s %s", knob->key, text);
	cfg_value_say(knob, to, text);
	fprintf(d->out, " -> %s\n", text);
}

static void show_changes(struct diff *d, const uint8_t *from, const uint8_t *to)
{
	for (uint32_t i = 0; i < d->table->knob_count; i++) {
		const struct config_knob *knob = &d->table->knobs[i];

		if (!cfg_field_equal(knob, from, to))
			show_change(d, knob, from, to);
	}
}

// `blank` is a row of defaults.
static void show_new(struct diff *d, uint32_t at, const uint8_t *blank)
{
	const uint8_t *row = to_row(d, at);
	char text[CFG_SHOWN_BYTES];
	const char *joint = ": ";

	start_line(d, "+ ", row);
	for (uint32_t i = d->table->key_count; i < d->table->knob_count; i++) {
		const struct config_knob *knob = &d->table->knobs[i];

		if (cfg_field_equal(knob, row, blank) && strcmp(knob->def, "!") != 0)
			continue;
		cfg_value_say(knob, row, text);
		fprintf(d->out, "%s%s = %s", joint, knob->key, text);
		joint = ", ";
	}
	if (d->table->ordered && at + 1 < d->to_count) {
		cfg_row_label(d->table, to_row(d, at + 1), text);
		fprintf(d->out, "%sbefore %s", joint, text);
	}
	fputc('\n', d->out);
}

// How many of the runs found so far end below row `old`: the longest of them is that long.
static uint32_t runs_below(const struct diff *d, uint32_t old, uint32_t longest)
{
	uint32_t low = 0;
	uint32_t high = longest;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (d->last[middle] < old)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Length of the longest run of rows that kept their order; d->run is the longest that ends with
// each row (patience sorting).
static uint32_t measure_runs(struct diff *d)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < d->to_count; i++) {
		uint32_t below;

		d->run[i] = 0;
		if (d->old[i] == NO_ROW)
			continue;
		below = runs_below(d, d->old[i], longest);
		d->last[below] = d->old[i];
		d->run[i] = below + 1;
		if (below == longest)
			longest++;
	}
	return longest;
}

// From the end: the rows of one longest run keep their length, the others are set to 0.
static void pick_run(struct diff *d, uint32_t longest)
{
	uint32_t before = UINT32_MAX;

	for (uint32_t i = d->to_count; i-- > 0;) {
		if (d->old[i] == NO_ROW)
			continue;
		if (longest > 0 && d->run[i] == longest && d->old[i] < before) {
			before = d->old[i];
			longest--;
		} else {
			d->run[i] = 0;
		}
	}
}

static void show_moves(struct diff *d)
{
	char label[CFG_LABEL_BYTES];

	pick_run(d, measure_runs(d));
	for (uint32_t i = 0; i < d->to_count; i++) {
		if (d->old[i] == NO_ROW || d->run[i] > 0)
			continue;
		start_line(d, "", to_row(d, i));
		if (i > 0)
			cfg_row_label(d->table, to_row(d, i - 1), label);
		fprintf(d->out, ": now %s%s\n", i > 0 ? "behind " : "first", i > 0 ? label : "");
	}
}

static void diff_rows(struct diff *d, const uint8_t *blank)
{
	match_rows(d);
	for (uint32_t i = 0; i < d->from_count; i++) {
		if (d->new[i] != NO_ROW)
			continue;
		start_line(d, "- ", from_row(d, i));
		fputc('\n', d->out);
	}
	for (uint32_t i = 0; i < d->to_count; i++) {
		if (d->old[i] == NO_ROW)
			show_new(d, i, blank);
		else
			show_changes(d, from_row(d, d->old[i]), to_row(d, i));
	}
	if (d->table->ordered)
		show_moves(d);
}

static int diff_table(struct diff *d)
{
	const uint32_t max = d->table->row_max;
	uint32_t *memory = calloc(4 * (size_t)max, sizeof(*memory));
	uint8_t *blank = malloc(d->table->row_bytes);
	int rc = -ENOMEM;

	if (memory != NULL && blank != NULL) {
		d->old = memory;
		d->new = memory + max;
		d->run = memory + 2 * (size_t)max;
		d->last = memory + 3 * (size_t)max;
		cfg_row_default(d->table, blank);
		diff_rows(d, blank);
		rc = 0;
	}
	free(blank);
	free(memory);
	return rc;
}

int64_t cfg_diff(const void *from, const void *to, const struct config_table *tables,
		 uint32_t count, FILE *out)
{
	struct diff d = { .from = from, .to = to, .out = out };

	for (uint32_t i = 0; i < count; i++) {
		d.table = &tables[i];
		d.from_count = cfg_row_count(d.table, from);
		d.to_count = cfg_row_count(d.table, to);
		if (diff_table(&d) != 0)
			return -ENOMEM;
	}
	return d.lines;
}
