// SPDX-License-Identifier: BSD-3-Clause
//
// CRC-32 by multiplication without carries in registers of 512 bits (VPCLMULQDQ): four of them are
// folded 2048 bits at a time, then into one. What is left of the data behind that one is again a
// head of 64 bytes and its data, so roce_crc_clmul() ends it. The constants are made as there, for
// each of the four lanes. The file of x86-64.

#include "traffic/core/roce_crc.h"

#define WIDE __attribute__((target("avx512f,vpclmulqdq")))
#define WIDE_INLINE WIDE __attribute__((always_inline)) static inline
#define LANES(earlier, later)                                                                      \
	{                                                                                          \
		earlier, later, earlier, later, earlier, later, earlier, later                     \
	}

enum { REGISTER = 64, STEP = 4 * REGISTER };

typedef long long lane __attribute__((vector_size(16)));
typedef long long wide __attribute__((vector_size(REGISTER)));
static_assert(sizeof(wide) == ROCE_CRC_HEAD_BYTES, "a head is a register");

static const wide fold2048 = LANES(0x11542778a, 0x1322d1430);
static const wide fold1536 = LANES(0x1821d8bc0, 0x12e958ac4);
static const wide fold1024 = LANES(0x1e88ef372, 0x14a7fe880);
static const wide fold512 = LANES(0x154442bd4, 0x1c6e41596);

WIDE_INLINE wide load(const uint8_t *p)
{
	wide raw;

	memcpy(&raw, p, sizeof(raw));
	return raw;
}

WIDE_INLINE lane load_lane(const uint8_t *p)
{
	lane raw;

	memcpy(&raw, p, sizeof(raw));
	return raw;
}

// What was written by 16 bytes just now is slow to read by more.
WIDE_INLINE wide load_lanes(const uint8_t *p)
{
	return __builtin_shufflevector(
		__builtin_shufflevector(load_lane(p), load_lane(p + 16), 0, 1, 2, 3),
		__builtin_shufflevector(load_lane(p + 32), load_lane(p + 48), 0, 1, 2, 3), 0, 1, 2,
		3, 4, 5, 6, 7);
}

// Compilers have no name for it in common.
WIDE_INLINE wide fold(wide x, wide by)
{
	wide earlier, later;

	__asm__("vpclmulqdq $0x00, %2, %1, %0" : "=v"(earlier) : "v"(x), "v"(by));
	__asm__("vpclmulqdq $0x11, %2, %1, %0" : "=v"(later) : "v"(x), "v"(by));
	return earlier ^ later;
}

WIDE uint32_t roce_crc_wide(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data,
			    size_t len)
{
	uint8_t rest[ROCE_CRC_HEAD_BYTES];
	wide d = load_lanes(head);

	if (len >= STEP) {
		wide a = d, b = load(data), c = load(data + REGISTER);

		d = load(data + 2 * REGISTER);
		data += 3 * REGISTER;
		for (len -= 3 * REGISTER; len >= STEP; len -= STEP, data += STEP) {
			a = fold(a, fold2048) ^ load(data);
			b = fold(b, fold2048) ^ load(data + REGISTER);
			c = fold(c, fold2048) ^ load(data + 2 * REGISTER);
			d = fold(d, fold2048) ^ load(data + 3 * REGISTER);
		}
		d ^= fold(a, fold1536) ^ fold(b, fold1024) ^ fold(c, fold512);
	}
	for (; len >= REGISTER; len -= REGISTER, data += REGISTER)
		d = fold(d, fold512) ^ load(data);
	memcpy(rest, &d, sizeof(rest));
	return roce_crc_clmul(rest, data, len);
}
