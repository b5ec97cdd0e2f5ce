// SPDX-License-Identifier: BSD-3-Clause
//
// Facts of a live fabric by precedence: what an operator or the intent said stands before what was
// seen, since it explains it.

#include "fabricmgr/net/view.h"

const char *const view_link_names[VIEW_LINKS] = {
	[VIEW_LINK_IGNORED] = "ignored", [VIEW_LINK_DRAINED] = "drained", [VIEW_LINK_DOWN] = "down",
	[VIEW_LINK_DAMPED] = "damped",   [VIEW_LINK_UNSEEN] = "unseen",   [VIEW_LINK_UP] = "up",
};

const char *const view_life_names[VIEW_LIVES] = {
	[VIEW_SWITCH_THERE] = "there",     [VIEW_SWITCH_HEADLESS] = "headless",
	[VIEW_SWITCH_DEAD] = "dead",       [VIEW_SWITCH_UNSEEN] = "unseen",
	[VIEW_SWITCH_IGNORED] = "ignored",
};

const char *const view_hold_names[MANAGER_HOLD_FAULT + 1] = {
	[MANAGER_HOLD_NONE] = "none",     [MANAGER_HOLD_MASS] = "mass",
	[MANAGER_HOLD_FROZEN] = "frozen", [MANAGER_HOLD_CANARY] = "canary",
	[MANAGER_HOLD_FAULT] = "fault",
};

static bool is_ignored(const struct manager_view *view, uint32_t link)
{
	return !topo_link_up(&view->source->graph.topo, &view->source->graph.state, link);
}

static bool is_drained(const struct manager_view *view, uint32_t link)
{
	const struct topo *topo = &view->source->graph.topo;
	const uint32_t peer = topo->link_peer[link];

	return view->links[link].drained || view->links[peer].drained ||
	       view->switches[topo->link_switch[link]].drained ||
	       view->switches[topo->link_switch[peer]].drained;
}

enum view_link view_link(const struct manager_view *view, uint32_t link)
{
	const struct manager_link *a = &view->links[link];
	const struct manager_link *b = &view->links[view->source->graph.topo.link_peer[link]];

	if (is_ignored(view, link))
		return VIEW_LINK_IGNORED;
	if (is_drained(view, link))
		return VIEW_LINK_DRAINED;
	if ((a->known && !a->up) || (b->known && !b->up))
		return VIEW_LINK_DOWN;
	if (a->damping.suppressed || b->damping.suppressed)
		return VIEW_LINK_DAMPED;
	return a->known && b->known ? VIEW_LINK_UP : VIEW_LINK_UNSEEN;
}

enum view_life view_life(const struct manager_view *view, uint32_t at)
{
	if (view->source->graph.state.switch_lost[at])
		return VIEW_SWITCH_IGNORED;
	if (view->switches[at].dead && view->distributor->at[at].life != DISTRIBUTE_THERE)
		return VIEW_SWITCH_DEAD;
	switch (view->distributor->at[at].life) {
	case DISTRIBUTE_UNSEEN: break;
	case DISTRIBUTE_THERE: return VIEW_SWITCH_THERE;
	case DISTRIBUTE_HEADLESS: return VIEW_SWITCH_HEADLESS;
	}
	return VIEW_SWITCH_UNSEEN;
}

bool view_link_planned(const struct manager_view *view, uint32_t link)
{
	return view->plan.number != 0 && topo_link_up(&view->source->graph.topo, view->state, link);
}

bool view_behind(const struct manager_view *view, uint32_t at)
{
	const struct distribute_switch *sw = &view->distributor->at[at];

	return sw->life == DISTRIBUTE_THERE && sw->target.number != 0 &&
	       !generation_equal(&sw->running, &sw->target);
}

struct view_counts view_count(const struct manager_view *view)
{
	const struct source *source = view->source;
	struct view_counts counts = { 0 };

	for (uint32_t i = 0; i < source->fabric.cable_count; i++)
		counts.links[view_link(view, source->graph.cable_link[i])]++;
	for (uint32_t i = 0; i < source->fabric.switch_count; i++) {
		counts.lives[view_life(view, i)]++;
		counts.behind += view_behind(view, i);
		counts.refused += view->distributor->at[i].failed;
		counts.drained += view->switches[i].drained;
	}
	return counts;
}

const char *view_hold_advice(enum manager_hold hold)
{
	switch (hold) {
	case MANAGER_HOLD_NONE: break;
	case MANAGER_HOLD_MASS:
		return "weft fabric confirm plans without what is lost; if it comes back, nothing "
		       "need be done";
	case MANAGER_HOLD_FROZEN: return "weft fabric thaw lets the fabric change again";
	case MANAGER_HOLD_CANARY:
		return "weft fabric confirm takes the new intent everywhere, weft fabric rollback "
		       "takes it back";
	case MANAGER_HOLD_FAULT:
		return "switches keep the last good plan; change the intent, or weft fabric "
		       "rollback to the one before";
	}
	return "";
}
