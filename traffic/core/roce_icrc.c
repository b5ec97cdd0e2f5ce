// SPDX-License-Identifier: BSD-3-Clause
//
// The invariant CRC (InfiniBand volume 1, 7.8.1 and annex A17.3.3). The headers up to the BTH's end
// are taken through a mask that makes ones of what routers may rewrite, into a block aligned to its
// end; the rest is summed where it lies.
//
// The dummy LRH is eight bytes of ones. The first four turn the register from its start of ones to
// 0, so the block is four bytes of ones in front of the IP header, and zeros in front of them.

#include "traffic/core/roce_crc.h"

enum {
	LANE = 16,
	LANES = ROCE_CRC_HEAD_BYTES / LANE,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	UDP_BYTES = 8,
	IPV4_HEAD = IPV4_BYTES + UDP_BYTES + ROCE_BTH_BYTES,
	IPV6_HEAD = IPV6_BYTES + UDP_BYTES + ROCE_BTH_BYTES,
	IPV4_AT = ROCE_CRC_HEAD_BYTES - IPV4_HEAD, // in the block
	IPV6_AT = ROCE_CRC_HEAD_BYTES - IPV6_HEAD,
	IPV4_SKIP = 1, // lanes of zeros alone
};

static_assert(IPV6_AT == 4, "an IPv6 head and its four ones fill the block");
static_assert(IPV4_SKIP * LANE <= IPV4_AT - 4, "zeros only");

typedef uint64_t lane __attribute__((vector_size(LANE)));

struct mask {
	_Alignas(16) uint8_t keep[ROCE_CRC_HEAD_BYTES];
	_Alignas(16) uint8_t ones[ROCE_CRC_HEAD_BYTES];
};

static const struct mask ipv4_mask = {
	.keep = { [IPV4_AT... ROCE_CRC_HEAD_BYTES - 1] = 0xff },
	.ones = {
		[IPV4_AT - 4 ... IPV4_AT - 1] = 0xff,
		[IPV4_AT + 1] = 0xff,                                     // TOS
		[IPV4_AT + 8] = 0xff,                                     // TTL
		[IPV4_AT + 10 ... IPV4_AT + 11] = 0xff,                   // checksum
		[IPV4_AT + IPV4_BYTES + 6 ... IPV4_AT + IPV4_BYTES + 7] = 0xff,
		[IPV4_AT + IPV4_BYTES + UDP_BYTES + 4] = 0xff,            // FECN, BECN
	},
};

static const struct mask ipv6_mask = {
	.keep = { [IPV6_AT... ROCE_CRC_HEAD_BYTES - 1] = 0xff },
	.ones = {
		[0 ... IPV6_AT - 1] = 0xff,
		[IPV6_AT] = 0x0f,                                         // traffic class
		[IPV6_AT + 1 ... IPV6_AT + 3] = 0xff,                     // and flow label
		[IPV6_AT + 7] = 0xff,                                     // hop limit
		[IPV6_AT + IPV6_BYTES + 6 ... IPV6_AT + IPV6_BYTES + 7] = 0xff,
		[IPV6_AT + IPV6_BYTES + UDP_BYTES + 4] = 0xff,
	},
};

// The block whose end is at `end`, of which the first `skip` lanes are zeros and are not read. It
// is written by as many bytes as it will be read by.
static inline void make_head(const struct mask *mask, uint32_t skip, const uint8_t *end,
			     uint8_t head[ROCE_CRC_HEAD_BYTES])
{
	const uint8_t *from = end - ROCE_CRC_HEAD_BYTES;

	memset(head, 0, skip * LANE);
	for (uint32_t i = skip; i < LANES; i++) {
		lane raw, keep, ones;

		memcpy(&raw, from + i * LANE, LANE);
		memcpy(&keep, mask->keep + i * LANE, LANE);
		memcpy(&ones, mask->ones + i * LANE, LANE);
		raw = (raw & keep) | ones;
		memcpy(head + i * LANE, &raw, LANE);
	}
}

uint32_t roce_icrc(enum roce_crc method, const uint8_t *frame, uint32_t ip, uint32_t end)
{
	const bool ipv6 = frame[ip] >> 4 == 6;
	const uint32_t body = ip + (ipv6 ? IPV6_HEAD : IPV4_HEAD);
	_Alignas(16) uint8_t head[ROCE_CRC_HEAD_BYTES];
	uint32_t crc;

	// Of Ethernet's header at most eight bytes are read, and masked.
	if (ipv6)
		make_head(&ipv6_mask, 0, frame + body, head);
	else
		make_head(&ipv4_mask, IPV4_SKIP, frame + body, head);
	if (method != ROCE_CRC_TABLE)
		return ~roce_crc_multiply(method, head, frame + body, end - body);
	crc = roce_crc_table(0, head, sizeof(head));
	return ~roce_crc_table(crc, frame + body, end - body);
}
