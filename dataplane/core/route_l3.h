// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 4 beyond the bridge: routed packets, hosts of a fabric, turns and lanes. Private to
// dataplane/core. Routes, hosts and turns need lc->tables; lanes and the flow hash do not.
#pragma once

#include "dataplane/core/stage.h"
#include "dataplane/core/tables.h"

// --- flow_key.c ---------------------------------------------------------------------------------

// The packet's hash under a profile.
uint32_t flow_hash(const struct hash_profile *pf, const struct pkt *p);

// --- route_l3.c -------------------------------------------------------------------------------

// Where an IP packet to the router's address goes: out_port and vid are set and the headers
// rewritten (ROUTE_FORWARD), or its neighbour must be asked for (ROUTE_HOLD: vid is set, nothing
// rewritten).
enum route_verdict route_ip(struct sw_lcore *lc, struct pkt *p, enum drop_reason *reason);

// Where a frame to a host of the fabric goes, whose destination is `row`.
enum route_verdict route_host(struct sw_lcore *lc, struct pkt *p, uint32_t row,
			      enum drop_reason *reason);

// --- lane.c -----------------------------------------------------------------------------------

// Stages 1 and 2 of a packet on a port that knows lanes. A fabric port takes the lane's tag off
// before parsing, and class, group and lane come from it, not from what the host wrote; link-local
// frames have none. On an edge port hosts enter on lane 0.
enum drop_reason lane_parse(const struct sw_lcore *lc, const struct port_profile *port,
			    struct pkt *p);

// Takes the turn: DROP_TURN_DENIED, or the packet has the lane and class it leaves with.
enum drop_reason lane_turn(const struct sw_lcore *lc, struct pkt *p);

// The same where there may be no turn map, or no tables at all.
static inline enum drop_reason turn(const struct sw_lcore *lc, struct pkt *p)
{
	if (lc->tables == NULL || lc->tables->turns == NULL)
		return DROP_NONE;
	return lane_turn(lc, p);
}

// Leaves of `ports` those to which the packet may turn.
void lane_filter(const struct sw_lcore *lc, const struct pkt *p, struct port_set *ports);

// Puts the tag on a frame that leaves on a port with lane_tag.
void lane_tag(const struct sw_profile *pf, const struct port_profile *port, struct pkt *p);
