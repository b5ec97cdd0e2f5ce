// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks as heights of an order. With one root for each connected part, every switch has a way up to
// its root and the root a way down to it, so everything is reached.

#include "routing/updown.h"

#include <string.h>

#include "routing/distance.h"
#include "routing/valley_free.h"

// Work space of one ranking.
struct ranking {
	const struct topo *topo;
	const struct topo_state *state; // NULL: nothing is lost
	uint32_t *root;                 // [root_count]
	uint32_t root_count;
	uint32_t *distance; // [switch_count]
	uint32_t *queue;    // [switch_count]
	uint32_t *rank;     // [switch_count]
};

static const struct valley_free_options updown_options = {
	.weights = VALLEY_FREE_PLAIN,
	.churn_rows = VALLEY_FREE_ANY_CHURN,
};

static bool fail(struct plan_fault *fault, enum plan_fault_kind kind, uint32_t at)
{
	*fault = (struct plan_fault){ .kind = kind, .at = at };
	return false;
}

// `given` roots may name a switch several times.
static bool take(struct ranking *r, uint32_t given, struct arena *scratch)
{
	const uint32_t switches = r->topo->switch_count;

	r->root = arena_take_raw(scratch, given > switches ? given : switches, sizeof(*r->root));
	r->distance = arena_take_raw(scratch, switches, sizeof(*r->distance));
	r->queue = arena_take_raw(scratch, switches, sizeof(*r->queue));
	r->rank = arena_take_raw(scratch, switches, sizeof(*r->rank));
	return r->root != NULL && r->distance != NULL && r->queue != NULL && r->rank != NULL;
}

static bool is_lost(const struct ranking *r, uint32_t at)
{
	return r->state != NULL && r->state->switch_lost[at] != 0;
}

// Ranks from the roots; a part without one gets its lowest number.
static void rank_all(struct ranking *r)
{
	const struct topo *topo = r->topo;

	distance_find(topo, r->state, r->root, r->root_count, r->rank, r->queue);
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		if (r->rank[s] == DISTANCE_NONE)
			distance_spread(topo, r->state, s, r->rank, r->queue);
	}
}

static bool is_above(const struct ranking *r, uint32_t at, uint32_t other)
{
	return r->rank[at] != r->rank[other] ? r->rank[at] < r->rank[other] : at < other;
}

// Puts into the queue what a switch has below it.
static uint32_t add_below(struct ranking *r, uint32_t at, uint8_t *seen, uint32_t count)
{
	const struct topo *topo = r->topo;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);

		if (seen[far] || !is_above(r, at, far) || !distance_link(topo, r->state, link))
			continue;
		seen[far] = 1;
		r->queue[count++] = far;
	}
	return count;
}

// Whether the first root has a way down to every edge that it is connected to.
static bool first_root_is_above_all(struct ranking *r)
{
	const struct topo *topo = r->topo;
	uint8_t *seen = (uint8_t *)r->distance;
	uint32_t count = 1;

	memset(seen, 0, topo->switch_count);
	seen[r->root[0]] = 1;
	r->queue[0] = r->root[0];
	for (uint32_t k = 0; k < count; k++)
		count = add_below(r, r->queue[k], seen, count);
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		if (!seen[topo->edge_switch[e]] && !is_lost(r, topo->edge_switch[e]))
			return false;
	}
	return true;
}

// Half way along a longest of the shortest paths, as two searches find it.
static uint32_t find_middle(struct ranking *r)
{
	const struct topo *topo = r->topo;
	uint32_t at = 0;
	uint32_t count, left;

	while (at + 1 < topo->switch_count && is_lost(r, at))
		at++;
	count = distance_find(topo, r->state, &at, 1, r->distance, r->queue);
	at = r->queue[count - 1];
	count = distance_find(topo, r->state, &at, 1, r->distance, r->queue);
	at = r->queue[count - 1];
	left = r->distance[at] / 2;
	for (uint32_t link = topo->link_first[at]; left > 0; link++) {
		const uint32_t far = topo_far(topo, link);

		if (r->distance[far] + 1 != r->distance[at] || !distance_link(topo, r->state, link))
			continue;
		at = far;
		left--;
		link = topo->link_first[at] - 1;
	}
	return at;
}

// The switches farthest from hosts, if there are any without. Leaves the number of roots.
static void find_farthest(struct ranking *r)
{
	const struct topo *topo = r->topo;
	const uint32_t count = distance_find(topo, r->state, topo->edge_switch, topo->edge_count,
					     r->distance, r->queue);
	const uint32_t most = count == 0 ? 0 : r->distance[r->queue[count - 1]];

	r->root_count = 0;
	for (uint32_t s = 0; s < topo->switch_count && most > 0; s++) {
		if (r->distance[s] == most)
			r->root[r->root_count++] = s;
	}
}

static void choose_roots(struct ranking *r)
{
	if (r->topo->switch_count == 0)
		return;
	find_farthest(r);
	if (r->root_count > 0) {
		rank_all(r);
		if (first_root_is_above_all(r))
			return;
	}
	r->root[0] = find_middle(r);
	r->root_count = 1;
	rank_all(r);
}

// The given roots that are left.
static bool use_roots(struct ranking *r, const struct updown *updown, struct plan_fault *fault)
{
	r->root_count = 0;
	for (uint32_t i = 0; i < updown->root_count; i++) {
		const uint32_t root = updown->root[i];

		if (root >= r->topo->switch_count)
			return fail(fault, PLAN_FAULT_ROOT, root);
		if (!is_lost(r, root))
			r->root[r->root_count++] = root;
	}
	if (r->root_count == 0)
		return fail(fault, PLAN_FAULT_ROOT, updown->root[0]);
	rank_all(r);
	return true;
}

// Heights that are all different: the lowest rank on top, and in a rank the lowest number.
static void set_heights(struct ranking *r, uint32_t *height)
{
	const uint32_t switches = r->topo->switch_count;
	uint32_t *first = r->queue;
	uint32_t sum = switches;

	memset(first, 0, switches * sizeof(*first));
	for (uint32_t s = 0; s < switches; s++)
		first[r->rank[s]]++;
	for (uint32_t rank = 0; rank < switches; rank++) {
		const uint32_t count = first[rank];

		first[rank] = sum;
		sum -= count;
	}
	for (uint32_t s = 0; s < switches; s++)
		height[s] = --first[r->rank[s]];
}

static bool rank_order(const struct topo *topo, const struct topo_state *state,
		       const struct updown *updown, struct arena *keep, struct arena *scratch,
		       struct order *order, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	uint32_t *height = arena_take_raw(keep, topo->switch_count, sizeof(*height));
	struct ranking r = { .topo = topo, .state = state };
	uint32_t level;
	bool good = true;

	if (height == NULL || !take(&r, updown->root_count, scratch))
		good = fail(fault, PLAN_FAULT_MEMORY, 0);
	else if (updown->root_count != 0)
		good = use_roots(&r, updown, fault);
	else
		choose_roots(&r);
	if (good) {
		set_heights(&r, height);
		good = order_init(topo, state, height, keep, scratch, order, &level) == 0 ||
		       fail(fault, PLAN_FAULT_MEMORY, 0);
	}
	if (keep != scratch)
		arena_release(scratch, mark);
	return good;
}

bool updown_init(const struct topo *topo, const uint32_t *root, uint32_t root_count,
		 const struct topo_state *ignored, struct arena *keep, struct arena *scratch,
		 struct updown *updown, struct plan_fault *fault)
{
	*updown = (struct updown){ .root = root, .root_count = root_count };
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	return rank_order(topo, ignored, updown, keep, scratch, &updown->order, fault);
}

static bool set_rules(const struct order *order, struct plan *plan)
{
	if (plan->turns.class_count != ORDER_CLASSES)
		return order_rules(order, plan->keep, &plan->turns) == 0;
	memcpy(plan->turns.link_class, order->way, order->topo->link_count);
	return true;
}

static bool plan_in_order(const struct order *order, const struct topo_state *state,
			  struct arena *scratch, struct plan *plan, struct plan_fault *fault)
{
	if (!set_rules(order, plan))
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	return valley_free_plan(order, state, &updown_options, scratch, plan, fault);
}

// With ranks of what is left.
static bool plan_anew(const struct updown *updown, const struct topo_state *state,
		      struct arena *scratch, struct plan *plan, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	struct order order;
	bool good;

	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	plan_forget_groups(plan);
	good = rank_order(updown->order.topo, state, updown, scratch, scratch, &order, fault) &&
	       plan_in_order(&order, state, scratch, plan, fault);
	arena_release(scratch, mark);
	return good;
}

bool updown_plan(const struct updown *updown, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault)
{
	if (plan_in_order(&updown->order, state, scratch, plan, fault))
		return true;
	return fault->kind == PLAN_FAULT_UNREACHABLE &&
	       plan_anew(updown, state, scratch, plan, fault);
}

bool updown_replan(const struct updown *updown, const struct topo_state *before,
		   const struct topo_state *after, struct arena *scratch, struct plan *plan,
		   struct plan_fault *fault)
{
	const struct order *order = &updown->order;

	// Ranked anew before: there is nothing to go on from.
	if (memcmp(plan->turns.link_class, order->way, order->topo->link_count) != 0) {
		plan_forget_groups(plan);
		return updown_plan(updown, after, scratch, plan, fault);
	}
	if (valley_free_replan(order, before, after, &updown_options, scratch, plan, fault))
		return true;
	return fault->kind == PLAN_FAULT_UNREACHABLE &&
	       plan_anew(updown, after, scratch, plan, fault);
}
