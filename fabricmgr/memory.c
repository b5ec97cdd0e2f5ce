// SPDX-License-Identifier: BSD-3-Clause
//
// Ranges of anonymous memory without a reservation in swap: addresses are plentiful, pages come one
// by one.

#include "fabricmgr/memory.h"

#include <sys/mman.h>

#define ARENA_BYTES ((size_t)16 << 30)

bool memory_open(struct arena *arena)
{
	arena->used = 0;
	arena->size = ARENA_BYTES;
	arena->memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena->memory != MAP_FAILED)
		return true;
	arena->memory = NULL;
	return false;
}

void memory_close(struct arena *arena)
{
	if (arena->memory != NULL)
		munmap(arena->memory, arena->size);
	arena->memory = NULL;
}
