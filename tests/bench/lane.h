// SPDX-License-Identifier: BSD-3-Clause
//
// One switch between two DPDK ports: a pcap file that never ends in front, a null device behind,
// and the shell's own receive and transmit functions between them and the core. The loop is the
// shell's too (dataplane/dpdk/worker.c), less what a benchmark has not: control messages and
// back-off.
#pragma once

#include "base/pacer.h"
#include "dataplane/dpdk/clock.h"
#include "dataplane/dpdk/pktio.h"
#include "tests/bench/stand.h"

struct lane {
	const struct variant *variant;
	struct sw *sw;
	struct clock clock;
	struct rte_mempool *pool;
	struct pktio io[2];   // by port: source, sink
	struct taps taps;     // none
	uint16_t fill_ethdev; // source of what is to stand in a paused queue
	uint64_t sent;
	uint64_t max_gap_ns;
	ns_t visited;
	ns_t pause_at; // next PFC frame of the sink's peer
	// Paced variants run on a time of their own, in which frames arrive at exactly the rate at
	// which the sink sends them, so that as many packets as were filled in stand throughout.
	struct pacer_profile wire;
	struct pacer_state arrival;
};

// Builds the switch and fills its queues. `source` and `sink` are started ports; `fill` is one
// whose frames are RoCE. False, with a message, when the switch does not come into the state
// wanted.
bool lane_open(struct lane *lane, const struct variant *variant, struct rte_mempool *pool,
	       uint16_t source, uint16_t sink, uint16_t fill);

// Forwards for `ms` milliseconds of this thread's processor time; returns the time it took in
// nanoseconds and sets the packets sent.
uint64_t lane_run(struct lane *lane, uint64_t ms, uint64_t *packets);

// Whether the switch is still as it should be.
bool lane_check(struct lane *lane);
