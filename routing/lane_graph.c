// SPDX-License-Identifier: BSD-3-Clause
//
// Looking for a cycle: depth first, with a stack of its own, each vertex entered once. A vertex
// that is met while it is on the stack lies on a cycle; the shortest one through it is then found
// breadth first, since a person has to read it.

#include "routing/lane_graph.h"

#include <errno.h>

enum colour { WHITE, GREY, BLACK };

// A vertex and the local link of its far switch that is next to be looked at.
struct frame {
	uint32_t vertex;
	uint32_t local;
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
	};
	graph->held = arena_take(keep, (size_t)topo->link_count * graph->lanes * graph->words,
				 sizeof(*graph->held));
	return graph->held != NULL ? 0 : -ENOMEM;
}

// The next vertex that this one depends on, TOPO_NONE: there are no more.
static uint32_t next_vertex(const struct lane_graph *graph, enum lane_graph_part part,
			    struct frame *f)
{
	const uint32_t link = f->vertex / graph->lanes;
	const uint32_t lane = f->vertex % graph->lanes;
	const uint64_t *held = lane_graph_held(graph, link, lane);
	const uint32_t at = topo_far(graph->topo, link);
	const uint32_t first = graph->topo->link_first[at];

	while (f->local < topo_degree(graph->topo, at)) {
		const uint32_t local = f->local++;
		uint8_t to;

		if (part == LANE_GRAPH_HELD && !(held[local / 64] >> local % 64 & 1))
			continue;
		to = graph->link_up[first + local] ?
			     lane_graph_turn(graph, link, first + local, lane) :
			     (uint8_t)TURN_DENY;
		if (to != TURN_DENY)
			return (first + local) * graph->lanes + to;
	}
	return TOPO_NONE;
}

// A vertex on a cycle that can be reached from `root`, or TOPO_NONE.
static uint32_t search(const struct lane_graph *graph, enum lane_graph_part part, uint32_t root,
		       uint8_t *colour, struct frame *stack)
{
	uint32_t depth = 0;

	stack[depth++] = (struct frame){ .vertex = root };
	colour[root] = GREY;
	while (depth > 0) {
		const uint32_t next = next_vertex(graph, part, &stack[depth - 1]);

		if (next == TOPO_NONE) {
			colour[stack[--depth].vertex] = BLACK;
			continue;
		}
		if (colour[next] == GREY)
			return next;
		if (colour[next] == WHITE) {
			colour[next] = GREY;
			stack[depth++] = (struct frame){ .vertex = next };
		}
	}
	return TOPO_NONE;
}

// Queues what a vertex depends on and was not met before; true when `wanted` is among it.
static bool widen(const struct lane_graph *graph, enum lane_graph_part part, uint32_t vertex,
		  uint32_t wanted, uint32_t *before, uint32_t *queue, uint32_t *tail)
{
	struct frame f = { .vertex = vertex };

	for (uint32_t next; (next = next_vertex(graph, part, &f)) != TOPO_NONE;) {
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
static uint32_t walk_round(const struct lane_graph *graph, enum lane_graph_part part,
			   uint32_t vertex, uint32_t *before, uint32_t *queue)
{
	uint32_t head = 0;
	uint32_t tail = 0;

	for (uint32_t v = 0; v < graph->topo->link_count * graph->lanes; v++)
		before[v] = TOPO_NONE;
	queue[tail++] = vertex;
	while (head < tail) {
		const uint32_t at = queue[head++];

		if (widen(graph, part, at, vertex, before, queue, &tail))
			return at;
	}
	return vertex; // Not reached: it lies on a cycle.
}

static int print(const struct lane_graph *graph, enum lane_graph_part part, uint32_t vertex,
		 struct arena *keep, struct arena *scratch, const struct violation_hop **cycle,
		 uint32_t *count)
{
	const uint32_t vertices = graph->topo->link_count * graph->lanes;
	uint32_t *before = arena_take_raw(scratch, vertices, sizeof(*before));
	uint32_t *queue = arena_take_raw(scratch, vertices, sizeof(*queue));
	struct violation_hop *hops;
	uint32_t length = 1;
	uint32_t last;

	if (before == NULL || queue == NULL)
		return -ENOMEM;
	last = walk_round(graph, part, vertex, before, queue);
	for (uint32_t v = last; v != vertex; v = before[v])
		length++;
	*count = length < VERIFY_PATH_MAX ? length : VERIFY_PATH_MAX;
	hops = arena_take(keep, *count, sizeof(*hops));
	if (hops == NULL)
		return -ENOMEM;
	for (uint32_t i = length, v = last; i-- > 0; v = before[v]) {
		if (i < *count)
			hops[i] = (struct violation_hop){
				.link = v / graph->lanes,
				.lane = (uint8_t)(v % graph->lanes),
			};
	}
	*cycle = hops;
	return 0;
}

int lane_graph_cycle(const struct lane_graph *graph, enum lane_graph_part part, struct arena *keep,
		     struct arena *scratch, const struct violation_hop **cycle, uint32_t *count)
{
	const size_t mark = arena_mark(scratch);
	const uint32_t vertices = graph->topo->link_count * graph->lanes;
	uint8_t *colour = arena_take(scratch, vertices, sizeof(*colour));
	struct frame *stack = arena_take_raw(scratch, vertices, sizeof(*stack));
	uint32_t vertex = TOPO_NONE;
	int rc = colour == NULL || stack == NULL ? -ENOMEM : 0;

	*count = 0;
	*cycle = NULL;
	for (uint32_t v = 0; rc == 0 && v < vertices && vertex == TOPO_NONE; v++) {
		if (colour[v] == WHITE && graph->link_up[v / graph->lanes])
			vertex = search(graph, part, v, colour, stack);
	}
	if (vertex != TOPO_NONE)
		rc = print(graph, part, vertex, keep, scratch, cycle, count);
	arena_release(scratch, mark);
	return rc;
}
