// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of endpoints, jobs and regions: zeroed, in whole cache lines, so that none is shared with
// what lies beside it. At least one, so that there is always something to free.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// NULL: there is none left.
static inline void *zeroed(uint64_t bytes)
{
	enum { LINE = 64 };
	const size_t rounded = bytes == 0 ? LINE : (size_t)(bytes + LINE - 1) / LINE * LINE;
	void *memory = aligned_alloc(LINE, rounded);

	if (memory != NULL)
		memset(memory, 0, rounded);
	return memory;
}
