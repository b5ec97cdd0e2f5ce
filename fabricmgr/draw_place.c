// SPDX-License-Identifier: BSD-3-Clause
//
// Three ways to place switches. Levels: each is a row, spread over the width of the longest one.
// Grid: dimensions 0 and 1 are across and down, 2 and 3 repeat that grid across and down, and so
// on. Circle: by number.

#include "fabricmgr/draw_place.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	MARGIN = 60,
	STEP_X = 70,    // between switches of the longest row
	STEP_Y = 160,   // between levels
	STEP_GRID = 90, // between switches of a grid
	GAP_GRID = 60,  // between grids
	LEVEL_MAX = FABRIC_LEVEL_NONE,
};

// --- levels -----------------------------------------------------------------------------------

// Puts the neighbours of a switch that have no level yet one above it.
static uint32_t raise(const struct topo *topo, uint32_t at, uint8_t *level, uint32_t *queue,
		      uint32_t tail)
{
	if (level[at] == LEVEL_MAX - 1)
		return tail;
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);

		if (level[far] != LEVEL_MAX)
			continue;
		level[far] = level[at] + 1;
		queue[tail++] = far;
	}
	return tail;
}

// Distance from the switches with hosts, where levels are not known. A switch that cannot be
// reached stands at the bottom.
static void find_levels(const struct fabric *fabric, const struct fabric_graph *graph,
			uint8_t *level, uint32_t *queue)
{
	uint32_t tail = 0;

	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		level[s] = graph->switch_edge[s] != TOPO_NONE ? 0 : LEVEL_MAX;
		if (level[s] == 0)
			queue[tail++] = s;
	}
	for (uint32_t head = 0; head < tail; head++)
		tail = raise(&graph->topo, queue[head], level, queue, tail);
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		if (level[s] == LEVEL_MAX)
			level[s] = 0;
	}
}

static bool has_levels(const struct fabric *fabric)
{
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		if (fabric->switches[s].level == FABRIC_LEVEL_NONE)
			return false;
	}
	return true;
}

static void place_rows(const struct fabric *fabric, const uint8_t *level, struct drawing *drawing)
{
	uint32_t count[LEVEL_MAX + 1] = { 0 };
	uint32_t next[LEVEL_MAX + 1] = { 0 };
	uint32_t longest = 1, top = 0;

	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		count[level[s]]++;
		longest = count[level[s]] > longest ? count[level[s]] : longest;
		top = level[s] > top ? level[s] : top;
	}
	drawing->width = 2 * MARGIN + (double)longest * STEP_X;
	drawing->height = 2 * MARGIN + (double)top * STEP_Y + STEP_Y / 2;
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		const double share = (double)longest * STEP_X / count[level[s]];

		drawing->at[s] = (struct point){
			.x = MARGIN + share * (next[level[s]]++ + 0.5),
			.y = MARGIN + (double)(top - level[s]) * STEP_Y,
		};
	}
}

static int place_levels(const struct fabric *fabric, const struct fabric_graph *graph,
			struct drawing *drawing)
{
	uint8_t *level = calloc(fabric->switch_count, sizeof(*level));
	uint32_t *queue = calloc(fabric->switch_count, sizeof(*queue));
	const int rc = level == NULL || queue == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		find_levels(fabric, graph, level, queue);
		for (uint32_t s = 0; s < fabric->switch_count && has_levels(fabric); s++)
			level[s] = fabric->switches[s].level;
		place_rows(fabric, level, drawing);
	}
	free(level);
	free(queue);
	return rc;
}

// --- grid and circle --------------------------------------------------------------------------

static bool has_places(const struct fabric *fabric)
{
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		if (!fabric->switches[s].has_place)
			return false;
	}
	return fabric->dim_count > 0;
}

// Extent of the grid that dimensions below `end` of one direction (0: across, 1: down) take.
static double extent(const struct fabric *fabric, uint32_t direction, uint32_t end)
{
	double pixels = 0;

	for (uint32_t d = direction; d < end && d < fabric->dim_count; d += 2)
		pixels = d < 2 ? (double)fabric->dims[d] * STEP_GRID :
				 fabric->dims[d] * (pixels + GAP_GRID);
	return pixels > 0 ? pixels : STEP_GRID;
}

static double along(const struct fabric *fabric, const uint16_t *place, uint32_t direction)
{
	double pixels = STEP_GRID / 2.0;

	for (uint32_t d = direction; d < fabric->dim_count; d += 2)
		pixels += place[d] *
			  (d < 2 ? (double)STEP_GRID : extent(fabric, direction, d) + GAP_GRID);
	return pixels;
}

static void place_grid(const struct fabric *fabric, struct drawing *drawing)
{
	drawing->width = 2 * MARGIN + extent(fabric, 0, FABRIC_DIMS_MAX);
	drawing->height = 2 * MARGIN + extent(fabric, 1, FABRIC_DIMS_MAX);
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		const uint16_t *place = fabric->switches[s].place;

		drawing->at[s] = (struct point){
			.x = MARGIN + along(fabric, place, 0),
			.y = MARGIN + along(fabric, place, 1),
		};
	}
}

static void place_circle(const struct fabric *fabric, struct drawing *drawing)
{
	const double turn = 2 * M_PI / fabric->switch_count;
	const double radius = fmax(STEP_Y, STEP_X / turn);

	drawing->width = 2 * (MARGIN + radius);
	drawing->height = drawing->width + STEP_Y / 2.0;
	for (uint32_t s = 0; s < fabric->switch_count; s++)
		drawing->at[s] = (struct point){
			.x = MARGIN + radius * (1 + sin(turn * s)),
			.y = MARGIN + radius * (1 - cos(turn * s)),
		};
}

// What is not told to be a tree is drawn as one when some switches have no hosts.
static enum draw_shape shape_of(const struct fabric *fabric, const struct fabric_graph *graph)
{
	if (has_places(fabric))
		return DRAW_GRID;
	if (fabric->kind == FABRIC_TREE || has_levels(fabric) ||
	    graph->topo.edge_count < fabric->switch_count)
		return DRAW_LEVELS;
	return DRAW_CIRCLE;
}

int draw_place(const struct fabric *fabric, const struct fabric_graph *graph,
	       struct drawing *drawing)
{
	int rc = 0;

	*drawing = (struct drawing){
		.shape = shape_of(fabric, graph),
		.at = calloc(fabric->switch_count, sizeof(*drawing->at)),
	};
	if (drawing->at == NULL)
		return -ENOMEM;
	switch (drawing->shape) {
	case DRAW_LEVELS: rc = place_levels(fabric, graph, drawing); break;
	case DRAW_GRID: place_grid(fabric, drawing); break;
	case DRAW_CIRCLE: place_circle(fabric, drawing); break;
	}
	if (rc == 0)
		return 0;
	free(drawing->at);
	return rc;
}
