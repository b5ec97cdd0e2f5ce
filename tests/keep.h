// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that a test case needs until its process ends: it is given back at exit, so that what the
// leak checker reports is a leak of the code under test. Each test case is a process of its own.
#pragma once

#include <stdlib.h>

#include "base/check.h"

enum { KEEP_MAX = 64 };

static void *keep_memory[KEEP_MAX];
static int keep_count;

static inline void keep_free(void)
{
	while (keep_count > 0)
		free(keep_memory[--keep_count]);
}

// Takes what malloc() and its like gave, not NULL, and returns it.
static inline void *keep(void *memory)
{
	WEFT_CHECK(memory != NULL && keep_count < KEEP_MAX);
	if (keep_count == 0)
		atexit(keep_free);
	keep_memory[keep_count++] = memory;
	return memory;
}
