// SPDX-License-Identifier: BSD-3-Clause
//
// Log-linear buckets: values below 32 have one each, above that 32 share an octave.
//
// A bucket's number is the octave and the five bits behind the highest, so that finding it takes no
// search; a quantile walks all of them, which only reports do.

#include "traffic/core/histogram.h"

static uint32_t bucket_of(uint64_t value)
{
	uint32_t shift;

	if (value >> HISTOGRAM_OCTAVES != 0)
		value = (1ull << HISTOGRAM_OCTAVES) - 1;
	if (value >> HISTOGRAM_SUB_BITS == 0)
		return (uint32_t)value;
	shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
	return ((shift + 1) << HISTOGRAM_SUB_BITS) +
	       (uint32_t)(value >> shift & ((1u << HISTOGRAM_SUB_BITS) - 1));
}

static uint64_t bucket_last(uint32_t bucket)
{
	const uint32_t octave = bucket >> HISTOGRAM_SUB_BITS;
	const uint64_t sub = bucket & ((1u << HISTOGRAM_SUB_BITS) - 1);

	if (octave == 0)
		return bucket;
	return (((1ull << HISTOGRAM_SUB_BITS) + sub + 1) << (octave - 1)) - 1;
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->least = h->count == 0 ? value : u64_min(h->least, value);
	h->most = u64_max(h->most, value);
	h->count++;
	h->sum += value;
	h->bucket[bucket_of(value)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *more)
{
	if (more->count == 0)
		return;
	h->least = h->count == 0 ? more->least : u64_min(h->least, more->least);
	h->most = u64_max(h->most, more->most);
	h->count += more->count;
	h->sum += more->sum;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += more->bucket[i];
}

uint64_t histogram_quantile(const struct histogram *h, uint32_t ppm)
{
	const uint64_t whole = h->count / 1000000, rest = h->count % 1000000;
	uint64_t below = whole * ppm + rest * ppm / 1000000;

	for (uint32_t i = 0; h->count != 0 && i < HISTOGRAM_BUCKETS; i++) {
		if (below < h->bucket[i])
			return u64_min(bucket_last(i), h->most);
		below -= h->bucket[i];
	}
	return h->most;
}
