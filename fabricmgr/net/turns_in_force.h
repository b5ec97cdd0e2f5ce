// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of turns that may be in force on some switch: those of every plan that was decided since
// all switches last ran the same for a while (core/distribute.h, turn maps). A plan is given with
// turns that close no cycle with any of them, whatever switch has which.
//
// Copies, so that plans may change. Those of a plan are proposed when it is given, and may be in
// force once it is decided.
#pragma once

#include "routing/plan.h"

enum { TURNS_MAX = 8 };

struct turns_in_force {
	struct arena keep[TURNS_MAX + 1];
	struct turn_rules rules[TURNS_MAX + 1]; // the last is that which was decided last
	uint32_t count;
	bool has_proposed; // rules[count]
	bool partly;       // a manager before may have given others, too
};

bool turns_open(struct turns_in_force *turns); // false: memory is short
void turns_close(struct turns_in_force *turns);

// With those proposed, which are no further ones when they are the last: TURNS_MAX at most.
uint32_t turns_count(const struct turns_in_force *turns, const struct topo *topo);

// Of the same topology; what is proposed counts as decided. 0, or -ENOMEM.
int turns_copy(struct turns_in_force *to, const struct topo *topo,
	       const struct turns_in_force *from);

// 0, -ENOMEM, or -E2BIG: there are so many others that no plan with new ones can be given before
// all switches run the same.
int turns_propose(struct turns_in_force *turns, const struct topo *topo,
		  const struct turn_rules *rules);
void turns_decide(struct turns_in_force *turns, const struct topo *topo);

// All run what was decided last, and nothing waits for a turn of before.
void turns_keep_last(struct turns_in_force *turns);
