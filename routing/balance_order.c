// SPDX-License-Identifier: BSD-3-Clause
//
// The order of switches: rows that lead to each are counted, then taken back one by one, switch by
// switch, as those that wait for none get their turn.

#include "routing/balance_order.h"

#include <errno.h>
#include <string.h>

static uint16_t find_top(const struct plan *plan, uint16_t group)
{
	const struct plan_group *g = verify_group(plan, group);
	uint16_t top = 0;

	for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
		const uint16_t link = plan->hop[g->first + i].link;

		if (link >= TOPO_DEGREE_MAX)
			return 0;
		top = link >= top ? (uint16_t)(link + 1) : top;
	}
	return top;
}

int balance_order_init(const struct topo *topo, const struct plan *plan, struct arena *scratch,
		       struct balance_order *order)
{
	*order = (struct balance_order){
		.topo = topo,
		.plan = plan,
		.far = arena_take_raw(scratch, topo->link_count, sizeof(*order->far)),
		.top = arena_take_raw(scratch, plan->group_count, sizeof(*order->top)),
		.waits = arena_take_raw(scratch, topo->switch_count, sizeof(*order->waits)),
		.at = arena_take_raw(scratch, topo->switch_count, sizeof(*order->at)),
	};
	if (order->far == NULL || order->top == NULL || order->waits == NULL || order->at == NULL)
		return -ENOMEM;
	for (uint32_t link = 0; link < topo->link_count; link++)
		order->far[link] = topo_far(topo, link);
	for (uint32_t g = 0; g < plan->group_count; g++)
		order->top[g] = find_top(plan, (uint16_t)g);
	return 0;
}

static void count_waits(struct balance_order *o)
{
	o->pinned = false;
	memset(o->waits, 0, o->topo->switch_count * sizeof(*o->waits));
	for (uint32_t s = 0; s < o->topo->switch_count; s++) {
		const struct plan_group *g = balance_group_at(o, s);
		const uint32_t *far = o->far + o->topo->link_first[s];

		for (uint32_t i = 0; g != NULL && i < g->hop_count; i++)
			o->waits[far[o->plan->hop[g->first + i].link]]++;
		o->pinned |= g != NULL && g->pin != 0;
	}
}

static void place(struct balance_order *o, uint32_t at)
{
	const struct plan_group *g = balance_group_at(o, at);
	const uint32_t *far = o->far + o->topo->link_first[at];

	for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
		const uint32_t next = far[o->plan->hop[g->first + i].link];

		if (--o->waits[next] == 0)
			o->at[o->count++] = next;
	}
}

void balance_order_find(struct balance_order *order, uint32_t edge)
{
	order->row = plan_rows(order->plan, edge);
	order->count = 0;
	count_waits(order);
	for (uint32_t s = 0; s < order->topo->switch_count; s++) {
		if (order->waits[s] == 0)
			order->at[order->count++] = s;
	}
	for (uint32_t n = 0; n < order->count; n++)
		place(order, order->at[n]);
}
