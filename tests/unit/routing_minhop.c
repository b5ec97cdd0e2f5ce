// SPDX-License-Identifier: BSD-3-Clause
//
// Min-hop with lanes on graphs that have a name, and on random ones. That paths are shortest, and
// that no fewer lanes would do, is found by going along every shortest path.

#include "routing/minhop.h"

#include <math.h>
#include <stdlib.h>

#include "routing/verify.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { SWITCHES = 128, CABLES = 2048 };

struct cables {
	uint32_t ends[CABLES][2];
	uint32_t count;
};

static void join(struct cables *cables, uint32_t a, uint32_t b)
{
	cr_assert_lt(cables->count, CABLES);
	cables->ends[cables->count][0] = a;
	cables->ends[cables->count++][1] = b;
}

// A pentagon, a star in it, and spokes.
static uint32_t petersen(struct cables *cables)
{
	for (uint32_t i = 0; i < 5; i++) {
		join(cables, i, (i + 1) % 5);
		join(cables, i, 5 + i);
		join(cables, 5 + i, 5 + (i + 2) % 5);
	}
	return 10;
}

static uint32_t hypercube(struct cables *cables)
{
	for (uint32_t i = 0; i < 64 * 6; i++) {
		const uint32_t s = i / 6;
		const uint32_t bit = 1u << i % 6;

		if ((s & bit) == 0)
			join(cables, s, s | bit);
	}
	return 64;
}

// Nine groups of four switches that are all joined, each pair of groups by one cable; a switch has
// two of its group's.
static uint32_t dragonfly(struct cables *cables)
{
	for (uint32_t s = 0; s < 36; s++) {
		for (uint32_t other = s + 1; other / 4 == s / 4; other++)
			join(cables, s, other);
	}
	for (uint32_t g = 0; g < 9; g++) {
		for (uint32_t h = g + 1; h < 9; h++)
			join(cables, 4 * g + (h - g - 1) / 2, 4 * h + (9 - h + g - 1) / 2);
	}
	return 36;
}

static uint32_t ring(struct cables *cables)
{
	for (uint32_t s = 0; s < 9; s++)
		join(cables, s, (s + 1) % 9);
	return 9;
}

static uint32_t clique(struct cables *cables)
{
	for (uint32_t s = 0; s < 12; s++) {
		for (uint32_t other = s + 1; other < 12; other++)
			join(cables, s, other);
	}
	return 12;
}

struct bench {
	struct graph g;
	struct minhop minhop;
	struct plan plan;
	struct verify_report report;
	uint32_t distance[SWITCHES];
};

static void plan_from(struct bench *b, const uint32_t *roots, uint32_t root_count)
{
	struct plan_fault fault;

	cr_assert(minhop_init(&b->g.topo, roots, root_count, &b->g.keep, &b->g.scratch, &b->minhop,
			      &fault));
	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, &b->plan), 0);
	cr_assert(minhop_plan(&b->minhop, &b->g.state, &b->g.scratch, &b->plan, &fault),
		  "fault %d from %u to edge %u", fault.kind, fault.at, fault.edge);
	cr_assert_eq(verify_plan(&b->g.topo, &b->g.state, &b->plan, true, &b->g.keep, &b->g.scratch,
				 &b->report),
		     0);
	cr_assert_eq(b->g.scratch.used, 0);
	cr_assert(verify_good(&b->report));
	cr_assert_eq(b->report.unreachable_pairs, b->report.parted_pairs);
}

static void plan(struct bench *b)
{
	plan_from(b, NULL, 0);
}

static bool relax(struct bench *b, uint32_t link)
{
	const uint32_t by = b->distance[topo_far(&b->g.topo, link)] + 1;
	uint32_t *here = &b->distance[b->g.topo.link_switch[link]];

	if (!topo_link_up(&b->g.topo, &b->g.state, link) || by >= *here)
		return false;
	*here = by;
	return true;
}

// Distances to a switch, by relaxing every link until nothing changes.
static void find_distances(struct bench *b, uint32_t to)
{
	bool changed = true;

	for (uint32_t s = 0; s < SWITCHES; s++)
		b->distance[s] = s == to ? 0 : SWITCHES;
	while (changed) {
		changed = false;
		for (uint32_t link = 0; link < b->g.topo.link_count; link++)
			changed |= relax(b, link);
	}
}

// The bounces of the best shortest path.
static uint32_t bounces(const struct bench *b, uint32_t at, bool down)
{
	const struct topo *topo = &b->g.topo;
	uint32_t least = b->distance[at] == 0 ? 0 : UINT32_MAX;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);
		const bool up = b->minhop.above[far] < b->minhop.above[at];
		uint32_t count;

		if (b->distance[far] >= b->distance[at] || !topo_link_up(topo, &b->g.state, link))
			continue;
		count = (down && up) + bounces(b, far, !up);
		least = count < least ? count : least;
	}
	return least;
}

// Average distance of different switches with one host each, and the lanes that it takes.
static double by_all_paths(struct bench *b, uint32_t *lanes)
{
	const uint32_t switches = b->g.topo.switch_count;
	uint32_t sum = 0;

	*lanes = 1;
	for (uint32_t to = 0; to < switches; to++) {
		find_distances(b, to);
		for (uint32_t s = 0; s < switches; s++) {
			const bool there = b->distance[s] < SWITCHES;
			const uint32_t count = there ? bounces(b, s, false) : 0;

			sum += there ? b->distance[s] : 0;
			*lanes = count >= *lanes ? count + 1 : *lanes;
		}
	}
	return sum / ((double)switches * (switches - 1));
}

static const struct {
	const char *what;
	uint32_t (*make)(struct cables *cables);
	double hops; // 0: no formula
} named_rows[] = {
	{ "Petersen: 3 neighbours, 6 at distance 2", petersen, (3 + 2 * 6) / 9.0 },
	{ "hypercube: half of 6 bits, without itself", hypercube, 3 * 64 / 63.0 },
	// Of a switch 3 are in its group; of 32 others 2 are behind its own cables, 12 in two hops
	// (6 behind its group, 6 beside the ends of its own cables) and 18 in three; but the second
	// and third of each group come to 2 of these over two cables between groups in a row.
	{ "dragonfly", dragonfly, (3 + 2 + 2 * 12 + 3 * 18 - (0 + 2 + 2 + 0) / 4.0) / 35.0 },
	{ "ring of 9", ring, (9 * 9 - 1) / (4.0 * 9) * 9 / 8 },
	{ "everybody with everybody", clique, 1 },
};

TABLE_TEST(minhop, named, row, named_rows)
{
	struct cables cables = { .count = 0 };
	const uint32_t switches = row->make(&cables);
	struct bench b;
	uint32_t lanes;
	double hops;

	graph_cables(&b.g, switches, (const uint32_t(*)[2])cables.ends, cables.count, switches, 1);
	plan(&b);
	hops = by_all_paths(&b, &lanes);
	cr_assert_lt(fabs(hops - row->hops), 1e-9, "%f", hops);
	cr_assert_lt(fabs(b.report.hops_avg - hops), 1e-9, "%f", b.report.hops_avg);
	cr_assert_eq(b.plan.turns.lane_count, lanes);
	cr_assert_eq(b.report.unreachable_pairs, 0);
	graph_free(&b.g);
}

// On a tree there is one path, and it never bounces; nor does one of a fat-tree.
Test(minhop, trees_need_one_lane)
{
	struct rng rng;
	struct bench b;

	rng_seed(&rng, 1);
	graph_random(&b.g, &rng, 40, 0);
	plan(&b);
	cr_assert_eq(b.plan.turns.lane_count, 1);
	graph_free(&b.g);
	graph_fat_tree(&b.g, 8);
	plan(&b);
	cr_assert_eq(b.report.hops_max, 4);
	cr_assert_eq(b.plan.turns.lane_count, 1);
	graph_free(&b.g);
}

SEED_TEST(minhop, random, rng, 40)
{
	struct bench b;
	uint32_t lanes;

	graph_random(&b.g, rng, 2 + rng_below(rng, 40), rng_below(rng, 60));
	for (uint32_t s = 0; s < b.g.topo.switch_count; s++)
		b.g.state.switch_lost[s] = rng_below(rng, 12) == 0;
	for (uint32_t link = 0; link < b.g.topo.link_count; link++)
		b.g.state.link_lost[link] = rng_below(rng, 20) == 0;
	plan(&b);
	by_all_paths(&b, &lanes);
	// Switches without hosts do not count.
	cr_assert_leq(b.plan.turns.lane_count, lanes);
	graph_free(&b.g);
}

// A chain of `half` upper and as many lower switches in turn, all of them roots: from the first to
// the last upper one there is a bounce at each lower one on the way.
static bool plan_chain(struct bench *b, uint32_t half, struct plan_fault *fault)
{
	const uint32_t roots[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct cables cables = { .count = 0 };

	for (uint32_t i = 0; i < half; i++) {
		join(&cables, i, half + i);
		if (i + 1 < half)
			join(&cables, half + i, i + 1);
	}
	graph_cables(&b->g, 2 * half, (const uint32_t(*)[2])cables.ends, cables.count, 2 * half, 1);
	cr_assert(minhop_init(&b->g.topo, roots, 2 * half, &b->g.keep, &b->g.scratch, &b->minhop,
			      fault));
	cr_assert_eq(plan_init(&b->g.topo, &b->g.keep, &b->plan), 0);
	return minhop_plan(&b->minhop, &b->g.state, &b->g.scratch, &b->plan, fault);
}

Test(minhop, lanes_have_an_end)
{
	struct plan_fault fault;
	struct bench b;

	cr_assert(plan_chain(&b, 4, &fault));
	cr_assert_eq(b.plan.turns.lane_count, 4);
	graph_free(&b.g);
	cr_assert_not(plan_chain(&b, 5, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_LANES);
	cr_assert((fault.at == 0 && fault.edge == 4) || (fault.at == 4 && fault.edge == 0));
	graph_free(&b.g);
}

// The last upper switch of a chain has an edge without hosts, and no lane fewer leads there.
Test(minhop, edges_without_hosts)
{
	static const uint32_t first_host[] = { 0, 1, 1, 1, 1 };
	const uint32_t roots[] = { 0, 1 };
	struct cables cables = { .count = 0 };
	struct bench b;

	join(&cables, 0, 2);
	join(&cables, 2, 1);
	join(&cables, 1, 3);
	graph_cables(&b.g, 4, (const uint32_t(*)[2])cables.ends, cables.count, 4, 1);
	b.g.topo.edge_first_host = first_host;
	b.g.topo.host_count = 1;
	plan_from(&b, roots, 2);
	cr_assert_eq(b.plan.turns.lane_count, 2);
	graph_free(&b.g);
}

// Each of 17 cables lost and back in Gray code, so that every state wants another group.
Test(minhop, groups_of_the_past_are_forgotten)
{
	const uint32_t roots[] = { 0 };
	struct cables cables = { .count = 0 };
	struct plan_fault fault;
	struct bench b;

	for (uint32_t i = 0; i < 17; i++)
		join(&cables, 0, 1);
	graph_cables(&b.g, 2, (const uint32_t(*)[2])cables.ends, cables.count, 2, 1);
	plan_from(&b, roots, 1);
	for (uint32_t i = 1; i <= PLAN_GROUP_MAX; i++) {
		b.g.state.link_lost[__builtin_ctz(i)] ^= 1;
		cr_assert(minhop_plan(&b.minhop, &b.g.state, &b.g.scratch, &b.plan, &fault),
			  "fault %d after %u events", fault.kind, i);
	}
	graph_free(&b.g);
}

Test(minhop, roots)
{
	struct plan_fault fault;
	struct bench b;

	graph_fat_tree(&b.g, 4);
	cr_assert_not(minhop_init(&b.g.topo, (const uint32_t[]){ 3, 20 }, 2, &b.g.keep,
				  &b.g.scratch, &b.minhop, &fault));
	cr_assert_eq(fault.kind, PLAN_FAULT_ROOT);
	cr_assert_eq(fault.at, 20);
	cr_assert(minhop_init(&b.g.topo, (const uint32_t[]){ 19, 7 }, 2, &b.g.keep, &b.g.scratch,
			      &b.minhop, &fault));
	cr_assert_eq(b.minhop.above[7], 0);
	cr_assert_eq(b.minhop.above[19], 1);
	graph_free(&b.g);
}
