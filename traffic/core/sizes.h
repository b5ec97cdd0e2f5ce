// SPDX-License-Identifier: BSD-3-Clause
//
// A distribution of message sizes: points of its cumulative curve, between which sizes are evenly
// spread, as traffic generators of data centre simulations have them. Of the first point a whole
// share is of that very size.
#pragma once

#include "base/rng.h"

enum {
	SIZES_MAX = 1024,         // points
	SIZES_WHOLE = 1000000000, // all messages
	SIZES_BYTES_MAX = 1 << 30,
};

struct sizes_point {
	uint64_t bytes;
	uint32_t share; // of messages that are not larger, in parts of SIZES_WHOLE
};

// Zeroed: no points.
struct sizes {
	struct sizes_point point[SIZES_MAX];
	uint32_t count;
};

// Adds the next point. NULL, or what is wrong with it (static text); then it is not added.
const char *sizes_add(struct sizes *sizes, uint64_t bytes, uint32_t share);

// NULL when the points are a whole distribution, or what is wrong.
const char *sizes_check(const struct sizes *sizes);

// The size below which `share` of the messages are, at least 1. Of a whole distribution, and a
// share below SIZES_WHOLE.
uint64_t sizes_at(const struct sizes *sizes, uint32_t share);

uint64_t sizes_draw(const struct sizes *sizes, struct rng *rng);
