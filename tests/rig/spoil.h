// SPDX-License-Identifier: BSD-3-Clause
//
// Plans and graphs with something wrong, at random: what a verifier has to find, or must not fall
// over.
#pragma once

#include "routing/plan.h"
#include "tests/rig/graph.h"

// One row of `rarity` becomes another: none, local, any number, any group of links.
void spoil_rows(struct rng *rng, const struct graph *g, struct plan *plan, uint32_t rarity);

// Rules of four classes at random, with exceptions, most turns allowed.
void spoil_rules(struct rng *rng, const struct graph *g, struct plan *plan, uint32_t most_lanes);

// Loses one link of twenty and one switch of fifteen.
void spoil_links(struct rng *rng, struct graph *g);
