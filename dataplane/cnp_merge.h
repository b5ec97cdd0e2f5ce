// SPDX-License-Identifier: BSD-3-Clause
//
// CNPs per pair of addresses of a whole switch, from the tables that its lcores keep. Between the
// copy that lcores give of their tables (dpdk/snapshot.h) and the answer in JSON (roce_json.h).
// Invariant: the bounds of a single table hold for the whole.
#pragma once

#include "dataplane/core/profile.h"
#include "ecn/ecn.h"

enum { CNP_PAIRS_MAX = LCORE_MAX * CNP_FLOW_COUNT };

struct cnp_pairs {
	uint32_t count;
	struct cnp_flow pair[CNP_PAIRS_MAX];
};

// Every pair that is in one of `count` (at most LCORE_MAX) tables, those with most CNPs first. As
// in each table `count - error` never exceeds the truth and `count` is never below it.
void cnp_merge(const struct cnp_flows *tables, uint32_t count, struct cnp_pairs *out);
