// SPDX-License-Identifier: BSD-3-Clause
//
// A list in arenas of its own, one for each entry: an entry that is dropped gives its arena to the
// one behind. What is the same as the last one is no entry more, which is nearly always so: most
// plans of a fabric have the same turns.

#include "fabricmgr/net/turns_in_force.h"

#include <errno.h>

#include "fabricmgr/memory.h"
#include "routing/turn_mix.h"

bool turns_open(struct turns_in_force *turns)
{
	*turns = (struct turns_in_force){ .count = 0 };
	for (uint32_t i = 0; i <= TURNS_MAX; i++) {
		if (!memory_open(&turns->keep[i]))
			return false;
	}
	return true;
}

void turns_close(struct turns_in_force *turns)
{
	for (uint32_t i = 0; i <= TURNS_MAX; i++)
		memory_close(&turns->keep[i]);
}

static bool is_last(const struct turns_in_force *turns, const struct topo *topo,
		    const struct turn_rules *rules)
{
	return turns->count > 0 && turn_mix_same(topo, &turns->rules[turns->count - 1], rules);
}

uint32_t turns_count(const struct turns_in_force *turns, const struct topo *topo)
{
	return turns->count +
	       (turns->has_proposed && !is_last(turns, topo, &turns->rules[turns->count]));
}

int turns_copy(struct turns_in_force *to, const struct topo *topo,
	       const struct turns_in_force *from)
{
	const uint32_t count = turns_count(from, topo);
	int rc = 0;

	to->count = 0;
	to->has_proposed = false;
	to->partly = from->partly;
	while (rc == 0 && to->count < count) {
		arena_release(&to->keep[to->count], 0);
		rc = turn_rules_copy(topo, &from->rules[to->count], &to->keep[to->count],
				     &to->rules[to->count]);
		to->count += rc == 0;
	}
	return rc;
}

int turns_propose(struct turns_in_force *turns, const struct topo *topo,
		  const struct turn_rules *rules)
{
	struct arena *keep = &turns->keep[turns->count];
	int rc;

	if (turns->count == TURNS_MAX && !is_last(turns, topo, rules))
		return -E2BIG;
	arena_release(keep, 0);
	rc = turn_rules_copy(topo, rules, keep, &turns->rules[turns->count]);
	turns->has_proposed = rc == 0;
	return rc;
}

void turns_decide(struct turns_in_force *turns, const struct topo *topo)
{
	turns->count = turns_count(turns, topo);
	turns->has_proposed = false;
}

static void swap(struct turns_in_force *turns, uint32_t a, uint32_t b)
{
	const struct arena keep = turns->keep[a];
	const struct turn_rules rules = turns->rules[a];

	turns->keep[a] = turns->keep[b];
	turns->rules[a] = turns->rules[b];
	turns->keep[b] = keep;
	turns->rules[b] = rules;
}

void turns_keep_last(struct turns_in_force *turns)
{
	turns->partly = false;
	if (turns->count < 2)
		return;
	swap(turns, 0, turns->count - 1);
	if (turns->has_proposed)
		swap(turns, 1, turns->count);
	turns->count = 1;
}
