// SPDX-License-Identifier: BSD-3-Clause
//
// PFC reception: frames of the peer become one pause timer per priority of a port, which the
// scheduler asks before it serves the queues behind them.
//
// Invariants: a new timer replaces the old one whether longer or shorter; a pause ends at its own
// end, however late the next call is, so that durations are those of the wire and not of the poll;
// pauses - resumes is 1 for a paused priority and 0 for another.
// IEEE 802.1Q clause 36.1.3 (PFC receiver).

#include "pfc/pfc.h"

static void pause_until(struct pfc_rx_state *st, uint32_t prio, ns_t until, ns_t now)
{
	st->until[prio] = until;
	if (st->paused >> prio & 1)
		return;
	st->paused |= (uint8_t)(1u << prio);
	st->since[prio] = now;
	st->pauses[prio]++;
}

static void end_pause(struct pfc_rx_state *st, uint32_t prio, ns_t at)
{
	st->paused &= (uint8_t) ~(1u << prio);
	st->recent_ns[prio] = ns_since(at, st->since[prio]);
	st->paused_ns[prio] += st->recent_ns[prio];
	st->resumes[prio]++;
}

static void note_earliest_end(struct pfc_rx_state *st)
{
	st->expires = NS_NEVER;
	for (uint32_t left = st->paused; left != 0; left &= left - 1)
		st->expires = ns_min(st->expires, st->until[__builtin_ctz(left)]);
}

void pfc_rx_frame(const struct pfc_rx_profile *pf, struct pfc_rx_state *st,
		  const struct pfc_frame *frame, ns_t now)
{
	// What ran out before this frame is a pause of its own, even if it is renewed now.
	pfc_rx_paused(st, now);
	for (uint32_t left = frame->enable & pf->obey; left != 0; left &= left - 1) {
		const uint32_t prio = (uint32_t)__builtin_ctz(left);
		const ns_t until = ns_add(now, pfc_quanta_ns(frame->quanta[prio], pf->bps));

		if (ns_before(now, until))
			pause_until(st, prio, until, now);
		else if (st->paused >> prio & 1)
			end_pause(st, prio, now);
	}
	note_earliest_end(st);
}

uint8_t pfc_rx_paused(struct pfc_rx_state *st, ns_t now)
{
	if (st->paused == 0 || ns_before(now, st->expires))
		return st->paused;

	for (uint32_t left = st->paused; left != 0; left &= left - 1) {
		const uint32_t prio = (uint32_t)__builtin_ctz(left);

		if (!ns_before(now, st->until[prio]))
			end_pause(st, prio, st->until[prio]);
	}
	note_earliest_end(st);
	return st->paused;
}

void pfc_rx_resume(struct pfc_rx_state *st, uint8_t keep, ns_t now)
{
	pfc_rx_paused(st, now);
	for (uint32_t left = st->paused & ~keep; left != 0; left &= left - 1)
		end_pause(st, (uint32_t)__builtin_ctz(left), now);
	note_earliest_end(st);
}

uint64_t pfc_rx_paused_ns(const struct pfc_rx_state *st, prio_t prio, ns_t now)
{
	uint64_t total = st->paused_ns[prio.v];

	if (st->paused >> prio.v & 1)
		total += ns_since(ns_min(now, st->until[prio.v]), st->since[prio.v]);
	return total;
}

uint64_t pfc_rx_recent_ns(const struct pfc_rx_state *st, prio_t prio, ns_t now)
{
	if (st->paused >> prio.v & 1)
		return ns_since(ns_min(now, st->until[prio.v]), st->since[prio.v]);
	return st->recent_ns[prio.v];
}
