// SPDX-License-Identifier: BSD-3-Clause
//
// The payload of an echo is not read: its checksum follows from the changed type alone (RFC 1624,
// equation 3), and addresses that change places leave every sum as it was.

#include "dataplane/echo.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"

enum {
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	ICMP_BYTES = 8,
	ICMP = 1,
	ICMPV6 = 58,
	ECHO_REQUEST = 8,
	ECHO_REPLY = 0,
	ECHO_REQUEST_V6 = 128,
	ECHO_REPLY_V6 = 129,
	HOPS = 64,
	ECN_MASK = 3,
};

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
	uint8_t kept[16];

	memcpy(kept, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, kept, bytes);
}

static void set_type(uint8_t *icmp, uint8_t type)
{
	uint32_t sum = (uint16_t)~load_be16(icmp + 2);

	sum += (uint16_t)~load_be16(icmp);
	icmp[0] = type;
	sum += load_be16(icmp);
	store_be16(icmp + 2, checksum_end(sum));
}

static bool answer_ipv4(uint8_t *ip, uint32_t len)
{
	const uint32_t header = len < IPV4_BYTES ? 0 : (ip[0] & 0xf) * 4;

	// A fragment is not put together here; nobody is answered who is not one host.
	if (header < IPV4_BYTES || header + ICMP_BYTES > len || ip[9] != ICMP ||
	    (load_be16(ip + 6) & 0x3fff) != 0 || ip[12] == 0 || ip[12] >= 0xe0)
		return false;
	if (ip[header] != ECHO_REQUEST || ip[header + 1] != 0)
		return false;
	swap(ip + 12, ip + 16, 4);
	ip[1] &= (uint8_t)~ECN_MASK;
	ip[8] = HOPS;
	store_be16(ip + 10, 0);
	store_be16(ip + 10, checksum_end(checksum_add(0, ip, header)));
	set_type(ip + header, ECHO_REPLY);
	return true;
}

static bool answer_ipv6(uint8_t *ip, uint32_t len)
{
	static const uint8_t unspecified[16];
	uint8_t *icmp = ip + IPV6_BYTES;

	if (len < IPV6_BYTES + ICMP_BYTES || ip[6] != ICMPV6 || icmp[0] != ECHO_REQUEST_V6 ||
	    icmp[1] != 0)
		return false;
	if (ip[8] == 0xff || memcmp(ip + 8, unspecified, sizeof(unspecified)) == 0)
		return false;
	swap(ip + 8, ip + 24, 16);
	ip[1] &= (uint8_t) ~(ECN_MASK << 4);
	ip[7] = HOPS;
	set_type(icmp, ECHO_REPLY_V6);
	return true;
}

bool echo_answer(uint8_t *frame, uint32_t len, uint32_t l3_offset, bool ipv6, uint64_t own_mac)
{
	if (l3_offset > len || frame[6] & 1)
		return false;
	if (!(ipv6 ? answer_ipv6(frame + l3_offset, len - l3_offset) :
		     answer_ipv4(frame + l3_offset, len - l3_offset)))
		return false;
	memcpy(frame, frame + 6, 6);
	store_be48(frame + 6, own_mac);
	return true;
}
