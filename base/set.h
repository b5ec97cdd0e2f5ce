// SPDX-License-Identifier: BSD-3-Clause
//
// A set of ports as a fixed bitmap: copies by value, walks in index order. Membership of VLANs, the
// ports that a flood goes to, and the ports that the core has to look at again are such sets.
// A member is below PORT_SET_MAX; PORT_NONE is not, and ends a walk.
#pragma once

#include "base/types.h"

enum { PORT_SET_WORDS = 4, PORT_SET_MAX = 64 * PORT_SET_WORDS };

struct port_set {
	uint64_t word[PORT_SET_WORDS];
};

static inline void port_set_add(struct port_set *set, port_t port)
{
	set->word[port.v / 64] |= 1ull << port.v % 64;
}

static inline void port_set_remove(struct port_set *set, port_t port)
{
	set->word[port.v / 64] &= ~(1ull << port.v % 64);
}

static inline bool port_set_has(const struct port_set *set, port_t port)
{
	return set->word[port.v / 64] >> port.v % 64 & 1;
}

static inline bool port_set_empty(const struct port_set *set)
{
	return (set->word[0] | set->word[1] | set->word[2] | set->word[3]) == 0;
}

// First member at or after `from`, PORT_NONE when there is none.
static inline port_t port_set_next(const struct port_set *set, uint32_t from)
{
	for (uint32_t i = from / 64; i < PORT_SET_WORDS; i++) {
		uint64_t word = set->word[i];

		if (i == from / 64)
			word &= UINT64_MAX << from % 64;
		if (word != 0)
			return (port_t){ (uint16_t)(i * 64 + (uint32_t)__builtin_ctzll(word)) };
	}
	return PORT_NONE;
}

// Walks the members in order; the set may lose the current member inside the body.
#define PORT_SET_FOR_EACH(port, set)                                                               \
	for (port_t port = port_set_next((set), 0); port.v != PORT_NONE.v;                         \
	     port = port_set_next((set), (uint32_t)port.v + 1))
