// SPDX-License-Identifier: BSD-3-Clause
//
// Lines of fields.
//
// A line that does not fit is an error rather than two lines: what follows would be judged as what
// it is not. A NUL byte ends its line.

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

int line_file_next(struct line_file *file)
{
	int rc = 0;

	file->field_count = 0;
	while (rc == 0 && file->field_count == 0) {
		if (fgets(file->text, sizeof(file->text), file->file) == NULL)
			break;
		file->line++;
		if (strchr(file->text, '\n') == NULL && !feof(file->file))
			return line_file_refuse(file, "longer than %d bytes", LINE_FILE_BYTES - 2);
		rc = split(file);
	}
	if (rc == 0 && file->field_count == 0 && ferror(file->file)) {
		fprintf(file->errors, "%s: %s\n", file->path, strerror(errno));
		return -EIO;
	}
	return rc != 0 ? rc : file->field_count != 0;
}

void line_file_close(struct line_file *file)
{
	if (file->file != NULL)
		fclose(file->file);
	file->file = NULL;
}
