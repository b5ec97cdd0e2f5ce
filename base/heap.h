// SPDX-License-Identifier: BSD-3-Clause
//
// Timers of many owners: a 4-ary min-heap of times, at most one for each owner, which can be moved
// or taken away at any moment. Owners with equal times come in no stated order.
//
// The caller gives both arrays: `node` holds the heap, `place` says where an owner is in it.
#pragma once

#include "base/types.h"

enum { HEAP_OUT = UINT32_MAX };

struct heap_node {
	ns_t at;
	uint32_t id;
};

struct heap {
	struct heap_node *node; // `max` of them
	uint32_t *place;        // by id: index into node, or HEAP_OUT
	uint32_t count;
	uint32_t max; // ids are below it
};

static inline void heap_init(struct heap *heap, struct heap_node *node, uint32_t *place,
			     uint32_t max)
{
	*heap = (struct heap){ .node = node, .place = place, .max = max };
	for (uint32_t i = 0; i < max; i++)
		place[i] = HEAP_OUT;
}

// The earliest time, NS_NEVER when there is none.
static inline ns_t heap_next(const struct heap *heap)
{
	return heap->count == 0 ? NS_NEVER : heap->node[0].at;
}

static inline void heap_put(struct heap *heap, uint32_t at, struct heap_node node)
{
	heap->node[at] = node;
	heap->place[node.id] = at;
}

// The earliest child of the node at `at`, at or behind heap->count when it has none.
static inline uint32_t heap_least_child(const struct heap *heap, uint32_t at)
{
	const uint32_t first = 4 * at + 1;
	const uint32_t end = first + 4 < heap->count ? first + 4 : heap->count;
	uint32_t least = first;

	for (uint32_t i = first + 1; i < end; i++) {
		if (ns_before(heap->node[i].at, heap->node[least].at))
			least = i;
	}
	return least;
}

// Moves the node at `at` to where its time belongs.
static inline void heap_settle(struct heap *heap, uint32_t at)
{
	const struct heap_node node = heap->node[at];
	uint32_t least;

	while (at > 0 && ns_before(node.at, heap->node[(at - 1) / 4].at)) {
		heap_put(heap, at, heap->node[(at - 1) / 4]);
		at = (at - 1) / 4;
	}
	least = heap_least_child(heap, at);
	while (least < heap->count && ns_before(heap->node[least].at, node.at)) {
		heap_put(heap, at, heap->node[least]);
		at = least;
		least = heap_least_child(heap, at);
	}
	heap_put(heap, at, node);
}

// Takes the owner's time away, if it has one.
static inline void heap_remove(struct heap *heap, uint32_t id)
{
	const uint32_t at = heap->place[id];

	if (at == HEAP_OUT)
		return;
	heap->place[id] = HEAP_OUT;
	heap->count--;
	if (at == heap->count)
		return;
	heap_put(heap, at, heap->node[heap->count]);
	heap_settle(heap, at);
}

// Gives the owner this time instead of the one it had; NS_NEVER takes it away.
static inline void heap_set(struct heap *heap, uint32_t id, ns_t at)
{
	if (at.v == NS_NEVER.v) {
		heap_remove(heap, id);
		return;
	}
	if (heap->place[id] == HEAP_OUT)
		heap_put(heap, heap->count++, (struct heap_node){ at, id });
	else if (heap->node[heap->place[id]].at.v == at.v)
		return;
	else
		heap->node[heap->place[id]].at = at;
	heap_settle(heap, heap->place[id]);
}
