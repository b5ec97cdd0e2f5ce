// SPDX-License-Identifier: BSD-3-Clause
//
// LAGs of a switch as JSON: the part of the answer to GET /v1/stats that weft show lag reads. On
// the control thread; what it reads was copied between two polls, so that a LAG and its members
// agree.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/snapshot.h"

// A list, in the order of the configuration: name, mode, up, min_links and members; of these name,
// link, selected and, with LACP, what its machine and its partner say.
json_t *lags_json(const struct snapshot *snapshot);
