// SPDX-License-Identifier: BSD-3-Clause
//
// Test frames: a description becomes bytes of exactly the wanted length, and received bytes become
// a description again. Every data frame carries a stamp in its payload, a stream number and a
// sequence number, by which a receiver finds loss and reordering.
//
// Lengths are without FCS and include VLAN tags.
#pragma once

#include "base/bytes.h"

enum frame_kind {
	FRAME_ROCE, // UDP to port 4791 with a BTH
	FRAME_UDP,
	FRAME_TCP,
	FRAME_ROCE_V1, // EtherType 0x8915: GRH and BTH
	FRAME_ARP_REQUEST,
	FRAME_ARP_REPLY,
	FRAME_PLAIN, // `ethertype`, then the stamp
};

enum {
	FRAME_TAG_MAX = 2,
	FRAME_STAMP_BYTES = 16,
	FRAME_MIN_BYTES = 60,
	FRAME_MAX_BYTES = 9216 + 14 + 8,
};

struct frame {
	enum frame_kind kind;
	uint64_t dst; // MAC addresses, first byte in bits 47..40
	uint64_t src;
	uint32_t dst_ip; // IPv4; behind fd00::/96 when ipv6
	uint32_t src_ip;
	bool ipv6;
	uint8_t tag_count;
	struct {
		uint16_t tpid; // 0: 0x8100
		uint16_t tci;
	} tag[FRAME_TAG_MAX]; // outer first
	uint16_t ethertype;   // FRAME_PLAIN
	uint16_t src_port;
	uint16_t dst_port; // FRAME_UDP and FRAME_TCP
	uint8_t dscp;
	uint8_t ecn;
	uint8_t opcode; // of the BTH
	uint32_t qp;    // 24 bits
	uint32_t stream;
	uint64_t seq;
	uint32_t len; // 0: FRAME_MIN_BYTES, or the least that holds headers and stamp
};

// Least length that holds the headers of the frame's kind, without a stamp.
uint32_t frame_header_bytes(const struct frame *f);

// The EtherType behind its tags.
uint16_t frame_ethertype(const struct frame *f);

// Writes the frame and returns its length: f->len, but at least its headers. A frame too short for
// its stamp has none. `out` has room for it. IPv4 header checksums are right; UDP has none, and the
// four bytes of the ICRC are zero.
uint32_t frame_write(const struct frame *f, uint8_t *out);

// Reads what frame_write() wrote, whatever tags were added or removed since. False when the bytes
// hold no stamp; addresses, tags, EtherType, dscp and ecn are filled as far as they exist.
bool frame_read(const uint8_t *data, uint32_t len, struct frame *out);

// One's complement sum of RFC 1071 of `len` bytes, the last of which may be half a word, on top of
// `sum`: 0xffff over what includes its right checksum.
static inline uint16_t frame_sum(const uint8_t *bytes, uint32_t len, uint32_t sum)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

// The checksum that an IPv4 header, with its options, should have.
static inline uint16_t frame_ipv4_checksum(const uint8_t *ip)
{
	const uint32_t len = (ip[0] & 0xfu) * 4;

	return (uint16_t)~frame_sum(ip + 12, len - 12, frame_sum(ip, 10, 0));
}

// Conventional addresses of test host `id` (below 65536): locally administered, and 10.1.x.y.
static inline uint64_t frame_host_mac(uint32_t id)
{
	return 0x020000000000u | (id + 1);
}

static inline uint32_t frame_host_ip(uint32_t id)
{
	return 0x0a010000u + id + 1;
}

// Bytes of wire time: FCS, padding, preamble and gap included.
static inline uint64_t frame_wire_bytes(uint32_t len)
{
	return u64_max(len + 4u, 64) + 20;
}
