// SPDX-License-Identifier: BSD-3-Clause
//
// The temporary file is always a new one, never one that somebody put there: the directory may be
// another user's and we root. What stdio could not write is found at the end, when the error is
// long gone but for its mark.

#include "sys/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *create_file(const char *path)
{
	FILE *file;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return NULL;
	file = fdopen(fd, "w");
	if (file == NULL)
		close(fd);
	return file;
}

// Renames within a directory that is opened first: once the name is taken nothing but the disk can
// go wrong any more.
static int rename_durably(const char *from, const char *to)
{
	char copy[FILE_REPLACE_PATH_BYTES];
	int fd;
	int rc = 0;

	snprintf(copy, sizeof(copy), "%s", to);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (rename(from, to) != 0)
		rc = -errno;
	else if (fsync(fd) != 0)
		rc = -EIO;
	close(fd);
	return rc;
}

// 0 when all that was written to `file`, at any time, is on the disk. Takes the file.
static int finish_file(FILE *file)
{
	int rc = 0;

	if (ferror(file))
		rc = -EIO;
	else if (fflush(file) != 0 || fsync(fileno(file)) != 0)
		rc = -errno;
	else if (ferror(file))
		rc = -EIO;
	if (fclose(file) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

int file_replace_open(struct file_replace *replace, const char *path)
{
	if (strlen(path) >= sizeof(replace->path))
		return -ENAMETOOLONG;
	snprintf(replace->path, sizeof(replace->path), "%s", path);
	snprintf(replace->temporary, sizeof(replace->temporary), "%s.new", path);
	replace->file = create_file(replace->temporary);
	return replace->file == NULL ? -errno : 0;
}

int file_replace_finish(struct file_replace *replace)
{
	int rc = finish_file(replace->file);

	replace->file = NULL;
	if (rc == 0)
		rc = rename_durably(replace->temporary, replace->path);
	if (rc != 0)
		unlink(replace->temporary);
	return rc;
}
