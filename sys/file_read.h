// SPDX-License-Identifier: BSD-3-Clause
//
// A file as text in memory. Only regular files: what has no size of its own, such as a pipe, could
// be without end.
#pragma once

#include <stddef.h>

// The whole of a regular file of at most `most` bytes, ended by 0, to be freed. 0, or -errno,
// and *text is NULL: -ENOTSUP for what is not regular, -EFBIG.
int file_read(const char *path, size_t most, char **text, size_t *bytes);
