// SPDX-License-Identifier: BSD-3-Clause
//
// A pair of (link, lane) is one number, link x LANE_MAX + lane. The pairs that may follow a pair
// are the links of its far switch, as the rules say, and its chain of exceptions.

#include "routing/turn_search.h"

#include <errno.h>
#include <string.h>

enum {
	ROOM_PER_LINK = 64, // exceptions; rare beyond one
	END = TOPO_NONE,
};

int turn_search_init(const struct topo *topo, const struct turn_rules *rules, struct arena *scratch,
		     struct turn_search *search)
{
	const size_t pairs = (size_t)topo->link_count * LANE_MAX;

	*search = (struct turn_search){
		.topo = topo,
		.rules = rules,
		.room = topo->link_count * ROOM_PER_LINK,
	};
	search->exception = arena_take_raw(scratch, search->room, sizeof(*search->exception));
	search->next = arena_take_raw(scratch, search->room, sizeof(*search->next));
	search->first = arena_take_raw(scratch, pairs, sizeof(*search->first));
	search->seen = arena_take(scratch, pairs, sizeof(*search->seen));
	search->stack = arena_take_raw(scratch, pairs, sizeof(*search->stack));
	if (search->exception == NULL || search->next == NULL || search->first == NULL ||
	    search->seen == NULL || search->stack == NULL)
		return -ENOMEM;
	memset(search->first, 0xff, pairs * sizeof(*search->first));
	return 0;
}

uint8_t turn_search_get(const struct turn_search *search, uint32_t by, uint32_t out, uint32_t lane)
{
	const uint8_t to = turn_rules_get(search->rules, search->topo->link_peer[by], out, lane);

	if (to != TURN_DENY)
		return to;
	for (uint32_t i = search->first[by * LANE_MAX + lane]; i != END; i = search->next[i]) {
		if (search->exception[i].out == out)
			return search->exception[i].to;
	}
	return TURN_DENY;
}

static void visit(struct turn_search *search, uint32_t link, uint8_t lane, uint32_t *depth)
{
	const uint32_t pair = link * LANE_MAX + lane;

	if (lane == TURN_DENY || search->seen[pair] == search->round)
		return;
	search->seen[pair] = search->round;
	search->stack[(*depth)++] = pair;
}

static void visit_followers(struct turn_search *search, uint32_t pair, uint32_t *depth)
{
	const struct topo *topo = search->topo;
	const uint32_t in = topo->link_peer[pair / LANE_MAX];
	const uint32_t at = topo->link_switch[in];

	for (uint32_t out = topo->link_first[at]; out < topo->link_first[at + 1]; out++)
		visit(search, out, turn_rules_get(search->rules, in, out, pair % LANE_MAX), depth);
	for (uint32_t i = search->first[pair]; i != END; i = search->next[i])
		visit(search, search->exception[i].out, search->exception[i].to, depth);
}

// Whether `goal` follows `start`, at some distance.
static bool leads_to(struct turn_search *search, uint32_t start, uint32_t goal)
{
	uint32_t depth = 0;

	search->round++;
	visit(search, start / LANE_MAX, start % LANE_MAX, &depth);
	while (depth > 0 && search->seen[goal] != search->round)
		visit_followers(search, search->stack[--depth], &depth);
	return search->seen[goal] == search->round;
}

bool turn_search_allow(struct turn_search *search, uint32_t by, uint32_t out, uint32_t lane,
		       uint32_t to, bool checked)
{
	const uint32_t pair = by * LANE_MAX + lane;
	const uint32_t in = search->topo->link_peer[by];

	if (in == out || search->count == search->room ||
	    (checked && leads_to(search, out * LANE_MAX + to, pair)))
		return false;
	search->exception[search->count] = (struct turn_exception){
		.in = in,
		.out = out,
		.lane = (uint8_t)lane,
		.to = (uint8_t)to,
	};
	search->next[search->count] = search->first[pair];
	search->first[pair] = search->count++;
	return true;
}

void turn_search_undo(struct turn_search *search, uint32_t count)
{
	while (search->count > count) {
		const struct turn_exception *last = &search->exception[--search->count];
		const uint32_t by = search->topo->link_peer[last->in];

		search->first[by * LANE_MAX + last->lane] = search->next[search->count];
	}
}

// Adds to the count of what precedes each pair that follows this one; those that come to 0 are on
// the stack.
static void count_followers(struct turn_search *search, uint32_t pair, uint32_t change,
			    uint32_t *precede, uint32_t *depth)
{
	const struct topo *topo = search->topo;
	const uint32_t by = pair / LANE_MAX;
	const uint32_t at = topo_far(topo, by);

	for (uint32_t out = topo->link_first[at]; out < topo->link_first[at + 1]; out++) {
		const uint8_t to = turn_search_get(search, by, out, pair % LANE_MAX);
		const uint32_t follower = out * LANE_MAX + to;

		if (to == TURN_DENY)
			continue;
		precede[follower] += change;
		if (precede[follower] == 0)
			search->stack[(*depth)++] = follower;
	}
}

int turn_search_check(struct turn_search *search, struct arena *scratch)
{
	const uint32_t pairs = search->topo->link_count * LANE_MAX;
	const size_t mark = arena_mark(scratch);
	uint32_t *precede = arena_take(scratch, pairs, sizeof(*precede));
	uint32_t depth = 0;
	uint32_t left = pairs;

	if (precede == NULL)
		return -ENOMEM;
	for (uint32_t pair = 0; pair < pairs; pair++)
		count_followers(search, pair, 1, precede, &depth);
	for (uint32_t pair = 0; pair < pairs; pair++) {
		if (precede[pair] == 0)
			search->stack[depth++] = pair;
	}
	// Taking away what nothing precedes leaves the cycles and what follows them.
	for (; depth > 0; left--)
		count_followers(search, search->stack[--depth], UINT32_MAX, precede, &depth);
	arena_release(scratch, mark);
	return left == 0 ? 0 : -ELOOP;
}

static void insert_all(const struct turn_search *search, uint32_t in, struct turn_rules *rules)
{
	const uint32_t *chain = search->first + search->topo->link_peer[in] * LANE_MAX;

	for (uint32_t lane = 0; lane < LANE_MAX; lane++) {
		for (uint32_t i = chain[lane]; i != END; i = search->next[i])
			turn_rules_insert(rules, &search->exception[i]);
	}
}

void turn_search_finish(const struct turn_search *search, struct turn_rules *rules)
{
	rules->exception_count = 0;
	for (uint32_t in = 0; in < search->topo->link_count; in++)
		insert_all(search, in, rules);
}
