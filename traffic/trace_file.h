// SPDX-License-Identifier: BSD-3-Clause
//
// A trace: who sends how many bytes to whom, and when. One message in each line, as `time src dst
// bytes`: time from the beginning in seconds, or with a unit; numbers of hosts; bytes, or with a
// unit.
#pragma once

#include <stdio.h>

#include "base/types.h"

// Messages of a trace, and of all open-loop workloads: each takes 24 to 32 bytes of memory.
enum { TRACE_MAX = 4 << 20 };

struct trace_row {
	ns_t at;
	uint64_t bytes;
	uint32_t src;
	uint32_t dst;
	uint32_t line;
};

struct trace {
	struct trace_row *row; // owned
	uint32_t count;
};

// Reads a trace for so many hosts; its rows are by src, dst and time then, in whatever order the
// lines are. 0, or -errno after a line on `errors` that names file and line.
int trace_file_read(const char *path, uint32_t host_count, FILE *errors, struct trace *out);

void trace_free(struct trace *trace);
