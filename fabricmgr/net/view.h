// SPDX-License-Identifier: BSD-3-Clause
//
// What can be read off a manager_view beyond its fields: the one state of a cable that people are
// shown, and counts. Links are cables here, called by the link of their end 0.
#pragma once

#include "fabricmgr/net/manager.h"

// The first that is true.
enum view_link {
	VIEW_LINK_IGNORED, // by the intent
	VIEW_LINK_DRAINED, // or one of its switches is
	VIEW_LINK_DOWN,    // one of its ends says so
	VIEW_LINK_DAMPED,  // it is up, but was lost too often of late
	VIEW_LINK_UNSEEN,  // an end has not spoken since the manager started
	VIEW_LINK_UP,
	VIEW_LINKS,
};

enum view_life {
	VIEW_SWITCH_THERE,
	VIEW_SWITCH_HEADLESS,
	VIEW_SWITCH_DEAD, // and all of its neighbours have lost it: planned without
	VIEW_SWITCH_UNSEEN,
	VIEW_SWITCH_IGNORED, // by the intent
	VIEW_LIVES,
};

extern const char *const view_link_names[VIEW_LINKS];
extern const char *const view_life_names[VIEW_LIVES];
extern const char *const view_hold_names[MANAGER_HOLD_FAULT + 1];

enum view_link view_link(const struct manager_view *view, uint32_t link);
enum view_life view_life(const struct manager_view *view, uint32_t at);

// Whether the last plan sends packets over it.
bool view_link_planned(const struct manager_view *view, uint32_t link);

// Whether a switch that is there does not run what it is to run yet.
bool view_behind(const struct manager_view *view, uint32_t at);

struct view_counts {
	uint32_t links[VIEW_LINKS];
	uint32_t lives[VIEW_LIVES];
	uint32_t behind;
	uint32_t refused; // switches that refused their tables
	uint32_t drained; // switches
};

struct view_counts view_count(const struct manager_view *view);

// What an operator may do about a hold, "" for none.
const char *view_hold_advice(enum manager_hold hold);
