// SPDX-License-Identifier: BSD-3-Clause
//
// Memory of a planner: one range of the caller's, taken from the front. Nothing is freed one by
// one; a mark gives back all that was taken since. A shell that does not know how much a fabric
// needs reserves a large range and lets the kernel commit the pages that are touched.
#pragma once

#include "base/types.h"

struct arena {
	uint8_t *memory; // owned by the caller, aligned to 64
	size_t size;
	size_t used;
};

// Zeroed memory for `count` objects of `bytes` each, aligned to 64; NULL when the range is at its
// end. A count of 0 gives an address that is not to be used.
void *arena_take(struct arena *arena, size_t count, size_t bytes);

// Likewise, not zeroed.
void *arena_take_raw(struct arena *arena, size_t count, size_t bytes);

static inline size_t arena_mark(const struct arena *arena)
{
	return arena->used;
}

// What was taken since the mark is not to be used any more.
static inline void arena_release(struct arena *arena, size_t mark)
{
	arena->used = mark;
}
