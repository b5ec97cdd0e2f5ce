// SPDX-License-Identifier: BSD-3-Clause
//
// The watchdog of one queue, poll by poll. Times in milliseconds; poll 200, detection 400,
// restoration 600 and 99 percent unless a row says otherwise.

#include "pfc/pfc.h"
#include "tests/table.h"

#define MS 1000000ull
enum { START = 1000, STEPS = 24 };

static const struct pfc_watchdog_profile usual = {
	.poll_ns = 200 * MS,
	.detection_ns = 400 * MS,
	.restoration_ns = 600 * MS,
	.paused_ppm = 990000,
};

// What happens in each poll interval, one letter per poll:
//	S  paused all along, the queue held packets and sent none
//	9  as S, but paused for 99.5 percent
//	8  as S, but paused for 98.5 percent
//	t  as S, but a packet left
//	e  paused all along, the queue empty
//	.  not paused, the queue idle
//	b  not paused, busy
static const struct {
	const char *what;
	const char *polls;
	uint64_t detected, restored;
} rows[] = {
	{ "two polls are 400 ms, not more: a third is needed", "SS", 0, 0 },
	{ "a storm", "SSS", 1, 0 },
	{ "lasts as long as it lasts", "SSSSSSSSSSSSSSSS", 1, 0 },
	{ "a generator with gaps of half a percent", "999", 1, 0 },
	{ "gaps of one and a half percent are no storm", "88888888", 0, 0 },
	{ "any packet clears", "SStSStSSt", 0, 0 },
	{ "and the count starts over", "SStSS", 0, 0 },
	{ "after which it is found", "SStSSS", 1, 0 },
	{ "no traffic, no storm", "eeeeeeeeeeee", 0, 0 },
	{ "an empty poll clears", "SSeSSeSSe", 0, 0 },
	{ "a calm poll clears", "SS.SS.SS.", 0, 0 },
	{ "busy is healthy", "bbbbbbbbbbbb", 0, 0 },
	{ "three calm polls are 600 ms, not more", "SSS...", 1, 0 },
	{ "the storm ends", "SSS....", 1, 1 },
	{ "a paused poll puts the end off", "SSS..S..S..S", 1, 0 },
	{ "mitigation empties the queue: the storm lasts", "SSSeeeeeeeeee", 1, 0 },
	{ "packets that mitigation lets out do not end it", "SSStttttttt", 1, 0 },
	{ "below the threshold for long enough ends it", "SSS8888", 1, 1 },
	{ "two storms", "SSS....SSS....", 2, 2 },
	{ "bursts shorter than detection never count", "S.S.S.S.S.SS.SS.", 0, 0 },
};

static void step(struct pfc_watchdog_state *st, struct pfc_watchdog_sample *sample, char kind,
		 ns_t *now)
{
	const uint64_t elapsed = 200 * MS;

	*now = ns_add(*now, elapsed);
	sample->paused_ns = elapsed;
	sample->head_since = (ns_t){ 0 };
	switch (kind) {
	case 'S': break;
	case '9': sample->paused_ns = 199 * MS; break;
	case '8': sample->paused_ns = 197 * MS; break;
	case 't': sample->dequeued++; break;
	case 'e': sample->head_since = NS_NEVER; break;
	case 'b':
		sample->dequeued += 100;
		sample->paused_ns = 0;
		break;
	default: sample->paused_ns = 0; break;
	}
	pfc_watchdog_poll(&usual, st, sample, *now);
}

TABLE_TEST(pfc_watchdog, polls, row, rows)
{
	struct pfc_watchdog_state st = { 0 };
	struct pfc_watchdog_sample sample = { .dequeued = 17 };
	ns_t now = { START * MS };

	cr_assert(!pfc_watchdog_start(&usual, &st, sample.dequeued, now));
	cr_assert_leq(strlen(row->polls), STEPS);
	for (const char *kind = row->polls; *kind != '\0'; kind++)
		step(&st, &sample, *kind, &now);
	cr_assert_eq(st.detected, row->detected, "%s: detected %lu", row->what, st.detected);
	cr_assert_eq(st.restored, row->restored, "%s: restored %lu", row->what, st.restored);
	cr_assert_eq(st.stormed, row->detected != row->restored, "%s", row->what);
}

static const struct {
	const char *what;
	uint32_t ppm;
	uint64_t paused_us; // of each poll of 200 ms
	bool stormed;
} threshold_rows[] = {
	{ "99 percent exactly", 990000, 198000, true },
	{ "a microsecond less", 990000, 197999, false },
	{ "80 percent suits a slow generator", 800000, 160000, true },
	{ "and still has an edge", 800000, 159999, false },
	{ "all of it", 1000000, 200000, true },
	{ "almost all of it", 1000000, 199999, false },
};

TABLE_TEST(pfc_watchdog, threshold, row, threshold_rows)
{
	struct pfc_watchdog_profile pf = usual;
	struct pfc_watchdog_state st = { 0 };
	struct pfc_watchdog_sample sample = { .paused_ns = row->paused_us * 1000 };
	ns_t now = { START * MS };

	pf.paused_ppm = row->ppm;
	pfc_watchdog_start(&pf, &st, 0, now);
	for (uint32_t i = 0; i < 4; i++) {
		now = ns_add(now, 200 * MS);
		pfc_watchdog_poll(&pf, &st, &sample, now);
	}
	cr_assert_eq(st.stormed, row->stormed, "%s", row->what);
}

// The measure is the real time since the last poll: a poll that comes ten times too late judges all
// of it, and a day without a poll overflows nothing.
Test(pfc_watchdog, late_polls)
{
	struct pfc_watchdog_state st = { 0 };
	struct pfc_watchdog_sample sample = { .paused_ns = 200 * MS };
	ns_t now = { START * MS };

	pfc_watchdog_start(&usual, &st, 0, now);
	now = ns_add(now, 2000 * MS);
	pfc_watchdog_poll(&usual, &st, &sample, now); // 10 percent
	cr_assert_eq(st.gathered, 0);
	now = ns_add(now, 2000 * MS);
	sample.paused_ns = 2000 * MS;
	cr_assert_eq(pfc_watchdog_poll(&usual, &st, &sample, now), PFC_WATCHDOG_DETECTED);
	now = ns_add(now, 86400000 * MS);
	sample.paused_ns = 86400000 * MS;
	cr_assert_eq(pfc_watchdog_poll(&usual, &st, &sample, now), PFC_WATCHDOG_QUIET);
	now = ns_add(now, 86400000 * MS);
	sample.paused_ns = 0;
	cr_assert_eq(pfc_watchdog_poll(&usual, &st, &sample, now), PFC_WATCHDOG_RESTORED);
}

// A forced storm needs neither pause nor packet, takes detection time like any other, lasts while
// it is on, and ends restoration time after it was turned off.
Test(pfc_watchdog, forced)
{
	const struct pfc_watchdog_sample calm = { .head_since = NS_NEVER };
	struct pfc_watchdog_state st = { 0 };
	ns_t now = { START * MS };
	ns_t at;

	pfc_watchdog_start(&usual, &st, 0, now);
	at = ns_add(now, 70 * MS);
	pfc_watchdog_force(&st, true, at);
	for (uint32_t i = 0; i < 8 && !st.stormed; i++) {
		now = st.next;
		pfc_watchdog_poll(&usual, &st, &calm, now);
	}
	cr_assert(st.stormed);
	cr_assert_gt(ns_since(now, at), usual.detection_ns);
	cr_assert_leq(ns_since(now, at), usual.detection_ns + usual.poll_ns);
	for (uint32_t i = 0; i < 100; i++) {
		now = st.next;
		cr_assert_eq(pfc_watchdog_poll(&usual, &st, &calm, now), PFC_WATCHDOG_QUIET);
	}
	at = ns_add(now, 30 * MS);
	pfc_watchdog_force(&st, false, at);
	for (uint32_t i = 0; i < 8 && st.stormed; i++) {
		now = st.next;
		pfc_watchdog_poll(&usual, &st, &calm, now);
	}
	cr_assert_eq(st.restored, 1);
	cr_assert_gt(ns_since(now, at), usual.restoration_ns);
	cr_assert_leq(ns_since(now, at), usual.restoration_ns + usual.poll_ns);
}

// A new start ends a storm, forced ones too, and counts it as restored.
Test(pfc_watchdog, start_clears)
{
	struct pfc_watchdog_state st = {
		.stormed = true, .forced = true, .detected = 5, .restored = 4, .gathered = 3
	};

	cr_assert(pfc_watchdog_start(&usual, &st, 9, (ns_t){ START * MS }));
	cr_assert(!st.stormed && !st.forced);
	cr_assert_eq(st.restored, 5);
	cr_assert_eq(st.detected, 5);
	cr_assert_eq(st.gathered, 0);
	cr_assert_eq(st.next.v, (START + 200) * MS);
	cr_assert(!pfc_watchdog_start(&usual, &st, 9, (ns_t){ START * MS }));
	cr_assert_eq(st.restored, 5);
}
