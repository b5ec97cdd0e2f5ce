// SPDX-License-Identifier: BSD-3-Clause
//
// A Torus on a bench. Plans are made in the arena of the graph, and stay there until it is freed,
// so a test that makes very many of them gives the arena back itself.

#include "tests/rig/torus.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void torus_bench_make(struct torus_bench *b, uint32_t dim_count, const uint32_t *dims,
		      uint32_t (*shift)[GRAPH_DIMS_MAX], uint32_t hosts)
{
	struct plan_fault fault;

	graph_torus(&b->g, dim_count, dims, shift, hosts);
	b->shape = (struct torus_shape){
		.dim_count = dim_count,
		.place = arena_take(&b->g.keep, b->g.topo.switch_count, sizeof(*b->shape.place)),
	};
	for (uint32_t d = 0, step = 1; d < dim_count; step *= dims[d], d++) {
		b->shape.dims[d] = dims[d];
		for (uint32_t e = 0; shift != NULL && e < dim_count; e++)
			b->shape.shift[d][e] = shift[d][e];
		for (uint32_t s = 0; s < b->g.topo.switch_count; s++)
			b->shape.place[s][d] = (uint16_t)(s / step % dims[d]);
	}
	cr_assert(torus_init(&b->g.topo, &b->shape, &b->g.keep, &b->torus, &fault),
		  "fault %d at switch %u", fault.kind, fault.at);
}

void torus_bench_import(struct torus_bench *b, const struct graph *from, struct rng *rng)
{
	uint32_t *place = calloc(from->topo.switch_count, sizeof(*place));

	cr_assert_not_null(place);
	graph_shuffle(from, rng, &b->g, place);
	free(place);
	torus_bench_find(b);
}

void torus_bench_find(struct torus_bench *b)
{
	struct plan_fault fault;

	cr_assert(torus_find(&b->g.topo, &b->g.keep, &b->g.scratch, &b->shape, &fault),
		  "fault %d at switch %u", fault.kind, fault.at);
	cr_assert(torus_init(&b->g.topo, &b->shape, &b->g.keep, &b->torus, &fault),
		  "fault %d at switch %u", fault.kind, fault.at);
}

bool torus_bench_try(struct torus_bench *b, struct plan_fault *fault)
{
	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, &b->plan), 0);
	return torus_plan(&b->torus, &b->g.state, &b->g.scratch, &b->plan, fault);
}

void torus_bench_plan(struct torus_bench *b)
{
	struct plan_fault fault;

	cr_assert(torus_bench_try(b, &fault), "fault %d at switch %u, edge %u", fault.kind,
		  fault.at, fault.edge);
	cr_assert_eq(verify_plan(&b->g.topo, &b->g.state, &b->plan, true, &b->g.keep, &b->g.scratch,
				 &b->report),
		     0);
	cr_assert_eq(b->g.scratch.used, 0);
	cr_assert(verify_good(&b->report));
	cr_assert(b->report.rows_acyclic);
	cr_assert(b->report.turns_acyclic);
	cr_assert_leq(b->report.lanes, b->plan.turns.lane_count);
}

uint32_t torus_bench_at(const struct torus_bench *b, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t place[3] = { x, y, z };
	uint32_t index = 0;

	for (uint32_t d = 0; d < b->shape.dim_count; d++)
		index += place[d] * b->torus.stride[d];
	return b->torus.grid[index];
}

void torus_bench_mend(struct torus_bench *b)
{
	memset(b->g.state.link_lost, 0, b->g.topo.link_count);
	memset(b->g.state.switch_lost, 0, b->g.topo.switch_count);
}
