// SPDX-License-Identifier: BSD-3-Clause
//
// Echo requests that become replies. Checksums are verified by sums over everything they cover (RFC
// 791, 792, 4443), while the code updates them by what has changed.

#include "dataplane/echo.h"

#include <string.h>

#include "tests/frame_text.h"
#include "tests/host/frame.h"
#include "tests/table.h"

enum { L3_AT = 14, HOPS = 64 };

#define OWN_MAC 0x02aa00000001u
#define ETH(type) "02aa00000001 020000000002 " type " "
#define V4(head, bytes, fragment, hops, proto, from)                                               \
	ETH("0800")                                                                                \
	head " 03 " bytes " 0001 " fragment " " hops " " proto " 0000 " from " 0a010001 "
#define V6(bytes, next, from)                                                                      \
	ETH("86dd") "60300000 " bytes " " next " 07 " from "fd000001000000000000000000000001 "
#define HOST6 "fd000001000000000000000000000002 "

static uint16_t icmp_sum(const uint8_t *ip, uint32_t at, uint32_t end, bool ipv6)
{
	const uint32_t bytes = end - at;
	const uint32_t pseudo = ipv6 ? frame_sum(ip + 8, 32, bytes + 58) : 0;

	return frame_sum(ip + at, bytes, pseudo);
}

static const struct {
	const char *what;
	const char *frame;
	bool answered;
} echo_rows[] = {
	{ "IPv4",
	  V4("45", "0021", "0000", "07", "01", "0a010002") "08 00 0000 1234 0001 6162636465",
	  true },
	{ "with options and DF",
	  V4("46", "0020", "4000", "07", "01", "0a010002") "01010100 08 00 0000 1234 0001", true },
	{ "a type whose checksum carries",
	  V4("45", "001c", "0000", "07", "01", "0a010002") "08 00 0000 ffff f7ff", true },
	{ "the reply", V4("45", "001c", "0000", "07", "01", "0a010002") "00 00 0000 1234 0001",
	  false },
	{ "a code", V4("45", "001c", "0000", "07", "01", "0a010002") "08 01 0000 1234 0001",
	  false },
	{ "a fragment", V4("45", "001c", "2000", "07", "01", "0a010002") "08 00 0000 1234 0001",
	  false },
	{ "the last fragment",
	  V4("45", "001c", "0001", "07", "01", "0a010002") "08 00 0000 1234 0001", false },
	{ "UDP", V4("45", "001c", "0000", "07", "11", "0a010002") "0800 0000 1234 0001", false },
	{ "from a group", V4("45", "001c", "0000", "07", "01", "e0000001") "08 00 0000 1234 0001",
	  false },
	{ "from nobody", V4("45", "001c", "0000", "07", "01", "00000000") "08 00 0000 1234 0001",
	  false },
	{ "a header that is too short",
	  V4("44", "001c", "0000", "07", "01", "0a010002") "08 00 0000 1234 0001", false },
	{ "a header longer than the frame",
	  V4("4f", "001c", "0000", "07", "01", "0a010002") "08 00 0000 1234 0001", false },
	{ "IPv6", V6("000b", "3a", HOST6) "80 00 0000 1234 0001 616263", true },
	{ "the IPv6 reply", V6("0008", "3a", HOST6) "81 00 0000 1234 0001", false },
	{ "from an IPv6 group",
	  V6("0008", "3a", "ff020000000000000000000000000001 ") "80 00 0000 1234 "
								"0001",
	  false },
	{ "from no IPv6 address",
	  V6("0008", "3a", "00000000000000000000000000000000 ") "80 00 0000 1234 0001", false },
	{ "behind an extension", V6("0010", "00", HOST6) "3a00 010400000000 80 00 0000 1234 0001",
	  false },
	{ "IPv6 that ends early", V6("0008", "3a", HOST6) "80 00 0000 1234 00", false },
};

TABLE_TEST(echo, answers, row, echo_rows)
{
	uint8_t frame[FRAME_TEXT_MAX] = { 0 };
	uint8_t before[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(row->frame, frame);
	const bool ipv6 = load_be16(frame + 12) == 0x86dd;
	uint8_t *ip = frame + L3_AT;
	const uint32_t at = ipv6 ? 40 : (ip[0] & 0xf) * 4u;
	const uint32_t address = ipv6 ? 8 : 12;
	const uint32_t bytes = ipv6 ? 16 : 4;

	if (row->answered)
		store_be16(ip + at + 2, (uint16_t)~icmp_sum(ip, at, len - L3_AT, ipv6));
	memcpy(before, frame, sizeof(before));
	cr_assert_eq(echo_answer(frame, len, L3_AT, ipv6, OWN_MAC), row->answered, "%s", row->what);
	if (!row->answered) {
		cr_assert_arr_eq(frame, before, sizeof(before), "%s", row->what);
		return;
	}
	cr_assert_eq(load_be48(frame), 0x020000000002);
	cr_assert_eq(load_be48(frame + 6), OWN_MAC);
	cr_assert_arr_eq(ip + address, before + L3_AT + address + bytes, bytes);
	cr_assert_arr_eq(ip + address + bytes, before + L3_AT + address, bytes);
	cr_assert_eq(ip[ipv6 ? 7 : 8], HOPS);
	cr_assert_eq(ip[at], ipv6 ? 129 : 0);
	cr_assert_eq(load_be16(ip) >> (ipv6 ? 4 : 0) & 3, 0, "%s: an echo reports no congestion",
		     row->what);
	if (!ipv6)
		cr_assert_eq(frame_sum(ip, at, 0), 0xffff, "%s", row->what);
	cr_assert_eq(icmp_sum(ip, at, len - L3_AT, ipv6), 0xffff, "%s", row->what);
	// What the caller put in comes back.
	cr_assert_arr_eq(ip + at + 4, before + L3_AT + at + 4, len - L3_AT - at - 4);
}

Test(echo, a_group_is_not_answered)
{
	uint8_t frame[FRAME_TEXT_MAX];
	const uint32_t len = frame_decode(echo_rows[0].frame, frame);

	frame[6] |= 1;
	cr_assert_not(echo_answer(frame, len, L3_AT, false, OWN_MAC));
}
