// SPDX-License-Identifier: BSD-3-Clause
//
// Weights of a group from shares of any size. Switches have few buckets, so weights are small: the
// smallest whole numbers that are right to a part in 256, or to a part in 128 of the largest.
#pragma once

#include "routing/plan.h"

enum { SHARE_WEIGHT_MAX = 128 };

#define SHARE_VALUE_MAX ((uint64_t)1 << 62)

struct share {
	uint16_t link;  // local
	uint64_t value; // 1..SHARE_VALUE_MAX
};

// `count` hops, the weights as above.
void share_hops(const struct share *shares, uint32_t count, struct plan_hop *hops);

// Takes the common divisor out of the weights.
void share_reduce(struct plan_hop *hops, uint32_t count);
