// SPDX-License-Identifier: BSD-3-Clause
//
// Keeps the ports of one switch as open as their devices allow: opens them, follows their carrier,
// closes what vanished and tries again with growing pauses. A port that comes back has its link,
// its counters and its place in the switch.
//
// Control thread only. A device is touched only while the lcore does not have it.
#pragma once

#include "dataplane/dpdk/worker.h"

struct port_retry {
	ns_t at;           // next attempt
	uint64_t pause_ns; // 0: none since the port was open
};

struct port_keeper {
	struct workers *workers;
	struct instance *in;
	struct port_retry *retry; // port_count
};

// First attempt at every port, so that what can never work is said at once: returns 0, or -errno
// when some port is wrong for good (-EINVAL, logged) or memory is short.
int port_keeper_start(struct port_keeper *keeper, struct workers *workers, struct instance *in);

// Looks at every port. Returns the ports whose link came up.
struct port_set port_keeper_poll(struct port_keeper *keeper, ns_t now);

// Takes the link of a port down and closes its device. The next look opens it again if its
// configuration says so then.
void port_keeper_close(struct port_keeper *keeper, uint32_t port);

// Gives another profile of the switch the rates of the wires that are up.
void port_keeper_adopt_rates(const struct port_keeper *keeper, struct sw_profile *pf);

// Whether a port generates or obeys PFC. One that is held instead needs no frames.
bool port_keeper_needs_pfc(const struct port_profile *pf);

// Tells the switch what the drivers have lost since the last time.
void port_keeper_count_lost(struct port_keeper *keeper);

// Once a second: lets shared ports follow the kernel's addresses.
void port_keeper_steer(struct port_keeper *keeper);

// All links down, all devices closed. Accepts a keeper that never started.
void port_keeper_stop(struct port_keeper *keeper);
