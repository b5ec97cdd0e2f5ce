// SPDX-License-Identifier: BSD-3-Clause
//
// ecn/ip_ecn.c: CE in IPv4 and IPv6 headers. The oracle of the incremental checksum is the full
// one's complement sum of RFC 1071 over the header.

#include "ecn/ecn.h"

#include <string.h>

#include "tests/host/frame.h"
#include "tests/table.h"

enum { IPV4_HEADER_MAX = 60 };

// A random header of 20 to 60 bytes with the given TOS and a right checksum.
static void random_header(struct rng *rng, uint8_t tos, uint8_t ip[IPV4_HEADER_MAX])
{
	const uint32_t words = 5 + rng_below(rng, 11);

	for (uint32_t i = 0; i < IPV4_HEADER_MAX; i++)
		ip[i] = (uint8_t)rng_next32(rng);
	ip[0] = (uint8_t)(0x40 | words);
	ip[1] = tos;
	store_be16(ip + 10, frame_ipv4_checksum(ip));
}

static const struct {
	const char *what;
	enum ecn_codepoint codepoint;
	bool changes;
} codepoint_rows[] = {
	{ "not ECT", ECN_NOT_ECT, true },
	{ "ECT(1)", ECN_ECT1, true },
	{ "ECT(0)", ECN_ECT0, true },
	{ "CE", ECN_CE, false },
};

// Four rows of 64 DSCPs are all 256 values of TOS, each over 512 random headers.
TABLE_TEST(ip_ecn, ipv4_checksum_equals_a_full_one, row, codepoint_rows)
{
	struct rng rng;

	rng_seed(&rng, row->codepoint + 1u);
	for (uint32_t dscp = 0; dscp < 64; dscp++) {
		for (uint32_t i = 0; i < 512; i++) {
			const uint8_t tos = (uint8_t)(dscp << 2 | row->codepoint);
			uint8_t before[IPV4_HEADER_MAX], ip[IPV4_HEADER_MAX];

			random_header(&rng, tos, before);
			memcpy(ip, before, sizeof(ip));
			cr_assert_eq(ip_ecn_mark_v4(ip), row->changes, "%s", row->what);
			cr_assert_eq(ip[1], tos | ECN_CE, "%s: TOS 0x%02x", row->what, tos);
			cr_assert_eq(load_be16(ip + 10), frame_ipv4_checksum(ip),
				     "%s: TOS 0x%02x, header %u", row->what, tos, i);
			// Nothing else changed.
			ip[1] = before[1];
			memcpy(ip + 10, before + 10, 2);
			cr_assert_eq(memcmp(ip, before, sizeof(ip)), 0, "%s", row->what);
		}
	}
}

// A checksum that was wrong by some amount is wrong by the same amount afterwards.
TABLE_TEST(ip_ecn, ipv4_hides_no_corruption, row, codepoint_rows)
{
	struct rng rng;

	rng_seed(&rng, 99);
	for (uint32_t i = 0; i < 10000; i++) {
		const uint8_t tos = (uint8_t)(rng_below(&rng, 64) << 2 | row->codepoint);
		uint8_t ip[IPV4_HEADER_MAX];
		uint16_t error;

		random_header(&rng, tos, ip);
		error = (uint16_t)(1 + rng_below(&rng, 0xffff));
		store_be16(ip + 10, load_be16(ip + 10) ^ error);
		if (load_be16(ip + 10) == 0xffff)
			continue; // the other zero, which may be no error at all
		ip_ecn_mark_v4(ip);
		cr_assert_neq(load_be16(ip + 10), frame_ipv4_checksum(ip), "%s", row->what);
	}
}

// RFC 1624 section 4: where the older equation 2 would give 0xffff for a checksum of 0.
Test(ip_ecn, ipv4_checksum_that_becomes_zero)
{
	uint8_t ip[20] = { 0x45, 0x02, 0, 20 };

	// ECT(0) to CE adds 1 to the sum, so the checksum goes from 1 to 0.
	store_be16(ip + 18, (uint16_t)(0xfffe - 0x4502 - 20));
	store_be16(ip + 10, frame_ipv4_checksum(ip));
	cr_assert_eq(load_be16(ip + 10), 1);
	cr_assert(ip_ecn_mark_v4(ip));
	cr_assert_eq(load_be16(ip + 10), 0);
	cr_assert_eq(frame_ipv4_checksum(ip), 0);
}

// Version 6, traffic class, flow label: 4, 8 and 20 bits (RFC 8200 section 3).
TABLE_TEST(ip_ecn, ipv6_traffic_class, row, codepoint_rows)
{
	struct rng rng;

	rng_seed(&rng, 6);
	for (uint32_t dscp = 0; dscp < 64; dscp++) {
		const uint32_t flow = rng_below(&rng, 1u << 20);
		const uint32_t rest = 6u << 28 | dscp << 22 | flow;
		uint8_t ip[4];

		store_be32(ip, rest | (uint32_t)row->codepoint << 20);
		cr_assert_eq(ip_ecn_mark_v6(ip), row->changes, "%s", row->what);
		cr_assert_eq(load_be32(ip), rest | 3u << 20, "%s: DSCP %u", row->what, dscp);
	}
}

// All code points over random headers: the checksum is a full one, and nothing but the six bits
// changes.
Test(ip_dscp, ipv4_and_ipv6)
{
	struct rng rng;

	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < 64 * 256; i++) {
		uint8_t ip[IPV4_HEADER_MAX], want[IPV4_HEADER_MAX];
		const uint8_t dscp = i % 64;

		random_header(&rng, (uint8_t)rng_next32(&rng), ip);
		memcpy(want, ip, sizeof(want));
		want[1] = (uint8_t)(dscp << 2 | (want[1] & 3));
		store_be16(want + 10, frame_ipv4_checksum(want));
		ip_dscp_set_v4(ip, dscp);
		cr_assert_arr_eq(ip, want, sizeof(want));
		// Version, traffic class, flow label: 4, 8 and 20 bits.
		want[0] = (uint8_t)((ip[0] & 0xf0) | dscp >> 2);
		want[1] = (uint8_t)((dscp & 3) << 6 | (ip[1] & 0x3f));
		memcpy(want + 2, ip + 2, sizeof(want) - 2);
		ip_dscp_set_v6(ip, dscp);
		cr_assert_arr_eq(ip, want, sizeof(want));
	}
}
