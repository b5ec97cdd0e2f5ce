// SPDX-License-Identifier: BSD-3-Clause
//
// The Torus engine against arithmetic and the verifier. In a ring of n places the way is n/4 on
// average when n is even and (n^2 - 1) / 4n when it is odd, n/2 at most; on a line of n it is
// (n^2 - 1) / 3n and n - 1.

#include "tests/rig/torus.h"

#include <math.h>

#include "tests/table.h"

static double ring_hops(uint32_t n)
{
	return n < TORUS_RING_MIN ? (n - 1) / 2.0 : n % 2 == 0 ? n / 4.0 : (n * n - 1) / (4.0 * n);
}

static double line_hops(uint32_t n)
{
	return (n * n - 1) / (3.0 * n);
}

static void check_hops(const struct torus_bench *b, double average_of_switches)
{
	const double hosts = b->g.topo.host_count;
	const double want = average_of_switches * hosts / (hosts - 1);

	cr_assert_lt(fabs(b->report.hops_avg - want), 1e-9, "%f, not %f", b->report.hops_avg, want);
}

static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[TORUS_DIMS_MAX];
	uint32_t lanes;
	uint32_t hops_max;
} full_rows[] = {
	{ "8x8", 2, { 8, 8 }, 2, 8 },
	{ "4x4x4", 3, { 4, 4, 4 }, 2, 6 },
	{ "8x8x8", 3, { 8, 8, 8 }, 2, 12 },
	{ "odd rings", 3, { 3, 5, 7 }, 2, 6 },
	{ "one ring", 1, { 9 }, 2, 4 },
	{ "a ring of meshes needs two lanes", 3, { 2, 1, 6 }, 2, 4 },
	{ "a hypercube needs one", 6, { 2, 2, 2, 2, 2, 2 }, 1, 6 },
	{ "six dimensions", 6, { 3, 2, 4, 2, 3, 2 }, 2, 7 },
	{ "one switch", 1, { 1 }, 1, 0 },
};

TABLE_TEST(torus, full, row, full_rows)
{
	struct torus_bench b;
	double hops = 0;

	torus_bench_make(&b, row->dim_count, row->dims, NULL, 4);
	torus_bench_plan(&b);
	for (uint32_t d = 0; d < row->dim_count; d++)
		hops += ring_hops(row->dims[d]);
	check_hops(&b, hops);
	cr_assert_eq(b.report.hops_max, row->hops_max);
	cr_assert_eq(b.plan.turns.lane_count, row->lanes);
	cr_assert_eq(b.plan.turns.exception_count, 0);
	cr_assert_eq(b.report.unreachable_pairs, 0);
	cr_assert_eq(b.plan.tier_count, row->dim_count);
	graph_free(&b.g);
}

// The same rows without datelines are what every textbook warns of.
Test(torus, one_lane_has_a_cycle)
{
	struct verify_report report;
	struct torus_bench b;

	torus_bench_make(&b, 2, (const uint32_t[]){ 8, 8 }, NULL, 4);
	torus_bench_plan(&b);
	cr_assert_eq(verify_plan(&b.g.topo, &b.g.state, &b.plan, false, &b.g.keep, &b.g.scratch,
				 &report),
		     0);
	cr_assert_eq(report.reachable_pairs, b.report.reachable_pairs);
	cr_assert_not(report.rows_acyclic);
	cr_assert_eq(report.cycle_count, 8, "a cycle of %u", report.cycle_count);
	graph_free(&b.g);
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t dim; // of the ring that is broken
} broken_rows[] = {
	{ "8x8, first dimension", { 8, 8, 1 }, 0 },
	{ "8x8, second", { 8, 8, 1 }, 1 },
	{ "4x4x4, first dimension", { 4, 4, 4 }, 0 },
	{ "4x4x4, last", { 4, 4, 4 }, 2 },
	{ "rings of 5", { 5, 5, 5 }, 1 },
};

// Who corrects dimension d there is at the destination in those before and at home in those after,
// so of all pairs the ring carries its share: one of as many as there are rings of the dimension.
TABLE_TEST(torus, broken_ring_goes_the_long_way, row, broken_rows)
{
	const uint32_t n = row->dims[row->dim];
	struct torus_bench b;

	for (uint32_t p = 0; p < n; p++) {
		uint32_t ends[2], rings;
		uint32_t place[3] = { 0 };

		torus_bench_make(&b, 3, row->dims, NULL, 2);
		rings = b.g.topo.switch_count / n;
		for (uint32_t i = 0; i < 2; i++) {
			place[row->dim] = (p + i) % n;
			ends[i] = torus_bench_at(&b, place[0], place[1], place[2]);
		}
		graph_cut(&b.g, ends[0], ends[1], 0);
		torus_bench_plan(&b);
		check_hops(&b, ring_hops(row->dims[0]) + ring_hops(row->dims[1]) +
				       ring_hops(row->dims[2]) +
				       (line_hops(n) - ring_hops(n)) / rings);
		cr_assert_eq(b.report.hops_max, row->dims[0] / 2 + row->dims[1] / 2 +
							row->dims[2] / 2 - n / 2 + n - 1);
		cr_assert_eq(b.plan.turns.lane_count, 2);
		cr_assert_eq(b.plan.turns.exception_count, 0);
		graph_free(&b.g);
	}
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t lanes;
} dead_rows[] = {
	{ "8x8", { 8, 8, 1 }, 3 },    { "4x4x4", { 4, 4, 4 }, 3 },    { "5x5x5", { 5, 5, 5 }, 3 },
	{ "3x3x3", { 3, 3, 3 }, 3 },  { "2x8x8", { 2, 8, 8 }, 3 },    { "8x2x8", { 8, 2, 8 }, 3 },
	{ "a mesh", { 2, 2, 2 }, 2 }, { "one ring", { 8, 1, 1 }, 2 },
};

static void check_pairs(const struct torus_bench *b, uint64_t switches_lost)
{
	const uint64_t hosts = b->g.topo.host_count;
	const uint64_t left = hosts - switches_lost * topo_edge_hosts(&b->g.topo, 0);

	cr_assert_eq(b->report.reachable_pairs, left * (left - 1));
	cr_assert_eq(b->report.unreachable_pairs, b->report.parted_pairs);
}

TABLE_TEST(torus, any_dead_switch, row, dead_rows)
{
	struct torus_bench b;

	torus_bench_make(&b, 3, row->dims, NULL, 2);
	for (uint32_t s = 0; s < b.g.topo.switch_count; s++) {
		const size_t mark = arena_mark(&b.g.keep);

		b.g.state.switch_lost[s] = 1;
		torus_bench_plan(&b);
		check_pairs(&b, 1);
		cr_assert_eq(b.plan.turns.lane_count, row->lanes);
		b.g.state.switch_lost[s] = 0;
		arena_release(&b.g.keep, mark);
	}
	graph_free(&b.g);
}

// OpenSM refuses these.
Test(torus, two_dead_switches)
{
	struct torus_bench b;

	torus_bench_make(&b, 3, (const uint32_t[]){ 4, 4, 4 }, NULL, 1);
	b.g.state.switch_lost[0] = 1;
	for (uint32_t s = 1; s < b.g.topo.switch_count; s++) {
		const size_t mark = arena_mark(&b.g.keep);

		b.g.state.switch_lost[s] = 1;
		torus_bench_plan(&b);
		check_pairs(&b, 2);
		cr_assert_leq(b.plan.turns.lane_count, 4);
		b.g.state.switch_lost[s] = 0;
		arena_release(&b.g.keep, mark);
	}
	graph_free(&b.g);
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t dim;
} twice_rows[] = {
	{ "8x8, first dimension", { 8, 8, 1 }, 0 },
	{ "8x8, second", { 8, 8, 1 }, 1 },
	{ "4x4x4, first dimension", { 4, 4, 4 }, 0 },
	{ "4x4x4, last", { 4, 4, 4 }, 2 },
};

// A ring in two parts: packets go round by another one and come back.
TABLE_TEST(torus, ring_broken_twice, row, twice_rows)
{
	const uint32_t n = row->dims[row->dim];
	struct torus_bench b;

	torus_bench_make(&b, 3, row->dims, NULL, 2);
	for (uint32_t pair = 0; pair < n * n; pair++) {
		const size_t mark = arena_mark(&b.g.keep);
		const uint32_t step = row->dim == 0 ? 1 : row->dim == 1 ? n : n * n;
		const uint32_t p = pair / n, q = pair % n;

		if (p >= q)
			continue;
		graph_cut(&b.g, p * step, (p + 1) % n * step, 0);
		graph_cut(&b.g, q * step, (q + 1) % n * step, 0);
		torus_bench_plan(&b);
		check_pairs(&b, 0);
		cr_assert_leq(b.plan.turns.lane_count, 4);
		torus_bench_mend(&b);
		arena_release(&b.g.keep, mark);
	}
	graph_free(&b.g);
}

// A mesh has no other way round.
Test(torus, lost_cable_of_a_mesh)
{
	struct torus_bench b;

	torus_bench_make(&b, 3, (const uint32_t[]){ 2, 8, 8 }, NULL, 1);
	graph_cut(&b.g, torus_bench_at(&b, 0, 3, 4), torus_bench_at(&b, 1, 3, 4), 0);
	torus_bench_plan(&b);
	check_pairs(&b, 0);
	cr_assert_leq(b.plan.turns.lane_count, 3);
	graph_free(&b.g);
}

// Two parts that are not connected: each goes on by itself.
Test(torus, islands)
{
	struct torus_bench b;

	torus_bench_make(&b, 2, (const uint32_t[]){ 4, 4 }, NULL, 2);
	for (uint32_t y = 0; y < 4; y++) {
		graph_cut(&b.g, torus_bench_at(&b, 1, y, 0), torus_bench_at(&b, 2, y, 0), 0);
		graph_cut(&b.g, torus_bench_at(&b, 3, y, 0), torus_bench_at(&b, 0, y, 0), 0);
	}
	torus_bench_plan(&b);
	cr_assert_eq(b.report.parted_pairs, 2 * 16 * 16);
	cr_assert_eq(b.report.unreachable_pairs, b.report.parted_pairs);
	cr_assert_eq(b.plan.turns.exception_count, 0);
	graph_free(&b.g);
}

static const struct {
	const char *what;
	uint32_t dims[3];
	uint32_t shift[3][GRAPH_DIMS_MAX];
	uint32_t hops_sum; // of the displacements' lengths, by breadth-first search
} twisted_rows[] = {
	{ "4x4x8", { 4, 4, 8 }, { { 0, 0, 4 }, { 0, 0, 4 } }, 440 },
	{ "4x8x8", { 4, 8, 8 }, { { 0, 4, 4 } }, 1104 },
};

// 55/16 and 69/16 hops on average: the bounds of 1.7455 and 1.39 are 3 x 2 links over these.
TABLE_TEST(torus, twisted, row, twisted_rows)
{
	struct torus_bench b;

	torus_bench_make(&b, 3, row->dims, (uint32_t(*)[GRAPH_DIMS_MAX])row->shift, 2);
	torus_bench_plan(&b);
	check_pairs(&b, 0);
	check_hops(&b, row->hops_sum / (double)b.g.topo.switch_count);
	cr_assert_eq(b.plan.turns.lane_count, 2);
	cr_assert_eq(b.plan.turns.exception_count, 0);
	for (uint32_t s = 0; s < b.g.topo.switch_count; s += 7) {
		const size_t mark = arena_mark(&b.g.keep);

		b.g.state.switch_lost[s] = 1;
		torus_bench_plan(&b);
		check_pairs(&b, 1);
		b.g.state.switch_lost[s] = 0;
		arena_release(&b.g.keep, mark);
	}
	graph_free(&b.g);
}

// Each of 17 cables lost and back in Gray code, so that every state wants other groups.
Test(torus, groups_of_the_past_are_forgotten)
{
	enum { CABLES = 17 };
	uint32_t ends[CABLES][2];
	uint16_t place[2][TORUS_DIMS_MAX] = { { 0 }, { 1 } };
	struct topo_state before;
	struct plan_fault fault;
	struct torus_bench b = { .shape = { .dim_count = 1, .dims = { 2 }, .place = place } };

	for (uint32_t i = 0; i < CABLES; i++) {
		ends[i][0] = 0;
		ends[i][1] = 1;
	}
	graph_cables(&b.g, 2, (const uint32_t(*)[2])ends, CABLES, 2, 1);
	cr_assert(torus_init(&b.g.topo, &b.shape, &b.g.keep, &b.torus, &fault));
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &before), 0);
	torus_bench_plan(&b);
	for (uint32_t i = 1; i <= PLAN_GROUP_MAX; i++) {
		topo_state_copy(&b.g.topo, &b.g.state, &before);
		b.g.state.link_lost[__builtin_ctz(i)] ^= 1;
		cr_assert(torus_replan(&b.torus, &before, &b.g.state, &b.g.scratch, &b.plan,
				       &fault),
			  "fault %d after %u events", fault.kind, i);
	}
	graph_free(&b.g);
}
