// SPDX-License-Identifier: BSD-3-Clause
//
// Rows in dimension order, as far as lost cables and switches let it. Internal to the Torus engine.
//
// The way to a destination depends on the first dimension that differs, and there on the own line
// (the switches that differ in that dimension alone) and the coordinate that is wanted. So rows of
// a whole fabric are made of one short table per dimension, by copying.
#pragma once

#include "routing/torus.h"

enum { TORUS_PLUS = 1, TORUS_BACK = 2, TORUS_BOTH = 3 };

struct torus_rows {
	const struct torus *torus;
	const struct topo_state *state;
	struct plan *plan;
	uint16_t *live;                   // [switch_count] 2 bits per dimension: TORUS_PLUS, _BACK
	uint16_t *group;                  // [switch_count][dim_count][4] rows by directions
	uint16_t *toward[TORUS_DIMS_MAX]; // [dims[d]][switch_count] row by wanted coordinate
	uint16_t *relative;               // twisted: [grid_count] dimension x 4 + directions
	bool blocked;                     // some rows are PLAN_NONE that should not be
};

// 0, or -ENOMEM. Memory is taken from `scratch` and stays in use.
int torus_rows_init(const struct torus *torus, const struct topo_state *state, struct plan *plan,
		    struct arena *scratch, struct torus_rows *rows);

// Makes the tables that torus_rows_fill() reads, once. 0, -ENOMEM or -EOVERFLOW.
int torus_rows_make(struct torus_rows *rows, struct arena *scratch);

// Writes the rows of an edge. PLAN_NONE where dimension order has no way. 0, -ENOMEM or -EOVERFLOW.
int torus_rows_fill(struct torus_rows *rows, uint32_t edge);

// The row that leads by the cables of a dimension and some directions that are up.
int torus_rows_group(struct torus_rows *rows, uint32_t at, uint32_t dim, unsigned directions,
		     uint16_t *row);

// Rewrites the rows of the line that begins at place `corner`, for all edges. It must not be broken
// more than once, and the Torus not be twisted; torus_rows_make() is not needed.
int torus_rows_patch(struct torus_rows *rows, uint32_t dim, uint32_t corner, struct arena *scratch);

// What a planner says when a call has returned `rc`.
struct plan_fault torus_fault(int rc);

static inline unsigned torus_live(const struct torus_rows *rows, uint32_t at, uint32_t dim)
{
	return rows->live[at] >> 2 * dim & TORUS_BOTH;
}
