// SPDX-License-Identifier: BSD-3-Clause
//
// A drawing of a fabric as SVG 1.1, for people: levels of a tree one above the other, a Torus as
// its grid (further dimensions as grids of grids), anything else round a circle. Hosts hang below
// their switch. A link's colour is its load in parts of the heaviest one; what is lost is dashed.
#pragma once

#include <stdio.h>

#include "fabricmgr/core/fabric.h"

// `load` [link_count] of the graph, units of either direction, or NULL: all links alike. 0,
// -ENOMEM, or -EIO when the file could not be written.
int draw_svg(const struct fabric *fabric, const struct fabric_graph *graph, const double *load,
	     FILE *out);
