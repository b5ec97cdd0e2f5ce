// SPDX-License-Identifier: BSD-3-Clause
//
// For one destination a switch has a `bend`: twice the bounces (up after down) that the best
// shortest path from it has for packets that came up to it, and 1 more when packets that came down
// to it have one bounce more. So it is even when the path goes down at first. It is found from the
// destination outwards. From the far end inwards, every next hop that keeps the bounces made so far
// and those to come within the lanes is taken; the best one always does.

#include "routing/minhop.h"

#include <errno.h>
#include <string.h>

#include "routing/share.h"

#define FAR UINT32_MAX

enum {
	NOBODY = -1, // comes this way
	CLASS_UP = TURN_CLASS_HOST + 1,
	CLASS_DOWN,
	CLASSES,
	TIER_MAX = 254,
};

// What is known about a switch and one destination.
struct reach {
	uint32_t distance;
	uint32_t bend;
	int32_t came_up; // lanes that packets may have used who came up to it, or from its hosts
	int32_t came_down;
};

struct work {
	const struct minhop *minhop;
	const struct topo *topo;
	const struct topo_state *state;
	struct plan *plan;
	uint8_t *has_hosts; // [switch_count]
	uint8_t *up;        // [link_count] whether the cable is
	struct reach *reach;
	uint32_t *order; // [switch_count] by distance
	uint32_t count;
	uint32_t bounces; // that the lanes allow
};

static bool goes_up(const struct minhop *minhop, uint32_t link)
{
	return minhop->above[topo_far(minhop->topo, link)] <
	       minhop->above[minhop->topo->link_switch[link]];
}

static uint32_t default_root(const struct topo *topo)
{
	uint32_t root = 0;

	for (uint32_t s = 1; s < topo->switch_count; s++) {
		if (topo_degree(topo, s) > topo_degree(topo, root))
			root = s;
	}
	return root;
}

// Ranks a switch that has none, and queues it. The queue's end.
static uint32_t rank_switch(uint32_t *rank, uint32_t *queue, uint32_t at, uint32_t value,
			    uint32_t tail)
{
	if (rank[at] == FAR) {
		rank[at] = value;
		queue[tail++] = at;
	}
	return tail;
}

// Those in the queue from `head` on, and who is next to them.
static uint32_t rank_from(const struct topo *topo, uint32_t *rank, uint32_t *queue, uint32_t head,
			  uint32_t tail)
{
	while (head < tail) {
		const uint32_t at = queue[head++];

		for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++)
			tail = rank_switch(rank, queue, topo_far(topo, link), rank[at] + 1, tail);
	}
	return tail;
}

// Places by rank, then by number.
static void place(const struct topo *topo, struct minhop *minhop, uint32_t *count)
{
	memset(count, 0, (topo->switch_count + 1u) * sizeof(*count));
	for (uint32_t s = 0; s < topo->switch_count; s++)
		count[minhop->rank[s] + 1]++;
	for (uint32_t r = 1; r <= topo->switch_count; r++)
		count[r] += count[r - 1];
	for (uint32_t s = 0; s < topo->switch_count; s++)
		minhop->above[s] = count[minhop->rank[s]]++;
}

static void rank_all(const struct topo *topo, const uint32_t *roots, uint32_t root_count,
		     uint32_t *rank, uint32_t *queue)
{
	uint32_t tail = 0;

	memset(rank, 0xff, topo->switch_count * sizeof(*rank));
	for (uint32_t i = 0; i < root_count; i++)
		tail = rank_switch(rank, queue, roots[i], 0, tail);
	if (root_count == 0 && topo->switch_count != 0)
		tail = rank_switch(rank, queue, default_root(topo), 0, tail);
	tail = rank_from(topo, rank, queue, 0, tail);
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		const uint32_t head = tail;

		tail = rank_switch(rank, queue, s, 0, tail);
		tail = rank_from(topo, rank, queue, head, tail);
	}
}

bool minhop_init(const struct topo *topo, const uint32_t *roots, uint32_t root_count,
		 struct arena *keep, struct arena *scratch, struct minhop *minhop,
		 struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	uint32_t *queue = arena_take_raw(scratch, topo->switch_count + 1u, sizeof(*queue));

	*minhop = (struct minhop){
		.topo = topo,
		.above = arena_take_raw(keep, topo->switch_count, sizeof(*minhop->above)),
		.rank = arena_take_raw(keep, topo->switch_count, sizeof(*minhop->rank)),
		.lanes_most = LANE_MAX,
	};
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	if (queue == NULL || minhop->above == NULL || minhop->rank == NULL)
		fault->kind = PLAN_FAULT_MEMORY;
	for (uint32_t i = 0; i < root_count && fault->kind == PLAN_FAULT_NONE; i++) {
		if (roots[i] >= topo->switch_count)
			*fault = (struct plan_fault){ PLAN_FAULT_ROOT, .at = roots[i] };
	}
	if (fault->kind == PLAN_FAULT_NONE) {
		rank_all(topo, roots, root_count, minhop->rank, queue);
		place(topo, minhop, queue);
	}
	arena_release(scratch, mark);
	return fault->kind == PLAN_FAULT_NONE;
}

static bool take(struct work *w, struct arena *scratch)
{
	const struct topo *topo = w->topo;

	w->has_hosts = arena_take(scratch, topo->switch_count, sizeof(*w->has_hosts));
	w->up = arena_take_raw(scratch, topo->link_count, sizeof(*w->up));
	w->reach = arena_take_raw(scratch, topo->switch_count, sizeof(*w->reach));
	w->order = arena_take_raw(scratch, topo->switch_count, sizeof(*w->order));
	if (w->has_hosts == NULL || w->up == NULL || w->reach == NULL || w->order == NULL)
		return false;
	for (uint32_t e = 0; e < topo->edge_count; e++)
		w->has_hosts[topo->edge_switch[e]] |= topo_edge_hosts(topo, e) != 0;
	for (uint32_t link = 0; link < topo->link_count; link++)
		w->up[link] = topo_link_up(topo, w->state, link);
	return true;
}

// What the bend would be by a next hop with this one.
static uint32_t bend_by(bool up, uint32_t bend)
{
	return up ? bend | 1 : (bend + 1) & ~1u;
}

// Who is next to a switch: farther ones are new or known, and may have a better path by it.
static void look_back(struct work *w, uint32_t at)
{
	const struct topo *topo = w->topo;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t back = topo->link_peer[link];
		const uint32_t far = topo->link_switch[back];
		struct reach *reach = &w->reach[far];
		uint32_t bend;

		if (!w->up[link] || reach->distance <= w->reach[at].distance)
			continue;
		if (reach->distance == FAR) {
			reach->distance = w->reach[at].distance + 1;
			w->order[w->count++] = far;
		}
		bend = bend_by(goes_up(w->minhop, back), w->reach[at].bend);
		reach->bend = bend < reach->bend ? bend : reach->bend;
	}
}

// Distances and bends. The first switch with hosts whose packets bounce most.
static uint32_t look_at(struct work *w, uint32_t to)
{
	uint32_t worst = to;

	for (uint32_t s = 0; s < w->topo->switch_count; s++)
		w->reach[s] = (struct reach){ FAR, UINT32_MAX, NOBODY, NOBODY };
	w->reach[to].distance = 0;
	w->reach[to].bend = 0;
	w->order[0] = to;
	w->count = 1;
	for (uint32_t i = 0; i < w->count; i++) {
		const uint32_t at = w->order[i];

		if (w->has_hosts[at] && w->reach[at].bend / 2 > w->reach[worst].bend / 2)
			worst = at;
		look_back(w, at);
	}
	return worst;
}

// Whether packets may take a link; then those at its far end are told.
static bool may_take(struct work *w, const struct reach *here, uint32_t link)
{
	struct reach *far = &w->reach[topo_far(w->topo, link)];
	const bool up = goes_up(w->minhop, link);
	const int32_t bounced = here->came_down == NOBODY ? NOBODY : here->came_down + up;
	const int32_t made = here->came_up > bounced ? here->came_up : bounced;
	const uint32_t to_come = up ? far->bend / 2 : (far->bend + 1) / 2;
	int32_t *came = up ? &far->came_up : &far->came_down;

	// Where nobody comes by, the row is the best path.
	if (made == NOBODY)
		return bend_by(up, far->bend) == here->bend;
	if ((uint32_t)made + to_come > w->bounces)
		return false;
	*came = made > *came ? made : *came;
	return true;
}

static int write_row(struct work *w, uint32_t at, uint16_t *row)
{
	const struct topo *topo = w->topo;
	const uint32_t first = topo->link_first[at];
	struct reach *here = &w->reach[at];
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count = 0;

	if (w->has_hosts[at] && here->came_up == NOBODY)
		here->came_up = 0;
	for (uint32_t link = first; link < topo->link_first[at + 1]; link++) {
		const uint32_t distance = w->reach[topo_far(topo, link)].distance;

		if (w->up[link] && distance < here->distance && may_take(w, here, link))
			hops[count++] = (struct plan_hop){ (uint16_t)(link - first),
							   topo->link_weight[link] };
	}
	share_reduce(hops, count);
	return plan_group(w->plan, hops, count, 0, row);
}

static int write_rows(struct work *w, uint32_t edge)
{
	uint16_t *row = plan_rows(w->plan, edge);
	const uint32_t to = w->topo->edge_switch[edge];
	int rc = 0;

	memset(row, 0xff, w->topo->switch_count * sizeof(*row));
	if (w->state->switch_lost[to])
		return 0;
	look_at(w, to);
	for (uint32_t i = w->count; rc == 0 && i-- > 1;)
		rc = write_row(w, w->order[i], &row[w->order[i]]);
	row[to] = PLAN_LOCAL;
	return rc;
}

// The bounces that every switch with hosts and every edge can do with.
static struct plan_fault find_bounces(struct work *w)
{
	struct plan_fault worst = { .kind = PLAN_FAULT_NONE };

	for (uint32_t e = 0; e < w->topo->edge_count; e++) {
		const uint32_t to = w->topo->edge_switch[e];
		uint32_t from;

		if (w->state->switch_lost[to] ||
		    (w->minhop->hosts_only && topo_edge_hosts(w->topo, e) == 0))
			continue;
		from = look_at(w, to);
		if (w->reach[from].bend / 2 <= w->bounces)
			continue;
		w->bounces = w->reach[from].bend / 2;
		worst.at = from;
		worst.edge = e;
	}
	if (w->bounces >= w->minhop->lanes_most)
		worst.kind = PLAN_FAULT_LANES;
	return worst;
}

static int make_rules(const struct minhop *minhop, uint32_t lanes, struct arena *keep,
		      struct turn_rules *rules)
{
	const struct topo *topo = minhop->topo;

	if (turn_rules_init(topo, lanes, CLASSES, 0, keep, rules) != 0)
		return -ENOMEM;
	for (uint32_t link = 0; link < topo->link_count; link++)
		rules->link_class[link] = goes_up(minhop, link) ? CLASS_UP : CLASS_DOWN;
	for (uint32_t out = CLASS_UP; out < CLASSES; out++)
		turn_rules_allow(rules, TURN_CLASS_HOST, out, 0, 0);
	for (uint32_t lane = 0; lane < lanes; lane++) {
		// What comes by a port that leads up has come down.
		turn_rules_allow(rules, CLASS_UP, CLASS_DOWN, lane, lane);
		turn_rules_allow(rules, CLASS_DOWN, CLASS_DOWN, lane, lane);
		turn_rules_allow(rules, CLASS_DOWN, CLASS_UP, lane, lane);
		if (lane + 1 < lanes)
			turn_rules_allow(rules, CLASS_UP, CLASS_UP, lane, lane + 1);
	}
	return 0;
}

static void set_tiers(const struct minhop *minhop, struct plan *plan)
{
	const struct topo *topo = minhop->topo;

	plan->tier_count = 1;
	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t upper = goes_up(minhop, link) ? topo_far(topo, link) :
							       topo->link_switch[link];
		const uint32_t rank = minhop->rank[upper];
		const uint32_t tier = rank < TIER_MAX ? rank : TIER_MAX;

		plan->link_tier[link] = (uint8_t)tier;
		plan->tier_count = tier >= plan->tier_count ? tier + 1 : plan->tier_count;
	}
}

bool minhop_plan(const struct minhop *minhop, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	struct work w = { .minhop = minhop, .topo = minhop->topo, .state = state, .plan = plan };
	int rc = -ENOMEM;

	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	set_tiers(minhop, plan);
	plan_forget_groups(plan);
	if (take(&w, scratch)) {
		*fault = find_bounces(&w);
		rc = 0;
	}
	if (rc == 0 && fault->kind == PLAN_FAULT_NONE)
		rc = make_rules(minhop, w.bounces + 1, plan->keep, &plan->turns);
	for (uint32_t e = 0; rc == 0 && fault->kind == PLAN_FAULT_NONE && e < w.topo->edge_count;
	     e++)
		rc = write_rows(&w, e);
	if (rc != 0)
		fault->kind = rc == -EOVERFLOW ? PLAN_FAULT_GROUPS : PLAN_FAULT_MEMORY;
	arena_release(scratch, mark);
	return fault->kind == PLAN_FAULT_NONE;
}
