// SPDX-License-Identifier: BSD-3-Clause
//
// A file for what reads files, made of the text of a test.
//
// It lies under a fresh name in /tmp, so that tests may run at the same time. The test unlinks it
// once it has been read.
#pragma once

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT_FILE_PATH = 32 };

static inline void text_file_make(const char *text, char path[TEXT_FILE_PATH])
{
	FILE *file;
	int fd;

	snprintf(path, TEXT_FILE_PATH, "/tmp/weft-text.XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	file = fdopen(fd, "w");
	fputs(text, file);
	fclose(file);
}
