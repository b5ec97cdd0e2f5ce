// SPDX-License-Identifier: BSD-3-Clause
//
// The Torus engine: dimension order over rings and meshes, on two lanes.
//
// A packet corrects one dimension after the other in every minimal direction; ties of an even ring
// go both ways. The cable that closes a ring is its dateline: who crosses it is on lane 1 for the
// rest of that ring and on lane 0 again in the next. In a ring that is broken once packets go the
// long way, on the same lanes. What dimension order cannot reach (a lost switch where it would
// turn, a ring broken twice) takes turns out of order on further lanes, or the plan is refused.
//
// Dimensions of fewer than 3 are meshes, and so is a ring without its closing cables. A twisted
// Torus has closing cables that also move along other dimensions (Camara et al. 2010).
#pragma once

#include "routing/plan.h"
#include "routing/topo.h"

enum {
	TORUS_DIMS_MAX = 6,
	TORUS_RING_MIN = 3,         // shorter ones are meshes
	TORUS_GRID_MAX = 4 * 65536, // places, more than switches when some are missing
};

// Where switches are. `shift[d][e]` is added to coordinate e by the cable that closes dimension d
// in its + direction; a dimension that is shifted must not shift others.
struct torus_shape {
	uint32_t dim_count; // 1..
	uint32_t dims[TORUS_DIMS_MAX];
	uint32_t shift[TORUS_DIMS_MAX][TORUS_DIMS_MAX];
	uint16_t (*place)[TORUS_DIMS_MAX]; // [switch_count]
};

// Finds coordinates from the links alone, in `keep`: rings, meshes, also with some links or
// switches missing; not twisted. Which of the equivalent labellings is found depends on the
// topology only; two dimensions of 2 are given as a ring of 4. False: PLAN_FAULT_NOT_A_TORUS with a
// switch that fits nowhere, or PLAN_FAULT_MEMORY.
bool torus_find(const struct topo *topo, struct arena *keep, struct arena *scratch,
		struct torus_shape *shape, struct plan_fault *fault);

// What is known of a topology whatever its state. `way` of a link: dimension, direction, and
// whether it closes a ring, as seen from the switch that transmits.
struct torus {
	const struct topo *topo;
	struct torus_shape shape;
	bool twisted;
	bool whole; // with all cables no line is broken more than once, as a mesh is
	uint32_t grid_count;
	uint32_t stride[TORUS_DIMS_MAX]; // of the grid, the last dimension being 1
	uint32_t *grid;                  // [grid_count] switch or TOPO_NONE
	uint32_t *grid_of;               // [switch_count] the inverse
	uint8_t *way;                    // [link_count] enum torus_way
	uint32_t *edge_order;            // [edge_count] edges along the grid
	uint32_t *edge_first;            // [grid_count + 1] into edge_order
};

// `way` is dimension x 4 + these.
enum torus_way {
	TORUS_CLOSING = 1,
	TORUS_MINUS = 2,
	TORUS_WAYS = 4,
};

// Checks every link against the coordinates; the shape's places must outlive it. False:
// PLAN_FAULT_NOT_A_TORUS with the ends of a link, or with no switch: lengths or shifts that make no
// sense; PLAN_FAULT_COORDINATES, PLAN_FAULT_DATELINE or PLAN_FAULT_MEMORY.
bool torus_init(const struct topo *topo, const struct torus_shape *shape, struct arena *keep,
		struct torus *torus, struct plan_fault *fault);

// Into a plan that plan_init has made. False: PLAN_FAULT_LANES, PLAN_FAULT_UNREACHABLE, memory or
// groups.
bool torus_plan(const struct torus *torus, const struct topo_state *state, struct arena *scratch,
		struct plan *plan, struct plan_fault *fault);

// Changes a plan of state `before`, made without a fault, into that of state `after`: the same as a
// new one by what rows lead to and by the rules of turns. After a fault it is not to be used.
bool torus_replan(const struct torus *torus, const struct topo_state *before,
		  const struct topo_state *after, struct arena *scratch, struct plan *plan,
		  struct plan_fault *fault);
