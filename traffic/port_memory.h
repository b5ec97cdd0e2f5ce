// SPDX-License-Identifier: BSD-3-Clause
//
// How many frames a port may hold, and the memory for them. The pool of a device is never the
// limit: it has room for all that its rings can hold and what is on its way through the endpoint,
// so that running out of it cannot lose a frame.
#pragma once

#include <rte_mbuf.h>

#include "traffic/core/roce.h"

// Any frame that an endpoint makes fits in one piece.
enum { PORT_MBUF_ROOM = RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(ROCE_FRAME_MAX, 64) };

// Frames that the pool of a device holds: its rings', a burst received and one to be sent.
uint32_t port_mbuf_count(const char *device);
