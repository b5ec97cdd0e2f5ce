// SPDX-License-Identifier: BSD-3-Clause
//
// Lanes: what a packet of the fabric is allowed to do next, carried on the link in a tag that the
// fabric adds and removes, so that hosts' DSCP and tags stay as they are (also under QinQ).
//
// The tag is an 802.1Q priority tag. Its PCP is the priority of the lane (of the class, for lossy
// traffic), so PFC acts on the lane of arrival. Lossless traffic has VID 0; lossy traffic, whose
// lanes share a priority, says its lane in the VID. The turn map judges both: it is what keeps any
// packet from looping, whatever the tables say.
//
// Invariant: a packet's priority group is that of the lane it arrived on, its queue that of the
// lane it leaves on.

#include "dataplane/core/route_l3.h"

#include "base/bytes.h"

enum {
	TAG_BYTES = 4,
	ADDRESS_BYTES = 12,
	ETHERTYPE_VLAN = 0x8100,
	TAG_AT = 14,    // of the tag's control information
	LANE_VID = 0xf, // where the VID says a lane
};

// *tci keeps the tag.
static enum drop_reason untag(struct pkt *p, uint16_t *tci)
{
	*tci = 0;
	if (p->head_len < TAG_AT + TAG_BYTES)
		return DROP_PARSE_TRUNCATED;
	if (load_be48(p->data) >> 4 == RESERVED_GROUP >> 4)
		return DROP_NONE;
	if (load_be16(p->data + ADDRESS_BYTES) != ETHERTYPE_VLAN)
		return DROP_LANE_TAG;
	*tci = load_be16(p->data + TAG_AT);
	tag_pop(p);
	return DROP_NONE;
}

static void by_tag(const struct sw_profile *pf, const struct port_profile *port, uint16_t tci,
		   struct pkt *p)
{
	const uint8_t tc = port->pcp_to_tc[tci >> 13];

	p->tc = (tc_t){ tc };
	p->pg = (pg_t){ p->flags & PKT_CNP ? port->cnp_pg : port->tc_to_pg[tc] };
	p->lane = pf->tc_to_lane[tc] != LANE_NONE ? pf->tc_to_lane[tc] : tci & LANE_VID;
}

static void clamp(const struct sw_profile *pf, const struct port_profile *port, struct pkt *p)
{
	p->lane = 0;
	if (pf->tc_to_lane[p->tc.v] == LANE_NONE)
		return;
	p->tc = (tc_t){ pf->lane_tc[0] };
	p->pg = (pg_t){ port->tc_to_pg[p->tc.v] };
}

enum drop_reason lane_parse(const struct sw_lcore *lc, const struct port_profile *port,
			    struct pkt *p)
{
	enum drop_reason refused = DROP_NONE;
	enum drop_reason reason;
	uint16_t tci = 0;

	if (port->lane_tag)
		refused = untag(p, &tci);
	// Also what is refused: its memory has flags of an older packet, which drop() would obey.
	reason = parse(p, port->max_frame_bytes);
	if (refused != DROP_NONE)
		return refused;
	if (reason != DROP_NONE)
		return reason;
	classify(port, lc->pf->cnp_tc, p);
	if (port->lane_tag)
		by_tag(lc->pf, port, tci, p);
	else
		clamp(lc->pf, port, p);
	return DROP_NONE;
}

enum drop_reason lane_turn(const struct sw_lcore *lc, struct pkt *p)
{
	const struct turn_map *turns = lc->tables->turns;
	const port_t in = logical_port(lc->pf, p->in_port);
	uint8_t to;

	// A frame of the switch itself has not turned.
	if (p->in_port.v == PORT_NONE.v)
		return DROP_NONE;
	if (in.v >= turns->port_count || p->out_port.v >= turns->port_count)
		return DROP_TURN_DENIED;
	to = turn_map_get(turns, in, p->out_port, p->lane);
	if (to == TURN_DENY)
		return DROP_TURN_DENIED;
	p->lane = to;
	if (lc->pf->lane_count == 0 || lc->pf->tc_to_lane[p->tc.v] == LANE_NONE)
		return DROP_NONE;
	// A host knows one lane.
	if (!port_profile_of(lc, p->out_port)->fabric)
		to = 0;
	if (to >= lc->pf->lane_count) // the profile has changed, the map not yet
		return DROP_TURN_DENIED;
	p->tc = (tc_t){ lc->pf->lane_tc[to] };
	return DROP_NONE;
}

void lane_filter(const struct sw_lcore *lc, const struct pkt *p, struct port_set *ports)
{
	const port_t in = logical_port(lc->pf, p->in_port);

	if (p->in_port.v == PORT_NONE.v)
		return;
	PORT_SET_FOR_EACH(port, ports) {
		if (in.v >= lc->tables->turns->port_count ||
		    turn_map_get(lc->tables->turns, in, port, p->lane) == TURN_DENY)
			port_set_remove(ports, port);
	}
}

void lane_tag(const struct sw_profile *pf, const struct port_profile *port, struct pkt *p)
{
	const uint16_t vid = pf->tc_to_lane[p->tc.v] != LANE_NONE ? 0 : p->lane & LANE_VID;

	tag_push(p, (uint16_t)(pcp_of(port, p->tc) << 13 | vid));
}
