// SPDX-License-Identifier: BSD-3-Clause
//
// PFC storms on the bench: peers that pause priorities of their ports again and again, in front of
// a clock that goes in steps.
#pragma once

#include "tests/rig/rig.h"

enum {
	STORM_PORTS = 32,
	STORM_POLL = 100, // times of storm_config(), in milliseconds
	STORM_DETECTION = 200,
	STORM_RESTORATION = 400,
};

#define STORM_MS 1000000ull

// setup_kvm() with a watchdog on queues 3 and 4 of every port.
struct sw_config *storm_config(uint32_t ports, enum watchdog_action action);

// Zero is no storm; ports get PFC for `enable` with the longest timer every `period_ns`, 0: soon
// enough to leave no gap.
struct storm {
	uint8_t enable[STORM_PORTS];
	uint64_t period_ns;
	ns_t next[STORM_PORTS];
};

// Lets `step_ns` pass; frames go out when they are due.
void storm_step(struct rig *rig, struct storm *storm, uint64_t step_ns);

// Ends the storm of a port at once, with an XON.
void storm_stop(struct rig *rig, struct storm *storm, uint32_t port);

// Steps of a millisecond until queue `queue` of `port` is stormed or is not any more. Returns the
// time that took, to the millisecond; aborts when it takes more than `limit_ms`.
uint64_t storm_wait(struct rig *rig, struct storm *storm, uint32_t port, uint32_t queue,
		    bool stormed, uint32_t limit_ms);
