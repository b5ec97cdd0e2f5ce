// SPDX-License-Identifier: BSD-3-Clause
//
// What DPDK's own tool, dpdk-telemetry.py -f weft-NAME, reads of the switches of this process:
//
//	/weft/switches, /weft/lcores
//	/weft/stats,SWITCH
//	/weft/port,SWITCH:PORT and likewise /weft/queues, /weft/priorities, /weft/priority_groups
//
// SWITCH: may be left out when there is one. The rows are those of the control socket.
#pragma once

#include <event2/event.h>

#include "dataplane/dpdk/worker.h"

// Adds the commands, and answers them on the loop of `base`. 0 or -errno.
int telemetry_open(struct event_base *base, struct workers *workers);

// Who asks from now on is told that the switch ends. Harmless when not open.
void telemetry_close(void);
