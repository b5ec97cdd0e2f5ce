// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a file as a whole or not at all: into a temporary file beside it, synchronised, renamed,
// and the directory synchronised. After a crash there is the old file or the new one.
#pragma once

#include <stdio.h>

#include "base/types.h"

enum { FILE_REPLACE_PATH_BYTES = 256 };

struct file_replace {
	char path[FILE_REPLACE_PATH_BYTES];
	char temporary[FILE_REPLACE_PATH_BYTES + 8];
	FILE *file; // to write to
};

// Starts a new content of the file at `path`. 0 or -errno.
int file_replace_open(struct file_replace *replace, const char *path);

// Ends it. 0, or -errno and the file is as it was; after -EIO it may also be the new one, which a
// crash may take back: the disk fails.
int file_replace_finish(struct file_replace *replace);
