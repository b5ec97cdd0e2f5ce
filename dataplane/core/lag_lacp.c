// SPDX-License-Identifier: BSD-3-Clause
//
// LACP of the ports of a switch: frames in and out, timers, and the selection logic (IEEE 802.1AX
// 6.4.14), which sees all members of a LAG. A LAG is made of those of its ports that lead to one
// partner system and key: that of its lowest port that has any. Others are not used.
//
// A port's machine is run by the lcore that owns it; what the selection of other lcores needs of it
// is one number, `lacp_partner`. Lcores look again at least once per LOOK_NS.

#include "dataplane/core/stage.h"

enum { LOOK_NS = 1000000000 };

static struct lacp_profile lacp_profile_of(const struct sw_profile *pf, port_t port)
{
	const struct lag_profile *lag = lag_profile_of(pf, port);

	return (struct lacp_profile){
		.actor = {
			.system = pf->lacp_system,
			.system_priority = 0x8000,
			.key = pf->port[port.v].lag,
			.port_priority = 0x8000,
			.port = (uint16_t)(port.v + 1),
			.state = (uint8_t)(LACP_ACTIVITY | LACP_AGGREGATION |
					   (lag->fast ? LACP_TIMEOUT : 0)),
		},
	};
}

static uint64_t partner_of_lag(const struct sw_lcore *lc, const struct lag_profile *lag)
{
	PORT_SET_FOR_EACH(port, &lag->members) {
		const uint64_t partner = atomic_load_explicit(&lc->port[port.v].lacp_partner,
							      memory_order_relaxed);

		if (partner != 0)
			return partner;
	}
	return 0;
}

// Tells the others what this port's partner is.
static void publish(struct sw_lcore *lc, port_t port)
{
	const struct lacp_profile pf = lacp_profile_of(lc->pf, port);
	struct port_state *st = &lc->port[port.v];

	atomic_store_explicit(&st->lacp_partner, lacp_partner(&pf, &st->lacp),
			      memory_order_relaxed);
}

static void select_port(struct sw_lcore *lc, port_t port, uint64_t partner, ns_t now)
{
	const struct lacp_profile pf = lacp_profile_of(lc->pf, port);
	struct port_state *st = &lc->port[port.v];

	lacp_select(&st->lacp, partner != 0 && lacp_partner(&pf, &st->lacp) == partner, now);
	if (lacp_is_running(&st->lacp) != sw_port_usable(lc->sw, port))
		lag_update(lc->sw, port);
	if (st->lacp.ntt)
		port_set_add(&lc->lacp_ports, port);
	lc->tick_at = ns_min(lc->tick_at, lacp_deadline(&st->lacp));
}

// After anything has happened to a port of the LAG.
static void settle(struct sw_lcore *lc, const struct lag_profile *lag, ns_t now)
{
	uint64_t partner;

	PORT_SET_FOR_EACH(port, &lag->members) {
		if (lcore_owns(lc, port))
			publish(lc, port);
	}
	partner = partner_of_lag(lc, lag);
	PORT_SET_FOR_EACH(port, &lag->members) {
		if (lcore_owns(lc, port))
			select_port(lc, port, partner, now);
	}
}

void lacp_hear(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const struct lag_profile *lag = lag_profile_of(lc->pf, p->in_port);
	struct port_state *st = &lc->port[p->in_port.v];
	struct lacp_profile pf;
	struct lacp_pdu pdu;

	if (lag == NULL || !lag->lacp) {
		drop(lc, p, DROP_RESERVED_MAC);
		return;
	}
	switch (lacp_pdu_decode(p->data, p->head_len, p->l3_offset, &pdu)) {
	case LACP_FRAME_PDU: break;
	case LACP_FRAME_OTHER: drop(lc, p, DROP_RESERVED_MAC); return;
	case LACP_FRAME_MALFORMED: drop(lc, p, DROP_LACP_MALFORMED); return;
	}
	pf = lacp_profile_of(lc->pf, p->in_port);
	lacp_receive(&pf, &st->lacp, &pdu, now);
	st->stats.lacp_rx_pdus++;
	lc->stats.consumed_packets++;
	give_back(lc, p, DROP_NONE);
	settle(lc, lag, now);
}

void lacp_port_link(struct sw_lcore *lc, port_t port, bool up, ns_t now)
{
	const struct lag_profile *lag = lag_profile_of(lc->pf, port);
	struct lacp_profile pf;

	if (lag == NULL || !lag->lacp)
		return;
	pf = lacp_profile_of(lc->pf, port);
	lacp_link(&pf, &lc->port[port.v].lacp, up, now);
	settle(lc, lag, now);
}

static bool same_actor(const struct lacp_info *a, const struct lacp_info *b)
{
	return a->system == b->system && a->key == b->key && a->state == b->state;
}

void lacp_rebind(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct lag_profile *lag = lag_profile_of(lc->pf, port);
	struct port_state *st = &lc->port[port.v];
	struct lacp_profile pf = { 0 };

	if (lag != NULL && lag->lacp)
		pf = lacp_profile_of(lc->pf, port);
	if (same_actor(&pf.actor, &st->lacp_actor))
		return;
	st->lacp_actor = pf.actor;
	st->lacp = (struct lacp_state){ 0 };
	atomic_store_explicit(&st->lacp_partner, 0, memory_order_relaxed);
	if (pf.actor.state != 0)
		lacp_link(&pf, &st->lacp, port_is_up(st), now);
	lc->tick_at = (ns_t){ 0 };
}

static ns_t tick_lag(struct sw_lcore *lc, const struct lag_profile *lag, ns_t now)
{
	ns_t next = lc->sw->lcore_count > 1 ? ns_add(now, LOOK_NS) : NS_NEVER;

	PORT_SET_FOR_EACH(port, &lag->members) {
		if (lcore_owns(lc, port))
			lacp_tick(&lc->port[port.v].lacp, now);
	}
	settle(lc, lag, now);
	PORT_SET_FOR_EACH(port, &lag->members) {
		if (lcore_owns(lc, port))
			next = ns_min(next, lacp_deadline(&lc->port[port.v].lacp));
	}
	return next;
}

ns_t lacp_port_tick(struct sw_lcore *lc, ns_t now)
{
	ns_t next = NS_NEVER;

	for (uint32_t i = 0; i < lc->pf->lag_count; i++) {
		if (lc->pf->lag[i].lacp)
			next = ns_min(next, tick_lag(lc, &lc->pf->lag[i], now));
	}
	return next;
}

bool lacp_action(struct sw_lcore *lc, struct sw_action *out, ns_t now)
{
	PORT_SET_FOR_EACH(port, &lc->lacp_ports) {
		struct port_state *st = &lc->port[port.v];
		bool due;

		port_set_remove(&lc->lacp_ports, port);
		due = lacp_send(&st->lacp, now);
		lc->tick_at = ns_min(lc->tick_at, lacp_deadline(&st->lacp));
		if (!due)
			continue;
		out->kind = SW_ACTION_LACP;
		out->port = port;
		st->stats.lacp_tx_pdus++;
		lc->stats.generated_packets++;
		lc->stats.tx_packets++;
		return true;
	}
	return false;
}

void sw_lacpdu(const struct sw *sw, port_t port, const uint8_t src[6],
	       uint8_t out[LACP_FRAME_BYTES])
{
	struct lacp_pdu pdu = { 0 };

	if (lag_profile_of(sw->pf, port) != NULL) {
		const struct lacp_profile pf = lacp_profile_of(sw->pf, port);

		pdu = lacp_pdu_of(&pf, &sw->port[port.v].lacp);
	}
	lacp_pdu_encode(&pdu, src, out);
}

const struct lacp_state *sw_lacp(const struct sw *sw, port_t port)
{
	return &sw->port[port.v].lacp;
}
