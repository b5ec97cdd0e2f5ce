// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 2: classification.
//
// One field of the packet decides its traffic class; the class decides its priority group and its
// queue. Stateless. A CNP comes first, whatever its DSCP: with the class of the data it answers, it
// would wait in the congestion that it reports, and in the group of that class it would be refused.
//
// Invariant: every map has a value for every key, so every packet gets a class: code points that a
// map does not name have its documented default (maps.h), untagged non-IP frames have default_tc.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

// The class of a packet's own EtherType, -1 when the map has no row for it. The field in front of
// the L3 header is in the frame: parse() has read it.
static int ethertype_tc(const struct port_profile *pf, const struct pkt *p)
{
	uint16_t ethertype;

	if (pf->map_ethertypes == 0)
		return -1;
	ethertype = load_be16(p->data + p->l3_offset - sizeof(ethertype));
	for (uint32_t i = 0; i < pf->map_ethertypes; i++) {
		if (pf->ethertype_to_tc[i].ethertype == ethertype)
			return pf->ethertype_to_tc[i].tc;
	}
	return -1;
}

static uint8_t select_tc(const struct port_profile *pf, const struct pkt *p)
{
	int tc = ethertype_tc(pf, p);

	if (tc >= 0)
		return (uint8_t)tc;
	if (pf->trust_dscp && (p->l3 == PKT_L3_IPV4 || p->l3 == PKT_L3_IPV6))
		return pf->dscp_to_tc[pkt_dscp(p)];
	if (p->flags & PKT_TAGGED)
		return pf->pcp_to_tc[pkt_pcp(p)];
	return pf->default_tc;
}

void classify(const struct port_profile *pf, uint8_t cnp_tc, struct pkt *p)
{
	uint8_t tc;

	if (__builtin_expect((p->flags & PKT_CNP) != 0, 0)) {
		p->tc = (tc_t){ cnp_tc };
		p->pg = (pg_t){ pf->cnp_pg };
		p->queue = (queue_t){ pf->tc_to_queue[cnp_tc] };
		return;
	}
	tc = select_tc(pf, p);
	p->tc = (tc_t){ tc };
	p->pg = (pg_t){ pf->tc_to_pg[tc] };
	p->queue = (queue_t){ pf->tc_to_queue[tc] };
}
