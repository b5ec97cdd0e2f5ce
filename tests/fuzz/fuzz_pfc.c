// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the PFC decoder and of the receiver behind it. The input is a sequence of frames:
//
//   byte 0: obeyed priorities   byte 1: rate, by index   then records of
//   byte 0: L2 length (14, 18, 22 or its own value)   byte 1: frame length
//   bytes 2-3: nanoseconds since the last record, times 256   then the frame
//
// Checked: no byte beyond the frame is read (each is copied to memory of its own length); what
// decodes encodes to a frame that decodes to the same; the receiver's counters agree with its
// state.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "pfc/pfc.h"
#include "tests/fuzz/fuzz.h"

enum { SEQUENCE_HEADER_BYTES = 2, RECORD_HEADER_BYTES = 4 };

static const uint64_t rates[] = { 0, 1, 1000000000, 10000000000, 100000000000, 800000000000 };

static void check_round_trip(const struct pfc_frame *frame)
{
	static const uint8_t src[6] = { 0x02 };
	uint8_t wire[PFC_FRAME_BYTES];
	struct pfc_frame back;

	pfc_frame_encode(frame, src, wire);
	WEFT_CHECK(pfc_frame_decode(wire, sizeof(wire), 14, &back) == PFC_FRAME_PFC);
	WEFT_CHECK(back.enable == frame->enable);
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		WEFT_CHECK(back.quanta[prio] == frame->quanta[prio]);
		WEFT_CHECK((frame->enable >> prio & 1) != 0 || frame->quanta[prio] == 0);
	}
}

static void check_receiver(const struct pfc_rx_profile *pf, struct pfc_rx_state *st, ns_t now)
{
	const uint8_t paused = pfc_rx_paused(st, now);

	WEFT_CHECK((paused & ~pf->obey) == 0);
	WEFT_CHECK(pf->bps != 0 || paused == 0);
	for (uint8_t prio = 0; prio < PRIO_COUNT; prio++) {
		const bool is_paused = paused >> prio & 1;

		WEFT_CHECK(st->pauses[prio] - st->resumes[prio] == is_paused);
		WEFT_CHECK(!is_paused || ns_before(now, st->until[prio]));
		WEFT_CHECK(!is_paused || !ns_before(st->until[prio], st->expires));
		WEFT_CHECK(pfc_rx_paused_ns(st, (prio_t){ prio }, now) <= now.v);
	}
}

// Decodes from a copy that ends where the frame ends.
static void receive(const struct pfc_rx_profile *pf, struct pfc_rx_state *st, const uint8_t *data,
		    uint32_t len, uint32_t l2_len, ns_t now)
{
	uint8_t *copy = malloc(len);
	struct pfc_frame frame;

	if (len > 0)
		memcpy(copy, data, len);
	if (pfc_frame_decode(copy, len, l2_len, &frame) == PFC_FRAME_PFC) {
		check_round_trip(&frame);
		pfc_rx_frame(pf, st, &frame, now);
	}
	check_receiver(pf, st, now);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t l2_lens[] = { 14, 18, 22 };
	struct pfc_rx_state st = { 0 };
	struct pfc_rx_profile pf;
	ns_t now = { 0 };

	if (size < SEQUENCE_HEADER_BYTES)
		return 0;
	pf = (struct pfc_rx_profile){ data[0],
				      rates[data[1] % (sizeof(rates) / sizeof(rates[0]))] };
	data += SEQUENCE_HEADER_BYTES;
	size -= SEQUENCE_HEADER_BYTES;
	while (size >= RECORD_HEADER_BYTES) {
		const uint32_t l2_len = data[0] < 3 ? l2_lens[data[0]] : data[0];
		uint32_t len = data[1];

		now = ns_add(now, load_be16(data + 2) * 256u);
		data += RECORD_HEADER_BYTES;
		size -= RECORD_HEADER_BYTES;
		len = len < size ? len : (uint32_t)size;
		receive(&pf, &st, data, len, l2_len, now);
		data += len;
		size -= len;
	}
	pfc_rx_resume(&st, 0, now);
	check_receiver(&pf, &st, now);
	return 0;
}
