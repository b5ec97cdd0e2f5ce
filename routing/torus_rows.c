// SPDX-License-Identifier: BSD-3-Clause
//
// Lines and what they say of rows. A line is a ring whose cables may be lost; a mesh is a ring that
// was born with one lost.

#include "routing/torus_rows.h"

#include <errno.h>
#include <string.h>

#include "routing/share.h"
#include "routing/torus_twist.h"

enum { ROW_UNKNOWN = PLAN_NONE }; // of a group that nobody has asked for

struct line {
	uint32_t dim;
	uint32_t length;
	uint32_t *at;     // [length] switch or TOPO_NONE
	uint32_t *run[2]; // [length] cables that are up in a row in the + and in the - direction
};

static int line_init(const struct torus *torus, struct arena *scratch, struct line *line)
{
	uint32_t longest = 0;

	for (uint32_t d = 0; d < torus->shape.dim_count; d++)
		longest = longest < torus->shape.dims[d] ? torus->shape.dims[d] : longest;
	line->at = arena_take_raw(scratch, longest, sizeof(*line->at));
	line->run[0] = arena_take_raw(scratch, longest, sizeof(*line->run[0]));
	line->run[1] = arena_take_raw(scratch, longest, sizeof(*line->run[1]));
	return line->at != NULL && line->run[0] != NULL && line->run[1] != NULL ? 0 : -ENOMEM;
}

static void line_read(const struct torus_rows *rows, uint32_t dim, uint32_t corner,
		      struct line *line)
{
	const struct torus *torus = rows->torus;
	const uint32_t n = torus->shape.dims[dim];

	line->dim = dim;
	line->length = n;
	for (uint32_t p = 0; p < n; p++) {
		line->at[p] = torus->grid[corner + p * torus->stride[dim]];
		line->run[0][p] = 0;
		line->run[1][p] = 0;
	}
	// Twice around, for runs that pass the end.
	for (uint32_t i = 0; i < 2 * n; i++) {
		const uint32_t back = i % n;
		const uint32_t plus = n - 1 - back;
		const uint32_t runs[2] = { line->run[0][(plus + 1) % n] + 1,
					   line->run[1][(back + n - 1) % n] + 1 };

		if (line->at[plus] != TOPO_NONE &&
		    (torus_live(rows, line->at[plus], dim) & TORUS_PLUS) != 0)
			line->run[0][plus] = runs[0] < n ? runs[0] : n;
		if (line->at[back] != TOPO_NONE &&
		    (torus_live(rows, line->at[back], dim) & TORUS_BACK) != 0)
			line->run[1][back] = runs[1] < n ? runs[1] : n;
	}
}

// Directions from place p to place t of a line: the minimal ones, or the only one that arrives.
// When none arrives, as far as the minimal one goes: from there packets turn early.
static unsigned line_directions(const struct line *line, uint32_t p, uint32_t t)
{
	const uint32_t plus = t > p ? t - p : t + line->length - p;
	const uint32_t back = line->length - plus;
	const bool arrives = line->run[0][p] >= plus;
	const bool arrives_back = line->run[1][p] >= back;
	unsigned directions = 0;

	if (arrives != arrives_back)
		return arrives ? TORUS_PLUS : TORUS_BACK;
	if (plus <= back && line->run[0][p] != 0)
		directions |= TORUS_PLUS;
	if (back <= plus && line->run[1][p] != 0)
		directions |= TORUS_BACK;
	return directions;
}

// Cables that are up, by their weight.
static int make_group(const struct torus_rows *rows, uint32_t at, uint32_t dim, unsigned directions,
		      uint16_t *row)
{
	const struct torus *torus = rows->torus;
	const struct topo *topo = torus->topo;
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count = 0;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const unsigned way = torus->way[link];
		const unsigned direction = (way & TORUS_MINUS) != 0 ? TORUS_BACK : TORUS_PLUS;

		if (way / TORUS_WAYS != dim || (direction & directions) == 0 ||
		    !topo_link_up(topo, rows->state, link))
			continue;
		hops[count++] = (struct plan_hop){ (uint16_t)(link - topo->link_first[at]),
						   topo->link_weight[link] };
	}
	share_reduce(hops, count);
	return plan_group(rows->plan, hops, count, 0, row);
}

int torus_rows_group(struct torus_rows *rows, uint32_t at, uint32_t dim, unsigned directions,
		     uint16_t *row)
{
	const size_t turn = (size_t)at * rows->torus->shape.dim_count + dim;
	uint16_t *known = &rows->group[turn * 4 + directions];
	int rc = 0;

	if (*known == ROW_UNKNOWN && directions != 0)
		rc = make_group(rows, at, dim, directions, known);
	*row = *known;
	return rc;
}

static void find_live(struct torus_rows *rows, uint32_t at)
{
	const struct topo *topo = rows->torus->topo;
	uint16_t live = 0;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const unsigned way = rows->torus->way[link];
		const unsigned bit = way / TORUS_WAYS * 2 + ((way & TORUS_MINUS) != 0);

		if (topo_link_up(topo, rows->state, link))
			live |= (uint16_t)(1u << bit);
	}
	rows->live[at] = live;
}

// What the line says to its switch at place p, for each coordinate that may be wanted.
static int place_rows(struct torus_rows *rows, const struct line *line, uint32_t p)
{
	const uint32_t switches = rows->torus->topo->switch_count;
	const uint32_t at = line->at[p];
	int rc = 0;

	for (uint32_t t = 0; at != TOPO_NONE && rc == 0 && t < line->length; t++) {
		uint16_t *row = &rows->toward[line->dim][(size_t)t * switches + at];
		const unsigned directions = t == p ? 0 : line_directions(line, p, t);

		rc = torus_rows_group(rows, at, line->dim, directions, row);
		rows->blocked |= directions == 0 && t != p && !rows->state->switch_lost[at];
	}
	return rc;
}

// The rows of the line that place `corner` of the grid begins.
static int line_rows(struct torus_rows *rows, uint32_t dim, uint32_t corner, struct line *line)
{
	int rc = 0;

	line_read(rows, dim, corner, line);
	for (uint32_t p = 0; rc == 0 && p < line->length; p++)
		rc = place_rows(rows, line, p);
	return rc;
}

static int all_lines(struct torus_rows *rows, struct arena *scratch)
{
	const struct torus *torus = rows->torus;
	const uint32_t places = torus->grid_count * torus->shape.dim_count;
	const size_t mark = arena_mark(scratch);
	struct line line;
	int rc = line_init(torus, scratch, &line);

	for (uint32_t i = 0; rc == 0 && i < places; i++) {
		const uint32_t d = i / torus->grid_count;
		const uint32_t place = i % torus->grid_count;

		if (place / torus->stride[d] % torus->shape.dims[d] == 0)
			rc = line_rows(rows, d, place, &line);
	}
	arena_release(scratch, mark);
	return rc;
}

static int take(struct torus_rows *rows, struct arena *scratch)
{
	const struct torus *torus = rows->torus;
	const uint32_t switches = torus->topo->switch_count;
	const size_t groups = (size_t)switches * torus->shape.dim_count * 4;

	rows->live = arena_take_raw(scratch, switches, sizeof(*rows->live));
	rows->group = arena_take_raw(scratch, groups, sizeof(*rows->group));
	if (rows->live == NULL || rows->group == NULL)
		return -ENOMEM;
	memset(rows->group, 0xff, groups * sizeof(*rows->group));
	for (uint32_t d = 0; !torus->twisted && d < torus->shape.dim_count; d++) {
		const size_t count = (size_t)torus->shape.dims[d] * switches;

		rows->toward[d] = arena_take_raw(scratch, count, sizeof(*rows->toward[d]));
		if (rows->toward[d] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int torus_rows_init(const struct torus *torus, const struct topo_state *state, struct plan *plan,
		    struct arena *scratch, struct torus_rows *rows)
{
	*rows = (struct torus_rows){ .torus = torus, .state = state, .plan = plan };
	return take(rows, scratch);
}

int torus_rows_make(struct torus_rows *rows, struct arena *scratch)
{
	for (uint32_t s = 0; s < rows->torus->topo->switch_count; s++)
		find_live(rows, s);
	return rows->torus->twisted ? torus_twist_make(rows, scratch) : all_lines(rows, scratch);
}

// The rows of switches that share the destination's first coordinates, a block of the grid.
static void fill_block(const struct torus *torus, const uint16_t *toward, uint32_t count,
		       uint32_t to, uint16_t *row)
{
	const uint32_t *block = torus->grid + to / count * count;

	for (uint32_t i = 0; i < count; i++) {
		if (block[i] != TOPO_NONE)
			row[block[i]] = toward[block[i]];
	}
}

int torus_rows_fill(struct torus_rows *rows, uint32_t edge)
{
	const struct torus *torus = rows->torus;
	const uint32_t switches = torus->topo->switch_count;
	const uint32_t to = torus->topo->edge_switch[edge];
	const uint16_t *place = torus->shape.place[to];
	uint16_t *row = plan_rows(rows->plan, edge);

	if (rows->state->switch_lost[to]) {
		memset(row, 0xff, switches * sizeof(*row));
		return 0;
	}
	if (torus->twisted)
		return torus_twist_fill(rows, to, row);
	memcpy(row, rows->toward[0] + (size_t)place[0] * switches, switches * sizeof(*row));
	for (uint32_t d = 1; d < torus->shape.dim_count; d++)
		fill_block(torus, rows->toward[d] + (size_t)place[d] * switches,
			   torus->stride[d - 1], torus->grid_of[to], row);
	row[to] = PLAN_LOCAL;
	return 0;
}

// Rows of the line's switches for an edge whose switch has the line's first coordinates.
static void patch_edge(const struct torus_rows *rows, const struct line *line, uint32_t edge)
{
	const struct topo *topo = rows->torus->topo;
	const uint32_t wanted = rows->torus->shape.place[topo->edge_switch[edge]][line->dim];
	const uint16_t *toward = rows->toward[line->dim] + (size_t)wanted * topo->switch_count;
	uint16_t *row = plan_rows(rows->plan, edge);

	for (uint32_t p = 0; p < line->length; p++) {
		if (p != wanted && line->at[p] != TOPO_NONE)
			row[line->at[p]] = toward[line->at[p]];
	}
}

int torus_rows_patch(struct torus_rows *rows, uint32_t dim, uint32_t corner, struct arena *scratch)
{
	const struct torus *torus = rows->torus;
	const uint32_t count = torus->stride[dim] * torus->shape.dims[dim];
	const uint32_t first = torus->edge_first[corner / count * count];
	const uint32_t end = torus->edge_first[corner / count * count + count];
	struct line line;
	int rc = line_init(torus, scratch, &line);

	for (uint32_t p = 0; rc == 0 && p < torus->shape.dims[dim]; p++) {
		const uint32_t at = torus->grid[corner + p * torus->stride[dim]];

		if (at != TOPO_NONE)
			find_live(rows, at);
	}
	if (rc == 0)
		rc = line_rows(rows, dim, corner, &line);
	for (uint32_t i = first; rc == 0 && i < end; i++)
		patch_edge(rows, &line, torus->edge_order[i]);
	return rc;
}
