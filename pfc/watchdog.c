// SPDX-License-Identifier: BSD-3-Clause
//
// PFC watchdog: finds a queue that PFC of the peer holds without end, and the end of that.
//
// The measure is time, not frames: how long the exact pause clock (rx.c) ran in the real time since
// the last poll, however late that came. So gaps of a slow generator, XON frames and a poll that
// slips do not change what is seen. A busy queue is never taken for a stuck one: any packet that
// leaves starts over, and an empty queue is nobody's victim.
//
// Polls are poll_ns apart; while time is gathered they are moved a little closer together, so that
// one of them falls on the moment at which enough has been gathered. That keeps detection within
// (detection_ns, detection_ns + poll_ns] for every phase and every ratio of the two.

#include "pfc/pfc.h"

// A poll is at least this part of poll_ns, so that a fraction of it means something.
enum { SHORTEST_POLL = 8 };

// The next poll: poll_ns from now, or sooner so that equal steps end where `wanted_ns` is exceeded.
static void schedule(const struct pfc_watchdog_profile *pf, struct pfc_watchdog_state *st,
		     uint64_t wanted_ns, ns_t now)
{
	uint64_t left = u64_minus(wanted_ns, st->gathered) + 1;
	uint64_t polls = (left + pf->poll_ns - 1) / pf->poll_ns;
	uint64_t step = (left + polls - 1) / polls;

	st->next = ns_add(now, u64_max(step, pf->poll_ns / SHORTEST_POLL));
}

bool pfc_watchdog_start(const struct pfc_watchdog_profile *pf, struct pfc_watchdog_state *st,
			uint64_t dequeued, ns_t now)
{
	bool ended = st->stormed;

	st->restored += ended;
	st->stormed = false;
	st->forced = false;
	st->gathered = 0;
	st->dequeued = dequeued;
	st->last = now;
	st->next = ns_add(now, pf->poll_ns);
	return ended;
}

void pfc_watchdog_force(struct pfc_watchdog_state *st, bool on, ns_t now)
{
	if (st->forced == on)
		return;
	st->forced = on;
	st->forced_at = now;
}

// How much of the time since the last poll a queue was stuck: paused, and full all along.
static uint64_t stuck_ns(const struct pfc_watchdog_state *st,
			 const struct pfc_watchdog_sample *sample, uint64_t elapsed, ns_t now)
{
	uint64_t forced = st->forced ? ns_since(now, st->forced_at) : 0;
	uint64_t full = ns_since(now, sample->head_since);

	if (sample->dequeued != st->dequeued)
		full = 0;
	return u64_min(elapsed, u64_max(forced, u64_min(full, sample->paused_ns)));
}

// How much of it a stormed queue was held: packets do not matter, mitigation may have taken them.
static uint64_t held_ns(const struct pfc_watchdog_state *st,
			const struct pfc_watchdog_sample *sample, uint64_t elapsed)
{
	uint64_t forced = st->forced ? elapsed : ns_since(st->forced_at, st->last);

	return u64_min(elapsed, u64_max(forced, sample->paused_ns));
}

// part / whole >= ppm / 10^6, without an overflow however late a poll is.
static bool is_fraction(uint64_t part, uint64_t whole, uint32_t ppm)
{
	return part >=
	       whole / PFC_WATCHDOG_PPM * ppm + whole % PFC_WATCHDOG_PPM * ppm / PFC_WATCHDOG_PPM;
}

static enum pfc_watchdog_event turn(struct pfc_watchdog_state *st)
{
	st->stormed = !st->stormed;
	st->gathered = 0;
	if (!st->stormed) {
		st->restored++;
		return PFC_WATCHDOG_RESTORED;
	}
	st->detected++;
	return PFC_WATCHDOG_DETECTED;
}

enum pfc_watchdog_event pfc_watchdog_poll(const struct pfc_watchdog_profile *pf,
					  struct pfc_watchdog_state *st,
					  const struct pfc_watchdog_sample *sample, ns_t now)
{
	const uint64_t elapsed = ns_since(now, st->last);
	const uint64_t wanted_ns = st->stormed ? pf->restoration_ns : pf->detection_ns;
	const uint64_t held = st->stormed ? held_ns(st, sample, elapsed) :
					    stuck_ns(st, sample, elapsed, now);
	const uint64_t sure = st->stormed ? elapsed - held : held;
	enum pfc_watchdog_event event = PFC_WATCHDOG_QUIET;

	// The first poll that counts adds the part of it that is sure, later ones count whole.
	if (is_fraction(held, elapsed, pf->paused_ppm) == st->stormed)
		st->gathered = 0;
	else
		st->gathered += st->gathered == 0 ? sure : elapsed;
	if (st->gathered > wanted_ns)
		event = turn(st);
	st->dequeued = sample->dequeued;
	st->last = now;
	if (event == PFC_WATCHDOG_QUIET && sure > 0)
		schedule(pf, st, wanted_ns, now);
	else
		st->next = ns_add(now, pf->poll_ns);
	return event;
}
