// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 1: parsing.
//
// Finds the headers that later stages act on and refuses frames whose lengths contradict each
// other. Stateless, reads at most head_len bytes. An untagged IPv4/UDP/BTH frame runs straight
// through without a loop. Checksums are the end points' affair: a switch that verified them would
// hide which side broke a packet, and soft-RoCE sends UDP checksum 0 over IPv6 too (RFC 6936).
//
// Invariant: 14 <= l3_offset <= l4_offset <= head_len in every frame that passes, and the whole
// fixed header of its l3 and l4 is readable. Clauses: 802.1Q 9, RFC 791, 8200, 4861, IBTA A16, A17.

#include "dataplane/core/stage.h"

#include "base/bytes.h"
#include "base/wire.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_ARP = 0x0806,
	ETHERTYPE_CTAG = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_STAG = 0x88a8,
	ETHERTYPE_ROCE_V1 = 0x8915,

	PROTO_HOP_BY_HOP = 0,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_BTH = 0x1b, // in a GRH only; IP numbers it differently
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AH = 51,
	PROTO_ICMPV6 = 58,
	PROTO_DEST_OPTIONS = 60,

	ETH_BYTES = 14,
	TAG_BYTES = 4,
	TAG_MAX = 2,
	ARP_BYTES = 28, // Ethernet and IPv4
	IPV4_BYTES = 20,
	IPV6_BYTES = 40, // GRH alike
	EXTENSION_BYTES = 8,
	EXTENSION_MAX = 8,
	TCP_BYTES = 20,
	UDP_BYTES = 8,
	BTH_BYTES = 12,
	ICMPV6_BYTES = 4,
	ND_BYTES = 24,

	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_HOP_LIMIT = 255, // proves that no router has forwarded it (RFC 4861 7.1)
};

// What an IP header says about the bytes behind it.
struct payload {
	uint32_t at;  // offset in the frame
	uint32_t end; // of the packet, <= len; padding may follow
	uint8_t proto;
	bool whole; // neither a fragment nor the first of several
};

// Judges a header of `bytes` at `at` in a packet that ends at `end`: the lengths lie when it does
// not fit into the packet. at + bytes stays far below 2^32.
static inline enum drop_reason header_check(const struct pkt *p, uint32_t at, uint32_t bytes,
					    uint32_t end)
{
	if (unlikely(at + bytes > end))
		return DROP_PARSE_LENGTH;
	if (unlikely(at + bytes > p->head_len))
		return DROP_PARSE_TRUNCATED;
	return DROP_NONE;
}

static inline enum drop_reason parse_bth(struct pkt *p, uint32_t at, uint32_t end)
{
	const uint8_t *bth = p->data + at;
	const enum drop_reason reason = header_check(p, at, BTH_BYTES, end);

	if (unlikely(reason != DROP_NONE))
		return reason;
	p->l4 = PKT_L4_BTH;
	p->l4_offset = (uint16_t)at;
	p->opcode = bth[0];
	p->dst_qp = load_be24(bth + 5);
	if (unlikely(p->opcode == BTH_OPCODE_CNP))
		p->flags |= PKT_CNP;
	return DROP_NONE;
}

// The length covers the whole datagram, also in a first fragment, which is shorter. Length 0 would
// be a jumbogram (RFC 2675) and no frame holds one. RoCE is never fragmented, and a datagram to
// its port that has no room for a BTH is somebody else's.
static inline enum drop_reason parse_udp(struct pkt *p, const struct payload *ip)
{
	const uint8_t *udp = p->data + ip->at;
	const enum drop_reason reason = header_check(p, ip->at, UDP_BYTES, ip->end);
	uint32_t bytes;

	if (unlikely(reason != DROP_NONE))
		return reason;
	p->l4 = PKT_L4_UDP;
	bytes = load_be16(udp + 4);
	if (unlikely(bytes < UDP_BYTES || (ip->whole && bytes > ip->end - ip->at)))
		return DROP_PARSE_LENGTH;
	if (load_be16(udp + 2) != ROCE_UDP_PORT || !ip->whole || bytes < UDP_BYTES + BTH_BYTES)
		return DROP_NONE;
	return parse_bth(p, ip->at + UDP_BYTES, ip->at + bytes);
}

// Neighbour discovery that a host would discard (hop limit, code: RFC 4861 7.1; fragment header:
// RFC 6980) or that hides behind extension headers is not ND here, so nothing is learned from it.
static enum drop_reason parse_icmpv6(struct pkt *p, const struct payload *ip)
{
	const uint8_t *icmp = p->data + ip->at;
	const uint32_t unextended = p->l3_offset + IPV6_BYTES;
	enum drop_reason reason = header_check(p, ip->at, ICMPV6_BYTES, ip->end);

	if (reason != DROP_NONE)
		return reason;
	if ((icmp[0] != ND_SOLICITATION && icmp[0] != ND_ADVERTISEMENT) || icmp[1] != 0 ||
	    ip->at != unextended || p->data[p->l3_offset + 7] != ND_HOP_LIMIT)
		return DROP_NONE;
	reason = header_check(p, ip->at, ND_BYTES, ip->end);
	if (reason == DROP_NONE)
		p->l4 = PKT_L4_ND;
	return reason;
}

static enum drop_reason parse_tcp(struct pkt *p, const struct payload *ip)
{
	const enum drop_reason reason = header_check(p, ip->at, TCP_BYTES, ip->end);

	if (reason == DROP_NONE)
		p->l4 = PKT_L4_TCP;
	return reason;
}

static inline enum drop_reason parse_ipv4(struct pkt *p)
{
	const uint32_t at = p->l3_offset;
	const uint8_t *ip = p->data + at;
	struct payload payload;
	uint32_t total_bytes;
	uint32_t fragment;

	p->l3 = PKT_L3_IPV4;
	if (unlikely(at + IPV4_BYTES > p->head_len))
		return DROP_PARSE_TRUNCATED;
	if (unlikely(ip[0] < 0x45 || ip[0] > 0x4f)) // version 4, 5 to 15 words
		return DROP_PARSE_HEADER;
	payload.at = at + (ip[0] & 0xf) * 4;
	total_bytes = load_be16(ip + 2);
	payload.end = at + total_bytes;
	if (unlikely(payload.at > payload.end || payload.end > p->len))
		return DROP_PARSE_LENGTH;
	if (unlikely(payload.at > p->head_len))
		return DROP_PARSE_TRUNCATED;
	p->tos = ip[1];
	p->l4_offset = (uint16_t)payload.at;
	payload.proto = ip[9];
	fragment = load_be16(ip + 6) & 0x3fff; // more fragments, offset
	payload.whole = fragment == 0;
	if (unlikely(fragment & 0x1fff)) {
		p->l4 = PKT_L4_FRAGMENT;
		return DROP_NONE;
	}
	if (likely(payload.proto == PROTO_UDP))
		return parse_udp(p, &payload);
	if (payload.proto == PROTO_TCP)
		return parse_tcp(p, &payload);
	return DROP_NONE;
}

static bool is_extension(uint8_t proto)
{
	return proto == PROTO_HOP_BY_HOP || proto == PROTO_ROUTING || proto == PROTO_FRAGMENT ||
	       proto == PROTO_AH || proto == PROTO_DEST_OPTIONS;
}

// Length of the extension header of type `proto` at `extension`: AH counts words less two, the
// others units of eight bytes less one, and the fragment header has none.
static uint32_t extension_bytes(uint8_t proto, const uint8_t *extension)
{
	if (proto == PROTO_FRAGMENT)
		return EXTENSION_BYTES;
	if (proto == PROTO_AH)
		return (extension[1] + 2u) * 4;
	return (extension[1] + 1u) * 8;
}

// Walks at most EXTENSION_MAX headers to the transport header, or to the first header behind which
// a later fragment has only data. Each lies whole in the packet and in head_len. Encrypted and
// unknown headers end the chain as payload.
static enum drop_reason walk_extensions(struct pkt *p, struct payload *ip)
{
	for (uint32_t count = 0; is_extension(ip->proto); count++) {
		const uint8_t *extension = p->data + ip->at;
		const uint8_t proto = ip->proto;
		enum drop_reason reason = header_check(p, ip->at, EXTENSION_BYTES, ip->end);
		uint32_t bytes;

		if (reason != DROP_NONE)
			return reason;
		if (count == EXTENSION_MAX || (proto == PROTO_HOP_BY_HOP && count != 0))
			return DROP_PARSE_HEADER;
		bytes = extension_bytes(proto, extension);
		reason = header_check(p, ip->at, bytes, ip->end);
		if (reason != DROP_NONE)
			return reason;
		ip->at += bytes;
		ip->proto = extension[0];
		if (proto != PROTO_FRAGMENT)
			continue;
		if (load_be16(extension + 2) & 0xfff9) // an atomic fragment is a whole packet
			ip->whole = false;
		if (load_be16(extension + 2) & 0xfff8) {
			p->l4 = PKT_L4_FRAGMENT;
			break;
		}
	}
	p->l4_offset = (uint16_t)ip->at;
	return DROP_NONE;
}

// The fixed header that IPv6 and a GRH share.
static inline enum drop_reason parse_ipv6_header(struct pkt *p, struct payload *ip)
{
	const uint32_t at = p->l3_offset;
	const uint8_t *header = p->data + at;

	if (unlikely(at + IPV6_BYTES > p->head_len))
		return DROP_PARSE_TRUNCATED;
	if (unlikely(header[0] >> 4 != 6))
		return DROP_PARSE_HEADER;
	*ip = (struct payload){
		.at = at + IPV6_BYTES,
		.end = at + IPV6_BYTES + load_be16(header + 4),
		.proto = header[6],
		.whole = true,
	};
	if (unlikely(ip->end > p->len))
		return DROP_PARSE_LENGTH;
	p->tos = (uint8_t)(load_be16(header) >> 4);
	p->l4_offset = (uint16_t)ip->at;
	return DROP_NONE;
}

// Payload length 0 needs no rule of its own: it is an empty packet, legal when the next header is
// none or unknown. A jumbogram (length 0 and a hop-by-hop option) exceeds every frame, and any
// known header does not fit into 0 bytes: PARSE_LENGTH for both.
static enum drop_reason parse_ipv6(struct pkt *p)
{
	struct payload ip;
	enum drop_reason reason;

	p->l3 = PKT_L3_IPV6;
	reason = parse_ipv6_header(p, &ip);
	if (unlikely(reason != DROP_NONE))
		return reason;
	if (unlikely(is_extension(ip.proto))) {
		reason = walk_extensions(p, &ip);
		if (reason != DROP_NONE || p->l4 == PKT_L4_FRAGMENT)
			return reason;
	}
	if (likely(ip.proto == PROTO_UDP))
		return parse_udp(p, &ip);
	if (ip.proto == PROTO_TCP)
		return parse_tcp(p, &ip);
	if (ip.proto == PROTO_ICMPV6)
		return parse_icmpv6(p, &ip);
	return DROP_NONE;
}

static enum drop_reason parse_roce_v1(struct pkt *p)
{
	struct payload grh;
	enum drop_reason reason;

	p->l3 = PKT_L3_ROCE_V1;
	reason = parse_ipv6_header(p, &grh);
	if (reason == DROP_NONE && grh.proto == PROTO_BTH)
		reason = parse_bth(p, grh.at, grh.end);
	return reason;
}

// Only Ethernet and IPv4 addresses make an ARP that later stages can read; other kinds of it are
// bridged like any frame.
static enum drop_reason parse_arp(struct pkt *p)
{
	const uint8_t *arp = p->data + p->l3_offset;

	if ((uint32_t)p->l3_offset + ARP_BYTES > p->head_len)
		return DROP_PARSE_TRUNCATED;
	if (load_be32(arp) == (1u << 16 | ETHERTYPE_IPV4) && load_be16(arp + 4) == 0x0604)
		p->l3 = PKT_L3_ARP;
	return DROP_NONE;
}

// Protocols of the link itself go to their group address and nowhere else: the same EtherType to
// any other address is data, which filters judge.
static bool is_link_protocol(const struct pkt *p, uint16_t ethertype, uint16_t wanted,
			     uint64_t address)
{
	return ethertype == wanted && load_be64(p->data) >> 16 == address;
}

static enum drop_reason parse_l3(struct pkt *p, uint16_t ethertype)
{
	if (ethertype == ETHERTYPE_IPV6)
		return parse_ipv6(p);
	if (ethertype == ETHERTYPE_ROCE_V1)
		return parse_roce_v1(p);
	if (ethertype == ETHERTYPE_ARP)
		return parse_arp(p);
	if (ethertype == PFC_ETHERTYPE)
		p->l3 = PKT_L3_MAC_CONTROL;
	else if (is_link_protocol(p, ethertype, LLDP_ETHERTYPE, NEAREST_BRIDGE_ADDRESS))
		p->l3 = PKT_L3_LLDP;
	else if (is_link_protocol(p, ethertype, HELLO_ETHERTYPE, HELLO_ADDRESS))
		p->l3 = PKT_L3_HELLO;
	else if (is_link_protocol(p, ethertype, LACP_ETHERTYPE, LACP_ADDRESS))
		p->l3 = PKT_L3_SLOW;
	return DROP_NONE;
}

static bool is_tag(uint16_t ethertype)
{
	return ethertype == ETHERTYPE_CTAG || ethertype == ETHERTYPE_STAG;
}

// Steps over the tags; *ethertype becomes the one behind them.
static enum drop_reason parse_tags(struct pkt *p, uint16_t *ethertype)
{
	for (uint32_t count = 0; is_tag(*ethertype); count++) {
		const uint8_t *tag = p->data + p->l3_offset;

		if (count == TAG_MAX)
			return DROP_PARSE_TAGS;
		if (p->l3_offset + TAG_BYTES > p->head_len)
			return DROP_PARSE_TRUNCATED;
		if (count == 0)
			p->tci = load_be16(tag);
		p->flags |= PKT_TAGGED;
		p->l3_offset += TAG_BYTES;
		*ethertype = load_be16(tag + 2);
	}
	return DROP_NONE;
}

// A group or all-zero source, which no station has.
static inline bool source_invalid(const uint8_t *data)
{
	const uint64_t source = load_be64(data + 6) >> 16; // the header has 14 bytes

	return source == 0 || source >> 40 & 1;
}

enum drop_reason parse(struct pkt *p, uint32_t max_frame_bytes)
{
	const uint8_t *data = p->data;
	enum drop_reason reason;
	uint16_t ethertype;

	p->dst_qp = 0;
	p->tci = 0;
	p->l3 = PKT_L3_OTHER;
	p->l4 = PKT_L4_OTHER;
	p->tos = 0;
	p->opcode = 0;
	p->flags = 0;
	p->lane = 0;
	p->l3_offset = ETH_BYTES;
	p->l4_offset = ETH_BYTES;
	if (unlikely(p->head_len < ETH_BYTES))
		return DROP_PARSE_TRUNCATED;
	if (data[0] & 1)
		p->flags = PKT_GROUP;
	ethertype = load_be16(data + 12);
	if (unlikely(is_tag(ethertype))) {
		reason = parse_tags(p, &ethertype);
		if (reason != DROP_NONE)
			return reason;
		p->l4_offset = p->l3_offset;
	}
	if (unlikely(p->len > max_frame_bytes + p->l3_offset - ETH_BYTES))
		return DROP_FRAME_OVERSIZE;
	// PFC is obeyed whatever its source: peers send it with all-zero addresses.
	if (unlikely(source_invalid(data)) && ethertype != PFC_ETHERTYPE)
		return DROP_SRC_MAC_INVALID;
	if (likely(ethertype == ETHERTYPE_IPV4))
		return parse_ipv4(p);
	return parse_l3(p, ethertype);
}

uint8_t parse_ip_protocol(const struct pkt *p)
{
	const uint8_t *ip = p->data + p->l3_offset;
	uint32_t at = p->l3_offset + IPV6_BYTES;
	uint8_t proto = ip[6];

	if (p->l3 == PKT_L3_IPV4)
		return ip[9];
	if (p->l4 == PKT_L4_BTH)
		return PROTO_UDP;
	// What parse() walked ends at the transport header.
	while (at < p->l4_offset) {
		const uint8_t *extension = p->data + at;

		at += extension_bytes(proto, extension);
		proto = extension[0];
	}
	return proto;
}
