// SPDX-License-Identifier: BSD-3-Clause
//
// Four fields a line.
//
// Memory doubles as lines come, up to a bound, and is put in order in the end: lines of equal times
// stay as they stand in the file.

#include "traffic/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "traffic/core/sizes.h"
#include "traffic/line_file.h"

enum { FIRST_ROOM = 1024, NUMBER_BYTES = 40 };

// Ten days, as a run may take.
#define AT_MAX 864000000000000ull

// Seconds where there is no unit.
static bool parse_time(const char *text, ns_t *at)
{
	const bool bare = strspn(text, "0123456789.") == strlen(text);
	char number[NUMBER_BYTES + 2];

	if (strlen(text) > NUMBER_BYTES)
		return false;
	snprintf(number, sizeof(number), "%s%s", text, bare ? "s" : "");
	return unit_parse(UNIT_NS, number, strlen(number), &at->v) && at->v <= AT_MAX;
}

static bool parse_host(const char *text, uint32_t host_count, uint32_t *host)
{
	uint64_t value;

	if (!unit_parse(UNIT_COUNT, text, strlen(text), &value) || value >= host_count)
		return false;
	*host = (uint32_t)value;
	return true;
}

static int take_line(const struct line_file *file, uint32_t host_count, struct trace_row *out)
{
	char *const *field = file->field;

	if (file->field_count != 4)
		return line_file_refuse(file, "%u fields instead of time, src, dst and bytes",
					file->field_count);
	if (!parse_time(field[0], &out->at))
		return line_file_refuse(file, "\"%.40s\" is no time", field[0]);
	for (uint32_t i = 1; i <= 2; i++) {
		if (!parse_host(field[i], host_count, i == 1 ? &out->src : &out->dst))
			return line_file_refuse(file, "\"%.40s\" is no host: those are 0 to %u",
						field[i], host_count - 1);
	}
	if (out->src == out->dst)
		return line_file_refuse(file, "from host %u to itself", out->src);
	if (!unit_parse(UNIT_BYTES, field[3], strlen(field[3]), &out->bytes) || out->bytes == 0 ||
	    out->bytes > SIZES_BYTES_MAX)
		return line_file_refuse(file, "\"%.40s\" is no size of 1 byte to 1 GiB", field[3]);
	out->line = file->line;
	return 0;
}

static int make_room(const struct line_file *file, struct trace *trace, uint32_t *room)
{
	struct trace_row *row;

	if (trace->count < *room)
		return 0;
	if (trace->count == TRACE_MAX)
		return line_file_refuse(file, "more than %d messages", TRACE_MAX);
	*room = *room == 0 ? FIRST_ROOM : 2 * *room;
	row = realloc(trace->row, *room * sizeof(*row));
	if (row == NULL)
		return -ENOMEM;
	trace->row = row;
	return 0;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
	const struct trace_row *x = a, *y = b;
	int by = order(x->src, y->src);

	by = by != 0 ? by : order(x->dst, y->dst);
	by = by != 0 ? by : order(x->at.v, y->at.v);
	return by != 0 ? by : order(x->line, y->line);
}

int trace_file_read(const char *path, uint32_t host_count, FILE *errors, struct trace *out)
{
	struct line_file file;
	uint32_t room = 0;
	int rc = line_file_open(&file, path, errors);

	*out = (struct trace){ 0 };
	if (rc != 0)
		return rc;
	while ((rc = line_file_next(&file)) == 1) {
		rc = make_room(&file, out, &room);
		if (rc == 0)
			rc = take_line(&file, host_count, &out->row[out->count]);
		if (rc != 0)
			break;
		out->count++;
	}
	if (rc == 0 && out->count == 0)
		rc = line_file_refuse(&file, "no messages");
	line_file_close(&file);
	if (rc != 0)
		trace_free(out);
	else
		qsort(out->row, out->count, sizeof(*out->row), compare);
	return rc;
}

void trace_free(struct trace *trace)
{
	free(trace->row);
	*trace = (struct trace){ 0 };
}
