// SPDX-License-Identifier: BSD-3-Clause
//
// Times between events that come independently of each other (a Poisson process): exponentially
// distributed, in integers, so that a seed gives the same times on every machine.
#pragma once

#include "base/rng.h"

#define POISSON_MEAN_MAX (1ull << 43)

// Time to the next event, of this mean, at most POISSON_MEAN_MAX.
uint64_t poisson_gap(struct rng *rng, uint64_t mean_ns);
