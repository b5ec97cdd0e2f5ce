// SPDX-License-Identifier: BSD-3-Clause
//
// pfc/frame.c against the layout of 802.1Q clause 36 / 802.3 annex 31D, written out by hand, and
// the lengths of pauses against 512 bit times.

#include <string.h>

#include "pfc/pfc.h"
#include "tests/table.h"

static const uint8_t port_mac[6] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };

// Priorities 3 and 4 for 65535 quanta.
static const uint8_t xoff_wire[PFC_FRAME_BYTES] = {
	0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x11, 0x22, 0x33, 0x44, 0x55, // addresses
	0x88, 0x08, 0x01, 0x01, 0x00, 0x18,             // type, opcode, vector
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, // timers 0..3
	0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // timers 4..7, padding
};

static const struct {
	const char *what;
	struct pfc_frame in;
	uint16_t vector;
	uint16_t timer[PRIO_COUNT];
} encode_rows[] = {
	{ "XOFF of two",
	  { 0x18, { [3] = 0xffff, [4] = 0xffff } },
	  0x18,
	  { [3] = 0xffff, [4] = 0xffff } },
	{ "XON is timer 0", { 0x08, { 0 } }, 0x08, { 0 } },
	{ "XOFF and XON in one", { 0x81, { [0] = 0x1234 } }, 0x81, { [0] = 0x1234 } },
	{ "all", { 0xff, { 1, 2, 3, 4, 5, 6, 7, 8 } }, 0xff, { 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ "timers that are not enabled go out as 0",
	  { 0x02, { 9, 9, 9, 9, 9, 9, 9, 9 } },
	  0x02,
	  { [1] = 9 } },
	{ "nothing", { 0 }, 0, { 0 } },
};

TABLE_TEST(pfc_frame, encodes, row, encode_rows)
{
	uint8_t want[PFC_FRAME_BYTES], got[PFC_FRAME_BYTES];
	struct pfc_frame back;

	memcpy(want, xoff_wire, sizeof(want));
	memset(want + 16, 0, sizeof(want) - 16);
	want[17] = (uint8_t)row->vector;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		want[18 + 2 * i] = (uint8_t)(row->timer[i] >> 8);
		want[19 + 2 * i] = (uint8_t)row->timer[i];
	}
	memset(got, 0xee, sizeof(got));
	pfc_frame_encode(&row->in, port_mac, got);
	cr_assert_eq(memcmp(got, want, sizeof(want)), 0, "%s", row->what);

	cr_assert_eq(pfc_frame_decode(got, sizeof(got), 14, &back), PFC_FRAME_PFC, "%s", row->what);
	cr_assert_eq(back.enable, row->vector, "%s", row->what);
	cr_assert_eq(memcmp(back.quanta, row->timer, sizeof(row->timer)), 0, "%s", row->what);
}

Test(pfc_frame, encodes_the_bytes_of_the_standard)
{
	const struct pfc_frame frame = { 0x18, { [3] = 0xffff, [4] = 0xffff } };
	uint8_t got[PFC_FRAME_BYTES];

	pfc_frame_encode(&frame, port_mac, got);
	cr_assert_eq(memcmp(got, xoff_wire, sizeof(got)), 0);
}

static const struct {
	const char *what;
	uint32_t len;
	uint32_t at; // one byte of xoff_wire is replaced
	uint8_t byte;
	enum pfc_verdict want;
	uint8_t enable;
} decode_rows[] = {
	{ "as sent", 60, 0, 0x01, PFC_FRAME_PFC, 0x18 },
	{ "the last timer ends the fields", 34, 0, 0x01, PFC_FRAME_PFC, 0x18 },
	{ "one byte short", 33, 0, 0x01, PFC_FRAME_TRUNCATED, 0 },
	{ "the high byte of the vector is reserved", 60, 16, 0xff, PFC_FRAME_PFC, 0x18 },
	{ "an all-clear vector", 60, 17, 0x00, PFC_FRAME_PFC, 0x00 },
	{ "any vector", 60, 17, 0xa5, PFC_FRAME_PFC, 0xa5 },
	{ "802.3x pause", 60, 14, 0x00, PFC_FRAME_GLOBAL_PAUSE, 0 },
	{ "802.3x pause ends behind its timer", 18, 14, 0x00, PFC_FRAME_GLOBAL_PAUSE, 0 },
	{ "802.3x pause without its timer", 17, 14, 0x00, PFC_FRAME_TRUNCATED, 0 },
	{ "another opcode", 60, 15, 0x02, PFC_FRAME_UNKNOWN, 0 },
	{ "another opcode needs no body", 16, 15, 0x02, PFC_FRAME_UNKNOWN, 0 },
	{ "half an opcode", 15, 0, 0x01, PFC_FRAME_TRUNCATED, 0 },
	{ "no opcode", 14, 0, 0x01, PFC_FRAME_TRUNCATED, 0 },
	{ "no header", 5, 0, 0x01, PFC_FRAME_TRUNCATED, 0 },
	{ "the destination is the caller's business", 60, 0, 0xff, PFC_FRAME_PFC, 0x18 },
};

TABLE_TEST(pfc_frame, decodes, row, decode_rows)
{
	uint8_t wire[PFC_FRAME_BYTES];
	struct pfc_frame frame = { .enable = 0x5a };

	memcpy(wire, xoff_wire, sizeof(wire));
	wire[row->at] = row->byte;
	cr_assert_eq(pfc_frame_decode(wire, row->len, 14, &frame), row->want, "%s", row->what);
	cr_assert_eq(frame.enable, row->want == PFC_FRAME_PFC ? row->enable : 0x5a, "%s: 0x%02x",
		     row->what, frame.enable);
}

// A source address of zero is still obeyed: some NICs send it.
Test(pfc_frame, zero_source_is_decoded)
{
	uint8_t wire[PFC_FRAME_BYTES];
	struct pfc_frame frame;

	memcpy(wire, xoff_wire, sizeof(wire));
	memset(wire + 6, 0, 6);
	cr_assert_eq(pfc_frame_decode(wire, sizeof(wire), 14, &frame), PFC_FRAME_PFC);
	cr_assert_eq(frame.quanta[3], 0xffff);
}

Test(pfc_frame, timers_without_enable_bit_are_ignored)
{
	uint8_t wire[PFC_FRAME_BYTES];
	struct pfc_frame frame;

	memcpy(wire, xoff_wire, sizeof(wire));
	memset(wire + 18, 0xab, 16);
	wire[17] = 1u << 6;
	cr_assert_eq(pfc_frame_decode(wire, sizeof(wire), 14, &frame), PFC_FRAME_PFC);
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
		cr_assert_eq(frame.quanta[prio], prio == 6 ? 0xabab : 0, "priority %u", prio);
}

Test(pfc_frame, decodes_behind_a_priority_tag)
{
	uint8_t wire[PFC_FRAME_BYTES + 4];
	struct pfc_frame frame;

	memcpy(wire, xoff_wire, 12);
	memcpy(wire + 12, (uint8_t[4]){ 0x81, 0x00, 0xe0, 0x00 }, 4);
	memcpy(wire + 16, xoff_wire + 12, PFC_FRAME_BYTES - 12);
	cr_assert_eq(pfc_frame_decode(wire, sizeof(wire), 18, &frame), PFC_FRAME_PFC);
	cr_assert_eq(frame.enable, 0x18);
}

// 512 bit times are 51.2 ns at 10G, and 65535 of them 3.355 ms; and so on in inverse proportion.
static const struct {
	const char *what;
	uint32_t quanta;
	uint64_t bps;
	uint64_t want_ns;
} quanta_rows[] = {
	{ "none", 0, 10000000000, 0 },
	{ "no rate", 65535, 0, 0 },
	{ "one at 1G", 1, 1000000000, 512 },
	{ "one at 10G is 51.2 ns", 1, 10000000000, 51 },
	{ "five at 10G are whole", 5, 10000000000, 256 },
	{ "all at 1G", 65535, 1000000000, 33553920 },
	{ "all at 10G", 65535, 10000000000, 3355392 },
	{ "all at 25G: 1342156.8", 65535, 25000000000, 1342156 },
	{ "all at 40G", 65535, 40000000000, 838848 },
	{ "all at 100G: 335539.2", 65535, 100000000000, 335539 },
	{ "all at 400G: 83884.8", 65535, 400000000000, 83884 },
	{ "peer response at 100G: 394 * 5.12", 394, 100000000000, 2017 },
	{ "less than 1 ns at 800G", 1, 800000000000, 0 },
	{ "the largest sum at 1 bit/s", 131070, 1, 67107840000000000 },
};

TABLE_TEST(pfc_frame, quanta_are_512_bit_times, row, quanta_rows)
{
	cr_assert_eq(pfc_quanta_ns(row->quanta, row->bps), row->want_ns, "%s: %lu", row->what,
		     pfc_quanta_ns(row->quanta, row->bps));
}
