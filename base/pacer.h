// SPDX-License-Identifier: BSD-3-Clause
//
// A leaky bucket kept as the time at which the next byte may go (the GCRA of ITU-T I.371, virtual
// scheduling). One mechanism serves the emulated line rate, shapers and policers.
//
// A frame that leaves at `now` moves the ready time by its serialisation time; what the division
// leaves over is carried, so the long-run rate is exact. Idle time is forgotten except for
// `burst_ns`, which bounds what a late poll may catch up.
#pragma once

#include "base/types.h"

struct pacer_profile {
	uint64_t bps;      // 0: no limit
	uint64_t burst_ns; // idle time that may be caught up
};

struct pacer_state {
	ns_t ready;     // earliest time of the next frame
	uint64_t carry; // remainder of the last division, in 1/bps of a nanosecond
};

static inline bool pacer_ready(const struct pacer_state *st, ns_t now)
{
	return st->ready.v <= now.v;
}

// Forgets idle time: as if the last frame had ended at `now`.
static inline void pacer_restart(struct pacer_state *st, ns_t now)
{
	if (ns_before(st->ready, now))
		*st = (struct pacer_state){ .ready = now };
}

// Accounts `bytes` sent at `now`. bytes * 8e9 stays below 2^64 for frames up to 2 GB.
static inline void pacer_charge(const struct pacer_profile *pf, struct pacer_state *st,
				uint64_t bytes, ns_t now)
{
	uint64_t bit_ns;

	if (pf->bps == 0)
		return;
	if (ns_add(st->ready, pf->burst_ns).v < now.v)
		*st = (struct pacer_state){ .ready = { now.v - pf->burst_ns } };
	bit_ns = bytes * 8 * 1000000000u + st->carry;
	st->ready.v += bit_ns / pf->bps;
	st->carry = bit_ns % pf->bps;
}
