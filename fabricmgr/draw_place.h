// SPDX-License-Identifier: BSD-3-Clause
//
// Where the switches of a drawing are. Coordinates are in pixels of the drawing, y downwards; all
// are within its size.
#pragma once

#include "fabricmgr/core/fabric.h"

struct point {
	double x;
	double y;
};

enum draw_shape { DRAW_LEVELS, DRAW_GRID, DRAW_CIRCLE };

struct drawing {
	enum draw_shape shape;
	struct point *at; // [switch_count]
	double width;
	double height;
};

// Places of all switches; `at` is the caller's to free. 0, or -ENOMEM.
int draw_place(const struct fabric *fabric, const struct fabric_graph *graph,
	       struct drawing *drawing);
