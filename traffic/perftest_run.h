// SPDX-License-Identifier: BSD-3-Clause
//
// The workload "perftest": one host as the peer of ib_write_bw, ib_read_bw or ib_send_bw on another
// machine, as its client or its server. One queue pair, one way, IPv4.
#pragma once

#include <signal.h>

#include "traffic/config.h"

// Runs it and prints perftest's table, or JSON. The exit status of the process: 0, 1 when the
// session failed, 2 when it could not even begin; a line on stderr tells why.
int perftest_run(const struct traffic_config *config, const volatile sig_atomic_t *stop);
