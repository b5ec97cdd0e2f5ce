// SPDX-License-Identifier: BSD-3-Clause
//
// The dependency graph of lanes: a vertex is a (directed link, lane) pair, that is, a buffer at the
// far end which PFC may pause. It depends on another one when a packet that it holds waits for it.
// Without a cycle there is no deadlock (Dally and Seitz 1987).
//
// Rules of turns give the lane of the second pair, so only the link needs to be kept: one bit per
// vertex and link of the far switch. Internal to the verifier.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"
#include "routing/verify.h"

struct lane_graph {
	const struct topo *topo;
	const uint8_t *link_up;         // [link_count]
	const struct turn_rules *rules; // NULL: one lane and every turn
	uint32_t lanes;
	uint32_t words;   // of a vertex, as many as the largest switch needs
	uint64_t *held;   // [link_count x lanes][words]: local links of the far switch
	uint8_t *special; // [switch_count] there are exceptions from the rules of classes
};

// No dependencies. `link_up` and `rules` must stay. 0, or -ENOMEM.
int lane_graph_init(const struct topo *topo, const uint8_t *link_up, const struct turn_rules *rules,
		    struct arena *keep, struct lane_graph *graph);

// The lane that rules of classes give, or TURN_DENY. A lane that there is not is denied.
static inline uint8_t lane_graph_class_turn(const struct turn_rules *rules, uint32_t in_class,
					    uint32_t out, uint32_t lane)
{
	const size_t turn = (size_t)in_class * rules->class_count + rules->link_class[out];
	const uint8_t to = rules->lane[turn * LANE_MAX + lane];

	return to < rules->lane_count ? to : (uint8_t)TURN_DENY;
}

// The lane that a packet leaves on by link `out`, or TURN_DENY; it came over link `over` on `lane`,
// TOPO_NONE: from a host.
static inline uint8_t lane_graph_turn(const struct lane_graph *graph, uint32_t over, uint32_t out,
				      uint32_t lane)
{
	const struct turn_rules *rules = graph->rules;
	const uint32_t in = over == TOPO_NONE ? over : graph->topo->link_peer[over];
	uint8_t to;

	if (rules == NULL)
		return 0;
	if (graph->special[graph->topo->link_switch[out]]) {
		to = turn_rules_get(rules, in, out, lane);
		return to < graph->lanes ? to : (uint8_t)TURN_DENY;
	}
	if (in == out)
		return TURN_DENY;
	return lane_graph_class_turn(
		rules, in == TOPO_NONE ? (uint32_t)TURN_CLASS_HOST : rules->link_class[in], out,
		lane);
}

static inline uint64_t *lane_graph_held(const struct lane_graph *graph, uint32_t link,
					uint32_t lane)
{
	return graph->held + ((size_t)link * graph->lanes + lane) * graph->words;
}

// For each link the first one, among those that are up, which arrives at the same switch by a port
// of the same class; where there are exceptions each is alone. Without rules all are alike.
void lane_graph_find_alike(const struct lane_graph *graph, uint32_t *first_alike);

// Which dependencies: those that were entered, or all that the rules allow over links that are up.
enum lane_graph_part { LANE_GRAPH_HELD, LANE_GRAPH_ALLOWED };

// Looks for a cycle. *count is 0 when there is none, else the hops of one that no shorter one
// through its first hop exists to, cut at VERIFY_PATH_MAX and in `keep`. 0, or -ENOMEM; `scratch`
// is left as it was.
int lane_graph_cycle(const struct lane_graph *graph, enum lane_graph_part part, struct arena *keep,
		     struct arena *scratch, const struct violation_hop **cycle, uint32_t *count);
