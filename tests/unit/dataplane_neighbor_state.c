// SPDX-License-Identifier: BSD-3-Clause
//
// The machine of one neighbour against the table of RFC 4861 appendix C: what each event makes of
// each state. And what is this switch's own: how often it asks for an unknown address, and how
// slowly it believes one that goes back and forth.

#include "dataplane/neighbor_state.h"

#include "tests/table.h"

#define MS 1000000ull
#define SECOND (1000 * MS)
#define MAC_A 0x020000000001u
#define MAC_B 0x020000000002u

enum { PROBES = 3, HALF = 512 }; // dice: exactly the average

static const struct neighbor_times times = {
	.reachable_ns = 30 * SECOND,
	.stale_ns = 1200 * SECOND,
	.probe_ns = SECOND,
	.solicit_ns = 900 * MS,
	.probe_count = PROBES,
};

static const ns_t start = { 1000 * SECOND };

static enum neighbor_news hear(struct neighbor *n, uint64_t mac, bool solicited, bool override,
			       ns_t now)
{
	const struct neighbor_claim claim = { mac, solicited, override, false };

	return neighbor_hear(&times, n, &claim, HALF, now);
}

// A neighbour at MAC_A that was found long ago, in a state.
static struct neighbor in_state(enum neighbor_state state)
{
	struct neighbor n;

	neighbor_start(&times, &n, start);
	if (state == NEIGHBOR_INCOMPLETE)
		return n;
	if (state != NEIGHBOR_FAILED) {
		hear(&n, MAC_A, state == NEIGHBOR_REACHABLE, true, start);
		n.settled = start;
	}
	n.state = (uint8_t)state;
	n.at = ns_add(start, 100 * SECOND);
	return n;
}

static const struct {
	const char *what;
	enum neighbor_state before;
	uint64_t mac;
	bool solicited, override;
	enum neighbor_state after;
	enum neighbor_news news;
	uint64_t want; // MAC address
} hear_rows[] = {
	{ "found by an answer", NEIGHBOR_INCOMPLETE, MAC_A, true, false, NEIGHBOR_REACHABLE,
	  NEIGHBOR_CHANGED, MAC_A },
	{ "found by what it says itself", NEIGHBOR_INCOMPLETE, MAC_A, false, true, NEIGHBOR_STALE,
	  NEIGHBOR_CHANGED, MAC_A },
	{ "comes late", NEIGHBOR_FAILED, MAC_A, true, true, NEIGHBOR_REACHABLE, NEIGHBOR_CHANGED,
	  MAC_A },
	{ "answers: stale", NEIGHBOR_STALE, MAC_A, true, true, NEIGHBOR_REACHABLE, NEIGHBOR_SAME,
	  MAC_A },
	{ "answers: delay", NEIGHBOR_DELAY, MAC_A, true, false, NEIGHBOR_REACHABLE, NEIGHBOR_SAME,
	  MAC_A },
	{ "answers: probe", NEIGHBOR_PROBE, MAC_A, true, true, NEIGHBOR_REACHABLE, NEIGHBOR_SAME,
	  MAC_A },
	{ "speaks, which proves nothing: stale", NEIGHBOR_STALE, MAC_A, false, true, NEIGHBOR_STALE,
	  NEIGHBOR_SAME, MAC_A },
	{ "speaks: reachable", NEIGHBOR_REACHABLE, MAC_A, false, true, NEIGHBOR_REACHABLE,
	  NEIGHBOR_SAME, MAC_A },
	{ "speaks: probe", NEIGHBOR_PROBE, MAC_A, false, true, NEIGHBOR_PROBE, NEIGHBOR_SAME,
	  MAC_A },
	{ "moves, announced", NEIGHBOR_REACHABLE, MAC_B, false, true, NEIGHBOR_STALE,
	  NEIGHBOR_CHANGED, MAC_B },
	{ "moves, answered", NEIGHBOR_PROBE, MAC_B, true, true, NEIGHBOR_REACHABLE,
	  NEIGHBOR_CHANGED, MAC_B },
	{ "another answers without override: reachable", NEIGHBOR_REACHABLE, MAC_B, true, false,
	  NEIGHBOR_STALE, NEIGHBOR_DOUBTED, MAC_A },
	{ "another answers without override: stale", NEIGHBOR_STALE, MAC_B, true, false,
	  NEIGHBOR_STALE, NEIGHBOR_DOUBTED, MAC_A },
	{ "another answers without override: probe", NEIGHBOR_PROBE, MAC_B, true, false,
	  NEIGHBOR_PROBE, NEIGHBOR_DOUBTED, MAC_A },
};

TABLE_TEST(neighbor_state, hears, row, hear_rows)
{
	struct neighbor n = in_state(row->before);

	cr_assert_eq(hear(&n, row->mac, row->solicited, row->override, ns_add(start, SECOND)),
		     row->news, "%s", row->what);
	cr_assert_eq(n.state, row->after, "%s: %s", row->what, neighbor_state_names[n.state]);
	cr_assert_eq(n.mac, row->want, "%s", row->what);
}

// What is said to all nodes answers a question without a sender while one is open, and no other.
static const struct {
	const char *what;
	enum neighbor_state before;
	bool unnamed;
	uint64_t mac;
	enum neighbor_state after;
} to_all_rows[] = {
	{ "answers who asked without a name", NEIGHBOR_PROBE, true, MAC_A, NEIGHBOR_REACHABLE },
	{ "another does", NEIGHBOR_PROBE, true, MAC_B, NEIGHBOR_REACHABLE },
	{ "not who asked with one", NEIGHBOR_PROBE, false, MAC_A, NEIGHBOR_PROBE },
	{ "nobody has asked yet", NEIGHBOR_DELAY, true, MAC_A, NEIGHBOR_DELAY },
	{ "nobody asks any more", NEIGHBOR_STALE, true, MAC_A, NEIGHBOR_STALE },
};

TABLE_TEST(neighbor_state, hears_what_all_do, row, to_all_rows)
{
	const struct neighbor_claim claim = { row->mac, false, true, true };
	struct neighbor n = in_state(row->before);

	n.unnamed = row->unnamed;
	neighbor_hear(&times, &n, &claim, HALF, ns_add(start, SECOND));
	cr_assert_eq(n.state, row->after, "%s: %s", row->what, neighbor_state_names[n.state]);
	cr_assert_eq(n.mac, row->mac, "%s", row->what);
}

// What time makes of each state; `ms` after it began.
static const struct {
	const char *what;
	enum neighbor_state before;
	bool used;
	uint64_t due_ms;
	enum neighbor_task task;
	enum neighbor_state after;
} tick_rows[] = {
	{ "an answer is old", NEIGHBOR_REACHABLE, true, 30000, NEIGHBOR_NOTHING, NEIGHBOR_STALE },
	{ "nobody wants it", NEIGHBOR_STALE, false, 1200000, NEIGHBOR_FORGET, NEIGHBOR_STALE },
	{ "somebody does", NEIGHBOR_STALE, true, 0, NEIGHBOR_NOTHING, NEIGHBOR_DELAY },
	{ "a question that failed is over", NEIGHBOR_FAILED, false, 1000, NEIGHBOR_FORGET,
	  NEIGHBOR_FAILED },
};

TABLE_TEST(neighbor_state, ages, row, tick_rows)
{
	struct neighbor n;
	const ns_t due = ns_add(start, row->due_ms * MS);

	neighbor_start(&times, &n, start);
	if (row->before == NEIGHBOR_FAILED) { // 900 ms later
		for (uint32_t i = 1; i <= PROBES; i++)
			neighbor_tick(&times, &n, false, ns_add(start, 300 * MS * i));
		cr_assert_eq(n.state, NEIGHBOR_FAILED);
		cr_assert_eq(neighbor_tick(&times, &n, false, ns_add(start, 1900 * MS - 1)),
			     NEIGHBOR_NOTHING);
		cr_assert_eq(neighbor_tick(&times, &n, false, ns_add(start, 1900 * MS)), row->task);
		return;
	}
	hear(&n, MAC_A, row->before == NEIGHBOR_REACHABLE, true, start);
	cr_assert_eq(n.state, row->before);
	if (row->due_ms > 0) {
		cr_assert_eq(neighbor_tick(&times, &n, row->used, (ns_t){ due.v - 1 }),
			     NEIGHBOR_NOTHING);
		cr_assert_eq(n.state, row->before, "%s: too early", row->what);
	}
	cr_assert_eq(neighbor_tick(&times, &n, row->used, due), row->task, "%s", row->what);
	cr_assert_eq(n.state, row->after, "%s", row->what);
}

// Times of everything that a neighbour is asked, from `from` on, in steps of a millisecond.
static uint32_t run(struct neighbor *n, bool used, ns_t from, uint64_t for_ms, uint64_t *asked_ms,
		    enum neighbor_task *last)
{
	uint32_t count = 0;

	for (uint64_t ms = 0; ms <= for_ms; ms++) {
		*last = neighbor_tick(&times, n, used, ns_add(from, ms * MS));
		if (*last == NEIGHBOR_ASK_ALL || *last == NEIGHBOR_ASK_IT)
			asked_ms[count++] = ms;
		if (*last == NEIGHBOR_DEAD || *last == NEIGHBOR_FORGET)
			break;
	}
	return count;
}

// The first question goes out with neighbor_start(): all of them while packets wait.
Test(neighbor_state, an_unknown_address_is_asked_for_while_packets_wait)
{
	struct neighbor n;
	uint64_t at[16];
	enum neighbor_task last;

	neighbor_start(&times, &n, start);
	cr_assert_eq(run(&n, false, start, 5000, at, &last), PROBES - 1);
	cr_assert_eq(at[0], 300);
	cr_assert_eq(at[1], 600);
	cr_assert_eq(last, NEIGHBOR_FORGET);
}

// RFC 4861 10: DELAY_FIRST_PROBE_TIME 5 s, then questions RETRANS_TIMER apart, then it is gone.
Test(neighbor_state, one_in_use_that_is_silent_is_probed_and_given_up)
{
	struct neighbor n;
	uint64_t at[16];
	enum neighbor_task last;

	neighbor_start(&times, &n, start);
	hear(&n, MAC_A, true, true, start);
	cr_assert_eq(run(&n, true, start, 60000, at, &last), PROBES);
	cr_assert_eq(last, NEIGHBOR_DEAD);
	cr_assert_geq(at[0], 35000);
	cr_assert_leq(at[0], 35001);
	cr_assert_eq(at[1], at[0] + 1000);
	cr_assert_eq(at[2], at[0] + 2000);
}

Test(neighbor_state, one_whose_place_is_unknown_is_asked_for_now_and_then)
{
	struct neighbor n = in_state(NEIGHBOR_REACHABLE);
	uint32_t asked = 0;

	n.asked = start;
	for (uint64_t ms = 1; ms <= 900; ms++)
		asked += neighbor_want(&times, &n, ns_add(start, ms * MS)) == NEIGHBOR_ASK_ALL;
	cr_assert_eq(asked, PROBES);
	neighbor_start(&times, &n, start);
	cr_assert_eq(neighbor_want(&times, &n, ns_add(start, SECOND)), NEIGHBOR_NOTHING,
		     "its timer asks");
}

// Two that claim one address by turns, every 100 ms for a minute.
Test(neighbor_state, an_address_that_goes_back_and_forth_moves_ever_more_slowly)
{
	struct neighbor n = in_state(NEIGHBOR_REACHABLE);
	uint32_t moves = 0;
	uint32_t doubts = 0;

	for (uint64_t ms = 0; ms < 60000; ms += 100) {
		const uint64_t mac = ms / 100 % 2 ? MAC_A : MAC_B;
		const enum neighbor_news news = hear(&n, mac, false, true,
						     ns_add(start, SECOND + ms * MS));

		moves += news == NEIGHBOR_CHANGED;
		doubts += news == NEIGHBOR_DOUBTED;
	}
	cr_assert_geq(moves, 4);
	cr_assert_leq(moves, 6); // at 0, then after 2, 4, 8, 16, 32 s
	cr_assert_gt(doubts, 250);
	// It is believed at once again when that is over.
	cr_assert_eq(hear(&n, MAC_A + MAC_B - n.mac, false, true, ns_add(start, 300 * SECOND)),
		     NEIGHBOR_CHANGED);
	cr_assert_eq(hear(&n, MAC_A + MAC_B - n.mac, false, true, ns_add(start, 301 * SECOND)),
		     NEIGHBOR_CHANGED);
}

// RFC 4861 6.3.2: between a half and one and a half times the average.
SEED_TEST(neighbor_state, reachable_time_is_spread, rng, 100)
{
	struct neighbor n = in_state(NEIGHBOR_STALE);
	const struct neighbor_claim claim = { MAC_A, true, true, false };

	neighbor_hear(&times, &n, &claim, rng_next32(rng), start);
	cr_assert_geq(ns_since(n.at, start), times.reachable_ns / 2);
	cr_assert_leq(ns_since(n.at, start), times.reachable_ns * 3 / 2);
}
