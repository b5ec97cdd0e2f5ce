// SPDX-License-Identifier: BSD-3-Clause
//
// The switch's time: the processor's time stamp counter as whole nanoseconds since the program
// started. The conversion is exact (no floating point, no accumulated error), and the counter is
// invariant and common to all processors on every machine that DPDK supports.
#pragma once

#include <rte_cycles.h>

#include "base/types.h"

struct clock {
	uint64_t start; // counter at time 0
	uint64_t hz;    // at most 18 GHz, for the product below to fit
};

static inline void clock_start(struct clock *clock)
{
	clock->start = rte_rdtsc();
	clock->hz = rte_get_tsc_hz();
}

static inline ns_t clock_now(const struct clock *clock)
{
	uint64_t ticks = rte_rdtsc() - clock->start;
	uint64_t seconds = ticks / clock->hz;

	return (ns_t){ seconds * 1000000000u +
		       (ticks - seconds * clock->hz) * 1000000000u / clock->hz };
}
