// SPDX-License-Identifier: BSD-3-Clause
//
// The arena of planners: each object starts on a cache line of its own, so that arrays which are
// walked side by side do not share one.

#include "routing/arena.h"

#include <string.h>

enum { ARENA_ALIGN = 64 };

void *arena_take_raw(struct arena *arena, size_t count, size_t bytes)
{
	const size_t left = arena->size - arena->used;
	size_t need;
	void *object;

	if (__builtin_mul_overflow(count, bytes, &need) ||
	    __builtin_add_overflow(need, ARENA_ALIGN - 1, &need))
		return NULL;
	need &= ~(size_t)(ARENA_ALIGN - 1);
	if (need > left)
		return NULL;
	object = arena->memory + arena->used;
	arena->used += need;
	return object;
}

void *arena_take(struct arena *arena, size_t count, size_t bytes)
{
	void *object = arena_take_raw(arena, count, bytes);

	if (object != NULL)
		memset(object, 0, count * bytes);
	return object;
}
