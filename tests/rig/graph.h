// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs for tests of routing: the regular ones by arithmetic, so that a test can say where a
// switch is, and random ones. Each is a topology in memory of its own, freed with it.
#pragma once

#include "base/rng.h"
#include "routing/topo.h"

enum { GRAPH_DIMS_MAX = 6 };

struct graph {
	struct arena keep;    // of the topology, and for what a test builds on it
	struct arena scratch; // empty between calls
	struct topo topo;
	struct topo_state state; // nothing lost
};

// An empty arena of 4 GiB, of which the kernel gives what is touched; ends with the process.
struct arena graph_arena(void);

// A fat-tree of three levels from switches of k ports (Al-Fares 2008): k pods of k/2 leaves and k/2
// aggregation switches, (k/2)^2 cores, k/2 hosts on each leaf. Leaf l of pod p is switch
// p x k/2 + l; aggregation switch a of pod p comes k^2/2 later; cores follow. Ports of a leaf and
// of an aggregation switch: 0..k/2-1 down, k/2..k-1 up; of a core: its pods. Edges are the leaves.
void graph_fat_tree(struct graph *g, uint32_t k);

// Two levels: leaves first; `parallel` cables between each leaf and spine.
void graph_leaf_spine(struct graph *g, uint32_t leaves, uint32_t spines, uint32_t parallel,
		      uint32_t hosts);

// A Torus: switch number = x0 + dims[0] x (x1 + dims[1] x ...). Ports of dimension d: 2d towards
// +1, 2d + 1 towards -1. A dimension of 2 is one cable at port 2d, of 1 none. An edge on each
// switch, `hosts` each. shift[d][e], in a twisted Torus, is added to coordinate e by the wrap of
// dimension d; NULL: none.
void graph_torus(struct graph *g, uint32_t dim_count, const uint32_t *dims,
		 uint32_t (*shift)[GRAPH_DIMS_MAX], uint32_t hosts);

// A tree of `levels`, at random: 1 to `width` switches in each, more below, an edge of 1 to 3 hosts
// on each of the lowest, and between two levels links at random, weights of 1 to 3 and parallel
// ones among them. Each switch has one down, or it would be of no level, and mostly several up.
// Numbers and ports are in no order.
void graph_random_tree(struct graph *g, struct rng *rng, uint32_t levels, uint32_t width);

// Connected, at random: a random tree and further cables, parallel ones among them; an edge of
// 1 to 3 hosts on about two thirds of the switches, on one at least.
void graph_random(struct graph *g, struct rng *rng, uint32_t switches, uint32_t cables);

// The cables that are listed, at the next free ports. The first `edges` switches have an edge of
// `hosts` each.
void graph_cables(struct graph *g, uint32_t switches, const uint32_t (*ends)[2], uint32_t count,
		  uint32_t edges, uint32_t hosts);

// Loses both ends of the cable between two switches, the n-th of parallel ones; it must exist.
void graph_cut(struct graph *g, uint32_t a, uint32_t b, uint32_t n);

// The same fabric as an import would see it: switches, ports, cables and edges in any order,
// without what is lost. place[switch of g] is its number in the new one, TOPO_NONE: it was lost.
void graph_shuffle(const struct graph *g, struct rng *rng, struct graph *shuffled, uint32_t *place);

void graph_free(struct graph *g);
