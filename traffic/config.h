// SPDX-License-Identifier: BSD-3-Clause
//
// What a run is asked to be: one field for each knob of schema/traffic_run.def and
// schema/dcqcn.def, in base units. The command line (options.h) and scenario files fill it.
#pragma once

#include "ecn/dcqcn.h"
#include "schema/config.h"
#include "traffic/spec.h"

enum {
	TRAFFIC_DEVICE_MAX = 64,
	TRAFFIC_RANK_MAX = 256, // hosts of one process
	TRAFFIC_TABLE_COUNT = 5,
};

// Words of the knobs, in order.
enum traffic_workload {
	TRAFFIC_WRITE,
	TRAFFIC_READ,
	TRAFFIC_SEND,
	TRAFFIC_INCAST,
	TRAFFIC_VICTIM,
	TRAFFIC_PERMUTATION,
	TRAFFIC_PERFTEST,
	TRAFFIC_MESH,
	TRAFFIC_TRACE,
	TRAFFIC_REPLAY,
	TRAFFIC_ALL_TO_ALL,
	TRAFFIC_ALL_REDUCE,
	TRAFFIC_ALL_GATHER,
	TRAFFIC_REDUCE_SCATTER,
	TRAFFIC_MOE,
};
enum { TRAFFIC_RING, TRAFFIC_TREE };
enum { TRAFFIC_DCBX_OFF, TRAFFIC_DCBX_ANNOUNCE, TRAFFIC_DCBX_WILLING };

#define RUN_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct run_config {
	uint32_t line; // in the file; 0: not from one
#include "schema/traffic_run.def"
};

#define DEVICE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct device_config {
	uint32_t line;
#include "schema/traffic_run.def"
};

#define RANK_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct rank_config {
	uint32_t line;
#include "schema/traffic_run.def"
};

#define TROUBLE_KNOB(key, kind, ...) CONFIG_FIELD(kind, key);
struct trouble_config {
	uint32_t line;
#include "schema/traffic_run.def"
};

struct traffic_config {
	struct run_config run;
	struct dcqcn_config dcqcn[1];
	uint32_t dcqcn_count;
	struct device_config device[TRAFFIC_DEVICE_MAX];
	uint32_t device_count;
	struct rank_config rank[TRAFFIC_RANK_MAX];
	uint32_t rank_count;
	struct trouble_config trouble[TRAFFIC_RANK_MAX];
	uint32_t trouble_count;
};

// The top level first. Lists of a file and repeated options have the names of these tables.
extern const struct config_table traffic_tables[TRAFFIC_TABLE_COUNT];

// A configuration of nothing but defaults.
void traffic_config_init(struct traffic_config *config);

// True when the hosts have RDMA devices, one on each machine.
static inline bool traffic_has_verbs(const struct traffic_config *config)
{
	return config->run.verbs[0] != '\0';
}

// Hosts that `hosts` and the devices stand for, or that are on all machines together; 0 when a spec
// is malformed (spec.h).
uint32_t traffic_host_count(const struct traffic_config *config);

static inline bool traffic_is_collective(enum traffic_workload workload)
{
	return workload >= TRAFFIC_ALL_TO_ALL;
}

// Messages are due at times of their own.
static inline bool traffic_is_open(const struct run_config *run)
{
	return run->load != CONFIG_UNSET || run->workload == TRAFFIC_TRACE;
}

// What is a host's own; NULL: nothing.
const struct rank_config *traffic_rank(const struct traffic_config *config, uint32_t rank);

// Line rate of a host.
uint64_t traffic_host_bps(const struct traffic_config *config, uint32_t rank);

// The DPDK device of a host (spec.h), which there is.
void traffic_host_device(const struct traffic_config *config, uint32_t rank, char out[SPEC_BYTES]);

// What is wrong with a host on purpose; NULL: nothing.
const struct trouble_config *traffic_trouble(const struct traffic_config *config, uint32_t rank);
