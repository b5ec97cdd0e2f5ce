// SPDX-License-Identifier: BSD-3-Clause
//
// The fields of a packet that its hash is made of: outer addresses and ports, the RoCE queue pair,
// and the 5-tuple inside a tunnel (IP in IP, GRE and NVGRE, VXLAN, Geneve without options).
//
// Only what the profile asks for is read. A fragment has no ports in any of its pieces, so that all
// of a datagram take one path; a UDP checksum or length is not looked at. Bytes behind head_len
// count as absent.

#include "dataplane/core/route_l3.h"

#include "base/bytes.h"

enum {
	PROTO_IPIP = 4,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_IPV6 = 41,
	PROTO_GRE = 47,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	UDP_BYTES = 8,
	ETH_BYTES = 14,
	VXLAN_BYTES = 8,
	PORT_VXLAN = 4789,
	PORT_GENEVE = 6081,
	GRE_CHECKSUM = 0x8000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_TEB = 0x6558, // Ethernet in GRE: NVGRE
	FRAGMENT_MASK = 0x3fff, // more fragments, or an offset
};

#define INNER_FIELDS                                                                               \
	(1u << HASH_INNER_DST_IP | 1u << HASH_INNER_SRC_IP | 1u << HASH_INNER_IP_PROTOCOL |        \
	 1u << HASH_INNER_L4_DST_PORT | 1u << HASH_INNER_L4_SRC_PORT)

// One IP header: where its fields go.
struct ip_fields {
	uint64_t *src;
	uint64_t *dst;
	uint8_t *protocol;
	uint16_t *src_port;
	uint16_t *dst_port;
};

static bool has_bytes(const struct pkt *p, uint32_t at, uint32_t bytes)
{
	return at + bytes <= p->head_len;
}

static void take_ports(const struct pkt *p, uint32_t at, const struct ip_fields *out)
{
	if ((*out->protocol != PROTO_TCP && *out->protocol != PROTO_UDP) || !has_bytes(p, at, 4))
		return;
	*out->src_port = load_be16(p->data + at);
	*out->dst_port = load_be16(p->data + at + 2);
}

// The header at `at`; returns where its payload is, 0 when there is no such header or it is a
// fragment. IPv6 extension headers end the look.
static uint32_t take_ip(const struct pkt *p, uint32_t at, const struct ip_fields *out)
{
	const uint8_t *ip = p->data + at;
	uint32_t header;

	if (has_bytes(p, at, IPV4_BYTES) && ip[0] >> 4 == 4) {
		header = (ip[0] & 0xfu) * 4;
		out->src[0] = load_be32(ip + 12);
		out->dst[0] = load_be32(ip + 16);
		*out->protocol = ip[9];
		if (header < IPV4_BYTES || load_be16(ip + 6) & FRAGMENT_MASK)
			return 0;
	} else if (has_bytes(p, at, IPV6_BYTES) && ip[0] >> 4 == 6) {
		header = IPV6_BYTES;
		out->src[0] = load_be64(ip + 8);
		out->src[1] = load_be64(ip + 16);
		out->dst[0] = load_be64(ip + 24);
		out->dst[1] = load_be64(ip + 32);
		*out->protocol = ip[6];
	} else {
		return 0;
	}
	take_ports(p, at + header, out);
	return at + header;
}

// Where the inner IP header of a GRE packet starts, 0: there is none.
static uint32_t inside_gre(const struct pkt *p, uint32_t at)
{
	uint16_t flags;
	uint16_t protocol;

	if (!has_bytes(p, at, 4))
		return 0;
	flags = load_be16(p->data + at);
	protocol = load_be16(p->data + at + 2);
	at += 4;
	if (flags & GRE_CHECKSUM)
		at += 4;
	if (flags & GRE_KEY)
		at += 4;
	if (flags & GRE_SEQUENCE)
		at += 4;
	if (protocol == ETHERTYPE_TEB)
		return at + ETH_BYTES;
	return protocol == ETHERTYPE_IPV4 || protocol == ETHERTYPE_IPV6 ? at : 0;
}

static uint32_t inside(const struct pkt *p, uint32_t at, const struct hash_key *key)
{
	if (key->protocol == PROTO_IPIP || key->protocol == PROTO_IPV6)
		return at;
	if (key->protocol == PROTO_GRE)
		return inside_gre(p, at);
	if (key->protocol == PROTO_UDP &&
	    (key->dst_port == PORT_VXLAN || key->dst_port == PORT_GENEVE))
		return at + UDP_BYTES + VXLAN_BYTES + ETH_BYTES;
	return 0;
}

static void take_tunnel(const struct pkt *p, uint32_t at, struct hash_key *key)
{
	const struct ip_fields fields = {
		key->inner_src_ip,    key->inner_dst_ip,    &key->inner_protocol,
		&key->inner_src_port, &key->inner_dst_port,
	};
	const uint32_t inner = inside(p, at, key);

	if (inner == 0)
		return;
	take_ip(p, inner, &fields);
	key->has_inner = (key->inner_src_ip[0] | key->inner_dst_ip[0] | key->inner_src_ip[1] |
			  key->inner_dst_ip[1]) != 0;
}

static void take_l3(const struct hash_profile *pf, const struct pkt *p, struct hash_key *key)
{
	const struct ip_fields fields = {
		key->src_ip, key->dst_ip, &key->protocol, &key->src_port, &key->dst_port,
	};
	const uint32_t payload = take_ip(p, p->l3_offset, &fields);

	if (p->l3 == PKT_L3_IPV6)
		key->flow_label = load_be32(p->data + p->l3_offset) & 0xfffff;
	if (p->l4 == PKT_L4_BTH) {
		key->dst_qp = p->dst_qp;
		key->opcode = p->opcode;
	} else if (payload != 0 && pf->fields & INNER_FIELDS) {
		take_tunnel(p, payload, key);
	}
}

uint32_t flow_hash(const struct hash_profile *pf, const struct pkt *p)
{
	struct hash_key key = {
		.src_mac = load_be48(p->data + 6),
		.dst_mac = load_be48(p->data),
		.in_port = p->in_port.v,
		.vid = p->vid,
		.ethertype = load_be16(p->data + p->l3_offset - 2),
	};

	if (p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6)
		take_l3(pf, p, &key);
	if (p->l3 == PKT_L3_ROCE_V1) {
		key.dst_qp = p->dst_qp;
		key.opcode = p->opcode;
	}
	return hash_packet(pf, &key);
}
