// SPDX-License-Identifier: BSD-3-Clause
//
// The fabric at a glance, and all that is wrong with it as sentences. What explains other trouble
// comes first and silences it: links of a switch that has not called are not listed one by one.
// Every sentence goes with one that says what to do.

#include "fabricmgr/net/view_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabricmgr/net/view.h"
#include "sys/text_json.h"

enum { WHAT_BYTES = 256 };

static json_t *switches_json(const struct manager_view *view, const struct view_counts *counts)
{
	json_t *json = json_pack("{s:i}", "all", (int)view->source->fabric.switch_count);

	for (uint32_t i = 0; i < VIEW_LIVES; i++)
		json_object_set_new(json, view_life_names[i],
				    json_integer((json_int_t)counts->lives[i]));
	json_object_set_new(json, "behind", json_integer((json_int_t)counts->behind));
	json_object_set_new(json, "refused", json_integer((json_int_t)counts->refused));
	json_object_set_new(json, "drained", json_integer((json_int_t)counts->drained));
	return json;
}

static json_t *links_json(const struct manager_view *view, const struct view_counts *counts)
{
	json_t *json = json_pack("{s:i}", "all", (int)view->source->fabric.cable_count);

	for (uint32_t i = VIEW_LINKS; i-- > 0;)
		json_object_set_new(json, view_link_names[i],
				    json_integer((json_int_t)counts->links[i]));
	return json;
}

static json_t *hold_json(const struct manager_view *view)
{
	return json_pack("{s:s, s:o, s:s}", "kind", view_hold_names[view->hold], "why",
			 text_json(view->hold_why, strlen(view->hold_why)), "advice",
			 view_hold_advice(view->hold));
}

// null until the last plan is in force everywhere.
static json_t *since_json(const struct manager_plan *plan, ns_t now)
{
	return plan->in_force.v != 0 ? json_integer((json_int_t)ns_since(now, plan->in_force)) :
				       json_null();
}

// What the last event cost: from asked to planned, and from there until it was in force.
static json_t *repair_json(const struct manager_plan *plan)
{
	const bool done = plan->in_force.v != 0;

	if (plan->number == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:i, s:I}", "number", (json_int_t)plan->number,
			 "asked_to_planned_ns", (json_int_t)ns_since(plan->planned, plan->asked),
			 "planned_to_in_force_ns",
			 done ? json_integer((json_int_t)ns_since(plan->in_force, plan->planned)) :
				json_null(),
			 "switches_changed", (int)plan->switches_changed, "rows_changed",
			 (json_int_t)plan->rows_changed);
}

static json_t *plan_json(const struct manager_plan *plan)
{
	if (plan->number == 0)
		return json_null();
	return json_pack("{s:s, s:i, s:I, s:I, s:f}", "engine", planner_engine_names[plan->engine],
			 "lanes", (int)plan->lanes, "pairs", (json_int_t)plan->pairs,
			 "unreachable_pairs", (json_int_t)plan->unreachable, "load_max_over_avg",
			 plan->max_over_avg);
}

json_t *view_status_json(const struct manager_view *view, ns_t now, uint64_t wall_ms)
{
	const struct fabric *fabric = &view->source->fabric;
	const struct view_counts counts = view_count(view);

	return json_pack("{s:s, s:I, s:I, s:I, s:b, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:I}",
			 "fabric", fabric->name != NULL ? fabric->name : "", "wall_ms",
			 (json_int_t)wall_ms, "epoch", (json_int_t)view->distributor->epoch,
			 "generation", (json_int_t)view->distributor->number, "in_force",
			 (int)(view->plan.number != 0 && view->plan.in_force.v != 0),
			 "in_force_for_ns", since_json(&view->plan, now), "hosts",
			 (int)fabric->host_count, "switches", switches_json(view, &counts), "links",
			 links_json(view, &counts), "hold", hold_json(view), "plan",
			 plan_json(&view->plan), "last_repair", repair_json(&view->plan), "events",
			 (json_int_t)view->journal->count);
}

// --- what is wrong ----------------------------------------------------------------------------

__attribute__((format(printf, 5, 6))) static void add(json_t *list, const char *severity,
						      const char *object, const char *advice,
						      const char *format, ...)
{
	char what[WHAT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}", "severity", severity,
					      "object", object, "what",
					      text_json(what, strlen(what)), "advice", advice));
}

static void add_hold(json_t *list, const struct manager_view *view)
{
	if (view->hold != MANAGER_HOLD_NONE)
		add(list, view->hold == MANAGER_HOLD_FAULT ? "error" : "warning", "fabric",
		    view_hold_advice(view->hold), "%s", view->hold_why);
	if (view->plan.unreachable > 0)
		add(list, "error", "fabric", "look at the links and switches below",
		    "%llu of %llu pairs of ports of hosts have no way to each other",
		    (unsigned long long)view->plan.unreachable,
		    (unsigned long long)view->plan.pairs);
}

static void add_switch(json_t *list, const struct manager_view *view, uint32_t at)
{
	const char *name = view->source->fabric.switches[at].name;
	const struct distribute_switch *sw = &view->distributor->at[at];

	switch (view_life(view, at)) {
	case VIEW_SWITCH_HEADLESS:
		add(list, "error", name, "look whether it runs and reaches the manager",
		    "it does not call any more; it forwards by what it has");
		break;
	case VIEW_SWITCH_DEAD:
		add(list, "error", name, "start it, or put another one of its name in its place",
		    "all of its neighbours have lost it; it is planned without");
		break;
	case VIEW_SWITCH_UNSEEN:
		add(list, "warning", name, "look whether it runs and reaches the manager",
		    "it has not called since the manager started");
		break;
	case VIEW_SWITCH_THERE:
	case VIEW_SWITCH_IGNORED:
	case VIEW_LIVES: break;
	}
	if (sw->failed)
		add(list, "error", name, "its log says what is wrong with them",
		    "it refuses the tables of generation %llu",
		    (unsigned long long)sw->target.number);
}

static bool both_there(const struct manager_view *view, uint32_t link)
{
	const struct topo *topo = &view->source->graph.topo;

	return view_life(view, topo->link_switch[link]) == VIEW_SWITCH_THERE &&
	       view_life(view, topo_far(topo, link)) == VIEW_SWITCH_THERE;
}

static void add_link(json_t *list, const struct manager_view *view, uint32_t link)
{
	const struct fabric *fabric = &view->source->fabric;
	const struct fabric_graph *graph = &view->source->graph;
	const struct label name = planner_link_name(fabric, graph, link);
	const struct label peer = planner_link_name(fabric, graph, graph->topo.link_peer[link]);

	switch (view_link(view, link)) {
	case VIEW_LINK_DOWN:
		add(list, "error", name.text, "look at the cable and at both ports",
		    "the link to %s is down", peer.text);
		break;
	case VIEW_LINK_DAMPED:
		add(list, "warning", name.text, "it is used again when it has been up for a while",
		    "the link to %s comes and goes", peer.text);
		break;
	case VIEW_LINK_UNSEEN:
		// Of a switch that has not called nothing is known, which has been said.
		if (both_there(view, link))
			add(list, "warning", name.text, "look at its switches' ports",
			    "nobody has said whether the link to %s is up", peer.text);
		break;
	case VIEW_LINK_IGNORED:
	case VIEW_LINK_DRAINED:
	case VIEW_LINK_UP:
	case VIEW_LINKS: break;
	}
}

json_t *view_errors_json(const struct manager_view *view)
{
	const struct source *source = view->source;
	json_t *list = json_array();

	add_hold(list, view);
	for (uint32_t i = 0; i < source->fabric.switch_count; i++)
		add_switch(list, view, i);
	for (uint32_t i = 0; i < source->fabric.cable_count; i++)
		add_link(list, view, source->graph.cable_link[i]);
	return json_pack("{s:o}", "errors", list);
}
