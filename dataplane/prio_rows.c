// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a priority, told apart by the member that they stand for: what the device counts, what
// only the peer's pauses could tell, and what the switch itself does in either case.

#include "dataplane/prio_rows.h"

#include <stddef.h>

void prio_rows_read(const struct port *port, struct prio_rows *out)
{
	out->is_device = port->pfc == PFC_PATH_DEVICE;
	if (out->is_device)
		port_pfc_read(port, &out->counters);
}

bool prio_rows_value(const struct prio_rows *rows, uint32_t prio, const struct stat_info *row,
		     uint64_t *value)
{
	static const size_t of_peer[] = {
		offsetof(struct prio_stats, rx_pause_duration_us),
		offsetof(struct prio_stats, rx_pause_transitions),
		offsetof(struct prio_stats, on2off_rx_pkts),
		offsetof(struct prio_stats, rx_paused),
		offsetof(struct prio_stats, rx_pause_recent_us),
		offsetof(struct prio_stats, rx_pause_recent_at_ns),
	};

	if (!rows->is_device)
		return true;
	if (row->offset == offsetof(struct prio_stats, pfc_rx_pkts)) {
		*value = rows->counters.rx[prio];
		return rows->counters.rx_known[prio];
	}
	if (row->offset == offsetof(struct prio_stats, pfc_tx_pkts)) {
		*value = rows->counters.tx[prio];
		return rows->counters.tx_known[prio];
	}
	for (size_t i = 0; i < sizeof(of_peer) / sizeof(of_peer[0]); i++) {
		if (row->offset == of_peer[i])
			return false;
	}
	return true;
}
