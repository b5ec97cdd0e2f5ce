// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that a driver's interrupt handler takes away waits for the lcores. A memif peer that
// leaves is noticed by the EAL's interrupt thread, which unmaps the peer's rings at once (DPDK
// 22.11), although an lcore that was preempted in the middle of a burst still reads them.
#pragma once

#include "dataplane/dpdk/worker.h"

// From now on munmap() in the EAL's interrupt thread waits until every lcore that was in a
// visit has left it. The driver has marked the port as disconnected by then, so no later visit
// looks there.
void unmap_waits_for(const struct workers *workers);

// Waits until the interrupt thread has done with such memory, at most 5 s: before a port is closed,
// lest driver and thread both give it back. Of the control thread.
void unmap_settle(void);
