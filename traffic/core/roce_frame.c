// SPDX-License-Identifier: BSD-3-Clause
//
// Frames of RoCEv2, written and read: Ethernet, tag, IP, UDP (annex A17.3), BTH and extended
// headers (InfiniBand volume 1, 9.2 to 9.3), payload, padding to four bytes, ICRC.
//
// Reading decides in the order of the headers whose frame it is, then whether it is a good one, and
// sums it last. Nothing is read that a length has not been compared for.

#include "traffic/core/roce.h"

#include "base/check.h"
#include "base/checksum.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_TAG = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERNET_BYTES = 14,
	TAG_BYTES = 4,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	UDP_BYTES = 8,
	PROTOCOL_UDP = 17,
	IPV4_DF = 0x4000,
	IPV4_MF = 0x2000,
	IPV4_OFFSET = 0x1fff,
	PORT_AT = 2, // of UDP
	BTH_SOLICITED = 0x80,
	BTH_MIGRATED = 0x40,
	BTH_VERSION = 0x0f,
	BTH_BECN = 0x40,
	BTH_ACK_REQ = 0x80,
};

// Where the parts of a frame are.
struct places {
	uint32_t ip;
	uint32_t udp;
	uint32_t end; // of IP's payload; more than the frame has until that is compared
};

static inline uint32_t padding(uint32_t payload_bytes)
{
	return -payload_bytes & 3;
}

static uint32_t udp_bytes(uint8_t opcode, uint32_t payload_bytes)
{
	return UDP_BYTES + ROCE_BTH_BYTES + roce_extended_bytes(opcode) + payload_bytes +
	       padding(payload_bytes) + ROCE_ICRC_BYTES;
}

uint32_t roce_frame_bytes(const struct roce_path *path, uint8_t opcode, uint32_t payload_bytes)
{
	return ETHERNET_BYTES + (path->tagged ? TAG_BYTES : 0) +
	       (path->ipv6 ? IPV6_BYTES : IPV4_BYTES) + udp_bytes(opcode, payload_bytes);
}

static uint8_t *write_ethernet(const struct roce_path *path, uint8_t *out)
{
	store_be48(out, path->dst_mac);
	store_be48(out + 6, path->src_mac);
	out += 12;
	if (path->tagged) {
		store_be16(out, ETHERTYPE_TAG);
		store_be16(out + 2, path->tci);
		out += TAG_BYTES;
	}
	store_be16(out, path->ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
	return out + 2;
}

static uint8_t *write_ipv4(const struct roce_path *path, uint32_t bytes, uint8_t *out)
{
	const uint32_t tos = (uint32_t)path->dscp << 2 | path->ecn;
	uint32_t word[] = {
		0x45u << 24 | tos << 16 | (IPV4_BYTES + bytes),
		(uint32_t)path->ipv4_id << 16 | IPV4_DF,
		(uint32_t)path->hop_limit << 24 | PROTOCOL_UDP << 16,
		load_be32(path->src_ip),
		load_be32(path->dst_ip),
	};
	uint32_t sum = 0;

	// Of the words, since bytes just written are slow to read as something wider or narrower.
	for (uint32_t i = 0; i < IPV4_BYTES / 4; i++)
		sum += (word[i] >> 16) + (word[i] & 0xffff);
	word[2] |= checksum_end(sum);
	for (uint32_t i = 0; i < IPV4_BYTES / 4; i++)
		store_be32(out + 4 * i, word[i]);
	return out + IPV4_BYTES;
}

static uint8_t *write_ipv6(const struct roce_path *path, uint32_t bytes, uint8_t *out)
{
	const uint32_t traffic_class = (uint32_t)path->dscp << 2 | path->ecn;

	store_be32(out, 6u << 28 | traffic_class << 20 | path->flow_label);
	store_be16(out + 4, (uint16_t)bytes);
	out[6] = PROTOCOL_UDP;
	out[7] = path->hop_limit;
	memcpy(out + 8, path->src_ip, 16);
	memcpy(out + 24, path->dst_ip, 16);
	return out + IPV6_BYTES;
}

static uint8_t *write_transport(const struct roce_packet *packet, uint8_t *out)
{
	const uint8_t has = roce_headers(packet->opcode);

	const uint32_t flags = (packet->solicited ? BTH_SOLICITED : 0) |
			       (packet->migrated ? BTH_MIGRATED : 0) |
			       padding(packet->payload_bytes) << 4;

	store_be32(out, (uint32_t)packet->opcode << 24 | flags << 16 | packet->pkey);
	store_be32(out + 4, (packet->becn ? (uint32_t)BTH_BECN << 24 : 0) | packet->dest_qp);
	store_be32(out + 8, (packet->ack_req ? (uint32_t)BTH_ACK_REQ << 24 : 0) | packet->psn);
	out += ROCE_BTH_BYTES;
	if (has & ROCE_HAS_RETH) {
		store_be32(out, (uint32_t)(packet->va >> 32));
		store_be32(out + 4, (uint32_t)packet->va);
		store_be32(out + 8, packet->rkey);
		store_be32(out + 12, packet->dma_bytes);
		out += 16;
	}
	if (has & ROCE_HAS_AETH) {
		store_be32(out, (uint32_t)packet->syndrome << 24 | packet->msn);
		out += 4;
	}
	if (has & ROCE_HAS_IMM) {
		store_be32(out, packet->imm);
		out += 4;
	}
	if (has & ROCE_HAS_RESERVED) {
		memset(out, 0, 16);
		out += 16;
	}
	return out;
}

static uint8_t *write_payload(const struct roce_packet *packet, uint8_t *out)
{
	const uint32_t bytes = packet->payload_bytes;

	// Both ends of the padding are within the word that is set first.
	memset(out + bytes, 0, 4);
	if (packet->payload != NULL)
		memcpy(out, packet->payload, bytes);
	else
		memset(out, 0, bytes);
	return out + bytes + padding(bytes);
}

// What is too wide would be written into its neighbours.
static void check_ranges(const struct roce_path *path, const struct roce_packet *packet)
{
	const uint8_t has = roce_headers(packet->opcode);

	WEFT_DEBUG_CHECK(path->dscp < 64 && path->ecn < 4 && path->flow_label < 1 << 20);
	WEFT_DEBUG_CHECK(packet->dest_qp < 1 << 24 && packet->psn < 1 << 24);
	WEFT_DEBUG_CHECK(packet->msn < 1 << 24 && has != 0);
	WEFT_DEBUG_CHECK(packet->payload_bytes <= (has & ROCE_HAS_PAYLOAD ? ROCE_PAYLOAD_MAX : 0));
}

uint32_t roce_frame_write(const struct roce_path *path, const struct roce_packet *packet,
			  enum roce_crc method, uint8_t *out)
{
	const uint32_t bytes = udp_bytes(packet->opcode, packet->payload_bytes);
	uint8_t *const ip = write_ethernet(path, out);
	uint8_t *udp, *end;

	check_ranges(path, packet);
	udp = path->ipv6 ? write_ipv6(path, bytes, ip) : write_ipv4(path, bytes, ip);
	store_be32(udp, (uint32_t)path->src_port << 16 | ROCE_UDP_PORT);
	store_be32(udp + 4, bytes << 16);
	end = write_payload(packet, write_transport(packet, udp + UDP_BYTES));
	store_le32(end, roce_icrc(method, out, (uint32_t)(ip - out), (uint32_t)(end - out)));
	return (uint32_t)(end - out) + ROCE_ICRC_BYTES;
}

static bool is_roce_port(const uint8_t *frame, uint32_t len, uint32_t udp)
{
	return frame_has(len, udp, UDP_BYTES) && load_be16(frame + udp + PORT_AT) == ROCE_UDP_PORT;
}

// What a frame is whose port is not ours: it may have been cut in front of it.
static enum roce_verdict not_roce(uint32_t len, uint32_t udp)
{
	return frame_has(len, udp, UDP_BYTES) ? ROCE_FRAME_OTHER : ROCE_FRAME_SHORT;
}

static enum roce_verdict read_ipv4(const uint8_t *frame, uint32_t len, struct places *at,
				   struct roce_path *path)
{
	const uint8_t *ip = frame + at->ip;
	uint32_t fragment;

	if (!frame_has(len, at->ip, IPV4_BYTES))
		return ROCE_FRAME_SHORT;
	if (ip[0] >> 4 != 4 || (ip[0] & 0xf) * 4 < IPV4_BYTES)
		return ROCE_FRAME_BAD;
	fragment = load_be16(ip + 6);
	if (ip[9] != PROTOCOL_UDP || (fragment & IPV4_OFFSET) != 0)
		return ROCE_FRAME_OTHER;
	at->udp = at->ip + (ip[0] & 0xf) * 4;
	if (!is_roce_port(frame, len, at->udp))
		return not_roce(len, at->udp);
	if (ip[0] != 0x45 || (fragment & IPV4_MF) != 0 ||
	    checksum_end(checksum_add(0, ip, IPV4_BYTES)) != 0)
		return ROCE_FRAME_BAD;
	at->end = at->ip + load_be16(ip + 2);
	path->ipv6 = false;
	path->dscp = ip[1] >> 2;
	path->ecn = ip[1] & 3;
	path->ipv4_id = load_be16(ip + 4);
	path->hop_limit = ip[8];
	memcpy(path->src_ip, ip + 12, 4);
	memcpy(path->dst_ip, ip + 16, 4);
	return ROCE_FRAME_OK;
}

static enum roce_verdict read_ipv6(const uint8_t *frame, uint32_t len, struct places *at,
				   struct roce_path *path)
{
	const uint8_t *ip = frame + at->ip;
	uint32_t first;

	if (!frame_has(len, at->ip, IPV6_BYTES))
		return ROCE_FRAME_SHORT;
	first = load_be32(ip);
	if (first >> 28 != 6)
		return ROCE_FRAME_BAD;
	if (ip[6] != PROTOCOL_UDP)
		return ROCE_FRAME_OTHER;
	at->udp = at->ip + IPV6_BYTES;
	if (!is_roce_port(frame, len, at->udp))
		return not_roce(len, at->udp);
	at->end = at->udp + load_be16(ip + 4);
	path->ipv6 = true;
	path->dscp = first >> 22 & 0x3f;
	path->ecn = first >> 20 & 3;
	path->flow_label = first & 0xfffff;
	path->hop_limit = ip[7];
	memcpy(path->src_ip, ip + 8, 16);
	memcpy(path->dst_ip, ip + 24, 16);
	return ROCE_FRAME_OK;
}

// From Ethernet to UDP: all that is the path's, and where BTH and ICRC are.
static enum roce_verdict read_path(const uint8_t *frame, uint32_t len, struct places *at,
				   struct roce_path *path)
{
	enum roce_verdict verdict;
	uint16_t ethertype;
	uint32_t bytes;

	if (len < ETHERNET_BYTES + TAG_BYTES)
		return ROCE_FRAME_SHORT;
	*path = (struct roce_path){ .dst_mac = load_be48(frame), .src_mac = load_be48(frame + 6) };
	ethertype = load_be16(frame + 12);
	at->ip = ETHERNET_BYTES;
	if (ethertype == ETHERTYPE_TAG) {
		path->tagged = true;
		path->tci = load_be16(frame + 14);
		ethertype = load_be16(frame + 16);
		at->ip += TAG_BYTES;
	}
	if (ethertype != ETHERTYPE_IPV4 && ethertype != ETHERTYPE_IPV6)
		return ROCE_FRAME_OTHER;
	verdict = ethertype == ETHERTYPE_IPV6 ? read_ipv6(frame, len, at, path) :
						read_ipv4(frame, len, at, path);
	if (verdict != ROCE_FRAME_OK)
		return verdict;
	path->src_port = load_be16(frame + at->udp);
	bytes = load_be16(frame + at->udp + 4);
	if (at->end > len || at->end != at->udp + bytes || bytes % 4 != 0 ||
	    bytes < UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return ROCE_FRAME_SHORT;
	return ROCE_FRAME_OK;
}

static void read_extended(const uint8_t *from, struct roce_packet *packet)
{
	const uint8_t has = roce_headers(packet->opcode);

	if (has & ROCE_HAS_RETH) {
		packet->va = load_be64(from);
		packet->rkey = load_be32(from + 8);
		packet->dma_bytes = load_be32(from + 12);
		from += 16;
	}
	if (has & ROCE_HAS_AETH) {
		packet->syndrome = from[0];
		packet->msn = load_be24(from + 1);
		from += 4;
	}
	if (has & ROCE_HAS_IMM)
		packet->imm = load_be32(from);
}

// BTH, extended headers and the extent of the payload, which ends at `end` with its padding.
static enum roce_verdict read_transport(const uint8_t *frame, uint32_t bth_at, uint32_t end,
					struct roce_packet *packet)
{
	const uint8_t *bth = frame + bth_at;
	const uint8_t has = roce_headers(bth[0]);
	const uint32_t payload_at = bth_at + ROCE_BTH_BYTES + roce_extended_bytes(bth[0]);
	const uint32_t pad = bth[1] >> 4 & 3;

	if (has == 0 || (bth[1] & BTH_VERSION) != 0)
		return ROCE_FRAME_BAD;
	if (payload_at > end)
		return ROCE_FRAME_SHORT;
	if (pad > end - payload_at || end - payload_at - pad > ROCE_PAYLOAD_MAX ||
	    ((has & ROCE_HAS_PAYLOAD) == 0 && payload_at != end))
		return ROCE_FRAME_BAD;
	*packet = (struct roce_packet){
		.opcode = bth[0],
		.solicited = (bth[1] & BTH_SOLICITED) != 0,
		.migrated = (bth[1] & BTH_MIGRATED) != 0,
		.ack_req = (bth[8] & BTH_ACK_REQ) != 0,
		.becn = (bth[4] & BTH_BECN) != 0,
		.pkey = load_be16(bth + 2),
		.dest_qp = load_be24(bth + 5),
		.psn = load_be24(bth + 9),
		.payload = frame + payload_at,
		.payload_bytes = end - payload_at - pad,
	};
	read_extended(bth + ROCE_BTH_BYTES, packet);
	return ROCE_FRAME_OK;
}

enum roce_verdict roce_frame_read(const uint8_t *frame, uint32_t len, enum roce_crc method,
				  struct roce_path *path, struct roce_packet *packet)
{
	enum roce_verdict verdict;
	struct places at;
	uint32_t icrc_at;

	verdict = read_path(frame, len, &at, path);
	if (verdict != ROCE_FRAME_OK)
		return verdict;
	icrc_at = at.end - ROCE_ICRC_BYTES;
	verdict = read_transport(frame, at.udp + UDP_BYTES, icrc_at, packet);
	if (verdict != ROCE_FRAME_OK)
		return verdict;
	if (load_le32(frame + icrc_at) != roce_icrc(method, frame, at.ip, icrc_at))
		return ROCE_FRAME_ICRC;
	return ROCE_FRAME_OK;
}
