// SPDX-License-Identifier: BSD-3-Clause
//
// Setting CE and the code point in IP headers: the former as the last thing before a packet is
// sent, the latter where a row of an access list remarks it. The two ECN bits are the low ones of
// the IPv4 TOS byte and of the IPv6 traffic class, which straddles the first two bytes; the code
// point is the other six (RFC 3168, RFC 8200, RFC 2474).
//
// Invariant: an IPv4 checksum that was right stays right, and one that was wrong stays wrong, so a
// corruption upstream is not hidden. RoCE's ICRC covers none of these bits (IBTA A17.3.3).

#include "ecn/ecn.h"

#include "base/bytes.h"

enum {
	IPV4_TOS_CE = 0x03, // in byte 1
	IPV4_DSCP = 0xfc,
	IPV4_CHECKSUM_OFFSET = 10,
	IPV6_DSCP = 0x0fc0,   // of the first two bytes
	IPV6_CLASS_CE = 0x30, // in byte 1, whose high half is the low half of the traffic class
};

// Gives the header its new first word, version to TOS. RFC 1624 equation 3; two folds take every
// carry of three 16-bit terms.
static inline void store_first_word(uint8_t *ip, uint16_t before, uint16_t after)
{
	uint32_t sum;

	sum = (uint16_t)~load_be16(ip + IPV4_CHECKSUM_OFFSET);
	sum += (uint16_t)~before;
	sum += after;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	store_be16(ip, after);
	store_be16(ip + IPV4_CHECKSUM_OFFSET, (uint16_t)~sum);
}

bool ip_ecn_mark_v4(uint8_t *ip)
{
	const uint16_t before = load_be16(ip);
	const uint16_t after = before | IPV4_TOS_CE;

	if (before == after)
		return false;
	store_first_word(ip, before, after);
	return true;
}

bool ip_ecn_mark_v6(uint8_t *ip)
{
	if ((ip[1] & IPV6_CLASS_CE) == IPV6_CLASS_CE)
		return false;
	ip[1] |= IPV6_CLASS_CE;
	return true;
}

void ip_dscp_set_v4(uint8_t *ip, uint8_t dscp)
{
	const uint16_t before = load_be16(ip);

	store_first_word(ip, before, (uint16_t)((before & ~IPV4_DSCP) | dscp << 2));
}

void ip_dscp_set_v6(uint8_t *ip, uint8_t dscp)
{
	store_be16(ip, (uint16_t)((load_be16(ip) & ~IPV6_DSCP) | dscp << 6));
}
