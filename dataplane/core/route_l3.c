// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 4 beyond the bridge: IP packets to the router's address, and hosts of a fabric.
//
// A packet is routed once: at the switch whose router address it was sent to it gets the address of
// its host (or of the next router) and loses a hop (RFC 1812 5.3.1, RFC 8200 3); from there the
// fabric bridges it to the host's edge. RoCEv2's ICRC covers none of what changes here.
//
// Members of a group are picked among the ports that are up at this moment: a port that goes down
// leaves every group with the store that says so.

#include "dataplane/core/route_l3.h"

#include "base/bytes.h"

enum {
	IPV4_TTL = 8,
	IPV4_CHECKSUM = 10,
	IPV6_HOP_LIMIT = 7,
	IPV4_SRC = 12,
	IPV4_DST = 16,
	IPV6_DST = 24,
	IPV6_SRC = 8,
	ONE_TAG = 18, // l3_offset of a frame with one
};

static enum route_verdict refuse(enum drop_reason *reason, enum drop_reason why)
{
	*reason = why;
	return ROUTE_DROP;
}

// One hop less; the checksum follows by RFC 1624, equation 3.
static void take_hop(struct pkt *p)
{
	uint8_t *ip = p->data + p->l3_offset;
	uint32_t sum;

	if (p->l3 == PKT_L3_IPV6) {
		ip[IPV6_HOP_LIMIT]--;
		return;
	}
	sum = (uint16_t)~load_be16(ip + IPV4_CHECKSUM);
	sum += (uint16_t)~load_be16(ip + IPV4_TTL);
	ip[IPV4_TTL]--;
	sum += load_be16(ip + IPV4_TTL);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	store_be16(ip + IPV4_CHECKSUM, (uint16_t)~sum);
}

// The packet leaves towards `mac` in VLAN `vid`, unless it is too long for the port there: no
// router fragments IPv6 (RFC 8200 5), and this one IPv4 neither.
static enum route_verdict rewrite(struct sw_lcore *lc, struct pkt *p, uint64_t mac, uint16_t vid,
				  enum drop_reason *reason)
{
	if (p->len + ETHERNET_BYTES >
	    port_profile_of(lc, p->out_port)->max_frame_bytes + (uint32_t)p->l3_offset)
		return refuse(reason, DROP_EXCEEDS_L3_MTU);
	store_be48(p->data, mac);
	store_be48(p->data + 6, lc->pf->router_mac);
	take_hop(p);
	p->vid = vid;
	lc->stats.routed_packets++;
	return ROUTE_FORWARD;
}

// IEEE 802.1Q 8.6.4: a VLAN leads to its members alone. VID 0: a port without a VLAN.
static bool leads_to(const struct sw_lcore *lc, uint16_t vid, port_t port)
{
	const uint16_t index = lc->pf->vlan_index[vid];

	return vid == 0 || (index != 0 && port_set_has(&lc->pf->vlan[index - 1].members, port));
}

// Of a LAG it is enough that one member is not among the others.
static bool lag_is_left(const struct sw_lcore *lc, const struct lag_profile *lag,
			const struct port_set *others)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < PORT_SET_WORDS; i++)
		left |= lag->members.word[i] & ~others->word[i] &
			__atomic_load_n(&lc->sw->usable.word[i], __ATOMIC_RELAXED);
	return left != 0;
}

static void leave_out(const struct sw_lcore *lc, struct port_set *ports,
		      const struct port_set *others)
{
	const struct port_set before = *ports;
	const struct port_set out = port_set_load(others);

	for (uint32_t i = 0; i < PORT_SET_WORDS; i++)
		ports->word[i] &= ~out.word[i];
	for (uint32_t i = 0; i < lc->pf->lag_count; i++) {
		const struct lag_profile *lag = &lc->pf->lag[i];

		if (port_set_has(&before, lag->logical) && lag_is_left(lc, lag, &out))
			port_set_add(ports, lag->logical);
	}
}

// Ports that can be reached, without those whose peers have no way to `edge`; for a lossless packet
// also without those whose peers disagree.
static struct port_set usable_ports(const struct sw_lcore *lc, uint16_t edge, bool lossless)
{
	struct port_set ports = port_set_load(&lc->sw->reachable);

	if (edge < HELLO_EDGE_MAX && lc->sw->masked != NULL)
		leave_out(lc, &ports, &lc->sw->masked[edge]);
	if (lossless)
		leave_out(lc, &ports, &lc->sw->disagreed);
	return ports;
}

// NULL when the group has no member that can be used. `edge` is where it leads, EDGE_NONE: not to
// an edge.
static const struct group_member *pick(const struct sw_lcore *lc, const struct pkt *p,
				       uint16_t group, uint16_t edge, bool lossless)
{
	const struct port_set usable = usable_ports(lc, edge, lossless);
	const struct group *g = __atomic_load_n(&lc->tables->group[group], __ATOMIC_ACQUIRE);

	return group_pick(g, flow_hash(&lc->pf->ecmp_hash, p), &usable);
}

// Why pick() found none.
static COLD enum drop_reason dead_end(const struct sw_lcore *lc, const struct pkt *p,
				      uint16_t group, uint16_t edge)
{
	return pick(lc, p, group, edge, false) != NULL ? DROP_LANE_MISMATCH : DROP_GROUP_DEAD;
}

// Through a group. `mac` is the host's, for members that are bridges of the fabric; 0: a frame that
// is bridged, and keeps its addresses.
static enum route_verdict to_group(struct sw_lcore *lc, struct pkt *p, uint16_t group,
				   uint16_t edge, uint64_t mac, uint16_t vid,
				   enum drop_reason *reason)
{
	const struct group_member *m = pick(lc, p, group, edge, p->flags & PKT_LOSSLESS);
	const struct next_hop *hop;

	if (m == NULL)
		return refuse(reason, dead_end(lc, p, group, edge));
	hop = &lc->tables->next_hop[m->next_hop];
	p->out_port = m->port;
	if (!(p->flags & PKT_ROUTED)) {
		if (m->port.v == logical_port(lc->pf, p->in_port).v)
			return refuse(reason, DROP_SAME_PORT);
		return leads_to(lc, p->vid, m->port) ? ROUTE_FORWARD :
						       refuse(reason, DROP_VLAN_NOT_MEMBER);
	}
	if (hop->routed)
		mac = __atomic_load_n(&hop->mac, __ATOMIC_RELAXED);
	if (hop->vid != 0)
		vid = hop->vid;
	else if (vid == 0)
		vid = port_profile_of(lc, m->port)->pvid;
	if (!leads_to(lc, vid, m->port))
		return refuse(reason, DROP_VLAN_NOT_MEMBER);
	return rewrite(lc, p, mac, vid, reason);
}

// To a host in a VLAN of this switch; where it is the bridge knows, or asks.
static enum route_verdict to_neighbor(struct sw_lcore *lc, struct pkt *p, struct dest *d,
				      enum drop_reason *reason)
{
	const struct mac_slot *slot = mac_slot_find(&lc->bridge, mac_slot_key(d->mac, d->vid));

	if (__atomic_load_n(&d->number, __ATOMIC_RELAXED) != DEST_USED)
		__atomic_store_n(&d->number, DEST_USED, __ATOMIC_RELAXED);
	if (slot->key == 0 || !port_is_reachable(&lc->port[slot->port.v])) {
		p->vid = d->vid;
		return ROUTE_HOLD;
	}
	p->out_port = slot->port;
	return rewrite(lc, p, d->mac, d->vid, reason);
}

static enum route_verdict to_edge(struct sw_lcore *lc, struct pkt *p, const struct dest *d,
				  enum drop_reason *reason)
{
	uint16_t group;

	if (d->number == lc->tables->self) {
		p->out_port = port_profile_of(lc, d->port)->logical;
		if (!port_is_reachable(&lc->port[p->out_port.v]))
			return refuse(reason, DROP_GROUP_DEAD);
		if (!leads_to(lc, d->vid, p->out_port))
			return refuse(reason, DROP_VLAN_NOT_MEMBER);
		if (p->flags & PKT_ROUTED)
			return rewrite(lc, p, d->mac, d->vid, reason);
		return p->out_port.v != logical_port(lc->pf, p->in_port).v ?
			       ROUTE_FORWARD :
			       refuse(reason, DROP_SAME_PORT);
	}
	group = __atomic_load_n(&lc->tables->edge_group[d->number], __ATOMIC_ACQUIRE);
	if (group == GROUP_NONE)
		return refuse(reason, DROP_NO_ROUTE);
	return to_group(lc, p, group, d->number, d->mac, d->vid, reason);
}

static enum route_verdict to_dest(struct sw_lcore *lc, struct pkt *p, struct dest *d,
				  enum drop_reason *reason)
{
	switch ((enum dest_kind)d->kind) {
	case DEST_SELF: return ROUTE_PUNT;
	case DEST_GLEAN: p->vid = d->vid; return ROUTE_HOLD;
	case DEST_NEIGHBOR: return to_neighbor(lc, p, d, reason);
	case DEST_GROUP: return to_group(lc, p, d->number, EDGE_NONE, 0, 0, reason);
	case DEST_EDGE: return to_edge(lc, p, d, reason);
	case DEST_FREE:
	case DEST_DROP: break;
	}
	return refuse(reason, DROP_BLACK_HOLE);
}

// Addresses that a packet may not have beyond its link: RFC 1122 3.2.1.3 (loopback), RFC 1812
// 5.3.5 (broadcast), RFC 3927 7 and RFC 4291 2.5.6 (link-local), and groups, which this router does
// not forward.
static bool ipv4_stays(uint32_t address)
{
	return address >> 24 == 127 || address >> 28 == 0xe || address >> 16 == 0xa9fe ||
	       address == UINT32_MAX;
}

static bool ipv6_stays(const uint8_t *address)
{
	const uint64_t high = load_be64(address);

	return high >> 56 == 0xff || high >> 54 == 0xfe80 >> 6 ||
	       (high == 0 && load_be64(address + 8) <= 1);
}

// A second tag is no business of the VLAN's router: behind it is another network.
static bool is_routable(const struct pkt *p)
{
	const uint8_t *ip = p->data + p->l3_offset;

	if (p->l3_offset > ONE_TAG)
		return false;
	if (p->l3 == PKT_L3_IPV4)
		return !ipv4_stays(load_be32(ip + IPV4_DST)) &&
		       !ipv4_stays(load_be32(ip + IPV4_SRC));
	return !ipv6_stays(ip + IPV6_DST) && !ipv6_stays(ip + IPV6_SRC);
}

enum route_verdict route_ip(struct sw_lcore *lc, struct pkt *p, enum drop_reason *reason)
{
	const struct sw_tables *t = lc->tables;
	const uint8_t *ip = p->data + p->l3_offset;
	struct dest *d;
	uint32_t row;
	uint8_t hops;

	if (p->l3 != PKT_L3_IPV4 && p->l3 != PKT_L3_IPV6)
		return refuse(reason, DROP_NOT_ROUTABLE);
	if (p->l3 == PKT_L3_IPV4) {
		row = edge_table_find_ipv4(t->where, load_be32(ip + IPV4_DST));
		hops = ip[IPV4_TTL];
	} else {
		row = edge_table_find_ipv6(t->where, ip + IPV6_DST);
		hops = ip[IPV6_HOP_LIMIT];
	}
	if (row == EDGE_TABLE_NONE)
		return refuse(reason, DROP_NO_ROUTE);
	d = &t->dest[row];
	if (d->kind != DEST_SELF && !is_routable(p))
		return refuse(reason, DROP_NOT_ROUTABLE);
	if (hops <= 1 && d->kind != DEST_SELF)
		return refuse(reason, DROP_TTL_EXPIRED);
	p->flags |= PKT_ROUTED;
	return to_dest(lc, p, d, reason);
}

enum route_verdict route_host(struct sw_lcore *lc, struct pkt *p, uint32_t row,
			      enum drop_reason *reason)
{
	return to_dest(lc, p, &lc->tables->dest[row], reason);
}
