// SPDX-License-Identifier: BSD-3-Clause
//
// Plans in words: engines know numbers, and people know the names that the fabric gives to them.
// Whoever prints puts the names into the sentence.

#include "fabricmgr/core/planner.h"

struct label planner_link_name(const struct fabric *fabric, const struct fabric_graph *graph,
			       uint32_t link)
{
	struct label label = { .len = 0 };
	const struct fabric_switch *sw;
	char port[FABRIC_NAME_BYTES];

	if (link >= graph->topo.link_count)
		return label;
	sw = &fabric->switches[graph->topo.link_switch[link]];
	label_add(label_add(&label, sw->name), ":");
	label_add(&label, fabric_port_name(sw, graph->topo.link_port[link], port));
	return label;
}

static struct label switch_name(const struct fabric *fabric, uint32_t at)
{
	struct label label = { .len = 0 };

	label_add(&label, at < fabric->switch_count ? fabric->switches[at].name : "the fabric");
	return label;
}

static struct label edge_name(const struct fabric *fabric, const struct fabric_graph *graph,
			      uint32_t edge)
{
	return switch_name(fabric, edge < graph->topo.edge_count ? graph->topo.edge_switch[edge] :
								   FABRIC_NONE);
}

const char *planner_fault_text(const struct fabric *fabric, const struct fabric_graph *graph,
			       const struct plan_fault *fault, struct label *object,
			       struct label *detail)
{
	*object = switch_name(fabric, fault->at);
	*detail = switch_name(fabric, fault->other);
	switch (fault->kind) {
	case PLAN_FAULT_NONE: return "nothing is wrong";
	case PLAN_FAULT_MEMORY: return "memory is short";
	case PLAN_FAULT_NOT_A_TREE:
		return "it is not a tree: %o and %d are on one level and have a link";
	case PLAN_FAULT_NOT_A_TORUS: return "it is not a Torus: %o does not fit the dimensions";
	case PLAN_FAULT_COORDINATES: return "%o and %d are at the same place";
	case PLAN_FAULT_DATELINE:
		*object = planner_link_name(fabric, graph, fault->link);
		return "the ends of the link at %o disagree about where the ring is closed";
	case PLAN_FAULT_UNREACHABLE:
		*detail = edge_name(fabric, graph, fault->edge);
		return "%o is connected to %d, but no way there is free of deadlock";
	case PLAN_FAULT_LANES:
		if (fault->edge != TOPO_NONE)
			*detail = edge_name(fabric, graph, fault->edge);
		return "the way from %o to %d needs more lanes than there are";
	case PLAN_FAULT_ROOT: return "no root is left: %o";
	case PLAN_FAULT_GROUPS: return "there are too many different groups";
	case PLAN_FAULT_WIDE:
		*detail = edge_name(fabric, graph, fault->edge);
		return "%o has more links towards %d than a group of a switch has members";
	}
	return "";
}

const char *planner_violation_text(enum violation_kind kind)
{
	switch (kind) {
	case VIOLATION_NO_ROUTE: return "has no row for it";
	case VIOLATION_LOST_LINK: return "sends it over a link that is lost";
	case VIOLATION_TURN_DENIED: return "may not turn it that way";
	case VIOLATION_LOOP: return "gets it a second time";
	case VIOLATION_BAD_ROW: return "has a row that leads nowhere";
	case VIOLATION_KINDS: break;
	}
	return "";
}

// Dimensions come first, then levels of what joins pods.
struct label planner_tier_name(const struct planner *planner, uint32_t tier)
{
	static const char names[] = "xyzabc";
	uint32_t dims = 0;
	struct label label = { .len = 0 };

	if (planner->engine == PLANNER_TORUS)
		dims = planner->shape.dim_count;
	else if (planner->engine == PLANNER_HYBRID)
		dims = planner->hybrid.dim_count;
	if (tier >= dims || tier >= sizeof(names) - 1)
		return label_of("tier", tier - dims + 1);
	label.text[0] = names[tier];
	label.text[1] = '\0';
	label.len = 1;
	return label;
}
