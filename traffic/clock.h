// SPDX-License-Identifier: BSD-3-Clause
//
// The time of a run: the processor's time stamp counter as nanoseconds since the start. One
// multiplication; never falls, and is off by less than one part in 10^9.
#pragma once

#include <rte_cycles.h>

#include "base/types.h"

enum { CLOCK_SHIFT = 32 };

struct clock {
	uint64_t start; // counter at time 0
	uint64_t scale; // nanoseconds of a tick << CLOCK_SHIFT
};

static inline void clock_start(struct clock *clock)
{
	const unsigned __int128 second = (unsigned __int128)1000000000 << CLOCK_SHIFT;

	clock->scale = (uint64_t)(second / rte_get_tsc_hz());
	clock->start = rte_rdtsc();
}

static inline ns_t clock_now(const struct clock *clock)
{
	const unsigned __int128 ticks = rte_rdtsc() - clock->start;

	return (ns_t){ (uint64_t)(ticks * clock->scale >> CLOCK_SHIFT) };
}
