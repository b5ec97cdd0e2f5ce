// SPDX-License-Identifier: BSD-3-Clause
//
// Packed routes as rows: what groups, edges and turns of a small switch become, and what a switch
// cannot hold. Whether turns are those of the rules, on any fabric, is tests/prop/fabric_rows.c's.

#include "dataplane/fabric_rows.h"

#include <errno.h>
#include <string.h>

#include "tests/keep.h"
#include "tests/rig/graph.h"
#include "tests/rig/setup.h"
#include "tests/table.h"

enum { HOSTS = 2, LINKS = 4, PORTS = HOSTS + LINKS, EDGES = 8, SAID_BYTES = 512 };

// Ports 0 and 1 are hosts', 2 to 5 links 0 to 3. Edge 0 is here, the others are not reached yet,
// and every turn is denied.
struct scene {
	struct arena keep;
	struct packed_table routes;
	struct fabric_ports ports;
	struct sw_config *config;
	char said[SAID_BYTES];
};

static void start_links(struct scene *s, uint32_t edges, uint32_t links)
{
	const struct topo one = { .switch_count = 1, .edge_count = edges, .link_count = links };

	*s = (struct scene){ .keep = graph_arena() };
	cr_assert_eq(plan_init(&one, &s->keep, &s->routes.plan), 0);
	s->routes.link_count = links;
	s->routes.port = arena_take(&s->keep, links, sizeof(*s->routes.port));
	s->ports.count = HOSTS + links;
	for (uint32_t i = 0; i < links; i++)
		s->routes.port[i] = (uint16_t)(HOSTS + i);
	for (uint32_t i = 0; i < s->ports.count; i++)
		s->ports.at[i] = (uint16_t)i;
	s->routes.plan.row[0] = PLAN_LOCAL;
	s->config = keep(setup_kvm(s->ports.count));
}

static void start(struct scene *s)
{
	start_links(s, EDGES, LINKS);
}

static void lead(struct scene *s, uint32_t edge, const struct plan_hop *hops, uint32_t count,
		 uint32_t pin)
{
	cr_assert_eq(plan_group(&s->routes.plan, hops, count, pin, &s->routes.plan.row[edge]), 0);
}

static int write_rows(struct scene *s)
{
	FILE *errors = fmemopen(s->said, sizeof(s->said), "w");
	const int rc = fabric_rows_write(&s->routes, &s->ports, s->config, errors);

	fclose(errors);
	return rc;
}

static const struct next_hop_config *hop_of(const struct scene *s, const char *group,
					    const char *port)
{
	for (uint32_t i = 0; i < s->config->next_hop_count; i++) {
		const struct next_hop_config *row = &s->config->next_hop[i];

		if (strcmp(row->group, group) == 0 && strcmp(row->port, port) == 0)
			return row;
	}
	return NULL;
}

static const char *way_to(const struct scene *s, uint64_t edge)
{
	for (uint32_t i = 0; i < s->config->edge_count; i++) {
		if (s->config->edge[i].number == edge)
			return s->config->edge[i].via;
	}
	return "";
}

Test(fabric_rows, edges_and_groups)
{
	const struct plan_hop both[] = { { 0, 1 }, { 1, 3 } };
	const struct plan_hop one[] = { { 3, 1 } };
	struct scene s;

	start(&s);
	lead(&s, 2, both, 2, 0);
	lead(&s, 3, one, 1, 0);
	lead(&s, 7, both, 2, 0);
	cr_assert_eq(write_rows(&s), 0, "%s", s.said);
	cr_assert_eq(s.config->edge_count, 3);
	cr_assert_eq(s.config->next_hop_count, 3);
	cr_assert_str_eq(way_to(&s, 2), "Ethernet8+Ethernet12*3");
	cr_assert_str_eq(way_to(&s, 7), way_to(&s, 2));
	cr_assert_str_eq(way_to(&s, 3), "Ethernet20");
	cr_assert_eq(hop_of(&s, way_to(&s, 2), "Ethernet12")->weight, 3);
	cr_assert_eq(hop_of(&s, way_to(&s, 2), "Ethernet8")->weight, 1);
	// A bridge of the fabric: neither an address nor a VLAN of its own.
	cr_assert_eq(hop_of(&s, "Ethernet20", "Ethernet20")->mac, CONFIG_UNSET);
	cr_assert_eq(hop_of(&s, "Ethernet20", "Ethernet20")->vlan, 0);
}

Test(fabric_rows, replaces_what_was_there)
{
	struct scene s;

	start(&s);
	setup_next_hop(s.config, "old", 2, 0);
	setup_edge(s.config, 5, "old");
	setup_turn(s.config, 0, 2, 0, 0);
	lead(&s, 1, &(struct plan_hop){ 0, 1 }, 1, 0);
	cr_assert_eq(write_rows(&s), 0);
	cr_assert_eq(s.config->edge_count, 1);
	cr_assert_eq(s.config->next_hop_count, 1);
	cr_assert_eq(s.config->turn_count, HOSTS); // anybody may send to a host
}

// What does not fit into 255 keeps its share within half a 255th of the heaviest.
static const struct {
	const char *what;
	uint16_t weight[3];
	uint64_t want[3];
} weights[] = {
	{ "small ones stay", { 1, 2, 255 }, { 1, 2, 255 } },
	{ "256 is one too many", { 256, 128, 64 }, { 255, 128, 64 } }, // 127.5, 63.75
	{ "the largest", { 65535, 32768, 257 }, { 255, 128, 1 } },     // 127.5, 1.0
	{ "nobody is left out", { 65535, 1, 100 }, { 255, 1, 1 } },
};

TABLE_TEST(fabric_rows, weight, row, weights)
{
	const struct plan_hop hops[] = { { 0, row->weight[0] },
					 { 1, row->weight[1] },
					 { 2, row->weight[2] } };
	struct scene s;

	start(&s);
	lead(&s, 1, hops, 3, 0);
	cr_assert_eq(write_rows(&s), 0);
	for (uint32_t i = 0; i < 3; i++)
		cr_expect_eq(hop_of(&s, way_to(&s, 1), s.config->port[HOSTS + i].name)->weight,
			     row->want[i], "%s: member %u", row->what, i);
}

Test(fabric_rows, long_names)
{
	struct plan_hop hops[GROUP_MEMBER_MAX];
	struct scene s;

	start_links(&s, EDGES, GROUP_MEMBER_MAX);
	for (uint16_t i = 0; i < GROUP_MEMBER_MAX; i++)
		hops[i] = (struct plan_hop){ i, 1 };
	lead(&s, 1, hops, GROUP_MEMBER_MAX, 0);
	lead(&s, 2, hops, GROUP_MEMBER_MAX - 1, 0);
	cr_assert_eq(write_rows(&s), 0);
	cr_assert_eq(s.config->next_hop_count, 2 * GROUP_MEMBER_MAX - 1);
	cr_assert_str_neq(way_to(&s, 1), way_to(&s, 2));
	cr_assert(strstr(way_to(&s, 1), "group-"));
}

// --- what does not fit ------------------------------------------------------------------------

static void pinned(struct scene *s)
{
	start(s);
	lead(s, 1, &(struct plan_hop){ 0, 1 }, 1, 4);
}

static void wide(struct scene *s)
{
	struct plan_hop hops[GROUP_MEMBER_MAX + 1];

	start_links(s, EDGES, GROUP_MEMBER_MAX + 1);
	for (uint16_t i = 0; i <= GROUP_MEMBER_MAX; i++)
		hops[i] = (struct plan_hop){ i, 1 };
	lead(s, 1, hops, GROUP_MEMBER_MAX + 1, 0);
}

static void no_such_port(struct scene *s)
{
	start(s);
	s->routes.port[LINKS - 1] = PORTS;
}

static void far_edge(struct scene *s)
{
	start_links(s, 4097, LINKS);
	lead(s, 4096, &(struct plan_hop){ 0, 1 }, 1, 0);
}

static void many_edges(struct scene *s)
{
	start_links(s, CONFIG_EDGE_MAX + 2, LINKS);
	for (uint32_t i = 1; i < CONFIG_EDGE_MAX + 2; i++)
		lead(s, i, &(struct plan_hop){ 0, 1 }, 1, 0);
}

// 19 groups of 64 members.
static void many_hops(struct scene *s)
{
	struct plan_hop hops[GROUP_MEMBER_MAX];

	start_links(s, 32, GROUP_MEMBER_MAX + 20);
	for (uint16_t edge = 1; edge < 20; edge++) {
		for (uint16_t i = 0; i < GROUP_MEMBER_MAX; i++)
			hops[i] = (struct plan_hop){ (uint16_t)(i + edge), 1 };
		lead(s, edge, hops, GROUP_MEMBER_MAX, 0);
	}
}

static const struct {
	const char *what;
	void (*make)(struct scene *s);
	int want;
	const char *said;
} refusals[] = {
	{ "a pinned group", pinned, -ENOTSUP, "D-mod-K" },
	{ "65 members", wide, -EOVERFLOW, "65 members" },
	{ "a port beyond the last", no_such_port, -EINVAL, "port 6 of 6" },
	{ "an edge beyond 4095", far_edge, -EOVERFLOW, "edge 4096" },
	{ "1025 edges", many_edges, -EOVERFLOW, "edge rows" },
	{ "1216 members of groups", many_hops, -EOVERFLOW, "next_hop rows" },
};

TABLE_TEST(fabric_rows, refused, row, refusals)
{
	struct scene s;

	row->make(&s);
	cr_assert_eq(write_rows(&s), row->want, "%s", row->what);
	cr_assert(strstr(s.said, row->said), "%s: %s", row->what, s.said);
}

// --- turns ------------------------------------------------------------------------------------

// A leaf of a tree: hosts anywhere, uplinks to hosts alone. Each port needs one row at most.
Test(fabric_rows, turns_of_a_leaf)
{
	struct scene s;
	uint32_t rows = 0;

	start(&s);
	cr_assert_eq(turn_rules_init(&(struct topo){ .link_count = LINKS }, 1, 2, 0, &s.keep,
				     &s.routes.plan.turns),
		     0);
	memset(s.routes.plan.turns.link_class, 1, LINKS);
	turn_rules_allow(&s.routes.plan.turns, TURN_CLASS_HOST, 1, 0, 0);
	cr_assert_eq(write_rows(&s), 0);
	cr_assert_eq(s.config->turn_count, 2 * HOSTS);
	for (uint32_t i = 0; i < s.config->turn_count; i++) {
		const struct turn_config *row = &s.config->turn[i];
		const bool from = strcmp(row->out, "all") == 0;
		const char *host = from ? row->in : row->out;

		rows += from != (strcmp(row->in, "all") == 0) &&
			(strcmp(host, "Ethernet0") == 0 || strcmp(host, "Ethernet4") == 0);
	}
	cr_assert_eq(rows, 2 * HOSTS);
}

// Without a row of turns a switch allows them all, so there is one that allows none.
Test(fabric_rows, nothing_allowed)
{
	struct scene s;

	start_links(&s, EDGES, LINKS);
	for (uint16_t i = 0; i < LINKS; i++)
		s.routes.port[i] = i;
	s.ports.count = LINKS;
	cr_assert_eq(write_rows(&s), 0);
	cr_assert_eq(s.config->turn_count, 1);
	cr_assert_str_eq(s.config->turn[0].in, s.config->turn[0].out);
	cr_assert_str_neq(s.config->turn[0].in, "all");
}
