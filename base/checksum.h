// SPDX-License-Identifier: BSD-3-Clause
//
// The internet checksum (RFC 1071) of headers and messages that the switch reads or writes itself.
// Forwarded packets keep theirs and change it by the difference (RFC 1624), where they are changed.
//
// Invariant: no sum of less than 64 KiB overflows.
#pragma once

#include "base/bytes.h"

// Adds big-endian words; an odd byte at the end is the upper half of one, so it comes last of all.
static inline uint32_t checksum_add(uint32_t sum, const uint8_t *p, uint32_t bytes)
{
	for (uint32_t i = 0; i + 1 < bytes; i += 2)
		sum += load_be16(p + i);
	return bytes % 2 != 0 ? sum + ((uint32_t)p[bytes - 1] << 8) : sum;
}

// What goes into the packet, whose field was 0 in the sum; 0 when it was there and is right.
static inline uint16_t checksum_end(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}
