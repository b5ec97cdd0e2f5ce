// SPDX-License-Identifier: BSD-3-Clause
//
// Which packets an error may be about, and the three headers in front of the quote. A quote is as
// long as the error may be: 576 bytes of IPv4 (RFC 1812 4.3.2.3), 1280 of IPv6 (RFC 4443 2.4 c),
// without the padding of a short frame.

#include "dataplane/icmp_error.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
	L2_BYTES = 14,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	ICMP_BYTES = 8,
	IPV4_ERROR_MAX = 576,
	IPV6_ERROR_MAX = 1280,
	ICMP = 1,
	ICMPV6 = 58,
	HOPS = 64,
	CONTROL_TOS = 0xc0, // internetwork control, RFC 1812 4.3.2.5
	DONT_FRAGMENT = 0x4000,
	FRAGMENT_OFFSET = 0x1fff,
	ICMPV6_INFO = 128, // types below are errors
	ICMPV6_REDIRECT = 137,
	EXTENSIONS_MAX = 8,
};

// --- what an error may be about ---------------------------------------------------------------

// Requests and replies: any other type is an error, or one that nobody knows.
static bool is_icmp_query(uint8_t type)
{
	static const uint8_t queries[] = { 0, 8, 9, 10, 13, 14, 15, 16, 17, 18 };

	return memchr(queries, type, sizeof(queries)) != NULL;
}

static bool is_ipv4_host(uint32_t address)
{
	return address >> 24 != 0 && address >> 24 != 127 && address >> 28 < 0xe;
}

static bool allowed_ipv4(const struct icmp_subject *subject, const uint8_t *ip, uint32_t len)
{
	const uint32_t header = len < IPV4_BYTES ? 0 : (ip[0] & 0xf) * 4;
	uint16_t fragment;

	if (header < IPV4_BYTES || header > len || load_be16(ip + 2) < header)
		return false;
	fragment = load_be16(ip + 6);
	if ((fragment & FRAGMENT_OFFSET) != 0 ||
	    (subject->cause == ICMP_TOO_BIG && !(fragment & DONT_FRAGMENT)))
		return false;
	if (!is_ipv4_host(load_be32(ip + 12)) || load_be32(ip + 16) >> 28 >= 0xe)
		return false;
	return ip[9] != ICMP || (header < len && is_icmp_query(ip[header]));
}

// Bytes of an extension header, 0 for any other. *first: false when what follows is not the start
// of the packet.
static uint32_t extension_bytes(uint8_t kind, const uint8_t *header, bool *first)
{
	switch (kind) {
	case 0:  // hop by hop
	case 43: // routing
	case 60: // destination options
		return (header[1] + 1u) * 8;
	case 44: // fragment
		*first = load_be16(header + 2) >> 3 == 0;
		return 8;
	case 51: // authentication
		return (header[1] + 2u) * 4;
	}
	return 0;
}

// Whether the packet is a first fragment, or whole, and no ICMPv6 error or redirect.
static bool allowed_payload(const uint8_t *ip, uint32_t len)
{
	uint32_t at = IPV6_BYTES;
	uint8_t kind = ip[6];
	bool first = true;

	for (uint32_t i = 0; i < EXTENSIONS_MAX && first; i++) {
		const uint32_t bytes = at + 8 > len ? 0 : extension_bytes(kind, ip + at, &first);

		if (bytes == 0)
			return kind != ICMPV6 ||
			       (at < len && ip[at] >= ICMPV6_INFO && ip[at] != ICMPV6_REDIRECT);
		kind = ip[at];
		at += bytes;
	}
	return false;
}

static bool allowed_ipv6(const uint8_t *ip, uint32_t len)
{
	static const uint8_t zero[15];

	if (len < IPV6_BYTES || ip[8] == 0xff || ip[24] == 0xff)
		return false;
	if (memcmp(ip + 8, zero, sizeof(zero)) == 0 && ip[23] <= 1) // nobody, or this host
		return false;
	return allowed_payload(ip, len);
}

// --- the error --------------------------------------------------------------------------------

static const struct {
	uint8_t type, code, type6, code6;
} kinds[] = {
	[ICMP_NO_HOPS] = { 11, 0, 3, 0 },
	[ICMP_NO_ROUTE] = { 3, 0, 1, 0 },
	[ICMP_NO_NEIGHBOR] = { 3, 1, 1, 3 },
	[ICMP_TOO_BIG] = { 3, 4, 2, 0 },
};

static void make_ipv4(const struct icmp_subject *subject, const uint8_t *own_address,
		      struct icmp_error *out)
{
	const uint8_t *quote = subject->frame + subject->l3_offset;
	uint8_t *ip = out->head + L2_BYTES;
	uint8_t *icmp = ip + IPV4_BYTES;
	const uint32_t most = IPV4_ERROR_MAX - IPV4_BYTES - ICMP_BYTES;

	out->head_bytes = L2_BYTES + IPV4_BYTES + ICMP_BYTES;
	out->quote_bytes = (uint32_t)u64_min(out->quote_bytes, u64_min(load_be16(quote + 2), most));
	ip[0] = 0x45;
	ip[1] = CONTROL_TOS;
	store_be16(ip + 2, (uint16_t)(IPV4_BYTES + ICMP_BYTES + out->quote_bytes));
	store_be16(ip + 6, DONT_FRAGMENT); // so it needs no identification (RFC 6864 4.1)
	ip[8] = HOPS;
	ip[9] = ICMP;
	memcpy(ip + 12, own_address, 4);
	memcpy(ip + 16, quote + 12, 4);
	store_be16(ip + 10, checksum_end(checksum_add(0, ip, IPV4_BYTES)));
	icmp[0] = kinds[subject->cause].type;
	icmp[1] = kinds[subject->cause].code;
	if (subject->cause == ICMP_TOO_BIG) // RFC 1191 4
		store_be16(icmp + 6, (uint16_t)subject->mtu);
	store_be16(icmp + 2, checksum_end(checksum_add(checksum_add(0, icmp, ICMP_BYTES), quote,
						       out->quote_bytes)));
}

static void make_ipv6(const struct icmp_subject *subject, const uint8_t *own_address,
		      struct icmp_error *out)
{
	const uint8_t *quote = subject->frame + subject->l3_offset;
	uint8_t *ip = out->head + L2_BYTES;
	uint8_t *icmp = ip + IPV6_BYTES;
	const uint32_t most = IPV6_ERROR_MAX - IPV6_BYTES - ICMP_BYTES;
	uint32_t bytes;

	out->head_bytes = L2_BYTES + IPV6_BYTES + ICMP_BYTES;
	out->quote_bytes = (uint32_t)u64_min(out->quote_bytes,
					     u64_min(IPV6_BYTES + load_be16(quote + 4), most));
	bytes = ICMP_BYTES + out->quote_bytes;
	store_be32(ip, 6u << 28 | CONTROL_TOS << 20);
	store_be16(ip + 4, (uint16_t)bytes);
	ip[6] = ICMPV6;
	ip[7] = HOPS;
	memcpy(ip + 8, own_address, 16);
	memcpy(ip + 24, quote + 8, 16);
	icmp[0] = kinds[subject->cause].type6;
	icmp[1] = kinds[subject->cause].code6;
	if (subject->cause == ICMP_TOO_BIG)
		store_be32(icmp + 4, subject->mtu);
	// RFC 4443 2.3: over addresses, length and next header, too.
	store_be16(icmp + 2,
		   checksum_end(checksum_add(checksum_add(checksum_add(bytes + ICMPV6, ip + 8, 32),
							  icmp, ICMP_BYTES),
					     quote, out->quote_bytes)));
}

bool icmp_error_make(const struct icmp_subject *subject, uint64_t own_mac,
		     const uint8_t *own_address, struct icmp_error *out)
{
	const uint8_t *frame = subject->frame;
	const uint8_t *ip = frame + subject->l3_offset;
	uint32_t len;

	if (subject->l3_offset < L2_BYTES || subject->l3_offset > subject->len ||
	    (frame[0] | frame[6]) & 1)
		return false;
	len = subject->len - subject->l3_offset;
	if (!(subject->ipv6 ? allowed_ipv6(ip, len) : allowed_ipv4(subject, ip, len)))
		return false;
	*out = (struct icmp_error){ .quote_bytes = len };
	memcpy(out->head, frame + 6, 6);
	store_be48(out->head + 6, own_mac);
	store_be16(out->head + 12, subject->ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	if (subject->ipv6)
		make_ipv6(subject, own_address, out);
	else
		make_ipv4(subject, own_address, out);
	return true;
}
