// SPDX-License-Identifier: BSD-3-Clause
//
// A RoCE host on a DPDK port: carries frames between its endpoint and the driver, and between the
// driver and the kernel where that has a side of the port.
// One queue each way. A frame that the driver does not take is kept and offered again, so that none
// is lost in here; what waits in the driver's ring is beyond recall, as with a NIC.
#pragma once

#include <signal.h>

#include <rte_mbuf.h>

#include "sys/dpdk/unmap.h"
#include "traffic/clock.h"
#include "traffic/core/endpoint.h"
#include "traffic/core/replay.h"
#include "traffic/kernel_side.h"
#include "traffic/spec.h"

enum { PORT_HOST_BURST = 32, PORT_HOST_TX_BURST = 32 };

// A longer time between two visits was none of a healthy machine's: the process was not let run.
enum { PORT_HOST_AWAY_NS = 1000000 };

// How long a link may be away while the job runs.
enum { PORT_HOST_DOWN_NS = 1000000000 };

struct port_host {
	struct endpoint_profile profile;
	struct endpoint_state *endpoint;
	struct kernel_side *kernel; // NULL: none
	struct replay_tally *tally; // of frames that are not the endpoint's; NULL: none
	uint16_t ethdev;
	bool open;
	bool started;
	char device[SPEC_BYTES];
	struct rte_mempool *pool;
	struct rte_mbuf *pending; // built, not yet taken by the driver; NULL: none
	bool down;                // no link, when it was last looked at
	ns_t down_since;
	uint64_t unreadable; // frames in pieces that could not be put together
};

// Of the thread that polls the ports.
struct port_visits {
	struct poller poller;
	ns_t begun;          // the last one
	uint64_t starved_ns; // between visits, beyond PORT_HOST_AWAY_NS each time
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

// Around all that looks at the ports. When the thread did not run for a while, the timers of the
// hosts wait for so much longer: answers may have come that it has not seen.
void port_visit_begin(struct port_visits *visits, struct port_host *host, uint32_t count, ns_t now);
void port_visit_end(struct port_visits *visits);

// The hosts are about to go, and tell their switch so with the next frame.
void port_hosts_leave(struct port_host *host, uint32_t count);

// Receives what has come and returns how many frames.
uint32_t port_host_receive(struct port_host *host, const struct clock *clock);

// Sends what may leave, a burst at most, and returns how many frames moved. Between any two it
// receives, so that at most one frame that is paused leaves behind the frame that pauses it.
uint32_t port_host_transmit(struct port_host *host, const struct clock *clock);

// After a round in which so many frames moved: gives way to others when there was none, and sleeps
// when there has been none for long. `idle` is the caller's, 0 in the beginning.
void port_hosts_give_way(uint32_t moved, uint32_t *idle);

void port_hosts_close(struct port_host *host, uint32_t count);

// Whether the ports can be made as far as files go. 0, or -errno after a line on stderr that names
// the one that cannot: the driver's own line would not.
int port_hosts_check_paths(const struct port_host *host, uint32_t count);

// Starts the DPDK environment for these devices and so many bytes of memory; 0: what they need. 0,
// or -errno after a line on stderr.
int port_hosts_start_dpdk(const struct port_host *host, uint32_t count, uint64_t memory_bytes);
void port_hosts_stop_dpdk(void);
