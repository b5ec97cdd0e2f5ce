// SPDX-License-Identifier: BSD-3-Clause
//
// FNV-1a, 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): names become addresses and contents
// are compared by it. Not for keys that somebody else chooses: it has no secret.
#pragma once

#include "base/types.h"

// What the hash of nothing is.
#define HASH_EMPTY 14695981039346656037u

// One step. The algorithm takes bytes; wider values are for comparing within this process, where
// all that counts is that each step can be undone.
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 1099511628211u;
}

// Of bytes alone, as other programs and machines have it too.
static inline uint64_t hash_bytes(const void *data, size_t size)
{
	const uint8_t *bytes = data;
	uint64_t hash = HASH_EMPTY;

	for (size_t i = 0; i < size; i++)
		hash = hash_add(hash, bytes[i]);
	return hash;
}

static inline uint64_t hash_text(const char *text)
{
	uint64_t hash = HASH_EMPTY;

	for (const char *c = text; *c != '\0'; c++)
		hash = hash_add(hash, (uint8_t)*c);
	return hash;
}
