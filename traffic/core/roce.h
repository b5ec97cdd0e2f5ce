// SPDX-License-Identifier: BSD-3-Clause
//
// RoCEv2 on the wire: Ethernet, an optional 802.1Q tag, IPv4 or IPv6, UDP to port 4791, base
// transport header, extended headers, payload, ICRC (InfiniBand volume 1 chapter 9 and annex A17).
// A packet is a value; frames are bytes that the caller carries. Multi-byte fields are host order
// here and network order there.
//
// The two layers are apart: `struct roce_packet` is what a queue pair sends and receives (rc.h),
// `struct roce_path` is what carries it from one host to another.
#pragma once

#include "base/bytes.h"
#include "base/wire.h"

enum {
	ROCE_PAYLOAD_MAX = 4096,
	ROCE_BTH_BYTES = 12,
	ROCE_ICRC_BYTES = 4,
	ROCE_PSN_BITS = 24,
	// Ethernet, tag, IPv6, UDP, BTH, RETH, immediate, ICRC: more than any frame has.
	ROCE_OVERHEAD_MAX = 14 + 4 + 40 + 8 + ROCE_BTH_BYTES + 16 + 4 + ROCE_ICRC_BYTES,
	ROCE_FRAME_MAX = ROCE_OVERHEAD_MAX + ROCE_PAYLOAD_MAX,
};

// Opcodes of the reliable connection, table 38 of volume 1; CNP is annex A17.9.
enum roce_opcode {
	ROCE_SEND_FIRST = 0x00,
	ROCE_SEND_MIDDLE = 0x01,
	ROCE_SEND_LAST = 0x02,
	ROCE_SEND_LAST_IMM = 0x03,
	ROCE_SEND_ONLY = 0x04,
	ROCE_SEND_ONLY_IMM = 0x05,
	ROCE_WRITE_FIRST = 0x06,
	ROCE_WRITE_MIDDLE = 0x07,
	ROCE_WRITE_LAST = 0x08,
	ROCE_WRITE_LAST_IMM = 0x09,
	ROCE_WRITE_ONLY = 0x0a,
	ROCE_WRITE_ONLY_IMM = 0x0b,
	ROCE_READ_REQUEST = 0x0c,
	ROCE_READ_RESPONSE_FIRST = 0x0d,
	ROCE_READ_RESPONSE_MIDDLE = 0x0e,
	ROCE_READ_RESPONSE_LAST = 0x0f,
	ROCE_READ_RESPONSE_ONLY = 0x10,
	ROCE_ACK = 0x11,
	ROCE_CNP = 0x81,
};

// AETH syndrome, table 44: the two bits above say which, the five below are the value.
enum {
	ROCE_SYNDROME_ACK = 0x1f,     // without a limit of credits
	ROCE_SYNDROME_RNR = 0x20,     // | timer code 0..31
	ROCE_SYNDROME_NAK_PSN = 0x60, // PSN sequence error
	ROCE_SYNDROME_NAK_REQUEST = 0x61,
	ROCE_SYNDROME_NAK_ACCESS = 0x62,
	ROCE_SYNDROME_NAK_OPERATIONAL = 0x63,
};

// Which extended headers an opcode carries is its own affair: roce_headers() below. Fields of
// headers that it does not carry are 0 when read, and not looked at when written.
struct roce_packet {
	uint8_t opcode; // enum roce_opcode
	bool solicited;
	bool migrated; // MigReq
	bool ack_req;
	bool becn;
	uint16_t pkey;
	uint32_t dest_qp; // 24 bits
	uint32_t psn;     // 24 bits
	uint64_t va;      // RETH
	uint32_t rkey;
	uint32_t dma_bytes;
	uint8_t syndrome; // AETH
	uint32_t msn;     // AETH, 24 bits
	uint32_t imm;
	// Not owned: of the frame that was parsed, or of the memory that is sent. NULL while
	// payload_bytes is not 0 means that nobody keeps the data (a simulation): zeros on the
	// wire.
	const uint8_t *payload;
	uint32_t payload_bytes; // without padding, at most ROCE_PAYLOAD_MAX
};

struct roce_path {
	uint64_t dst_mac; // first byte in bits 47..40
	uint64_t src_mac;
	bool ipv6;
	uint8_t dst_ip[16]; // network order; IPv4 in the first four
	uint8_t src_ip[16];
	uint32_t flow_label; // IPv6, 20 bits
	uint16_t ipv4_id;    // of no use while DF is set (RFC 6864): 0 is as good as any
	uint16_t src_port;   // entropy, constant per queue pair: 0xc000..0xffff
	uint8_t dscp;
	uint8_t ecn;
	uint8_t hop_limit; // TTL
	uint16_t tci;      // of the tag
	bool tagged;
};

// Distance from `b` to `a` in the circle of PSNs, -2^23 .. 2^23 - 1.
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << (32 - ROCE_PSN_BITS)) >> (32 - ROCE_PSN_BITS);
}

static inline uint32_t psn_add(uint32_t psn, uint32_t count)
{
	return (psn + count) & ((1u << ROCE_PSN_BITS) - 1);
}

// What follows the BTH, in this order. CNP has 16 reserved bytes there and nothing else.
enum roce_header {
	ROCE_HAS_RETH = 0x01,
	ROCE_HAS_AETH = 0x02,
	ROCE_HAS_IMM = 0x04,
	ROCE_HAS_RESERVED = 0x08,
	ROCE_HAS_PAYLOAD = 0x10, // which may be empty
};

// The enum roce_header bits of an opcode; 0 for one that this transport does not know.
__attribute__((const)) uint8_t roce_headers(uint8_t opcode);

static inline bool roce_opcode_known(uint8_t opcode)
{
	return roce_headers(opcode) != 0;
}

// Bytes of the extended headers of a known opcode: RETH 16, AETH 4, immediate 4, CNP's 16 reserved.
__attribute__((const)) uint32_t roce_extended_bytes(uint8_t opcode);

// Frame bytes, without FCS, of a packet with this payload (padding to four and ICRC included).
uint32_t roce_frame_bytes(const struct roce_path *path, uint8_t opcode, uint32_t payload_bytes);

// How the ICRC is made, from slow to fast. ROCE_CRC_CLMUL needs PCLMULQDQ and SSE4.1, ROCE_CRC_WIDE
// VPCLMULQDQ and AVX512F besides: the caller has asked the CPU.
enum roce_crc { ROCE_CRC_TABLE, ROCE_CRC_CLMUL, ROCE_CRC_WIDE };

// CRC-32 of 802.3 (reflected, polynomial 0x04c11db7) over `len` bytes: `crc` is the value so far,
// 0xffffffff to begin with, and the result is not inverted.
uint32_t roce_crc32(enum roce_crc method, uint32_t crc, const uint8_t *data, size_t len);

// The ICRC of a frame (A17.3.3): over a dummy LRH of ones, then the frame from its IP header to the
// ICRC, with TOS or class and flow label, TTL or hop limit, both checksums and the byte above the
// destination QP taken as ones. `ip` is the offset of the IP header behind Ethernet's, `end` that
// of the ICRC; the headers in between are whole, without IPv4 options or IPv6 extensions. The four
// bytes of the ICRC in the frame are little endian.
uint32_t roce_icrc(enum roce_crc method, const uint8_t *frame, uint32_t ip, uint32_t end);

// Writes the frame and returns its length. IPv4 has DF and a right header checksum; UDP has none,
// as soft-RoCE does (IPv6 too: RFC 6936). `out` has ROCE_FRAME_MAX bytes. The opcode is a known
// one, and one without a payload gets none.
uint32_t roce_frame_write(const struct roce_path *path, const struct roce_packet *packet,
			  enum roce_crc method, uint8_t *out);

enum roce_verdict {
	ROCE_FRAME_OK,
	ROCE_FRAME_OTHER, // not RoCEv2 over IP, as far as can be told: for somebody else
	ROCE_FRAME_SHORT, // truncated, or lengths that contradict each other
	ROCE_FRAME_BAD, // IP version, IPv4 options, fragment or checksum; opcode, version, padding
	ROCE_FRAME_ICRC,
};

// Reads a frame; one 802.1Q tag is skipped over and told. Every length is checked against `len`,
// which may have a minimum frame's padding behind the ICRC. `path` is as the frame says (dst is its
// destination) and filled for OK and ICRC, `packet` for OK alone; its payload points into the frame
// and is never longer than ROCE_PAYLOAD_MAX. A UDP checksum, FECN and reserved bits are ignored,
// and so are later fragments, which do not tell their port.
enum roce_verdict roce_frame_read(const uint8_t *frame, uint32_t len, enum roce_crc method,
				  struct roce_path *path, struct roce_packet *packet);
