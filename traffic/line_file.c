// SPDX-License-Identifier: BSD-3-Clause
//
// Lines of fields.
//
// A line that does not fit is an error rather than two lines: what follows would be judged as what
// it is not. So is one with a NUL byte, behind which nothing of it would be read.

#include "traffic/line_file.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const char between[] = " \t,\r\n";

int line_file_open(struct line_file *file, const char *path, FILE *errors)
{
	*file = (struct line_file){ .path = path, .errors = errors, .file = fopen(path, "re") };
	if (file->file != NULL)
		return 0;
	fprintf(errors, "%s: %s\n", path, strerror(errno));
	return -errno;
}

int line_file_refuse(const struct line_file *file, const char *format, ...)
{
	va_list args;

	fprintf(file->errors, "%s:%u: ", file->path, file->line);
	va_start(args, format);
	vfprintf(file->errors, format, args);
	va_end(args);
	fputc('\n', file->errors);
	return -EINVAL;
}

static int split(struct line_file *file)
{
	char *at = file->text;

	file->field_count = 0;
	at[strcspn(at, "#")] = '\0';
	for (at += strspn(at, between); *at != '\0'; at += strspn(at, between)) {
		if (file->field_count == LINE_FILE_FIELDS)
			return line_file_refuse(file, "more than %d fields", LINE_FILE_FIELDS);
		file->field[file->field_count++] = at;
		at += strcspn(at, between);
		if (*at != '\0')
			*at++ = '\0';
	}
	return 0;
}

// Reads the next line, without its end. 1, 0 when there is none, -EINVAL.
static int read_line(struct line_file *file)
{
	uint32_t len = 0;
	int c = getc(file->file);

	if (c == EOF)
		return 0;
	file->line++;
	for (; c != EOF && c != '\n'; c = getc(file->file)) {
		if (c == '\0')
			return line_file_refuse(file, "a NUL byte");
		if (len == LINE_FILE_BYTES - 1)
			return line_file_refuse(file, "longer than %d bytes", LINE_FILE_BYTES - 1);
		file->text[len++] = (char)c;
	}
	file->text[len] = '\0';
	return 1;
}

int line_file_next(struct line_file *file)
{
	int rc = 1;

	file->field_count = 0;
	while (rc == 1 && file->field_count == 0) {
		rc = read_line(file);
		if (rc == 1 && split(file) != 0)
			rc = -EINVAL;
	}
	if (rc != -EINVAL && ferror(file->file)) {
		fprintf(file->errors, "%s: %s\n", file->path, strerror(errno));
		return -EIO;
	}
	return rc;
}

void line_file_close(struct line_file *file)
{
	if (file->file != NULL)
		fclose(file->file);
	file->file = NULL;
}
