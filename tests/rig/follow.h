// SPDX-License-Identifier: BSD-3-Clause
//
// What rows of a plan do, counted in the plainest way there is: path by path. For graphs of a few
// hundred switches, and plans without loops.
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"
#include "tests/rig/graph.h"

// Every ordered pair of hosts on different switches sends one unit, split by the weights of hops.
// `load` [link_count].
void follow_load(const struct topo *topo, const struct plan *plan, double *load);

// The most that a link of a tier carries.
double follow_tier_max(const struct topo *topo, const struct plan *plan, const double *load,
		       uint32_t tier);

// Paths from a switch to an edge, and the sum of a hash of each, which stands for their set.
struct follow_paths {
	uint64_t count;
	uint64_t hash;
	uint32_t longest; // links
};

struct follow_paths follow_paths(const struct topo *topo, const struct plan *plan, uint32_t from,
				 uint32_t edge);

// The hash of a path as a longer one's beginning.
uint64_t follow_hash(uint64_t hash, uint32_t link);

// Fails the test unless the verifier finds nothing wrong with a plan of one lane.
void follow_prove(struct graph *g, const struct plan *plan);

// Fails the test unless two plans have the same rows and rules.
void follow_assert_same(const struct topo *topo, const struct plan *a, const struct plan *b);
