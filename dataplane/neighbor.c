// SPDX-License-Identifier: BSD-3-Clause
//
// Builds ARP probes and neighbour solicitations as bytes.
//
// A solicitation from the unspecified address carries no source link-layer option (RFC 4861 4.3),
// and its answer goes to all nodes, through the switch.

#include "dataplane/neighbor.h"

#include <string.h>

#include "base/bytes.h"

enum {
	ARP_FRAME_BYTES = 60, // padded to the minimum
	IPV6_AT = 14,
	ICMP_AT = IPV6_AT + 40,
	NS_BYTES = 24, // ICMPv6 header, reserved word, target
	NS_TYPE = 135,
	IPPROTO_ICMPV6_NUMBER = 58,
	HOP_LIMIT = 255, // receivers insist on it
};

uint32_t neighbor_arp_probe(const uint8_t src_mac[6], const uint8_t target[4],
			    uint8_t out[NEIGHBOR_FRAME_MAX])
{
	memset(out, 0, ARP_FRAME_BYTES);
	memset(out, 0xff, 6);
	memcpy(out + 6, src_mac, 6);
	store_be16(out + 12, 0x0806);
	store_be16(out + 14, 1);      // Ethernet
	store_be16(out + 16, 0x0800); // IPv4
	out[18] = 6;
	out[19] = 4;
	store_be16(out + 20, 1); // request
	memcpy(out + 22, src_mac, 6);
	memcpy(out + 38, target, 4);
	return ARP_FRAME_BYTES;
}

static uint32_t sum_words(uint32_t sum, const uint8_t *p, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i += 2)
		sum += load_be16(p + i);
	return sum;
}

// RFC 4443 2.3: over addresses, length, next header and the message.
static uint16_t icmp_checksum(const uint8_t *ipv6, const uint8_t *icmp)
{
	uint32_t sum = sum_words(NS_BYTES + IPPROTO_ICMPV6_NUMBER, ipv6 + 8, 32);

	sum = sum_words(sum, icmp, NS_BYTES);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint32_t neighbor_solicitation(const uint8_t src_mac[6], const uint8_t target[16],
			       uint8_t out[NEIGHBOR_FRAME_MAX])
{
	static const uint8_t solicited_node[13] = {
		0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff
	};
	uint8_t *ipv6 = out + IPV6_AT;
	uint8_t *icmp = out + ICMP_AT;

	memset(out, 0, ICMP_AT + NS_BYTES);
	store_be16(out, 0x3333);
	out[2] = 0xff;
	memcpy(out + 3, target + 13, 3);
	memcpy(out + 6, src_mac, 6);
	store_be16(out + 12, 0x86dd);
	ipv6[0] = 6 << 4;
	store_be16(ipv6 + 4, NS_BYTES);
	ipv6[6] = IPPROTO_ICMPV6_NUMBER;
	ipv6[7] = HOP_LIMIT;
	memcpy(ipv6 + 24, solicited_node, sizeof(solicited_node));
	memcpy(ipv6 + 37, target + 13, 3);
	icmp[0] = NS_TYPE;
	memcpy(icmp + 8, target, 16);
	store_be16(icmp + 2, icmp_checksum(ipv6, icmp));
	return ICMP_AT + NS_BYTES;
}

const uint8_t *neighbor_mapped_ipv4(const uint8_t address[16])
{
	static const uint8_t prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	return memcmp(address, prefix, sizeof(prefix)) == 0 ? address + 12 : NULL;
}
