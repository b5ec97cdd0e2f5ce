// SPDX-License-Identifier: BSD-3-Clause
//
// Exceptions of rules of turns, looked for while rows that need them are made: the rules of an
// engine stay as they are, turns that they deny are allowed one by one on a lane where no
// cycle of (link, lane) pairs closes. Internal to engines.
//
// All links count, lost ones too, and all that the rules allow, not only what rows use.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

struct turn_search {
	const struct topo *topo;
	const struct turn_rules *rules; // of LANE_MAX lanes, without exceptions
	// Exceptions that were added, each in the chain of the pair that it leaves.
	struct turn_exception *exception;
	uint32_t *next;
	uint32_t *first; // [link x LANE_MAX + lane] of arrival
	uint32_t count;
	uint32_t room;
	// Of a search.
	uint32_t *seen; // [pairs]
	uint32_t *stack;
	uint32_t round;
};

// 0, or -ENOMEM.
int turn_search_init(const struct topo *topo, const struct turn_rules *rules, struct arena *scratch,
		     struct turn_search *search);

// The lane to leave on for a packet that came by link `by` on a lane, or TURN_DENY.
uint8_t turn_search_get(const struct turn_search *search, uint32_t by, uint32_t out, uint32_t lane);

// Allows a denied turn. `checked`: false (nothing changed) when that closes a cycle. False too when
// there are more exceptions than there is room for.
bool turn_search_allow(struct turn_search *search, uint32_t by, uint32_t out, uint32_t lane,
		       uint32_t to, bool checked);

// Takes back all exceptions but the first `count`.
void turn_search_undo(struct turn_search *search, uint32_t count);

// Whether there is no cycle. 0 to say so, -ELOOP, or -ENOMEM.
int turn_search_check(struct turn_search *search, struct arena *scratch);

// Writes the exceptions to rules that have room for them.
void turn_search_finish(const struct turn_search *search, struct turn_rules *rules);
