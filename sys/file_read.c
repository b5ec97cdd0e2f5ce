// SPDX-License-Identifier: BSD-3-Clause
//
// A file that grows while it is read is cut at the size that it had; one that shrinks is as long as
// what there was to read.

#include "sys/file_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int read_open(FILE *file, size_t most, char **text, size_t *bytes)
{
	struct stat st;

	if (fstat(fileno(file), &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	if ((size_t)st.st_size > most)
		return -EFBIG;
	*text = malloc((size_t)st.st_size + 1);
	if (*text == NULL)
		return -ENOMEM;
	*bytes = fread(*text, 1, (size_t)st.st_size, file);
	(*text)[*bytes] = '\0';
	if (!ferror(file))
		return 0;
	free(*text);
	*text = NULL;
	return -EIO;
}

int file_read(const char *path, size_t most, char **text, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	int rc;

	*text = NULL;
	*bytes = 0;
	if (file == NULL)
		return -errno;
	rc = read_open(file, most, text, bytes);
	fclose(file);
	return rc;
}
