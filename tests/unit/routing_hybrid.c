// SPDX-License-Identifier: BSD-3-Clause
//
// Torus pods under a tree: each pod has a switch of the tree that its gateways hang on, and two
// spines join those. The verifier says whether everybody is reached without a cycle of lanes.

#include "routing/hybrid.h"

#include <math.h>
#include <stdlib.h>

#include "routing/verify.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { PODS = 3, SPINES = 2, SWITCHES = 256, CABLES = 2048 };

struct bench {
	struct graph g;
	struct hybrid hybrid;
	struct plan plan;
	struct verify_report report;
	uint8_t pod[SWITCHES];
	uint16_t place[SWITCHES][TORUS_DIMS_MAX];
	struct torus_shape shape;
	uint32_t ends[CABLES][2];
	uint32_t count;
};

static void join(struct bench *b, uint32_t a, uint32_t z)
{
	cr_assert_lt(b->count, CABLES);
	b->ends[b->count][0] = a;
	b->ends[b->count++][1] = z;
}

// One pod, and its switch of the tree.
static void make_pod(struct bench *b, const struct topo *torus, uint32_t pod, uint32_t every)
{
	const uint32_t first = pod * torus->switch_count;
	const uint32_t above = PODS * torus->switch_count + pod;

	for (uint32_t link = 0; link < torus->link_count; link++) {
		if (link < torus->link_peer[link])
			join(b, first + torus->link_switch[link], first + topo_far(torus, link));
	}
	for (uint32_t s = 0; s < torus->switch_count; s++) {
		b->pod[first + s] = (uint8_t)(pod + 1);
		b->place[first + s][0] = (uint16_t)(s % b->shape.dims[0]);
		b->place[first + s][1] = (uint16_t)(s / b->shape.dims[0]);
		if (s % every == 0)
			join(b, first + s, above);
	}
	for (uint32_t i = 0; i < SPINES; i++)
		join(b, above, PODS * torus->switch_count + PODS + i);
}

// Pods of dims, then the pods' tree switches, then spines. Every `every`-th switch is a gateway.
static void make(struct bench *b, const uint32_t *dims, uint32_t every)
{
	const uint32_t n = dims[0] * dims[1];
	struct graph torus;

	*b = (struct bench){ .shape = { .dim_count = 2, .place = b->place } };
	b->shape.dims[0] = dims[0];
	b->shape.dims[1] = dims[1];
	graph_torus(&torus, 2, dims, NULL, 1);
	for (uint32_t p = 0; p < PODS; p++)
		make_pod(b, &torus.topo, p, every);
	graph_free(&torus);
	graph_cables(&b->g, PODS * n + PODS + SPINES, (const uint32_t(*)[2])b->ends, b->count,
		     PODS * n, 1);
}

static bool try_plan(struct bench *b, struct plan_fault *fault)
{
	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, &b->plan), 0);
	return hybrid_plan(&b->hybrid, &b->g.state, &b->g.scratch, &b->plan, fault);
}

static void check_plan(struct bench *b)
{
	cr_assert_eq(verify_plan(&b->g.topo, &b->g.state, &b->plan, true, &b->g.keep, &b->g.scratch,
				 &b->report),
		     0);
	cr_assert_eq(b->g.scratch.used, 0);
	cr_assert(verify_good(&b->report));
	cr_assert_eq(b->report.unreachable_pairs, b->report.parted_pairs);
	cr_assert(b->report.rows_acyclic);
	cr_assert(b->report.turns_acyclic);
}

// From a switch to an edge, or to another switch that has none.
static void check_names(const struct bench *b, const struct plan_fault *fault)
{
	const struct topo *topo = &b->g.topo;

	cr_assert(fault->kind == PLAN_FAULT_LANES || fault->kind == PLAN_FAULT_UNREACHABLE,
		  "fault %d", fault->kind);
	cr_assert_lt(fault->at, topo->switch_count);
	if (fault->edge == TOPO_NONE)
		cr_assert_lt(fault->other, topo->switch_count);
	else
		cr_assert_lt(fault->edge, topo->edge_count);
}

static void init(struct bench *b, bool given)
{
	struct plan_fault fault;

	cr_assert(hybrid_init(&b->g.topo, b->pod, given ? &b->shape : NULL, &b->g.keep,
			      &b->g.scratch, &b->hybrid, &fault),
		  "fault %d at %u", fault.kind, fault.at);
}

static const struct {
	const char *what;
	uint32_t dims[2];
	uint32_t every;
	bool given; // coordinates
	uint32_t lanes;
	uint32_t hops_max; // to a gateway, up, up, down, down, and from a gateway
} hybrid_rows[] = {
	{ "all are gateways", { 4, 4 }, 1, true, 2, 4 },
	{ "all, coordinates found", { 5, 4 }, 1, false, 2, 4 },
	{ "one of a pod is a gateway", { 4, 4 }, 16, true, 4, 4 + 4 + 4 },
	{ "a row of gateways", { 8, 4 }, 8, true, 4, 4 + 4 + 4 },
	{ "a column of gateways", { 4, 8 }, 4, false, 4, 2 + 4 + 2 },
	{ "meshes need one lane and one more", { 2, 1 }, 2, true, 2, 1 + 4 + 1 },
};

TABLE_TEST(hybrid, full, row, hybrid_rows)
{
	struct plan_fault fault;
	static struct bench b;

	make(&b, row->dims, row->every);
	init(&b, row->given);
	cr_assert(try_plan(&b, &fault), "fault %d", fault.kind);
	check_plan(&b);
	cr_assert_eq(b.report.unreachable_pairs, 0);
	cr_assert_eq(b.plan.turns.lane_count, row->lanes);
	cr_assert_eq(b.report.hops_max, row->hops_max, "%u", b.report.hops_max);
	graph_free(&b.g);
}

// Any cable and any switch. What is refused must say why.
TABLE_TEST(hybrid, single_failures, row, hybrid_rows)
{
	static struct bench b;
	uint32_t refused = 0;

	make(&b, row->dims, row->every);
	init(&b, row->given);
	for (uint32_t i = 0; i < b.g.topo.link_count + b.g.topo.switch_count; i++) {
		const size_t mark = arena_mark(&b.g.keep);
		uint8_t *lost = i < b.g.topo.link_count ?
					&b.g.state.link_lost[i] :
					&b.g.state.switch_lost[i - b.g.topo.link_count];
		struct plan_fault fault;

		*lost = 1;
		if (try_plan(&b, &fault))
			check_plan(&b);
		else
			check_names(&b, &fault);
		cr_assert(fault.kind == PLAN_FAULT_NONE || fault.kind == PLAN_FAULT_LANES);
		refused += fault.kind != PLAN_FAULT_NONE;
		// A pod with a dead switch needs three lanes, and then has none to come in on.
		if (i < b.g.topo.link_count)
			cr_assert_eq(fault.kind, PLAN_FAULT_NONE, "link %u", i);
		*lost = 0;
		arena_release(&b.g.keep, mark);
	}
	if (row->every == 1)
		cr_assert_eq(refused, 0);
	graph_free(&b.g);
}

// Several at once, which may part pods from each other and from themselves.
SEED_TEST(hybrid, whatever_is_lost, rng, 60)
{
	static struct bench b;

	make(&b, (const uint32_t[]){ 4, 3 }, 1 + rng_below(rng, 4));
	init(&b, true);
	for (uint32_t i = 0; i < 6; i++) {
		struct plan_fault fault;

		if (rng_below(rng, 4) != 0)
			b.g.state.link_lost[rng_below(rng, b.g.topo.link_count)] = 1;
		else
			b.g.state.switch_lost[rng_below(rng, b.g.topo.switch_count)] = 1;
		if (try_plan(&b, &fault))
			check_plan(&b);
		else
			check_names(&b, &fault);
	}
	graph_free(&b.g);
}

// Two planes that only pods join: from one that is in the first alone to one that is in the second
// alone the way is through a pod, which no row leads through.
Test(hybrid, pods_are_not_passed)
{
	const uint32_t ends[][2] = { { 0, 3 }, { 1, 3 }, { 1, 4 }, { 2, 4 } };
	static struct bench b;
	struct plan_fault fault;

	b = (struct bench){ .shape = { .dim_count = 1, .dims = { 1 }, .place = b.place } };
	for (uint8_t p = 0; p < PODS; p++)
		b.pod[p] = p + 1;
	graph_cables(&b.g, 5, ends, 4, PODS, 1);
	init(&b, true);
	cr_assert_not(try_plan(&b, &fault));
	cr_assert_eq(b.g.scratch.used, 0);
	check_names(&b, &fault);
	graph_free(&b.g);
}

Test(hybrid, shapes_that_are_none)
{
	static struct bench b;
	struct plan_fault fault;

	make(&b, (const uint32_t[]){ 4, 4 }, 1);
	b.pod[5] = 2;
	cr_assert_not(
		hybrid_init(&b.g.topo, b.pod, NULL, &b.g.keep, &b.g.scratch, &b.hybrid, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_NOT_A_TORUS);
	b.pod[5] = 1;
	for (uint32_t s = 0; s < b.g.topo.switch_count; s++)
		b.pod[s] = 1;
	cr_assert_not(
		hybrid_init(&b.g.topo, b.pod, NULL, &b.g.keep, &b.g.scratch, &b.hybrid, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_NOT_A_TREE);
	graph_free(&b.g);
}
