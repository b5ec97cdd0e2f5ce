// SPDX-License-Identifier: BSD-3-Clause
//
// An IP address or prefix of either family, as configurations and tables carry it. Bytes are in
// network order; IPv4 uses the first four. Text is the business of sys and the CLI.
#pragma once

#include "base/types.h"

enum ip_family {
	IP_NONE, // unset
	IP_V4,
	IP_V6,
};

struct ip_prefix {
	uint8_t family; // enum ip_family
	uint8_t len;    // bits, at most 32 or 128
	uint8_t address[16];
};

static inline uint8_t ip_family_bits(uint8_t family)
{
	return family == IP_V6 ? 128 : 32;
}

// True when no bit behind `len` is set.
static inline bool ip_prefix_canonical(const struct ip_prefix *prefix)
{
	for (uint32_t i = prefix->len; i < ip_family_bits(prefix->family); i++) {
		if (prefix->address[i / 8] >> (7 - i % 8) & 1)
			return false;
	}
	return true;
}

// True when the prefix holds this address of the same family.
static inline bool ip_prefix_holds(const struct ip_prefix *prefix, const uint8_t *address)
{
	for (uint32_t i = 0; i < prefix->len; i++) {
		if ((prefix->address[i / 8] ^ address[i / 8]) >> (7 - i % 8) & 1)
			return false;
	}
	return true;
}
