// SPDX-License-Identifier: BSD-3-Clause
//
// How evenly the Torus engine loads links when every ordered pair of hosts sends one unit. With h
// hosts on each of S switches, N = hS: the N^2 pairs go E hops in a dimension on average over all
// displacements, over as many directed links as it has. In a ring of even n, E is n/4 over 2S links
// (h N n / 8 on each), of odd n (n^2 - 1) / 4n (h N (n^2 - 1) / 8n); over one cable of two S links
// and E = 1/2 (h N / 2).

#include "routing/balance.h"

#include <math.h>

#include "tests/rig/torus.h"
#include "tests/table.h"

static struct balance_report measure(struct torus_bench *b)
{
	struct balance_report report;
	double *load = arena_take(&b->g.keep, b->g.topo.link_count, sizeof(*load));

	cr_assert_not_null(load);
	torus_bench_plan(b);
	cr_assert_eq(balance_all_pairs(&b->g.topo, &b->g.state, &b->plan, &b->g.scratch, load,
				       &report),
		     0);
	return report;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * b;
}

static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[3];
	uint32_t hosts;
	double load[3]; // the most that a tier of one dimension carries
} even_rows[] = {
	{ "8x8", 2, { 8, 8 }, 4, { 4 * 256 * 8 / 8, 4 * 256 * 8 / 8 } },
	{ "16x16", 2, { 16, 16 }, 4, { 4 * 1024 * 16 / 8, 4 * 1024 * 16 / 8 } },
	{ "4x4x4", 3, { 4, 4, 4 }, 4, { 512, 512, 512 } },
	{ "8x8x8", 3, { 8, 8, 8 }, 4, { 8192, 8192, 8192 } },
	{ "10x10x10", 3, { 10, 10, 10 }, 4, { 20000, 20000, 20000 } },
	{ "6x6x6", 3, { 6, 6, 6 }, 1, { 162, 162, 162 } },
	{ "odd rings and a cable",
	  3,
	  { 5, 2, 7 },
	  2,
	  { 2 * 140 * 24 / 40.0, 140, 2 * 140 * 48 / 56.0 } },
};

TABLE_TEST(torus_load, even, row, even_rows)
{
	struct balance_report report;
	struct torus_bench b;

	torus_bench_make(&b, row->dim_count, row->dims, NULL, row->hosts);
	report = measure(&b);
	for (uint32_t d = 0; d < row->dim_count; d++) {
		cr_assert(near(report.tier[d].max, row->load[d]), "dimension %u: %f, not %f", d,
			  report.tier[d].max, row->load[d]);
		cr_assert(near(report.tier[d].avg, row->load[d]));
	}
	graph_free(&b.g);
}

// The load of a link that a ring of 8 has lost goes to those that are left: of its places, i + 1 on
// one side of a cable send to 7 - i on the other, h^2 units from each source to each of the S / 8
// switches behind a place.
Test(torus_load, broken_ring)
{
	struct balance_report report;
	struct torus_bench b;

	torus_bench_make(&b, 2, (const uint32_t[]){ 8, 8 }, NULL, 4);
	graph_cut(&b.g, torus_bench_at(&b, 0, 0, 0), torus_bench_at(&b, 1, 0, 0), 0);
	report = measure(&b);
	cr_assert(near(report.all.max, 4 * 4 * 4 * 4 * 8.0), "%f", report.all.max);
	cr_assert(near(report.tier[1].max, 1024), "%f", report.tier[1].max);
	graph_free(&b.g);
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t shift[3][GRAPH_DIMS_MAX];
	double gain;  // over the same lengths without a shift, at least
	double bound; // and at most: all links full on shortest paths
} twisted_rows[] = {
	{ "4x4x8", { 4, 4, 8 }, { { 0, 0, 4 }, { 0, 0, 4 } }, 1.71, 2 * 3 / (55 / 16.0) },
	{ "4x8x8", { 4, 8, 8 }, { { 0, 4, 4 } }, 1.36, 2 * 3 / (69 / 16.0) },
};

// What hosts may send before the most loaded link is full goes by the inverse of its load.
TABLE_TEST(torus_load, twisted, row, twisted_rows)
{
	double most[2];

	for (uint32_t twist = 0; twist < 2; twist++) {
		struct torus_bench b;

		torus_bench_make(&b, 3, row->dims,
				 twist ? (uint32_t(*)[GRAPH_DIMS_MAX])row->shift : NULL, 2);
		most[twist] = measure(&b).all.max;
		graph_free(&b.g);
	}
	cr_assert(near(most[0], 2 * 2 * row->dims[0] * row->dims[1] * row->dims[2]));
	cr_assert_geq(most[0] / most[1], row->gain, "%f", most[0] / most[1]);
	cr_assert_leq(most[0] / most[1], row->bound);
}

// Lanes and loads of an import are those of the fabric that it was.
Test(torus_load, found_coordinates)
{
	struct balance_report report;
	struct torus_bench b;
	struct graph g;
	struct rng rng;

	rng_seed(&rng, 5);
	graph_torus(&g, 3, (const uint32_t[]){ 4, 8, 4 }, NULL, 2);
	torus_bench_import(&b, &g, &rng);
	report = measure(&b);
	cr_assert_eq(b.plan.turns.lane_count, 2);
	for (uint32_t d = 0; d < 3; d++)
		cr_assert(near(report.tier[d].max, 2 * 256 * b.shape.dims[d] / 8.0));
	graph_free(&b.g);
	graph_free(&g);
}
