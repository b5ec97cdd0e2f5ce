// SPDX-License-Identifier: BSD-3-Clause
//
// Network-order loads and stores, and those of the one little-endian field (the ICRC). Callers have
// checked the bounds: `frame_has()` is the one way to ask. Wire data is never read through a struct
// laid over the buffer.
#pragma once

#include <string.h>

#include "base/types.h"

// True when `count` bytes at `offset` lie inside a buffer of `len` bytes; no overflow.
static inline bool frame_has(uint32_t len, uint32_t offset, uint32_t count)
{
	return offset <= len && count <= len - offset;
}

static inline uint16_t load_be16(const uint8_t *p)
{
	uint16_t raw;

	memcpy(&raw, p, sizeof(raw));
	return __builtin_bswap16(raw);
}

static inline uint32_t load_be32(const uint8_t *p)
{
	uint32_t raw;

	memcpy(&raw, p, sizeof(raw));
	return __builtin_bswap32(raw);
}

static inline uint64_t load_be64(const uint8_t *p)
{
	uint64_t raw;

	memcpy(&raw, p, sizeof(raw));
	return __builtin_bswap64(raw);
}

static inline uint32_t load_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | load_be16(p + 1);
}

// A MAC address as an integer, first byte on the wire in bits 47..40.
static inline uint64_t load_be48(const uint8_t *p)
{
	return (uint64_t)load_be32(p) << 16 | load_be16(p + 4);
}

static inline uint32_t load_le32(const uint8_t *p)
{
	uint32_t raw;

	memcpy(&raw, p, sizeof(raw));
	return raw;
}

static inline void store_le32(uint8_t *p, uint32_t value)
{
	memcpy(p, &value, sizeof(value));
}

static inline void store_be16(uint8_t *p, uint16_t value)
{
	uint16_t raw = __builtin_bswap16(value);

	memcpy(p, &raw, sizeof(raw));
}

static inline void store_be32(uint8_t *p, uint32_t value)
{
	uint32_t raw = __builtin_bswap32(value);

	memcpy(p, &raw, sizeof(raw));
}

static inline void store_be48(uint8_t *p, uint64_t value)
{
	store_be16(p, (uint16_t)(value >> 32));
	store_be32(p + 2, (uint32_t)value);
}
