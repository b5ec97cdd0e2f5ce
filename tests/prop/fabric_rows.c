// SPDX-License-Identifier: BSD-3-Clause
//
// Routes of any switch of any fabric, written as rows and built into tables, mean what the plan
// means: every turn of every pair of ports, and for every edge the members of its group with their
// weights. Ports are in an order of their own, with some that are closed or that the fabric does
// not know.

#include "dataplane/fabric_rows.h"

#include <string.h>

#include "dataplane/core/tables.h"
#include "tests/keep.h"
#include "tests/rig/graph.h"
#include "tests/rig/routes.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { STRANGERS_MAX = 3 };

struct scene {
	struct graph g;
	struct plan plan;
	uint32_t at; // switch
	struct packed_table routes;
	struct fabric_ports ports;
	struct sw_config *config;
	struct sw_profile *pf;
	struct sw_tables *tables;
	uint32_t link_at[CONFIG_PORT_MAX]; // of the fabric, by ports of the configuration
	bool known[CONFIG_PORT_MAX];
};

static void draw_tree(struct scene *s, struct rng *rng)
{
	const uint32_t k = 2 * (1 + rng_below(rng, 4));
	uint8_t *level;

	graph_fat_tree(&s->g, k);
	level = arena_take(&s->g.keep, s->g.topo.switch_count, 1);
	routes_fat_tree_levels(k, level);
	cr_assert_eq(plan_init(&s->g.topo, &s->g.keep, &s->plan), 0);
	routes_valley_free(&s->g, &s->plan, level);
}

static void draw_torus(struct scene *s, struct rng *rng)
{
	const uint32_t dims[] = { 2 + rng_below(rng, 3), 2 + rng_below(rng, 3) };

	graph_torus(&s->g, 2, dims, NULL, 1 + rng_below(rng, 3));
	cr_assert_eq(plan_init(&s->g.topo, &s->g.keep, &s->plan), 0);
	routes_torus(&s->g, &s->plan, 2, dims, ROUTES_TIE_ECMP, true);
}

static void draw_any(struct scene *s, struct rng *rng)
{
	graph_random(&s->g, rng, 2 + rng_below(rng, 20), 30);
	cr_assert_eq(plan_init(&s->g.topo, &s->g.keep, &s->plan), 0);
	routes_allow_all(&s->g, &s->plan);
}

// Random rules instead of those of the plan, with exceptions: nobody plans such, all can be sent.
static void draw_rules(struct scene *s, struct rng *rng)
{
	struct turn_rules *rules = &s->routes.plan.turns;
	const struct topo one = { .link_count = s->routes.link_count };
	const uint32_t links = s->routes.link_count;
	const uint32_t lanes = 1 + rng_below(rng, LANE_MAX);
	const uint32_t classes = 1 + rng_below(rng, 4);

	cr_assert_eq(
		turn_rules_init(&one, lanes, classes, links * links * lanes, &s->g.keep, rules), 0);
	for (uint32_t i = 0; i < links; i++)
		rules->link_class[i] = (uint8_t)rng_below(rng, classes);
	for (uint32_t i = 0; i < classes * classes * lanes; i++)
		turn_rules_allow(rules, i / lanes / classes, i / lanes % classes, i % lanes,
				 rng_below(rng, 2) == 0 ? TURN_DENY : rng_below(rng, lanes));
	for (uint32_t i = 0; i < links * links * lanes; i++) {
		if (rng_below(rng, 8) == 0)
			rules->exception[rules->exception_count++] = (struct turn_exception){
				.in = i / lanes / links,
				.out = i / lanes % links,
				.lane = (uint8_t)(i % lanes),
				.to = (uint8_t)rng_below(rng, lanes),
			};
	}
}

// The routes of one switch.
static void draw_routes(struct scene *s, struct rng *rng)
{
	switch (rng_below(rng, 3)) {
	case 0: draw_tree(s, rng); break;
	case 1: draw_torus(s, rng); break;
	case 2: draw_any(s, rng); break;
	}
	routes_shortest(&s->g, &s->plan);
	s->at = rng_below(rng, s->g.topo.switch_count);
	cr_assert_eq(packed_table_of(&s->g.topo, &s->plan, s->at, &s->g.keep, &s->g.scratch,
				     &s->routes),
		     0);
	if (rng_below(rng, 2) == 0)
		draw_rules(s, rng);
}

// Fabric ports at places drawn by lot among those of the switch.
static void draw_ports(struct scene *s, struct rng *rng)
{
	const uint32_t hosts = 1 + rng_below(rng, 4);
	uint32_t count = hosts;
	uint32_t all;
	uint16_t place[CONFIG_PORT_MAX] = { 0 };

	for (uint32_t i = 0; i < s->routes.link_count; i++) {
		if (s->routes.port[i] + 1 + hosts > count)
			count = s->routes.port[i] + 1 + hosts;
	}
	all = count + rng_below(rng, STRANGERS_MAX + 1);
	for (uint32_t i = 0; i < all; i++)
		place[i] = (uint16_t)i;
	for (uint32_t i = all; i > 1; i--) {
		const uint32_t k = rng_below(rng, i);
		const uint16_t last = place[i - 1];

		place[i - 1] = place[k];
		place[k] = last;
	}
	s->ports.count = count;
	memcpy(s->ports.at, place, sizeof(place));
	s->config = keep(setup_kvm(all));
	for (uint32_t i = 0; i < all; i++)
		s->link_at[i] = TOPO_NONE;
	for (uint32_t i = 0; i < count; i++) {
		s->ports.closed[i] = rng_below(rng, 16) == 0;
		s->known[place[i]] = !s->ports.closed[i];
	}
	for (uint32_t i = 0; i < s->routes.link_count; i++)
		s->link_at[place[s->routes.port[i]]] = i;
}

static void build(struct scene *s)
{
	struct profile_fault fault = { 0 };

	// Classes that are lanes; that they are lossless only matters on fabric ports.
	s->config->sw.lanes = (1u << s->routes.plan.turns.lane_count) - 1;
	s->config->sw.cnp_tc = 6;
	s->pf = keep(calloc(1, profile_bytes(s->config)));
	cr_assert_eq(profile_build(s->config, s->pf, &fault), 0, "fault %d", fault.id);
	cr_assert_eq(tables_build(s->config, s->pf, 0,
				  keep(aligned_alloc(64, tables_bytes(s->config, 0))), &s->tables,
				  &fault),
		     0, "fault %d", fault.id);
}

// What the rules say about ports of the configuration.
static uint8_t wanted_turn(const struct scene *s, uint32_t in, uint32_t out, uint32_t lane)
{
	const uint32_t from = s->link_at[in];

	if (!s->known[in] || !s->known[out] || in == out || (from == TOPO_NONE && lane != 0))
		return TURN_DENY;
	if (s->link_at[out] == TOPO_NONE)
		return 0;
	return turn_rules_get(&s->routes.plan.turns, from, s->link_at[out], lane);
}

static void check_turns(const struct scene *s)
{
	const uint32_t ports = s->config->port_count;
	const uint32_t lanes = s->routes.plan.turns.lane_count;

	cr_assert_not_null(s->tables->turns);
	for (uint32_t i = 0; i < ports * ports * lanes; i++) {
		const uint32_t in = i / lanes / ports;
		const uint32_t out = i / lanes % ports;

		cr_assert_eq(turn_map_get(s->tables->turns, (port_t){ (uint16_t)in },
					  (port_t){ (uint16_t)out }, i % lanes),
			     wanted_turn(s, in, out, i % lanes), "from %u to %u on lane %u", in,
			     out, i % lanes);
	}
}

static void check_group(const struct scene *s, const struct plan_group *want,
			const struct group *group)
{
	cr_assert_eq(group->member_count, want->hop_count);
	for (uint32_t i = 0; i < want->hop_count; i++) {
		const struct plan_hop *hop = &s->routes.plan.hop[want->first + i];

		cr_assert_eq(group->member[i].port.v, s->ports.at[s->routes.port[hop->link]]);
		cr_assert_eq(group->member[i].weight, hop->weight);
	}
}

static void check_edges(const struct scene *s)
{
	for (uint32_t e = 0; e < s->routes.plan.edge_count; e++) {
		const uint16_t want = s->routes.plan.row[e];
		const uint16_t have = e < s->tables->edge_count ? s->tables->edge_group[e] :
								  (uint16_t)GROUP_NONE;

		cr_assert_eq(have == GROUP_NONE, !plan_is_group(want));
		if (have != GROUP_NONE)
			check_group(s, &s->routes.plan.group[want], s->tables->group[have]);
	}
}

SEED_TEST(fabric_rows, mean_what_the_plan_means, rng, 300)
{
	struct scene s = { 0 };
	int rc;

	draw_routes(&s, rng);
	draw_ports(&s, rng);
	rc = fabric_rows_write(&s.routes, &s.ports, s.config, stderr);
	cr_assert_eq(rc, 0);
	build(&s);
	check_turns(&s);
	check_edges(&s);
	graph_free(&s.g);
}
