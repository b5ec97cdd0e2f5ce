// SPDX-License-Identifier: BSD-3-Clause
//
// The methods behind roce_crc32() and roce_icrc(). All come to the same: the register of a CRC
// is xored into the first four bytes that follow, so all begins with a register of 0; and as long
// as that is 0, leading zeros leave it so, which lets headers of any length be aligned to their
// end.
#pragma once

#include "traffic/core/roce.h"

// Bytes that a CRC begins with: what has to be changed in a frame's headers before it is summed.
enum { ROCE_CRC_HEAD_BYTES = 64 };

uint32_t roce_crc_table(uint32_t crc, const uint8_t *data, size_t len);

// Over `head` from a register of 0, then over `len` bytes of `data`. The 16 bytes in front of
// `data` may be read, whatever they are; they do not count.
uint32_t roce_crc_clmul(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data, size_t len);
uint32_t roce_crc_wide(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data, size_t len);

// By one of the two, whichever is asked for.
static inline uint32_t roce_crc_multiply(enum roce_crc method,
					 const uint8_t head[ROCE_CRC_HEAD_BYTES],
					 const uint8_t *data, size_t len)
{
	return method == ROCE_CRC_WIDE ? roce_crc_wide(head, data, len) :
					 roce_crc_clmul(head, data, len);
}
