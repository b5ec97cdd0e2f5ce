// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of pfc/gen.c over random XOFF histories and poll times, seen from the peer:
//
//   - polled at most a refresh apart, the peer is paused whenever a told XOFF lasts;
//   - after each poll the peer is paused for exactly the priorities in XOFF;
//   - no frame goes out without a change or a due repeat, and none names a lossy priority;
//   - durations are the sums of the intervals.

#include "pfc/pfc.h"
#include "tests/table.h"

enum { STEPS = 20000 };

static const uint64_t peer_bps[] = { 1000000000, 10000000000, 100000000000, 400000000000 };

struct peer {
	uint64_t until[PRIO_COUNT];
};

// One run: profile and peer, and what the test itself knows about the XOFF intervals.
struct run {
	struct pfc_gen_profile pf;
	struct pfc_gen_state st;
	struct peer peer;
	uint64_t bps;
	uint8_t wanted;
	uint64_t since[PRIO_COUNT];
	uint64_t xoff_ns[PRIO_COUNT];
};

static void peer_hear(struct run *run, const struct pfc_frame *frame, ns_t now)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (frame->enable >> prio & 1)
			run->peer.until[prio] = now.v +
						pfc_quanta_ns(frame->quanta[prio], run->bps);
	}
}

// Priorities the peer holds at `now`, the moment of expiry excluded.
static uint8_t peer_paused(const struct run *run, ns_t now)
{
	uint8_t paused = 0;

	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++)
		paused |= (uint8_t)((run->peer.until[prio] > now.v) << prio);
	return paused;
}

static void note_intervals(struct run *run, uint8_t wanted, ns_t now)
{
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		const bool was = run->wanted >> prio & 1, is = wanted >> prio & 1;

		if (is && !was)
			run->since[prio] = now.v;
		if (was && !is)
			run->xoff_ns[prio] += now.v - run->since[prio];
	}
	run->wanted = wanted;
}

static void check_durations(const struct run *run, ns_t now)
{
	for (uint8_t prio = 0; prio < PRIO_COUNT; prio++) {
		uint64_t want = run->xoff_ns[prio];

		if (run->wanted >> prio & 1)
			want += now.v - run->since[prio];
		cr_assert_eq(pfc_gen_paused_ns(&run->st, (prio_t){ prio }, now), want);
	}
}

static void start(struct run *run, struct rng *rng)
{
	*run = (struct run){ .bps = peer_bps[rng_below(rng, TABLE_COUNT(peer_bps))] };
	run->pf.enable = (uint8_t)rng_next32(rng);
	run->pf.quanta = (uint16_t)(100 + rng_below(rng, 65436));
	run->pf.refresh_ns = pfc_quanta_ns(run->pf.quanta, run->bps) / 2;
}

// Polls at `now` with `wanted` and checks the frame, or that there was no need for one.
static void poll(struct run *run, uint8_t wanted, ns_t now)
{
	const uint8_t told = run->wanted;
	const ns_t due = pfc_gen_deadline(&run->st);
	const bool change = (wanted & run->pf.enable) != told;
	struct pfc_frame frame;

	cr_assert_eq(due.v == NS_NEVER.v, told == 0, "repeats are due while XOFF lasts");
	pfc_gen_update(&run->pf, &run->st, wanted, now);
	note_intervals(run, wanted & run->pf.enable, now);
	if (pfc_gen_frame(&run->pf, &run->st, now, &frame)) {
		cr_assert(change || due.v <= now.v, "a frame without need");
		cr_assert_eq(frame.enable & ~run->pf.enable, 0, "a lossy priority");
		peer_hear(run, &frame, now);
	} else {
		cr_assert_not(change || due.v <= now.v, "a frame is missing");
	}
	cr_assert_eq(peer_paused(run, now), run->wanted, "the peer knows");
}

SEED_TEST(pfc_gen, the_peer_never_runs_out, rng, 48)
{
	struct run run;
	uint8_t wanted = 0;
	ns_t now = { 1 };

	start(&run, rng);
	for (uint32_t step = 0; step < STEPS; step++) {
		// Mostly the longest gap allowed, where a lapse would show; else any.
		const uint64_t gap = rng_below(rng, 2) == 0 ?
					     run.pf.refresh_ns :
					     rng_below(rng, (uint32_t)run.pf.refresh_ns + 1);

		now = ns_add(now, gap);
		cr_assert_eq(run.wanted & ~peer_paused(&run, (ns_t){ now.v - (gap > 0) }), 0,
			     "step %u: the peer ran out", step);
		if (rng_below(rng, 4) == 0)
			wanted ^= (uint8_t)(1u << rng_below(rng, PRIO_COUNT));
		poll(&run, wanted, now);
		check_durations(&run, now);
	}
}

// A shell that sleeps until the deadline and wakes for nothing else sends the fewest frames: one
// per refresh.
SEED_TEST(pfc_gen, a_poll_at_each_deadline_is_enough, rng, 16)
{
	struct run run;
	ns_t now = { 1 };

	start(&run, rng);
	run.pf.enable |= 0x08;
	poll(&run, 0xff, now);
	for (uint32_t step = 0; step < 1000; step++) {
		const ns_t due = pfc_gen_deadline(&run.st);

		cr_assert_eq(due.v, now.v + run.pf.refresh_ns);
		now = due;
		cr_assert_eq(peer_paused(&run, now), run.wanted, "paused until the repeat");
		poll(&run, 0xff, now);
	}
}
