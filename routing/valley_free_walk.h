// SPDX-License-Identifier: BSD-3-Clause
//
// The rows towards one edge: what is above it is found from below, then switches are gone through
// from the top, each after all that are above it. Private to the valley-free planner.
#pragma once

#include "routing/share.h"
#include "routing/valley_free.h"

enum { VALLEY_WALK_FAR_AWAY = UINT16_MAX }; // a length: no way

// The way down from a switch.
struct descent {
	uint16_t down;        // length of the shortest
	uint16_t taken;       // likewise, if the row leads down
	uint16_t child_count; // links that a shortest begins with
	uint32_t child_up;    // the first that was found, as index of the order's ups
};

struct valley_walk {
	const struct order *order;
	const struct topo_state *state;
	struct plan *plan;
	const uint32_t *pin;
	enum valley_free_weights weights;
	int rc;            // of the first group that could not be made
	uint16_t nowhere;  // where lost links lead: a switch that never reaches anything
	uint16_t *up_far;  // as in the order, but for lost links
	uint16_t *up_all;  // [switch_count] group of all ways up, or PLAN_LOCAL: not made yet
	uint16_t *single;  // [TOPO_DEGREE_MAX] group of one hop, likewise
	uint8_t *has_edge; // [switch_count]
	uint64_t *fan;     // [switch_count] valley_walk_fan, 0: not counted yet
	// The last group that was made and the last by shares: those of a kind follow each other.
	struct plan_hop *last_hop; // [last_hop_count]
	uint32_t last_hop_count;
	uint32_t last_pin;
	uint16_t last_group;
	struct share *last_share; // [last_share_count]
	uint32_t last_share_count;
	uint16_t last_share_group;
	// Of the edge.
	uint32_t target;         // its switch
	uint16_t *length;        // [switch_count + 1] of the path that rows give
	struct descent *descent; // [switch_count + 1]
	uint64_t *through;       // [switch_count] what gets through from here; exact weights
	uint32_t *above; // [above_count] the edge's switch and all that have a way down to it
	uint32_t above_count;
	uint16_t *row;     // [switch_count] the result
	uint32_t weighted; // rows in it that plain weights would make differ
	bool parted;       // a switch with hosts was left without a row
};

// Everything in `scratch`. 0, or -ENOMEM.
int valley_walk_init(const struct order *order, const struct topo_state *state,
		     const struct valley_free_options *options, struct arena *scratch,
		     struct plan *plan, struct valley_walk *walk);

// What is passed on from a switch is divided by this: the weight of all its links up or of all its
// links down, whichever is more.
uint64_t valley_walk_fan(const struct order *order, const struct topo_state *state, uint32_t at);

// Fills walk->row for the switches of the list that are wanted [switch_count]; NULL: all of them.
// The list is from the top down and has with a switch all that are above it, but for those at the
// top that are not wanted. valley_walk_end comes before the next edge.
void valley_walk_edge(struct valley_walk *walk, uint32_t target, const uint32_t *list,
		      uint32_t count, const uint8_t *wanted);
void valley_walk_end(struct valley_walk *walk);

// The ways up from a switch, whatever its way down, by what valley_walk_edge found above it.
uint16_t valley_walk_up_row(struct valley_walk *walk, uint32_t at);

// Sets the rows of the parents of `target`, another switch with the same parents, in `row`.
void valley_walk_twin_rows(struct valley_walk *walk, uint32_t target, uint16_t *row);
