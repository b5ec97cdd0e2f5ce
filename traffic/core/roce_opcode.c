// SPDX-License-Identifier: BSD-3-Clause
//
// What each opcode carries behind its BTH: table 38 of InfiniBand volume 1 for the reliable
// connection, and annex A17.9 for the congestion notification, which is of no service at all.

#include "traffic/core/roce.h"

enum {
	RETH_BYTES = 16,
	AETH_BYTES = 4,
	IMM_BYTES = 4,
	RESERVED_BYTES = 16,
};

static const uint8_t headers[] = {
	[ROCE_SEND_FIRST] = ROCE_HAS_PAYLOAD,
	[ROCE_SEND_MIDDLE] = ROCE_HAS_PAYLOAD,
	[ROCE_SEND_LAST] = ROCE_HAS_PAYLOAD,
	[ROCE_SEND_LAST_IMM] = ROCE_HAS_IMM | ROCE_HAS_PAYLOAD,
	[ROCE_SEND_ONLY] = ROCE_HAS_PAYLOAD,
	[ROCE_SEND_ONLY_IMM] = ROCE_HAS_IMM | ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_FIRST] = ROCE_HAS_RETH | ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_MIDDLE] = ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_LAST] = ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_LAST_IMM] = ROCE_HAS_IMM | ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_ONLY] = ROCE_HAS_RETH | ROCE_HAS_PAYLOAD,
	[ROCE_WRITE_ONLY_IMM] = ROCE_HAS_RETH | ROCE_HAS_IMM | ROCE_HAS_PAYLOAD,
	[ROCE_READ_REQUEST] = ROCE_HAS_RETH,
	[ROCE_READ_RESPONSE_FIRST] = ROCE_HAS_AETH | ROCE_HAS_PAYLOAD,
	[ROCE_READ_RESPONSE_MIDDLE] = ROCE_HAS_PAYLOAD,
	[ROCE_READ_RESPONSE_LAST] = ROCE_HAS_AETH | ROCE_HAS_PAYLOAD,
	[ROCE_READ_RESPONSE_ONLY] = ROCE_HAS_AETH | ROCE_HAS_PAYLOAD,
	[ROCE_ACK] = ROCE_HAS_AETH,
	[ROCE_CNP] = ROCE_HAS_RESERVED,
};

uint8_t roce_headers(uint8_t opcode)
{
	return opcode < sizeof(headers) ? headers[opcode] : 0;
}

uint32_t roce_extended_bytes(uint8_t opcode)
{
	const uint8_t has = roce_headers(opcode);

	return (has & ROCE_HAS_RETH ? RETH_BYTES : 0) + (has & ROCE_HAS_AETH ? AETH_BYTES : 0) +
	       (has & ROCE_HAS_IMM ? IMM_BYTES : 0) +
	       (has & ROCE_HAS_RESERVED ? RESERVED_BYTES : 0);
}
