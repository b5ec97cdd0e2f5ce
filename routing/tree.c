// SPDX-License-Identifier: BSD-3-Clause
//
// Levels of a tree are the heights of an order; rows and rules are those of any order.
//
// Levels are distances, so links that are not within a level join neighbouring ones, and a way down
// that exists at all is a shortest path. Only levels that were given may be skipped.

#include "routing/tree.h"

#include <string.h>

#include "routing/distance.h"

enum { TIER_MAX = 254 };

static bool fail(struct plan_fault *fault, enum plan_fault_kind kind, uint32_t at)
{
	*fault = (struct plan_fault){ .kind = kind, .at = at };
	return false;
}

static bool has_link(const struct topo *topo, const struct topo_state *ignored, uint32_t at)
{
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		if (distance_link(topo, ignored, link))
			return true;
	}
	return false;
}

static bool take_levels(const struct topo *topo, const struct tree_hints *hints, uint32_t *height,
			struct plan_fault *fault)
{
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		height[s] = hints->level[s];
		if (hints->level[s] != TREE_NO_LEVEL)
			continue;
		height[s] = ORDER_NO_PLACE;
		if (has_link(topo, hints->ignored, s))
			return fail(fault, PLAN_FAULT_NOT_A_TREE, s);
	}
	return true;
}

static bool check_roots(const struct topo *topo, const struct tree_hints *hints,
			struct plan_fault *fault)
{
	for (uint32_t i = 0; i < hints->root_count; i++) {
		const uint32_t root = hints->root[i];

		if (root >= topo->switch_count ||
		    (hints->ignored != NULL && hints->ignored->switch_lost[root]))
			return fail(fault, PLAN_FAULT_ROOT, root);
	}
	return true;
}

// Distances from the roots down, or from the edges up.
static bool find_levels(const struct topo *topo, const struct tree_hints *hints, uint32_t *height,
			struct arena *scratch, struct plan_fault *fault)
{
	const bool down = hints->root_count != 0;
	uint32_t *queue = arena_take_raw(scratch, topo->switch_count, sizeof(*queue));
	uint32_t count;

	if (queue == NULL)
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	if (!check_roots(topo, hints, fault))
		return false;
	count = distance_find(topo, hints->ignored, down ? hints->root : topo->edge_switch,
			      down ? hints->root_count : topo->edge_count, height, queue);
	// The last one found is the farthest.
	for (uint32_t k = 0; down && k < count - 1; k++)
		height[queue[k]] = height[queue[count - 1]] - height[queue[k]];
	if (down)
		height[queue[count - 1]] = 0;
	return true;
}

// What a host's number is divided by: the product of the up-ports on the way to this level.
static bool set_pins(const struct topo *topo, struct tree *tree, struct arena *keep,
		     struct arena *scratch)
{
	const struct order *order = &tree->order;
	uint32_t *ups = arena_take(scratch, tree->level_count, sizeof(*ups));
	uint32_t *pin = arena_take_raw(scratch, tree->level_count, sizeof(*pin));

	tree->pin = arena_take(keep, topo->switch_count, sizeof(*tree->pin));
	if (ups == NULL || pin == NULL || tree->pin == NULL)
		return false;
	for (uint32_t k = 0; k < order->placed_count; k++) {
		const uint32_t at = order->top_down[k];
		const uint32_t count = order->up_first[at + 1] - order->up_first[at];

		if (count > ups[order->height[at]])
			ups[order->height[at]] = count;
	}
	for (uint32_t level = 0; level < tree->level_count; level++) {
		pin[level] = 1;
		if (level > 0 &&
		    __builtin_mul_overflow(pin[level - 1], ups[level - 1], &pin[level]))
			pin[level] = UINT32_MAX;
	}
	for (uint32_t k = 0; k < order->placed_count; k++)
		tree->pin[order->top_down[k]] = pin[order->height[order->top_down[k]]];
	return true;
}

static bool make_order(const struct topo *topo, const struct tree_hints *hints, uint32_t *height,
		       struct arena *keep, struct arena *scratch, struct tree *tree,
		       struct plan_fault *fault)
{
	uint32_t link;
	const int rc = order_init(topo, hints->ignored, height, keep, scratch, &tree->order, &link);

	if (rc < 0)
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	if (rc > 0) {
		*fault = (struct plan_fault){
			.kind = PLAN_FAULT_NOT_A_TREE,
			.at = topo->link_switch[link],
			.other = topo_far(topo, link),
			.link = link,
		};
		return false;
	}
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		if (height[s] != ORDER_NO_PLACE && height[s] >= tree->level_count)
			tree->level_count = height[s] + 1;
	}
	if (!set_pins(topo, tree, keep, scratch))
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	return true;
}

bool tree_init(const struct topo *topo, const struct tree_hints *hints, struct arena *keep,
	       struct arena *scratch, struct tree *tree, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	uint32_t *height = arena_take_raw(keep, topo->switch_count, sizeof(*height));
	bool good;

	*tree = (struct tree){ 0 };
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	if (height == NULL)
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	good = hints->level != NULL ? take_levels(topo, hints, height, fault) :
				      find_levels(topo, hints, height, scratch, fault);
	good = good && make_order(topo, hints, height, keep, scratch, tree, fault);
	arena_release(scratch, mark);
	return good;
}

static void set_tiers(const struct tree *tree, struct plan *plan)
{
	const struct order *order = &tree->order;
	const struct topo *topo = order->topo;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t lower = order->way[link] == ORDER_UP ? topo->link_switch[link] :
								      topo_far(topo, link);
		const uint32_t tier = order->way[link] == ORDER_UNUSED ? 0 : order->height[lower];

		plan->link_tier[link] = (uint8_t)(tier < TIER_MAX ? tier : TIER_MAX);
		if (plan->tier_count <= plan->link_tier[link])
			plan->tier_count = plan->link_tier[link] + 1u;
	}
}

static struct valley_free_options rows_options(const struct tree *tree,
					       const struct tree_options *options)
{
	return (struct valley_free_options){
		.weights = options->pinned ? VALLEY_FREE_PLAIN : options->weights,
		.churn_rows = options->churn_rows,
		.pin = options->pinned ? tree->pin : NULL,
		.partial = options->partial,
	};
}

bool tree_plan(const struct tree *tree, const struct topo_state *state,
	       const struct tree_options *options, struct arena *scratch, struct plan *plan,
	       struct plan_fault *fault)
{
	const struct valley_free_options rows = rows_options(tree, options);

	if (order_rules(&tree->order, plan->keep, &plan->turns) != 0)
		return fail(fault, PLAN_FAULT_MEMORY, 0);
	set_tiers(tree, plan);
	return valley_free_plan(&tree->order, state, &rows, scratch, plan, fault);
}

bool tree_replan(const struct tree *tree, const struct topo_state *before,
		 const struct topo_state *after, const struct tree_options *options,
		 struct arena *scratch, struct plan *plan, struct plan_fault *fault)
{
	const struct valley_free_options rows = rows_options(tree, options);

	return valley_free_replan(&tree->order, before, after, &rows, scratch, plan, fault);
}
