// SPDX-License-Identifier: BSD-3-Clause
//
// What another configuration asks of the ports of a running switch: nothing that the swap does not
// do, a device that is told something, or one that must be closed and opened again. Part of live.c.
#pragma once

#include <stdio.h>

#include "dataplane/dpdk/instance.h"

enum live_port_step {
	LIVE_PORT_STAYS,
	LIVE_PORT_REOPENS, // the device is closed, and opened as the new configuration says
	LIVE_PORT_CLOSES,  // admin down
};

struct live_port {
	enum live_port_step step;
	const char *why;   // knob that makes it reopen
	uint32_t mtu;      // that the open device must be told, 0: none
	bool software_pfc; // PFC begins, in software
};

// A switch as it would be.
struct live_next {
	const struct sw_config *config;
	const struct sw_profile *pf;
	const struct port *port; // as port_prepare() left them
	const struct pool_need *need;
	const char *path;
};

// What needs a restart, one line each on `errors`. 0 or -EINVAL.
int live_check_restart(const struct instance *in, const struct live_next *next, FILE *errors);

// What is to be done for a port of the switch. 0, or -EINVAL with a line on `errors`: it cannot be
// done.
int live_plan_port(const struct instance *in, const struct live_next *next, uint32_t port,
		   struct live_port *out, FILE *errors);

// The swap is done: gives the port what the configuration says. `from` is prepared for it and
// borrows that configuration.
void live_adopt_port(struct port *port, const struct port *from, const struct live_port *step);
