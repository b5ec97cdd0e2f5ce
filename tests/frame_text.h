// SPDX-License-Identifier: BSD-3-Clause
//
// Frames as hexadecimal text, put together from their headers' fields: what a table of frames shows
// is what is on the wire. Lengths, types and next headers are written out, so that they can lie.
//
// Layouts: IEEE 802.3, 802.1Q, RFC 791, 826, 4443, 4861, 8200, IBTA annexes A16 and A17.
#pragma once

#include <criterion/criterion.h>

#include "base/types.h"

enum { FRAME_TEXT_MAX = 1024 };

#define ADDRESSES "020000000001 020000000002 "
#define CTAG(tci) "8100 " tci " "
#define STAG(tci) "88a8 " tci " "
#define SIX "000000000000 "
#define IPV4_HEAD(version_ihl, bytes, fragment, proto)                                             \
	"0800 " version_ihl " 6a " bytes " 0001 " fragment " 40 " proto " 0000 0a000001 0a000002 "
#define IPV4(bytes, fragment, proto) IPV4_HEAD("45", bytes, fragment, proto)
#define IPV6_HEAD(bytes, next, hops)                                                               \
	"66a00000 " bytes " " next " " hops " 20010db8 00000000 00000000 00000001 "                \
	"20010db8 00000000 00000000 00000002 "
#define IPV6(bytes, next) "86dd " IPV6_HEAD(bytes, next, "40")
#define GRH(bytes, next) "8915 " IPV6_HEAD(bytes, next, "40")
#define UDP(dport, bytes) "c000 " dport " " bytes " 0000 "
#define TCP "c000 0050 00000001 00000000 5002 ffff 0000 0000 "
#define BTH(opcode) opcode " 40 ffff 00 0a0b0c 80 000001 "
#define ICRC "deadbeef "
#define ROCE(opcode) UDP("12b7", "0018") BTH(opcode) ICRC
#define EXT(next) next " 00 0104 00000000 "
#define EXT16(next) next " 01 010c 00000000 00000000 00000000 "
#define AH(next) next " 04 0000 00000001 00000001 00000000 00000000 00000000 "
#define FRAG(next, offset) next " 00 " offset " 00000001 "
#define ND(type) type " 00 0000 00000000 20010db8 00000000 00000000 00000003 "
#define ARP_BODY "0001 020000000002 0a000001 " SIX "0a000002 "
#define ARP "0806 0001 0800 06 04 " ARP_BODY
#define TEN_OPTIONS "44280500 " SIX SIX SIX SIX SIX SIX
#define PFC "8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000 "

static inline uint32_t frame_nibble(char c)
{
	return (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static inline uint32_t frame_decode(const char *text, uint8_t out[FRAME_TEXT_MAX])
{
	uint32_t count = 0;

	for (; *text != '\0'; text++) {
		if (*text == ' ')
			continue;
		cr_assert_lt(count, 2 * FRAME_TEXT_MAX);
		if (count % 2 == 0)
			out[count / 2] = (uint8_t)(frame_nibble(*text) << 4);
		else
			out[count / 2] |= (uint8_t)frame_nibble(*text);
		count++;
	}
	cr_assert_eq(count % 2, 0, "a frame has whole bytes");
	return count / 2;
}
