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

void drop(struct sw *sw, struct pkt *p, enum drop_reason reason)
{
	bool out = drop_infos[reason].side == DROP_SIDE_OUT && p->out_port.v < sw->pf->port_count;
	port_t port = out ? p->out_port : p->in_port;

	sw->stats.dropped_packets++;
	if (port.v >= sw->pf->port_count) {
		sw->portless_drops[reason]++;
	} else {
		struct port_state *st = &sw->port[port.v];

		st->drops[reason]++;
		if (out)
			st->stats.out_dropped_pkts++;
		else
			st->stats.in_dropped_pkts++;
	}
	release_early(sw, p);
	give_back(sw, p);
}

void release_early(struct sw *sw, struct pkt *p)
{
	release(sw, p);
	if (!port_set_empty(&sw->xoff_ports))
		sw->tick_at = (ns_t){ 0 };
}
