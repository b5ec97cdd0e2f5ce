// SPDX-License-Identifier: BSD-3-Clause
//
// Congestion notifications as JSON: who tells whom to slow down, as the switch saw it pass. On the
// control thread, which asks the lcores; what they count is bounded (ecn/cnp.c), so pairs with few
// CNPs may be missing.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/worker.h"

// The answer of /v1/cnp: the time of the look, and the pairs of addresses with the most CNPs first.
// `count` is never below the truth, and never more than `error` above it (ecn/ecn.h).
json_t *cnp_json(struct workers *workers, struct instance *in);
