// SPDX-License-Identifier: BSD-3-Clause
//
// A workload by name as the flows or the collective of a job, and what line rates allow of it.
//
// The ceiling is that of the network as it was asked for: line rates of hosts and headers count,
// latency, contention and acknowledgements do not.
#pragma once

#include "traffic/config.h"
#include "traffic/core/job.h"

struct workload {
	struct job_config job;
	struct job_flow *flow;       // owned
	struct job_arrival *arrival; // of all flows, one behind the other; owned. NULL: none
	uint32_t arrival_count;
	uint32_t host_count;
};

// The workload of a configuration that options_parse() has judged. 0, -ENOMEM, or -EINVAL after a
// line on stderr.
int workload_make(const struct traffic_config *config, uint32_t host_count, struct workload *out);

// Times of flows count from `now` on.
void workload_begin(struct workload *workload, ns_t now);

void workload_free(struct workload *workload);

// Appends the queue pairs of one flow, for which there is room in workload->flow. `dst` is where
// its data goes: a READ is posted there.
void workload_add_flow(const struct traffic_config *config, uint32_t src, uint32_t dst,
		       struct workload *workload);

// Bytes on the line of a message: all headers of its packets, and 24 bytes of FCS, preamble and gap
// for each.
double workload_line_bytes(const struct traffic_config *config, enum rc_op op, uint64_t bytes);

// Payload of a message of `bytes` as a part of its bytes on the line.
double workload_efficiency(const struct traffic_config *config, enum rc_op op, uint64_t bytes);

// Seconds that the port which is the last to be done takes for one bit of each of its queue pairs.
double workload_busiest(const struct traffic_config *config, const struct workload *workload);

// Payload bits per second of all flows together, or of the busiest port of a collective, that the
// line rates allow.
double workload_ceiling_bps(const struct traffic_config *config, const struct workload *workload);

// Nanoseconds of one operation of a collective at that rate.
double workload_ideal_ns(const struct traffic_config *config, const struct workload *workload);
