// SPDX-License-Identifier: BSD-3-Clause
//
// Loads against arithmetic: fat-trees and Torus for all pairs, D-mod-K for shifts, and the hash of
// permutations against flows that are followed by hand.

#include "routing/balance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "routing/group.h"
#include "tests/rig/routes.h"
#include "tests/table.h"

static struct balance_report all_pairs(struct graph *g, const struct plan *plan)
{
	double *load = calloc(g->topo.link_count, sizeof(*load));
	struct balance_report report;

	cr_assert_not_null(load);
	cr_assert_eq(balance_all_pairs(&g->topo, &g->state, plan, &g->scratch, load, &report), 0);
	cr_assert_eq(g->scratch.used, 0);
	free(load);
	return report;
}

static void check_tier(const struct balance_tier *tier, double want, uint32_t links)
{
	cr_assert_lt(fabs(tier->max - want), 1e-6, "at most %f, not %f", tier->max, want);
	cr_assert_lt(fabs(tier->avg - want), 1e-6, "%f on average, not %f", tier->avg, want);
	cr_assert_eq(tier->link_count, links);
	cr_assert_eq(tier->capacity, links, "all of weight 1");
}

// Tiers of a fat-tree: 0 leaves, 1 cores.
static void plan_tree(struct graph *g, struct plan *plan, uint32_t k)
{
	graph_fat_tree(g, k);
	cr_assert_eq(plan_init(&g->topo, &g->keep, plan), 0);
	routes_shortest(g, plan);
	plan->tier_count = 2;
	for (uint32_t l = 0; l < g->topo.link_count; l++)
		plan->link_tier[l] = g->topo.link_switch[l] >= k * k / 2 &&
				     topo_far(&g->topo, l) >= k * k / 2;
}

static const struct {
	const char *what;
	uint32_t k;
} tree_rows[] = { { "k = 4", 4 }, { "k = 8", 8 }, { "k = 16", 16 } };

// A leaf has k/2 hosts, each of which sends to all N - k/2 outside, over k/2 links; a pod has
// (k/2)^2 hosts, each of which sends to N - (k/2)^2, over as many links.
TABLE_TEST(balance, fat_tree, row, tree_rows)
{
	const double hosts = row->k * row->k * row->k / 4.0;
	const double leaf = row->k / 2.0;
	const uint32_t links = row->k * row->k * row->k / 2;
	struct balance_report report;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, row->k);
	report = all_pairs(&g, &plan);
	check_tier(&report.tier[0], hosts - leaf, links);
	check_tier(&report.tier[1], hosts - leaf * leaf, links);
	if (row->k == 16) {
		check_tier(&report.tier[0], 1016, links);
		check_tier(&report.tier[1], 960, links);
	}
	cr_assert_lt(fabs(report.injection - (hosts - 1) / (hosts - leaf)), 1e-9);
	graph_free(&g);
}

static const struct {
	const char *what;
	uint32_t dim_count;
	uint32_t dims[3];
} torus_rows[] = {
	{ "8x8", 2, { 8, 8 } },
	{ "4x4x4", 3, { 4, 4, 4 } },
	{ "6x6x6", 3, { 6, 6, 6 } },
	{ "4x8", 2, { 4, 8 } },
};

// h hosts per switch: h^2 S destinations times n/4 hops over 2 links of a ring of n: h N n / 8.
TABLE_TEST(balance, torus, row, torus_rows)
{
	const double hosts_each = 4;
	struct balance_report report;
	struct graph g;
	struct plan plan;

	graph_torus(&g, row->dim_count, row->dims, NULL, 4);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_torus(&g, &plan, row->dim_count, row->dims, ROUTES_TIE_ECMP, true);
	plan.tier_count = row->dim_count;
	for (uint32_t l = 0; l < g.topo.link_count; l++)
		plan.link_tier[l] = (uint8_t)(g.topo.link_port[l] / 2);
	report = all_pairs(&g, &plan);
	for (uint32_t d = 0; d < row->dim_count; d++)
		check_tier(&report.tier[d], hosts_each * g.topo.host_count * row->dims[d] / 8.0,
			   2 * g.topo.switch_count);
	graph_free(&g);
}

// Two leaves of 4 hosts; weights 3 and 1 of two spines share 16 units.
Test(balance, weights)
{
	const struct plan_hop hops[] = { { 0, 3 }, { 1, 1 } };
	struct balance_report report;
	double load[8];
	struct graph g;
	struct plan plan;

	graph_leaf_spine(&g, 2, 2, 1, 4);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_shortest(&g, &plan);
	cr_assert_eq(plan_group(&plan, hops, 2, 0, &plan_rows(&plan, 1)[0]), 0);
	cr_assert_eq(balance_all_pairs(&g.topo, &g.state, &plan, &g.scratch, load, &report), 0);
	cr_assert_eq(load[g.topo.link_first[0]], 12);
	cr_assert_eq(load[g.topo.link_first[0] + 1], 4);
	cr_assert_eq(load[g.topo.link_first[1]], 8);
	cr_assert_eq(report.all.max, 12);
	graph_free(&g);
}

// Up by D-mod-K: at a leaf the destination host's number decides, at an aggregation switch the
// number of its leaf (Zahavi 2010). Both are pinned groups of all links that go up.
static void pin_tree(struct graph *g, struct plan *plan, uint32_t k)
{
	const uint32_t half = k / 2;
	struct plan_hop up[TOPO_DEGREE_MAX];
	uint16_t leaf, aggregation;

	// Hosts are no links: those of a leaf begin with the ones that go up.
	for (uint32_t i = 0; i < half; i++)
		up[i] = (struct plan_hop){ (uint16_t)i, 1 };
	cr_assert_eq(plan_group(plan, up, half, 1, &leaf), 0);
	for (uint32_t i = 0; i < half; i++)
		up[i].link = (uint16_t)(half + i);
	cr_assert_eq(plan_group(plan, up, half, half, &aggregation), 0);
	for (uint32_t i = 0; i < plan->edge_count * plan->switch_count; i++) {
		const uint32_t at = i % plan->switch_count;
		const uint32_t edge = i / plan->switch_count;

		if (at < k * half && at != edge)
			plan->row[i] = leaf;
		else if (at >= k * half && at < 2 * k * half &&
			 (at - k * half) / half != edge / half)
			plan->row[i] = aggregation;
	}
}

static uint32_t *hosts_of(const struct graph *g)
{
	uint32_t *to_host = calloc(g->topo.host_count, sizeof(*to_host));

	cr_assert_not_null(to_host);
	return to_host;
}

static struct hash_profile *profiles(const struct graph *g, uint32_t seed_step)
{
	struct hash_profile *hash = calloc(g->topo.switch_count, sizeof(*hash));

	cr_assert_not_null(hash);
	for (uint32_t s = 0; s < g->topo.switch_count; s++)
		hash[s] = (struct hash_profile){ .fields = HASH_FIELDS_DEFAULT,
						 .seed = 1 + s * seed_step };
	return hash;
}

TABLE_TEST(balance, d_mod_k, row, tree_rows)
{
	const double hosts = row->k * row->k * row->k / 4.0;
	const double leaf = row->k / 2.0;
	const uint32_t links = row->k * row->k * row->k / 2;
	struct balance_report report;
	struct balance_flows flows;
	struct hash_profile *hash;
	uint32_t *to_host;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, row->k);
	pin_tree(&g, &plan, row->k);
	report = all_pairs(&g, &plan);
	check_tier(&report.tier[0], hosts - leaf, links);
	check_tier(&report.tier[1], hosts - leaf * leaf, links);
	hash = profiles(&g, 1);
	to_host = hosts_of(&g);
	for (uint32_t by = 1; by < g.topo.host_count; by++) {
		balance_shift(g.topo.host_count, by, to_host);
		cr_assert_eq(balance_permutation(&g.topo, &g.state, &plan, hash, to_host, 1,
						 &g.scratch, &flows),
			     0);
		cr_assert_eq(flows.max, 1, "shift by %u: %f", by, flows.max);
	}
	free(hash);
	free(to_host);
	graph_free(&g);
}

// Leaf-spine: one choice, at the source's leaf. Flows are put into buckets by hand.
Test(balance, permutation_by_hand)
{
	enum { LEAVES = 4, SPINES = 8, HOSTS = 16 };
	uint8_t memory[sizeof(struct group) + GROUP_BUCKET_MAX];
	struct group *group = (struct group *)(void *)memory;
	struct group_member members[SPINES] = { 0 };
	uint32_t up[LEAVES][SPINES] = { 0 };
	uint32_t down[LEAVES][SPINES] = { 0 };
	struct balance_flows flows;
	struct hash_profile *hash;
	uint32_t *to_host;
	struct graph g;
	struct plan plan;
	struct rng rng;
	uint32_t most = 0;
	uint32_t crossing = 0;

	graph_leaf_spine(&g, LEAVES, SPINES, 1, HOSTS);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_shortest(&g, &plan);
	rng_seed(&rng, 7);
	hash = profiles(&g, 3);
	to_host = hosts_of(&g);
	balance_shuffle(&rng, g.topo.host_count, to_host);
	for (uint32_t i = 0; i < SPINES; i++)
		members[i] = (struct group_member){ .port = { (uint16_t)i },
						    .next_hop = (uint16_t)i,
						    .weight = 1 };
	cr_assert_eq(group_build(group, members, SPINES, 0, NULL), 0);
	for (uint32_t h = 0; h < g.topo.host_count; h++) {
		const struct hash_key key = { .src_ip = { (10u << 24) + h },
					      .dst_ip = { (10u << 24) + to_host[h] },
					      .protocol = 17,
					      .src_port = 49152,
					      .dst_port = 4791,
					      .dst_qp = 5 };
		const uint32_t bucket = (uint32_t)((uint64_t)hash_packet(&hash[h / HOSTS], &key) *
							   group->bucket_count >>
						   32);
		const uint32_t spine = group->bucket[bucket];

		if (h / HOSTS == to_host[h] / HOSTS)
			continue;
		crossing++;
		if (++up[h / HOSTS][spine] > most)
			most = up[h / HOSTS][spine];
		if (++down[to_host[h] / HOSTS][spine] > most)
			most = down[to_host[h] / HOSTS][spine];
	}
	cr_assert_eq(balance_permutation(&g.topo, &g.state, &plan, hash, to_host, 5, &g.scratch,
					 &flows),
		     0);
	cr_assert_eq(flows.flow_count, crossing);
	cr_assert_eq(flows.max, most);
	cr_assert_eq(g.scratch.used, 0);
	free(hash);
	free(to_host);
	graph_free(&g);
}

Test(balance, shuffle_is_a_permutation)
{
	enum { COUNT = 1000 };
	uint32_t to_host[COUNT];
	uint8_t seen[COUNT] = { 0 };
	struct rng rng;
	uint32_t fixed = 0;

	rng_seed(&rng, 1);
	balance_shuffle(&rng, COUNT, to_host);
	for (uint32_t h = 0; h < COUNT; h++) {
		cr_assert_lt(to_host[h], COUNT);
		cr_assert_eq(seen[to_host[h]]++, 0);
		fixed += to_host[h] == h;
	}
	// One on average.
	cr_assert_lt(fixed, 10);
}

static const struct {
	const char *what;
	uint32_t seed_step;
	double used; // paths of 16
} seed_rows[] = {
	{ "seeds of all switches differ", 1, 16 },
	{ "all have one seed: 4 of 16", 0, 4 },
};

// k = 8: 4 ways up at a leaf, 4 at an aggregation switch, 1 down.
TABLE_TEST(balance, polarisation, row, seed_rows)
{
	struct balance_spread spread;
	struct hash_profile *hash;
	struct graph g;
	struct plan plan;

	plan_tree(&g, &plan, 8);
	hash = profiles(&g, row->seed_step);
	cr_assert_eq(balance_polarisation(&g.topo, &g.state, &plan, hash, 0, 127, 20000, &g.scratch,
					  &spread),
		     0);
	cr_assert_lt(fabs(spread.ideal - 16), 1e-9);
	cr_assert_lt(fabs(spread.used - row->used), 0.02 * row->used, "%f", spread.used);
	cr_assert_eq(g.scratch.used, 0);
	free(hash);
	graph_free(&g);
}

Test(balance, group_beyond_a_switch)
{
	struct balance_flows flows;
	struct hash_profile *hash;
	uint32_t *to_host;
	struct graph g;
	struct plan plan;

	graph_leaf_spine(&g, 2, GROUP_MEMBER_MAX + 1, 1, 1);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_shortest(&g, &plan);
	hash = profiles(&g, 1);
	to_host = hosts_of(&g);
	balance_shift(2, 1, to_host);
	cr_assert_eq(balance_permutation(&g.topo, &g.state, &plan, hash, to_host, 5, &g.scratch,
					 &flows),
		     -E2BIG);
	free(hash);
	free(to_host);
	graph_free(&g);
}
