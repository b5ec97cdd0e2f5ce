// SPDX-License-Identifier: BSD-3-Clause
//
// Between stage 2 and stage 3: what a port may not send into the switch at all. Runs over the burst
// of a port that has a filter; other ports pay one test per burst.
//
// Frames that end in the switch itself are exempt: MAC control, without which peers stall, and
// LLDP.

#include "dataplane/core/stage.h"

static bool exempt(const struct pkt *p)
{
	return p->l3 == PKT_L3_MAC_CONTROL || p->l3 == PKT_L3_LLDP;
}

static enum drop_reason test(struct sw_lcore *lc, const struct port_profile *port, struct pkt *p,
			     ns_t now)
{
	if (port->filters & FILTER_GUARD && !guard_allows(lc->pf, port, p))
		return DROP_SOURCE_GUARD;
	return port->filters & FILTER_ACL ? acl_apply(lc->pf, port, lc->acl, p, now) : DROP_NONE;
}

// Apart from the path of ports without filters, which is compiled as one function.
__attribute__((noinline)) void filter(struct sw_lcore *lc, const struct port_profile *port,
				      struct pkt *const *pkts, enum drop_reason *reason,
				      uint32_t count, ns_t now)
{
	for (uint32_t i = 0; i < count; i++) {
		if (reason[i] == DROP_NONE && !exempt(pkts[i]))
			reason[i] = test(lc, port, pkts[i], now);
	}
}
