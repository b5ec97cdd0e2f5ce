// SPDX-License-Identifier: BSD-3-Clause
//
// PFC of a port's device: asks what the device lets pass, sets its own PFC up where that is used,
// and reads its counters then. The decision is pfc_path.c, the queues are device_plan.c's.
#pragma once

#include "dataplane/dpdk/port.h"

// The device is configured and stopped: asks it to let PFC frames pass, and decides. 0, or -EINVAL,
// logged, when the port must have PFC and cannot.
int port_pfc_ask(struct port *port, const struct rte_eth_dev_info *info, bool needs_pfc);

// Its queues are set up and it is not started yet: the device's own PFC of each. Nothing to do on
// other ports. As above.
int port_pfc_set_queues(struct port *port);

// It has started: what a start may have undone, and steering. As above.
int port_pfc_started(struct port *port);

// PFC frames by priority as a device counts them that makes and obeys them itself.
struct port_pfc_counters {
	bool rx_known[PRIO_COUNT]; // the device counts these
	bool tx_known[PRIO_COUNT];
	uint64_t rx[PRIO_COUNT];
	uint64_t tx[PRIO_COUNT];
};

// Reads them anew; all unknown where the device has none or is not there.
void port_pfc_read(const struct port *port, struct port_pfc_counters *out);
