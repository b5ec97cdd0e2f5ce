// SPDX-License-Identifier: BSD-3-Clause
//
// A text file of lines with a few fields each, between blanks or commas: what a trace and a
// distribution of sizes have in common. What follows # is a comment. Lines are read one by one, and
// the memory for one is bounded.
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { LINE_FILE_BYTES = 256, LINE_FILE_FIELDS = 8 };

struct line_file {
	FILE *file;
	FILE *errors;
	const char *path;
	uint32_t line;
	uint32_t field_count;
	char *field[LINE_FILE_FIELDS];
	char text[LINE_FILE_BYTES];
};

// Opens it; `path` must outlive it. 0, or -errno after a line on `errors`.
int line_file_open(struct line_file *file, const char *path, FILE *errors);

// Reads the next line that has fields. 1, or 0 at the end; -EINVAL when a line is too long or has
// too many fields, -EIO when it cannot be read, after a line on `errors`.
int line_file_next(struct line_file *file);

// Says what is wrong with the current line, by file and line; returns -EINVAL.
__attribute__((format(printf, 2, 3))) int line_file_refuse(const struct line_file *file,
							   const char *format, ...);

void line_file_close(struct line_file *file);
