// SPDX-License-Identifier: BSD-3-Clause
//
// Graphs for tests of routing: cables and edges are listed by arithmetic, and topo_build() makes
// the graph, as it does for everyone. Memory is a large range of which only pages that are touched
// exist. What fails here is a fault of the test.

#include "tests/rig/graph.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	CABLE_MAX = 1 << 20,
	EDGE_MAX = 1 << 16,
};
#define ARENA_BYTES ((size_t)4 << 30)

struct parts {
	struct topo_cable *cable;
	struct topo_edge *edge;
	uint32_t cable_count;
	uint32_t edge_count;
};

struct arena graph_arena(void)
{
	void *memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(memory, MAP_FAILED);
	return (struct arena){ .memory = memory, .size = ARENA_BYTES };
}

static struct parts parts_new(void)
{
	struct parts parts = {
		.cable = calloc(CABLE_MAX, sizeof(*parts.cable)),
		.edge = calloc(EDGE_MAX, sizeof(*parts.edge)),
	};

	cr_assert(parts.cable != NULL && parts.edge != NULL);
	return parts;
}

static void add_cable(struct parts *parts, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b)
{
	cr_assert_lt(parts->cable_count, CABLE_MAX);
	parts->cable[parts->cable_count++] = (struct topo_cable){
		.end_switch = { a, b },
		.end_port = { (uint16_t)port_a, (uint16_t)port_b },
		.weight = 1,
	};
}

static void add_edge(struct parts *parts, uint32_t at, uint32_t hosts)
{
	cr_assert_lt(parts->edge_count, EDGE_MAX);
	parts->edge[parts->edge_count++] = (struct topo_edge){ .at = at, .host_count = hosts };
}

static void finish(struct graph *g, struct parts *parts, uint32_t switches)
{
	enum topo_fault fault;
	uint32_t at;

	g->keep = graph_arena();
	g->scratch = graph_arena();
	fault = topo_build(switches, parts->cable, parts->cable_count, parts->edge,
			   parts->edge_count, &g->keep, &g->scratch, &g->topo, &at);
	cr_assert_eq(fault, TOPO_GOOD, "fault %d at %u", fault, at);
	cr_assert_eq(topo_state_init(&g->topo, &g->keep, &g->state), 0);
	free(parts->cable);
	free(parts->edge);
}

void graph_fat_tree(struct graph *g, uint32_t k)
{
	const uint32_t half = k / 2;
	const uint32_t aggregations = k * half;
	const uint32_t cores = 2 * aggregations;
	struct parts parts = parts_new();

	for (uint32_t leaf = 0; leaf < k * half; leaf++) {
		const uint32_t pod = leaf / half;

		add_edge(&parts, leaf, half);
		for (uint32_t a = 0; a < half; a++)
			add_cable(&parts, leaf, half + a, aggregations + pod * half + a,
				  leaf % half);
	}
	for (uint32_t a = 0; a < k * half; a++) {
		for (uint32_t c = 0; c < half; c++)
			add_cable(&parts, aggregations + a, half + c, cores + a % half * half + c,
				  a / half);
	}
	finish(g, &parts, cores + half * half);
}

void graph_leaf_spine(struct graph *g, uint32_t leaves, uint32_t spines, uint32_t parallel,
		      uint32_t hosts)
{
	struct parts parts = parts_new();

	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		add_edge(&parts, leaf, hosts);
		for (uint32_t i = 0; i < spines * parallel; i++)
			add_cable(&parts, leaf, hosts + i, leaves + i / parallel,
				  leaf * parallel + i % parallel);
	}
	finish(g, &parts, leaves + spines);
}

// The switch one further in dimension d.
static uint32_t torus_next(uint32_t at, uint32_t d, uint32_t dim_count, const uint32_t *dims,
			   uint32_t (*shift)[GRAPH_DIMS_MAX])
{
	uint32_t place[GRAPH_DIMS_MAX];
	uint32_t next = 0;

	for (uint32_t e = 0; e < dim_count; e++) {
		place[e] = at % dims[e];
		at /= dims[e];
	}
	place[d]++;
	if (place[d] == dims[d] && shift != NULL) {
		for (uint32_t e = 0; e < dim_count; e++)
			place[e] += e == d ? 0 : shift[d][e];
	}
	for (uint32_t e = dim_count; e-- > 0;)
		next = next * dims[e] + place[e] % dims[e];
	return next;
}

static void add_torus_cables(struct parts *parts, uint32_t at, uint32_t dim_count,
			     const uint32_t *dims, uint32_t (*shift)[GRAPH_DIMS_MAX])
{
	for (uint32_t d = 0; d < dim_count; d++) {
		const uint32_t next = torus_next(at, d, dim_count, dims, shift);

		if (dims[d] > 2)
			add_cable(parts, at, 2 * d, next, 2 * d + 1);
		else if (dims[d] == 2 && at < next)
			add_cable(parts, at, 2 * d, next, 2 * d);
	}
}

void graph_torus(struct graph *g, uint32_t dim_count, const uint32_t *dims,
		 uint32_t (*shift)[GRAPH_DIMS_MAX], uint32_t hosts)
{
	struct parts parts = parts_new();
	uint32_t switches = 1;

	for (uint32_t d = 0; d < dim_count; d++)
		switches *= dims[d];
	for (uint32_t s = 0; s < switches; s++) {
		add_edge(&parts, s, hosts);
		add_torus_cables(&parts, s, dim_count, dims, shift);
	}
	finish(g, &parts, switches);
}

void graph_random(struct graph *g, struct rng *rng, uint32_t switches, uint32_t cables)
{
	struct parts parts = parts_new();
	uint32_t *ports = calloc(switches, sizeof(*ports));

	cr_assert_not_null(ports);
	for (uint32_t s = 0; s < switches; s++) {
		if (s == 0 || rng_below(rng, 3) != 0)
			add_edge(&parts, s, 1 + (uint32_t)rng_below(rng, 3));
	}
	for (uint32_t i = 1; i < switches + cables; i++) {
		const bool tree = i < switches;
		const uint32_t a = tree ? i : (uint32_t)rng_below(rng, switches);
		uint32_t b = (uint32_t)rng_below(rng, tree ? i : switches);

		if (a == b)
			b = (a + 1) % switches;
		if (a != b)
			add_cable(&parts, a, ports[a]++, b, ports[b]++);
	}
	free(ports);
	finish(g, &parts, switches);
}

// A number for each place, in no order.
static uint32_t *shuffled(struct rng *rng, uint32_t count)
{
	uint32_t *number = calloc(count, sizeof(*number));

	cr_assert_not_null(number);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t k = (uint32_t)rng_below(rng, i + 1);

		number[i] = number[k];
		number[k] = i;
	}
	return number;
}

// Between one of `a_count` switches and one of `b_count`.
static void add_random_cable(struct parts *parts, struct rng *rng, uint32_t *ports,
			     const uint32_t *a, uint32_t a_count, const uint32_t *b,
			     uint32_t b_count)
{
	const uint32_t from = a[rng_below(rng, a_count)];
	const uint32_t to = b[rng_below(rng, b_count)];

	add_cable(parts, from, ports[from]++, to, ports[to]++);
	parts->cable[parts->cable_count - 1].weight = (uint16_t)(1 + rng_below(rng, 3));
}

void graph_random_tree(struct graph *g, struct rng *rng, uint32_t levels, uint32_t width)
{
	struct parts parts = parts_new();
	uint32_t *number = shuffled(rng, levels * width);
	uint32_t *ports = calloc((size_t)levels * width, sizeof(*ports));
	uint32_t below = width;

	cr_assert_not_null(ports);
	// Places of a level are width x level and what follows; what is not used stays alone.
	for (uint32_t i = 0; i < width; i++)
		add_edge(&parts, number[i], 1 + (uint32_t)rng_below(rng, 3));
	for (uint32_t level = 1; level < levels; level++) {
		const uint32_t count = 1 + (uint32_t)rng_below(rng, below);
		const uint32_t *here = number + (size_t)level * width;
		const uint32_t *down = here - width;

		for (uint32_t i = 0; i < count; i++)
			add_random_cable(&parts, rng, ports, down, below, here + i, 1);
		for (uint32_t i = rng_below(rng, below * count + 1); i > 0; i--)
			add_random_cable(&parts, rng, ports, down, below, here, count);
		below = count;
	}
	free(number);
	free(ports);
	finish(g, &parts, levels * width);
}

void graph_cut(struct graph *g, uint32_t a, uint32_t b, uint32_t n)
{
	for (uint32_t link = g->topo.link_first[a]; link < g->topo.link_first[a + 1]; link++) {
		if (topo_far(&g->topo, link) != b || n-- != 0)
			continue;
		g->state.link_lost[link] = 1;
		g->state.link_lost[g->topo.link_peer[link]] = 1;
		return;
	}
	cr_assert_fail("no such cable");
}

void graph_cables(struct graph *g, uint32_t switches, const uint32_t (*ends)[2], uint32_t count,
		  uint32_t edges, uint32_t hosts)
{
	struct parts parts = parts_new();
	uint32_t *ports = calloc(switches, sizeof(*ports));

	cr_assert_not_null(ports);
	for (uint32_t s = 0; s < edges; s++)
		add_edge(&parts, s, hosts);
	for (uint32_t i = 0; i < count; i++)
		add_cable(&parts, ends[i][0], ports[ends[i][0]]++, ends[i][1], ports[ends[i][1]]++);
	free(ports);
	finish(g, &parts, switches);
}

static void shuffle(struct rng *rng, uint32_t *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	for (uint32_t i = count; i > 1; i--) {
		const uint32_t k = rng_below(rng, i);
		const uint32_t last = numbers[i - 1];

		numbers[i - 1] = numbers[k];
		numbers[k] = last;
	}
}

// Numbers of the switches that are left, at random. Their count.
static uint32_t shuffle_switches(const struct graph *g, struct rng *rng, uint32_t *place)
{
	uint32_t *order = calloc(g->topo.switch_count, sizeof(*order));
	uint32_t left = 0;

	cr_assert_not_null(order);
	shuffle(rng, order, g->topo.switch_count);
	for (uint32_t i = 0; i < g->topo.switch_count; i++)
		place[order[i]] = g->state.switch_lost[order[i]] ? TOPO_NONE : left++;
	free(order);
	return left;
}

void graph_shuffle(const struct graph *g, struct rng *rng, struct graph *shuffled, uint32_t *place)
{
	const struct topo *topo = &g->topo;
	struct parts parts = parts_new();
	uint32_t *port = calloc(topo->link_count, sizeof(*port));
	uint32_t *order = calloc(topo->link_count, sizeof(*order));
	const uint32_t left = shuffle_switches(g, rng, place);

	cr_assert(port != NULL && order != NULL);
	for (uint32_t s = 0; s < topo->switch_count; s++)
		shuffle(rng, port + topo->link_first[s], topo_degree(topo, s));
	shuffle(rng, order, topo->link_count);
	for (uint32_t i = 0; i < topo->link_count; i++) {
		const uint32_t link = order[i];
		const uint32_t peer = topo->link_peer[link];

		if (link < peer && topo_link_up(topo, &g->state, link))
			add_cable(&parts, place[topo->link_switch[link]], port[link],
				  place[topo->link_switch[peer]], port[peer]);
	}
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		if (place[topo->edge_switch[e]] != TOPO_NONE)
			add_edge(&parts, place[topo->edge_switch[e]], topo_edge_hosts(topo, e));
	}
	free(port);
	free(order);
	finish(shuffled, &parts, left);
}

void graph_free(struct graph *g)
{
	munmap(g->keep.memory, ARENA_BYTES);
	munmap(g->scratch.memory, ARENA_BYTES);
}
