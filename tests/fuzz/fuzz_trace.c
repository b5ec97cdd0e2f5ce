// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the files of open-loop workloads: traces, and distributions of sizes. The first
// byte of the input chooses which.
//
// Checked: what is read is in range and in order, what is refused is told and leaves nothing
// behind.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/sizes_file.h"
#include "traffic/trace_file.h"

enum { HOSTS = 4, PATH_BYTES = 40, SHARE_STEP = SIZES_WHOLE / 64 };

static bool in_order(const struct trace_row *a, const struct trace_row *b)
{
	if (a->src != b->src)
		return a->src < b->src;
	if (a->dst != b->dst)
		return a->dst < b->dst;
	return a->at.v != b->at.v ? ns_before(a->at, b->at) : a->line < b->line;
}

static int read_trace(const char *path, FILE *errors)
{
	struct trace trace;
	const int rc = trace_file_read(path, HOSTS, errors, &trace);

	WEFT_CHECK((rc == 0) == (trace.row != NULL) && (rc == 0) == (trace.count != 0));
	for (uint32_t i = 0; i < trace.count; i++) {
		const struct trace_row *row = &trace.row[i];

		WEFT_CHECK(row->src < HOSTS && row->dst < HOSTS && row->src != row->dst);
		WEFT_CHECK(row->bytes > 0 && row->bytes <= SIZES_BYTES_MAX);
		WEFT_CHECK(i == 0 || in_order(&trace.row[i - 1], row));
	}
	trace_free(&trace);
	return rc;
}

static int read_sizes(const char *path, FILE *errors)
{
	struct sizes sizes;
	const int rc = sizes_file_read(path, errors, &sizes);
	uint64_t before = 1;

	for (uint32_t share = 0; rc == 0 && share < SIZES_WHOLE; share += SHARE_STEP) {
		const uint64_t bytes = sizes_at(&sizes, share);

		WEFT_CHECK(bytes >= before && bytes <= SIZES_BYTES_MAX);
		before = bytes;
	}
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("weft-fuzz", MFD_CLOEXEC);
	char path[PATH_BYTES];
	char *said = NULL;
	size_t len = 0;
	FILE *errors = open_memstream(&said, &len);
	int rc;

	WEFT_CHECK(fd >= 0 && errors != NULL);
	if (size > 1)
		WEFT_CHECK(write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = size > 0 && data[0] % 2 != 0 ? read_trace(path, errors) : read_sizes(path, errors);
	fclose(errors);
	WEFT_CHECK((rc == 0) == (len == 0));
	WEFT_CHECK(rc == 0 || strncmp(said, path, strlen(path)) == 0);
	free(said);
	close(fd);
	return 0;
}
