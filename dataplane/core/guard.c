// SPDX-License-Identifier: BSD-3-Clause
//
// Source guard of edge ports (see guard.h), before the access list: what a host says about itself
// must be bound to its port. That is the source MAC address, and by source_guard = "ip" the source
// IP address too; ARP and neighbour discovery say both again in their bodies, which is what other
// hosts believe (RFC 826, RFC 4861).
//
// Hosts that do not have an address yet may ask for one: ARP probes (RFC 5227), DHCP from 0.0.0.0,
// and IPv6 from :: to a group (duplicate address detection), whose target must then be bound.
// The link-local address that a bound MAC address makes (RFC 4291 appendix A) is its own.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

enum {
	ARP_SENDER_MAC = 8,
	ARP_SENDER_IP = 14,
	ND_ADVERTISEMENT = 136,
	ND_FIRST = 133, // router solicitation; 137, redirect, is the last
	ND_LAST = 137,
	ND_TARGET = 8,
	ND_OPTIONS = 24,
	ND_OPTION_SOURCE = 1,
	ND_OPTION_TARGET = 2,
	ND_OPTION_UNIT = 8,
	IPV6_BYTES = 40,
	IPV6_SOURCE = 8,
	PROTO_ICMPV6 = 58,
	DHCP_CLIENT = 68,
	DHCP_SERVER = 67,
};

// Who a frame says it is from.
struct source {
	const struct sw_profile *pf;
	port_t port;
	uint16_t vid;
};

static bool bound(const struct source *src, uint64_t mac, enum guard_kind kind, address_t ip)
{
	const struct guard_slot *slots = guard_slots_of(src->pf);
	const struct guard_slot claim = { .ip = ip,
					  .mac_vid = mac | (uint64_t)src->vid << 48,
					  .port = src->port.v,
					  .kind = (uint8_t)kind };

	return slots[guard_find(slots, src->pf->guard_slots, &claim)].kind != GUARD_EMPTY;
}

static address_t load_ipv6(const uint8_t *at)
{
	return (address_t)load_be64(at) << 64 | load_be64(at + 8);
}

// fe80:: and the modified EUI-64 of the address.
static address_t link_local(uint64_t mac)
{
	const uint64_t id = (mac >> 24 ^ 0x020000) << 40 | 0xfffeull << 24 | (mac & 0xffffff);

	return (address_t)0xfe80000000000000u << 64 | id;
}

static bool ipv6_allowed(const struct source *src, uint64_t mac, address_t ip)
{
	return ip == link_local(mac) || bound(src, mac, GUARD_IPV6, ip);
}

// Link-layer addresses in the options of neighbour discovery. An option of no length ends the list:
// the message is broken and hosts discard it.
static bool nd_macs_bound(const struct source *src, const struct pkt *p)
{
	uint32_t at = p->l4_offset + ND_OPTIONS;

	while (at + ND_OPTION_UNIT <= p->head_len) {
		const uint8_t *option = p->data + at;

		if ((option[0] == ND_OPTION_SOURCE || option[0] == ND_OPTION_TARGET) &&
		    !bound(src, load_be48(option + 2), GUARD_MAC, 0))
			return false;
		if (option[1] == 0)
			break;
		at += option[1] * ND_OPTION_UNIT;
	}
	return true;
}

// Neighbour discovery behind extension headers, where parse() does not look for it but some hosts
// do (RFC 7113).
static bool hides_nd(const struct pkt *p)
{
	uint8_t type;

	if (p->l3 != PKT_L3_IPV6 || p->l4 != PKT_L4_OTHER ||
	    p->l4_offset <= p->l3_offset + IPV6_BYTES || parse_ip_protocol(p) != PROTO_ICMPV6)
		return false;
	type = p->data[p->l4_offset]; // parse() has seen that it is there
	return type >= ND_FIRST && type <= ND_LAST;
}

static bool macs_allowed(const struct source *src, const struct pkt *p, uint64_t mac)
{
	if (!bound(src, mac, GUARD_MAC, 0) || hides_nd(p))
		return false;
	if (p->l3 == PKT_L3_ARP)
		return bound(src, load_be48(p->data + p->l3_offset + ARP_SENDER_MAC), GUARD_MAC, 0);
	return p->l4 != PKT_L4_ND || nd_macs_bound(src, p);
}

static bool is_dhcp_request(const struct pkt *p)
{
	const uint8_t *udp = p->data + p->l4_offset;

	return p->l4 == PKT_L4_UDP && load_be16(udp) == DHCP_CLIENT &&
	       load_be16(udp + 2) == DHCP_SERVER;
}

static bool ipv6_source_allowed(const struct source *src, const struct pkt *p, uint64_t mac)
{
	const uint8_t *icmp = p->data + p->l4_offset;
	const address_t ip = load_ipv6(p->data + p->l3_offset + IPV6_SOURCE);
	const bool none = ip == 0 && p->flags & PKT_GROUP;

	if (!none && !ipv6_allowed(src, mac, ip))
		return false;
	// What an advertisement or a probe is about is the sender's own.
	if (p->l4 == PKT_L4_ND && (none || icmp[0] == ND_ADVERTISEMENT))
		return ipv6_allowed(src, mac, load_ipv6(icmp + ND_TARGET));
	return true;
}

static bool gid_allowed(const struct source *src, uint64_t mac, address_t gid)
{
	if (gid >> 32 == 0xffff)
		return bound(src, mac, GUARD_IPV4, (uint32_t)gid);
	return ipv6_allowed(src, mac, gid);
}

static bool ip_allowed(const struct source *src, const struct pkt *p, uint64_t mac)
{
	const uint8_t *l3 = p->data + p->l3_offset;
	uint32_t ip;

	switch ((enum pkt_l3)p->l3) {
	case PKT_L3_IPV4:
		ip = load_be32(l3 + 12);
		return (ip == 0 && is_dhcp_request(p)) || bound(src, mac, GUARD_IPV4, ip);
	case PKT_L3_ARP:
		ip = load_be32(l3 + ARP_SENDER_IP);
		return ip == 0 || bound(src, load_be48(l3 + ARP_SENDER_MAC), GUARD_IPV4, ip);
	case PKT_L3_IPV6: return ipv6_source_allowed(src, p, mac);
	case PKT_L3_ROCE_V1: return gid_allowed(src, mac, load_ipv6(l3 + IPV6_SOURCE));
	case PKT_L3_OTHER:
	case PKT_L3_MAC_CONTROL:
	case PKT_L3_SLOW:
	case PKT_L3_LLDP:
	case PKT_L3_HELLO: break;
	}
	return true;
}

bool guard_allows(const struct sw_profile *pf, const struct port_profile *port, const struct pkt *p)
{
	const struct source src = { pf, port->logical, frame_vid(port, p) };
	const uint64_t mac = load_be48(p->data + 6);

	return macs_allowed(&src, p, mac) &&
	       (!(port->filters & FILTER_GUARD_IP) || ip_allowed(&src, p, mac));
}
