// SPDX-License-Identifier: BSD-3-Clause
//
// Every path that packets may take from the hosts of a switch to an edge, with its lanes and its
// share of the flows: what `ibtracert` prints for one path.
//
// Rows are followed as the verifier follows them, so a path may also end where something is wrong.
#pragma once

#include "routing/verify.h"

enum trace_end {
	TRACE_ARRIVES,
	TRACE_NO_ROUTE,    // the last switch has no row
	TRACE_LOST_LINK,   // the last hop
	TRACE_TURN_DENIED, // onto the last hop, whose lane is the one that the packet came on
	TRACE_LOOPS,       // the last hop leads to a switch that is on the path
	TRACE_BAD_ROW,     // of the last switch
};

struct trace_path {
	enum trace_end end;
	uint32_t hop_count;
	const struct violation_hop *hop;
	double share; // of the flows, by weights
};

struct trace {
	const struct trace_path *path; // in the order of local links
	uint32_t path_count;
	bool cut; // there are more
};

// `to_host` is the destination, which pinned groups go by; TOPO_NONE: any host of the edge, so that
// their members share alike. At most `most` paths, in `keep`; `scratch` is left as it was. 0, or
// -ENOMEM. Rules of turns must be such as verify_plan() takes.
int trace_paths(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		bool with_turns, uint32_t from_switch, uint32_t edge, uint32_t to_host,
		uint32_t most, struct arena *keep, struct arena *scratch, struct trace *trace);
