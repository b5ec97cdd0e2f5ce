// SPDX-License-Identifier: BSD-3-Clause
//
// Wording shared by all errors of a configuration file. libconfig knows files and lines, no
// columns. What is missing is reported at the group that lacks it; the top level has no line of its
// own, so there the line is left out.

#include "sys/cfg_report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *cfg_report_file(const struct cfg_report *report, const config_setting_t *at)
{
	const char *file = config_setting_source_file(at);

	return file != NULL ? file : report->path;
}

// Writes FILE:LINE for a file named as libconfig does, so that it can be opened from here.
static void print_place(const struct cfg_report *report, const char *file, unsigned int line)
{
	if (strcmp(file, report->path) != 0)
		fprintf(report->out, "%s/", report->dir);
	fprintf(report->out, "%s:", file);
	if (line != 0)
		fprintf(report->out, "%u:", line);
	fputc(' ', report->out);
}

void cfg_report_at(struct cfg_report *report, const config_setting_t *at, const char *table,
		   const char *key, const char *format, ...)
{
	const char *dot = table[0] != '\0' && key[0] != '\0' ? "." : "";
	const unsigned int line = config_setting_source_line(at);
	va_list args;

	if (report->count++ >= report->max)
		return;
	print_place(report, cfg_report_file(report, at), line);
	fprintf(report->out, "%s%s%s: ", table, dot, key);
	va_start(args, format);
	vfprintf(report->out, format, args);
	va_end(args);
	fputc('\n', report->out);
}

// Line `line` of a file that libconfig names; the caller frees it. NULL when it cannot be read.
static char *read_line(const struct cfg_report *report, const char *name, int line)
{
	const bool included = strcmp(name, report->path) != 0;
	char *text = NULL;
	size_t room = 0;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s%s", included ? report->dir : "", included ? "/" : "",
		 name);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	for (int i = 0; i < line; i++) {
		if (getline(&text, &room, file) < 0)
			break;
	}
	fclose(file);
	return text;
}

// libconfig stops at the first syntax error and names no token: the line itself says more.
void cfg_report_syntax(struct cfg_report *report, const config_t *parsed)
{
	const char *error_file = config_error_file(parsed);
	const char *name = error_file != NULL ? error_file : report->path;
	const int line = config_error_line(parsed);
	char *text = read_line(report, name, line);

	report->count++;
	print_place(report, name, (unsigned int)line);
	fputs(config_error_text(parsed), report->out);
	if (text != NULL) {
		const char *first = text + strspn(text, " \t");

		fprintf(report->out, ": %.*s", (int)strcspn(first, "\r\n"), first);
	}
	fputc('\n', report->out);
	free(text);
}

void cfg_report_end(const struct cfg_report *report)
{
	if (report->count > report->max)
		fprintf(report->out, "%s: %u more errors\n", report->path,
			report->count - report->max);
}
