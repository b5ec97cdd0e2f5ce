// SPDX-License-Identifier: BSD-3-Clause
//
// The proof of a plan, by code that shares nothing with the engines: it walks the rows as packets
// would and believes no engine's idea of levels or dimensions.
//
// For each edge: from every switch that has hosts, every member of every group on the way is
// followed, with the lane that the rules of turns give. A walk ends at the edge, or is a violation:
// no row, a lost link, a turn that is denied, a loop. Dependencies between (link, lane) pairs, one
// held while the next is waited for, form a graph; without a cycle there is no deadlock by PFC
// (Dally and Seitz 1987). It is looked at twice: what the rows make packets do, and what the rules
// of turns would let them do, over the links that are left, whatever the rows say.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

enum {
	VERIFY_PATH_MAX = 4096, // hops that a violation or a cycle is printed with, the rest cut
	VERIFY_KEPT = 16,       // violations that are kept, a few of each kind; all are counted
};

enum violation_kind {
	VIOLATION_NO_ROUTE,    // a switch on the way has no row
	VIOLATION_LOST_LINK,   // a row leads over it
	VIOLATION_TURN_DENIED, // packets would be dropped
	VIOLATION_LOOP,
	VIOLATION_BAD_ROW, // a number or a link that there is not
	VIOLATION_KINDS,
};

struct violation_hop {
	uint32_t link;
	uint8_t lane;
};

// Path of a packet from the edge switch `from`, up to where it goes wrong. The last hop of a loop
// leads to a switch that is on the path already; a lost link and a denied turn are the last hop
// themselves, on the lane that the packet came on.
struct violation {
	enum violation_kind kind;
	uint32_t from; // switch
	uint32_t at;   // switch whose row or turn is wrong
	uint32_t edge;
	uint32_t hop_count;
	const struct violation_hop *hop;
};

// Pairs are ordered pairs of different hosts; those of one edge count as reached in 0 hops. A pair
// is reachable when every path that a packet may take arrives. Pairs without a connection in the
// graph that is left, and hosts of a lost switch, are `parted`, which is no fault of a plan.
struct verify_report {
	uint64_t reachable_pairs;
	uint64_t unreachable_pairs; // parted ones among them
	uint64_t parted_pairs;
	uint64_t loops; // (switch with hosts, edge) from which a walk need not end
	// Places, each a switch and an edge; of loops their number above.
	uint64_t violation_count[VIOLATION_KINDS];
	uint32_t violation_kept;
	struct violation violation[VERIFY_KEPT];
	// Links between switches, of reachable pairs; members of a group count by weight, of a
	// pinned one alike.
	double hops_avg;
	uint32_t hops_max;
	uint32_t lanes; // that rows use, the highest one + 1
	bool rows_acyclic;
	bool turns_acyclic;
	uint32_t cycle_count; // hops of a cycle that was found, of the rows' first
	const struct violation_hop *cycle;
};

// Paths and cycles of the report are in `keep`, `scratch` is left as it was. `with_turns` false:
// lane 0 all the way, and no turn is denied: tables of others, of whose rules nothing is said. Rows
// may hold any numbers. 0, -ENOMEM, or -EINVAL: rules with classes, lanes or links that there are
// not, or a plan of another size.
int verify_plan(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		bool with_turns, struct arena *keep, struct arena *scratch,
		struct verify_report *report);

// Whether nothing is wrong but for parted pairs.
bool verify_good(const struct verify_report *report);

// Whether what is wrong, if anything, is that pairs have no way: packets of others neither loop nor
// wait for each other in a circle, and what goes the wrong way is dropped.
bool verify_safe(const struct verify_report *report);
