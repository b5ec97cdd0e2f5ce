// SPDX-License-Identifier: BSD-3-Clause
//
// The manager's side of distribution, call by call: who is waited for, who is told what, and what a
// silence, an error, a restart of either side or a late message makes of it.

#include "fabricmgr/core/distribute.h"

#include <errno.h>
#include <limits.h>

#include "schema/fabric.h"
#include "tests/table.h"

enum { SWITCHES = 3, EPOCH = 7, BOOT = 100 };

#define MS 1000000ull
#define AT(ms) ((ns_t){ (ms)*MS })

static_assert((int)DISTRIBUTE_PREPARE == FABRIC_STEP_PREPARE, "numbers of the protocol");
static_assert((int)DISTRIBUTE_COMMIT == FABRIC_STEP_COMMIT, "numbers of the protocol");
static_assert((int)DISTRIBUTE_FORGET == FABRIC_STEP_FORGET, "numbers of the protocol");

static const uint64_t hash_1[SWITCHES] = { 11, 21, 31 };
static const uint64_t hash_2[SWITCHES] = { 12, 22, 31 }; // leaves the last one as it is
static const struct generation none;

struct bench {
	struct distributor d;
	struct distribute_switch at[SWITCHES];
	struct generation running[SWITCHES];
	struct generation prepared[SWITCHES];
};

static struct generation gen(uint64_t epoch, uint64_t number, uint64_t hash)
{
	return (struct generation){ epoch, number, hash };
}

static bool hello(struct bench *b, uint32_t at, uint64_t boot, ns_t now)
{
	const char *why;

	return distribute_hello(&b->d, at, boot, &b->running[at], &b->prepared[at], now, &why);
}

static enum distribute_step fetch(struct bench *b, uint32_t at, ns_t now, struct generation *got)
{
	return distribute_fetch(&b->d, at, BOOT, &b->running[at], &b->prepared[at], now, got);
}

// A switch without faults: does what it is told and says so by its next fetch. Returns the steps.
static uint32_t follow(struct bench *b, uint32_t at, ns_t now)
{
	enum distribute_step step;
	struct generation got;
	uint32_t steps = 0;

	while ((step = fetch(b, at, now, &got)) != DISTRIBUTE_NOTHING) {
		cr_assert_lt(steps, 10);
		steps++;
		if (step == DISTRIBUTE_PREPARE)
			b->prepared[at] = got;
		if (step == DISTRIBUTE_COMMIT)
			b->running[at] = got;
		if (step != DISTRIBUTE_PREPARE)
			b->prepared[at] = none;
	}
	return steps;
}

static void follow_all(struct bench *b, ns_t now)
{
	for (uint32_t at = 0; at < SWITCHES; at++)
		follow(b, at, now);
}

static void decide(struct bench *b, ns_t now)
{
	cr_assert(distribute_wants_decision(&b->d));
	distribute_decided(&b->d, now);
}

static void check_runs(const struct bench *b, uint32_t at, uint64_t number, uint64_t hash)
{
	cr_assert_eq(b->running[at].epoch, EPOCH);
	cr_assert_eq(b->running[at].number, number);
	cr_assert_eq(b->running[at].hash, hash);
	cr_assert_eq(b->prepared[at].number, 0);
}

static struct bench *make(void)
{
	static struct bench b;

	distribute_init(&b.d, EPOCH, b.at, SWITCHES);
	return &b;
}

// All run the first plan, and said so at 1 ms.
static struct bench *make_running(void)
{
	struct bench *b = make();

	for (uint32_t at = 0; at < SWITCHES; at++)
		cr_assert(hello(b, at, BOOT, AT(0)));
	cr_assert_eq(distribute_plan(&b->d, hash_1, AT(0)), 0);
	follow_all(b, AT(0));
	decide(b, AT(0));
	follow_all(b, AT(1));
	follow_all(b, AT(1));
	for (uint32_t at = 0; at < SWITCHES; at++)
		check_runs(b, at, 1, hash_1[at]);
	cr_assert(distribute_everywhere(&b->d, NULL));
	distribute_news(&b->d);
	return b;
}

// --- the two steps ------------------------------------------------------------------------------

Test(distribute, nothing_before_a_plan)
{
	struct bench *b = make();

	b->running[0] = gen(3, 9, 11);
	b->prepared[0] = gen(3, 10, 12);
	cr_assert(hello(b, 0, BOOT, AT(0)));
	cr_assert_eq(follow(b, 0, AT(0)), 0);
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert_not(distribute_news(&b->d));
	cr_assert_not(distribute_everywhere(&b->d, NULL));
}

Test(distribute, commits_when_all_have_prepared_and_the_decision_is_stored)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	cr_assert(distribute_news(&b->d));
	cr_assert_eq(follow(b, 0, AT(11)), 1);
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert_not(distribute_news(&b->d));
	cr_assert_eq(follow(b, 2, AT(11)), 0, "its tables stay");
	cr_assert_eq(follow(b, 1, AT(12)), 1);
	cr_assert(distribute_news(&b->d));
	cr_assert_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_NOTHING);
	decide(b, AT(13));
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_COMMIT);
	cr_assert_eq(distribute_plan(&b->d, hash_1, AT(13)), -EBUSY);
	cr_assert_eq(follow(b, 0, AT(14)), 1);
	cr_assert_eq(follow(b, 2, AT(14)), 0, "a name can wait");
	cr_assert_eq(b->d.done.v, 0);
	cr_assert_eq(follow(b, 1, AT(15)), 1);
	cr_assert_eq(b->d.done.v, AT(15).v);
	cr_assert_eq(follow(b, 2, AT(16)), 1);
	for (uint32_t at = 0; at < SWITCHES; at++)
		check_runs(b, at, 2, hash_2[at]);
}

Test(distribute, acks_say_what_fetches_say)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	distribute_news(&b->d);
	for (uint32_t at = 0; at < 2; at++) {
		cr_assert_eq(fetch(b, at, AT(11), &got), DISTRIBUTE_PREPARE);
		cr_assert_eq(distribute_ack(&b->d, at, BOOT, DISTRIBUTE_PREPARE, &got, 0, AT(12)),
			     at == 1, "the last one");
		// Repeated, and the fetch of before late: neither takes anything back.
		distribute_ack(&b->d, at, BOOT, DISTRIBUTE_PREPARE, &got, 0, AT(12));
		cr_assert_eq(fetch(b, at, AT(13), &got), DISTRIBUTE_NOTHING);
	}
	decide(b, AT(14));
	distribute_news(&b->d);
	for (uint32_t at = 0; at < 2; at++) {
		got = gen(EPOCH, 2, hash_2[at]);
		cr_assert_eq(distribute_ack(&b->d, at, BOOT, DISTRIBUTE_COMMIT, &got, 0, AT(15)),
			     at == 1);
		cr_assert_eq(fetch(b, at, AT(16), &got), DISTRIBUTE_NOTHING, "says less: late");
	}
	cr_assert_not(distribute_everywhere(&b->d, NULL), "one has an older name");
	follow_all(b, AT(17));
}

Test(distribute, a_plan_before_the_decision_replaces_the_last)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	cr_assert_eq(follow(b, 0, AT(11)), 1);
	cr_assert_eq(distribute_plan(&b->d, hash_1, AT(12)), 0);
	cr_assert_eq(fetch(b, 0, AT(13), &got), DISTRIBUTE_FORGET);
	cr_assert(generation_equal(&got, &b->prepared[0]));
	decide(b, AT(14)); // it changes nothing
	follow_all(b, AT(15));
	for (uint32_t at = 0; at < SWITCHES; at++)
		check_runs(b, at, 3, hash_1[at]);
}

// --- those who are not there, or cannot ---------------------------------------------------------

Test(distribute, the_first_plan_waits_for_the_unseen_but_not_for_ever)
{
	struct bench *b = make();
	ns_t next;

	cr_assert(hello(b, 0, BOOT, AT(0)));
	cr_assert_eq(distribute_plan(&b->d, hash_1, AT(0)), 0);
	follow(b, 0, AT(1));
	cr_assert_not(distribute_wants_decision(&b->d));
	distribute_tick(&b->d, AT(1), &next);
	cr_assert_eq(next.v, AT(DISTRIBUTE_STEP_MS).v);
	cr_assert(distribute_tick(&b->d, next, &next));
	decide(b, AT(2000));
	follow(b, 0, AT(2000));
	cr_assert_neq(b->d.done.v, 0);
	cr_assert_not(distribute_everywhere(&b->d, NULL));
	cr_assert(distribute_everywhere(&b->d, (const uint8_t[SWITCHES]){ 0, 1, 1 }));
	// The next one does not.
	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(2100)), 0);
	follow(b, 0, AT(2100));
	decide(b, AT(2100));
	cr_assert(hello(b, 1, BOOT, AT(2200)));
	cr_assert_eq(follow(b, 1, AT(2200)), 2, "both steps at once");
	check_runs(b, 1, 2, hash_2[1]);
}

Test(distribute, with_nobody_there_nothing_is_decided)
{
	struct bench *b = make_running();
	ns_t next;

	cr_assert(distribute_tick(&b->d, AT(1 + DISTRIBUTE_SILENCE_MS), &next));
	cr_assert_eq(next.v, NS_NEVER.v);
	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(4000)), 0);
	distribute_tick(&b->d, AT(9000), &next);
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert(hello(b, 2, BOOT, AT(9001)));
	decide(b, AT(9002));
}

Test(distribute, silence_is_headless_and_holds_nobody_up)
{
	struct bench *b = make_running();
	ns_t next;

	for (uint32_t at = 0; at < 2; at++)
		distribute_heard(&b->d, at, BOOT, AT(2500));
	cr_assert_not(distribute_tick(&b->d, AT(3000), &next));
	cr_assert_eq(next.v, AT(3001).v);
	cr_assert(distribute_tick(&b->d, AT(3001), &next));
	cr_assert_eq(b->at[2].life, DISTRIBUTE_HEADLESS);
	cr_assert_eq(next.v, AT(5500).v);
	cr_assert_eq(distribute_plan(&b->d, (const uint64_t[]){ 12, 22, 32 }, AT(3002)), 0);
	follow_all(b, AT(3002)); // the fetch of the last one is a sign of life
	cr_assert_eq(b->at[2].life, DISTRIBUTE_THERE);
	decide(b, AT(3003));
}

Test(distribute, slow_ones_hold_nobody_up_for_long)
{
	struct bench *b = make_running();
	ns_t next;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow(b, 0, AT(11));
	cr_assert_not(distribute_tick(&b->d, AT(2009), &next) && b->d.waited == 0);
	distribute_heard(&b->d, 1, BOOT, AT(2009));
	cr_assert(distribute_tick(&b->d, AT(2010), &next));
	decide(b, AT(2010));
	// Nor is it waited for again, before it has done something.
	cr_assert_eq(b->d.waited, 1);
	cr_assert_eq(distribute_plan(&b->d, hash_1, AT(2010)), -EBUSY);
	follow(b, 0, AT(2011));
	cr_assert_eq(b->d.done.v, AT(2011).v);
	cr_assert_not(distribute_everywhere(&b->d, NULL));
	cr_assert_eq(distribute_plan(&b->d, (const uint64_t[]){ 13, 23, 31 }, AT(2012)), 0);
	cr_assert_eq(follow(b, 1, AT(2013)), 1, "it is told all the same");
	follow(b, 0, AT(2013));
	decide(b, AT(2014));
	cr_assert_eq(b->d.waited, 2);
	follow(b, 0, AT(2015));
	distribute_heard(&b->d, 1, BOOT, AT(4013));
	cr_assert(distribute_tick(&b->d, AT(4014), &next));
	cr_assert_eq(b->d.done.v, AT(4014).v);
	follow_all(b, AT(4015));
	cr_assert(distribute_everywhere(&b->d, NULL));
}

// One plan every second, and a switch that is slow: what is left of the time goes on.
Test(distribute, plans_in_a_row_come_to_a_decision)
{
	struct bench *b = make_running();
	ns_t next;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	cr_assert_eq(distribute_plan(&b->d, (const uint64_t[]){ 13, 23, 31 }, AT(1010)), 0);
	follow(b, 0, AT(1011));
	distribute_heard(&b->d, 1, BOOT, AT(1011));
	distribute_tick(&b->d, AT(1011), &next);
	cr_assert_eq(next.v, AT(2010).v);
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert(distribute_tick(&b->d, next, &next));
	decide(b, AT(2010));
}

// A call from before that comes late says that it runs what it is to run.
Test(distribute, the_target_is_not_taken_away)
{
	struct bench *b = make_running();
	struct generation got, late;

	late = gen(EPOCH, 1, 12);
	b->at[0].running = gen(EPOCH, 1, 99);
	b->running[0] = gen(EPOCH, 1, 99);
	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	cr_assert_eq(fetch(b, 0, AT(11), &got), DISTRIBUTE_PREPARE);
	cr_assert_eq(distribute_fetch(&b->d, 0, BOOT, &late, &got, AT(12), &got),
		     DISTRIBUTE_NOTHING);
}

// A restart between prepare and ack: what it kept says that it has done so.
Test(distribute, a_restart_between_the_steps)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow(b, 1, AT(10));
	cr_assert_eq(fetch(b, 0, AT(11), &got), DISTRIBUTE_PREPARE);
	b->prepared[0] = got;
	cr_assert(hello(b, 0, BOOT + 1, AT(12)));
	cr_assert(distribute_wants_decision(&b->d));
	cr_assert_eq(distribute_ack(&b->d, 0, BOOT, DISTRIBUTE_FORGET, &got, 0, AT(12)), true);
	cr_assert(distribute_wants_decision(&b->d), "the run before has no say");
	cr_assert_eq(fetch(b, 0, AT(13), &got), DISTRIBUTE_NOTHING);
	cr_assert_not(hello(b, 0, BOOT, AT(13)));
	// Or it was not durable: it is not believed to be there.
	b->prepared[0] = none;
	cr_assert(hello(b, 0, BOOT + 2, AT(14)));
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_PREPARE);
}

static const struct {
	const char *what;
	struct generation running;
	struct generation prepared;
	bool taken;
	uint32_t steps; // until it runs generation 1
} return_rows[] = {
	{ "a new switch", { 0, 0, 0 }, { 0, 0, 0 }, true, 2 },
	{ "an older generation", { EPOCH - 1, 5, 99 }, { 0, 0, 0 }, true, 2 },
	{ "one of an earlier manager with a higher number", { 1, 99, 99 }, { 0, 0, 0 }, true, 2 },
	{ "one that it never committed", { 0, 0, 0 }, { EPOCH, 1, 11 }, true, 1 },
	{ "the same tables from an earlier manager", { 1, 99, 11 }, { 0, 0, 0 }, true, 1 },
	{ "and others prepared by that", { 1, 99, 11 }, { 1, 100, 12 }, true, 2 },
	{ "the same tables prepared by that", { 1, 99, 10 }, { 1, 100, 11 }, true, 2 },
	{ "what is in force", { EPOCH, 1, 11 }, { 0, 0, 0 }, true, 0 },
	{ "a number that was not given", { EPOCH, 2, 11 }, { 0, 0, 0 }, false, 0 },
	{ "a later manager", { EPOCH + 1, 1, 11 }, { 0, 0, 0 }, false, 0 },
	{ "prepared by a later manager", { 0, 0, 0 }, { EPOCH + 1, 1, 11 }, false, 0 },
};

TABLE_TEST(distribute, returns, row, return_rows)
{
	struct bench *b = make_running();
	const char *why;

	b->running[0] = row->running;
	b->prepared[0] = row->prepared;
	cr_assert_eq(distribute_hello(&b->d, 0, BOOT + 1, &row->running, &row->prepared, AT(1),
				      &why),
		     row->taken, "%s", row->what);
	cr_assert_eq(*why == '\0', row->taken);
	if (!row->taken)
		return;
	b->at[0].boot = BOOT; // so that follow() speaks for it
	cr_assert_eq(follow(b, 0, AT(2)), row->steps, "%s", row->what);
	check_runs(b, 0, 1, hash_1[0]);
}

// --- errors -------------------------------------------------------------------------------------

static const struct {
	const char *what;
	enum distribute_step step;
	int error;
	bool fails;                // the generation
	enum distribute_step next; // that the switch is asked
} error_rows[] = {
	{ "tables that are wrong", DISTRIBUTE_PREPARE, EINVAL, true, DISTRIBUTE_COMMIT },
	{ "tables that are wrong, said otherwise", DISTRIBUTE_PREPARE, -EBADMSG, true,
	  DISTRIBUTE_COMMIT },
	{ "no room", DISTRIBUTE_PREPARE, ENOSPC, false, DISTRIBUTE_NOTHING },
	{ "no base for a delta", DISTRIBUTE_PREPARE, ESTALE, false, DISTRIBUTE_PREPARE },
	{ "nothing prepared", DISTRIBUTE_COMMIT, ENOENT, false, DISTRIBUTE_PREPARE },
	{ "tables that are wrong, too late", DISTRIBUTE_COMMIT, EINVAL, false, DISTRIBUTE_NOTHING },
	{ "no sane errno", DISTRIBUTE_PREPARE, INT_MIN, false, DISTRIBUTE_NOTHING },
};

TABLE_TEST(distribute, errors, row, error_rows)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	if (row->step == DISTRIBUTE_COMMIT) {
		follow_all(b, AT(10));
		decide(b, AT(10));
	}
	cr_assert_eq(fetch(b, 0, AT(11), &got), row->step);
	distribute_ack(&b->d, 0, BOOT, row->step, &got, row->error, AT(12));
	cr_assert_eq(b->d.refused_by, row->fails ? 0 : UINT32_MAX, "%s", row->what);
	cr_assert_eq(distribute_next(&b->d, 0, &got), row->next, "%s", row->what);
	cr_assert_eq(b->at[0].whole, row->next == DISTRIBUTE_PREPARE, "%s", row->what);
	if (row->next != DISTRIBUTE_PREPARE)
		return;
	// It cannot do it whole either: it is left alone.
	distribute_ack(&b->d, 0, BOOT, row->step, &got, row->error, AT(13));
	cr_assert_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_NOTHING, "%s", row->what);
	b->prepared[0] = none;
	cr_assert(hello(b, 0, BOOT, AT(14)));
	cr_assert_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_PREPARE, "until it says hello");
}

static const struct {
	int error;
	enum distribute_step later;
} retry_rows[] = { { ENOSPC, DISTRIBUTE_COMMIT }, { EINVAL, DISTRIBUTE_NOTHING } };

TABLE_TEST(distribute, one_without_room_is_asked_again, row, retry_rows)
{
	struct bench *b = make_running();
	struct generation got;
	ns_t next;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow_all(b, AT(10));
	decide(b, AT(10));
	cr_assert_eq(fetch(b, 0, AT(11), &got), DISTRIBUTE_COMMIT);
	distribute_ack(&b->d, 0, BOOT, DISTRIBUTE_COMMIT, &got, row->error, AT(12));
	follow_all(b, AT(13));
	distribute_heard(&b->d, 0, BOOT, AT(5000));
	distribute_tick(&b->d, AT(11 + DISTRIBUTE_RETRY_MS), &next);
	cr_expect_eq(distribute_next(&b->d, 0, &got), DISTRIBUTE_NOTHING);
	distribute_tick(&b->d, AT(12 + DISTRIBUTE_RETRY_MS), &next);
	cr_expect_eq(distribute_next(&b->d, 0, &got), row->later);
	cr_expect_eq(b->d.waited, 0, "nobody waits for it");
}

Test(distribute, after_a_failure_the_last_good_stays)
{
	struct bench *b = make_running();
	struct generation got;

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow(b, 0, AT(11));
	distribute_news(&b->d);
	cr_assert_eq(fetch(b, 1, AT(12), &got), DISTRIBUTE_PREPARE);
	cr_assert(distribute_ack(&b->d, 1, BOOT, DISTRIBUTE_PREPARE, &got, EINVAL, AT(13)));
	cr_assert_eq(b->d.refused_by, 1);
	cr_assert_eq(b->d.refused_error, EINVAL);
	cr_assert_not(distribute_wants_decision(&b->d));
	cr_assert_eq(fetch(b, 0, AT(14), &got), DISTRIBUTE_FORGET);
	follow_all(b, AT(15));
	follow_all(b, AT(15));
	// By a number above that of what some had prepared.
	for (uint32_t at = 0; at < SWITCHES; at++)
		check_runs(b, at, 3, hash_1[at]);
	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(16)), 0);
	cr_assert_eq(b->d.number, 4);
	cr_assert_eq(b->d.refused_by, UINT32_MAX);
}

// --- the manager restarts -----------------------------------------------------------------------

static void restart(struct bench *b, uint64_t number, const uint64_t *hash)
{
	distribute_init(&b->d, EPOCH + 1, b->at, SWITCHES);
	if (number != 0)
		distribute_restore(&b->d, number, hash);
	for (uint32_t at = 0; at < SWITCHES; at++)
		cr_assert(hello(b, at, BOOT, AT(100)));
}

Test(distribute, a_restarted_manager_changes_no_table)
{
	struct bench *b = make_running();

	restart(b, 1, hash_1);
	for (uint32_t at = 0; at < SWITCHES; at++) {
		struct generation got;

		cr_assert_eq(fetch(b, at, AT(101), &got), DISTRIBUTE_COMMIT);
		cr_assert_eq(got.hash, b->running[at].hash, "a name and nothing else");
		cr_assert_eq(got.epoch, EPOCH + 1);
		cr_assert_eq(follow(b, at, AT(101)), 1);
	}
}

Test(distribute, what_was_decided_is_completed_by_the_next_manager)
{
	struct bench *b = make_running();

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow_all(b, AT(11));
	decide(b, AT(12));
	follow(b, 0, AT(13)); // the only one to commit
	restart(b, 2, hash_2);
	follow_all(b, AT(101));
	for (uint32_t at = 0; at < SWITCHES; at++) {
		cr_assert_eq(b->running[at].hash, hash_2[at]);
		cr_assert_eq(b->running[at].epoch, EPOCH + 1);
		cr_assert_eq(b->prepared[at].number, 0);
	}
	cr_assert(distribute_everywhere(&b->d, NULL));
}

Test(distribute, what_was_not_decided_is_forgotten_with_its_manager)
{
	struct bench *b = make_running();

	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(10)), 0);
	follow_all(b, AT(11));
	restart(b, 1, hash_1);
	follow_all(b, AT(101));
	for (uint32_t at = 0; at < SWITCHES; at++) {
		cr_assert_eq(b->running[at].hash, hash_1[at]);
		cr_assert_eq(b->prepared[at].number, 0);
	}
	cr_assert_eq(distribute_plan(&b->d, hash_2, AT(102)), 0);
	cr_assert_eq(b->d.number, 2);
}
