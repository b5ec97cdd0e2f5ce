// SPDX-License-Identifier: BSD-3-Clause
//
// Congestion of RoCE as JSON: which flows leave by which port, and who tells whom to slow down, as
// the switch saw it pass. On the control thread, which asks the lcores; what they keep is bounded
// (ecn/roce_flows.h, ecn/cnp.c), so flows that send little and pairs with few CNPs may be missing.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/worker.h"

// The answer of /v1/roce: the time of the look, the listed flows, those with most bytes first, each
// with the counters of FLOW_STAT in schema/stats.def since `since_ns`; `unlisted_marked_packets` of
// flows that are not listed (any more); and `cnp_pairs`, the pairs of addresses with the most CNPs
// first, whose `count` is never below the truth, and never more than `error` above it (ecn/ecn.h).
// NULL when memory is short.
json_t *roce_json(struct workers *workers, struct instance *in);
