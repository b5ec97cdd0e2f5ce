// SPDX-License-Identifier: BSD-3-Clause
//
// Link aggregation (IEEE 802.1AX). Stage 4 knows a LAG as one port; here, between stages 4 and 5,
// a packet gets the member that it leaves by. Flows spread over buckets, and a member that cannot
// be used is left out at look-up: its flows move at once, no other flow does, and none comes back
// before its member does (802.1AX 6.2.4: the order of a conversation is kept).
//
// Who may be sent to is known twice: `usable` of physical ports, `reachable` of logical ones. Each
// bit of the former is written by its port's owner. The latter follows from several bits, maybe of
// several lcores, so whoever changes one works it out anew until nothing has changed meanwhile.

#include "dataplane/core/route_l3.h"

static bool bit(const struct port_set *set, port_t port)
{
	return __atomic_load_n(&set->word[port.v / 64], __ATOMIC_SEQ_CST) >> port.v % 64 & 1;
}

void port_set_put(struct port_set *set, port_t port, bool value)
{
	const uint64_t mask = 1ull << port.v % 64;

	if (value)
		__atomic_fetch_or(&set->word[port.v / 64], mask, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_and(&set->word[port.v / 64], ~mask, __ATOMIC_SEQ_CST);
}

struct port_set port_set_load(const struct port_set *set)
{
	struct port_set copy;

	for (uint32_t i = 0; i < PORT_SET_WORDS; i++)
		copy.word[i] = __atomic_load_n(&set->word[i], __ATOMIC_RELAXED);
	return copy;
}

static bool is_reachable(const struct sw *sw, port_t logical)
{
	const struct lag_profile *lag = lag_profile_of(sw->pf, logical);
	uint32_t count = 0;

	if (lag == NULL)
		return bit(&sw->usable, logical);
	PORT_SET_FOR_EACH(port, &lag->members)
		count += bit(&sw->usable, port);
	return count >= lag->min_links;
}

static void update_reachable(struct sw *sw, port_t logical)
{
	bool now = is_reachable(sw, logical);
	bool was;

	// Ends when no other lcore changes a member between the two looks.
	do {
		was = now;
		atomic_store(&sw->port[logical.v].reachable, was);
		port_set_put(&sw->reachable, logical, was);
		now = is_reachable(sw, logical);
	} while (now != was);
}

void lag_update(struct sw *sw, port_t port)
{
	const struct lag_profile *lag = lag_profile_of(sw->pf, port);
	const struct port_state *st = &sw->port[port.v];

	port_set_put(&sw->usable, port,
		     port_is_up(st) && (lag == NULL || !lag->lacp || lacp_is_running(&st->lacp)));
	update_reachable(sw, sw->pf->port[port.v].logical);
}

void lag_rebind(struct sw *sw, ns_t now)
{
	for (uint16_t n = 0; n < sw->pf->port_count; n++) {
		const struct port_profile *port = &sw->pf->port[n];

		sw->port[n].way = port->lag != 0 ? WAY_LAG : port->lcore.v;
		port_set_put(&sw->reachable, (port_t){ n }, false);
		atomic_store(&sw->port[n].reachable, false);
	}
	for (uint16_t n = 0; n < sw->pf->port_count; n++) {
		lacp_rebind(lcore_of_port(sw, (port_t){ n }), (port_t){ n }, now);
		lag_update(sw, (port_t){ n });
	}
}

port_t lag_pick(const struct sw_lcore *lc, const struct pkt *p)
{
	const struct lag_profile *lag = lag_profile_of(lc->pf, p->out_port);
	const struct port_set usable = port_set_load(&lc->sw->usable);
	const struct group_member *member;

	if (!port_is_reachable(&lc->port[p->out_port.v]))
		return PORT_NONE;
	member = group_pick(lag_group(lag), flow_hash(&lc->pf->lag_hash, p), &usable);
	return member == NULL ? PORT_NONE : member->port;
}

bool sw_port_usable(const struct sw *sw, port_t port)
{
	return bit(&sw->usable, port);
}

bool sw_link_reachable(const struct sw *sw, port_t port)
{
	return port_is_reachable(&sw->port[logical_port(sw->pf, port).v]);
}
