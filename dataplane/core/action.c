// SPDX-License-Identifier: BSD-3-Clause
//
// What the core asks of its shell: PFC frames first, since every microsecond until a peer stops
// costs headroom, then copies, punts and address events, and last the packets to free (a copy's
// original must outlive its copies).

#include "dataplane/core/stage.h"

void give_back(struct sw *sw, struct pkt *p)
{
	p->next = sw->actions.freed;
	sw->actions.freed = p;
}

struct sw_action *action_add(struct sw *sw, enum sw_action_kind kind, struct pkt *p)
{
	struct action_state *st = &sw->actions;
	struct sw_action *action = &st->ring[st->head++ & (ACTION_RING - 1)];

	WEFT_CHECK(st->head - st->tail <= ACTION_RING);
	*action = (struct sw_action){ .kind = kind, .pkt = p };
	return action;
}

// Frames are composed when they are taken, so a group that went in and out of XOFF between two
// drains costs none.
static bool next_pfc(struct sw *sw, struct sw_action *out, ns_t now)
{
	PORT_SET_FOR_EACH(port, &sw->pfc_ports) {
		const struct port_profile *pf = port_profile_of(sw, port);
		struct port_state *st = &sw->port[port.v];
		bool due;

		port_set_remove(&sw->pfc_ports, port);
		if (!st->link_up)
			continue;
		due = pfc_gen_frame(&pf->gen, &st->gen, now, &out->pfc);
		sw->tick_at = ns_min(sw->tick_at, pfc_gen_deadline(&st->gen));
		if (!due)
			continue;
		out->kind = SW_ACTION_PFC;
		out->port = port;
		for (uint32_t i = 0; i < PRIO_COUNT; i++)
			st->pfc_tx_pkts[i] += out->pfc.enable >> i & 1;
		sw->stats.generated_packets++;
		sw->stats.tx_packets++;
		return true;
	}
	return false;
}

bool sw_action(struct sw *sw, struct sw_action *out, ns_t now)
{
	struct action_state *st = &sw->actions;

	if (!port_set_empty(&sw->pfc_ports) && next_pfc(sw, out, now))
		return true;
	if (st->tail != st->head) {
		*out = st->ring[st->tail++ & (ACTION_RING - 1)];
		return true;
	}
	if (st->freed != NULL) {
		out->kind = SW_ACTION_FREE;
		out->pkt = st->freed;
		st->freed = out->pkt->next;
		return true;
	}
	return false;
}
