// SPDX-License-Identifier: BSD-3-Clause
//
// What the switch between the hosts has counted, asked for on its control socket before and after a
// run: what hosts cannot know of.
#pragma once

#include "base/types.h"

enum { SWITCH_REASONS_MAX = 64, SWITCH_REASON_BYTES = 48 };

struct switch_reason {
	char name[SWITCH_REASON_BYTES]; // a key of schema/drops.def
	uint64_t packets;
};

struct switch_counts {
	char boot_id[24]; // another one: it was started anew, and counts from zero
	uint64_t drops;
	uint64_t lossless_drops; // in lossless priority groups, and in the queue of the data
	uint64_t xoffs;          // PFC frames that it sent for the priority of the data
	uint64_t ce_marked;
	uint64_t headroom_bytes; // most that a priority group has used, of the user's watermarks
	struct switch_reason reason[SWITCH_REASONS_MAX];
	uint32_t reason_count;
};

// Asks the switch of this name, or the one behind the socket at this path (with a slash in it). 0,
// or -errno after a line on stderr.
int switch_counts_read(const char *name, prio_t prio, struct switch_counts *out);

// What came to `before` until `now`; a maximum is that of `now`.
void switch_counts_since(const struct switch_counts *before, const struct switch_counts *now,
			 struct switch_counts *out);
