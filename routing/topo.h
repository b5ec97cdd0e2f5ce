// SPDX-License-Identifier: BSD-3-Clause
//
// The graph that routes are planned on: switches, the links between them, and edges, which are
// places where destinations are attached (a leaf with its hosts). Names, addresses, speeds and
// cables belong to the fabric manager; here everything is a number.
//
// A link is directed: it is the transmitting end of a cable, and `link_peer` is the way back. The
// links of a switch are consecutive and in the order of its ports, so a link of a known switch is
// also a small local number. Parallel cables are links of their own. Const once built.
#pragma once

#include "base/types.h"
#include "routing/arena.h"

#define TOPO_NONE UINT32_MAX

enum {
	TOPO_SWITCH_MAX = 65535,
	TOPO_DEGREE_MAX = 1024, // links of a switch to other switches
	TOPO_PORT_MAX = 65534,
};

struct topo {
	uint32_t switch_count;
	uint32_t link_count;
	uint32_t edge_count;
	uint32_t host_count;
	const uint32_t *link_first;      // [switch_count + 1]
	const uint32_t *link_switch;     // [link_count] that transmits
	const uint32_t *link_peer;       // [link_count]
	const uint16_t *link_port;       // [link_count] port of link_switch
	const uint16_t *link_weight;     // [link_count] relative capacity, 1..
	const uint32_t *edge_switch;     // [edge_count]; several edges may be at one switch
	const uint32_t *edge_first_host; // [edge_count + 1]: hosts are numbered edge by edge
};

// What a topology is made of. A cable joins two ports of different switches.
struct topo_cable {
	uint32_t end_switch[2];
	uint16_t end_port[2];
	uint16_t weight; // 1..
};

struct topo_edge {
	uint32_t at; // switch
	uint32_t host_count;
};

// What is wrong with a list of cables or edges.
enum topo_fault {
	TOPO_GOOD,
	TOPO_NO_MEMORY,
	TOPO_TOO_LARGE,      // more switches, links of a switch or hosts than there may be
	TOPO_NO_SUCH_SWITCH, // of a cable or an edge
	TOPO_LOOPED_CABLE,   // both ends on one switch
	TOPO_PORT_TAKEN,     // by an earlier cable
	TOPO_NO_WEIGHT,
};

// Builds the graph in `keep`; `scratch` is left as it was. On a fault, *at is the cable, or edge,
// that has it, and *topo is undefined.
enum topo_fault topo_build(uint32_t switch_count, const struct topo_cable *cables,
			   uint32_t cable_count, const struct topo_edge *edges, uint32_t edge_count,
			   struct arena *keep, struct arena *scratch, struct topo *topo,
			   uint32_t *at);

// The link of a switch's port, TOPO_NONE when there is none.
uint32_t topo_link_at(const struct topo *topo, uint32_t at, uint16_t port);

static inline uint32_t topo_degree(const struct topo *topo, uint32_t at)
{
	return topo->link_first[at + 1] - topo->link_first[at];
}

// The switch at the far end.
static inline uint32_t topo_far(const struct topo *topo, uint32_t link)
{
	return topo->link_switch[topo->link_peer[link]];
}

static inline uint32_t topo_edge_hosts(const struct topo *topo, uint32_t edge)
{
	return topo->edge_first_host[edge + 1] - topo->edge_first_host[edge];
}

// What has been lost, in arrays of its own, so that a plan is a function of topology and state
// whatever the order of events.
struct topo_state {
	uint8_t *link_lost;   // [link_count] as reported, of either end
	uint8_t *switch_lost; // [switch_count]
};

// Nothing lost. 0, or -ENOMEM.
int topo_state_init(const struct topo *topo, struct arena *keep, struct topo_state *state);
void topo_state_copy(const struct topo *topo, const struct topo_state *from, struct topo_state *to);

// The first of `from`.. that is not 0, `count` when there is none: lost things are few.
uint32_t topo_next_lost(const uint8_t *lost, uint32_t count, uint32_t from);

// The first of `from`.. that two states have differently, likewise.
uint32_t topo_next_change(const uint8_t *before, const uint8_t *after, uint32_t count,
			  uint32_t from);

// A cable carries packets when neither direction nor either switch is lost: half a cable is not
// used, since what pauses one direction goes by the other.
static inline bool topo_link_up(const struct topo *topo, const struct topo_state *state,
				uint32_t link)
{
	const uint32_t peer = topo->link_peer[link];

	return !(state->link_lost[link] | state->link_lost[peer] |
		 state->switch_lost[topo->link_switch[link]] |
		 state->switch_lost[topo->link_switch[peer]]);
}
