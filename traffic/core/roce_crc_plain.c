// SPDX-License-Identifier: BSD-3-Clause
//
// The file of machines other than x86-64: nobody can ask for a multiplication there, and who does
// gets the table.

#include "traffic/core/roce_crc.h"

uint32_t roce_crc_clmul(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data, size_t len)
{
	return roce_crc_table(roce_crc_table(0, head, ROCE_CRC_HEAD_BYTES), data, len);
}

uint32_t roce_crc_wide(const uint8_t head[ROCE_CRC_HEAD_BYTES], const uint8_t *data, size_t len)
{
	return roce_crc_clmul(head, data, len);
}
