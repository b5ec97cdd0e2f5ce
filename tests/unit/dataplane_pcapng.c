// SPDX-License-Identifier: BSD-3-Clause
//
// Blocks of pcapng byte by byte, written down from draft-ietf-opsawg-pcapng sections 4 and 3.5:
// type, total length, body, options, total length. The machine's byte order is little-endian here,
// as is that of the expected bytes.

#include <stdalign.h>
#include <string.h>

#include "dataplane/pcapng.h"
#include "tests/table.h"

static alignas(8) uint8_t out[PCAPNG_BLOCK_MAX];

static uint32_t word(size_t at)
{
	return (uint32_t)out[at] | (uint32_t)out[at + 1] << 8 | (uint32_t)out[at + 2] << 16 |
	       (uint32_t)out[at + 3] << 24;
}

// What holds for every block.
static void check_frame(size_t len, uint32_t type)
{
	cr_assert_eq(len % 4, 0);
	cr_assert_eq(word(0), type);
	cr_assert_eq(word(4), len);
	cr_assert_eq(word(len - 4), len);
	cr_assert_eq(word(len - 8), 0, "opt_endofopt");
}

#define ASSERT_BYTES(len, want)                                                                    \
	do {                                                                                       \
		cr_assert_eq((len), sizeof(want) - 1, "%zu", (len));                               \
		for (size_t i_ = 0; i_ < (len); i_++)                                              \
			cr_assert_eq(out[i_], (uint8_t)(want)[i_], "byte %zu", i_);                \
	} while (0)

Test(pcapng, section)
{
	const size_t len = pcapng_section(out, "weft", "a test");
	static const char want[] = "\x0a\x0d\x0d\x0a"
				   "\x34\0\0\0"
				   "\x4d\x3c\x2b\x1a" // byte order
				   "\x01\0\0\0"       // version 1.0
				   "\xff\xff\xff\xff\xff\xff\xff\xff"
				   "\x04\0\x04\0"
				   "weft" // shb_userappl
				   "\x01\0\x06\0"
				   "a test\0\0" // opt_comment
				   "\0\0\0\0"
				   "\x34\0\0\0";

	check_frame(len, 0x0a0d0d0a);
	ASSERT_BYTES(len, want);
}

Test(pcapng, interface)
{
	const struct pcapng_interface interface = {
		.name = "Ethernet4",
		.description = "",
		.speed_bps = 25000000000,
		.snaplen = 128,
	};
	const size_t len = pcapng_interface(out, &interface);
	static const char want[] = "\x01\0\0\0"
				   "\x3c\0\0\0"
				   "\x01\0\0\0" // LINKTYPE_ETHERNET
				   "\x80\0\0\0" // snaplen
				   "\x02\0\x09\0"
				   "Ethernet4\0\0\0" // if_name
				   "\x08\0\x08\0"
				   "\x00\xba\x1d\xd2\x05\x00\x00\x00" // if_speed
				   "\x09\0\x01\0"
				   "\x09\0\0\0" // if_tsresol: 10^-9
				   "\0\0\0\0"
				   "\x3c\0\0\0";

	check_frame(len, 1);
	ASSERT_BYTES(len, want);
}

Test(pcapng, packet)
{
	static const uint8_t data[] = { 1, 2, 3, 4, 5 };
	const struct pcapng_packet packet = {
		.interface = 2,
		.direction = PCAPNG_OUTBOUND,
		.ns = 0x1122334455667788,
		.lost = 7,
		.data = data,
		.caught = sizeof(data),
		.len = 1500,
		.comment = "drop",
	};
	const size_t len = pcapng_packet(out, &packet);
	static const char want[] = "\x06\0\0\0"
				   "\x48\0\0\0"
				   "\x02\0\0\0"
				   "\x44\x33\x22\x11" // upper half of the time
				   "\x88\x77\x66\x55"
				   "\x05\0\0\0"
				   "\xdc\x05\0\0"
				   "\x01\x02\x03\x04\x05\0\0\0"
				   "\x01\0\x04\0"
				   "drop" // opt_comment
				   "\x02\0\x04\0"
				   "\x02\0\0\0" // epb_flags: outbound
				   "\x04\0\x08\0"
				   "\x07\0\0\0\0\0\0\0" // epb_dropcount
				   "\0\0\0\0"
				   "\x48\0\0\0";

	check_frame(len, 6);
	ASSERT_BYTES(len, want);
}

Test(pcapng, statistics)
{
	const struct pcapng_statistics statistics = {
		.interface = 1,
		.start_ns = 0x100000002,
		.end_ns = 0x300000004,
		.selected = 10,
		.lost = 3,
	};
	const size_t len = pcapng_statistics(out, &statistics);
	static const char want[] = "\x05\0\0\0"
				   "\x4c\0\0\0"
				   "\x01\0\0\0"
				   "\x03\0\0\0\x04\0\0\0"
				   "\x02\0\x08\0"
				   "\x01\0\0\0\x02\0\0\0" // isb_starttime
				   "\x03\0\x08\0"
				   "\x03\0\0\0\x04\0\0\0" // isb_endtime
				   "\x04\0\x08\0"
				   "\x0a\0\0\0\0\0\0\0" // isb_ifrecv
				   "\x05\0\x08\0"
				   "\x03\0\0\0\0\0\0\0" // isb_ifdrop
				   "\0\0\0\0"
				   "\x4c\0\0\0";

	check_frame(len, 5);
	ASSERT_BYTES(len, want);
}

static const struct {
	const char *what;
	uint32_t caught;
	size_t text;
} sizes[] = {
	{ "nothing", 0, 0 },
	{ "one byte", 1, 1 },
	{ "whole words", 64, 8 },
	{ "three of four", 67, 3 },
	{ "the largest of both", PCAPNG_SNAPLEN_MAX, PCAPNG_TEXT_MAX },
	{ "a text too long", 60, PCAPNG_TEXT_MAX + 100 },
};

// 8 for the head, 20 for the fields, the data, 4 and the text if there is one, 8 for the flags, 4
// for the end of options, 4 for the length again.
TABLE_TEST(pcapng, lengths, row, sizes)
{
	static uint8_t data[PCAPNG_SNAPLEN_MAX];
	char text[PCAPNG_TEXT_MAX + 101];
	const size_t kept = row->text < PCAPNG_TEXT_MAX ? row->text : PCAPNG_TEXT_MAX;
	const struct pcapng_packet packet = {
		.direction = PCAPNG_INBOUND,
		.data = data,
		.caught = row->caught,
		.len = row->caught,
		.comment = text,
	};
	size_t len;

	memset(data, 0xff, sizeof(data));
	memset(text, 'x', sizeof(text));
	text[row->text] = '\0';
	memset(out, 0xee, sizeof(out));
	len = pcapng_packet(out, &packet);
	check_frame(len, 6);
	cr_assert_eq(len,
		     8 + 20 + (row->caught + 3) / 4 * 4 + (kept > 0 ? 4 : 0) + (kept + 3) / 4 * 4 +
			     8 + 4 + 4,
		     "%s", row->what);
	for (size_t i = row->caught; i % 4 != 0; i++)
		cr_assert_eq(out[28 + i], 0, "padding");
}
