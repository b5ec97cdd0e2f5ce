// SPDX-License-Identifier: BSD-3-Clause
//
// Two fields a line. Percentages are decimal numbers of any number of digits, of which those behind
// the seventh place make no difference.

#include "traffic/sizes_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "traffic/line_file.h"

enum { DIGITS_MAX = 32 };

static bool parse_percent(const char *text, uint32_t *share)
{
	const size_t len = strlen(text);
	char *end;
	double percent;

	// Neither signs nor exponents, nor what else strtod() knows.
	if (len > DIGITS_MAX || strspn(text, "0123456789.") != len)
		return false;
	percent = strtod(text, &end);
	if (*end != '\0' || end == text || percent > 100)
		return false;
	*share = (uint32_t)lround(percent * (SIZES_WHOLE / 100));
	return true;
}

static int take_line(const struct line_file *file, struct sizes *out)
{
	uint64_t bytes;
	uint32_t share;
	const char *wrong;

	if (file->field_count != 2)
		return line_file_refuse(file, "%u fields instead of bytes and a percentage",
					file->field_count);
	if (!unit_parse(UNIT_BYTES, file->field[0], strlen(file->field[0]), &bytes))
		return line_file_refuse(file, "\"%.40s\" is no size", file->field[0]);
	if (!parse_percent(file->field[1], &share))
		return line_file_refuse(file, "\"%.40s\" is no percentage", file->field[1]);
	wrong = sizes_add(out, bytes, share);
	return wrong == NULL ? 0 : line_file_refuse(file, "%s", wrong);
}

int sizes_file_read(const char *path, FILE *errors, struct sizes *out)
{
	struct line_file file;
	int rc = line_file_open(&file, path, errors);

	memset(out, 0, sizeof(*out));
	if (rc != 0)
		return rc;
	while ((rc = line_file_next(&file)) == 1) {
		rc = take_line(&file, out);
		if (rc != 0)
			break;
	}
	if (rc == 0 && sizes_check(out) != NULL)
		rc = line_file_refuse(&file, "%s", sizes_check(out));
	line_file_close(&file);
	return rc;
}
