// SPDX-License-Identifier: BSD-3-Clause
//
// The heap of timers against a plain list: whatever is set, moved and taken away, in any order, the
// earliest time is the list's, and each owner is where the heap says.

#include "base/heap.h"
#include "tests/table.h"

enum { OWNERS = 200, STEPS = 20000 };

static ns_t least(const ns_t *list)
{
	ns_t at = NS_NEVER;

	for (uint32_t i = 0; i < OWNERS; i++)
		at = ns_min(at, list[i]);
	return at;
}

static void check_places(const struct heap *heap, const ns_t *list)
{
	uint32_t in = 0;

	for (uint32_t i = 0; i < OWNERS; i++) {
		in += list[i].v != NS_NEVER.v;
		cr_assert_eq(heap->place[i] == HEAP_OUT, list[i].v == NS_NEVER.v);
		if (heap->place[i] != HEAP_OUT)
			cr_assert_eq(heap->node[heap->place[i]].at.v, list[i].v);
	}
	cr_assert_eq(heap->count, in);
}

SEED_TEST(base_heap, agrees_with_a_list, rng, 20)
{
	static struct heap_node node[OWNERS];
	static uint32_t place[OWNERS];
	ns_t list[OWNERS];
	struct heap heap;

	heap_init(&heap, node, place, OWNERS);
	for (uint32_t i = 0; i < OWNERS; i++)
		list[i] = NS_NEVER;
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint32_t id = rng_below(rng, OWNERS);

		list[id] = rng_below(rng, 3) == 0 ? NS_NEVER : (ns_t){ rng_below(rng, 1000) };
		if (list[id].v == NS_NEVER.v && rng_below(rng, 2) == 0)
			heap_remove(&heap, id);
		else
			heap_set(&heap, id, list[id]);
		cr_assert_eq(heap_next(&heap).v, least(list).v);
		check_places(&heap, list);
	}
}
