// SPDX-License-Identifier: BSD-3-Clause
//
// Beside stage 7, for reports alone: RoCE flows that leave (ecn/roce_flows.h). Of most packets only
// their bytes are subtracted, burst by burst; headers are read of those that carry a sampled byte
// and of those that were just marked. The flow of a CNP is that of the notification itself.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

enum { SRC_V4 = 12, DST_V4 = 16, SRC_V6 = 8, DST_V6 = 24 };

#define IPV4_MAPPED 0xffff00000000u // in the lower half of ::ffff:a.b.c.d

static inline void read_key(const struct pkt *p, struct roce_flow_key *key)
{
	const uint8_t *ip = p->data + p->l3_offset;

	key->dst_qp = p->dst_qp;
	key->port = p->out_port;
	if (__builtin_expect(p->l3 == PKT_L3_IPV4, 1)) {
		key->src_hi = 0;
		key->src_lo = IPV4_MAPPED | load_be32(ip + SRC_V4);
		key->dst_hi = 0;
		key->dst_lo = IPV4_MAPPED | load_be32(ip + DST_V4);
		return;
	}
	key->src_hi = load_be64(ip + SRC_V6); // IPv6 and GRH
	key->src_lo = load_be64(ip + SRC_V6 + 8);
	key->dst_hi = load_be64(ip + DST_V6);
	key->dst_lo = load_be64(ip + DST_V6 + 8);
}

__attribute__((noinline)) void roce_sample(struct sw_lcore *lc, struct pkt *const *pkts,
					   uint32_t count)
{
	struct roce_flow_key key;
	uint64_t left = lc->roce.left; // in a register: most packets have no sample

	for (uint32_t i = 0; i < count; i++) {
		uint32_t samples;

		if (pkts[i]->len < left) {
			left -= pkts[i]->len;
			continue;
		}
		lc->roce.left = left;
		samples = roce_flows_draw(&lc->roce, pkts[i]->len);
		left = lc->roce.left;
		if (pkts[i]->l4 != PKT_L4_BTH)
			continue;
		read_key(pkts[i], &key);
		roce_flows_sample(&lc->roce, &key, samples, lc->now);
	}
	lc->roce.left = left;
}

__attribute__((noinline)) void roce_mark(struct sw_lcore *lc, const struct pkt *p)
{
	struct roce_flow_key key;

	read_key(p, &key);
	roce_flows_mark(&lc->roce, &key, lc->now);
}
