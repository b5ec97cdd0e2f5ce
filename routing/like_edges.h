// SPDX-License-Identifier: BSD-3-Clause
//
// Edges that look alike to the rest of a fabric: those of one switch, and those of switches that
// have the same parents, by links of the same weight, and nothing below them. The leaves of a pod
// that has lost nothing are one class.
#pragma once

#include "routing/order.h"

struct like_edges {
	uint32_t class_count;
	uint32_t *first; // [class_count] edge, the lowest of its class; classes are in that order
	uint32_t *next;  // [edge_count] edge of the same class, ascending, or TOPO_NONE
};

// `up_far` is order->up_far with `nowhere` in place of what is lost. 0, or -ENOMEM.
int like_edges_find(const struct order *order, const uint16_t *up_far, uint16_t nowhere,
		    struct arena *keep, struct like_edges *like);
