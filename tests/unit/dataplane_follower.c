// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch makes of the answers of managers, row by row: what it has, what it is asked, what
// it does and what it has then. Waits come from their formula.

#include "dataplane/follower.h"

#include <errno.h>
#include <limits.h>

#include "schema/fabric.h"
#include "tests/table.h"

#define GEN(epoch, number, hash)                                                                   \
	{                                                                                          \
		epoch, number, hash                                                                \
	}
#define NO_GEN                                                                                     \
	{                                                                                          \
		0, 0, 0                                                                            \
	}
#define MS 1000000ull

static struct follower make(const struct follower_state *state)
{
	struct follower f;
	const char *why;

	follower_init(&f, state, 1);
	cr_assert(follower_hello_reply(&f, state->epoch, FABRIC_VERSION, &why));
	return f;
}

// --- what is asked ------------------------------------------------------------------------------

static const struct {
	const char *what;
	struct follower_state has;
	uint64_t epoch; // of the answer
	uint32_t step;
	struct follower_generation asked;
	enum follower_task task;
	struct follower_state then; // when that is done
	uint32_t ack;               // step of the ack that is due, with ENOENT
} step_rows[] = {
	{ "the first tables",
	  { 0, NO_GEN, NO_GEN },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 1, 10),
	  FOLLOWER_STORE,
	  { 4, NO_GEN, GEN(4, 1, 10) },
	  0 },
	{ "commit of them",
	  { 4, NO_GEN, GEN(4, 1, 10) },
	  4,
	  FABRIC_STEP_COMMIT,
	  GEN(4, 1, 10),
	  FOLLOWER_APPLY,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "the next ones",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 2, 20),
	  FOLLOWER_STORE,
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  0 },
	{ "other ones instead of those",
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 3, 30),
	  FOLLOWER_STORE,
	  { 4, GEN(4, 1, 10), GEN(4, 3, 30) },
	  0 },
	{ "prepare again",
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 2, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  0 },
	{ "late prepare",
	  { 4, GEN(4, 1, 10), GEN(4, 3, 30) },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 2, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), GEN(4, 3, 30) },
	  0 },
	{ "late prepare of what runs",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 1, 10),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "commit again",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_COMMIT,
	  GEN(4, 1, 10),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "late commit of the same tables",
	  { 4, GEN(4, 2, 20), GEN(4, 3, 10) },
	  4,
	  FABRIC_STEP_COMMIT,
	  GEN(4, 1, 10),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 2, 20), GEN(4, 3, 10) },
	  0 },
	{ "commit of what it does not have",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_COMMIT,
	  GEN(4, 2, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  FABRIC_STEP_COMMIT },
	{ "commit of an earlier manager's tables by name",
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  5,
	  FABRIC_STEP_COMMIT,
	  GEN(5, 2, 20),
	  FOLLOWER_NOTHING,
	  { 5, GEN(4, 1, 10), GEN(4, 2, 20) },
	  FABRIC_STEP_COMMIT },
	{ "a new manager, the same tables",
	  { 4, GEN(4, 9, 10), NO_GEN },
	  5,
	  FABRIC_STEP_COMMIT,
	  GEN(5, 1, 10),
	  FOLLOWER_RENAME,
	  { 5, GEN(5, 1, 10), NO_GEN },
	  0 },
	{ "renaming leaves nothing prepared of before",
	  { 4, GEN(4, 9, 10), GEN(4, 10, 20) },
	  5,
	  FABRIC_STEP_COMMIT,
	  GEN(5, 1, 10),
	  FOLLOWER_RENAME,
	  { 5, GEN(5, 1, 10), NO_GEN },
	  0 },
	{ "forget",
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  4,
	  FABRIC_STEP_FORGET,
	  GEN(4, 2, 20),
	  FOLLOWER_FORGET,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "forget what an earlier manager gave",
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) },
	  5,
	  FABRIC_STEP_FORGET,
	  GEN(4, 2, 20),
	  FOLLOWER_FORGET,
	  { 5, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "late forget",
	  { 4, GEN(4, 1, 10), GEN(4, 3, 20) },
	  4,
	  FABRIC_STEP_FORGET,
	  GEN(4, 2, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), GEN(4, 3, 20) },
	  0 },
	{ "an earlier manager",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  3,
	  FABRIC_STEP_PREPARE,
	  GEN(3, 7, 70),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "a generation of another manager than the answer",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(5, 7, 70),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "nothing",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  5,
	  FABRIC_STEP_NONE,
	  NO_GEN,
	  FOLLOWER_NOTHING,
	  { 5, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "a step of a later version",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  77,
	  GEN(4, 2, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
	{ "tables without a number",
	  { 4, GEN(4, 1, 10), NO_GEN },
	  4,
	  FABRIC_STEP_PREPARE,
	  GEN(4, 0, 20),
	  FOLLOWER_NOTHING,
	  { 4, GEN(4, 1, 10), NO_GEN },
	  0 },
};

static void check_state(const struct follower_state *got, const struct follower_state *want,
			const char *what)
{
	cr_assert_eq(got->epoch, want->epoch, "%s", what);
	cr_assert(follower_generation_equal(&got->running, &want->running), "%s", what);
	cr_assert(follower_generation_equal(&got->prepared, &want->prepared), "%s", what);
}

TABLE_TEST(follower, steps, row, step_rows)
{
	struct follower f = make(&row->has);
	const enum follower_task task = follower_fetch_reply(&f, row->epoch, row->step,
							     &row->asked);

	cr_assert_eq(task, row->task, "%s", row->what);
	follower_done(&f, task, &row->asked, 0);
	check_state(&f.state, &row->then, row->what);
	cr_assert_eq(f.ack_step, row->ack, "%s", row->what);
	cr_assert_eq(f.ack_error, row->ack != 0 ? ENOENT : 0, "%s", row->what);
	if (row->ack != 0)
		cr_assert(follower_generation_equal(&f.ack_generation, &row->asked));
	cr_assert_eq(follower_next(&f), row->epoch < row->has.epoch ? FOLLOWER_HELLO :
					row->ack != 0               ? FOLLOWER_ACK :
								      FOLLOWER_FETCH);
}

// --- what cannot be done ------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t step;
	struct follower_generation asked;
	int error;
	int ack_error;
	struct follower_state then;
} error_rows[] = {
	{ "tables that it cannot read",
	  FABRIC_STEP_PREPARE,
	  GEN(4, 3, 30),
	  EBADMSG,
	  EBADMSG,
	  { 4, GEN(4, 1, 10), NO_GEN } },
	{ "tables that it cannot use",
	  FABRIC_STEP_COMMIT,
	  GEN(4, 2, 20),
	  -ENOMEM,
	  ENOMEM,
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) } },
	{ "a disk that does not forget",
	  FABRIC_STEP_FORGET,
	  GEN(4, 2, 20),
	  EIO,
	  EIO,
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) } },
	{ "no sane errno",
	  FABRIC_STEP_FORGET,
	  GEN(4, 2, 20),
	  INT_MIN,
	  INT_MAX,
	  { 4, GEN(4, 1, 10), GEN(4, 2, 20) } },
};

TABLE_TEST(follower, errors, row, error_rows)
{
	const struct follower_state has = { 4, GEN(4, 1, 10), GEN(4, 2, 20) };
	struct follower f = make(&has);
	const enum follower_task task = follower_fetch_reply(&f, 4, row->step, &row->asked);

	cr_assert_neq(task, FOLLOWER_NOTHING);
	follower_done(&f, task, &row->asked, row->error);
	check_state(&f.state, &row->then, row->what);
	cr_assert_eq(follower_next(&f), FOLLOWER_ACK);
	cr_assert_eq(f.ack_step, row->step);
	cr_assert_eq(f.ack_error, row->ack_error);
	// A manager that has been replaced may take it, but does not settle it.
	follower_ack_reply(&f, 3);
	cr_assert_eq(follower_next(&f), FOLLOWER_HELLO);
	f = make(&f.state);
	cr_assert_eq(follower_next(&f), FOLLOWER_FETCH);
}

Test(follower, ack_is_settled_once)
{
	const struct follower_state has = { 4, GEN(4, 1, 10), NO_GEN };
	struct follower f = make(&has);

	follower_fetch_reply(&f, 4, FABRIC_STEP_COMMIT, &(struct follower_generation)GEN(4, 2, 20));
	follower_failed(&f);
	cr_assert_eq(follower_next(&f), FOLLOWER_HELLO);
	cr_assert(follower_hello_reply(&f, 4, FABRIC_VERSION, &(const char *){ NULL }));
	cr_assert_eq(follower_next(&f), FOLLOWER_ACK);
	follower_ack_reply(&f, 4);
	cr_assert_eq(follower_next(&f), FOLLOWER_FETCH);
}

// One thing at a time, and only what was asked for.
Test(follower, tasks_do_not_mix)
{
	const struct follower_state has = { 4, GEN(4, 1, 10), NO_GEN };
	const struct follower_generation two = GEN(4, 2, 20), three = GEN(4, 3, 30);
	struct follower f = make(&has);

	cr_assert_eq(follower_fetch_reply(&f, 4, FABRIC_STEP_PREPARE, &two), FOLLOWER_STORE);
	cr_assert_eq(follower_fetch_reply(&f, 4, FABRIC_STEP_PREPARE, &three), FOLLOWER_NOTHING);
	follower_done(&f, FOLLOWER_STORE, &three, 0);
	follower_done(&f, FOLLOWER_APPLY, &two, 0);
	check_state(&f.state, &has, "neither was asked for");
	follower_done(&f, FOLLOWER_STORE, &two, 0);
	follower_done(&f, FOLLOWER_STORE, &two, EIO);
	cr_assert(follower_generation_equal(&f.state.prepared, &two));
	cr_assert_eq(follower_next(&f), FOLLOWER_FETCH);
}

// --- managers -----------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint64_t epoch;
	uint32_t version;
	bool followed;
	uint64_t met; // then
} hello_rows[] = {
	{ "the same", 4, FABRIC_VERSION, true, 4 },
	{ "the next", 9, FABRIC_VERSION, true, 9 },
	{ "an earlier one", 3, FABRIC_VERSION, false, 4 },
	{ "one that refuses", 9, 0, false, 4 },
	{ "one that speaks what this switch does not", 9, FABRIC_VERSION + 1, false, 4 },
};

TABLE_TEST(follower, hello, row, hello_rows)
{
	const struct follower_state has = { 4, GEN(4, 1, 10), NO_GEN };
	struct follower f;
	const char *why;

	follower_init(&f, &has, 7);
	cr_assert_eq(follower_next(&f), FOLLOWER_HELLO);
	cr_assert_eq(follower_hello_reply(&f, row->epoch, row->version, &why), row->followed, "%s",
		     row->what);
	cr_assert_eq(*why == '\0', row->followed, "%s", row->what);
	cr_assert_eq(f.state.epoch, row->met, "%s", row->what);
	cr_assert_eq(f.tries, row->followed ? 0 : 1);
	cr_assert_eq(follower_next(&f), row->followed ? FOLLOWER_FETCH : FOLLOWER_HELLO);
	cr_assert(follower_generation_equal(&f.state.running, &has.running));
}

static const struct {
	uint32_t tries;
	uint64_t most_ms;
} wait_rows[] = {
	{ 0, 0 },    { 1, 100 },  { 2, 200 },  { 3, 400 },           { 4, 800 },
	{ 5, 1600 }, { 6, 3200 }, { 7, 5000 }, { UINT32_MAX, 5000 },
};

TABLE_TEST(follower, waits, row, wait_rows)
{
	const struct follower_state has = { 4, NO_GEN, NO_GEN };
	struct follower f = make(&has);

	for (uint32_t i = 0; i < row->tries && i < 100; i++)
		follower_failed(&f);
	cr_assert_eq(follower_wait_ns(&f, 0), row->most_ms * MS);
	cr_assert_eq(follower_wait_ns(&f, 1u << 31), row->most_ms * MS * 3 / 4);
	cr_assert_geq(follower_wait_ns(&f, UINT32_MAX), row->most_ms * MS / 2);
	cr_assert(follower_hello_reply(&f, 4, FABRIC_VERSION, &(const char *){ NULL }));
	cr_assert_eq(follower_wait_ns(&f, 0), 0);
}
