// SPDX-License-Identifier: BSD-3-Clause
//
// The graph of all rules together is searched depth first; it differs from lane_graph's in that a
// turn may lead to several lanes. A class of common rules is a pair of classes, one of each.

#include "routing/turn_mix.h"

#include <errno.h>
#include <string.h>

enum colour { WHITE, GREY, BLACK };

// A pair (link, lane), and what is next to be looked at of it: local links of the far switch, by
// each of the rules.
struct frame {
	uint32_t pair;
	uint32_t next;
};

struct search {
	const struct topo *topo;
	const struct turn_rules *const *rules;
	uint32_t rules_count;
	uint8_t *colour; // [link x LANE_MAX + lane]
	struct frame *stack;
};

bool turn_mix_same(const struct topo *topo, const struct turn_rules *a, const struct turn_rules *b)
{
	const size_t turns = (size_t)a->class_count * a->class_count * LANE_MAX;

	if (a->lane_count != b->lane_count || a->class_count != b->class_count ||
	    a->exception_count != b->exception_count || memcmp(a->lane, b->lane, turns) != 0 ||
	    memcmp(a->link_class, b->link_class, topo->link_count) != 0)
		return false;
	for (uint32_t i = 0; i < a->exception_count; i++) {
		const struct turn_exception *x = &a->exception[i], *y = &b->exception[i];

		if (x->in != y->in || x->out != y->out || x->lane != y->lane || x->to != y->to)
			return false;
	}
	return true;
}

static uint8_t lane_or_deny(const struct turn_rules *rules, uint8_t lane)
{
	return lane < rules->lane_count ? lane : (uint8_t)TURN_DENY;
}

static uint8_t turn_of(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane)
{
	return lane_or_deny(rules, turn_rules_get(rules, in, out, lane));
}

static uint32_t next_pair(const struct search *s, struct frame *f)
{
	const uint32_t in = s->topo->link_peer[f->pair / LANE_MAX];
	const uint32_t at = s->topo->link_switch[in];
	const uint32_t end = topo_degree(s->topo, at) * s->rules_count;

	while (f->next < end) {
		const uint32_t out = s->topo->link_first[at] + f->next / s->rules_count;
		const struct turn_rules *rules = s->rules[f->next % s->rules_count];
		const uint8_t to = turn_of(rules, in, out, f->pair % LANE_MAX);

		f->next++;
		if (to != TURN_DENY)
			return out * LANE_MAX + to;
	}
	return TOPO_NONE;
}

static bool closes_from(struct search *s, uint32_t root)
{
	uint32_t depth = 0;

	s->stack[depth++] = (struct frame){ .pair = root };
	s->colour[root] = GREY;
	while (depth > 0) {
		const uint32_t next = next_pair(s, &s->stack[depth - 1]);

		if (next == TOPO_NONE) {
			s->colour[s->stack[--depth].pair] = BLACK;
			continue;
		}
		if (s->colour[next] == GREY)
			return true;
		if (s->colour[next] == WHITE) {
			s->colour[next] = GREY;
			s->stack[depth++] = (struct frame){ .pair = next };
		}
	}
	return false;
}

int turn_mix_safe(const struct topo *topo, const struct turn_rules *const *rules, uint32_t count,
		  struct arena *scratch, bool *safe)
{
	const size_t mark = arena_mark(scratch);
	const uint32_t pairs = topo->link_count * LANE_MAX;
	struct search s = { topo, rules, count, arena_take(scratch, pairs, sizeof(*s.colour)),
			    arena_take_raw(scratch, pairs, sizeof(*s.stack)) };

	if (s.colour == NULL || s.stack == NULL) {
		arena_release(scratch, mark);
		return -ENOMEM;
	}
	*safe = true;
	for (uint32_t pair = 0; pair < pairs && *safe; pair++) {
		if (s.colour[pair] == WHITE)
			*safe = !closes_from(&s, pair);
	}
	arena_release(scratch, mark);
	return 0;
}

// --- the turns that both have -------------------------------------------------------------------

// Classes of both side by side: [0] is that of hosts in either.
struct pairing {
	uint32_t count;
	uint8_t a[TURN_CLASS_MAX];
	uint8_t b[TURN_CLASS_MAX];
};

static int find_class(struct pairing *p, uint8_t a, uint8_t b, uint8_t *found)
{
	uint32_t i = 0;

	while (i < p->count && !(p->a[i] == a && p->b[i] == b))
		i++;
	if (i == TURN_CLASS_MAX)
		return -EOVERFLOW;
	p->a[i] = a;
	p->b[i] = b;
	if (i == p->count)
		p->count++;
	*found = (uint8_t)i;
	return 0;
}

static uint8_t both(uint8_t a, uint8_t b)
{
	return a == b ? a : (uint8_t)TURN_DENY;
}

static uint8_t class_turn(const struct turn_rules *rules, uint32_t in, uint32_t out, uint32_t lane)
{
	const size_t turn = (size_t)in * rules->class_count + out;

	if (lane >= rules->lane_count)
		return TURN_DENY;
	return lane_or_deny(rules, rules->lane[turn * LANE_MAX + lane]);
}

static void pair_turns(const struct turn_rules *a, const struct turn_rules *b,
		       const struct pairing *p, struct turn_rules *common)
{
	for (uint32_t i = 0; i < p->count * p->count * common->lane_count; i++) {
		const uint32_t lane = i % common->lane_count;
		const uint32_t in = i / common->lane_count / p->count;
		const uint32_t out = i / common->lane_count % p->count;

		turn_rules_allow(common, in, out, lane,
				 both(class_turn(a, p->a[in], p->a[out], lane),
				      class_turn(b, p->b[in], p->b[out], lane)));
	}
}

static bool has_exception(const struct turn_rules *rules, const struct turn_exception *e)
{
	const uint32_t i = turn_rules_seek(rules, e->in, e->out, e->lane);

	return i < rules->exception_count && rules->exception[i].in == e->in &&
	       rules->exception[i].out == e->out && rules->exception[i].lane == e->lane;
}

// What is an exception in one of them is one here.
static void merge_exceptions(const struct turn_rules *from, const struct turn_rules *other,
			     struct turn_rules *common)
{
	for (uint32_t i = 0; i < from->exception_count; i++) {
		struct turn_exception e = from->exception[i];

		e.to = both(turn_of(from, e.in, e.out, e.lane),
			    turn_of(other, e.in, e.out, e.lane));
		if (!has_exception(common, &e))
			turn_rules_insert(common, &e);
	}
}

int turn_mix_common(const struct topo *topo, const struct turn_rules *a, const struct turn_rules *b,
		    struct arena *keep, struct turn_rules *common)
{
	const uint32_t lanes = a->lane_count > b->lane_count ? a->lane_count : b->lane_count;
	const size_t mark = arena_mark(keep);
	struct pairing pairing = { .count = 1 };
	uint8_t *link_class = arena_take_raw(keep, topo->link_count, 1);
	int rc = link_class == NULL ? -ENOMEM : 0;

	for (uint32_t link = 0; link < topo->link_count && rc == 0; link++)
		rc = find_class(&pairing, a->link_class[link], b->link_class[link],
				&link_class[link]);
	if (rc == 0)
		rc = turn_rules_init(topo, lanes, pairing.count,
				     a->exception_count + b->exception_count, keep, common);
	if (rc != 0) {
		arena_release(keep, mark);
		return rc;
	}
	memcpy(common->link_class, link_class, topo->link_count);
	pair_turns(a, b, &pairing, common);
	merge_exceptions(a, b, common);
	merge_exceptions(b, a, common);
	return 0;
}

// --- what a plan is given with ------------------------------------------------------------------

static int may_join(const struct topo *topo, const struct turn_rules *plan,
		    const struct turn_rules *const *in_force, uint32_t count, struct arena *scratch,
		    bool *may)
{
	const size_t mark = arena_mark(scratch);
	const struct turn_rules **all = arena_take_raw(scratch, count + 1u, sizeof(void *));
	uint32_t others = 0;
	int rc = -ENOMEM;

	for (uint32_t i = 0; i < count && all != NULL; i++) {
		if (!turn_mix_same(topo, plan, in_force[i]))
			all[1 + others++] = in_force[i];
	}
	*may = true;
	if (all != NULL) {
		all[0] = plan;
		rc = others == 0 ? 0 : turn_mix_safe(topo, all, 1 + others, scratch, may);
	}
	arena_release(scratch, mark);
	return rc;
}

int turn_mix_choose(const struct topo *topo, const struct turn_rules *plan,
		    const struct turn_rules *const *in_force, uint32_t count, struct arena *keep,
		    struct arena *scratch, struct turn_rules *chosen, bool *between)
{
	bool may;
	int rc = may_join(topo, plan, in_force, count, scratch, &may);

	*chosen = *plan;
	*between = rc == 0 && !may;
	for (uint32_t i = 0; i < count && *between && rc == 0; i++) {
		const struct turn_rules with = *chosen;

		rc = turn_mix_common(topo, &with, in_force[i], keep, chosen);
	}
	return rc;
}
