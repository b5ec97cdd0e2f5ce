// SPDX-License-Identifier: BSD-3-Clause
//
// The PFC frame on the wire: IEEE 802.1Q clause 36 in the MAC control frame of 802.3 annex 31D.
//
//   destination 01:80:c2:00:00:01, source, EtherType 0x8808, opcode 0x0101,
//   16-bit class-enable vector (low byte used), eight 16-bit timers in quanta, zero padding
//
// A timer whose enable bit is clear has no meaning; it reads and is written as 0, so that nothing
// behind the decoder can obey it by mistake.

#include "pfc/pfc.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"

enum {
	L2_BYTES = 14,
	OPCODE_BYTES = 2,
	PAUSE_BODY_BYTES = OPCODE_BYTES + 2,                // opcode, timer
	PFC_BODY_BYTES = OPCODE_BYTES + 2 + 2 * PRIO_COUNT, // opcode, vector, timers
};

static_assert(L2_BYTES + PFC_BODY_BYTES <= PFC_FRAME_BYTES, "the fields fit the minimum frame");

static const uint8_t pause_address[6] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

void pfc_frame_encode(const struct pfc_frame *frame, const uint8_t src[6],
		      uint8_t out[PFC_FRAME_BYTES])
{
	uint8_t *body = out + L2_BYTES;

	memset(out, 0, PFC_FRAME_BYTES);
	memcpy(out, pause_address, sizeof(pause_address));
	memcpy(out + 6, src, 6);
	store_be16(out + 12, PFC_ETHERTYPE);
	store_be16(body, PFC_OPCODE_PFC);
	store_be16(body + 2, frame->enable);
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (frame->enable >> prio & 1)
			store_be16(body + 4 + 2 * prio, frame->quanta[prio]);
	}
}

enum pfc_verdict pfc_frame_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t l2_len,
				  struct pfc_frame *out)
{
	const uint8_t *body = frame_bytes + l2_len;

	if (!frame_has(len, l2_len, OPCODE_BYTES))
		return PFC_FRAME_TRUNCATED;
	if (load_be16(body) == PFC_OPCODE_PAUSE)
		return frame_has(len, l2_len, PAUSE_BODY_BYTES) ? PFC_FRAME_GLOBAL_PAUSE :
								  PFC_FRAME_TRUNCATED;
	if (load_be16(body) != PFC_OPCODE_PFC)
		return PFC_FRAME_UNKNOWN;
	if (!frame_has(len, l2_len, PFC_BODY_BYTES))
		return PFC_FRAME_TRUNCATED;

	*out = (struct pfc_frame){ .enable = body[3] };
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (out->enable >> prio & 1)
			out->quanta[prio] = load_be16(body + 4 + 2 * prio);
	}
	return PFC_FRAME_PFC;
}

uint64_t pfc_quanta_ns(uint32_t quanta, uint64_t bps)
{
	// 2^25 * 512 * 10^9 is the largest product below 2^64.
	WEFT_DEBUG_CHECK(quanta < 1u << 25);
	return bps == 0 ? 0 : (uint64_t)quanta * PFC_QUANTUM_BITS * 1000000000u / bps;
}
