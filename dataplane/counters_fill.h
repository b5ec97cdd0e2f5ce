// SPDX-License-Identifier: BSD-3-Clause
//
// Snapshots of a switch as the one array of numbers that its fabric manager gets
// (sys/counters_packed.h). Pure: what a core counts stands in structs of the same rows in the same
// order, so it is copied object by object; states are looked up in the profile.
#pragma once

#include "dataplane/dpdk/snapshot.h"

// Fills the rows of the switch, its pools and `port_count` ports. Peaks of queues come from `peak`,
// a snapshot of watermarks that are cleared with every report. Rows that a snapshot does not know
// (devices, their PFC) stay as they are.
void counters_fill(const struct snapshot *snapshot, const struct snapshot *peak,
		   uint32_t port_count, uint64_t *values);
