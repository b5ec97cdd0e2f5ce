// SPDX-License-Identifier: BSD-3-Clause
//
// Counting paths by following rows, one at a time and to the end: slow, but with nothing in it that
// could be wrong in the same way as an engine. What fails here is what the test is about, so it
// says where.

#include "tests/rig/follow.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "routing/fold.h"
#include "routing/verify.h"

struct hops {
	const struct plan_hop *hop;
	uint32_t count;
	double weight; // sum
};

static struct hops hops_of(const struct plan *plan, uint16_t row)
{
	struct hops hops = { 0 };

	if (!plan_is_group(row))
		return hops;
	hops.hop = plan->hop + plan->group[row].first;
	hops.count = plan->group[row].hop_count;
	for (uint32_t i = 0; i < hops.count; i++)
		hops.weight += hops.hop[i].weight;
	return hops;
}

static void send(const struct topo *topo, const struct plan *plan, uint32_t at, uint32_t edge,
		 double units, double *load)
{
	const struct hops hops = hops_of(plan, plan_rows(plan, edge)[at]);

	cr_assert(hops.count > 0 || at == topo->edge_switch[edge], "switch %u, edge %u", at, edge);
	for (uint32_t i = 0; i < hops.count; i++) {
		const uint32_t link = topo->link_first[at] + hops.hop[i].link;
		const double part = units * hops.hop[i].weight / hops.weight;

		load[link] += part;
		send(topo, plan, topo_far(topo, link), edge, part, load);
	}
}

void follow_load(const struct topo *topo, const struct plan *plan, double *load)
{
	memset(load, 0, topo->link_count * sizeof(*load));
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		for (uint32_t from = 0; from < topo->edge_count; from++) {
			const double units = (double)topo_edge_hosts(topo, from) *
					     (double)topo_edge_hosts(topo, e);

			send(topo, plan, topo->edge_switch[from], e, units, load);
		}
	}
}

double follow_tier_max(const struct topo *topo, const struct plan *plan, const double *load,
		       uint32_t tier)
{
	double most = 0;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		if (plan->link_tier[link] == tier && load[link] > most)
			most = load[link];
	}
	return most;
}

uint64_t follow_hash(uint64_t hash, uint32_t link)
{
	return fold_multiply(hash ^ FOLD_A, link ^ FOLD_B);
}

static void follow(const struct topo *topo, const struct plan *plan, uint32_t at, uint32_t edge,
		   uint32_t length, uint64_t hash, struct follow_paths *paths)
{
	const struct hops hops = hops_of(plan, plan_rows(plan, edge)[at]);

	cr_assert_lt(length, topo->switch_count, "a loop towards edge %u", edge);
	if (at == topo->edge_switch[edge]) {
		paths->count++;
		paths->hash += hash;
		if (length > paths->longest)
			paths->longest = length;
		return;
	}
	for (uint32_t i = 0; i < hops.count; i++) {
		const uint32_t link = topo->link_first[at] + hops.hop[i].link;

		follow(topo, plan, topo_far(topo, link), edge, length + 1, follow_hash(hash, link),
		       paths);
	}
}

struct follow_paths follow_paths(const struct topo *topo, const struct plan *plan, uint32_t from,
				 uint32_t edge)
{
	struct follow_paths paths = { 0 };

	follow(topo, plan, from, edge, 0, 0, &paths);
	return paths;
}

void follow_prove(struct graph *g, const struct plan *plan)
{
	struct verify_report report;

	cr_assert_eq(verify_plan(&g->topo, &g->state, plan, true, &g->keep, &g->scratch, &report),
		     0);
	cr_assert(verify_good(&report));
	cr_assert(report.rows_acyclic);
	cr_assert(report.turns_acyclic);
	cr_assert_leq(report.lanes, 1);
}

void follow_assert_same(const struct topo *topo, const struct plan *a, const struct plan *b)
{
	const struct turn_rules *x = &a->turns;
	const struct turn_rules *y = &b->turns;

	for (uint32_t e = 0; e < topo->edge_count; e++) {
		for (uint32_t s = 0; s < topo->switch_count; s++)
			cr_assert(plan_same(a, plan_rows(a, e)[s], b, plan_rows(b, e)[s]),
				  "switch %u, edge %u", s, e);
	}
	cr_assert_eq(x->lane_count, y->lane_count);
	cr_assert_eq(x->class_count, y->class_count);
	cr_assert_eq(x->exception_count, y->exception_count);
	cr_assert_arr_eq(x->link_class, y->link_class, topo->link_count);
	cr_assert_arr_eq(x->lane, y->lane, (size_t)x->class_count * x->class_count * LANE_MAX);
}
