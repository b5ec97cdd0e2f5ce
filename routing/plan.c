// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of a plan are kept once each: a hash table of their hops finds them again. Arrays grow by
// doubling in the arena, so at most as much again is left behind.

#include "routing/plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "routing/fold.h"

enum {
	FIRST_GROUPS = 64,
	FIRST_HOPS = 1024,
	ROW_BYTES = 4,
	GROUP_BYTES = 4,
	HOP_BYTES = 4,
};

// Doubles an array: *array of *room objects of `bytes`, `used` of them in use.
static int grow(struct arena *keep, void **array, uint32_t *room, uint32_t used, size_t bytes)
{
	void *larger = arena_take_raw(keep, 2 * (size_t)*room, bytes);

	if (larger == NULL)
		return -ENOMEM;
	memcpy(larger, *array, used * bytes);
	*array = larger;
	*room *= 2;
	return 0;
}

static uint64_t hops_hash(const struct plan_hop *hops, uint32_t count, uint32_t pin)
{
	uint64_t hash = FOLD_A ^ pin;

	for (uint32_t i = 0; i < count; i++)
		hash = fold_multiply(hash ^ ((uint64_t)hops[i].link << 16 | hops[i].weight),
				     FOLD_B);
	return hash;
}

static void enter(struct plan *plan, uint16_t number)
{
	const struct plan_group *g = &plan->group[number];
	const uint32_t mask = plan->bucket_count - 1;
	uint32_t i = (uint32_t)hops_hash(plan->hop + g->first, g->hop_count, g->pin) & mask;

	while (plan->bucket[i] != PLAN_NONE)
		i = (i + 1) & mask;
	plan->bucket[i] = number;
}

// Buckets are twice as many as there is room for groups. Without memory they stay as they were.
static int make_buckets(struct plan *plan)
{
	const uint32_t count = 2 * plan->group_room;
	uint16_t *bucket = arena_take_raw(plan->keep, count, sizeof(*bucket));

	if (bucket == NULL)
		return -ENOMEM;
	plan->bucket = bucket;
	plan->bucket_count = count;
	memset(plan->bucket, 0xff, plan->bucket_count * sizeof(*plan->bucket));
	for (uint32_t g = 0; g < plan->group_count; g++)
		enter(plan, (uint16_t)g);
	return 0;
}

static int take(const struct topo *topo, struct plan *plan)
{
	const size_t rows = (size_t)topo->edge_count * topo->switch_count;

	plan->row = arena_take_raw(plan->keep, rows, sizeof(*plan->row));
	plan->group = arena_take_raw(plan->keep, plan->group_room, sizeof(*plan->group));
	plan->hop = arena_take_raw(plan->keep, plan->hop_room, sizeof(*plan->hop));
	plan->link_tier = arena_take(plan->keep, topo->link_count, sizeof(*plan->link_tier));
	if (plan->row == NULL || plan->group == NULL || plan->hop == NULL ||
	    plan->link_tier == NULL)
		return -ENOMEM;
	return 0;
}

int plan_init(const struct topo *topo, struct arena *keep, struct plan *plan)
{
	*plan = (struct plan){
		.switch_count = topo->switch_count,
		.edge_count = topo->edge_count,
		.tier_count = 1,
		.group_room = FIRST_GROUPS,
		.hop_room = FIRST_HOPS,
		.keep = keep,
	};
	if (take(topo, plan) != 0 || make_buckets(plan) != 0 ||
	    turn_rules_init(topo, 1, 1, 0, keep, &plan->turns) != 0)
		return -ENOMEM;
	memset(plan->row, 0xff, (size_t)topo->edge_count * topo->switch_count * sizeof(*plan->row));
	return 0;
}

int plan_copy(const struct topo *topo, const struct plan *from, struct arena *keep,
	      struct plan *plan)
{
	*plan = *from;
	plan->keep = keep;
	if (take(topo, plan) != 0 || turn_rules_copy(topo, &from->turns, keep, &plan->turns) != 0)
		return -ENOMEM;
	memcpy(plan->row, from->row,
	       (size_t)topo->edge_count * topo->switch_count * sizeof(*plan->row));
	memcpy(plan->group, from->group, from->group_count * sizeof(*plan->group));
	memcpy(plan->hop, from->hop, from->hop_count * sizeof(*plan->hop));
	memcpy(plan->link_tier, from->link_tier, topo->link_count);
	return make_buckets(plan);
}

static bool same_hops(const struct plan_hop *a, const struct plan_hop *b, uint32_t count)
{
	static_assert(sizeof(struct plan_hop) == 4, "hops are compared as bytes");
	return memcmp(a, b, count * sizeof(*a)) == 0;
}

uint16_t plan_find_group(const struct plan *plan, const struct plan_hop *hops, uint32_t count,
			 uint32_t pin)
{
	const uint32_t mask = plan->bucket_count - 1;

	for (uint32_t i = (uint32_t)hops_hash(hops, count, pin) & mask;
	     plan->bucket[i] != PLAN_NONE; i = (i + 1) & mask) {
		const struct plan_group *g = &plan->group[plan->bucket[i]];

		if (g->hop_count == count && g->pin == pin &&
		    same_hops(plan->hop + g->first, hops, count))
			return plan->bucket[i];
	}
	return PLAN_NONE;
}

// Room for one more group. Without it the plan is whole, since not every caller stops at once.
static int make_room(struct plan *plan, uint32_t count)
{
	if (plan->group_count == plan->group_room &&
	    grow(plan->keep, (void **)&plan->group, &plan->group_room, plan->group_count,
		 sizeof(*plan->group)) != 0)
		return -ENOMEM;
	if (2 * plan->group_count == plan->bucket_count && make_buckets(plan) != 0)
		return -ENOMEM;
	while (plan->hop_room - plan->hop_count < count) {
		if (grow(plan->keep, (void **)&plan->hop, &plan->hop_room, plan->hop_count,
			 sizeof(*plan->hop)) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_group(struct plan *plan, const struct plan_hop *hops, uint32_t count, uint32_t pin)
{
	if (plan->group_count == PLAN_GROUP_MAX)
		return -EOVERFLOW;
	if (make_room(plan, count) != 0)
		return -ENOMEM;
	plan->group[plan->group_count] = (struct plan_group){
		.first = plan->hop_count,
		.hop_count = (uint16_t)count,
		.pin = pin,
	};
	memcpy(plan->hop + plan->hop_count, hops, count * sizeof(*hops));
	plan->hop_count += count;
	plan->group_count++;
	enter(plan, (uint16_t)(plan->group_count - 1));
	return 0;
}

int plan_group(struct plan *plan, const struct plan_hop *hops, uint32_t count, uint32_t pin,
	       uint16_t *group)
{
	int rc;

	*group = PLAN_NONE;
	if (count == 0)
		return 0;
	WEFT_CHECK(count <= PLAN_HOP_MAX);
	*group = plan_find_group(plan, hops, count, pin);
	if (*group != PLAN_NONE)
		return 0;
	rc = add_group(plan, hops, count, pin);
	if (rc == 0)
		*group = (uint16_t)(plan->group_count - 1);
	return rc;
}

int plan_group_plain(struct plan *plan, const uint16_t *links, uint32_t count, uint16_t *group)
{
	struct plan_hop hops[PLAN_HOP_MAX];

	WEFT_CHECK(count <= PLAN_HOP_MAX);
	for (uint32_t i = 0; i < count; i++)
		hops[i] = (struct plan_hop){ .link = links[i], .weight = 1 };
	return plan_group(plan, hops, count, 0, group);
}

void plan_forget_groups(struct plan *plan)
{
	plan->group_count = 0;
	plan->hop_count = 0;
	memset(plan->bucket, 0xff, plan->bucket_count * sizeof(*plan->bucket));
}

bool plan_same(const struct plan *a, uint16_t row_a, const struct plan *b, uint16_t row_b)
{
	const struct plan_group *g, *h;

	if (!plan_is_group(row_a) || !plan_is_group(row_b))
		return row_a == row_b;
	g = &a->group[row_a];
	h = &b->group[row_b];
	return g->hop_count == h->hop_count && g->pin == h->pin &&
	       same_hops(a->hop + g->first, b->hop + h->first, g->hop_count);
}

static bool has_wide_group(const struct plan *plan, uint32_t most)
{
	for (uint32_t g = 0; g < plan->group_count; g++) {
		if (plan->group[g].hop_count > most)
			return true;
	}
	return false;
}

bool plan_fits_groups(const struct plan *plan, uint32_t member_most, struct plan_fault *fault)
{
	const size_t rows = (size_t)plan->edge_count * plan->switch_count;

	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	// A group that is too wide may be of the past.
	if (!has_wide_group(plan, member_most))
		return true;
	for (size_t i = 0; i < rows; i++) {
		if (!plan_is_group(plan->row[i]) ||
		    plan->group[plan->row[i]].hop_count <= member_most)
			continue;
		*fault = (struct plan_fault){
			.kind = PLAN_FAULT_WIDE,
			.at = (uint32_t)(i % plan->switch_count),
			.edge = (uint32_t)(i / plan->switch_count),
		};
		return false;
	}
	return true;
}

int turn_rules_init(const struct topo *topo, uint32_t lane_count, uint32_t class_count,
		    uint32_t exception_room, struct arena *keep, struct turn_rules *rules)
{
	const size_t turns = (size_t)class_count * class_count * LANE_MAX;

	WEFT_CHECK(lane_count >= 1 && lane_count <= LANE_MAX);
	WEFT_CHECK(class_count >= 1 && class_count <= TURN_CLASS_MAX);
	*rules = (struct turn_rules){
		.lane_count = lane_count,
		.class_count = class_count,
		.link_class = arena_take(keep, topo->link_count, sizeof(*rules->link_class)),
		.lane = arena_take_raw(keep, turns, sizeof(*rules->lane)),
		.exception = arena_take_raw(keep, exception_room, sizeof(*rules->exception)),
	};
	if (rules->link_class == NULL || rules->lane == NULL || rules->exception == NULL)
		return -ENOMEM;
	memset(rules->lane, TURN_DENY, turns);
	return 0;
}

int turn_rules_copy(const struct topo *topo, const struct turn_rules *from, struct arena *keep,
		    struct turn_rules *rules)
{
	const uint32_t classes = from->class_count;

	if (turn_rules_init(topo, from->lane_count, classes, from->exception_count, keep, rules) !=
	    0)
		return -ENOMEM;
	memcpy(rules->link_class, from->link_class, topo->link_count);
	memcpy(rules->lane, from->lane, (size_t)classes * classes * LANE_MAX);
	rules->exception_count = from->exception_count;
	if (from->exception_count != 0)
		memcpy(rules->exception, from->exception,
		       from->exception_count * sizeof(*from->exception));
	return 0;
}

static int compare_exception(const struct turn_exception *a, uint32_t in, uint32_t out,
			     uint32_t lane)
{
	if (a->in != in)
		return a->in < in ? -1 : 1;
	if (a->out != out)
		return a->out < out ? -1 : 1;
	return (int)a->lane - (int)lane;
}

uint32_t turn_rules_seek(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane)
{
	uint32_t low = 0;
	uint32_t high = rules->exception_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (compare_exception(&rules->exception[middle], in, out, lane) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void turn_rules_insert(struct turn_rules *rules, const struct turn_exception *exception)
{
	const struct turn_exception e = *exception;
	uint32_t at = rules->exception_count++;

	while (at > 0 && compare_exception(&rules->exception[at - 1], e.in, e.out, e.lane) > 0) {
		rules->exception[at] = rules->exception[at - 1];
		at--;
	}
	rules->exception[at] = e;
}

static const struct turn_exception *find_exception(const struct turn_rules *rules, uint32_t in,
						   uint32_t out, uint32_t lane)
{
	const uint32_t at = turn_rules_seek(rules, in, out, lane);
	const struct turn_exception *e = &rules->exception[at];

	if (at == rules->exception_count || compare_exception(e, in, out, lane) != 0)
		return NULL;
	return e;
}

uint8_t turn_rules_get(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane)
{
	const struct turn_exception *e;
	uint32_t in_class, turn;

	if (in == out || lane >= rules->lane_count)
		return TURN_DENY;
	if (rules->exception_count != 0) {
		e = find_exception(rules, in, out, lane);
		if (e != NULL)
			return e->to;
	}
	in_class = in == TOPO_NONE ? (uint32_t)TURN_CLASS_HOST : rules->link_class[in];
	turn = in_class * rules->class_count + rules->link_class[out];
	return rules->lane[(size_t)turn * LANE_MAX + lane];
}

// Two plans side by side: groups of the later one are known by their number in the earlier one.
struct comparison {
	const struct plan *before;
	const struct plan *after;
	uint16_t *earlier; // [groups of after], PLAN_NONE: a new one
	uint32_t *had;     // [groups of before] 1 + the last switch that had it
	uint32_t *sent;    // [groups of after] 1 + the last switch that is sent it
};

static bool same_row(const struct comparison *c, uint16_t row_before, uint16_t row_after)
{
	if (!plan_is_group(row_after))
		return row_before == row_after;
	return row_before == c->earlier[row_after] && plan_is_group(row_before);
}

static void compare_switch(struct comparison *c, uint32_t at, struct plan_change *change)
{
	const uint64_t rows = change->rows;

	for (uint32_t e = 0; e < c->before->edge_count; e++) {
		const uint16_t row = plan_rows(c->before, e)[at];

		if (plan_is_group(row))
			c->had[row] = at + 1;
	}
	for (uint32_t e = 0; e < c->after->edge_count; e++) {
		const uint16_t row = plan_rows(c->after, e)[at];

		if (same_row(c, plan_rows(c->before, e)[at], row))
			continue;
		change->rows++;
		change->bytes += ROW_BYTES;
		if (!plan_is_group(row) || c->sent[row] == at + 1 ||
		    (c->earlier[row] != PLAN_NONE && c->had[c->earlier[row]] == at + 1))
			continue;
		c->sent[row] = at + 1;
		change->groups++;
		change->bytes += GROUP_BYTES + HOP_BYTES * (uint64_t)c->after->group[row].hop_count;
	}
	change->switches += change->rows != rows;
}

// A switch at a time is a walk across the rows, so those without a change are found edge by edge
// first.
static void mark_changed(const struct comparison *c, uint8_t *changed)
{
	for (uint32_t e = 0; e < c->after->edge_count; e++) {
		const uint16_t *before = plan_rows(c->before, e);
		const uint16_t *after = plan_rows(c->after, e);

		for (uint32_t s = 0; s < c->after->switch_count; s++)
			changed[s] |= !same_row(c, before[s], after[s]);
	}
}

int plan_diff(const struct plan *before, const struct plan *after, struct arena *scratch,
	      struct plan_change *change)
{
	const size_t mark = arena_mark(scratch);
	struct comparison c = {
		.before = before,
		.after = after,
		.earlier = arena_take_raw(scratch, after->group_count, sizeof(*c.earlier)),
		.had = arena_take(scratch, before->group_count, sizeof(*c.had)),
		.sent = arena_take(scratch, after->group_count, sizeof(*c.sent)),
	};
	uint8_t *changed = arena_take(scratch, after->switch_count, 1);

	*change = (struct plan_change){ 0 };
	if (c.earlier == NULL || c.had == NULL || c.sent == NULL || changed == NULL) {
		arena_release(scratch, mark);
		return -ENOMEM;
	}
	for (uint32_t g = 0; g < after->group_count; g++) {
		const struct plan_group *group = &after->group[g];

		c.earlier[g] = plan_find_group(before, after->hop + group->first, group->hop_count,
					       group->pin);
	}
	mark_changed(&c, changed);
	for (uint32_t s = 0; s < after->switch_count; s++) {
		if (changed[s])
			compare_switch(&c, s, change);
	}
	arena_release(scratch, mark);
	return 0;
}

int plan_table(const struct plan *plan, uint32_t at, struct arena *keep, struct arena *scratch,
	       struct plan_table *table)
{
	const size_t mark = arena_mark(scratch);
	uint16_t *number = arena_take_raw(scratch, plan->group_count, sizeof(*number));

	*table = (struct plan_table){
		.row = arena_take_raw(keep, plan->edge_count, sizeof(*table->row)),
		.group = arena_take_raw(keep, plan->group_count, sizeof(*table->group)),
	};
	if (number == NULL || table->row == NULL || table->group == NULL) {
		arena_release(scratch, mark);
		return -ENOMEM;
	}
	memset(number, 0xff, plan->group_count * sizeof(*number));
	for (uint32_t e = 0; e < plan->edge_count; e++) {
		const uint16_t row = plan_rows(plan, e)[at];

		table->row[e] = row;
		table->row_count += row != PLAN_NONE;
		if (!plan_is_group(row))
			continue;
		if (number[row] == PLAN_NONE) {
			number[row] = (uint16_t)table->group_count;
			table->group[table->group_count++] = row;
		}
		table->row[e] = number[row];
	}
	arena_release(scratch, mark);
	return 0;
}
