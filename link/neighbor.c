// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and builds ARP, neighbour solicitations and advertisements.
//
// A solicitation from the unspecified address carries no source link-layer option (RFC 4861 4.3),
// and its answer goes to all nodes, through the switch.

#include "link/neighbor.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_IPV6 = 0x86dd,
	L3_AT = 14, // of frames built here
	ARP_BYTES = 28,
	ARP_FRAME_BYTES = 60, // padded to the minimum
	ARP_REQUEST = 1,
	ARP_REPLY = 2,
	IPV6_BYTES = 40,
	ICMPV6 = 58,
	HOP_LIMIT = 255, // receivers insist on it
	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_BYTES = 24, // ICMPv6 header, flags, target
	OPTION_BYTES = 8,
	OPTION_SOURCE = 1, // its link-layer address
	OPTION_TARGET = 2,
	FLAG_ROUTER = 0x80,
	FLAG_SOLICITED = 0x40,
	FLAG_OVERRIDE = 0x20,
};

#define ALL_NODES_MAC 0x333300000001u
#define BROADCAST_MAC 0xffffffffffffu

// --- reading ----------------------------------------------------------------------------------

static bool is_unicast_mac(uint64_t mac)
{
	return mac != 0 && !(mac >> 40 & 1);
}

static struct ip_prefix ipv4(const uint8_t *address)
{
	struct ip_prefix out = { .family = IP_V4, .len = 32 };

	memcpy(out.address, address, 4);
	return out;
}

static struct ip_prefix ipv6(const uint8_t *address)
{
	struct ip_prefix out = { .family = IP_V6, .len = 128 };

	memcpy(out.address, address, 16);
	return out;
}

static bool read_arp(const uint8_t *arp, uint32_t len, struct neighbor_message *out)
{
	uint32_t sender;

	if (len < ARP_BYTES || load_be16(arp) != 1 || load_be16(arp + 2) != ETHERTYPE_IPV4 ||
	    arp[4] != 6 || arp[5] != 4)
		return false;
	if (load_be16(arp + 6) != ARP_REQUEST && load_be16(arp + 6) != ARP_REPLY)
		return false;
	out->request = load_be16(arp + 6) == ARP_REQUEST;
	out->solicited = !out->request && is_unicast_mac(out->destination_mac);
	out->override = true;
	out->mac = load_be48(arp + 8);
	out->target = ipv4(arp + 24);
	sender = load_be32(arp + 14);
	if (sender >> 28 >= 0xe) // multicast, reserved, broadcast
		return false;
	if (sender != 0)
		out->sender = ipv4(arp + 14);
	return is_unicast_mac(out->mac);
}

// RFC 4443 2.3: over addresses, length, next header and the message. 0 when it is right already.
static uint16_t icmp_checksum(const uint8_t *ip, const uint8_t *icmp, uint32_t bytes)
{
	return checksum_end(checksum_add(checksum_add(bytes + ICMPV6, ip + 8, 32), icmp, bytes));
}

// The link-layer address among the options, *mac unchanged when there is none.
static bool read_option(const uint8_t *option, uint32_t bytes, uint8_t kind, uint64_t *mac)
{
	while (bytes > 0) {
		const uint32_t size = bytes < 2 ? 0 : option[1] * OPTION_BYTES;

		if (size == 0 || size > bytes)
			return false;
		if (option[0] == kind)
			*mac = load_be48(option + 2);
		option += size;
		bytes -= size;
	}
	return true;
}

static bool is_unspecified(const uint8_t *address)
{
	static const uint8_t zero[16];

	return memcmp(address, zero, sizeof(zero)) == 0;
}

static bool read_nd(const uint8_t *ip, uint32_t len, struct neighbor_message *out)
{
	const uint8_t *icmp = ip + IPV6_BYTES;
	const uint8_t *from;
	uint32_t bytes;

	if (len < IPV6_BYTES + ND_BYTES || ip[6] != ICMPV6 || ip[7] != HOP_LIMIT)
		return false;
	bytes = load_be16(ip + 4);
	if (bytes < ND_BYTES || IPV6_BYTES + bytes > len || icmp[1] != 0 || icmp[8] == 0xff ||
	    icmp_checksum(ip, icmp, bytes) != 0)
		return false;
	if (icmp[0] != ND_SOLICITATION && icmp[0] != ND_ADVERTISEMENT)
		return false;
	out->request = icmp[0] == ND_SOLICITATION;
	if (!read_option(icmp + ND_BYTES, bytes - ND_BYTES,
			 out->request ? OPTION_SOURCE : OPTION_TARGET, &out->mac))
		return false;
	out->solicited = !out->request && (icmp[4] & FLAG_SOLICITED) && ip[24] != 0xff;
	out->override = out->request || (icmp[4] & FLAG_OVERRIDE);
	out->to_all = !out->request && ip[24] == 0xff;
	out->target = ipv6(icmp + 8);
	from = out->request ? ip + 8 : icmp + 8;
	if (from[0] == 0xff)
		return false;
	if (!is_unspecified(from))
		out->sender = ipv6(from);
	return is_unicast_mac(out->mac);
}

bool neighbor_read(const uint8_t *frame, uint32_t len, uint32_t l3_offset, bool arp,
		   struct neighbor_message *out)
{
	if (l3_offset > len)
		return false;
	*out = (struct neighbor_message){
		.mac = load_be48(frame + 6),
		.destination_mac = load_be48(frame),
	};
	return arp ? read_arp(frame + l3_offset, len - l3_offset, out) :
		     read_nd(frame + l3_offset, len - l3_offset, out);
}

// --- building ---------------------------------------------------------------------------------

static void write_ethernet(uint8_t *out, uint64_t dst, uint64_t src, uint16_t type)
{
	store_be48(out, dst);
	store_be48(out + 6, src);
	store_be16(out + 12, type);
}

static uint32_t write_arp(uint16_t operation, uint64_t mac, const uint8_t *sender,
			  uint64_t target_mac, const uint8_t *target, uint8_t *out)
{
	uint8_t *arp = out + L3_AT;

	memset(arp, 0, ARP_FRAME_BYTES - L3_AT);
	store_be16(arp, 1); // Ethernet
	store_be16(arp + 2, ETHERTYPE_IPV4);
	arp[4] = 6;
	arp[5] = 4;
	store_be16(arp + 6, operation);
	store_be48(arp + 8, mac);
	if (sender != NULL)
		memcpy(arp + 14, sender, 4);
	store_be48(arp + 18, target_mac);
	if (target != NULL)
		memcpy(arp + 24, target, 4);
	return ARP_FRAME_BYTES;
}

// The headers and the message's fixed part; addresses are the caller's, then finish_nd().
static void start_nd(uint8_t *out, uint8_t type, uint8_t flags, const uint8_t *target)
{
	uint8_t *ip = out + L3_AT;
	uint8_t *icmp = ip + IPV6_BYTES;

	memset(ip, 0, NEIGHBOR_FRAME_MAX - L3_AT);
	ip[0] = 6 << 4;
	ip[6] = ICMPV6;
	ip[7] = HOP_LIMIT;
	icmp[0] = type;
	icmp[4] = flags;
	memcpy(icmp + 8, target, 16);
}

static uint32_t finish_nd(uint8_t *out, uint8_t option, uint64_t mac)
{
	uint8_t *ip = out + L3_AT;
	uint8_t *icmp = ip + IPV6_BYTES;
	const uint16_t bytes = ND_BYTES + (option != 0 ? OPTION_BYTES : 0);

	if (option != 0) {
		icmp[ND_BYTES] = option;
		icmp[ND_BYTES + 1] = 1;
		store_be48(icmp + ND_BYTES + 2, mac);
	}
	store_be16(ip + 4, bytes);
	store_be16(icmp + 2, icmp_checksum(ip, icmp, bytes));
	return L3_AT + IPV6_BYTES + bytes;
}

static uint32_t ask_ipv6(uint64_t own_mac, const struct ip_prefix *sender, const uint8_t *target,
			 uint64_t to, uint8_t *out)
{
	static const uint8_t solicited_node[13] = {
		0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff
	};
	uint8_t *ip = out + L3_AT;

	write_ethernet(out, to != 0 ? to : 0x3333ff000000 | (load_be32(target + 12) & 0xffffff),
		       own_mac, ETHERTYPE_IPV6);
	start_nd(out, ND_SOLICITATION, 0, target);
	if (sender != NULL)
		memcpy(ip + 8, sender->address, 16);
	memcpy(ip + 24, to != 0 ? target : solicited_node, sizeof(solicited_node));
	memcpy(ip + 37, target + 13, 3);
	return finish_nd(out, sender != NULL ? OPTION_SOURCE : 0, own_mac);
}

uint32_t neighbor_ask(uint64_t own_mac, const struct ip_prefix *sender,
		      const struct ip_prefix *target, uint64_t to, uint8_t out[NEIGHBOR_FRAME_MAX])
{
	if (target->family == IP_V6)
		return ask_ipv6(own_mac, sender, target->address, sender != NULL ? to : 0, out);
	write_ethernet(out, to != 0 ? to : BROADCAST_MAC, own_mac, ETHERTYPE_ARP);
	return write_arp(ARP_REQUEST, own_mac, sender != NULL ? sender->address : NULL, 0,
			 target->address, out);
}

static uint32_t answer_ipv6(uint64_t mac, const struct neighbor_message *request, bool router,
			    uint8_t *out)
{
	static const uint8_t all_nodes[16] = { 0xff, 0x02, [15] = 1 };
	const bool probe = request->sender.family == IP_NONE;
	uint8_t *ip = out + L3_AT;

	write_ethernet(out, probe ? ALL_NODES_MAC : request->mac, mac, ETHERTYPE_IPV6);
	start_nd(out, ND_ADVERTISEMENT,
		 (uint8_t)(FLAG_OVERRIDE | (router ? FLAG_ROUTER : 0) |
			   (probe ? 0 : FLAG_SOLICITED)),
		 request->target.address);
	memcpy(ip + 8, request->target.address, 16);
	memcpy(ip + 24, probe ? all_nodes : request->sender.address, 16);
	return finish_nd(out, OPTION_TARGET, mac);
}

uint32_t neighbor_answer(uint64_t mac, const struct neighbor_message *request, bool router,
			 uint8_t out[NEIGHBOR_FRAME_MAX])
{
	const bool probe = request->sender.family == IP_NONE;

	if (request->target.family == IP_V6)
		return answer_ipv6(mac, request, router, out);
	write_ethernet(out, request->mac, mac, ETHERTYPE_ARP);
	return write_arp(ARP_REPLY, mac, request->target.address, request->mac,
			 probe ? NULL : request->sender.address, out);
}

const uint8_t *neighbor_mapped_ipv4(const uint8_t address[16])
{
	static const uint8_t prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	return memcmp(address, prefix, sizeof(prefix)) == 0 ? address + 12 : NULL;
}
