// SPDX-License-Identifier: BSD-3-Clause
//
// Which RoCE flows leave by which port, how fast, and how many of their packets got CE: a bounded
// table that keeps the flows that send most. Written by one lcore, for reports alone.
//
// A packet is looked up if it carries a sampled byte, one drawn from each ROCE_SAMPLE_BYTES, or if
// it was just marked, so bytes are an estimate without bias (n samples: off by a factor of about
// 1/sqrt(n)) and marks are exact. Rows are in sets by a hash of their flow. In a set the method of
// space saving (Metwally et al. 2005) decides who stays, over samples that count half as much each
// half-life: what has ended makes room for what begins.
#pragma once

#include "base/rng.h"
#include "base/types.h"

enum {
	ROCE_FLOW_SETS = 64,
	ROCE_FLOW_WAYS = 8,
	ROCE_FLOW_COUNT = ROCE_FLOW_SETS * ROCE_FLOW_WAYS,
	ROCE_SAMPLE_BYTES = 1 << 16,
	ROCE_HALF_LIFE_LOG2 = 30, // ns: about a second
};

// Packets from one address to one queue pair of another, by one port.
struct roce_flow_key {
	uint64_t src_hi; // address as 16 bytes, IPv4 mapped (::ffff:a.b.c.d)
	uint64_t src_lo;
	uint64_t dst_hi;
	uint64_t dst_lo;
	uint32_t dst_qp;
	port_t port;
};

struct roce_flow {
	uint64_t src_hi;
	uint64_t src_lo;
	uint64_t dst_hi;
	uint64_t dst_lo;
	uint32_t dst_qp;
	port_t port;
	uint16_t weight;  // samples, those of earlier half-lives halved
	uint64_t samples; // each stands for ROCE_SAMPLE_BYTES
	uint64_t marks;
	ns_t since; // when it got its row; 0 samples and 0 marks: the row is free
};

static_assert(sizeof(struct roce_flow) == 64, "a row is one cache line");

struct roce_flows {
	uint64_t left;           // bytes up to and with the next sampled one, >= 1
	uint64_t unlisted_marks; // of flows that had no row, or have lost it
	struct rng dice;
	uint32_t offset; // of the newest sampled byte in its ROCE_SAMPLE_BYTES
	uint32_t epoch[ROCE_FLOW_SETS];
	_Alignas(64) struct roce_flow flow[ROCE_FLOW_COUNT];
};

// Draws from now on as any table with this seed; rows stay.
void roce_flows_seed(struct roce_flows *flows, uint64_t seed);

// Lets bytes pass. False, and nothing has passed, when one of them is to be sampled.
static inline bool roce_flows_pass(struct roce_flows *flows, uint64_t bytes)
{
	if (__builtin_expect(bytes >= flows->left, 0))
		return false;
	flows->left -= bytes;
	return true;
}

// Lets the bytes of one packet pass; how many of them are sampled.
uint32_t roce_flows_draw(struct roce_flows *flows, uint32_t bytes);

// Counts `samples` sampled bytes of a flow.
void roce_flows_sample(struct roce_flows *flows, const struct roce_flow_key *key, uint32_t samples,
		       ns_t now);

// Counts one packet of a flow that got CE.
void roce_flows_mark(struct roce_flows *flows, const struct roce_flow_key *key, ns_t now);

static inline bool roce_flow_is_used(const struct roce_flow *flow)
{
	return (flow->samples | flow->marks) != 0;
}
