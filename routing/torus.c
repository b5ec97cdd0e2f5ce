// SPDX-License-Identifier: BSD-3-Clause
//
// The Torus engine: where links lead, the rules of turns, and when a part of a plan is enough.
//
// As long as each line is broken once at most, rows are those of dimension order and rules are
// those of the topology; then an event changes the rows of its line alone.

#include "routing/torus.h"

#include <errno.h>
#include <string.h>

#include "routing/torus_detour.h"
#include "routing/torus_rows.h"
#include "routing/torus_twist.h"

#define GOOD ((struct plan_fault){ .kind = PLAN_FAULT_NONE })

struct plan_fault torus_fault(int rc)
{
	const enum plan_fault_kind kind = rc == 0          ? PLAN_FAULT_NONE :
					  rc == -EOVERFLOW ? PLAN_FAULT_GROUPS :
							     PLAN_FAULT_MEMORY;

	return (struct plan_fault){ .kind = kind };
}

static bool lengths_good(struct torus *torus)
{
	const struct torus_shape *shape = &torus->shape;

	if (shape->dim_count == 0 || shape->dim_count > TORUS_DIMS_MAX)
		return false;
	torus->grid_count = 1;
	for (uint32_t d = shape->dim_count; d-- > 0;) {
		torus->stride[d] = torus->grid_count;
		if (shape->dims[d] == 0 || shape->dims[d] > TORUS_GRID_MAX / torus->grid_count)
			return false;
		torus->grid_count *= shape->dims[d];
	}
	return true;
}

static bool shift_good(const struct torus_shape *shape, uint32_t d, uint32_t e)
{
	return shape->shift[d][e] == 0 ||
	       (e != d && shape->shift[d][e] < shape->dims[e] && shape->dims[d] >= TORUS_RING_MIN);
}

// Shifts must leave a displacement the same wherever it is.
static bool shifts_good(struct torus *torus)
{
	const struct torus_shape *shape = &torus->shape;
	uint32_t moves = 0;
	uint32_t moved = 0;

	for (uint32_t pair = 0; pair < shape->dim_count * shape->dim_count; pair++) {
		const uint32_t d = pair / shape->dim_count;
		const uint32_t e = pair % shape->dim_count;

		if (!shift_good(shape, d, e))
			return false;
		moves |= (uint32_t)(shape->shift[d][e] != 0) << d;
		moved |= (uint32_t)(shape->shift[d][e] != 0) << e;
	}
	torus->twisted = moves != 0;
	return (moves & moved) == 0;
}

static struct plan_fault put_on_grid(struct torus *torus)
{
	const struct torus_shape *shape = &torus->shape;

	memset(torus->grid, 0xff, torus->grid_count * sizeof(*torus->grid));
	for (uint32_t s = 0; s < torus->topo->switch_count; s++) {
		bool outside = false;
		uint32_t place = 0;

		for (uint32_t d = 0; d < shape->dim_count; d++) {
			outside |= shape->place[s][d] >= shape->dims[d];
			place += shape->place[s][d] * torus->stride[d];
		}
		if (outside)
			return (struct plan_fault){ PLAN_FAULT_NOT_A_TORUS, .at = s };
		if (torus->grid[place] != TOPO_NONE)
			return (struct plan_fault){ PLAN_FAULT_COORDINATES, .at = s,
						    .other = torus->grid[place] };
		torus->grid[place] = s;
		torus->grid_of[s] = place;
	}
	return GOOD;
}

// The dimension and direction that lead from a switch to its neighbour. False: none does.
static bool find_way(const struct torus_shape *shape, const uint16_t *from, const uint16_t *to,
		     uint8_t *way)
{
	uint16_t next[TORUS_DIMS_MAX];

	for (uint32_t step = 0; step < 2 * shape->dim_count; step++) {
		const uint32_t d = step / 2;
		const bool minus = step % 2 != 0;
		const uint32_t n = shape->dims[d];
		const bool closes = from[d] == (minus ? 0 : n - 1);

		if (closes && n < TORUS_RING_MIN)
			continue;
		torus_step(shape, from, d, minus, next);
		if (memcmp(next, to, shape->dim_count * sizeof(*next)) != 0)
			continue;
		*way = (uint8_t)(d * TORUS_WAYS + (minus ? TORUS_MINUS : 0) +
				 (closes ? TORUS_CLOSING : 0));
		return true;
	}
	return false;
}

// Both ends of a cable must say the same of it, or lanes would not match.
static bool ways_agree(uint8_t there, uint8_t back)
{
	return (there ^ back) == TORUS_MINUS;
}

static struct plan_fault find_ways(struct torus *torus)
{
	const struct topo *topo = torus->topo;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t at = topo->link_switch[link];
		const uint32_t far = topo_far(topo, link);

		if (!find_way(&torus->shape, torus->shape.place[at], torus->shape.place[far],
			      &torus->way[link]))
			return (struct plan_fault){ PLAN_FAULT_NOT_A_TORUS, .at = at, .other = far,
						    .link = link };
	}
	for (uint32_t link = 0; link < topo->link_count; link++) {
		if (!ways_agree(torus->way[link], torus->way[topo->link_peer[link]]))
			return (struct plan_fault){ PLAN_FAULT_DATELINE,
						    .at = topo->link_switch[link], .link = link };
	}
	return GOOD;
}

// Edges along the grid, so that those of a block of it are consecutive.
static void order_edges(struct torus *torus)
{
	const struct topo *topo = torus->topo;
	uint32_t sum = 0;

	for (uint32_t e = 0; e < topo->edge_count; e++)
		torus->edge_first[torus->grid_of[topo->edge_switch[e]]]++;
	for (uint32_t place = 0; place < torus->grid_count; place++) {
		const uint32_t count = torus->edge_first[place];

		torus->edge_first[place] = sum;
		sum += count;
	}
	for (uint32_t e = 0; e < topo->edge_count; e++)
		torus->edge_order[torus->edge_first[torus->grid_of[topo->edge_switch[e]]]++] = e;
	for (uint32_t place = torus->grid_count; place > 0; place--)
		torus->edge_first[place] = torus->edge_first[place - 1];
	torus->edge_first[0] = 0;
}

static bool leads_on(const struct torus *torus, const struct topo_state *state, uint32_t at,
		     uint32_t d)
{
	const struct topo *topo = torus->topo;

	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		const unsigned way = torus->way[link] & ~(unsigned)TORUS_CLOSING;

		if (way == d * TORUS_WAYS && topo_link_up(topo, state, link))
			return true;
	}
	return false;
}

// Whether the line that begins at a place is broken once at most.
static bool line_whole(const struct torus *torus, const struct topo_state *state, uint32_t d,
		       uint32_t corner)
{
	const uint32_t n = torus->shape.dims[d];
	uint32_t broken = 0;

	for (uint32_t p = 0; n > 1 && p < n; p++) {
		const uint32_t at = torus->grid[corner + p * torus->stride[d]];

		broken += at == TOPO_NONE || !leads_on(torus, state, at, d);
	}
	return broken <= 1;
}

static bool find_whole(struct torus *torus, struct arena *keep)
{
	const size_t mark = arena_mark(keep);
	struct topo_state nothing;

	torus->whole = topo_state_init(torus->topo, keep, &nothing) == 0;
	if (!torus->whole)
		return false;
	for (uint32_t i = 0; i < torus->grid_count * torus->shape.dim_count; i++) {
		const uint32_t d = i / torus->grid_count;
		const uint32_t place = i % torus->grid_count;

		if (place / torus->stride[d] % torus->shape.dims[d] == 0)
			torus->whole &= line_whole(torus, &nothing, d, place);
	}
	arena_release(keep, mark);
	return true;
}

static bool take(struct torus *torus, struct arena *keep)
{
	const struct topo *topo = torus->topo;

	torus->grid = arena_take_raw(keep, torus->grid_count, sizeof(*torus->grid));
	torus->grid_of = arena_take_raw(keep, topo->switch_count, sizeof(*torus->grid_of));
	torus->way = arena_take_raw(keep, topo->link_count, sizeof(*torus->way));
	torus->edge_order = arena_take_raw(keep, topo->edge_count, sizeof(*torus->edge_order));
	torus->edge_first = arena_take(keep, torus->grid_count + 1u, sizeof(*torus->edge_first));
	return torus->grid != NULL && torus->grid_of != NULL && torus->way != NULL &&
	       torus->edge_order != NULL && torus->edge_first != NULL;
}

bool torus_init(const struct topo *topo, const struct torus_shape *shape, struct arena *keep,
		struct torus *torus, struct plan_fault *fault)
{
	*torus = (struct torus){ .topo = topo, .shape = *shape };
	*fault = (struct plan_fault){ PLAN_FAULT_NOT_A_TORUS, .at = TOPO_NONE };
	if (!lengths_good(torus) || !shifts_good(torus))
		return false;
	*fault = torus_fault(take(torus, keep) ? 0 : -ENOMEM);
	if (fault->kind == PLAN_FAULT_NONE)
		*fault = put_on_grid(torus);
	if (fault->kind == PLAN_FAULT_NONE)
		*fault = find_ways(torus);
	if (fault->kind != PLAN_FAULT_NONE)
		return false;
	order_edges(torus);
	*fault = torus_fault(find_whole(torus, keep) ? 0 : -ENOMEM);
	return fault->kind == PLAN_FAULT_NONE;
}

// Turns to a later dimension or straight on. A packet is on lane 1 from the closing cable to the
// end of its ring, so that there is no second closing.
static void allow_turns(const struct torus *torus, uint32_t in, struct turn_rules *rules)
{
	for (uint32_t out = 0; out < torus->shape.dim_count * TORUS_WAYS; out++) {
		const uint32_t closes = out % 2;
		const bool later = out / TORUS_WAYS > in / TORUS_WAYS;
		const bool straight = out / TORUS_WAYS == in / TORUS_WAYS &&
				      ((out ^ in) & TORUS_MINUS) != 0;

		if (later || straight)
			turn_rules_allow(rules, 1 + in, 1 + out, 0, closes);
		if (later || (straight && !closes))
			turn_rules_allow(rules, 1 + in, 1 + out, 1, later ? closes : 1);
	}
}

static int make_rules(const struct torus *torus, struct arena *keep, struct turn_rules *rules)
{
	const uint32_t ways = torus->shape.dim_count * TORUS_WAYS;
	uint32_t lanes = 1;

	for (uint32_t link = 0; link < torus->topo->link_count; link++)
		lanes += lanes == 1 && (torus->way[link] & TORUS_CLOSING) != 0;
	if (turn_rules_init(torus->topo, lanes, 1 + ways, 0, keep, rules) != 0)
		return -ENOMEM;
	for (uint32_t link = 0; link < torus->topo->link_count; link++)
		rules->link_class[link] = (uint8_t)(1 + torus->way[link]);
	for (uint32_t way = 0; way < ways; way++) {
		turn_rules_allow(rules, TURN_CLASS_HOST, 1 + way, 0, way % 2);
		allow_turns(torus, way, rules);
	}
	return 0;
}

// Everything of a plan but its tiers.
static struct plan_fault fill(const struct torus *torus, const struct topo_state *state,
			      struct arena *scratch, struct plan *plan)
{
	const size_t mark = arena_mark(scratch);
	struct plan_fault fault;
	struct torus_rows rows;
	int rc = make_rules(torus, plan->keep, &plan->turns);

	plan_forget_groups(plan);
	if (rc == 0)
		rc = torus_rows_init(torus, state, plan, scratch, &rows);
	if (rc == 0)
		rc = torus_rows_make(&rows, scratch);
	for (uint32_t e = 0; rc == 0 && e < torus->topo->edge_count; e++)
		rc = torus_rows_fill(&rows, e);
	fault = torus_fault(rc);
	if (rc == 0 && rows.blocked)
		fault = torus_detour(&rows, scratch);
	arena_release(scratch, mark);
	return fault;
}

bool torus_plan(const struct torus *torus, const struct topo_state *state, struct arena *scratch,
		struct plan *plan, struct plan_fault *fault)
{
	plan->tier_count = torus->shape.dim_count;
	for (uint32_t link = 0; link < torus->topo->link_count; link++)
		plan->link_tier[link] = torus->way[link] / TORUS_WAYS;
	*fault = fill(torus, state, scratch, plan);
	return fault->kind == PLAN_FAULT_NONE;
}

// The place that the line of a link begins at.
static uint32_t link_corner(const struct torus *torus, uint32_t link)
{
	const uint32_t d = torus->way[link] / TORUS_WAYS;
	const uint32_t at = torus->topo->link_switch[link];

	return torus->grid_of[at] - torus->shape.place[at][d] * torus->stride[d];
}

// Whether rows are those of dimension order: no line is broken twice. `nothing` is zeroes.
static bool state_whole(const struct torus *torus, const struct topo_state *state,
			const uint8_t *nothing)
{
	const uint32_t links = torus->topo->link_count;
	const uint32_t switches = torus->topo->switch_count;

	if (!torus->whole || topo_next_change(state->switch_lost, nothing, switches, 0) < switches)
		return false;
	for (uint32_t link = topo_next_change(state->link_lost, nothing, links, 0); link < links;
	     link = topo_next_change(state->link_lost, nothing, links, link + 1)) {
		if (!line_whole(torus, state, torus->way[link] / TORUS_WAYS,
				link_corner(torus, link)))
			return false;
	}
	return true;
}

// The lines of links that have changed, each once: they are marked at their first place.
static int patch_lines(struct torus_rows *rows, const struct topo_state *before,
		       struct arena *scratch)
{
	const struct torus *torus = rows->torus;
	const uint32_t links = torus->topo->link_count;
	const uint8_t *was = before->link_lost;
	const uint8_t *is = rows->state->link_lost;
	uint8_t *done = arena_take(scratch, torus->grid_count, sizeof(*done));
	int rc = done == NULL ? -ENOMEM : 0;

	for (uint32_t link = topo_next_change(was, is, links, 0); rc == 0 && link < links;
	     link = topo_next_change(was, is, links, link + 1)) {
		const uint32_t d = torus->way[link] / TORUS_WAYS;
		const uint32_t corner = link_corner(torus, link);

		if ((done[corner] >> d & 1) == 0)
			rc = torus_rows_patch(rows, d, corner, scratch);
		done[corner] |= (uint8_t)(1u << d);
	}
	return rc;
}

// Rows of lines that have changed, if that is all there is to do before and after.
static int patch(const struct torus *torus, const struct topo_state *before,
		 const struct topo_state *after, struct arena *scratch, struct plan *plan,
		 bool *patched)
{
	const uint32_t links = torus->topo->link_count;
	const uint32_t switches = torus->topo->switch_count;
	const uint8_t *nothing = arena_take(scratch, links + switches, sizeof(*nothing));
	struct torus_rows rows;
	int rc;

	*patched = false;
	if (nothing == NULL)
		return -ENOMEM;
	if (!state_whole(torus, before, nothing) || !state_whole(torus, after, nothing))
		return 0;
	*patched = true;
	rc = torus_rows_init(torus, after, plan, scratch, &rows);
	return rc == 0 ? patch_lines(&rows, before, scratch) : rc;
}

bool torus_replan(const struct torus *torus, const struct topo_state *before,
		  const struct topo_state *after, struct arena *scratch, struct plan *plan,
		  struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	bool patched = false;
	int rc = 0;

	if (!torus->twisted && plan->turns.exception_count == 0)
		rc = patch(torus, before, after, scratch, plan, &patched);
	arena_release(scratch, mark);
	// Groups of the past may have left no number for new ones.
	if (rc == -EOVERFLOW)
		*fault = fill(torus, after, scratch, plan);
	else
		*fault = rc != 0 || patched ? torus_fault(rc) : fill(torus, after, scratch, plan);
	return fault->kind == PLAN_FAULT_NONE;
}
