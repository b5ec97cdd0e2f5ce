// SPDX-License-Identifier: BSD-3-Clause
//
// The walk of one edge. It looks at each link that goes up once, so that is what planning costs;
// the usual results, all ways up or the one way down, are groups that were made before.

#include "routing/valley_free_walk.h"

#include <errno.h>
#include <string.h>

#include "routing/share.h"

enum {
	FAR_AWAY = VALLEY_WALK_FAR_AWAY,
	NOT_MADE = PLAN_LOCAL,
	THROUGH_SHIFT = 28, // what a link of weight 1 lets through
	THROUGH_MAX_SHIFT = 46,
};

static int take(struct valley_walk *w, struct arena *scratch)
{
	const uint32_t switches = w->order->topo->switch_count;
	const uint32_t ups = w->order->up_first[switches];

	w->up_far = arena_take_raw(scratch, ups, sizeof(*w->up_far));
	w->up_all = arena_take_raw(scratch, switches, sizeof(*w->up_all));
	w->single = arena_take_raw(scratch, TOPO_DEGREE_MAX, sizeof(*w->single));
	w->has_edge = arena_take(scratch, switches, sizeof(*w->has_edge));
	w->fan = arena_take(scratch, switches, sizeof(*w->fan));
	w->last_hop = arena_take_raw(scratch, PLAN_HOP_MAX, sizeof(*w->last_hop));
	w->last_share = arena_take_raw(scratch, PLAN_HOP_MAX, sizeof(*w->last_share));
	w->length = arena_take_raw(scratch, switches + 1u, sizeof(*w->length));
	w->descent = arena_take_raw(scratch, switches + 1u, sizeof(*w->descent));
	w->through = arena_take(scratch, switches, sizeof(*w->through));
	w->above = arena_take_raw(scratch, switches, sizeof(*w->above));
	w->row = arena_take_raw(scratch, switches, sizeof(*w->row));
	return w->up_far != NULL && w->up_all != NULL && w->single != NULL && w->has_edge != NULL &&
			       w->fan != NULL && w->last_hop != NULL && w->last_share != NULL &&
			       w->length != NULL && w->descent != NULL && w->through != NULL &&
			       w->above != NULL && w->row != NULL ?
		       0 :
		       -ENOMEM;
}

static void lose_link(struct valley_walk *w, uint32_t link)
{
	const struct order *order = w->order;
	const uint32_t up = order->way[link] == ORDER_UP ? link : order->topo->link_peer[link];
	const uint32_t at = order->topo->link_switch[up];

	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++) {
		if (order->up_link[i] == up)
			w->up_far[i] = w->nowhere;
	}
}

static void lose_links(struct valley_walk *w)
{
	const struct topo *topo = w->order->topo;
	const struct topo_state *state = w->state;

	memcpy(w->up_far, w->order->up_far,
	       w->order->up_first[topo->switch_count] * sizeof(*w->up_far));
	for (uint32_t link = 0;
	     (link = topo_next_lost(state->link_lost, topo->link_count, link)) < topo->link_count;
	     link++)
		lose_link(w, link);
	for (uint32_t s = 0;
	     (s = topo_next_lost(state->switch_lost, topo->switch_count, s)) < topo->switch_count;
	     s++) {
		for (uint32_t link = topo->link_first[s]; link < topo->link_first[s + 1]; link++)
			lose_link(w, link);
	}
}

uint64_t valley_walk_fan(const struct order *order, const struct topo_state *state, uint32_t at)
{
	const struct topo *topo = order->topo;
	uint64_t sum[ORDER_CLASSES] = { 0 };

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		if (topo_link_up(topo, state, link))
			sum[order->way[link]] += topo->link_weight[link];
	}
	return sum[ORDER_UP] > sum[ORDER_DOWN] ? sum[ORDER_UP] : sum[ORDER_DOWN];
}

int valley_walk_init(const struct order *order, const struct topo_state *state,
		     const struct valley_free_options *options, struct arena *scratch,
		     struct plan *plan, struct valley_walk *walk)
{
	const struct topo *topo = order->topo;

	*walk = (struct valley_walk){
		.order = order,
		.state = state,
		.plan = plan,
		.pin = options->pin,
		.weights = options->weights,
		.last_group = PLAN_NONE,
		.nowhere = (uint16_t)topo->switch_count,
	};
	if (take(walk, scratch) != 0)
		return -ENOMEM;
	memset(walk->length, 0xff, (topo->switch_count + 1u) * sizeof(*walk->length));
	memset(walk->descent, 0xff, (topo->switch_count + 1u) * sizeof(*walk->descent));
	memset(walk->row, 0xff, topo->switch_count * sizeof(*walk->row));
	for (uint32_t s = 0; s < topo->switch_count; s++)
		walk->up_all[s] = NOT_MADE;
	for (uint32_t i = 0; i < TOPO_DEGREE_MAX; i++)
		walk->single[i] = NOT_MADE;
	for (uint32_t e = 0; e < topo->edge_count; e++)
		walk->has_edge[topo->edge_switch[e]] = 1;
	lose_links(walk);
	return 0;
}

// --- groups -------------------------------------------------------------------------------------

static uint16_t make_group(struct valley_walk *w, const struct plan_hop *hops, uint32_t count,
			   uint32_t pin)
{
	int rc;

	if (count <= 1)
		pin = 0;
	if (count == w->last_hop_count && pin == w->last_pin &&
	    memcmp(hops, w->last_hop, count * sizeof(*hops)) == 0)
		return w->last_group;
	rc = plan_group(w->plan, hops, count, pin, &w->last_group);
	if (rc != 0 && w->rc == 0)
		w->rc = rc;
	w->last_hop_count = count;
	w->last_pin = pin;
	memcpy(w->last_hop, hops, count * sizeof(*hops));
	return w->last_group;
}

static uint16_t single_group(struct valley_walk *w, uint32_t local)
{
	const struct plan_hop hop = { .link = (uint16_t)local, .weight = 1 };

	if (w->single[local] == NOT_MADE)
		w->single[local] = make_group(w, &hop, 1, 0);
	return w->single[local];
}

static struct plan_hop plain_hop(const struct valley_walk *w, uint32_t at, uint32_t link)
{
	const struct topo *topo = w->order->topo;

	return (struct plan_hop){ .link = (uint16_t)(link - topo->link_first[at]),
				  .weight = topo->link_weight[link] };
}

static uint32_t up_pin(const struct valley_walk *w, uint32_t at)
{
	return w->pin == NULL ? 0 : w->pin[at];
}

// The ways up that are of this length, by the weights of their links.
static uint16_t plain_up(struct valley_walk *w, uint32_t at, uint16_t length)
{
	const struct order *order = w->order;
	const uint32_t first = order->topo->link_first[at];
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count = 0;

	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++) {
		if (w->length[w->up_far[i]] == length)
			hops[count++] = (struct plan_hop){
				.link = (uint16_t)(order->up_link[i] - first),
				.weight = order->up_weight[i],
			};
	}
	share_reduce(hops, count);
	return make_group(w, hops, count, up_pin(w, at));
}

static uint16_t all_up(struct valley_walk *w, uint32_t at, uint16_t length)
{
	if (w->up_all[at] == NOT_MADE)
		w->up_all[at] = plain_up(w, at, length);
	return w->up_all[at];
}

static uint16_t share_group(struct valley_walk *w, const struct share *shares, uint32_t count)
{
	struct plan_hop hops[PLAN_HOP_MAX];
	bool same = count == w->last_share_count;

	w->weighted++;
	for (uint32_t i = 0; i < count && same; i++)
		same = shares[i].link == w->last_share[i].link &&
		       shares[i].value == w->last_share[i].value;
	if (same)
		return w->last_share_group;
	share_hops(shares, count, hops);
	w->last_share_group = make_group(w, hops, count, 0);
	w->last_share_count = count;
	memcpy(w->last_share, shares, count * sizeof(*shares));
	return w->last_share_group;
}

static uint64_t fan_of(struct valley_walk *w, uint32_t at)
{
	if (w->fan[at] == 0)
		w->fan[at] = valley_walk_fan(w->order, w->state, at);
	return w->fan[at];
}

// What a link that is up takes of what gets through a switch, at either end of it.
static uint64_t pass(struct valley_walk *w, uint32_t at, uint64_t through, uint64_t weight)
{
	return through * weight / fan_of(w, at);
}

static uint64_t add_through(uint64_t a, uint64_t b)
{
	const uint64_t most = (uint64_t)1 << THROUGH_MAX_SHIFT;

	return a + b < most ? a + b : most;
}

static uint16_t exact_up(struct valley_walk *w, uint32_t at, uint16_t length, bool all)
{
	const struct order *order = w->order;
	struct share shares[PLAN_HOP_MAX];
	uint64_t least = UINT64_MAX;
	uint64_t most = 0;
	uint64_t sum = 0;
	uint32_t count = 0;

	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++) {
		const uint32_t link = order->up_link[i];
		const uint16_t weight = order->topo->link_weight[link];
		uint64_t through;

		if (w->length[w->up_far[i]] != length)
			continue;
		through = w->through[w->up_far[i]];
		least = through < least ? through : least;
		most = through > most ? through : most;
		sum = add_through(sum, pass(w, at, through, weight));
		shares[count++] = (struct share){
			.link = (uint16_t)(link - order->topo->link_first[at]),
			.value = through * weight,
		};
	}
	w->through[at] = sum;
	if (least != most)
		return share_group(w, shares, count);
	return all ? all_up(w, at, length) : plain_up(w, at, length);
}

// Several links begin a shortest way down.
static uint16_t many_down(struct valley_walk *w, uint32_t at)
{
	const struct order *order = w->order;
	const struct topo *topo = order->topo;
	const uint32_t child = topo->link_switch[order->up_link[w->descent[at].child_up]];
	struct share shares[PLAN_HOP_MAX];
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count = 0;
	bool alike = true;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t far = topo_far(topo, link);

		if (order->way[link] != ORDER_DOWN ||
		    w->descent[far].down + 1u != w->descent[at].down ||
		    !topo_link_up(topo, w->state, link))
			continue;
		hops[count] = plain_hop(w, at, link);
		shares[count].link = hops[count].link;
		if (w->weights == VALLEY_FREE_EXACT && far != w->target) {
			alike &= w->through[far] == w->through[child] &&
				 fan_of(w, far) == fan_of(w, child);
			shares[count].value = pass(w, far, w->through[far], hops[count].weight);
		}
		count++;
	}
	if (!alike)
		return share_group(w, shares, count);
	share_reduce(hops, count);
	return make_group(w, hops, count, up_pin(w, child));
}

// --- the walk -----------------------------------------------------------------------------------

static void add_through_from(struct valley_walk *w, uint32_t at, uint32_t below, uint32_t up)
{
	const uint64_t weight = w->order->up_weight[up];
	const uint64_t part = below == w->target ? weight << THROUGH_SHIFT :
						   pass(w, below, w->through[below], weight);

	w->through[at] = add_through(w->through[at], part);
}

// `up` leads from `below`, which has a way down of one less than `down`, to `at`.
static void add_above(struct valley_walk *w, uint32_t at, uint32_t below, uint32_t up,
		      uint16_t down)
{
	struct descent *descent = &w->descent[at];

	if (descent->down == FAR_AWAY) {
		*descent = (struct descent){
			.down = down,
			.taken = down,
			.child_up = up,
		};
		w->length[at] = down;
		w->through[at] = 0;
		w->above[w->above_count++] = at;
	}
	if (descent->down != down)
		return;
	descent->child_count++;
	if (w->weights == VALLEY_FREE_EXACT)
		add_through_from(w, at, below, up);
}

static void add_parents(struct valley_walk *w, uint32_t at)
{
	const uint16_t down = (uint16_t)(w->descent[at].down + 1);

	for (uint32_t i = w->order->up_first[at]; i < w->order->up_first[at + 1]; i++) {
		if (w->up_far[i] != w->nowhere)
			add_above(w, w->up_far[i], at, i, down);
	}
}

// Breadth first, so that a switch has all that comes from below before it passes it on. That rows
// lead down is taken for granted until a switch is gone through.
static void find_above(struct valley_walk *w)
{
	w->descent[w->target].down = 0;
	w->descent[w->target].taken = 0;
	w->length[w->target] = 0;
	w->above[0] = w->target;
	w->above_count = 1;
	for (uint32_t k = 0; k < w->above_count; k++)
		add_parents(w, w->above[k]);
}

static uint32_t child_hop(const struct valley_walk *w, uint32_t at)
{
	const struct topo *topo = w->order->topo;
	const uint32_t up = w->order->up_link[w->descent[at].child_up];

	return topo->link_peer[up] - topo->link_first[at];
}

static uint16_t down_row(struct valley_walk *w, uint32_t at)
{
	if (at == w->target)
		return PLAN_LOCAL;
	if (w->descent[at].child_count == 1)
		return single_group(w, child_hop(w, at));
	return many_down(w, at);
}

// Whether packets on their way down come to this switch, which is above the edge.
static bool is_taken(const struct valley_walk *w, uint32_t at)
{
	for (uint32_t i = w->order->up_first[at]; i < w->order->up_first[at + 1]; i++) {
		if (w->descent[w->up_far[i]].taken == w->descent[at].down + 1)
			return true;
	}
	return false;
}

struct span {
	uint32_t least; // length from the nearest switch above
	uint32_t most;
};

static inline struct span span_up(const struct valley_walk *w, uint32_t at)
{
	const uint16_t *far = w->up_far + w->order->up_first[at];
	const uint16_t *end = w->up_far + w->order->up_first[at + 1];
	struct span span = { .least = FAR_AWAY };

	for (; far < end; far++) {
		const uint32_t length = w->length[*far];

		span.least = length < span.least ? length : span.least;
		span.most = length > span.most ? length : span.most;
	}
	return span;
}

static uint16_t up_row(struct valley_walk *w, uint32_t at, struct span span)
{
	const uint16_t length = (uint16_t)span.least;

	if (span.least == FAR_AWAY)
		return PLAN_NONE;
	if (w->weights == VALLEY_FREE_EXACT)
		return exact_up(w, at, length, span.least == span.most);
	return span.least == span.most ? all_up(w, at, length) : plain_up(w, at, length);
}

static bool leads_down(const struct valley_walk *w, uint32_t at, struct span span)
{
	const uint32_t down = w->descent[at].down;

	return down != FAR_AWAY && (down <= span.least + 1 || is_taken(w, at));
}

static void walk_switch(struct valley_walk *w, uint32_t at, bool wanted)
{
	const struct span span = span_up(w, at);

	if (leads_down(w, at, span)) {
		if (wanted)
			w->row[at] = down_row(w, at);
		return;
	}
	w->descent[at].taken = FAR_AWAY;
	w->length[at] = (uint16_t)(span.least == FAR_AWAY ? FAR_AWAY : span.least + 1);
	// The way up also tells what gets through.
	if (wanted || w->weights == VALLEY_FREE_EXACT)
		w->row[at] = up_row(w, at, span);
	w->parted |= wanted && w->row[at] == PLAN_NONE && w->has_edge[at] != 0;
}

void valley_walk_edge(struct valley_walk *walk, uint32_t target, const uint32_t *list,
		      uint32_t count, const uint8_t *wanted)
{
	walk->target = target;
	walk->weighted = 0;
	walk->row[target] = PLAN_LOCAL;
	walk->parted |= walk->order->height[target] == ORDER_NO_PLACE;
	find_above(walk);
	for (uint32_t i = 0; i < count; i++)
		walk_switch(walk, list[i], wanted == NULL || wanted[list[i]] != 0);
}

void valley_walk_end(struct valley_walk *walk)
{
	for (uint32_t i = 0; i < walk->above_count; i++) {
		walk->descent[walk->above[i]].down = FAR_AWAY;
		walk->descent[walk->above[i]].taken = FAR_AWAY;
		walk->length[walk->above[i]] = FAR_AWAY;
	}
	walk->row[walk->target] = PLAN_NONE;
}

uint16_t valley_walk_up_row(struct valley_walk *walk, uint32_t at)
{
	return up_row(walk, at, span_up(walk, at));
}

void valley_walk_twin_rows(struct valley_walk *walk, uint32_t target, uint16_t *row)
{
	const struct order *order = walk->order;
	const uint32_t first = order->up_first[target];
	const uint32_t end = order->up_first[target + 1];
	const uint32_t before = walk->target;

	walk->target = target;
	walk->descent[before].down = FAR_AWAY;
	walk->descent[target].down = 0;
	for (uint32_t i = first; i < end; i++)
		walk->descent[walk->up_far[i]].child_count = 0;
	for (uint32_t i = first; i < end; i++) {
		const uint32_t at = walk->up_far[i];

		walk->descent[at].child_count++;
		walk->descent[at].child_up = i;
	}
	for (uint32_t i = first; i < end; i++) {
		if (walk->up_far[i] != walk->nowhere)
			row[walk->up_far[i]] = down_row(walk, walk->up_far[i]);
	}
	walk->descent[target].down = FAR_AWAY;
	walk->descent[before].down = 0;
	walk->target = before;
}
