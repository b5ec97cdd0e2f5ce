// SPDX-License-Identifier: BSD-3-Clause
//
// A report as text tables in the shape SONiC's users know: right-aligned columns two spaces apart,
// a rule of dashes below the titles, thousands separated by commas. Text comes from a running
// switch: control characters are not passed on to the terminal.

#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

enum { CELL_BYTES = 256, COLUMNS_MAX = 32 };

static void format_count(json_int_t value, char *out)
{
	char digits[24];
	const int len = snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, value);
	size_t at = 0;

	for (int i = 0; i < len; i++) {
		const int rest = len - i;

		if (i > 0 && rest % 3 == 0 && digits[i - 1] != '-')
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

// Three digits or more with a unit that keeps the number readable.
static void format_time(json_int_t ns, char *out)
{
	if (ns < 10000)
		snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT " ns", ns);
	else if (ns < 10000000)
		snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT " us", ns / 1000);
	else if (ns < 10000000000)
		snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT " ms", ns / 1000000);
	else
		snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT " s", ns / 1000000000);
}

// A measured rate: two digits behind the point, where the exact bit says nothing.
static void format_speed(json_int_t bps, char *out)
{
	static const char *const units[] = { "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s" };
	double value = (double)bps;
	uint32_t unit = 0;

	for (; value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(out, CELL_BYTES, unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
}

static void format_number(enum cell_form form, json_int_t value, char *out)
{
	switch (form) {
	case CELL_TEXT: snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT, value); return;
	case CELL_COUNT: break;
	case CELL_RATE:
		if (value < 0)
			break;
		unit_format(UNIT_BPS, (uint64_t)value, out);
		return;
	case CELL_TIME: format_time(value, out); return;
	case CELL_SPEED: format_speed(value, out); return;
	case CELL_SHARE: snprintf(out, CELL_BYTES, "%.2f%%", (double)value / 10000); return;
	}
	format_count(value, out);
}

static void format_text(const char *text, char *out)
{
	snprintf(out, CELL_BYTES, "%s", text);
	for (char *c = out; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}

// Numbers by place, those that are 0 left out: "3:25.00% 4:0.10%".
static void format_places(enum cell_form form, const json_t *list, char *out)
{
	char number[CELL_BYTES];
	size_t len = 0;

	for (size_t i = 0; i < json_array_size(list) && len < CELL_BYTES / 2; i++) {
		const json_int_t value = json_integer_value(json_array_get(list, i));

		if (value == 0)
			continue;
		format_number(form, value, number);
		len += (size_t)snprintf(out + len, CELL_BYTES - len, "%s%zu:%.24s",
					len > 0 ? " " : "", i, number);
	}
	if (len == 0)
		format_text("-", out);
}

static void format_cell(enum cell_form form, const json_t *cell, char *out)
{
	if (json_is_integer(cell))
		format_number(form, json_integer_value(cell), out);
	else if (json_is_string(cell))
		format_text(json_string_value(cell), out);
	else if (json_is_array(cell))
		format_places(form, cell, out);
	else if (json_is_boolean(cell))
		format_text(json_is_true(cell) ? "yes" : "no", out);
	else
		format_text("-", out);
}

// Columns that a terminal shows for UTF-8 text: bytes that do not continue a character.
static int shown_width(const char *text)
{
	int width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static int measure(const struct table *table, uint32_t column)
{
	int width = shown_width(table->columns[column].title);
	char text[CELL_BYTES];
	size_t at;
	json_t *row;

	json_array_foreach(table->rows, at, row) {
		format_cell(table->columns[column].form, json_array_get(row, column), text);
		if (shown_width(text) > width)
			width = shown_width(text);
	}
	return width;
}

// The last column is text to read on: it stays left and has no trailing spaces.
static void print_cell(const char *text, int width, bool left, uint32_t at, FILE *out)
{
	const int pad = left ? 0 : width - shown_width(text);

	fprintf(out, "%s%*s%s", at > 0 ? "  " : "", pad, "", text);
}

static bool stays_left(const struct table *table, uint32_t at)
{
	return at > 0 && at + 1 == table->column_count && table->columns[at].form == CELL_TEXT;
}

static void print_table(const struct table *table, FILE *out)
{
	int width[COLUMNS_MAX] = { 0 };
	char text[CELL_BYTES];
	size_t at;
	json_t *row;

	for (uint32_t i = 0; i < table->column_count; i++)
		width[i] = measure(table, i);
	if (table->heading[0] != '\0')
		fprintf(out, "%s\n", table->heading);
	for (uint32_t i = 0; i < table->column_count; i++)
		print_cell(table->columns[i].title, width[i], stays_left(table, i), i, out);
	fputc('\n', out);
	for (uint32_t i = 0; i < table->column_count; i++) {
		fputs(i > 0 ? "  " : "", out);
		for (int j = 0; j < width[i]; j++)
			fputc('-', out);
	}
	fputc('\n', out);
	json_array_foreach(table->rows, at, row) {
		for (uint32_t i = 0; i < table->column_count; i++) {
			format_cell(table->columns[i].form, json_array_get(row, i), text);
			print_cell(text, width[i], stays_left(table, i), i, out);
		}
		fputc('\n', out);
	}
}

static void print_rule(int left, int right, FILE *out)
{
	for (int i = 0; i < left + 2 + right; i++)
		fputc(i == left || i == left + 1 ? ' ' : '-', out);
	fputc('\n', out);
}

// The shape of mmuconfig and ecnconfig: what a row does not say has no line.
static void print_block(const struct table *table, const json_t *row, FILE *out)
{
	char text[CELL_BYTES];
	int left = 0, right = 0;

	for (uint32_t i = 1; i < table->column_count; i++) {
		if (json_is_null(json_array_get(row, i)))
			continue;
		format_cell(table->columns[i].form, json_array_get(row, i), text);
		if (shown_width(table->columns[i].title) > left)
			left = shown_width(table->columns[i].title);
		if (shown_width(text) > right)
			right = shown_width(text);
	}
	format_cell(table->columns[0].form, json_array_get(row, 0), text);
	fprintf(out, "%s: %s\n", table->columns[0].title, text);
	print_rule(left, right, out);
	for (uint32_t i = 1; i < table->column_count; i++) {
		if (json_is_null(json_array_get(row, i)))
			continue;
		format_cell(table->columns[i].form, json_array_get(row, i), text);
		fprintf(out, "%-*s  %s\n", left, table->columns[i].title, text);
	}
	print_rule(left, right, out);
}

static void print_blocks(const struct table *table, FILE *out)
{
	size_t at;
	json_t *row;

	if (table->heading[0] != '\0')
		fprintf(out, "%s\n", table->heading);
	json_array_foreach(table->rows, at, row) {
		if (at > 0)
			fputc('\n', out);
		print_block(table, row, out);
	}
}

static void print_text(const json_t *cell, FILE *out)
{
	for (const char *c = json_string_value(cell); c != NULL && *c != '\0'; c++)
		fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);
}

// Cells are severity, where, what, and what to change; others are for programs.
static void print_sentences(const struct table *table, FILE *out)
{
	size_t at;
	json_t *row;

	if (table->heading[0] != '\0')
		fprintf(out, "%s\n", table->heading);
	json_array_foreach(table->rows, at, row) {
		const char *advice = json_string_value(json_array_get(row, 3));

		fputs("\n[", out);
		print_text(json_array_get(row, 0), out);
		fputs("] ", out);
		print_text(json_array_get(row, 1), out);
		fputs(": ", out);
		print_text(json_array_get(row, 2), out);
		if (advice != NULL && advice[0] != '\0') {
			fputs("\n    -> ", out);
			print_text(json_array_get(row, 3), out);
		}
		fputc('\n', out);
	}
}

static void print_lines(const struct table *table, FILE *out)
{
	size_t at;
	json_t *row;

	if (table->heading[0] != '\0')
		fprintf(out, "%s\n", table->heading);
	json_array_foreach(table->rows, at, row) {
		fputs("  ", out);
		print_text(json_array_get(row, 0), out);
		fputc('\n', out);
	}
}

int out_table(const struct report *report, FILE *out)
{
	for (uint32_t i = 0; i < report->table_count; i++) {
		if (i > 0)
			fputc('\n', out);
		if (report->table[i].blocks)
			print_blocks(&report->table[i], out);
		else if (report->table[i].lines)
			print_lines(&report->table[i], out);
		else if (report->table[i].sentences)
			print_sentences(&report->table[i], out);
		else
			print_table(&report->table[i], out);
	}
	if (fflush(out) != 0)
		return -errno;
	return ferror(out) ? -EIO : 0;
}
