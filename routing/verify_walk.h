// SPDX-License-Identifier: BSD-3-Clause
//
// The exact walk of one edge: a packet's state is the link it came over and its lane, or the switch
// where a host sent it; every member of the row is followed, once per state. It finds what is
// wrong, enters dependencies, and measures the paths. Internal to the verifier.
//
// Links that come in by ports of one class go on alike, and are one state: but for a port that the
// row leads back to, and where there are exceptions.
#pragma once

#include "routing/lane_graph.h"

// What is known of the whole plan; totals grow edge by edge.
struct verify_run {
	const struct topo *topo;
	const struct plan *plan;
	struct lane_graph graph;
	uint8_t *link_up;    // [link_count]
	uint32_t *part;      // [switch_count] of the graph that is left, TOPO_NONE: lost
	uint32_t *hosts_at;  // [switch_count]
	uint64_t *part_host; // [switch_count] hosts of a part
	struct arena *keep;
	struct verify_report *report;
	double hop_sum; // of reachable pairs
	uint32_t kept_of[VIOLATION_KINDS];
	bool no_memory; // in `keep`
};

// Fills in all but the totals from topo and plan, which are set. 0, or -ENOMEM.
int verify_prepare(struct verify_run *run, const struct topo_state *state, bool with_turns,
		   struct arena *scratch);

struct walk_frame;

struct walk {
	struct verify_run *run;
	uint32_t *first_alike; // [link_count] as lane_graph_find_alike()
	uint8_t *mark;         // [states]
	double *hops;          // [states] of those that arrive
	uint32_t *longest;     // [states]
	uint8_t *said; // [switch_count] kinds of violation, of this edge; bit 7: `leads` is known
	uint32_t *met; // [switch_count] scratch of a record
	uint32_t met_number; // of the last record
	// States of pairs that were met, and the pairs of each, a chain from the last one back.
	uint32_t *state; // [pairs]
	uint32_t state_count;
	uint32_t *last;    // [2 x pairs] by state
	uint32_t *before;  // [pairs]
	uint64_t *leads;   // [switch_count][graph.words] links of the row
	uint64_t *allowed; // [graph.words] scratch
	struct walk_frame *stack;
	uint32_t depth;
	uint32_t edge;
	const uint16_t *row;
};

// 0, or -ENOMEM.
int walk_init(struct verify_run *run, struct arena *scratch, struct walk *walk);

// Walks to one edge from every switch with hosts, and adds what it found to the report.
void walk_edge(struct walk *walk, uint32_t edge);

// The group of a row, NULL when there is none that makes sense.
static inline const struct plan_group *verify_group(const struct plan *plan, uint16_t row)
{
	const struct plan_group *g;

	if (row >= plan->group_count)
		return NULL;
	g = &plan->group[row];
	return g->hop_count != 0 && g->first <= plan->hop_count &&
			       g->hop_count <= plan->hop_count - g->first ?
		       g :
		       NULL;
}

static inline uint64_t verify_group_weight(const struct plan *plan, const struct plan_group *g)
{
	uint64_t weight = 0;

	for (uint32_t i = 0; i < g->hop_count; i++)
		weight += plan->hop[g->first + i].weight;
	return weight;
}

// Whether packets have no way whatever the rows say: a switch or its part of the graph is lost.
static inline bool verify_is_parted(const struct verify_run *run, uint32_t at, uint32_t edge)
{
	const uint32_t part = run->part[run->topo->edge_switch[edge]];

	return part == TOPO_NONE || run->part[at] != part;
}
