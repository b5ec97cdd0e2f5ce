// SPDX-License-Identifier: BSD-3-Clause
//
// The level of a buffer is kept as the time at which it will be empty, so that it needs no visits.
//
// Invariant: that time is at most buffer_bytes ahead of now. XOFF is told in the call that crosses
// the threshold, XON by receiver_tick() at the time that receiver_deadline() gives.

#include "traffic/core/receiver.h"

static ns_t xon_at(const struct receiver_profile *pf, const struct receiver_state *st,
		   uint32_t prio)
{
	const uint64_t xon_ns =
		(uint64_t)((unsigned __int128)pf->xon_bytes * 8000000000u / pf->bps);

	return (ns_t){ u64_minus(st->level[prio].ready.v, xon_ns) };
}

struct pfc_gen_profile receiver_gen(uint8_t enable, uint16_t quanta, uint64_t bps)
{
	return (struct pfc_gen_profile){
		.enable = enable,
		.quanta = quanta,
		.refresh_ns = u64_max(pfc_quanta_ns(quanta, bps) / 2, 1),
	};
}

uint64_t receiver_held(const struct receiver_profile *pf, const struct receiver_state *st,
		       prio_t prio, ns_t now)
{
	const uint64_t left_ns = ns_since(st->level[prio.v].ready, now);

	return (uint64_t)((unsigned __int128)left_ns * pf->bps / 8000000000u);
}

bool receiver_take(const struct receiver_profile *pf, struct receiver_state *st, prio_t prio,
		   uint32_t bytes, ns_t now)
{
	const struct pacer_profile drain = { pf->bps, 0 };

	if (pf->bps == 0)
		return true;
	if (receiver_held(pf, st, prio, now) + bytes > pf->buffer_bytes)
		return false;
	pacer_charge(&drain, &st->level[prio.v], bytes, now);
	if (pf->gen.enable >> prio.v & 1 && receiver_held(pf, st, prio, now) > pf->xoff_bytes) {
		st->wanted |= (uint8_t)(1u << prio.v);
		pfc_gen_update(&pf->gen, &st->gen, st->wanted, now);
	}
	return true;
}

void receiver_tick(const struct receiver_profile *pf, struct receiver_state *st, ns_t now)
{
	for (uint32_t left = st->wanted; left != 0; left &= left - 1) {
		const uint32_t prio = (uint32_t)__builtin_ctz(left);

		if (!ns_before(now, xon_at(pf, st, prio)))
			st->wanted &= (uint8_t) ~(1u << prio);
	}
	pfc_gen_update(&pf->gen, &st->gen, st->wanted, now);
}

ns_t receiver_deadline(const struct receiver_profile *pf, const struct receiver_state *st)
{
	ns_t at = NS_NEVER;

	for (uint32_t left = st->wanted; left != 0; left &= left - 1)
		at = ns_min(at, xon_at(pf, st, (uint32_t)__builtin_ctz(left)));
	return at;
}
