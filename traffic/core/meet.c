// SPDX-License-Identifier: BSD-3-Clause
//
// Who is there, and who has said what. A rank says each thing once; anything else is an error of
// that rank, which the owner makes the end of the run.

#include "traffic/core/meet.h"

#include <string.h>

void meet_init(struct meet *meet, uint32_t world, uint32_t last, uint64_t digest)
{
	memset(meet, 0, sizeof(*meet));
	meet->world = world;
	meet->last = last;
	meet->digest = digest;
	meet->left = world;
}

static void ask_all(struct meet *meet)
{
	memset(meet->said, 0, sizeof(meet->said));
	meet->left = meet->world;
	meet->longest_ns = 0;
}

enum meet_refusal meet_join(struct meet *meet, const struct meet_hello *hello, uint32_t qps,
			    ns_t now)
{
	if (hello->world != meet->world)
		return MEET_OTHER_WORLD;
	if (hello->rank >= meet->world)
		return MEET_NO_SUCH_RANK;
	if (meet->present[hello->rank])
		return MEET_TAKEN;
	if (hello->digest != meet->digest)
		return MEET_OTHER_OPTIONS;
	if (hello->qp_count != qps)
		return MEET_OTHER_QPS;
	if (meet->phase != MEET_GATHERS)
		return MEET_LATE;
	meet->present[hello->rank] = true;
	meet_hears(meet, hello->rank, now);
	if (--meet->left == 0) {
		meet->phase = MEET_ROUNDS;
		ask_all(meet);
	}
	return MEET_WELCOME;
}

bool meet_is_full(const struct meet *meet)
{
	return meet->phase != MEET_GATHERS;
}

// The rank says what is awaited of all.
static enum meet_step take(struct meet *meet, uint32_t rank)
{
	if (meet->said[rank])
		return MEET_WRONG;
	meet->said[rank] = true;
	return --meet->left == 0 ? MEET_ALL : MEET_WAITS;
}

enum meet_step meet_take_ready(struct meet *meet, uint32_t rank, const struct meet_ready *ready,
			       struct meet_ready *out)
{
	enum meet_step step;

	if (meet->phase != MEET_ROUNDS)
		return MEET_WRONG;
	// Said before it heard that the run is stopped.
	if (meet->stopped && ready->round < meet->round)
		return MEET_WAITS;
	if (ready->round != meet->round)
		return MEET_WRONG;
	step = take(meet, rank);
	meet->longest_ns = u64_max(meet->longest_ns, ready->last_ns);
	if (step != MEET_ALL)
		return step;
	*out = (struct meet_ready){ meet->round, meet->stopped ? 0 : meet->longest_ns };
	if (meet->round == meet->last)
		meet->phase = MEET_COLLECTS;
	else
		meet->round++;
	ask_all(meet);
	return MEET_ALL;
}

enum meet_step meet_take_result(struct meet *meet, uint32_t rank, uint32_t waited_for)
{
	enum meet_step step;

	if (meet->phase != MEET_COLLECTS)
		return MEET_WRONG;
	if (waited_for >= meet->world && waited_for != JOB_NONE)
		return MEET_WRONG;
	step = take(meet, rank);
	if (step == MEET_ALL)
		meet->phase = MEET_OVER;
	return step;
}

bool meet_stop(struct meet *meet)
{
	if (meet->phase != MEET_ROUNDS || meet->stopped)
		return false;
	meet->stopped = true;
	if (meet->round != meet->last) {
		meet->round = meet->last;
		ask_all(meet);
	}
	return true;
}

void meet_hears(struct meet *meet, uint32_t rank, ns_t now)
{
	meet->heard[rank] = now;
}

uint32_t meet_missing(const struct meet *meet)
{
	for (uint32_t rank = 0; rank < meet->world; rank++) {
		if (!meet->present[rank])
			return rank;
	}
	return JOB_NONE;
}

uint32_t meet_silent(const struct meet *meet, ns_t now, uint64_t limit_ns)
{
	for (uint32_t rank = 0; rank < meet->world; rank++) {
		if (meet->present[rank] && ns_since(now, meet->heard[rank]) > limit_ns)
			return rank;
	}
	return JOB_NONE;
}
