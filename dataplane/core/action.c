// SPDX-License-Identifier: BSD-3-Clause
//
// What the core asks of its shell: PFC frames first, since every microsecond until a peer stops
// costs headroom, then hellos and LACPDUs, then copies, punts and address events, and last the
// packets to free (a copy's original must outlive its copies).

#include "dataplane/core/stage.h"

void give_back(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason)
{
	p->reason = (uint8_t)reason;
	p->next = lc->actions.freed;
	lc->actions.freed = p;
}

struct sw_action *action_add(struct sw_lcore *lc, enum sw_action_kind kind, struct pkt *p)
{
	struct action_state *st = &lc->actions;
	struct sw_action *action = &st->ring[st->head++ & (ACTION_RING - 1)];

	WEFT_CHECK(st->head - st->tail <= ACTION_RING);
	*action = (struct sw_action){ .kind = kind, .pkt = p };
	return action;
}

// Frames are composed when they are taken, so a group that went in and out of XOFF between two
// drains costs none.
static bool next_pfc(struct sw_lcore *lc, struct sw_action *out, ns_t now)
{
	PORT_SET_FOR_EACH(port, &lc->pfc_ports) {
		const struct port_profile *pf = port_profile_of(lc, port);
		struct port_state *st = &lc->port[port.v];
		bool due;

		port_set_remove(&lc->pfc_ports, port);
		if (!port_is_up(st))
			continue;
		due = pfc_gen_frame(&pf->gen, &st->gen, now, &out->pfc);
		lc->tick_at = ns_min(lc->tick_at, pfc_gen_deadline(&st->gen));
		if (!due)
			continue;
		out->kind = SW_ACTION_PFC;
		out->port = port;
		for (uint32_t i = 0; i < PRIO_COUNT; i++)
			st->pfc_tx_pkts[i] += out->pfc.enable >> i & 1;
		lc->stats.generated_packets++;
		lc->stats.tx_packets++;
		return true;
	}
	return false;
}

bool sw_action(struct sw *sw, lcore_t lcore, struct sw_action *out, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	struct action_state *st = &lc->actions;

	if (!port_set_empty(&lc->pfc_ports) && next_pfc(lc, out, now))
		return true;
	if ((!port_set_empty(&lc->hello.send) || !port_set_empty(&lc->hello.tell)) &&
	    hello_action(lc, out, now))
		return true;
	if (!port_set_empty(&lc->lacp_ports) && lacp_action(lc, out, now))
		return true;
	if (st->tail != st->head) {
		*out = st->ring[st->tail++ & (ACTION_RING - 1)];
		return true;
	}
	if (!port_set_empty(&lc->storm_ports) && watchdog_report(lc, out))
		return true;
	if (st->freed != NULL) {
		out->kind = SW_ACTION_FREE;
		out->pkt = st->freed;
		out->reason = (enum drop_reason)st->freed->reason;
		st->freed = out->pkt->next;
		return true;
	}
	return false;
}
