// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch forwards by, as JSON: routes, groups, neighbours, hash and turns. Read from the
// tables themselves, which the control thread alone writes. A plain bridge has empty lists.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/worker.h"

// The answer of /v1/route: all routes; with a network that one; with an address the row that
// packets to it take, neighbours and hosts included. NULL when `prefix` is neither.
json_t *routes_json(const struct instance *in, const char *prefix);

// The answer of /v1/group.
json_t *routes_json_groups(const struct instance *in);

// The answer of /v1/arp, both families; ports are those that the bridge knows.
json_t *routes_json_neighbors(struct workers *workers, struct instance *in);

// The answer of /v1/hash: what is set, and what could be.
json_t *routes_json_hash(const struct instance *in);

// The answer of /v1/turn.
json_t *routes_json_turns(const struct instance *in);
