// SPDX-License-Identifier: BSD-3-Clause
//
// The ICRC against frames of others: kernel soft-RoCE hosts in captures of a switch, before and
// after it marked them, and two frames that ConnectX adapters sent.

#include <string.h>

#include "ecn/ecn.h"
#include "tests/capture_file.h"
#include "tests/table.h"
#include "traffic/core/roce.h"
#include "traffic/crc.h"

enum {
	IP_AT = 14,
	TTL_AT = IP_AT + 8,
	CHECKSUM_AT = IP_AT + 10,
	UDP_CHECKSUM_AT = IP_AT + 26,
	FECN_AT = IP_AT + 32
};

static const struct {
	const char *what;
	enum roce_crc method;
	const char *file;
	uint32_t frames;
} captures[] = {
	{ "as sent, table", ROCE_CRC_TABLE, CAPTURES "/rxe-ect0.pcap", 105 },
	{ "as sent, clmul", ROCE_CRC_CLMUL, CAPTURES "/rxe-ect0.pcap", 105 },
	{ "as sent, wide", ROCE_CRC_WIDE, CAPTURES "/rxe-ect0.pcap", 105 },
	{ "marked, table", ROCE_CRC_TABLE, CAPTURES "/rxe-ce.pcap", 100 },
	{ "marked, clmul", ROCE_CRC_CLMUL, CAPTURES "/rxe-ce.pcap", 100 },
	{ "marked, wide", ROCE_CRC_WIDE, CAPTURES "/rxe-ce.pcap", 100 },
};

// By this method, or the best that the processor has.
static bool is_right(enum roce_crc wanted, const struct capture_file *capture)
{
	const enum roce_crc method = wanted <= crc_method() ? wanted : crc_method();
	const uint32_t at = capture->len - ROCE_ICRC_BYTES;

	return roce_icrc(method, capture->frame, IP_AT, at) == load_le32(capture->frame + at);
}

// All frames of those captures are RoCEv2 over IPv4, among them opcodes of no reliable connection.
TABLE_TEST(roce_icrc, captured_frames_are_right, row, captures)
{
	struct capture_file capture;
	uint32_t frames = 0;

	capture_open(&capture, row->file);
	for (; capture_next(&capture); frames++)
		cr_expect(is_right(row->method, &capture), "%s: frame %u", row->what, frames + 1);
	cr_assert_eq(frames, row->frames);
}

TABLE_TEST(roce_icrc, what_a_switch_may_write_is_not_covered, row, captures)
{
	struct capture_file capture;

	capture_open(&capture, row->file);
	while (capture_next(&capture)) {
		uint8_t *frame = capture.frame;

		frame[TTL_AT]--;
		ip_dscp_set_v4(frame + IP_AT, 7);
		ip_ecn_mark_v4(frame + IP_AT);
		store_be16(frame + CHECKSUM_AT, 0x5555);
		store_be16(frame + UDP_CHECKSUM_AT, 0x7777);
		frame[FECN_AT] ^= 0xff;
		memset(frame, 0xee, 12);
		cr_assert(is_right(row->method, &capture), "%s", row->what);
	}
}

// Every other bit of a frame counts.
TABLE_TEST(roce_icrc, all_else_is_covered, row, captures)
{
	static const uint8_t free_bits[IP_AT + 40] = {
		[0 ... IP_AT - 1] = 0xff, [IP_AT + 1] = 0xff,           [TTL_AT] = 0xff,
		[CHECKSUM_AT] = 0xff,     [CHECKSUM_AT + 1] = 0xff,     [FECN_AT] = 0xff,
		[UDP_CHECKSUM_AT] = 0xff, [UDP_CHECKSUM_AT + 1] = 0xff,
		[IP_AT] = 0xf0, // the version is how the header is known
	};
	struct capture_file capture;

	capture_open(&capture, row->file);
	cr_assert(capture_next(&capture));
	for (uint32_t bit = 0; bit < capture.len * 8; bit++) {
		const uint32_t at = bit / 8;
		const bool is_free = at < sizeof(free_bits) && free_bits[at] >> bit % 8 & 1;

		if (is_free)
			continue;
		capture.frame[at] ^= (uint8_t)(1 << bit % 8);
		cr_expect(!is_right(row->method, &capture), "%s: bit %u", row->what, bit);
		capture.frame[at] ^= (uint8_t)(1 << bit % 8);
	}
	cr_assert(is_right(row->method, &capture));
	while (capture_next(&capture))
		continue;
}

// The check value that catalogues of CRCs publish for CRC-32/ISO-HDLC, and the register after what
// is no byte at all.
TABLE_TEST(roce_icrc, crc_check_value, row, captures)
{
	const uint8_t digits[] = { '1', '2', '3', '4', '5', '6', '7', '8', '9' };

	cr_assert_eq(~roce_crc32(row->method, 0xffffffff, digits, sizeof(digits)), 0xcbf43926);
	cr_assert_eq(roce_crc32(row->method, 0x12345678, digits, 0), 0x12345678);
}

// A CNP of a ConnectX-4 Lx, and a SEND ONLY of the unreliable connection with two bytes of padding:
// published captures of real adapters, without Ethernet's addresses. The latter has a UDP checksum.
static const uint8_t adapter_cnp[] = {
	0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x08, 0x00, 0x45,
	0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01,
	0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00, 0xff,
	0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};
static const uint8_t adapter_send[] = {
	0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x08, 0x00, //
	0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11, 0xb4, 0xd5,             //
	0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07,                                     //
	0xc0, 0x00, 0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2,                                     //
	0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,             //
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01,
	0xbe, 0x88,             //
	0x5e, 0x50, 0x00, 0x00, //
	0x78, 0xf3, 0x53, 0xf3,
};
static const struct {
	const char *what;
	const uint8_t *frame;
	uint32_t len;
} adapters[] = {
	{ "CNP", adapter_cnp, sizeof(adapter_cnp) },
	{ "SEND", adapter_send, sizeof(adapter_send) },
};

TABLE_TEST(roce_icrc, frames_of_adapters_are_right, row, adapters)
{
	const uint32_t at = row->len - ROCE_ICRC_BYTES;
	const uint32_t want = load_le32(row->frame + at);

	for (uint32_t method = 0; method <= crc_method(); method++)
		cr_expect_eq(roce_icrc((enum roce_crc)method, row->frame, IP_AT, at), want,
			     "%s, %u", row->what, method);
}
