// SPDX-License-Identifier: BSD-3-Clause
//
// Looking for a cycle: depth first, with a stack of its own, each vertex entered once. A vertex
// that is met while it is on the stack lies on a cycle; the shortest one through it is then found
// breadth first, since a person has to read it.

#include "routing/lane_graph.h"

#include <errno.h>
#include <string.h>

enum colour { WHITE, GREY, BLACK };

// What is searched: dependencies that are held, all that are allowed, or these with ports of one
// class at a switch taken as one. The last is much smaller. It has dependencies that are not there,
// from a port back to itself; so without a cycle there is none, but not the other way round.
enum kind { HELD, ALLOWED, BY_CLASS };

// A vertex and the local link of its far switch that is next to be looked at.
struct frame {
	uint32_t vertex;
	uint32_t local;
};

struct search {
	const struct lane_graph *graph;
	enum kind kind;
	uint32_t vertex_count;
	uint32_t
		*first_alike; // [link_count] a link to the same switch, at a port of the same class
	uint8_t *colour;
	struct frame *stack;
};

int lane_graph_init(const struct topo *topo, const uint8_t *link_up, const struct turn_rules *rules,
		    struct arena *keep, struct lane_graph *graph)
{
	uint32_t degree = 0;

	for (uint32_t s = 0; s < topo->switch_count; s++)
		degree = topo_degree(topo, s) > degree ? topo_degree(topo, s) : degree;
	*graph = (struct lane_graph){
		.topo = topo,
		.link_up = link_up,
		.rules = rules,
		.lanes = rules == NULL ? 1 : rules->lane_count,
		.words = (degree + 63) / 64,
		.special = arena_take(keep, topo->switch_count, sizeof(*graph->special)),
	};
	graph->held = arena_take(keep, (size_t)topo->link_count * graph->lanes * graph->words,
				 sizeof(*graph->held));
	if (graph->held == NULL || graph->special == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; rules != NULL && i < rules->exception_count; i++)
		graph->special[topo->link_switch[rules->exception[i].out]] = 1;
	return 0;
}

static bool is_alike(const struct turn_rules *rules, uint32_t a, uint32_t b)
{
	return rules == NULL || rules->link_class[a] == rules->link_class[b];
}

void lane_graph_find_alike(const struct lane_graph *graph, uint32_t *first_alike)
{
	const struct topo *topo = graph->topo;

	for (uint32_t in = 0; in < topo->link_count; in++) {
		const uint32_t at = topo->link_switch[in];
		uint32_t first = topo->link_first[at];

		if (graph->special[at])
			first = in;
		// Ports of a switch have few classes, the first of which come early.
		while (first < in && !(graph->link_up[first] && is_alike(graph->rules, first, in)))
			first++;
		first_alike[topo->link_peer[in]] = topo->link_peer[first];
	}
}

// The next link that the vertex depends on, from f->local on; TOPO_NONE: there are no more.
static uint32_t next_link(const struct search *s, struct frame *f, uint32_t at,
			  const uint64_t *held)
{
	const uint32_t first = s->graph->topo->link_first[at];
	const uint32_t degree = topo_degree(s->graph->topo, at);
	uint32_t local = f->local;

	if (s->kind == HELD) {
		while (local < degree && held[local / 64] >> local % 64 == 0)
			local = (local / 64 + 1) * 64;
		if (local < degree)
			local += (uint32_t)__builtin_ctzll(held[local / 64] >> local % 64);
	}
	f->local = local + 1;
	return local < degree ? first + local : TOPO_NONE;
}

// The next vertex that this one depends on, TOPO_NONE: there are no more.
static uint32_t next_vertex(const struct search *s, struct frame *f)
{
	const struct lane_graph *graph = s->graph;
	const uint32_t over = f->vertex / graph->lanes;
	const uint32_t lane = f->vertex % graph->lanes;
	const uint64_t *held = lane_graph_held(graph, over, lane);
	const uint32_t in = graph->topo->link_peer[over];
	const uint32_t at = graph->topo->link_switch[in];
	const bool by_class = s->kind == BY_CLASS && !graph->special[at];

	for (uint32_t out; (out = next_link(s, f, at, held)) != TOPO_NONE;) {
		const uint8_t to = by_class ? lane_graph_class_turn(graph->rules,
								    graph->rules->link_class[in],
								    out, lane) :
					      lane_graph_turn(graph, over, out, lane);

		if (to != TURN_DENY && graph->link_up[out])
			return (s->kind == BY_CLASS ? s->first_alike[out] : out) * graph->lanes +
			       to;
	}
	return TOPO_NONE;
}

// A vertex on a cycle that can be reached from `root`, or TOPO_NONE.
static uint32_t search_from(struct search *s, uint32_t root)
{
	uint32_t depth = 0;

	s->stack[depth++] = (struct frame){ .vertex = root };
	s->colour[root] = GREY;
	while (depth > 0) {
		const uint32_t next = next_vertex(s, &s->stack[depth - 1]);

		if (next == TOPO_NONE) {
			s->colour[s->stack[--depth].vertex] = BLACK;
			continue;
		}
		if (s->colour[next] == GREY)
			return next;
		if (s->colour[next] == WHITE) {
			s->colour[next] = GREY;
			s->stack[depth++] = (struct frame){ .vertex = next };
		}
	}
	return TOPO_NONE;
}

// A vertex on a cycle, or TOPO_NONE.
static uint32_t search(struct search *s)
{
	const struct lane_graph *graph = s->graph;
	uint32_t found = TOPO_NONE;

	memset(s->colour, WHITE, s->vertex_count * sizeof(*s->colour));
	for (uint32_t v = 0; v < s->vertex_count && found == TOPO_NONE; v++) {
		const uint32_t link = v / graph->lanes;

		if (s->colour[v] == WHITE && graph->link_up[link] &&
		    (s->kind != BY_CLASS || s->first_alike[link] == link))
			found = search_from(s, v);
	}
	return found;
}

// Queues what a vertex depends on and was not met before; true when `wanted` is among it.
static bool widen(const struct search *s, uint32_t vertex, uint32_t wanted, uint32_t *before,
		  uint32_t *queue, uint32_t *tail)
{
	struct frame f = { .vertex = vertex };

	for (uint32_t next; (next = next_vertex(s, &f)) != TOPO_NONE;) {
		if (next == wanted)
			return true;
		if (before[next] != TOPO_NONE)
			continue;
		before[next] = vertex;
		queue[(*tail)++] = next;
	}
	return false;
}

// The last vertex on the shortest way from `vertex` back to it; before[] leads from each to the one
// before it.
static uint32_t walk_round(const struct search *s, uint32_t vertex, uint32_t *before,
			   uint32_t *queue)
{
	uint32_t head = 0;
	uint32_t tail = 0;

	for (uint32_t v = 0; v < s->vertex_count; v++)
		before[v] = TOPO_NONE;
	queue[tail++] = vertex;
	while (head < tail) {
		const uint32_t at = queue[head++];

		if (widen(s, at, vertex, before, queue, &tail))
			return at;
	}
	return vertex; // Not reached: it lies on a cycle.
}

static int print(const struct search *s, uint32_t vertex, struct arena *keep, struct arena *scratch,
		 const struct violation_hop **cycle, uint32_t *count)
{
	uint32_t *before = arena_take_raw(scratch, s->vertex_count, sizeof(*before));
	uint32_t *queue = arena_take_raw(scratch, s->vertex_count, sizeof(*queue));
	struct violation_hop *hops;
	uint32_t length = 1;
	uint32_t last;

	if (before == NULL || queue == NULL)
		return -ENOMEM;
	last = walk_round(s, vertex, before, queue);
	for (uint32_t v = last; v != vertex; v = before[v])
		length++;
	*count = length < VERIFY_PATH_MAX ? length : VERIFY_PATH_MAX;
	hops = arena_take(keep, *count, sizeof(*hops));
	if (hops == NULL)
		return -ENOMEM;
	for (uint32_t i = length, v = last; i-- > 0; v = before[v]) {
		if (i < *count)
			hops[i] = (struct violation_hop){
				.link = v / s->graph->lanes,
				.lane = (uint8_t)(v % s->graph->lanes),
			};
	}
	*cycle = hops;
	return 0;
}

static int find_cycle(struct search *s, enum lane_graph_part part, struct arena *keep,
		      struct arena *scratch, const struct violation_hop **cycle, uint32_t *count)
{
	uint32_t vertex;

	s->colour = arena_take_raw(scratch, s->vertex_count, sizeof(*s->colour));
	s->stack = arena_take_raw(scratch, s->vertex_count, sizeof(*s->stack));
	s->first_alike = arena_take_raw(scratch, s->graph->topo->link_count,
					sizeof(*s->first_alike));
	if (s->colour == NULL || s->stack == NULL || s->first_alike == NULL)
		return -ENOMEM;
	if (part == LANE_GRAPH_ALLOWED && s->graph->rules != NULL) {
		lane_graph_find_alike(s->graph, s->first_alike);
		s->kind = BY_CLASS;
		if (search(s) == TOPO_NONE)
			return 0;
	}
	s->kind = part == LANE_GRAPH_HELD ? HELD : ALLOWED;
	vertex = search(s);
	return vertex == TOPO_NONE ? 0 : print(s, vertex, keep, scratch, cycle, count);
}

int lane_graph_cycle(const struct lane_graph *graph, enum lane_graph_part part, struct arena *keep,
		     struct arena *scratch, const struct violation_hop **cycle, uint32_t *count)
{
	const size_t mark = arena_mark(scratch);
	struct search s = {
		.graph = graph,
		.vertex_count = graph->topo->link_count * graph->lanes,
	};
	int rc;

	*count = 0;
	*cycle = NULL;
	rc = find_cycle(&s, part, keep, scratch, cycle, count);
	arena_release(scratch, mark);
	return rc;
}
