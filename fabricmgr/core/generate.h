// SPDX-License-Identifier: BSD-3-Clause
//
// Regular fabrics by arithmetic. Each adds its switches, cables and hosts to a fabric that was just
// initialised, with names by custom: leaf1, spine1, pod1-leaf1, core1, host1; a Torus switch is
// called by its place, sw-0-2. Ports of a switch: hosts first, then up or around.
#pragma once

#include "fabricmgr/core/fabric.h"

enum { GENERATE_TIERS_MAX = 8 };

struct generate_link {
	uint64_t speed_bps;
	uint32_t length_mm;
	uint16_t weight;
};

// What all kinds have. A tier is a level of a tree from its leaves up, or a dimension of a Torus;
// what joins the pods of a hybrid comes behind the dimensions.
struct generate_options {
	struct generate_link host;
	struct generate_link tier[GENERATE_TIERS_MAX];
	uint32_t attach; // switches that each host has a port at: 1, 2: dual homing, more: rails
	bool rails;      // ports of a host are rails 0, 1, ..., otherwise all are of rail 0
};

// One level of a Clos network, a generalised fat-tree with parallel links (PGFT, Zahavi 2010). The
// top has no `up`.
struct generate_level {
	uint32_t down;     // links of a switch to hosts, or to the level below
	uint32_t up;       // links of a switch to the level above
	uint32_t parallel; // of them to the same switch
};

// 0, or -EINVAL or -ENOMEM with a fault. Levels from the leaves up, at most GENERATE_TIERS_MAX.
int generate_clos(struct fabric *fabric, const struct generate_options *options,
		  const struct generate_level *levels, uint32_t level_count,
		  struct fabric_faults *faults);

// Three levels from switches of k ports (Al-Fares 2008): k^3 / 4 hosts.
int generate_fat_tree(struct fabric *fabric, const struct generate_options *options, uint32_t k,
		      struct fabric_faults *faults);

// Two levels. `parallel` 0: as many cables between each leaf and spine as the oversubscription asks
// for. `oversubscription`, in units of 2^-32, is what hosts may have more than uplinks; 0: any.
struct generate_leaf_spine {
	uint32_t leaves;
	uint32_t spines;
	uint32_t hosts;
	uint32_t parallel;
	uint64_t oversubscription;
};

int generate_leaf_spine(struct fabric *fabric, const struct generate_options *options,
			const struct generate_leaf_spine *shape, struct fabric_faults *faults);

// Splits a switch of `radix` ports for an oversubscription in units of 2^-32: the fewest ports up
// with which it is kept.
struct generate_level generate_split(uint32_t radix, uint64_t oversubscription, uint32_t parallel);

// A Torus, or pods of them. A dimension of 2 is one cable, of 1 none. shift[d][e] is added to
// coordinate e by the wrap of dimension d. A pod of a hybrid has `gateways` switches, evenly
// spread, with `parallel` cables to each of the spines.
struct generate_torus {
	uint32_t dim_count;
	uint32_t dims[FABRIC_DIMS_MAX];
	uint32_t shift[FABRIC_DIMS_MAX][FABRIC_DIMS_MAX];
	uint32_t hosts;
	uint32_t pods; // 0: a Torus alone
	uint32_t spines;
	uint32_t gateways;
	uint32_t parallel;
};

int generate_torus(struct fabric *fabric, const struct generate_options *options,
		   const struct generate_torus *shape, struct fabric_faults *faults);
