// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 4: where a packet goes. Standalone mode: a learning bridge (IEEE 802.1Q clause 8), with
// routes and hosts of a fabric on top (route_l3.c). Managed mode: only the latter.
//
// ARP and ND go to the control thread first, which learns the sender and then puts them back, so
// that the burst that follows finds its row. Group and unknown traffic is policed and flooded as
// copies, except lossless unicast, which waits for its destination to be solicited.

#include "dataplane/core/stage.h"

#include "base/bytes.h"
#include "dataplane/core/route_l3.h"

enum {
	SEEN_GRAIN_NS = 1000000000, // `seen` is stamped at most once a second
	LEARN_REPEAT_NS = 10000000, // an unanswered announcement is repeated after 10 ms
	// As many neighbours as a port keeps may send all their credit at once (IEEE 802.1AB
	// 9.2.5.21), and one frame a second each for long.
	LLDP_PER_SECOND = 20,
	LLDP_AT_ONCE = 20,
};

static const struct pacer_profile lldp_rate = {
	.bps = 8ull * LLDP_PER_SECOND,
	.burst_ns = (LLDP_AT_ONCE - 1) * 1000000000ull / LLDP_PER_SECOND,
};

static enum route_verdict refuse(enum drop_reason *reason, enum drop_reason why)
{
	*reason = why;
	return ROUTE_DROP;
}

// Addresses of an Ethernet header, which has 14 bytes: one load of eight bytes is cheaper than the
// two of load_be48().
static inline uint64_t dst_mac(const struct pkt *p)
{
	return load_be64(p->data) >> 16;
}

static inline uint64_t src_mac(const struct pkt *p)
{
	return load_be64(p->data + 6) >> 16;
}

// The VLAN of the frame, false when the port is not a member (ingress filtering).
static bool find_vlan(const struct sw_lcore *lc, const struct port_profile *port, struct pkt *p)
{
	uint16_t index;

	p->vid = frame_vid(port, p);
	index = lc->pf->vlan_index[p->vid];
	return index != 0 && port_set_has(&lc->pf->vlan[index - 1].members, port->logical);
}

static void say_learn(struct sw_lcore *lc, uint64_t mac, uint16_t vid, port_t port)
{
	struct sw_action *action = action_add(lc, SW_ACTION_LEARN, NULL);

	action->mac = mac;
	action->vid = vid;
	action->port = port;
}

// Announces a new or moved source to the control thread; a burst of one source does so once.
static COLD void announce(struct sw_lcore *lc, const struct pkt *p, uint64_t mac, uint64_t key,
			  ns_t now)
{
	const port_t port = logical_port(lc->pf, p->in_port);
	struct bridge_state *bridge = &lc->bridge;

	if (bridge->port_used[port.v] >= port_profile_of(lc, port)->mac_limit ||
	    bridge->used >= lc->pf->mac_count)
		return;
	if (bridge->learn_key == key && bridge->learn_port.v == port.v &&
	    ns_since(now, bridge->learn_at) < LEARN_REPEAT_NS)
		return;
	bridge->learn_key = key;
	bridge->learn_port = port;
	bridge->learn_at = now;
	say_learn(lc, mac, p->vid, port);
}

// The owner of a LAG ages its addresses, but it may be another member that they are seen on.
static COLD void stamp(struct sw_lcore *lc, struct mac_slot *slot, uint64_t mac, uint16_t vid,
		       ns_t now)
{
	slot->seen = now;
	if (port_profile_of(lc, slot->port)->lcore.v != lc->id.v)
		say_learn(lc, mac, vid, slot->port);
}

static inline void learn(struct sw_lcore *lc, const struct port_profile *port, const struct pkt *p,
			 ns_t now)
{
	uint64_t mac = src_mac(p);
	uint64_t key = mac_slot_key(mac, p->vid);
	struct mac_slot *slot = mac_slot_find(&lc->bridge, key);

	if (slot->key == 0 || slot->port.v != port->logical.v)
		announce(lc, p, mac, key, now);
	else if (ns_since(now, slot->seen) > SEEN_GRAIN_NS)
		stamp(lc, slot, mac, p->vid, now);
}

static COLD enum route_verdict flood(struct sw_lcore *lc, const struct pkt *p,
				     struct port_set *ports, enum drop_reason *reason)
{
	const struct vlan_profile *vlan = &lc->pf->vlan[lc->pf->vlan_index[p->vid] - 1];

	*ports = vlan->members;
	if (p->in_port.v < lc->pf->port_count)
		port_set_remove(ports, logical_port(lc->pf, p->in_port));
	PORT_SET_FOR_EACH(port, ports) {
		if (!port_is_reachable(&lc->port[port.v]))
			port_set_remove(ports, port);
	}
	return port_set_empty(ports) ? refuse(reason, DROP_FLOOD_NOWHERE) : ROUTE_FLOOD;
}

static COLD bool policed(struct sw_lcore *lc, const struct pkt *p, ns_t now)
{
	struct port_state *st = &lc->port[p->in_port.v];

	if (!pacer_ready(&st->flood, now))
		return true;
	pacer_charge(&port_profile_of(lc, p->in_port)->flood, &st->flood, p->len, now);
	return false;
}

// What the control thread must see before it is forwarded.
static inline bool for_control(const struct pkt *p)
{
	return p->l3 == PKT_L3_ARP || p->l4 == PKT_L4_ND;
}

// Where the address table says, or everywhere.
static inline enum route_verdict bridge(struct sw_lcore *lc, const struct port_profile *port,
					struct pkt *p, uint64_t mac, struct port_set *ports,
					enum drop_reason *reason, ns_t now)
{
	const struct mac_slot *slot = mac_slot_find(&lc->bridge, mac_slot_key(mac, p->vid));

	if (slot->key != 0 && port_is_reachable(&lc->port[slot->port.v])) {
		p->out_port = slot->port;
		return slot->port.v == port->logical.v ? refuse(reason, DROP_SAME_PORT) :
							 ROUTE_FORWARD;
	}
	if (p->flags & PKT_LOSSLESS)
		return ROUTE_HOLD;
	if (policed(lc, p, now))
		return refuse(reason, DROP_FLOOD_POLICED);
	return flood(lc, p, ports, reason);
}

static bool is_for_router(const struct sw_lcore *lc, const struct pkt *p, uint64_t mac)
{
	return mac == lc->pf->router_mac && lc->pf->vlan[lc->pf->vlan_index[p->vid] - 1].routed;
}

// What the switch itself is sent shares the room of floods on the way to the control thread.
static enum route_verdict to_router(struct sw_lcore *lc, struct pkt *p, enum drop_reason *reason,
				    ns_t now)
{
	const enum route_verdict verdict = route_ip(lc, p, reason);

	if (verdict == ROUTE_PUNT && policed(lc, p, now))
		return refuse(reason, DROP_FLOOD_POLICED);
	if (__builtin_expect(verdict == ROUTE_DROP, 0))
		tell_sender(lc, p, *reason, now);
	return verdict;
}

static enum route_verdict by_tables(struct sw_lcore *lc, const struct port_profile *port,
				    struct pkt *p, struct port_set *ports, enum drop_reason *reason,
				    ns_t now)
{
	const uint64_t mac = dst_mac(p);
	const bool managed = lc->pf->managed;
	uint32_t row;

	// Switches of a fabric share the router's address: it has no place of its own.
	if (!managed && src_mac(p) != lc->pf->router_mac)
		learn(lc, port, p, now);
	if ((p->flags & PKT_GROUP || for_control(p)) && policed(lc, p, now))
		return refuse(reason, DROP_FLOOD_POLICED);
	if (for_control(p))
		return ROUTE_PUNT;
	if (p->flags & PKT_GROUP)
		return managed ? refuse(reason, DROP_NOT_FLOODED) : flood(lc, p, ports, reason);
	if (is_for_router(lc, p, mac))
		return to_router(lc, p, reason, now);
	row = edge_table_find_mac(lc->tables->where, p->vid, mac);
	if (row != EDGE_TABLE_NONE)
		return route_host(lc, p, row, reason);
	return managed ? refuse(reason, DROP_NO_ROUTE) :
			 bridge(lc, port, p, mac, ports, reason, now);
}

// Last of all the turn map judges.
static enum route_verdict judge(struct sw_lcore *lc, struct pkt *p, enum route_verdict verdict,
				struct port_set *ports, enum drop_reason *reason)
{
	if (lc->tables->turns == NULL)
		return verdict;
	if (verdict == ROUTE_FORWARD) {
		*reason = lane_turn(lc, p);
		return *reason == DROP_NONE ? ROUTE_FORWARD : ROUTE_DROP;
	}
	if (verdict == ROUTE_FLOOD) {
		lane_filter(lc, p, ports);
		if (port_set_empty(ports))
			return refuse(reason, DROP_TURN_DENIED);
	}
	return verdict;
}

// As route(), on a switch that has tables.
static __attribute__((noinline)) enum route_verdict route_with_tables(
	struct sw_lcore *lc, const struct port_profile *port, struct pkt *p, struct port_set *ports,
	enum drop_reason *reason, ns_t now)
{
	return judge(lc, p, by_tables(lc, port, p, ports, reason, now), ports, reason);
}

// The control thread sees LLDP, but no more than its neighbours should send: the way there is
// shared with reports that must not be lost.
static COLD enum route_verdict link_local(struct sw_lcore *lc, const struct pkt *p,
					  enum drop_reason *reason, ns_t now)
{
	struct pacer_state *lldp = &lc->port[p->in_port.v].lldp;

	if (p->l3 != PKT_L3_LLDP)
		return refuse(reason, DROP_RESERVED_MAC);
	if (!pacer_ready(lldp, now))
		return refuse(reason, DROP_LLDP_POLICED);
	pacer_charge(&lldp_rate, lldp, 1, now);
	return ROUTE_PUNT;
}

enum route_verdict route(struct sw_lcore *lc, const struct port_profile *port, struct pkt *p,
			 struct port_set *ports, enum drop_reason *reason, ns_t now)
{
	uint64_t mac = dst_mac(p);

	if (mac >> 4 == RESERVED_GROUP >> 4)
		return link_local(lc, p, reason, now);
	if (!find_vlan(lc, port, p))
		return refuse(reason, DROP_VLAN_NOT_MEMBER);
	if (__builtin_expect(lc->tables != NULL, 0))
		return route_with_tables(lc, port, p, ports, reason, now);
	learn(lc, port, p, now);
	if ((p->flags & PKT_GROUP || for_control(p)) && policed(lc, p, now))
		return refuse(reason, DROP_FLOOD_POLICED);
	if (for_control(p))
		return ROUTE_PUNT;
	if (p->flags & PKT_GROUP)
		return flood(lc, p, ports, reason);
	return bridge(lc, port, p, mac, ports, reason, now);
}

static enum route_verdict bridge_injected(struct sw_lcore *lc, struct pkt *p,
					  struct port_set *ports, enum drop_reason *reason)
{
	const struct mac_slot *slot;

	if (p->flags & PKT_GROUP)
		return flood(lc, p, ports, reason);
	slot = mac_slot_find(&lc->bridge, mac_slot_key(dst_mac(p), p->vid));
	if (slot->key == 0)
		return flood(lc, p, ports, reason);
	p->out_port = slot->port;
	return slot->port.v == logical_port(lc->pf, p->in_port).v ? refuse(reason, DROP_SAME_PORT) :
								    ROUTE_FORWARD;
}

// In managed mode only what the switch itself asks is flooded.
static enum route_verdict injected_by_tables(struct sw_lcore *lc, struct pkt *p,
					     struct port_set *ports, enum drop_reason *reason)
{
	const uint64_t mac = dst_mac(p);
	uint32_t row;

	if (p->flags & PKT_GROUP)
		return lc->pf->managed && p->in_port.v != PORT_NONE.v ?
			       refuse(reason, DROP_NOT_FLOODED) :
			       flood(lc, p, ports, reason);
	if (is_for_router(lc, p, mac))
		return refuse(reason, DROP_NOT_ROUTABLE);
	row = edge_table_find_mac(lc->tables->where, p->vid, mac);
	if (row != EDGE_TABLE_NONE)
		return route_host(lc, p, row, reason);
	return lc->pf->managed ? refuse(reason, DROP_NO_ROUTE) :
				 bridge_injected(lc, p, ports, reason);
}

enum route_verdict route_injected(struct sw_lcore *lc, struct pkt *p, struct port_set *ports,
				  enum drop_reason *reason)
{
	if (p->vid >= 4096 || lc->pf->vlan_index[p->vid] == 0)
		return refuse(reason, DROP_VLAN_NOT_MEMBER);
	if (lc->tables == NULL)
		return bridge_injected(lc, p, ports, reason);
	return judge(lc, p, injected_by_tables(lc, p, ports, reason), ports, reason);
}
