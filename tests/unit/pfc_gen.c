// SPDX-License-Identifier: BSD-3-Clause
//
// pfc/gen.c step by step: what is told when. Each script is a list of polls: the priorities that
// admission wants paused at a time, and the frame that must then go out.

#include "pfc/pfc.h"
#include "tests/table.h"

enum { QUANTA = 1000, REFRESH_NS = 100, STEP_MAX = 8 };

struct step {
	uint64_t now;
	uint8_t wanted;
	bool frame;
	uint8_t enable; // of the frame
	uint8_t xoff;   // those of them with the full timer; the others resume
};

static const struct {
	const char *what;
	uint8_t enable;
	struct step step[STEP_MAX]; // ends at now == 0
} script_rows[] = {
	{ "nothing is wanted, nothing is said",
	  0x18,
	  { { 1, 0, false, 0, 0 }, { 1000, 0, false, 0, 0 } } },
	{ "XOFF at once, XON at once",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 }, { 11, 0, true, 0x08, 0 }, { 500, 0, false, 0, 0 } } },
	{ "silence until the repeat is due",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 },
	    { 109, 0x08, false, 0, 0 },
	    { 110, 0x08, true, 0x08, 0x08 },
	    { 209, 0x08, false, 0, 0 },
	    { 210, 0x08, true, 0x08, 0x08 } } },
	{ "a late repeat counts from when it was sent",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 },
	    { 150, 0x08, true, 0x08, 0x08 },
	    { 249, 0x08, false, 0, 0 },
	    { 250, 0x08, true, 0x08, 0x08 } } },
	{ "a frame repeats every priority in XOFF",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 },
	    { 60, 0x18, true, 0x18, 0x18 },
	    { 110, 0x18, false, 0, 0 },
	    { 160, 0x18, true, 0x18, 0x18 } } },
	{ "a priority that toggles does not put off another's repeat",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 },
	    { 70, 0x18, true, 0x18, 0x18 },
	    { 130, 0x08, true, 0x18, 0x08 },
	    { 190, 0x18, true, 0x18, 0x18 },
	    { 250, 0x08, true, 0x18, 0x08 } } },
	{ "XON of one, XOFF of another in one frame",
	  0x18,
	  { { 10, 0x08, true, 0x08, 0x08 }, { 20, 0x10, true, 0x18, 0x10 } } },
	{ "lossy priorities are never paused",
	  0x18,
	  { { 10, 0xe7, false, 0, 0 },
	    { 20, 0xff, true, 0x18, 0x18 },
	    { 30, 0xe7, true, 0x18, 0 } } },
	{ "all eight", 0xff, { { 10, 0xff, true, 0xff, 0xff }, { 110, 0xff, true, 0xff, 0xff } } },
	{ "nothing may be generated",
	  0,
	  { { 10, 0xff, false, 0, 0 }, { 500, 0xff, false, 0, 0 } } },
};

TABLE_TEST(pfc_gen, says_what_it_must, row, script_rows)
{
	const struct pfc_gen_profile pf = { row->enable, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };

	for (const struct step *step = row->step; step->now != 0; step++) {
		const ns_t now = { step->now };
		struct pfc_frame frame;

		pfc_gen_update(&pf, &st, step->wanted, now);
		cr_assert_eq(pfc_gen_frame(&pf, &st, now, &frame), step->frame, "%s: at %lu",
			     row->what, step->now);
		if (!step->frame)
			continue;
		cr_assert_eq(frame.enable, step->enable, "%s: at %lu", row->what, step->now);
		for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
			cr_assert_eq(frame.quanta[prio], step->xoff >> prio & 1 ? QUANTA : 0,
				     "%s: at %lu, priority %u", row->what, step->now, prio);
		cr_assert_not(pfc_gen_frame(&pf, &st, now, &frame), "%s: at %lu, said twice",
			      row->what, step->now);
	}
}

Test(pfc_gen, deadline)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	cr_assert_eq(pfc_gen_deadline(&st).v, NS_NEVER.v, "nothing in XOFF");
	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 1000 });
	cr_assert_leq(pfc_gen_deadline(&st).v, 1000, "XOFF not told");
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 1000 }, &frame));
	cr_assert_eq(pfc_gen_deadline(&st).v, 1000 + REFRESH_NS, "the repeat");
	pfc_gen_update(&pf, &st, 0, (ns_t){ 1050 });
	cr_assert_leq(pfc_gen_deadline(&st).v, 1050, "XON not told");
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 1050 }, &frame));
	cr_assert_eq(pfc_gen_deadline(&st).v, NS_NEVER.v, "nothing in XOFF again");
}

// XOFF that came and went between two polls was never told and needs no XON.
Test(pfc_gen, a_change_taken_back_is_not_told)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 10 });
	pfc_gen_update(&pf, &st, 0, (ns_t){ 30 });
	cr_assert_not(pfc_gen_frame(&pf, &st, (ns_t){ 30 }, &frame));
	cr_assert_eq(pfc_gen_paused_ns(&st, (prio_t){ 3 }, (ns_t){ 99 }), 20, "but it was XOFF");
}

// A priority that is no longer lossless is released, and then left alone.
Test(pfc_gen, a_new_profile_releases)
{
	const struct pfc_gen_profile before = { 0x18, QUANTA, REFRESH_NS };
	const struct pfc_gen_profile after = { 0x10, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	pfc_gen_update(&before, &st, 0x18, (ns_t){ 10 });
	cr_assert(pfc_gen_frame(&before, &st, (ns_t){ 10 }, &frame));
	pfc_gen_update(&after, &st, 0x18, (ns_t){ 20 });
	cr_assert(pfc_gen_frame(&after, &st, (ns_t){ 20 }, &frame));
	cr_assert_eq(frame.enable, 0x18);
	cr_assert_eq(frame.quanta[3], 0);
	cr_assert_eq(frame.quanta[4], QUANTA);
	cr_assert(pfc_gen_frame(&after, &st, (ns_t){ 120 }, &frame));
	cr_assert_eq(frame.enable, 0x10);
}

// The link was down: the peer remembers nothing.
Test(pfc_gen, a_peer_that_forgot_is_told_again)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 10 });
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 10 }, &frame));
	st.told = 0;
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 11 }, &frame));
	cr_assert_eq(frame.enable, 0x08);
	cr_assert_eq(frame.quanta[3], QUANTA);
}

Test(pfc_gen, durations)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	const prio_t three = { 3 }, four = { 4 };
	struct pfc_gen_state st = { 0 };

	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 10 });
	pfc_gen_update(&pf, &st, 0x18, (ns_t){ 15 });
	cr_assert_eq(pfc_gen_paused_ns(&st, three, (ns_t){ 20 }), 10, "one that lasts");
	pfc_gen_update(&pf, &st, 0x10, (ns_t){ 30 });
	cr_assert_eq(pfc_gen_paused_ns(&st, three, (ns_t){ 50 }), 20, "one that has ended");
	pfc_gen_update(&pf, &st, 0x18, (ns_t){ 100 });
	cr_assert_eq(pfc_gen_paused_ns(&st, three, (ns_t){ 101 }), 21, "two");
	cr_assert_eq(pfc_gen_paused_ns(&st, four, (ns_t){ 101 }), 86, "the other one");
}

// Told at 1000: the pause of 2 x REFRESH_NS ends at 1200.
static const struct {
	const char *what;
	uint64_t renewed; // 0: not asked for
	uint64_t due;     // when the repeat is
	uint64_t told;    // when it is sent
	uint64_t lapses;
} renew_rows[] = {
	{ "by the timer", 0, 1100, 1100, 0 },
	{ "within an eighth of a pause", 1024, 1100, 1100, 0 },
	{ "after an eighth", 1025, 1025, 1025, 0 },
	{ "later", 1070, 1070, 1070, 0 },
	{ "overdue already", 1150, 1100, 1150, 0 },
	{ "at the last moment", 0, 1100, 1199, 0 },
	{ "too late", 0, 1100, 1200, 1 },
	{ "much too late, once", 1900, 1100, 1900, 1 },
};

TABLE_TEST(pfc_gen, renew, row, renew_rows)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	pfc_gen_renew(&pf, &st, (ns_t){ 999 });
	cr_assert_not(pfc_gen_frame(&pf, &st, (ns_t){ 999 }, &frame), "nothing in XOFF");
	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 1000 });
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 1000 }, &frame));
	if (row->renewed != 0)
		pfc_gen_renew(&pf, &st, (ns_t){ row->renewed });
	cr_assert_eq(pfc_gen_deadline(&st).v, row->due, "%s: %lu", row->what,
		     pfc_gen_deadline(&st).v);
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ row->told }, &frame));
	cr_assert_eq(st.lapses[3], row->lapses, "%s: %lu", row->what, st.lapses[3]);
	cr_assert_eq(st.lapses[4], 0, "%s: never in XOFF", row->what);
	cr_assert_eq(pfc_gen_deadline(&st).v, row->told + REFRESH_NS, "%s", row->what);
}

// XON that is told after the pause was over comes too late as well.
Test(pfc_gen, a_late_xon_is_a_lapse)
{
	const struct pfc_gen_profile pf = { 0x18, QUANTA, REFRESH_NS };
	struct pfc_gen_state st = { 0 };
	struct pfc_frame frame;

	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 1000 });
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 1000 }, &frame));
	pfc_gen_update(&pf, &st, 0, (ns_t){ 1300 });
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 1300 }, &frame));
	cr_assert_eq(st.lapses[3], 1);
	pfc_gen_update(&pf, &st, 0x08, (ns_t){ 9000 });
	cr_assert(pfc_gen_frame(&pf, &st, (ns_t){ 9000 }, &frame));
	cr_assert_eq(st.lapses[3], 1, "nothing was told that could run out");
}
