// SPDX-License-Identifier: BSD-3-Clause
//
// Who is being told to slow down: congestion notification packets counted per pair of addresses
// in a fixed table (space-saving, Metwally et al. 2005). A linear scan is enough, since CNPs are
// capped in rate at their source and at their queue.
//
// Invariants: the counts add up to the CNPs seen; any pair with more than 1/CNP_FLOW_COUNT of them
// is in the table; used grows to CNP_FLOW_COUNT and stays.

#include "ecn/ecn.h"

#include "base/bytes.h"

void cnp_flows_count(struct cnp_flows *flows, const uint8_t src[16], const uint8_t dst[16])
{
	struct cnp_flow pair = {
		.src_hi = load_be64(src),
		.src_lo = load_be64(src + 8),
		.dst_hi = load_be64(dst),
		.dst_lo = load_be64(dst + 8),
		.count = 1,
	};
	uint32_t smallest = 0;

	for (uint32_t i = 0; i < flows->used; i++) {
		struct cnp_flow *flow = &flows->flow[i];

		if (flow->src_lo == pair.src_lo && flow->dst_lo == pair.dst_lo &&
		    flow->src_hi == pair.src_hi && flow->dst_hi == pair.dst_hi) {
			flow->count++;
			return;
		}
		if (flow->count < flows->flow[smallest].count)
			smallest = i;
	}
	if (flows->used < CNP_FLOW_COUNT) {
		flows->flow[flows->used++] = pair;
		return;
	}
	pair.error = flows->flow[smallest].count;
	pair.count += pair.error;
	flows->flow[smallest] = pair;
}
