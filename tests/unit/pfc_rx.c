// SPDX-License-Identifier: BSD-3-Clause
//
// pfc/rx.c step by step, by the rules that switches are tested for: clear enable bits are ignored,
// a new timer replaces the old one, quanta 0 resumes now, and only obeyed priorities pause.
//
// At 512 Gbit/s a quantum is exactly 1 ns, so timers read as nanoseconds.

#include "pfc/pfc.h"
#include "tests/table.h"

#define NS_PER_QUANTUM_BPS 512000000000

enum { STEP_MAX = 8 };

// A frame (when `enable` or `quanta` is set) or a poll at a time, and what is paused after it.
struct step {
	uint64_t now; // 0 ends the script
	uint8_t enable;
	uint16_t quanta; // of all enabled
	uint8_t want;
};

static const struct {
	const char *what;
	uint8_t obey;
	struct step step[STEP_MAX];
	uint64_t paused_ns, pauses, resumes; // of priority 3 at the last step
} script_rows[] = {
	{ "a pause ends at its time",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 109, 0, 0, 0x08 }, { 110, 0, 0, 0 } },
	  100,
	  1,
	  1 },
	{ "a late poll does not stretch it",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 5000, 0, 0, 0 } },
	  100,
	  1,
	  1 },
	{ "quanta 0 resumes now", 0x18, { { 10, 0x08, 100, 0x08 }, { 40, 0x08, 0, 0 } }, 30, 1, 1 },
	{ "quanta 0 for what is not paused does nothing",
	  0x18,
	  { { 10, 0x08, 0, 0 }, { 20, 0, 0, 0 } },
	  0,
	  0,
	  0 },
	{ "a longer timer replaces a shorter one",
	  0x18,
	  { { 10, 0x08, 100, 0x08 },
	    { 60, 0x08, 1000, 0x08 },
	    { 1059, 0, 0, 0x08 },
	    { 1060, 0, 0, 0 } },
	  1050,
	  1,
	  1 },
	{ "a shorter timer replaces a longer one",
	  0x18,
	  { { 10, 0x08, 1000, 0x08 }, { 60, 0x08, 5, 0x08 }, { 65, 0, 0, 0 } },
	  55,
	  1,
	  1 },
	{ "renewed after it ran out is another pause",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 200, 0x08, 100, 0x08 }, { 300, 0, 0, 0 } },
	  200,
	  2,
	  2 },
	{ "renewed at the very end is another pause without a gap",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 110, 0x08, 100, 0x08 }, { 210, 0, 0, 0 } },
	  200,
	  2,
	  2 },
	{ "a pause that lasts counts so far",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 50, 0, 0, 0x08 } },
	  40,
	  1,
	  0 },
	{ "clear enable bits are ignored",
	  0xff,
	  { { 10, 0x00, 100, 0 }, { 20, 0x10, 100, 0x10 }, { 30, 0x00, 0, 0x10 } },
	  0,
	  0,
	  0 },
	{ "XON for another priority changes nothing",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 20, 0x10, 0, 0x08 }, { 60, 0, 0, 0x08 } },
	  50,
	  1,
	  0 },
	{ "symmetric: priorities that are not enabled do not pause",
	  0x18,
	  { { 10, 0xe7, 100, 0 }, { 20, 0xff, 100, 0x18 } },
	  0,
	  1,
	  0 },
	{ "asymmetric: all eight pause",
	  0xff,
	  { { 10, 0xff, 100, 0xff }, { 109, 0, 0, 0xff }, { 110, 0, 0, 0 } },
	  100,
	  1,
	  1 },
	{ "two priorities end on their own",
	  0x18,
	  { { 10, 0x08, 100, 0x08 }, { 20, 0x10, 30, 0x18 }, { 50, 0, 0, 0x08 }, { 110, 0, 0, 0 } },
	  100,
	  1,
	  1 },
	{ "the longest timer",
	  0x18,
	  { { 10, 0x08, 65535, 0x08 }, { 65544, 0, 0, 0x08 }, { 65545, 0, 0, 0 } },
	  65535,
	  1,
	  1 },
};

TABLE_TEST(pfc_rx, pauses_as_told, row, script_rows)
{
	const struct pfc_rx_profile pf = { row->obey, NS_PER_QUANTUM_BPS };
	const prio_t three = { 3 };
	struct pfc_rx_state st = { 0 };
	ns_t now = { 0 };

	for (const struct step *step = row->step; step->now != 0; step++) {
		struct pfc_frame frame = { .enable = step->enable };

		for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
			frame.quanta[prio] = step->quanta;
		now = (ns_t){ step->now };
		if (step->enable != 0 || step->quanta != 0)
			pfc_rx_frame(&pf, &st, &frame, now);
		cr_assert_eq(pfc_rx_paused(&st, now), step->want, "%s: at %lu 0x%02x", row->what,
			     now.v, st.paused);
	}
	cr_assert_eq(pfc_rx_paused_ns(&st, three, now), row->paused_ns, "%s: %lu ns", row->what,
		     pfc_rx_paused_ns(&st, three, now));
	cr_assert_eq(st.pauses[3], row->pauses, "%s: %lu pauses", row->what, st.pauses[3]);
	cr_assert_eq(st.resumes[3], row->resumes, "%s: %lu resumes", row->what, st.resumes[3]);
}

// The duration is known without a poll: it never exceeds the timer.
Test(pfc_rx, duration_stops_at_the_end_before_any_poll)
{
	const struct pfc_rx_profile pf = { 0x08, NS_PER_QUANTUM_BPS };
	const struct pfc_frame frame = { 0x08, { [3] = 100 } };
	struct pfc_rx_state st = { 0 };

	pfc_rx_frame(&pf, &st, &frame, (ns_t){ 10 });
	cr_assert_eq(pfc_rx_paused_ns(&st, (prio_t){ 3 }, (ns_t){ 60 }), 50);
	cr_assert_eq(pfc_rx_paused_ns(&st, (prio_t){ 3 }, (ns_t){ 9999 }), 100);
}

static const struct {
	const char *what;
	uint64_t bps;
	uint16_t quanta;
	uint64_t want_ns;
} rate_rows[] = {
	{ "10G: 51.2 ns each", 10000000000, 1000, 51200 },
	{ "100G: 5.12 ns each", 100000000000, 1000, 5120 },
	{ "the longest at 1G", 1000000000, 65535, 33553920 },
	{ "no rate: no pause", 0, 65535, 0 },
	{ "0.64 ns round to no pause", 800000000000, 1, 0 },
};

TABLE_TEST(pfc_rx, quanta_depend_on_the_rate, row, rate_rows)
{
	const struct pfc_rx_profile pf = { 0x08, row->bps };
	const struct pfc_frame frame = { 0x08, { [3] = row->quanta } };
	struct pfc_rx_state st = { 0 };

	pfc_rx_frame(&pf, &st, &frame, (ns_t){ 1 });
	if (row->want_ns > 0)
		cr_assert_eq(pfc_rx_paused(&st, (ns_t){ row->want_ns }), 0x08, "%s", row->what);
	cr_assert_eq(pfc_rx_paused(&st, (ns_t){ 1 + row->want_ns }), 0, "%s", row->what);
	cr_assert_eq(st.paused_ns[3], row->want_ns, "%s", row->what);
	cr_assert_eq(st.pauses[3], row->want_ns > 0, "%s", row->what);
}

static const struct {
	const char *what;
	uint8_t keep;
	uint64_t now;
	uint8_t want;
	uint64_t want_ns; // priority 3 was paused from 10 to 110, 4 from 10 to 210
} resume_rows[] = {
	{ "link down ends all", 0x00, 50, 0x00, 40 },
	{ "those still obeyed are kept", 0x08, 50, 0x08, 40 },
	{ "one is no longer obeyed", 0x10, 50, 0x10, 40 },
	{ "what had ended had ended at its time", 0x00, 150, 0x00, 100 },
};

TABLE_TEST(pfc_rx, resume, row, resume_rows)
{
	const struct pfc_rx_profile pf = { 0x18, NS_PER_QUANTUM_BPS };
	const struct pfc_frame frame = { 0x18, { [3] = 100, [4] = 200 } };
	struct pfc_rx_state st = { 0 };

	pfc_rx_frame(&pf, &st, &frame, (ns_t){ 10 });
	pfc_rx_resume(&st, row->keep, (ns_t){ row->now });
	cr_assert_eq(pfc_rx_paused(&st, (ns_t){ row->now }), row->want, "%s", row->what);
	cr_assert_eq(pfc_rx_paused_ns(&st, (prio_t){ 3 }, (ns_t){ row->now }), row->want_ns, "%s",
		     row->what);
	cr_assert_eq(st.pauses[3] - st.resumes[3], row->want >> 3 & 1, "%s", row->what);
	cr_assert_eq(st.pauses[4] - st.resumes[4], row->want >> 4 & 1, "%s", row->what);
	// A pause that was kept still ends at its own time.
	cr_assert_eq(pfc_rx_paused(&st, (ns_t){ 210 }), 0, "%s", row->what);
}
