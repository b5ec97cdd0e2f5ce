// SPDX-License-Identifier: BSD-3-Clause
//
// Lines of text that functions write to a FILE ("errors", a dump, a difference), collected in
// memory for whoever passes them on: into an answer, or into the log.
#pragma once

#include <stdio.h>

#include "base/types.h"

struct lines {
	FILE *out;
	char *text;
	size_t bytes;
};

// False when memory is short.
[[nodiscard]] bool lines_open(struct lines *lines);

// All that was written so far, until the next write. Bytes behind a NUL are not seen.
const char *lines_text(struct lines *lines);

// Logs each line as an error, however many there are.
void lines_log(struct lines *lines);

void lines_close(struct lines *lines);
