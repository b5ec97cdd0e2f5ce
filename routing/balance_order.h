// SPDX-License-Identifier: BSD-3-Clause
//
// The order in which packets for one edge pass switches: each after all whose rows lead to it (Kahn
// 1962), so that what comes to it is complete when it is its turn. Switches of a loop have no place
// in it. Internal to balance.
#pragma once

#include "routing/verify_walk.h"

struct balance_order {
	const struct topo *topo;
	const struct plan *plan;
	uint32_t *far;   // [link_count] switch that a link leads to
	uint16_t *top;   // [groups] the highest local link + 1, 0: no group that makes sense
	uint32_t *waits; // [switch_count] rows that lead here and did not have their turn
	uint32_t *at;    // [switch_count] the order
	uint32_t count;
	const uint16_t *row; // of the edge
	bool pinned;         // there is a pinned group among the rows
};

// 0, or -ENOMEM.
int balance_order_init(const struct topo *topo, const struct plan *plan, struct arena *scratch,
		       struct balance_order *order);

void balance_order_find(struct balance_order *order, uint32_t edge);

// The group of a switch's row, NULL: packets go no further. Links that there are not end it too.
static inline const struct plan_group *balance_group_at(const struct balance_order *order,
							uint32_t at)
{
	const uint16_t row = order->row[at];

	if (row >= order->plan->group_count || order->top[row] == 0 ||
	    order->top[row] > topo_degree(order->topo, at))
		return NULL;
	return &order->plan->group[row];
}
