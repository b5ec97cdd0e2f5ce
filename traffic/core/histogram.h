// SPDX-License-Identifier: BSD-3-Clause
//
// Times counted in buckets of 1/32 of their octave: a quantile is at most 3.2 % above the true one,
// in constant memory whatever the number of samples. Zeroed memory is an empty one.
#pragma once

#include "base/types.h"

enum {
	HISTOGRAM_SUB_BITS = 5,
	HISTOGRAM_OCTAVES = 40, // values above 2^40 ns (18 minutes) count as that
	HISTOGRAM_BUCKETS = (HISTOGRAM_OCTAVES - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS,
};

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t least;
	uint64_t most;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t value);

// Adds the samples of another.
void histogram_merge(struct histogram *h, const struct histogram *more);

// The largest value of the bucket in which the sample at `ppm` of the order lies (500000 is the
// median), never above the largest sample; 0 without samples.
uint64_t histogram_quantile(const struct histogram *h, uint32_t ppm);
