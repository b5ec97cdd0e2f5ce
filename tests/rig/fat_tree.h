// SPDX-License-Identifier: BSD-3-Clause
//
// A fat-tree of k = 4 (Al-Fares et al. 2008): 20 switches, 16 hosts, every link at one rate. Edge
// switches are 0 to 7 and carry hosts 2i and 2i + 1, aggregation switches 8 to 15, cores 16 to 19;
// pod p has edges 2p, 2p + 1 and aggregation switches 8 + 2p, 8 + 2p + 1.
//
// Ports: an edge has its hosts at 0 and 1 and its two aggregation switches at 2 and 3; those have
// their edges at 0 and 1 and two cores at 2 and 3; a core has pod p at port p. All minimal paths
// are used by ECMP, and the turn map forbids what a tree never needs: up after down.
#pragma once

#include "tests/rig/net.h"

enum {
	TREE_EDGES = 8,
	TREE_AGGREGATIONS = 8,
	TREE_CORES = 4,
	TREE_SWITCHES = TREE_EDGES + TREE_AGGREGATIONS + TREE_CORES,
	TREE_HOSTS = 16,
	TREE_PORTS = 4,
	TREE_UP = 2, // first port upwards of an edge or aggregation switch
};

struct fat_tree {
	struct net *net;
	uint32_t sw[TREE_SWITCHES];
	uint32_t host[TREE_HOSTS];
};

// Configuration of switch `i` with all routes and turns, `pool_bytes` of shared buffer and lines of
// `bps`.
struct sw_config *fat_tree_switch(uint32_t i, uint64_t pool_bytes, uint64_t bps);

// Joins switches and hosts; configurations become the tree's.
struct fat_tree fat_tree_new(struct sw_config *const *switches, const struct host_config *hosts,
			     uint64_t bps, uint64_t delay_ns);

// Sums over all hosts of a priority, and over all switches.
uint64_t fat_tree_received(const struct fat_tree *tree, uint32_t prio);
uint64_t fat_tree_drops(const struct fat_tree *tree);
uint64_t fat_tree_xoffs(const struct fat_tree *tree, uint32_t prio);

// Most bytes of headroom that a group of any switch has held.
uint64_t fat_tree_headroom(const struct fat_tree *tree, uint32_t pg);
