// SPDX-License-Identifier: BSD-3-Clause
//
// Test frames to bytes and back. Written apart from the switch's parser on purpose: a test that
// read frames with the code under test would agree with its mistakes.
//
// Formats: IEEE 802.3, 802.1Q; RFC 791, 8200, 768, 9293, 826; IBTA annex A16 and A17.

#include "tests/host/frame.h"

enum {
	ETH_BYTES = 14,
	TAG_BYTES = 4,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40, // GRH alike
	UDP_BYTES = 8,
	TCP_BYTES = 20,
	BTH_BYTES = 12,
	ICRC_BYTES = 4,
	ARP_BYTES = 28,
	ROCE_PORT = 4791,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_BTH = 0x1b,
};

#define STAMP_MAGIC 0x77656674u

static uint32_t l2_bytes(const struct frame *f)
{
	return ETH_BYTES + f->tag_count * TAG_BYTES;
}

// Bytes in front of the stamp and behind it.
static uint32_t before_stamp(const struct frame *f)
{
	uint32_t ip = f->ipv6 ? IPV6_BYTES : IPV4_BYTES;

	switch (f->kind) {
	case FRAME_ROCE: return l2_bytes(f) + ip + UDP_BYTES + BTH_BYTES;
	case FRAME_UDP: return l2_bytes(f) + ip + UDP_BYTES;
	case FRAME_TCP: return l2_bytes(f) + ip + TCP_BYTES;
	case FRAME_ROCE_V1: return l2_bytes(f) + IPV6_BYTES + BTH_BYTES;
	case FRAME_ARP_REQUEST:
	case FRAME_ARP_REPLY: return l2_bytes(f) + ARP_BYTES;
	case FRAME_PLAIN: return l2_bytes(f);
	}
	return 0;
}

static uint32_t after_stamp(const struct frame *f)
{
	return f->kind == FRAME_ROCE || f->kind == FRAME_ROCE_V1 ? ICRC_BYTES : 0;
}

static bool has_stamp(const struct frame *f, uint32_t len)
{
	return f->kind != FRAME_ARP_REQUEST && f->kind != FRAME_ARP_REPLY &&
	       len >= before_stamp(f) + FRAME_STAMP_BYTES + after_stamp(f);
}

uint32_t frame_header_bytes(const struct frame *f)
{
	return before_stamp(f) + after_stamp(f);
}

static void write_ipv6_address(uint8_t *out, uint32_t address)
{
	memset(out, 0, 16);
	out[0] = 0xfd;
	store_be32(out + 12, address);
}

static uint8_t *write_ipv6(const struct frame *f, uint8_t proto, uint32_t payload, uint8_t *out)
{
	memset(out, 0, IPV6_BYTES);
	store_be16(out, (uint16_t)(0x6000 | f->dscp << 6 | f->ecn << 4));
	store_be16(out + 4, (uint16_t)payload);
	out[6] = proto;
	out[7] = 64;
	write_ipv6_address(out + 8, f->src_ip);
	write_ipv6_address(out + 24, f->dst_ip);
	return out + IPV6_BYTES;
}

static uint8_t *write_ip(const struct frame *f, uint8_t proto, uint32_t bytes, uint8_t *out)
{
	if (f->ipv6)
		return write_ipv6(f, proto, bytes - IPV6_BYTES, out);
	memset(out, 0, IPV4_BYTES);
	out[0] = 0x45;
	out[1] = (uint8_t)(f->dscp << 2 | f->ecn);
	store_be16(out + 2, (uint16_t)bytes);
	store_be16(out + 6, 0x4000); // do not fragment
	out[8] = 64;
	out[9] = proto;
	store_be32(out + 12, f->src_ip);
	store_be32(out + 16, f->dst_ip);
	store_be16(out + 10, frame_ipv4_checksum(out));
	return out + IPV4_BYTES;
}

static uint8_t *write_udp(const struct frame *f, uint16_t dst_port, uint32_t bytes, uint8_t *out)
{
	store_be16(out, f->src_port);
	store_be16(out + 2, dst_port);
	store_be16(out + 4, (uint16_t)bytes);
	store_be16(out + 6, 0);
	return out + UDP_BYTES;
}

static void write_bth(const struct frame *f, uint8_t *out)
{
	memset(out, 0, BTH_BYTES);
	out[0] = f->opcode;
	store_be16(out + 2, 0xffff); // default partition
	store_be32(out + 4, f->qp & 0xffffff);
	store_be32(out + 8, (uint32_t)f->seq & 0xffffff);
}

static void write_tcp(const struct frame *f, uint8_t *out)
{
	memset(out, 0, TCP_BYTES);
	store_be16(out, f->src_port);
	store_be16(out + 2, f->dst_port);
	store_be32(out + 4, (uint32_t)f->seq);
	out[12] = 5 << 4;
	out[13] = 0x10; // ACK
}

static void write_arp(const struct frame *f, uint8_t *out)
{
	store_be32(out, 0x00010800);
	store_be16(out + 4, 0x0604);
	store_be16(out + 6, f->kind == FRAME_ARP_REQUEST ? 1 : 2);
	store_be48(out + 8, f->src);
	store_be32(out + 14, f->src_ip);
	store_be48(out + 18, f->kind == FRAME_ARP_REQUEST ? 0 : f->dst);
	store_be32(out + 24, f->dst_ip);
}

static uint8_t *write_l2(const struct frame *f, uint16_t ethertype, uint8_t *out)
{
	store_be48(out, f->dst);
	store_be48(out + 6, f->src);
	out += 12;
	for (uint32_t i = 0; i < f->tag_count; i++) {
		store_be16(out, f->tag[i].tpid != 0 ? f->tag[i].tpid : 0x8100);
		store_be16(out + 2, f->tag[i].tci);
		out += TAG_BYTES;
	}
	store_be16(out, ethertype);
	return out + 2;
}

uint16_t frame_ethertype(const struct frame *f)
{
	switch (f->kind) {
	case FRAME_ROCE:
	case FRAME_UDP:
	case FRAME_TCP: return f->ipv6 ? 0x86dd : 0x0800;
	case FRAME_ROCE_V1: return 0x8915;
	case FRAME_ARP_REQUEST:
	case FRAME_ARP_REPLY: return 0x0806;
	case FRAME_PLAIN: break;
	}
	return f->ethertype;
}

// `bytes` from the start of the L3 header to the end of the frame.
static void write_l3(const struct frame *f, uint32_t bytes, uint8_t *out)
{
	uint32_t ip = f->ipv6 ? IPV6_BYTES : IPV4_BYTES;

	switch (f->kind) {
	case FRAME_ROCE:
		out = write_ip(f, PROTO_UDP, bytes, out);
		write_bth(f, write_udp(f, ROCE_PORT, bytes - ip, out));
		return;
	case FRAME_UDP:
		out = write_ip(f, PROTO_UDP, bytes, out);
		write_udp(f, f->dst_port, bytes - ip, out);
		return;
	case FRAME_TCP: write_tcp(f, write_ip(f, PROTO_TCP, bytes, out)); return;
	case FRAME_ROCE_V1: write_bth(f, write_ipv6(f, PROTO_BTH, bytes - IPV6_BYTES, out)); return;
	case FRAME_ARP_REQUEST:
	case FRAME_ARP_REPLY: write_arp(f, out); return;
	case FRAME_PLAIN: return;
	}
}

uint32_t frame_write(const struct frame *f, uint8_t *out)
{
	uint32_t len = f->len;
	uint8_t *stamp = out + before_stamp(f);

	if (len == 0)
		len = (uint32_t)u64_max(FRAME_MIN_BYTES, frame_header_bytes(f) + FRAME_STAMP_BYTES);
	len = (uint32_t)u64_max(len, frame_header_bytes(f));
	memset(out, 0, len);
	write_l3(f, len - l2_bytes(f), write_l2(f, frame_ethertype(f), out));
	if (has_stamp(f, len)) {
		store_be32(stamp, STAMP_MAGIC);
		store_be32(stamp + 4, f->stream);
		store_be32(stamp + 8, (uint32_t)(f->seq >> 32));
		store_be32(stamp + 12, (uint32_t)f->seq);
	}
	return len;
}

static bool read_l2(const uint8_t *data, uint32_t len, struct frame *f)
{
	if (len < ETH_BYTES)
		return false;
	f->dst = load_be48(data);
	f->src = load_be48(data + 6);
	f->ethertype = load_be16(data + 12);
	while (f->ethertype == 0x8100 || f->ethertype == 0x88a8) {
		if (f->tag_count == FRAME_TAG_MAX || len < l2_bytes(f) + TAG_BYTES)
			return false;
		f->tag[f->tag_count].tpid = f->ethertype;
		f->tag[f->tag_count].tci = load_be16(data + l2_bytes(f));
		f->tag_count++;
		f->ethertype = load_be16(data + l2_bytes(f) - 2);
	}
	return true;
}

static bool read_ip(const uint8_t *ip, uint32_t len, struct frame *f, uint8_t *proto)
{
	uint16_t first;

	if (len < (f->ipv6 ? IPV6_BYTES : IPV4_BYTES))
		return false;
	first = load_be16(ip);
	*proto = f->ipv6 ? ip[6] : ip[9];
	f->dscp = f->ipv6 ? first >> 6 & 0x3f : ip[1] >> 2;
	f->ecn = f->ipv6 ? first >> 4 & 3 : ip[1] & 3;
	f->src_ip = load_be32(ip + (f->ipv6 ? 20 : 12));
	f->dst_ip = load_be32(ip + (f->ipv6 ? 36 : 16));
	return true;
}

static bool read_l3(const uint8_t *l3, uint32_t len, struct frame *f)
{
	uint8_t proto = 0;
	uint32_t l4;

	f->ipv6 = f->ethertype == 0x86dd || f->ethertype == 0x8915;
	f->kind = FRAME_PLAIN;
	if (f->ethertype == 0x0806) {
		if (len < ARP_BYTES)
			return false;
		f->kind = load_be16(l3 + 6) == 1 ? FRAME_ARP_REQUEST : FRAME_ARP_REPLY;
		f->src_ip = load_be32(l3 + 14);
		f->dst_ip = load_be32(l3 + 24);
		return true;
	}
	if (f->ethertype != 0x0800 && !f->ipv6)
		return true;
	if (!read_ip(l3, len, f, &proto))
		return false;
	l4 = f->ipv6 ? IPV6_BYTES : IPV4_BYTES;
	if (proto == PROTO_TCP) {
		f->kind = FRAME_TCP;
	} else if (proto == PROTO_BTH && f->ethertype == 0x8915) {
		f->kind = FRAME_ROCE_V1;
	} else if (proto == PROTO_UDP && len >= l4 + UDP_BYTES) {
		f->src_port = load_be16(l3 + l4);
		f->dst_port = load_be16(l3 + l4 + 2);
		f->kind = f->dst_port == ROCE_PORT ? FRAME_ROCE : FRAME_UDP;
	}
	return true;
}

bool frame_read(const uint8_t *data, uint32_t len, struct frame *out)
{
	const uint8_t *stamp;

	*out = (struct frame){ .len = len };
	if (!read_l2(data, len, out) || !read_l3(data + l2_bytes(out), len - l2_bytes(out), out) ||
	    !has_stamp(out, len))
		return false;
	stamp = data + before_stamp(out);
	if (load_be32(stamp) != STAMP_MAGIC)
		return false;
	out->stream = load_be32(stamp + 4);
	out->seq = (uint64_t)load_be32(stamp + 8) << 32 | load_be32(stamp + 12);
	if (out->kind == FRAME_ROCE || out->kind == FRAME_ROCE_V1) {
		out->opcode = stamp[-BTH_BYTES];
		out->qp = load_be24(stamp - BTH_BYTES + 5);
	}
	return true;
}
