// SPDX-License-Identifier: BSD-3-Clause
//
// What is known of a row of struct prio_stats on a port. Where the device does PFC itself only the
// device knows what it has sent and received; what it does not count is unknown, not 0, and how
// long a peer pauses it, it never tells.
#pragma once

#include "dataplane/core/stats.h"
#include "dataplane/dpdk/port_pfc.h"

struct prio_rows {
	bool is_device; // the device does PFC itself
	struct port_pfc_counters counters;
};

// Asks the device, if it is the one that knows.
void prio_rows_read(const struct port *port, struct prio_rows *out);

// Corrects *value, the switch's own, of one row; false when it is unknown.
bool prio_rows_value(const struct prio_rows *rows, uint32_t prio, const struct stat_info *row,
		     uint64_t *value);
