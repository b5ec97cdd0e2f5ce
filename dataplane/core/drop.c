// SPDX-License-Identifier: BSD-3-Clause
//
// The one exit for packets that are not sent. It uncharges whatever the packet holds and counts
// exactly one reason, at the port whose side the reason belongs to, so that the reasons of a port
// sum to its SAI drop totals.
//
// A packet that is dropped has left its queue already (dequeue() uncharged the egress side), or was
// never in one.

#include "dataplane/core/stage.h"

const struct drop_info drop_infos[DROP_REASON_COUNT] = {
#define DROP(name, side, doc) [DROP_##name] = { #name, doc, DROP_SIDE_##side },
#include "schema/drops.def"
#undef DROP
};

void drop_count(struct sw_lcore *lc, const struct pkt *p, enum drop_reason reason)
{
	bool out = drop_infos[reason].side == DROP_SIDE_OUT && p->out_port.v < lc->pf->port_count;
	port_t port = out ? p->out_port : p->in_port;

	lc->stats.dropped_packets++;
	if (port.v >= lc->pf->port_count) {
		lc->portless_drops[reason]++;
	} else {
		struct port_state *st = &lc->port[port.v];

		st->drops[reason]++;
		if (out)
			st->stats.out_dropped_pkts++;
		else
			st->stats.in_dropped_pkts++;
	}
}

void drop(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason)
{
	drop_count(lc, p, reason);
	release_early(lc, p);
	give_back(lc, p, reason);
}

void release_early(struct sw_lcore *lc, struct pkt *p)
{
	release(lc, p);
	if (!port_set_empty(&lc->xoff_ports))
		lc->tick_at = (ns_t){ 0 };
}
