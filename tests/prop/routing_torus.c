// SPDX-License-Identifier: BSD-3-Clause
//
// The Torus engine under random events: whatever is lost, a plan is safe and reaches all that is
// connected, or is refused; a plan that was changed event by event is that of the state; and tables
// of different times side by side neither loop nor wait for each other in a circle.

#include <string.h>

#include "tests/rig/torus.h"
#include "tests/table.h"

enum {
	EVENTS = 12,
	LOST_MAX = 5,
	MIXES = 30,
};

static const uint32_t shapes[][3] = {
	{ 8, 8, 1 }, { 4, 4, 4 }, { 5, 3, 4 }, { 2, 4, 3 }, { 2, 2, 2 }, { 12, 1, 1 }, { 6, 6, 2 },
};

static void any_torus(struct torus_bench *b, struct rng *rng)
{
	uint32_t shift[3][GRAPH_DIMS_MAX] = { { 0, 0, 2 }, { 0, 0, 2 } };
	const uint32_t *dims = shapes[rng_below(rng, TABLE_COUNT(shapes))];

	if (rng_below(rng, 4) == 0)
		torus_bench_make(b, 3, (const uint32_t[]){ 4, 3, 6 }, shift, 1);
	else
		torus_bench_make(b, 3, dims, NULL, 1);
}

// Loses something, or gives it back.
static void any_event(struct torus_bench *b, struct rng *rng)
{
	const struct topo *topo = &b->g.topo;

	if (topo->link_count != 0 && rng_below(rng, 4) != 0)
		b->g.state.link_lost[rng_below(rng, topo->link_count)] ^= 1;
	else
		b->g.state.switch_lost[rng_below(rng, topo->switch_count)] ^= 1;
}

static uint32_t lost(const struct torus_bench *b)
{
	uint32_t count = 0;

	for (uint32_t l = 0; l < b->g.topo.link_count; l++)
		count += b->g.state.link_lost[l];
	for (uint32_t s = 0; s < b->g.topo.switch_count; s++)
		count += b->g.state.switch_lost[s];
	return count;
}

SEED_TEST(torus, whatever_is_lost, rng, 60)
{
	struct torus_bench b;

	any_torus(&b, rng);
	for (uint32_t i = 0; i < LOST_MAX; i++) {
		any_event(&b, rng);
		torus_bench_plan(&b);
		cr_assert_eq(b.report.unreachable_pairs, b.report.parted_pairs);
	}
	graph_free(&b.g);
}

static void check_same(const struct torus_bench *b, const struct plan *changed)
{
	const struct turn_rules *x = &b->plan.turns;
	const struct turn_rules *y = &changed->turns;
	const size_t turns = (size_t)x->class_count * x->class_count * LANE_MAX;

	for (uint32_t e = 0; e < b->plan.edge_count; e++) {
		for (uint32_t s = 0; s < b->plan.switch_count; s++)
			cr_assert(plan_same(&b->plan, plan_rows(&b->plan, e)[s], changed,
					    plan_rows(changed, e)[s]),
				  "edge %u at switch %u", e, s);
	}
	cr_assert_eq(x->lane_count, y->lane_count);
	cr_assert_eq(x->class_count, y->class_count);
	cr_assert_eq(memcmp(x->lane, y->lane, turns), 0);
	cr_assert_eq(memcmp(x->link_class, y->link_class, b->g.topo.link_count), 0);
	cr_assert_eq(x->exception_count, y->exception_count);
	for (uint32_t i = 0; i < x->exception_count; i++) {
		cr_assert_eq(x->exception[i].in, y->exception[i].in);
		cr_assert_eq(x->exception[i].out, y->exception[i].out);
		cr_assert_eq(x->exception[i].lane, y->exception[i].lane);
		cr_assert_eq(x->exception[i].to, y->exception[i].to);
	}
}

SEED_TEST(torus, replan_is_canonical, rng, 60)
{
	struct topo_state before;
	struct plan_fault fault;
	struct torus_bench b;
	struct plan plan;

	any_torus(&b, rng);
	torus_bench_plan(&b);
	plan = b.plan;
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &before), 0);
	for (uint32_t i = 0; i < EVENTS; i++) {
		topo_state_copy(&b.g.topo, &b.g.state, &before);
		do {
			topo_state_copy(&b.g.topo, &before, &b.g.state);
			any_event(&b, rng);
		} while (lost(&b) > LOST_MAX);
		cr_assert(torus_replan(&b.torus, &before, &b.g.state, &b.g.scratch, &plan, &fault),
			  "fault %d", fault.kind);
		cr_assert_eq(b.g.scratch.used, 0);
		torus_bench_plan(&b);
		check_same(&b, &plan);
	}
	graph_free(&b.g);
}

// Each switch has its table of before or of after.
static void mix(const struct torus_bench *b, struct rng *rng, const struct plan *before,
		const struct plan *after, struct plan *mixed)
{
	for (uint32_t s = 0; s < b->g.topo.switch_count; s++) {
		const struct plan *from = rng_below(rng, 2) == 0 ? before : after;

		for (uint32_t e = 0; e < b->g.topo.edge_count; e++)
			plan_rows(mixed, e)[s] = plan_rows(from, e)[s];
	}
}

static struct verify_report look(struct torus_bench *b, const struct plan *plan, bool with_turns)
{
	struct verify_report report;

	cr_assert_eq(verify_plan(&b->g.topo, &b->g.state, plan, with_turns, &b->g.keep,
				 &b->g.scratch, &report),
		     0);
	return report;
}

// Packets that meet a denied turn or the lost cable are dropped; the next table takes them. Without
// rules of turns, most mixes would loop.
SEED_TEST(torus, any_mix_of_tables_is_safe, rng, 8)
{
	struct plan_fault fault;
	struct topo_state before;
	struct torus_bench b;
	struct plan changed, mixed;
	uint32_t loops = 0;

	torus_bench_make(&b, 2, (const uint32_t[]){ 8, 8 }, NULL, 1);
	torus_bench_plan(&b);
	cr_assert_eq(topo_state_init(&b.g.topo, &b.g.keep, &before), 0);
	b.g.state.link_lost[rng_below(rng, b.g.topo.link_count)] = 1;
	cr_assert_eq(plan_copy(&b.g.topo, &b.plan, &b.g.keep, &changed), 0);
	cr_assert(torus_replan(&b.torus, &before, &b.g.state, &b.g.scratch, &changed, &fault));
	cr_assert_eq(plan_copy(&b.g.topo, &changed, &b.g.keep, &mixed), 0);
	for (uint32_t i = 0; i < MIXES; i++) {
		struct verify_report report;

		mix(&b, rng, &b.plan, &changed, &mixed);
		report = look(&b, &mixed, true);
		cr_assert_eq(report.loops, 0);
		cr_assert(report.rows_acyclic);
		cr_assert(report.turns_acyclic);
		loops += look(&b, &mixed, false).loops != 0;
	}
	cr_assert_gt(loops, MIXES / 2, "only %u of %u mixes loop", loops, MIXES);
	graph_free(&b.g);
}
