// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of pfc/watchdog.c for every phase and every ratio of poll, detection and restoration
// time: how exact detection and its end are, and that nothing is found that was not there. The
// oracle is the timeline itself, which the test keeps in steps of a tenth of a millisecond.

#include "pfc/pfc.h"
#include "tests/table.h"

#define MS 1000000ull
#define STEP 100000ull // of a timeline

enum { SECOND_STEPS = 10000, TIMELINE = 60 * SECOND_STEPS };

static struct pfc_watchdog_profile random_profile(struct rng *rng)
{
	struct pfc_watchdog_profile pf = { .paused_ppm = 990000 };

	pf.poll_ns = (100 + rng_below(rng, 901)) * MS;
	pf.detection_ns = pf.poll_ns + rng_below(rng, (uint32_t)(5000 - pf.poll_ns / MS) + 1) * MS;
	pf.restoration_ns = pf.poll_ns + rng_below(rng, 10000) * MS;
	return pf;
}

// Polls as they fall due until the state turns; a storm lasts over [from, until).
static ns_t turn_at(const struct pfc_watchdog_profile *pf, struct pfc_watchdog_state *st, ns_t from,
		    ns_t until, ns_t full)
{
	const bool before = st->stormed;

	for (uint32_t i = 0; i < 1000 && st->stormed == before; i++) {
		ns_t now = st->next;
		ns_t begin = { u64_max(st->last.v, from.v) };
		struct pfc_watchdog_sample sample = {
			.head_since = ns_before(full, now) ? full : NS_NEVER,
			.paused_ns = ns_since(ns_min(now, until), begin),
		};

		pfc_watchdog_poll(pf, st, &sample, now);
	}
	cr_assert_neq(st->stormed, before);
	return st->last;
}

static void check_accuracy(uint64_t measured, uint64_t wanted, uint64_t poll)
{
	cr_assert_gt(measured, wanted);
	cr_assert_leq(measured, wanted + poll);
}

// detection_time < measured <= detection_time + poll from the moment at which the queue is both
// paused and full, to the nanosecond; the same for restoration from the end of the pause.
SEED_TEST(pfc_watchdog, accuracy, rng, 300)
{
	struct pfc_watchdog_profile pf = random_profile(rng);
	struct pfc_watchdog_state st = { 0 };
	ns_t at = { 1000 * MS };

	pfc_watchdog_start(&pf, &st, 0, at);
	for (uint32_t storm = 0; storm < 20; storm++) {
		ns_t paused = ns_add(at, 1 + rng_next64(rng) % (3 * pf.poll_ns));
		ns_t full = storm % 2 ? paused : ns_add(paused, rng_next64(rng) % (2 * pf.poll_ns));
		ns_t found = turn_at(&pf, &st, paused, NS_NEVER, full);
		ns_t end = ns_add(found, 1 + rng_next64(rng) % (5 * pf.poll_ns));

		check_accuracy(ns_since(found, full), pf.detection_ns, pf.poll_ns);
		at = turn_at(&pf, &st, paused, end, full);
		check_accuracy(ns_since(at, end), pf.restoration_ns, pf.poll_ns);
		cr_assert_eq(st.detected, storm + 1);
		cr_assert_eq(st.restored, storm + 1);
	}
}

// One step of a timeline.
struct moment {
	bool paused;
	bool full;
	bool sent;
};

// Phases of a second or so: storm with gaps, calm, busy, empty.
static void random_timeline(struct rng *rng, struct moment *line)
{
	uint32_t left = 0;
	uint32_t phase = 0;

	for (uint32_t i = 0; i < TIMELINE; i++) {
		if (left-- == 0) {
			left = rng_below(rng, 4 * SECOND_STEPS);
			phase = rng_below(rng, 5);
		}
		line[i].paused = phase < 2 ? rng_below(rng, 1000) >= 5 * phase :
					     rng_below(rng, 2) == 0;
		line[i].full = phase != 3;
		line[i].sent = phase == 2 && !line[i].paused && rng_below(rng, 100) == 0;
	}
}

struct span {
	uint64_t paused;
	uint64_t sent;
	uint64_t empty;
};

static struct span measure(const struct moment *line, uint32_t from, uint32_t until)
{
	struct span span = { 0 };

	for (uint32_t i = from; i < until; i++) {
		span.paused += line[i].paused;
		span.sent += line[i].sent;
		span.empty += !line[i].full;
	}
	return span;
}

static ns_t head_since(const struct moment *line, uint32_t from, uint32_t until)
{
	uint32_t i = until;

	while (i > from && line[i - 1].full)
		i--;
	return i == until ? NS_NEVER : (ns_t){ i * STEP };
}

// Whatever was found had been there: in the detection time before it nothing left, the queue was
// never empty, and it was paused but for what the threshold allows in the polls that cover it.
static void check_detected(const struct pfc_watchdog_profile *pf, const struct moment *line,
			   uint32_t now)
{
	uint32_t steps = (uint32_t)(pf->detection_ns / STEP);
	uint64_t slack = (steps + 2 * pf->poll_ns / STEP) / 100 + 2;
	struct span span;

	cr_assert_geq(now, steps);
	span = measure(line, now - steps + 1, now);
	cr_assert_eq(span.sent, 0);
	cr_assert_eq(span.empty, 0);
	cr_assert_geq(span.paused + slack, steps);
}

// Polls come late by up to a fifth of their period, as those of a busy shell.
SEED_TEST(pfc_watchdog, nothing_made_up, rng, 40)
{
	struct pfc_watchdog_profile pf = random_profile(rng);
	struct moment *line = calloc(TIMELINE, sizeof(*line));
	struct pfc_watchdog_state st = { 0 };
	struct pfc_watchdog_sample sample = { 0 };
	uint32_t last = 0;

	cr_assert_not_null(line);
	pf.detection_ns = pf.poll_ns + rng_below(rng, 500) * MS; // short enough to be seen often
	random_timeline(rng, line);
	pfc_watchdog_start(&pf, &st, 0, (ns_t){ 0 });
	for (;;) {
		uint64_t late = rng_next64(rng) % (pf.poll_ns / 5);
		uint32_t now = (uint32_t)((st.next.v + late + STEP - 1) / STEP);
		struct span span;

		if (now >= TIMELINE)
			break;
		span = measure(line, last, now);
		sample.head_since = head_since(line, last, now);
		sample.paused_ns = span.paused * STEP;
		sample.dequeued += span.sent;
		switch (pfc_watchdog_poll(&pf, &st, &sample, (ns_t){ now * STEP })) {
		case PFC_WATCHDOG_QUIET: break;
		case PFC_WATCHDOG_DETECTED: check_detected(&pf, line, now); break;
		case PFC_WATCHDOG_RESTORED: break;
		}
		cr_assert_eq(st.detected - st.restored, st.stormed);
		last = now;
	}
	cr_assert_gt(st.detected, 0);
	free(line);
}
