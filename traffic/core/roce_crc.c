// SPDX-License-Identifier: BSD-3-Clause
//
// CRC-32 by table, eight bytes a step: table[k][n] is what the byte n followed by k zero bytes
// makes of a register of 0 (Kounavis and Berry 2005, slicing by eight). For CPUs without a
// multiplication without carries, and for what is too short for it.
//
// A CRC is linear, so each entry is the sum of those of its bits; these 64 are the successive
// remainders of x^32, x^33 and so on, and the compiler makes the 2048 entries of them.

#include "traffic/core/roce_crc.h"

#define ENTRY(n, b7, b6, b5, b4, b3, b2, b1, b0)                                                   \
	(((n) >> 7 & 1) * (b7) ^ ((n) >> 6 & 1) * (b6) ^ ((n) >> 5 & 1) * (b5) ^                   \
	 ((n) >> 4 & 1) * (b4) ^ ((n) >> 3 & 1) * (b3) ^ ((n) >> 2 & 1) * (b2) ^                   \
	 ((n) >> 1 & 1) * (b1) ^ ((n)&1) * (b0))
#define ENTRIES4(n, ...)                                                                           \
	ENTRY(n, __VA_ARGS__), ENTRY((n) + 1, __VA_ARGS__), ENTRY((n) + 2, __VA_ARGS__),           \
		ENTRY((n) + 3, __VA_ARGS__)
#define ENTRIES16(n, ...)                                                                          \
	ENTRIES4(n, __VA_ARGS__), ENTRIES4((n) + 4, __VA_ARGS__), ENTRIES4((n) + 8, __VA_ARGS__),  \
		ENTRIES4((n) + 12, __VA_ARGS__)
#define ENTRIES64(n, ...)                                                                          \
	ENTRIES16(n, __VA_ARGS__), ENTRIES16((n) + 16, __VA_ARGS__),                               \
		ENTRIES16((n) + 32, __VA_ARGS__), ENTRIES16((n) + 48, __VA_ARGS__)
#define SLICE(...)                                                                                 \
	{                                                                                          \
		ENTRIES64(0, __VA_ARGS__), ENTRIES64(64, __VA_ARGS__),                             \
			ENTRIES64(128, __VA_ARGS__), ENTRIES64(192, __VA_ARGS__)                   \
	}

static const uint32_t table[8][256] = {
	SLICE(0xedb88320, 0x76dc4190, 0x3b6e20c8, 0x1db71064, // what 0x80, 0x40, ... make
	      0x0edb8832, 0x076dc419, 0xee0e612c, 0x77073096),
	SLICE(0x3b83984b, 0xf0794f05, 0x958424a2, 0x4ac21251, //
	      0xc8d98a08, 0x646cc504, 0x32366282, 0x191b3141),
	SLICE(0xe1351b80, 0x709a8dc0, 0x384d46e0, 0x1c26a370, //
	      0x0e1351b8, 0x0709a8dc, 0x0384d46e, 0x01c26a37),
	SLICE(0xed59b63b, 0x9b14583d, 0xa032af3e, 0x5019579f, //
	      0xc5b428ef, 0x8f629757, 0xaa09c88b, 0xb8bc6765),
	SLICE(0xb1e6b092, 0x58f35849, 0xc1c12f04, 0x60e09782, //
	      0x30704bc1, 0xf580a6c0, 0x7ac05360, 0x3d6029b0),
	SLICE(0x1eb014d8, 0x0f580a6c, 0x07ac0536, 0x03d6029b, //
	      0xec53826d, 0x9b914216, 0x4dc8a10b, 0xcb5cd3a5),
	SLICE(0x8816eaf2, 0x440b7579, 0xcfbd399c, 0x67de9cce, //
	      0x33ef4e67, 0xf44f2413, 0x979f1129, 0xa6770bb4),
	SLICE(0x533b85da, 0x299dc2ed, 0xf9766256, 0x7cbb312b, //
	      0xd3e51bb5, 0x844a0efa, 0x4225077d, 0xccaa009e),
};

static inline uint32_t four_bytes(uint32_t later, uint32_t word)
{
	return table[later + 3][word & 0xff] ^ table[later + 2][word >> 8 & 0xff] ^
	       table[later + 1][word >> 16 & 0xff] ^ table[later][word >> 24];
}

uint32_t roce_crc_table(uint32_t crc, const uint8_t *data, size_t len)
{
	while (len >= 8) {
		crc = four_bytes(4, load_le32(data) ^ crc) ^ four_bytes(0, load_le32(data + 4));
		data += 8;
		len -= 8;
	}
	for (; len > 0; len--)
		crc = crc >> 8 ^ table[0][(crc ^ *data++) & 0xff];
	return crc;
}

uint32_t roce_crc32(enum roce_crc method, uint32_t crc, const uint8_t *data, size_t len)
{
	uint8_t head[ROCE_CRC_HEAD_BYTES];

	if (method == ROCE_CRC_TABLE || len < sizeof(head))
		return roce_crc_table(crc, data, len);
	memcpy(head, data, sizeof(head));
	store_le32(head, load_le32(head) ^ crc);
	return roce_crc_multiply(method, head, data + sizeof(head), len - sizeof(head));
}
