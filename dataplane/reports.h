// SPDX-License-Identifier: BSD-3-Clause
//
// What the lcores report, answered: addresses are learned, punted ARP and ND frames are learned
// from and go back into the bridge, and silent destinations are solicited. Control thread only.
#pragma once

#include "dataplane/dpdk/worker.h"

// Answers every report that waits.
void reports_handle(struct workers *workers);

// The switch's own address as a source of solicitations: locally administered, made of its name.
void reports_own_mac(const char *switch_name, uint8_t out[6]);
