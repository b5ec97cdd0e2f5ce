// SPDX-License-Identifier: BSD-3-Clause
//
// Building an order: links are told from the heights of their ends, those that go up are put side
// by side, and switches are sorted from the top by counting.

#include "routing/order.h"

#include <errno.h>
#include <string.h>

static int take(struct order *order, struct arena *keep)
{
	const struct topo *topo = order->topo;
	const uint32_t up_count = topo->link_count / 2;

	order->top_down = arena_take_raw(keep, topo->switch_count, sizeof(*order->top_down));
	order->way = arena_take_raw(keep, topo->link_count, sizeof(*order->way));
	order->up_first = arena_take_raw(keep, topo->switch_count + 1u, sizeof(*order->up_first));
	order->up_link = arena_take_raw(keep, up_count, sizeof(*order->up_link));
	order->up_far = arena_take_raw(keep, up_count, sizeof(*order->up_far));
	order->up_weight = arena_take_raw(keep, up_count, sizeof(*order->up_weight));
	order->has_below = arena_take(keep, topo->switch_count, sizeof(*order->has_below));
	return order->up_weight != NULL && order->has_below != NULL && order->top_down != NULL &&
			       order->way != NULL && order->up_first != NULL &&
			       order->up_link != NULL && order->up_far != NULL ?
		       0 :
		       -ENOMEM;
}

static int set_ways(struct order *order, const struct topo_state *ignored, uint32_t *level)
{
	const struct topo *topo = order->topo;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t here = order->height[topo->link_switch[link]];
		const uint32_t far = order->height[topo_far(topo, link)];

		order->way[link] = ORDER_UNUSED;
		if (here == ORDER_NO_PLACE || far == ORDER_NO_PLACE ||
		    (ignored != NULL && !topo_link_up(topo, ignored, link)))
			continue;
		if (here == far) {
			*level = link;
			return 1;
		}
		order->way[link] = far > here ? ORDER_UP : ORDER_DOWN;
	}
	return 0;
}

static uint32_t list_link(struct order *order, uint32_t link, uint32_t count)
{
	const struct topo *topo = order->topo;

	order->has_below[topo->link_switch[link]] |= order->way[link] == ORDER_DOWN;
	if (order->way[link] != ORDER_UP)
		return count;
	order->up_link[count] = link;
	order->up_weight[count] = topo->link_weight[link];
	order->up_far[count] = (uint16_t)topo_far(topo, link);
	return count + 1;
}

static void list_ups(struct order *order)
{
	const struct topo *topo = order->topo;
	uint32_t count = 0;

	for (uint32_t s = 0; s < topo->switch_count; s++) {
		order->up_first[s] = count;
		for (uint32_t link = topo->link_first[s]; link < topo->link_first[s + 1]; link++)
			count = list_link(order, link, count);
	}
	order->up_first[topo->switch_count] = count;
}

static uint32_t count_heights(const struct order *order)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < order->topo->switch_count; s++) {
		if (order->height[s] != ORDER_NO_PLACE && order->height[s] >= count)
			count = order->height[s] + 1;
	}
	return count;
}

static int sort_switches(struct order *order, struct arena *scratch)
{
	const uint32_t switches = order->topo->switch_count;
	const uint32_t heights = count_heights(order);
	uint32_t *first = arena_take(scratch, heights, sizeof(*first));
	uint32_t sum = 0;

	if (first == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < switches; s++) {
		if (order->height[s] != ORDER_NO_PLACE)
			first[order->height[s]]++;
	}
	for (uint32_t h = heights; h-- > 0;) {
		const uint32_t count = first[h];

		first[h] = sum;
		sum += count;
	}
	order->placed_count = sum;
	for (uint32_t s = 0; s < switches; s++) {
		if (order->height[s] != ORDER_NO_PLACE)
			order->top_down[first[order->height[s]]++] = s;
	}
	return 0;
}

int order_init(const struct topo *topo, const struct topo_state *ignored, uint32_t *height,
	       struct arena *keep, struct arena *scratch, struct order *order, uint32_t *level)
{
	const size_t mark = arena_mark(scratch);
	int rc;

	*order = (struct order){ .topo = topo, .height = height };
	rc = take(order, keep);
	if (rc == 0)
		rc = set_ways(order, ignored, level);
	if (rc != 0)
		return rc;
	list_ups(order);
	rc = sort_switches(order, scratch);
	if (keep != scratch)
		arena_release(scratch, mark);
	return rc;
}

int order_rules(const struct order *order, struct arena *keep, struct turn_rules *rules)
{
	if (turn_rules_init(order->topo, 1, ORDER_CLASSES, 0, keep, rules) != 0)
		return -ENOMEM;
	memcpy(rules->link_class, order->way, order->topo->link_count);
	turn_rules_allow(rules, TURN_CLASS_HOST, ORDER_UP, 0, 0);
	turn_rules_allow(rules, TURN_CLASS_HOST, ORDER_DOWN, 0, 0);
	// What arrives at a port that leads down is on its way up.
	turn_rules_allow(rules, ORDER_DOWN, ORDER_UP, 0, 0);
	turn_rules_allow(rules, ORDER_DOWN, ORDER_DOWN, 0, 0);
	turn_rules_allow(rules, ORDER_UP, ORDER_DOWN, 0, 0);
	return 0;
}
