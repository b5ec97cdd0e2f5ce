// SPDX-License-Identifier: BSD-3-Clause
//
// What the plan in force makes packets do: rows of switches, loads of links, and every path between
// two ends.

#include "fabricmgr/net/view_json.h"

#include <stdio.h>

#include "fabricmgr/net/view.h"
#include "fabricmgr/trace_json.h"
#include "routing/balance.h"

// An end that packets are sent to.
static bool find_edge(const struct source *source, const char *name, struct find_end *end,
		      char why[FIND_WHY_BYTES])
{
	if (!find_end(&source->fabric, &source->graph, name, end, why))
		return false;
	if (end->edge == TOPO_NONE)
		snprintf(why, FIND_WHY_BYTES, "%.63s has no hosts", name);
	return end->edge != TOPO_NONE;
}

static bool has_plan(const struct manager_view *view, char why[FIND_WHY_BYTES])
{
	why[0] = '\0';
	if (view->planner == NULL)
		snprintf(why, FIND_WHY_BYTES, "there is no plan in force yet");
	return view->planner != NULL;
}

// --- rows -------------------------------------------------------------------------------------

// What is listed so far.
struct rows {
	const struct manager_view *view;
	json_t *list;
	bool cut;
};

static json_t *hop_json(const struct manager_view *view, uint32_t at, const struct plan_hop *hop)
{
	const struct fabric *fabric = &view->source->fabric;
	const struct topo *topo = &view->source->graph.topo;
	const uint32_t link = topo->link_first[at] + hop->link;
	char name[FABRIC_NAME_BYTES];

	return json_pack("{s:s, s:s, s:i}", "port",
			 fabric_port_name(&fabric->switches[at], topo->link_port[link], name),
			 "peer", fabric->switches[topo_far(topo, link)].name, "weight",
			 (int)hop->weight);
}

static json_t *hops_json(const struct manager_view *view, uint32_t at, uint16_t row)
{
	const struct plan *plan = &view->planner->plan;
	json_t *list = json_array();

	if (!plan_is_group(row))
		return list;
	for (uint32_t i = 0; i < plan->group[row].hop_count; i++)
		json_array_append_new(list,
				      hop_json(view, at, &plan->hop[plan->group[row].first + i]));
	return list;
}

static const char *kind_of(uint16_t row)
{
	if (row == PLAN_NONE)
		return "none";
	return row == PLAN_LOCAL ? "local" : "group";
}

static void add_row(struct rows *rows, uint32_t at, uint32_t edge)
{
	const struct manager_view *view = rows->view;
	const struct topo *topo = &view->source->graph.topo;
	const struct plan *plan = &view->planner->plan;
	const struct fabric_switch *switches = view->source->fabric.switches;
	const uint16_t row = plan_rows(plan, edge)[at];

	if (json_array_size(rows->list) == VIEW_ROWS_MAX) {
		rows->cut = true;
		return;
	}
	json_array_append_new(
		rows->list,
		json_pack("{s:s, s:s, s:s, s:i, s:b, s:o}", "switch", switches[at].name, "to",
			  switches[topo->edge_switch[edge]].name, "kind", kind_of(row),
			  "host_ports", (int)topo_edge_hosts(topo, edge), "pinned",
			  (int)(plan_is_group(row) && plan->group[row].pin != 0), "next_hops",
			  hops_json(view, at, row)));
}

// Rows of one switch: to all edges, or to one.
static void add_rows(struct rows *rows, uint32_t at, uint32_t edge)
{
	const uint32_t count = rows->view->source->graph.topo.edge_count;

	if (edge != TOPO_NONE)
		add_row(rows, at, edge);
	for (uint32_t e = 0; edge == TOPO_NONE && e < count && !rows->cut; e++)
		add_row(rows, at, e);
}

json_t *view_routes_json(const struct manager_view *view, const char *at, const char *to,
			 char why[FIND_WHY_BYTES])
{
	const struct fabric *fabric = &view->source->fabric;
	struct rows rows = { .view = view };
	struct find_end end = { .edge = TOPO_NONE };
	uint32_t from = FABRIC_NONE;

	if (!has_plan(view, why))
		return NULL;
	if (at == NULL && to == NULL)
		snprintf(why, FIND_WHY_BYTES, "which switch?");
	if ((at == NULL && to == NULL) || (at != NULL && !find_switch(fabric, at, &from, why)) ||
	    (to != NULL && !find_edge(view->source, to, &end, why)))
		return NULL;
	rows.list = json_array();
	if (from != FABRIC_NONE)
		add_rows(&rows, from, end.edge);
	for (uint32_t i = 0; from == FABRIC_NONE && i < fabric->switch_count && !rows.cut; i++)
		add_rows(&rows, i, end.edge);
	return json_pack("{s:o, s:b}", "routes", rows.list, "cut", (int)rows.cut);
}

// --- loads ------------------------------------------------------------------------------------

static json_t *tiers_json(const struct manager_view *view, const struct balance_report *balance)
{
	const struct planner *planner = view->planner;
	json_t *list = json_array();

	for (uint32_t i = 0; i < planner->plan.tier_count; i++) {
		const struct balance_tier *tier = &balance->tier[i];

		if (tier->link_count == 0)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:s, s:i, s:f, s:f, s:f, s:s}", "tier",
				  planner_tier_name(planner, i).text, "links",
				  (int)tier->link_count, "max", tier->max, "avg", tier->avg,
				  "max_over_avg", tier->avg > 0 ? tier->max / tier->avg : 0.0,
				  "most_loaded",
				  planner_link_name(planner->fabric, planner->graph, tier->max_link)
					  .text));
	}
	return list;
}

// The first of the most loaded links.
static uint32_t most_of(const double *load, uint32_t count)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < count; i++)
		most = load[i] > load[most] ? i : most;
	return most;
}

// The most loaded links in descending order; their loads are taken away.
static json_t *most_loaded(const struct manager_view *view, double *load)
{
	const struct source *source = view->source;
	const uint32_t count = source->graph.topo.link_count;
	json_t *list = json_array();

	for (uint32_t n = 0; n < VIEW_LOADED && n < count; n++) {
		const uint32_t most = most_of(load, count);
		const struct label name = planner_link_name(&source->fabric, &source->graph, most);

		if (load[most] <= 0)
			break;
		json_array_append_new(list, json_pack("{s:s, s:f}", "link", name.text, "load",
						      load[most]));
		load[most] = 0;
	}
	return list;
}

json_t *view_balance_json(const struct manager_view *view, struct view_memory *memory,
			  char why[FIND_WHY_BYTES])
{
	const struct topo *topo = &view->source->graph.topo;
	const size_t mark = arena_mark(&memory->keep);
	struct balance_report *balance;
	json_t *json = NULL;
	double *load;

	if (!has_plan(view, why))
		return NULL;
	load = arena_take(&memory->keep, topo->link_count, sizeof(*load));
	balance = arena_take(&memory->keep, 1, sizeof(*balance));
	if (load != NULL && balance != NULL &&
	    balance_all_pairs(topo, &view->planner->state, &view->planner->plan, &memory->scratch,
			      load, balance) == 0)
		json = json_pack("{s:f, s:f, s:f, s:f, s:o, s:o}", "max", balance->all.max, "avg",
				 balance->all.avg, "max_over_avg",
				 balance->all.avg > 0 ? balance->all.max / balance->all.avg : 0.0,
				 "injection", balance->injection, "tiers",
				 tiers_json(view, balance), "most_loaded", most_loaded(view, load));
	arena_release(&memory->keep, mark);
	return json;
}

// --- paths ------------------------------------------------------------------------------------

json_t *view_trace_json(const struct manager_view *view, const char *from, const char *to,
			struct view_memory *memory, char why[FIND_WHY_BYTES])
{
	const struct source *source = view->source;
	struct find_end ends[2];
	struct trace trace;
	json_t *json = NULL;
	size_t mark;

	if (!has_plan(view, why))
		return NULL;
	if (from == NULL || to == NULL) {
		snprintf(why, FIND_WHY_BYTES, "from and to: two hosts or switches");
		return NULL;
	}
	if (!find_end(&source->fabric, &source->graph, from, &ends[0], why) ||
	    !find_edge(source, to, &ends[1], why))
		return NULL;
	mark = arena_mark(&memory->keep);
	if (trace_paths(&source->graph.topo, &view->planner->state, &view->planner->plan, true,
			ends[0].at, ends[1].edge, ends[1].host, VIEW_PATHS_MAX, &memory->keep,
			&memory->scratch, &trace) == 0)
		json = trace_json(&source->fabric, &source->graph, &trace);
	arena_release(&memory->keep, mark);
	return json;
}
