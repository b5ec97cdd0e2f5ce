// SPDX-License-Identifier: BSD-3-Clause
//
// Which queue of a device is for what, on a port whose PFC is the device's own. One transmit queue
// for each switch queue that PFC pauses and one receive queue for each lossless priority group,
// besides queue 0 of either side for all the rest: what the device pauses, or what is left in its
// ring, is then one class and no other.
//
// Pure: a function of the profile.
#pragma once

#include "dataplane/core/profile.h"

enum {
	DEVICE_QUEUE_REST, // index of the queue of everything that PFC does not touch
	DEVICE_QUEUE_MAX = PRIO_COUNT + 1,
};

struct device_plan {
	uint8_t tx_count; // queues, DEVICE_QUEUE_REST included
	uint8_t rx_count;
	uint8_t tx_prio[DEVICE_QUEUE_MAX]; // whose PFC pauses transmit queue i; [0] has none
	uint8_t rx_prio[DEVICE_QUEUE_MAX]; // whose PFC keeps receive queue i; [0] has none
	uint8_t tx_queue[QUEUE_COUNT];     // transmit queue of each switch queue
	// The receive queue of a frame that is classified by its ...
	uint8_t dscp_queue[64];
	uint8_t pcp_queue[PRIO_COUNT];
	uint8_t ethertype_count;
	struct {
		uint16_t ethertype;
		uint8_t queue;
	} ethertype[8];
	bool by_dscp; // IP packets go by DSCP, all others by PCP; false: all by PCP
	// What cannot be had from a device:
	bool shared_group; // two priorities stand for one group, and a receive queue has one
	bool strays;       // default_tc or an access list makes frames lossless that do not say so
};

void device_plan(const struct sw_profile *sw, port_t port, struct device_plan *plan);
