// SPDX-License-Identifier: BSD-3-Clause
//
// LLDP of a switch as JSON: of each port what it says, who is at the other end, and how the two
// differ in what DCBX says.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/instance.h"

// The answer of /v1/lldp: a new reference, or NULL when memory is short.
json_t *lldp_json(const struct instance *in);

// Who is at the other end of a port, for weft show fabric links: the first neighbour and its port,
// or null.
json_t *lldp_json_seen(const struct instance *in, port_t port);
