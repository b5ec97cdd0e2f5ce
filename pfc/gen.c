// SPDX-License-Identifier: BSD-3-Clause
//
// PFC generation: XOFF states of one port become frames for its peer. The order of a poll is
// pfc_gen_update() with what admission wants, then pfc_gen_frame(), whose frame jumps every queue.
//
// Invariants: a priority outside the profile is never paused; XON is told as soon as asked, not
// left to a timer; every frame lists all priorities in XOFF, so one timer serves all repeats.
// IEEE 802.1Q clause 36.1.3 (PFC initiator).

#include "pfc/pfc.h"

void pfc_gen_update(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, uint8_t wanted,
		    ns_t now)
{
	uint32_t changed;

	wanted &= pf->enable;
	changed = wanted ^ st->wanted;
	st->wanted = wanted;
	for (; changed != 0; changed &= changed - 1) {
		const uint32_t prio = (uint32_t)__builtin_ctz(changed);

		if (wanted >> prio & 1)
			st->since[prio] = now;
		else
			st->paused_ns[prio] += ns_since(now, st->since[prio]);
	}
}

static void note_lapses(struct pfc_gen_state *st, ns_t now)
{
	if (ns_before(now, st->until))
		return;
	for (uint32_t left = st->told; left != 0; left &= left - 1)
		st->lapses[__builtin_ctz(left)]++;
}

bool pfc_gen_frame(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, ns_t now,
		   struct pfc_frame *out)
{
	const uint8_t wanted = st->wanted;

	if (ns_before(now, pfc_gen_deadline(st)))
		return false;

	note_lapses(st, now);
	*out = (struct pfc_frame){ .enable = wanted | st->told };
	for (uint32_t prio = 0; prio < PRIO_COUNT; prio++) {
		if (wanted >> prio & 1)
			out->quanta[prio] = pf->quanta;
	}
	st->told = wanted;
	st->refresh_at = ns_add(now, pf->refresh_ns);
	st->until = ns_add(now, 2 * pf->refresh_ns);
	return true;
}

void pfc_gen_renew(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, ns_t now)
{
	if (ns_since(st->refresh_at, now) <= pf->refresh_ns - pf->refresh_ns / 4)
		st->refresh_at = ns_min(st->refresh_at, now);
}

ns_t pfc_gen_deadline(const struct pfc_gen_state *st)
{
	if (st->wanted != st->told)
		return (ns_t){ 0 };
	return st->told != 0 ? st->refresh_at : NS_NEVER;
}

uint64_t pfc_gen_paused_ns(const struct pfc_gen_state *st, prio_t prio, ns_t now)
{
	uint64_t total = st->paused_ns[prio.v];

	if (st->wanted >> prio.v & 1)
		total += ns_since(now, st->since[prio.v]);
	return total;
}
