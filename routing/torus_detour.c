// SPDX-License-Identifier: BSD-3-Clause
//
// For one destination: switches whose row leads there in the end are `good`. A stuck one takes the
// row to a good neighbour, which cannot come back, and makes good who waited for it. Then packets
// are followed from all hosts; a turn that the rules deny becomes an exception, or, when no lane is
// left for it, the last detour before it is forbidden and the destination is begun again.
//
// Lanes are first given by kind of turn and looked at as a whole. Should that have a cycle, all is
// done again with a search before each exception.

#include "routing/torus_detour.h"

#include <errno.h>
#include <string.h>

#include "routing/turn_search.h"

enum {
	TRY_MAX = 256, // of one destination
	NO_WAY = 0xff,
	COST_NEVER = UINT32_MAX,
};

struct detour {
	struct torus_rows *rows;
	const struct torus *torus;
	const struct topo *topo;
	struct turn_search search;
	uint32_t first_lane; // that dimension order does not use
	bool careful;
	uint32_t *island;   // [switch_count] switches that are connected, by their first one
	uint8_t *has_hosts; // [switch_count]
	// Of one destination.
	uint32_t to;
	uint16_t *row;
	uint8_t *good;       // [switch_count]
	uint16_t *waits;     // [switch_count] hops of the row that are not good yet
	uint8_t *way;        // [switch_count] of a detour, NO_WAY: dimension order
	uint16_t *forbidden; // [switch_count] ways, by bit
	uint32_t *queue;     // [switch_count]
	uint32_t head;
	uint32_t tail;
	// Of packets that are followed.
	uint32_t *seen; // [link x LANE_MAX + lane] round
	uint32_t *last; // likewise, last switch with a detour before it
	uint32_t *stack;
	uint32_t round;
};

static int take(struct detour *d, struct arena *scratch)
{
	const uint32_t switches = d->topo->switch_count;
	const size_t pairs = (size_t)d->topo->link_count * LANE_MAX;

	d->island = arena_take_raw(scratch, switches, sizeof(*d->island));
	d->has_hosts = arena_take(scratch, switches, sizeof(*d->has_hosts));
	d->good = arena_take_raw(scratch, switches, sizeof(*d->good));
	d->waits = arena_take_raw(scratch, switches, sizeof(*d->waits));
	d->way = arena_take_raw(scratch, switches, sizeof(*d->way));
	d->forbidden = arena_take_raw(scratch, switches, sizeof(*d->forbidden));
	d->queue = arena_take_raw(scratch, switches, sizeof(*d->queue));
	d->seen = arena_take(scratch, pairs, sizeof(*d->seen));
	d->last = arena_take_raw(scratch, pairs, sizeof(*d->last));
	d->stack = arena_take_raw(scratch, pairs, sizeof(*d->stack));
	return d->island != NULL && d->has_hosts != NULL && d->good != NULL && d->waits != NULL &&
			       d->way != NULL && d->forbidden != NULL && d->queue != NULL &&
			       d->seen != NULL && d->last != NULL && d->stack != NULL ?
		       0 :
		       -ENOMEM;
}

static bool up(const struct detour *d, uint32_t link)
{
	return topo_link_up(d->topo, d->rows->state, link);
}

static void join_island(struct detour *d, uint32_t link, uint32_t first)
{
	const uint32_t far = topo_far(d->topo, link);

	if (d->island[far] != TOPO_NONE || !up(d, link))
		return;
	d->island[far] = first;
	d->queue[d->tail++] = far;
}

static void fill_island(struct detour *d, uint32_t first)
{
	const struct topo *topo = d->topo;

	d->head = 0;
	d->tail = 0;
	d->island[first] = first;
	d->queue[d->tail++] = first;
	while (d->head < d->tail) {
		const uint32_t at = d->queue[d->head++];

		for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++)
			join_island(d, link, first);
	}
}

static void find_islands(struct detour *d)
{
	const struct topo *topo = d->topo;

	memset(d->island, 0xff, topo->switch_count * sizeof(*d->island));
	for (uint32_t first = 0; first < topo->switch_count; first++) {
		if (d->island[first] == TOPO_NONE && !d->rows->state->switch_lost[first])
			fill_island(d, first);
	}
	for (uint32_t e = 0; e < topo->edge_count; e++)
		d->has_hosts[topo->edge_switch[e]] |= topo_edge_hosts(topo, e) != 0;
}

static bool row_has(const struct detour *d, uint16_t row, uint32_t local)
{
	const struct plan *plan = d->rows->plan;
	const struct plan_group *group;

	if (!plan_is_group(row))
		return false;
	group = &plan->group[row];
	for (uint32_t i = 0; i < group->hop_count; i++) {
		if (plan->hop[group->first + i].link == local)
			return true;
	}
	return false;
}

static void make_good(struct detour *d, uint32_t at)
{
	d->good[at] = 1;
	d->queue[d->tail++] = at;
}

// A link leads to a switch that is good now.
static void tell(struct detour *d, uint32_t link)
{
	const uint32_t at = d->topo->link_switch[link];

	if (d->good[at] || !row_has(d, d->row[at], link - d->topo->link_first[at]))
		return;
	if (--d->waits[at] == 0)
		make_good(d, at);
}

// Those who wait for the switches in the queue, and so on.
static void spread(struct detour *d)
{
	const struct topo *topo = d->topo;

	while (d->head < d->tail) {
		const uint32_t at = d->queue[d->head++];

		for (uint32_t l = topo->link_first[at]; l < topo->link_first[at + 1]; l++)
			tell(d, topo->link_peer[l]);
	}
}

// How much one would rather not take a way: minimal steps of later dimensions, other steps of
// them, then earlier ones.
static uint32_t way_cost(const struct detour *d, uint32_t at, uint32_t dim, bool minus)
{
	const uint16_t *here = d->torus->shape.place[at];
	const uint16_t *there = d->torus->shape.place[d->to];
	const uint32_t n = d->torus->shape.dims[dim];
	const uint32_t plus = (there[dim] + n - here[dim]) % n;
	const uint32_t steps = minus ? n - plus : plus;
	uint32_t stuck = 0;

	while (here[stuck] == there[stuck])
		stuck++;
	if (dim <= stuck)
		return 3;
	return plus == 0 ? 2 : 2 * steps <= n ? 0 : 1;
}

// The best way to a good neighbour, NO_WAY when there is none.
static uint8_t choose_way(const struct detour *d, uint32_t at)
{
	const struct topo *topo = d->topo;
	uint32_t least = COST_NEVER;
	uint8_t best = NO_WAY;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const uint32_t dim = d->torus->way[link] / TORUS_WAYS;
		const bool minus = (d->torus->way[link] & TORUS_MINUS) != 0;
		const uint32_t bit = 2 * dim + minus;
		const uint32_t cost = way_cost(d, at, dim, minus) * 2 * TORUS_DIMS_MAX + bit;

		if (cost >= least || !d->good[topo_far(topo, link)] || !up(d, link) ||
		    (d->forbidden[at] >> bit & 1) != 0)
			continue;
		least = cost;
		best = (uint8_t)bit;
	}
	return best;
}

static int take_way(struct detour *d, uint32_t at, uint8_t way)
{
	const int rc = torus_rows_group(d->rows, at, way / 2,
					way % 2 != 0 ? TORUS_BACK : TORUS_PLUS, &d->row[at]);

	d->way[at] = way;
	make_good(d, at);
	spread(d);
	return rc;
}

static bool is_stuck(const struct detour *d, uint32_t at)
{
	return !d->good[at] && d->row[at] == PLAN_NONE && d->island[at] == d->island[d->to];
}

// Whether a hop of the row is to a stuck switch.
static bool waits_for_stuck(const struct detour *d, uint32_t at)
{
	const uint32_t first = d->topo->link_first[at];

	for (uint32_t link = first; link < d->topo->link_first[at + 1]; link++) {
		if (row_has(d, d->row[at], link - first) && is_stuck(d, topo_far(d->topo, link)))
			return true;
	}
	return false;
}

// Whom to let go another way first.
enum candidate {
	CANDIDATE_STUCK,
	CANDIDATE_BEFORE_STUCK, // sends packets to a stuck one
	CANDIDATE_ANY,          // that is not good
	CANDIDATE_KINDS,
};

static bool is_candidate(const struct detour *d, uint32_t at, enum candidate kind)
{
	if (at == TOPO_NONE || d->good[at] || d->island[at] != d->island[d->to])
		return false;
	switch (kind) {
	case CANDIDATE_STUCK: return is_stuck(d, at);
	case CANDIDATE_BEFORE_STUCK: return waits_for_stuck(d, at);
	case CANDIDATE_ANY:
	case CANDIDATE_KINDS: break;
	}
	return true;
}

// Lets one switch go another way. False: none of the kind can.
static bool free_one(struct detour *d, enum candidate kind, int *rc)
{
	for (uint32_t i = 0; i < d->torus->grid_count; i++) {
		const uint32_t at = d->torus->grid[i];
		uint8_t way;

		if (!is_candidate(d, at, kind))
			continue;
		way = choose_way(d, at);
		if (way == NO_WAY)
			continue;
		*rc = take_way(d, at, way);
		return true;
	}
	return false;
}

// Lets switches go other ways until all are good, or none can.
static int free_all(struct detour *d)
{
	int rc = 0;

	for (uint32_t kind = 0; rc == 0 && kind < CANDIDATE_KINDS;)
		kind = free_one(d, (enum candidate)kind, &rc) ? CANDIDATE_STUCK : kind + 1;
	return rc;
}

// Dimension order, and which switches it serves.
static int begin_rows(struct detour *d, uint32_t edge)
{
	const struct topo *topo = d->topo;
	const int rc = torus_rows_fill(d->rows, edge);

	d->head = 0;
	d->tail = 0;
	memset(d->good, 0, topo->switch_count);
	memset(d->way, NO_WAY, topo->switch_count);
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		const uint16_t row = d->row[s];

		if (d->island[s] != d->island[d->to])
			d->row[s] = PLAN_NONE;
		d->waits[s] = plan_is_group(row) ? d->rows->plan->group[row].hop_count :
						   (uint16_t)0;
	}
	make_good(d, d->to);
	spread(d);
	return rc;
}

static uint32_t first_not_good(const struct detour *d)
{
	for (uint32_t s = 0; s < d->topo->switch_count; s++) {
		if (!d->good[s] && d->island[s] == d->island[d->to])
			return s;
	}
	return TOPO_NONE;
}

// The lane that a kind of turn is given at first: a turn to a later dimension is what the rules are
// for; others need a further lane, on which a packet then goes straight on.
static uint32_t kind_lane(const struct detour *d, uint32_t by, uint32_t out, uint32_t lane)
{
	const unsigned was = d->torus->way[by];
	const unsigned is = d->torus->way[out];

	if (is / TORUS_WAYS > was / TORUS_WAYS)
		return is & TORUS_CLOSING;
	if (lane < d->first_lane)
		return d->first_lane;
	return (was & ~(unsigned)TORUS_CLOSING) == (is & ~(unsigned)TORUS_CLOSING) ? lane :
										     lane + 1;
}

// Allows a turn that the rules deny. TURN_DENY when there is no lane for it.
static uint8_t new_turn(struct detour *d, uint32_t by, uint32_t out, uint32_t lane)
{
	const uint32_t first = kind_lane(d, by, out, lane);
	const uint32_t closes = d->torus->way[out] & TORUS_CLOSING;

	if (first < LANE_MAX && turn_search_allow(&d->search, by, out, lane, first, d->careful))
		return (uint8_t)first;
	for (uint32_t to = closes; d->careful && to < LANE_MAX; to++) {
		if (turn_search_allow(&d->search, by, out, lane, to, true))
			return (uint8_t)to;
	}
	return TURN_DENY;
}

// The lane that packets leave on, from a link or (TOPO_NONE) from hosts.
static uint8_t turn_lane(struct detour *d, uint32_t by, uint32_t out, uint32_t lane)
{
	uint8_t to;

	if (by == TOPO_NONE)
		return turn_rules_get(d->search.rules, TOPO_NONE, out, lane);
	to = turn_search_get(&d->search, by, out, lane);
	return to != TURN_DENY ? to : new_turn(d, by, out, lane);
}

static void follow(struct detour *d, uint32_t link, uint8_t lane, uint32_t last, uint32_t *depth)
{
	const uint32_t pair = link * LANE_MAX + lane;

	if (d->seen[pair] == d->round)
		return;
	d->seen[pair] = d->round;
	d->last[pair] = last;
	d->stack[(*depth)++] = pair;
}

// Packets that came by a link, TOPO_NONE: from hosts, at a switch. TOPO_NONE, or the detour that
// leads to a turn that cannot be.
static uint32_t go_on(struct detour *d, uint32_t at, uint32_t by, uint8_t lane, uint32_t last,
		      uint32_t *depth)
{
	const struct plan_group *group = &d->rows->plan->group[d->row[at]];

	if (d->way[at] != NO_WAY)
		last = at;
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const uint32_t out = d->topo->link_first[at] +
				     d->rows->plan->hop[group->first + i].link;
		const uint8_t to = turn_lane(d, by, out, lane);

		if (to == TURN_DENY)
			return last != TOPO_NONE ? last : at;
		follow(d, out, to, last, depth);
	}
	return TOPO_NONE;
}

// Follows packets from the hosts of a switch to the destination.
static uint32_t follow_from(struct detour *d, uint32_t from)
{
	uint32_t depth = 0;
	uint32_t blame = go_on(d, from, TOPO_NONE, 0, TOPO_NONE, &depth);

	while (blame == TOPO_NONE && depth > 0) {
		const uint32_t pair = d->stack[--depth];
		const uint32_t at = topo_far(d->topo, pair / LANE_MAX);

		if (at != d->to)
			blame = go_on(d, at, pair / LANE_MAX, pair % LANE_MAX, d->last[pair],
				      &depth);
	}
	return blame;
}

static uint32_t follow_all(struct detour *d)
{
	uint32_t blame = TOPO_NONE;

	d->round++;
	for (uint32_t s = 0; blame == TOPO_NONE && s < d->topo->switch_count; s++) {
		if (d->has_hosts[s] && plan_is_group(d->row[s]))
			blame = follow_from(d, s);
	}
	return blame;
}

// Rows and lanes of one edge.
static struct plan_fault detour_edge(struct detour *d, uint32_t edge)
{
	const uint32_t count = d->search.count;

	memset(d->forbidden, 0, d->topo->switch_count * sizeof(*d->forbidden));
	for (uint32_t tries = 0; tries < TRY_MAX; tries++) {
		int rc = begin_rows(d, edge);
		uint32_t at;

		if (rc == 0)
			rc = free_all(d);
		if (rc != 0)
			return torus_fault(rc);
		at = first_not_good(d);
		if (at != TOPO_NONE)
			return (struct plan_fault){ tries == 0 ? PLAN_FAULT_UNREACHABLE :
								 PLAN_FAULT_LANES,
						    .at = at, .edge = edge };
		at = follow_all(d);
		if (at == TOPO_NONE)
			return torus_fault(0);
		turn_search_undo(&d->search, count);
		if (d->way[at] == NO_WAY)
			break;
		d->forbidden[at] |= (uint16_t)(1u << d->way[at]);
	}
	return (struct plan_fault){ PLAN_FAULT_LANES, .at = d->to, .edge = edge };
}

// Whether dimension order has left out a switch that is connected with the destination.
static bool needs_detour(const struct detour *d)
{
	for (uint32_t s = 0; s < d->topo->switch_count; s++) {
		if (d->row[s] == PLAN_NONE ? d->island[s] == d->island[d->to] :
					     d->island[s] != d->island[d->to])
			return true;
	}
	return false;
}

static struct plan_fault all_edges(struct detour *d)
{
	const struct torus *torus = d->torus;
	struct plan_fault fault = torus_fault(0);
	uint32_t before = TOPO_NONE;

	for (uint32_t i = 0; i < d->topo->edge_count && fault.kind == PLAN_FAULT_NONE; i++) {
		const uint32_t edge = torus->edge_order[i];
		uint16_t *row = plan_rows(d->rows->plan, edge);

		d->to = d->topo->edge_switch[edge];
		d->row = row;
		if (d->rows->state->switch_lost[d->to])
			continue;
		if (before != TOPO_NONE && d->topo->edge_switch[before] == d->to)
			memcpy(row, plan_rows(d->rows->plan, before),
			       d->topo->switch_count * sizeof(*row));
		else if (d->careful || needs_detour(d))
			fault = detour_edge(d, edge);
		before = edge;
	}
	return fault;
}

// Rules for as many lanes as there are. What is found is written to those of the plan.
static struct plan_fault finish(struct detour *d)
{
	struct turn_rules *rules = &d->rows->plan->turns;
	struct turn_rules found = *rules;
	uint32_t lanes = rules->lane_count;

	for (uint32_t i = 0; i < d->search.count; i++) {
		const uint32_t to = d->search.exception[i].to;

		lanes = to >= lanes ? to + 1 : lanes;
	}
	found.exception = arena_take_raw(d->rows->plan->keep, d->search.count,
					 sizeof(*found.exception));
	if (found.exception == NULL)
		return torus_fault(-ENOMEM);
	turn_search_finish(&d->search, &found);
	found.lane_count = lanes;
	*rules = found;
	return torus_fault(0);
}

static struct plan_fault attempt(struct detour *d, struct turn_rules *rules, bool careful,
				 struct arena *scratch)
{
	const size_t mark = arena_mark(scratch);
	struct plan_fault fault;
	int rc;

	d->careful = careful;
	rc = turn_search_init(d->topo, rules, scratch, &d->search);
	if (rc != 0)
		return torus_fault(rc);
	fault = all_edges(d);
	if (fault.kind == PLAN_FAULT_NONE && d->search.count != 0) {
		rc = turn_search_check(&d->search, scratch);
		fault = rc == -ELOOP ? (struct plan_fault){ PLAN_FAULT_LANES, .at = TOPO_NONE } :
				       torus_fault(rc);
	}
	if (fault.kind == PLAN_FAULT_NONE)
		fault = finish(d);
	arena_release(scratch, mark);
	return fault;
}

struct plan_fault torus_detour(struct torus_rows *rows, struct arena *scratch)
{
	const size_t mark = arena_mark(scratch);
	struct detour d = { .rows = rows,
			    .torus = rows->torus,
			    .topo = rows->torus->topo,
			    .first_lane = rows->plan->turns.lane_count };
	struct turn_rules rules = rows->plan->turns;
	struct plan_fault fault;

	rules.lane_count = LANE_MAX;
	if (take(&d, scratch) != 0)
		return torus_fault(-ENOMEM);
	find_islands(&d);
	fault = attempt(&d, &rules, false, scratch);
	if (fault.kind == PLAN_FAULT_LANES)
		fault = attempt(&d, &rules, true, scratch);
	arena_release(scratch, mark);
	return fault;
}
