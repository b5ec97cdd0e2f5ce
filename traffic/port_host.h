// SPDX-License-Identifier: BSD-3-Clause
//
// A RoCE host on a DPDK port: carries frames between its endpoint and the driver, and between the
// driver and the kernel where that has a side of the port.
// One queue each way. A frame that the driver does not take is kept and offered again, so that none
// is lost in here; what waits in the driver's ring is beyond recall, as with a NIC.
#pragma once

#include <signal.h>

#include <rte_mbuf.h>

#include "traffic/clock.h"
#include "traffic/core/endpoint.h"
#include "traffic/kernel_side.h"
#include "traffic/spec.h"

enum { PORT_HOST_BURST = 32, PORT_HOST_TX_BURST = 8 };

// How long a link may be away while the job runs.
enum { PORT_HOST_DOWN_NS = 1000000000 };

struct port_host {
	struct endpoint_profile profile;
	struct endpoint_state *endpoint;
	struct kernel_side *kernel; // NULL: none
	uint16_t ethdev;
	bool open;
	bool started;
	char device[SPEC_BYTES];
	struct rte_mempool *pool;
	struct rte_mbuf *pending[PORT_HOST_TX_BURST]; // built, not yet taken by the driver
	uint32_t pending_at;
	uint32_t pending_count;
	uint32_t one_by_one; // frames that are still to be built one at a time
	bool down;           // no link, when it was last looked at
	ns_t down_since;
	uint64_t unreadable; // frames in pieces that could not be put together
};

// Opens the ports of `count` hosts, whose devices are known. 0, or -errno after a line on stderr.
int port_hosts_open(struct port_host *host, uint32_t count);

// Waits until all have a link, starting again what cannot start yet (a memif client whose switch
// does not listen). 0; -ENOLINK, or -EINTR when *stop became set, after lines that name those
// without.
int port_hosts_wait(struct port_host *host, uint32_t count, uint64_t timeout_ns,
		    const volatile sig_atomic_t *stop);

// Looks at the links. 0, or -ENOLINK after lines that name those without when one has been away for
// PORT_HOST_DOWN_NS. Frames of a host without a link are lost, so that its timers run on.
int port_hosts_check(struct port_host *host, uint32_t count, ns_t now);

// Receives what has come and returns how many frames.
uint32_t port_host_receive(struct port_host *host, ns_t now);

// Sends what may leave, a burst at most, and returns how many frames went.
uint32_t port_host_transmit(struct port_host *host, ns_t now);

void port_hosts_close(struct port_host *host, uint32_t count);

// Starts the DPDK environment for these devices and so many bytes of memory; 0: what they need. 0,
// or -errno after a line on stderr.
int port_hosts_start_dpdk(const struct port_host *host, uint32_t count, uint64_t memory_bytes);
void port_hosts_stop_dpdk(void);
