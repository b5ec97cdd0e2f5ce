// SPDX-License-Identifier: BSD-3-Clause
//
// Between stage 2 and stage 3: what a port may not send into the switch at all. Ports
// without a filter pay one test per burst.
//
// Frames that end in the switch itself are exempt: MAC control, without which peers stall, LACP,
// LLDP and hellos of other switches. Their addresses are part of what they are (parse.c).

#include "dataplane/core/stage.h"

static bool exempt(const struct pkt *p)
{
	return p->l3 >= PKT_L3_MAC_CONTROL || p->l3 == PKT_L3_LLDP;
}

// The partner may send as soon as it is told that both ends are in sync.
static bool is_collecting(const struct port_state *st)
{
	return st->lacp.mux >= LACP_MUX_ATTACHED;
}

// Apart from the path of ports without filters, which is compiled as one function; it gives the
// reason back instead of writing it, so that reasons of others can stay in registers.
__attribute__((noinline)) enum drop_reason filter(struct sw_lcore *lc,
						  const struct port_profile *port, struct pkt *p,
						  enum drop_reason reason, ns_t now)
{
	if (reason != DROP_NONE || exempt(p))
		return reason;
	if (port->filters & FILTER_LACP && !is_collecting(&lc->port[p->in_port.v]))
		return DROP_LAG_NOT_COLLECTING;
	if (port->filters & FILTER_GUARD && !guard_allows(lc->pf, port, p))
		return DROP_SOURCE_GUARD;
	return port->filters & FILTER_ACL ? acl_apply(lc->pf, port, lc->acl, p, now) : DROP_NONE;
}
