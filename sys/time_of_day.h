// SPDX-License-Identifier: BSD-3-Clause
//
// The time that people and captures go by. What is measured goes by the switch's own clock, which
// nobody sets.
#pragma once

#include <time.h>

#include "base/types.h"

// Nanoseconds since 1970, UTC.
static inline uint64_t time_of_day_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
