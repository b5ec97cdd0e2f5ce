// SPDX-License-Identifier: BSD-3-Clause
//
// The control thread: one event loop over the lcore's reports, the control sockets, timers and
// signals. Everything that is not forwarding happens here.
#pragma once

#include "dataplane/dpdk/worker.h"

struct agent;

struct agent_options {
	const char *run_dir;
	const char *state_dir;
};

// Opens the ports, restores addresses and listens, for every switch of the workers; its lcore runs.
// NULL when something is wrong for good, logged; then nothing is left behind.
struct agent *agent_open(struct workers *workers, const struct agent_options *options);

// Runs until SIGTERM or SIGINT.
void agent_run(struct agent *agent);

// Saves addresses, takes all links down and closes the ports; the lcores still run. Accepts NULL.
void agent_close(struct agent *agent);
