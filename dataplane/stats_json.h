// SPDX-License-Identifier: BSD-3-Clause
//
// What a switch knows as JSON. Counters are written by walking the descriptors of schema/stats.def,
// so a new row appears here by itself, under its key.
#pragma once

#include <jansson.h>

#include "dataplane/dpdk/worker.h"

// The answer of /v1/stats, from snapshots taken on the lcore: a new reference, or NULL when memory
// is short.
json_t *stats_json(struct workers *workers, struct instance *in, enum watermark_kind watermark);

// What it has about one port, without the rest.
json_t *stats_json_port(struct workers *workers, struct instance *in, port_t port);

// The answer of /v1/mac.
json_t *stats_json_macs(struct workers *workers, struct instance *in);

// The answer of /v1/acl.
json_t *stats_json_acl(struct workers *workers, struct instance *in);

// The answer of /v1/lcore.
json_t *stats_json_lcores(struct workers *workers);

// The answer of /v1/driver: the driver table.
json_t *stats_json_drivers(void);
