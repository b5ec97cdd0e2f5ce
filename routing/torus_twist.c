// SPDX-License-Identifier: BSD-3-Clause
//
// Distances of displacements, first over all dimensions, then without the first one, and so on: the
// last of these that is still minimal says where a packet turns.

#include "routing/torus_twist.h"

#include <errno.h>
#include <string.h>

void torus_step(const struct torus_shape *shape, const uint16_t *place, uint32_t dim, bool minus,
		uint16_t *next)
{
	const uint32_t n = shape->dims[dim];
	const bool closes = place[dim] == (minus ? 0 : n - 1);

	for (uint32_t e = 0; e < TORUS_DIMS_MAX; e++) {
		const uint32_t shift = closes && e < shape->dim_count ? shape->shift[dim][e] : 0;
		const uint32_t moved = minus ? place[e] + shape->dims[e] - shift : place[e] + shift;

		next[e] = shift == 0 ? place[e] : (uint16_t)(moved % shape->dims[e]);
	}
	next[dim] = (uint16_t)((place[dim] + (minus ? n - 1 : 1)) % n);
}

static uint32_t grid_index(const struct torus *torus, const uint16_t *place)
{
	uint32_t index = 0;

	for (uint32_t d = 0; d < torus->shape.dim_count; d++)
		index += place[d] * torus->stride[d];
	return index;
}

static void grid_place(const struct torus *torus, uint32_t index, uint16_t *place)
{
	for (uint32_t d = 0; d < TORUS_DIMS_MAX; d++)
		place[d] = 0;
	for (uint32_t d = 0; d < torus->shape.dim_count; d++)
		place[d] = (uint16_t)(index / torus->stride[d] % torus->shape.dims[d]);
}

// One step of a displacement.
static uint32_t step_index(const struct torus *torus, uint32_t index, uint32_t dim, bool minus)
{
	uint16_t place[TORUS_DIMS_MAX];
	uint16_t next[TORUS_DIMS_MAX];

	grid_place(torus, index, place);
	torus_step(&torus->shape, place, dim, minus, next);
	return grid_index(torus, next);
}

// Steps from the origin to each displacement in dimensions `first` and later.
static void find_distances(const struct torus *torus, uint32_t first, uint32_t *queue,
			   uint32_t *distance)
{
	const uint32_t ways = 2 * (torus->shape.dim_count - first);
	uint32_t tail = 0;

	memset(distance, 0xff, torus->grid_count * sizeof(*distance));
	distance[0] = 0;
	queue[tail++] = 0;
	for (uint32_t i = 0; i < tail * ways; i++) {
		const uint32_t index = queue[i / ways];
		const uint32_t next = step_index(torus, index, first + i % ways / 2, i % 2 != 0);

		if (distance[next] != UINT32_MAX)
			continue;
		distance[next] = distance[index] + 1;
		queue[tail++] = next;
	}
}

// For displacements that are as near in dimensions `dim` and later as they ever are: the steps that
// come nearer. Later dimensions overwrite.
static void find_steps(struct torus_rows *rows, uint32_t dim, const uint32_t *least,
		       const uint32_t *distance)
{
	const struct torus *torus = rows->torus;

	for (uint32_t index = 1; index < torus->grid_count; index++) {
		unsigned directions = 0;

		if (distance[index] != least[index])
			continue;
		// What is left after a step in the + direction is one step less of it.
		if (distance[step_index(torus, index, dim, true)] < distance[index])
			directions |= TORUS_PLUS;
		if (distance[step_index(torus, index, dim, false)] < distance[index])
			directions |= TORUS_BACK;
		rows->relative[index] = (uint16_t)(dim * 4 + directions);
	}
}

int torus_twist_make(struct torus_rows *rows, struct arena *scratch)
{
	const struct torus *torus = rows->torus;
	const uint32_t count = torus->grid_count;
	uint32_t *queue, *least, *distance;
	size_t mark;

	rows->relative = arena_take(scratch, count, sizeof(*rows->relative));
	mark = arena_mark(scratch);
	queue = arena_take_raw(scratch, count, sizeof(*queue));
	least = arena_take_raw(scratch, count, sizeof(*least));
	distance = arena_take_raw(scratch, count, sizeof(*distance));
	if (rows->relative == NULL || queue == NULL || least == NULL || distance == NULL) {
		arena_release(scratch, mark);
		return -ENOMEM;
	}
	find_distances(torus, 0, queue, least);
	for (uint32_t d = 0; d < torus->shape.dim_count; d++) {
		find_distances(torus, d, queue, distance);
		find_steps(rows, d, least, distance);
	}
	arena_release(scratch, mark);
	// Whether a step is lost shows when rows are written.
	rows->blocked = true;
	return 0;
}

// The displacement between two places, shifts undone first.
static uint32_t displacement(const struct torus *torus, const uint16_t *from, const uint16_t *to)
{
	const struct torus_shape *shape = &torus->shape;
	uint32_t moved[TORUS_DIMS_MAX];
	uint32_t index = 0;

	for (uint32_t d = 0; d < shape->dim_count; d++)
		moved[d] = to[d] + shape->dims[d] - from[d];
	for (uint32_t d = 0; d < shape->dim_count; d++) {
		// n steps less in d, that is once less around, are a shift.
		const bool around = to[d] < from[d];

		for (uint32_t e = 0; around && e < shape->dim_count; e++)
			moved[e] += shape->dims[e] - shape->shift[d][e];
	}
	for (uint32_t d = 0; d < shape->dim_count; d++)
		index += moved[d] % shape->dims[d] * torus->stride[d];
	return index;
}

int torus_twist_fill(struct torus_rows *rows, uint32_t to, uint16_t *row)
{
	const struct torus *torus = rows->torus;

	for (uint32_t s = 0; s < torus->topo->switch_count; s++) {
		const uint32_t between = displacement(torus, torus->shape.place[s],
						      torus->shape.place[to]);
		const unsigned steps = rows->relative[between];
		const int rc = torus_rows_group(
			rows, s, steps / 4, steps % 4 & torus_live(rows, s, steps / 4), &row[s]);

		if (rc != 0)
			return rc;
	}
	row[to] = PLAN_LOCAL;
	return 0;
}
