// SPDX-License-Identifier: BSD-3-Clause
//
// Ports that share their interface with the kernel (steer = "roce"): puts the steering program of
// dataplane/xdp between the configuration and the AF_XDP driver, in step with the port's life.
//
// For other ports each function does nothing, except that an AF_XDP port first clears away the
// program that a killed switch has left. Control thread only.
#pragma once

#include <stdio.h>

#include "dataplane/dpdk/port.h"
#include "dataplane/xdp/steer.h"

// Checks the port's knobs. 0, or -EINVAL with the reason on `errors` ("FILE:LINE: ...").
int steering_check(const struct port *port, const char *path, FILE *errors);

// Before the port is opened: makes way on its interface and names the program to the driver. 0, or
// -errno, logged once per row of failures; may get better by itself.
int steering_prepare(struct port *port);

// Once the port is open: gives the program its rules. 0, or -errno, logged.
int steering_start(struct port *port);

// Once a second: follows the kernel's addresses.
void steering_refresh(struct port *port);

// True with the counters of a port that steers.
bool steering_read(const struct port *port, struct steer_counters *out);

// After the port is closed, or when it could not be opened.
void steering_stop(struct port *port);
