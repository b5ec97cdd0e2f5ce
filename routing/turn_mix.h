// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of turns of several plans side by side, as they are while a new plan is distributed: each
// switch has those of one of them, and nobody knows which.
//
// Whatever the mix, the turns of a switch are among the turns of all rules together. So when these
// close no cycle of (link, lane) pairs, no mix does, and when they do, a step in between helps:
// the turns that all have are a part of each, so together with any one they are that one.
#pragma once

#include "routing/plan.h"

// Whether rules are the same, in the same words: mostly they are, and there is nothing to mix.
bool turn_mix_same(const struct topo *topo, const struct turn_rules *a, const struct turn_rules *b);

// Whether no mix of the rules can have a cycle, over all links of the topology, lost ones too: they
// may be back before the next plan. 0, or -ENOMEM; `scratch` is left as it was.
int turn_mix_safe(const struct topo *topo, const struct turn_rules *const *rules, uint32_t count,
		  struct arena *scratch, bool *safe);

// The turns that both have, on the lanes of both. 0, -ENOMEM, or -EOVERFLOW: too many classes.
int turn_mix_common(const struct topo *topo, const struct turn_rules *a, const struct turn_rules *b,
		    struct arena *keep, struct turn_rules *common);

// The turns that a plan can be given with while each of `in_force` may be in force somewhere: its
// own, `plan`; or, when these could close a cycle with the others, the ones that all have. Then
// *between is true: the plan is to be given again when nothing older is in force any more. What
// is chosen may share memory with `plan`. 0, -ENOMEM, or -EOVERFLOW as above.
int turn_mix_choose(const struct topo *topo, const struct turn_rules *plan,
		    const struct turn_rules *const *in_force, uint32_t count, struct arena *keep,
		    struct arena *scratch, struct turn_rules *chosen, bool *between);
