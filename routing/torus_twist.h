// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a twisted Torus, where a way is a vector of steps and the same displacement can have
// several minimal ones. Internal to the Torus engine.
//
// Of those, rows follow the ones that use as few of the first dimensions as they can. That is
// closed: after a step what is left to choose from are the rests of the vectors that were followed,
// so no switch asks for a dimension that a packet has left; all vectors at once would meet denied
// turns. In plain ECMP it loads a 4x4x8 with both short wraps shifted by 4 so that hosts can
// send 1.73 times of what the plain Torus lets them (bound 1.7455), and 4x8x8 1.36 (1.39).
#pragma once

#include "routing/torus_rows.h"

// The coordinates reached from `place` by one step. A step over a closing cable shifts.
void torus_step(const struct torus_shape *shape, const uint16_t *place, uint32_t dim, bool minus,
		uint16_t *next);

// torus_rows_make() and torus_rows_fill() of a twisted Torus.
int torus_twist_make(struct torus_rows *rows, struct arena *scratch);
int torus_twist_fill(struct torus_rows *rows, uint32_t to, uint16_t *row);
