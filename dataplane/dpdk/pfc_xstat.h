// SPDX-License-Identifier: BSD-3-Clause
//
// Which of a device's own statistics count PFC frames. There is no common name for them: drivers
// call them rx_priority3_xoff_packets, mac_tx_pfc_pri3_pkt_num, rx_prio3_pause and the like.
#pragma once

#include "base/types.h"

struct pfc_xstat {
	bool received;
	prio_t prio;
};

// False when the name is of anything else. Several may count frames of one priority: XOFF and XON.
bool pfc_xstat_parse(const char *name, struct pfc_xstat *out);
