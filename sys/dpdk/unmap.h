// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that a driver's interrupt handler takes away waits for those who poll. A memif peer that
// leaves is noticed by the EAL's interrupt thread, which unmaps the peer's rings at once (DPDK
// 22.11), although a thread that was preempted in the middle of a burst still reads them. Why it is
// done like this: docs/adr/0005.
#pragma once

#include <stdint.h>

enum { POLLER_MAX = 64 };

// A thread that polls ports, visit by visit. It costs it two stores each.
struct poller {
	uint32_t turns; // the thread: rw, others: ro; odd in a visit
};

// Begins or ends a visit. What comes behind the beginning stays there: munmap() fences for both.
static inline void poller_turn(struct poller *poller)
{
	__atomic_store_n(&poller->turns, poller->turns + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// From now on munmap() in the EAL's interrupt thread waits until this thread has left the visit
// that it was in. The driver has marked the port as disconnected by then, so no later visit looks
// there. POLLER_MAX threads at most; they are to be forgotten before their memory goes. Of one
// thread, before the poller's first visit.
void unmap_waits_for(const struct poller *poller);
void unmap_forget_all(void);
