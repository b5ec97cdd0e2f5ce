// SPDX-License-Identifier: BSD-3-Clause
//
// Has a device put what it receives into a queue per priority, by rte_flow. Needed where the device
// does PFC itself: a receive queue must hold one lossless group and nothing else, by the fields
// that the switch classifies by.
#pragma once

#include "dataplane/dpdk/device_plan.h"

// The device has started. 0, or -errno when it does not take some rule; those that it took end with
// the device.
int port_steer(uint16_t ethdev, const struct device_plan *plan);
