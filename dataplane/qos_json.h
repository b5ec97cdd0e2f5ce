// SPDX-License-Identifier: BSD-3-Clause
//
// Quality of service as JSON: what the profile in use says of a queue and of a priority group, as
// part of the answer of /v1/stats, and the tables that a user configures by name, as /v1/qos.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/instance.h"
#include "dataplane/dpdk/snapshot.h"

// Adds the limits, marking law and shaper of a queue, and the priorities whose PFC pauses it.
// limit_bytes is the limit of lossy traffic as of the snapshot, null where there is none.
void qos_json_queue(json_t *object, const struct snapshot *snapshot, uint32_t port, uint32_t queue);

// Adds the threshold of a priority group, and the priorities that announce its XOFF.
void qos_json_group(json_t *object, const struct port_profile *port, uint32_t group);

// The answer of /v1/qos: "tables" has the rows of the configuration as they are in the file,
// "maps" the maps in use, built-in ones included, "ports" the names that each port, queue and
// priority group refers to, "vlans" the members of each VLAN.
json_t *qos_json(const struct instance *in);
