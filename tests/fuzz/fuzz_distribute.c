// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the two sides of the distribution of tables: any calls in any order with any
// values, as a hostile switch, a hostile manager or a broken caller makes them.
//
// Checked of the manager: only what was decided is to be committed, everyone is asked for the one
// target, counts are right, and whatever was said nobody is waited for longer than a step takes. Of
// the switch: neither its epoch nor what it runs goes back, nothing is applied but what is
// prepared, and it never waits longer than 5 s.

#include <string.h>

#include "base/check.h"
#include "dataplane/follower.h"
#include "fabricmgr/core/distribute.h"
#include "tests/fuzz/fuzz.h"

enum { SWITCHES = 3, FEW = 6, RAW = 0xff };

#define MS 1000000ull
#define WAIT_MOST_NS (5000 * MS)

struct input {
	const uint8_t *data;
	size_t size;
};

static struct distributor d;
static struct distribute_switch at[SWITCHES];
static struct follower f;
static ns_t now;

static uint8_t take_byte(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

// Mostly one of few, so that values meet each other.
static uint64_t take_number(struct input *in)
{
	const uint8_t byte = take_byte(in);
	uint64_t number = 0;

	if (byte != RAW)
		return byte % FEW;
	for (uint32_t i = 0; i < sizeof(number); i++)
		number = number << 8 | take_byte(in);
	return number;
}

// --- the manager --------------------------------------------------------------------------------

static struct generation take_generation(struct input *in)
{
	const uint64_t epoch = take_number(in), number = take_number(in);

	return (struct generation){ epoch, number, take_number(in) };
}

static void take_hashes(struct input *in, uint64_t *hash)
{
	for (uint32_t i = 0; i < SWITCHES; i++)
		hash[i] = take_number(in);
}

static void check_step(uint32_t i)
{
	const struct distribute_switch *s = &at[i];
	struct generation g;

	WEFT_CHECK(s->target.number == (d.used == 0 ? 0 : d.number));
	switch (distribute_next(&d, i, &g)) {
	case DISTRIBUTE_NOTHING: break;
	case DISTRIBUTE_PREPARE: WEFT_CHECK(generation_equal(&g, &s->target)); break;
	case DISTRIBUTE_COMMIT:
		WEFT_CHECK(d.decided && generation_equal(&g, &s->target));
		WEFT_CHECK(generation_equal(&s->prepared, &g) || s->running.hash == g.hash);
		break;
	case DISTRIBUTE_FORGET:
		WEFT_CHECK(generation_equal(&g, &s->prepared));
		WEFT_CHECK(!generation_equal(&g, &s->target));
		break;
	}
}

static void check_distributor(void)
{
	uint32_t waited = 0;

	for (uint32_t i = 0; i < SWITCHES; i++) {
		waited += at[i].waited;
		check_step(i);
	}
	WEFT_CHECK(waited == d.waited);
	WEFT_CHECK(d.number <= d.used);
	WEFT_CHECK(d.done.v == 0 || d.decided);
	WEFT_CHECK(!(distribute_wants_decision(&d) && (d.decided || waited != 0)));
}

static void call_of_switch(struct input *in, uint8_t what)
{
	const uint32_t i = take_byte(in) % (SWITCHES + 1);
	const uint64_t boot = take_number(in);
	const struct generation a = take_generation(in), b = take_generation(in);
	struct generation got;
	const char *why;

	switch (what % 4) {
	case 0: distribute_hello(&d, i, boot, &a, &b, now, &why); break;
	case 1: distribute_fetch(&d, i, boot, &a, &b, now, &got); break;
	case 2:
		distribute_ack(&d, i, boot, (enum distribute_step)(take_byte(in) % 6), &a,
			       (int)take_number(in), now);
		break;
	case 3: distribute_heard(&d, i, boot, now); break;
	}
}

static void call_of_manager(struct input *in, uint8_t what)
{
	uint64_t hash[SWITCHES];
	ns_t next;

	switch (what % 4) {
	case 0:
		take_hashes(in, hash);
		distribute_plan(&d, hash, now);
		break;
	case 1: distribute_decided(&d, now); break;
	case 2:
		now = ns_add(now, take_byte(in) * (50 * MS));
		distribute_tick(&d, now, &next);
		WEFT_CHECK(ns_before(now, next));
		break;
	case 3:
		distribute_init(&d, take_number(in), at, SWITCHES);
		take_hashes(in, hash);
		if (what & 4)
			distribute_restore(&d, 1 + take_byte(in), hash);
		break;
	}
}

// --- the switch ---------------------------------------------------------------------------------

static struct follower_generation take_follower_generation(struct input *in)
{
	const struct generation g = take_generation(in);

	return (struct follower_generation){ g.epoch, g.number, g.hash };
}

static void check_task(enum follower_task task, const struct follower_generation *g)
{
	const struct follower_state *state = &f.state;

	switch (task) {
	case FOLLOWER_NOTHING: break;
	case FOLLOWER_STORE:
		WEFT_CHECK(g->epoch == state->epoch);
		WEFT_CHECK(follower_generation_before(&state->running, g));
		break;
	case FOLLOWER_APPLY:
	case FOLLOWER_FORGET: WEFT_CHECK(follower_generation_equal(g, &state->prepared)); break;
	case FOLLOWER_RENAME: WEFT_CHECK(g->hash == state->running.hash); break;
	}
}

static void call_of_follower(struct input *in, uint8_t what)
{
	const struct follower_generation g = take_follower_generation(in);
	const uint64_t epoch = take_number(in);
	const char *why;

	switch (what % 6) {
	case 0: follower_hello_reply(&f, epoch, (uint32_t)take_number(in), &why); break;
	case 1:
		check_task(follower_fetch_reply(&f, epoch, (uint32_t)take_number(in), &g), &g);
		break;
	case 2: follower_ack_reply(&f, epoch); break;
	case 3: follower_failed(&f); break;
	case 4:
		follower_done(&f, (enum follower_task)(take_byte(in) % 5), &g,
			      (int)take_number(in));
		break;
	case 5: {
		const struct follower_generation asked = f.task_generation;

		follower_done(&f, f.task, &asked, what & 64 ? (int)take_number(in) : 0);
		WEFT_CHECK(f.task == FOLLOWER_NOTHING);
		break;
	}
	}
}

static void check_follower(const struct follower_state *before, uint32_t dice)
{
	WEFT_CHECK(f.state.epoch >= before->epoch);
	WEFT_CHECK(!follower_generation_before(&f.state.running, &before->running));
	WEFT_CHECK(follower_wait_ns(&f, dice) <= WAIT_MOST_NS);
	WEFT_CHECK((follower_next(&f) == FOLLOWER_HELLO) == !f.greeted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct follower_state state = { .epoch = 0 };
	ns_t next;

	now = (ns_t){ 1 };
	distribute_init(&d, 1, at, SWITCHES);
	follower_init(&f, &state, 1);
	while (in.size != 0) {
		const uint8_t what = take_byte(&in);

		state = f.state;
		if (what % 3 == 0)
			call_of_switch(&in, what / 3);
		else if (what % 3 == 1)
			call_of_manager(&in, what / 3);
		else
			call_of_follower(&in, what / 3);
		check_distributor();
		check_follower(&state, what * 0x01010101u);
	}
	distribute_tick(&d, ns_add(now, DISTRIBUTE_STEP_MS * MS), &next);
	WEFT_CHECK(d.waited == 0);
	return 0;
}
