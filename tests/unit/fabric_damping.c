// SPDX-License-Identifier: BSD-3-Clause
//
// Damping of links: when a flapping link is left out and for how long, by the formula of RFC 2439
// (a penalty p is p x 2^(-t/h) after t), and that looking more often changes nothing.

#include "fabricmgr/core/damping.h"

#include <math.h>

#include "tests/table.h"

enum { FLAPS_MAX = 32 };

static const uint64_t half_life = 10000000000;

static ns_t at(double half_lives)
{
	return (ns_t){ 1000 + (uint64_t)(half_lives * (double)half_life) };
}

static const struct {
	const char *what;
	uint32_t flaps;
	double gap; // between two of them, in half-lives
	bool suppressed;
	double penalty; // after the last loss
} rows[] = {
	{ "one loss", 1, 0, false, 1000 },
	{ "two at once", 2, 0, false, 2000 },
	{ "three at once", 3, 0, true, 3000 },
	{ "three, one half-life apart", 3, 1, false, 1750 }, // 1000 x (1 + 1/2 + 1/4)
	{ "three, a quarter apart", 3, 0.25, true, 2547.9 }, // 1000 x (1 + 2^-1/4 + 2^-1/2)
	{ "more than are counted", FLAPS_MAX, 0, true, DAMPING_MAX },
};

TABLE_TEST(damping, flaps, row, rows)
{
	struct damping d;
	ns_t now = at(0);
	ns_t next;
	double wait;

	damping_init(&d, true, now);
	for (uint32_t i = 0; i < row->flaps; i++) {
		now = at(i * row->gap);
		damping_report(&d, false, half_life, now);
		cr_expect_not(damping_usable(&d), "%s: a loss counts at once", row->what);
		damping_report(&d, true, half_life, now);
	}
	cr_expect_eq(d.suppressed, row->suppressed, "%s", row->what);
	cr_expect_float_eq((double)d.penalty, row->penalty, row->penalty / 1000, "%s: %u",
			   row->what, d.penalty);
	cr_expect_not(damping_tick(&d, half_life, now, &next));
	if (!row->suppressed) {
		cr_expect_eq(next.v, NS_NEVER.v, "%s", row->what);
		return;
	}
	wait = log2(row->penalty / DAMPING_REUSE) * (double)half_life;
	cr_expect_float_eq((double)ns_since(next, now), wait, wait / 500, "%s", row->what);
	cr_expect_not(damping_tick(&d, half_life, (ns_t){ next.v - 1 }, &next));
	cr_expect(damping_tick(&d, half_life, next, &next), "%s: is used again", row->what);
	cr_expect(damping_usable(&d));
}

Test(damping, looking_often_does_not_make_it_calm_sooner)
{
	struct damping often, rarely;
	ns_t next;
	ns_t now = at(0);
	uint32_t looks = 0;

	damping_init(&often, true, now);
	damping_init(&rarely, true, now);
	for (uint32_t i = 0; i < 5; i++) {
		damping_report(&often, false, half_life, now);
		damping_report(&often, true, half_life, now);
		damping_report(&rarely, false, half_life, now);
		damping_report(&rarely, true, half_life, now);
	}
	damping_tick(&rarely, half_life, now, &next);
	while (!damping_tick(&often, half_life, now, &(ns_t){ 0 })) {
		now = ns_add(now, 1000000);
		looks++;
	}
	cr_expect_gt(looks, 1000);
	cr_expect_lt(ns_since(now, next), 1000000);
}

Test(damping, a_link_that_is_down_when_it_is_calm_is_not_used)
{
	struct damping d;
	ns_t next;

	damping_init(&d, true, at(0));
	for (uint32_t i = 0; i < 3; i++) {
		damping_report(&d, true, half_life, at(0));
		damping_report(&d, false, half_life, at(0));
	}
	cr_assert(d.suppressed);
	cr_expect_not(damping_tick(&d, half_life, at(2), &next));
	cr_expect_not(d.suppressed);
	cr_expect_not(damping_usable(&d));
	cr_expect(damping_report(&d, true, half_life, at(2)));
	cr_expect(damping_usable(&d));
}

Test(damping, reports_of_the_same_are_no_losses)
{
	struct damping d;

	damping_init(&d, true, at(0));
	cr_expect_not(damping_report(&d, true, half_life, at(0)));
	cr_expect(damping_report(&d, false, half_life, at(0)));
	for (uint32_t i = 0; i < FLAPS_MAX; i++)
		cr_expect_not(damping_report(&d, false, half_life, at(0)));
	cr_expect_eq(d.penalty, DAMPING_LOSS);
}

Test(damping, a_half_life_of_nothing_damps_nothing)
{
	struct damping d;

	damping_init(&d, true, at(0));
	for (uint32_t i = 0; i < FLAPS_MAX; i++) {
		damping_report(&d, false, 0, at(0));
		cr_expect(damping_report(&d, true, 0, at(0)));
	}
	cr_expect(damping_usable(&d));
}
