// SPDX-License-Identifier: BSD-3-Clause
//
// Coordinates from links alone, and shapes that are refused. What is found need not be what the
// graph was made by, so it is judged by its lengths, by every link being a step (torus_init), and
// by the plan that comes of it.

#include <string.h>

#include "tests/rig/torus.h"
#include "tests/table.h"

static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[TORUS_DIMS_MAX];
	uint32_t found_count;
	uint32_t found[TORUS_DIMS_MAX]; // in rising order
} found_rows[] = {
	{ "8x8", 2, { 8, 8 }, 2, { 8, 8 } },
	{ "rings of 4 are two of 2 each", 3, { 4, 4, 4 }, 3, { 4, 4, 4 } },
	{ "two of 2 are a ring of 4", 3, { 2, 6, 2 }, 2, { 4, 6 } },
	{ "three of 2", 4, { 2, 2, 5, 2 }, 3, { 2, 4, 5 } },
	{ "triangles", 3, { 3, 3, 3 }, 3, { 3, 3, 3 } },
	{ "one of each", 5, { 3, 4, 5, 2, 1 }, 4, { 2, 3, 4, 5 } },
	{ "one ring", 1, { 11 }, 1, { 11 } },
	{ "one cable", 1, { 2 }, 1, { 2 } },
	{ "one switch", 1, { 1 }, 1, { 1 } },
	{ "10x10x10", 3, { 10, 10, 10 }, 3, { 10, 10, 10 } },
};

static void check_dims(const struct torus_shape *shape, uint32_t count, const uint32_t *dims)
{
	uint32_t sorted[TORUS_DIMS_MAX] = { 0 };

	cr_assert_eq(shape->dim_count, count);
	for (uint32_t d = 0; d < count; d++) {
		uint32_t i = d;

		for (; i > 0 && sorted[i - 1] > shape->dims[d]; i--)
			sorted[i] = sorted[i - 1];
		sorted[i] = shape->dims[d];
	}
	for (uint32_t d = 0; d < count; d++)
		cr_assert_eq(sorted[d], dims[d]);
}

// Next hops from the first place to an edge, which are numbered as switches.
static uint32_t hop_count(const struct torus_bench *b, uint32_t edge)
{
	return b->plan.group[plan_rows(&b->plan, edge)[torus_bench_at(b, 0, 0, 0)]].hop_count;
}

// torus_bench_import() has compared each link with the coordinates.
TABLE_TEST(torus_find, full, row, found_rows)
{
	struct graph g;
	struct rng rng;

	graph_torus(&g, row->dim_count, row->dims, NULL, 1);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct torus_bench b;

		rng_seed(&rng, seed);
		torus_bench_import(&b, &g, &rng);
		check_dims(&b.shape, row->found_count, row->found);
		graph_free(&b.g);
	}
	graph_free(&g);
}

// Two cables side by side everywhere: rows hold both, and one that is lost breaks no ring.
Test(torus_find, parallel_cables)
{
	uint32_t ends[4 * 48][2];
	uint32_t count = 0;
	struct torus_bench b;
	struct graph g;

	graph_torus(&g, 2, (const uint32_t[]){ 6, 4 }, NULL, 1);
	for (uint32_t link = 0; link < g.topo.link_count; link++) {
		ends[count][0] = g.topo.link_switch[link];
		ends[count++][1] = topo_far(&g.topo, link);
	}
	graph_cables(&b.g, 24, (const uint32_t(*)[2])ends, count, 24, 1);
	torus_bench_find(&b);
	torus_bench_plan(&b);
	// To a neighbour in the first dimension, and the farthest one, both ways.
	cr_assert_eq(hop_count(&b, torus_bench_at(&b, 1, 0, 0)), 2);
	cr_assert_eq(hop_count(&b, torus_bench_at(&b, 3, 0, 0)), 4);
	graph_cut(&b.g, torus_bench_at(&b, 0, 0, 0), torus_bench_at(&b, 1, 0, 0), 0);
	torus_bench_plan(&b);
	cr_assert_eq(hop_count(&b, torus_bench_at(&b, 1, 0, 0)), 1);
	cr_assert_eq(hop_count(&b, torus_bench_at(&b, 3, 0, 0)), 3);
	cr_assert_eq(b.report.hops_max, 5);
	cr_assert_eq(b.plan.turns.lane_count, 2);
	graph_free(&b.g);
	graph_free(&g);
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t cables;
	uint32_t switches;
} damaged_rows[] = {
	{ "a cable is missing", { 8, 8, 1 }, 1, 0 },
	{ "two cables", { 8, 8, 1 }, 2, 0 },
	{ "a cable of rings of 4", { 4, 4, 4 }, 1, 0 },
	{ "three cables of rings of 4", { 4, 4, 4 }, 3, 0 },
	{ "a switch", { 6, 6, 6 }, 0, 1 },
	{ "a switch of rings of 4", { 4, 4, 4 }, 0, 1 },
	{ "a switch and cables", { 5, 7, 3 }, 2, 1 },
	{ "a mesh", { 8, 8, 1 }, 0, 0 },
};

// Closing cables of 8x8.
static void lose_closing(struct graph *g)
{
	for (uint32_t i = 0; i < 8; i++) {
		graph_cut(g, 7 + 8 * i, 8 * i, 0);
		graph_cut(g, 56 + i, i, 0);
	}
}

static void lose(struct graph *g, struct rng *rng, uint32_t cables, uint32_t switches)
{
	for (uint32_t i = 0; i < cables; i++)
		g->state.link_lost[rng_below(rng, g->topo.link_count)] = 1;
	for (uint32_t i = 0; i < switches; i++)
		g->state.switch_lost[rng_below(rng, g->topo.switch_count)] = 1;
}

// Whatever coordinates are found, the plan must reach everybody.
TABLE_TEST(torus_find, damaged, row, damaged_rows)
{
	struct graph g;
	struct rng rng;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct torus_bench b;

		rng_seed(&rng, seed);
		graph_torus(&g, 3, row->dims, NULL, 1);
		lose(&g, &rng, row->cables, row->switches);
		if (row->cables + row->switches == 0)
			lose_closing(&g);
		torus_bench_import(&b, &g, &rng);
		torus_bench_plan(&b);
		cr_assert_eq(b.report.unreachable_pairs, 0);
		if (row->cables + row->switches == 0)
			cr_assert_eq(b.plan.turns.lane_count, 1, "a mesh needs one lane");
		graph_free(&b.g);
		graph_free(&g);
	}
}

static void not_a_torus(struct graph *g)
{
	struct torus_shape shape;
	struct plan_fault fault;

	cr_assert_not(torus_find(&g->topo, &g->keep, &g->scratch, &shape, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_NOT_A_TORUS);
	cr_assert_lt(fault.at, g->topo.switch_count);
	graph_free(g);
}

Test(torus_find, others_are_refused)
{
	struct graph g;
	struct rng rng;

	graph_fat_tree(&g, 4);
	not_a_torus(&g);
	graph_fat_tree(&g, 16);
	not_a_torus(&g);
	graph_leaf_spine(&g, 6, 3, 1, 1);
	not_a_torus(&g);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		rng_seed(&rng, seed);
		graph_random(&g, &rng, 20, 30);
		not_a_torus(&g);
	}
}

// A ring of 6 with a chord. (From 0 to 3 it would be a mesh of 2x3.)
Test(torus_find, a_cable_too_many)
{
	const uint32_t ends[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 },
				     { 4, 5 }, { 5, 0 }, { 0, 2 } };
	struct graph g;

	graph_cables(&g, 6, ends, TABLE_COUNT(ends), 6, 1);
	not_a_torus(&g);
}

// Given shapes that do not fit 4x4.
static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[2];
	uint32_t shift[2][2];
	enum plan_fault_kind kind;
} shape_rows[] = {
	{ "as it is", 2, { 4, 4 }, { { 0 } }, PLAN_FAULT_NONE },
	{ "no dimension", 0, { 4, 4 }, { { 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "of length 0", 2, { 4, 0 }, { { 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "too short", 2, { 4, 3 }, { { 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "too long: the closing cable is no step",
	  2,
	  { 4, 5 },
	  { { 0 } },
	  PLAN_FAULT_NOT_A_TORUS },
	{ "larger than any grid", 2, { 70000, 70000 }, { { 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "shifted, which it is not", 2, { 4, 4 }, { { 0, 2 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "shifted along itself", 2, { 4, 4 }, { { 2, 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "shifted both ways", 2, { 4, 4 }, { { 0, 2 }, { 2, 0 } }, PLAN_FAULT_NOT_A_TORUS },
	{ "without the second dimension", 1, { 4 }, { { 0 } }, PLAN_FAULT_COORDINATES },
};

TABLE_TEST(torus_shape, checked, row, shape_rows)
{
	struct torus_bench b;
	struct torus_shape shape;
	struct plan_fault fault;

	torus_bench_make(&b, 2, (const uint32_t[]){ 4, 4 }, NULL, 1);
	shape = b.shape;
	shape.dim_count = row->dim_count;
	for (uint32_t d = 0; d < 2; d++) {
		shape.dims[d] = row->dims[d];
		memcpy(shape.shift[d], row->shift[d], sizeof(row->shift[d]));
	}
	cr_assert_eq(torus_init(&b.g.topo, &shape, &b.g.keep, &b.torus, &fault),
		     row->kind == PLAN_FAULT_NONE);
	cr_assert_eq(fault.kind, row->kind);
	graph_free(&b.g);
}
