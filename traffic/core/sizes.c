// SPDX-License-Identifier: BSD-3-Clause
//
// Points of a curve, and the curve between them.
//
// A share is looked up by halves. Two points of one size are a step; two of one share are a gap, in
// which there are no messages.

#include "traffic/core/sizes.h"

const char *sizes_add(struct sizes *sizes, uint64_t bytes, uint32_t share)
{
	const struct sizes_point *last = &sizes->point[sizes->count == 0 ? 0 : sizes->count - 1];

	if (sizes->count == SIZES_MAX)
		return "more than 1024 points";
	if (bytes > SIZES_BYTES_MAX)
		return "sizes are at most 1 GiB";
	if (share > SIZES_WHOLE)
		return "percentages are at most 100";
	if (last->share == SIZES_WHOLE)
		return "nothing comes behind 100 percent";
	if (bytes < last->bytes)
		return "sizes must not decrease";
	if (share < last->share)
		return "percentages must not decrease";
	sizes->point[sizes->count++] = (struct sizes_point){ bytes, share };
	return NULL;
}

const char *sizes_check(const struct sizes *sizes)
{
	const struct sizes_point *last = &sizes->point[sizes->count == 0 ? 0 : sizes->count - 1];

	if (sizes->count == 0)
		return "no points";
	if (last->share != SIZES_WHOLE)
		return "the last percentage is not 100";
	return last->bytes == 0 ? "no size above 0" : NULL;
}

uint64_t sizes_at(const struct sizes *sizes, uint32_t share)
{
	const struct sizes_point *point = sizes->point;
	uint32_t low = 0, high = sizes->count - 1;

	// The first whose share is larger.
	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (point[middle].share > share)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return u64_max(point[0].bytes, 1);
	return u64_max(1, point[low - 1].bytes + (share - point[low - 1].share) *
							 (point[low].bytes - point[low - 1].bytes) /
							 (point[low].share - point[low - 1].share));
}

uint64_t sizes_draw(const struct sizes *sizes, struct rng *rng)
{
	return sizes_at(sizes, rng_below(rng, SIZES_WHOLE));
}
