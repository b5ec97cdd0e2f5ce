// SPDX-License-Identifier: BSD-3-Clause
//
// Verifying 64 edges at a time, one bit each: most plans are good, and most edges look alike from
// most switches, so that a row is judged once for all edges that share it. What is good is counted
// here; an edge with the slightest doubt is left to the exact walk. Internal to the verifier.
#pragma once

#include "routing/verify_walk.h"

enum { BLOCK_EDGES = 64 };

struct block_use;
struct block_entry;

struct block {
	struct verify_run *run;
	// Const after block_init().
	uint32_t *far;        // [link_count] switch that a link leads to
	uint16_t *group_top;  // [groups] the highest local link + 1, 0: no group that makes sense
	uint64_t *group_link; // [groups][graph.words] its links, as in lane_graph.held
	uint8_t *lossy;       // [switch_count] a link of it is lost
	uint64_t host_total;
	// Of the block at hand.
	uint32_t first;
	uint32_t count;
	uint64_t suspect;          // edges to be walked
	uint64_t *home;            // [switch_count] edges that are at this switch
	uint64_t *rowless;         // [switch_count] edges that it has no row for
	uint64_t *done;            // [switch_count] edges that all packets get to
	uint64_t *fresh;           // [switch_count] those since the last round
	uint64_t *arrive;          // [link_count x lanes] by the link of the port of arrival
	struct block_use *use;     // groups of each switch and the edges that they lead to
	uint32_t *use_first;       // [switch_count + 1]
	struct block_entry *entry; // by the round in which edges were done
	uint32_t entry_count;
	// Scratch: where a group is among the uses of the switch at hand; words by class and lane.
	uint32_t *slot_switch; // [groups]
	uint32_t *slot;        // [groups]
	uint64_t *from;        // [classes x LANE_MAX]
	uint16_t *key;         // [classes x LANE_MAX] of those that are not 0
};

// 0, or -ENOMEM.
int block_init(struct verify_run *run, struct arena *scratch, struct block *block);

// Verifies up to 64 edges from `first` on. Those with a bit in the result have to be walked:
// nothing of them was counted.
uint64_t block_verify(struct block *block, uint32_t first);
