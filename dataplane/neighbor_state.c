// SPDX-License-Identifier: BSD-3-Clause
//
// Transitions of RFC 4861 7.3.2 and 7.2.5. What is ours: all questions for an unknown neighbour
// fall into the time that packets wait for it, and an address that changes hands again and again is
// believed more and more slowly.

#include "dataplane/neighbor_state.h"

enum {
	MOVES_MAX = 6, // of a second each at first, twice as long after each
};

#define SECOND 1000000000ull
#define DELAY_MAX (5 * SECOND) // DELAY_FIRST_PROBE_TIME
#define CALM (60 * SECOND)     // after which earlier moves are forgiven

const char *const neighbor_state_names[] = {
	[NEIGHBOR_INCOMPLETE] = "incomplete", [NEIGHBOR_REACHABLE] = "reachable",
	[NEIGHBOR_STALE] = "stale",           [NEIGHBOR_DELAY] = "delay",
	[NEIGHBOR_PROBE] = "probe",           [NEIGHBOR_FAILED] = "failed",
};

// Between two questions to all.
static uint64_t ask_interval(const struct neighbor_times *times)
{
	return times->solicit_ns / times->probe_count;
}

static void enter(struct neighbor *n, enum neighbor_state state, uint64_t wait_ns, ns_t now)
{
	n->state = (uint8_t)state;
	n->sent = 0;
	n->at = ns_add(now, wait_ns);
}

void neighbor_start(const struct neighbor_times *times, struct neighbor *n, ns_t now)
{
	*n = (struct neighbor){ .heard = now, .asked = now };
	enter(n, NEIGHBOR_INCOMPLETE, ask_interval(times), now);
	n->sent = 1;
}

enum neighbor_task neighbor_want(const struct neighbor_times *times, struct neighbor *n, ns_t now)
{
	if (!neighbor_is_known(n) || ns_since(now, n->asked) < ask_interval(times))
		return NEIGHBOR_NOTHING;
	n->asked = now;
	return NEIGHBOR_ASK_ALL;
}

static void confirm(const struct neighbor_times *times, struct neighbor *n, uint32_t dice, ns_t now)
{
	const uint64_t spread = times->reachable_ns / 1024 * (dice % 1025);

	n->heard = now;
	enter(n, NEIGHBOR_REACHABLE, times->reachable_ns / 2 + spread, now);
}

static void grow_stale(const struct neighbor_times *times, struct neighbor *n, ns_t now)
{
	enter(n, NEIGHBOR_STALE, times->stale_ns, now);
}

// RFC 5227 2.4 for the defence of others: whoever claims an address by turns with its owner gets
// it ever more rarely, and never for less than a second.
static void move(struct neighbor *n, uint64_t mac, ns_t now)
{
	if (n->mac != 0 && ns_since(now, n->settled) < CALM)
		n->moves += n->moves < MOVES_MAX;
	else
		n->moves = 0;
	n->mac = mac;
	n->settled = ns_add(now, SECOND << n->moves);
}

// An answer to an unnamed question does not say that it is one (RFC 4861 7.2.4), so it is taken for
// one while a question is open.
static bool is_answer(const struct neighbor *n, const struct neighbor_claim *claim)
{
	return claim->solicited || (claim->to_all && n->unnamed && n->state == NEIGHBOR_PROBE);
}

enum neighbor_news neighbor_hear(const struct neighbor_times *times, struct neighbor *n,
				 const struct neighbor_claim *claim, uint32_t dice, ns_t now)
{
	const bool known = neighbor_is_known(n);
	const bool answer = is_answer(n, claim);

	if (known && claim->mac != n->mac && (!claim->override || ns_before(now, n->settled))) {
		if (!claim->override && n->state == NEIGHBOR_REACHABLE)
			grow_stale(times, n, now);
		return NEIGHBOR_DOUBTED;
	}
	if (known && claim->mac == n->mac) {
		if (answer)
			confirm(times, n, dice, now);
		return NEIGHBOR_SAME;
	}
	move(n, claim->mac, now);
	n->heard = now;
	if (answer)
		confirm(times, n, dice, now);
	else
		grow_stale(times, n, now);
	return NEIGHBOR_CHANGED;
}

// Asks once more, or says that enough have been asked.
static bool ask_on(const struct neighbor_times *times, struct neighbor *n, uint64_t wait_ns,
		   ns_t now)
{
	if (n->sent >= times->probe_count)
		return false;
	n->sent++;
	n->at = ns_add(now, wait_ns);
	return true;
}

static enum neighbor_task tick_due(const struct neighbor_times *times, struct neighbor *n, ns_t now)
{
	switch ((enum neighbor_state)n->state) {
	case NEIGHBOR_INCOMPLETE:
		n->asked = now;
		if (ask_on(times, n, ask_interval(times), now))
			return NEIGHBOR_ASK_ALL;
		enter(n, NEIGHBOR_FAILED, times->probe_ns, now);
		return NEIGHBOR_NOTHING;
	case NEIGHBOR_REACHABLE: grow_stale(times, n, now); return NEIGHBOR_NOTHING;
	case NEIGHBOR_STALE:
	case NEIGHBOR_FAILED: return NEIGHBOR_FORGET;
	case NEIGHBOR_DELAY: enter(n, NEIGHBOR_PROBE, 0, now); break;
	case NEIGHBOR_PROBE: break;
	}
	return ask_on(times, n, times->probe_ns, now) ? NEIGHBOR_ASK_IT : NEIGHBOR_DEAD;
}

enum neighbor_task neighbor_tick(const struct neighbor_times *times, struct neighbor *n, bool used,
				 ns_t now)
{
	if (n->state == NEIGHBOR_STALE && used) {
		enter(n, NEIGHBOR_DELAY, u64_min(times->reachable_ns / 6, DELAY_MAX), now);
		return NEIGHBOR_NOTHING;
	}
	return ns_before(now, n->at) ? NEIGHBOR_NOTHING : tick_due(times, n, now);
}
