// SPDX-License-Identifier: BSD-3-Clause
//
// A run on several machines, each of which has an RDMA device, NIC or soft-RoCE: this machine's
// part in it. One thread does all of it: the device's completions, the job, and what ranks say to
// each other.
#pragma once

#include <signal.h>

#include "traffic/config.h"

// Does it, until `stop` at most; rank 0 prints the report. Returns the exit status.
int verbs_run(const struct traffic_config *config, const volatile sig_atomic_t *stop);
