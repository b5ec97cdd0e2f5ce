// SPDX-License-Identifier: BSD-3-Clause
//
// Flows that differ in one field, and the law of their spread over equal paths.
//
// Placed at random, the flows of one of n paths are binomial: mean p = N / n, deviation
// sqrt(p (1 - 1/n)). A tolerance of 25 % is 0.25 sqrt(p / (1 - 1/n)) deviations, so at least 6 of
// them (2e-9) from p = 576 on. FLOWS_PER_PATH gives 6.25; with 250 it would be 3.95, and one path
// in 13000 would fail by chance.
#pragma once

#include "routing/hash.h"

enum {
	FLOWS_PER_PATH = 625,
	FLOWS_PATHS_MAX = 64,
};

enum flow_pattern {
	VARY_SRC_PORT,
	VARY_DST_PORT,
	VARY_SRC_IP,
	VARY_DST_IP,
	VARY_DEST_QP,
	FLOW_PATTERN_COUNT,
};

// The i-th flow of a pattern: RoCE between two addresses, one field counting up.
static inline struct hash_key flow_key(enum flow_pattern pattern, bool ipv6, uint32_t i)
{
	struct hash_key key = {
		.protocol = 17,
		.src_port = 49152,
		.dst_port = 4791,
		.dst_qp = 0x11,
		.ethertype = ipv6 ? 0x86dd : 0x0800,
	};
	const uint32_t low = ipv6 ? 1 : 0;

	key.src_ip[0] = ipv6 ? 0x20010db800000000u : 0;
	key.dst_ip[0] = ipv6 ? 0x20010db800010000u : 0;
	key.src_ip[low] = 0x0a000001 + (pattern == VARY_SRC_IP ? i : 0);
	key.dst_ip[low] = 0x0a800001 + (pattern == VARY_DST_IP ? i : 0);
	key.src_port = (uint16_t)(key.src_port + (pattern == VARY_SRC_PORT ? i : 0));
	key.dst_port = (uint16_t)(key.dst_port + (pattern == VARY_DST_PORT ? i : 0));
	key.dst_qp += pattern == VARY_DEST_QP ? i : 0;
	return key;
}

static inline uint32_t flow_path(const struct hash_profile *pf, const struct hash_key *key,
				 uint32_t paths)
{
	return (uint32_t)((uint64_t)hash_packet(pf, key) * paths >> 32);
}

// Each of the counts is within 25 % of their mean.
static inline bool flows_are_balanced(const uint32_t *counts, uint32_t paths)
{
	uint64_t total = 0;
	bool balanced = true;

	for (uint32_t i = 0; i < paths; i++)
		total += counts[i];
	for (uint32_t i = 0; i < paths; i++)
		balanced &= 4 * (uint64_t)counts[i] * paths >= 3 * total &&
			    4 * (uint64_t)counts[i] * paths <= 5 * total;
	return balanced && total > 0;
}
