// SPDX-License-Identifier: BSD-3-Clause
//
// Workloads in which messages are due at times of their own, whatever the network does: as a
// Poisson process of a stated load, or as a trace says. All of them are known before the run, so
// that the same seed is the same run.
//
// Ideal completion time of a message: its bytes on the line, headers included, at the rate of the
// slower of both hosts, and a round trip of the empty network (knob `rtt`).
#pragma once

#include "traffic/workload.h"

// Gives the flows of the workload arrivals at `load`, of `size` or of the distribution in `sizes`.
// 0, -ENOMEM, or -EINVAL or -errno after a line on stderr.
int arrivals_poisson(const struct traffic_config *config, struct workload *workload);

// Makes the flows of a trace, one for each src and dst in it, and their arrivals. Likewise.
int arrivals_trace(const struct traffic_config *config, struct workload *workload);

// Payload bits per second of all flows if the port with most bytes sent without a pause.
double arrivals_ceiling_bps(const struct traffic_config *config, const struct workload *workload);
