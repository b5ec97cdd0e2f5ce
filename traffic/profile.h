// SPDX-License-Identifier: BSD-3-Clause
//
// What a host of a run is, from its configuration: its addresses, line, priorities, transport, and
// what is wrong with it on purpose. The last step from knobs to what the core takes; everything is
// a function of the configuration and the number of the host.
#pragma once

#include "traffic/core/endpoint.h"
#include "traffic/workload.h"

enum {
	PROFILE_QP_BASE = 0x11, // of soft-RoCE, for the first queue pair
	PROFILE_CNP_DSCP = 48,
	PROFILE_CNP_PRIO = 6,
};

// The profile of a host with so many queue pairs, whose storm has not begun. `crc` is what the
// processor can do.
void profile_make(const struct traffic_config *config, const struct workload *workload,
		  uint32_t rank, uint32_t qp_count, enum roce_crc crc,
		  struct endpoint_profile *out);

// The job begins: times of a storm count from here.
void profile_begin(const struct traffic_config *config, uint32_t rank, ns_t now,
		   struct endpoint_profile *pf);

// The address of a host: `ip` of the configuration and so many more.
struct ip_prefix profile_address(const struct traffic_config *config, uint32_t rank);
