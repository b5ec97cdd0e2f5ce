// SPDX-License-Identifier: BSD-3-Clause
//
// The packet side of a port: what the forwarding lcore needs to receive and send, and nothing else.
//
// Frames that the driver, or the ring of an in-memory link (link.h), does not take wait in
// `pending`, and until they are gone the core is not asked for more, so what a pause cannot recall
// is at most that ring and one burst. PFC frames do not wait behind them: only the ring is ahead of
// a PFC frame.
#pragma once

#include "dataplane/core/sw.h"
#include "dataplane/dpdk/device_plan.h"
#include "dataplane/dpdk/pool.h"
#include "dataplane/dpdk/tap.h"

enum {
	PKTIO_BURST = 32,
	PKTIO_TX_BURSTS = 8, // sent to one port per visit at most
	IDLE_NS_MAX = 500000,
};
static_assert((int)PKTIO_BURST <= (int)SW_BURST_MAX, "a burst is one call of the core");

// A port whose PFC is the device's own (device_queues.c).
struct pktio_queues {
	struct device_plan plan;
	uint16_t full; // transmit queues with pending frames
	uint16_t count[DEVICE_QUEUE_MAX];
	struct rte_mbuf *pending[DEVICE_QUEUE_MAX][PKTIO_BURST];
};

// All fields belong to the lcore from a MESSAGE_LINK up to its answer to the MESSAGE_LINK down, to
// control otherwise.
struct pktio {
	struct rte_ring *link_rx; // instead of a device: the rings of an in-memory link
	struct rte_ring *link_tx;
	uint16_t ethdev;
	bool active;     // link up: may be received from and sent to
	bool interrupts; // the driver may have receive interrupts
	bool watched;    // and they can end a sleep of this lcore
	bool contiguous; // the driver sends only what lies in one mbuf
	bool wire;       // frames must have the length that a wire asks for
	uint8_t mac[6];  // source of PFC frames, hellos and LACPDUs
	bool hello_due;  // a hello frame is to be sent
	bool lacp_due;   // an LACPDU is to be sent
	// A frame of the control thread that waits, or NULL.
	struct rte_mbuf *own;
	uint32_t pending_count;
	uint64_t retried_packets; // that came to be pending, since the port was made
	uint64_t idle_ns;         // longest sleep before the receive ring is at risk
	struct pfc_frame due;     // what the peer must still be told; enable 0: nothing
	struct rte_mempool *control;
	struct rte_mempool *linear; // of mbufs that hold any frame of a contiguous port
	struct sw *sw;              // counts frames that cannot be sent, as port `port`
	port_t port;
	lcore_t lcore;               // that polls the port; never changes
	const struct taps *taps;     // of captures on that lcore; never changes
	struct impair_line *line;    // what the port receives goes through it; NULL: not impaired
	struct pktio_queues *queues; // the device does PFC itself; NULL: one queue each way
	struct rte_mbuf *pending[PKTIO_BURST]; // without `queues`
	struct pktio_queues queues_memory;
	struct impair_line line_memory;
};

static inline bool pktio_is_of(const struct pktio *io, lcore_t lcore)
{
	return io->lcore.v == lcore.v;
}

// --- rx.c -------------------------------------------------------------------------------------

// Receives at most PKTIO_BURST frames, ready for sw_rx(), from a queue of the device: from 0, and
// where there are others, from what pktio_next_rx() names.
uint32_t pktio_rx(struct pktio *io, uint16_t queue, struct pkt **pkts);

// --- impair_port.c ----------------------------------------------------------------------------

// On a port with a line: takes the frames that were received and gives at most PKTIO_BURST whose
// time has come, into the same array.
uint32_t pktio_impair(struct pktio *io, struct pkt **pkts, uint32_t count, ns_t now);

// Frees what is on the line. Harmless without one.
void pktio_clear_line(struct pktio *io);

// --- device_queues.c, where the device does PFC itself ----------------------------------------

// The port has just been opened; its link is down.
void device_open(struct pktio *io, const struct device_plan *plan);

// The receive queue after `queue` that may be polled now; 0: there is no other.
uint16_t device_next_rx(const struct pktio *io, uint16_t queue);

// As pktio_flush() and pktio_tx(); what the device does not take is known to the core as blocked.
void device_flush(struct pktio *io);
void device_tx(struct pktio *io, struct rte_mbuf **mbufs, uint32_t count);
void device_abandon(struct pktio *io);

// The next receive queue of a visit after `queue`; 0: it is over.
static inline uint16_t pktio_next_rx(const struct pktio *io, uint16_t queue)
{
	return __builtin_expect(io->queues == NULL, 1) ? 0 : device_next_rx(io, queue);
}

// --- tx.c -------------------------------------------------------------------------------------

// Notes a PFC frame and sends it at once if the driver takes it; nothing where the device does PFC
// itself. A frame that must wait is merged with later ones, the newest timer of a priority counts;
// so nothing is lost and no XOFF is sent after its XON.
void pktio_pfc(struct pktio *io, const struct pfc_frame *frame);

// Sends a hello frame, at once if the driver takes it; one that must wait says what is true when it
// leaves.
void pktio_hello(struct pktio *io);

// Sends an LACPDU, at once if the driver takes it; one that must wait says what is true when it
// leaves.
void pktio_lacp(struct pktio *io);

// Takes a frame that the control thread has made and sends it, at once if the driver takes it,
// ahead of data and whatever is paused. A newer one takes the place of one that waits. The core
// neither queues nor counts it.
void pktio_own(struct pktio *io, struct rte_mbuf *m);

// Sends what the driver refused before: PFC, a hello, an LACPDU, a frame of the control thread,
// then data. True when the core may be asked for more: nothing is left, or what is left blocks its
// own queues alone.
bool pktio_flush(struct pktio *io);

// Sends one burst that sw_tx() gave; the caller has flushed. Frames are first made what the device
// can send: in one mbuf where it is contiguous, not too short on a wire. One for which there is no
// memory is freed and counted as refused.
void pktio_tx(struct pktio *io, struct pkt **pkts, uint32_t count);

// Frees a frame of the core that cannot be sent, and has the core count it as refused.
void pktio_refuse(const struct pktio *io, struct rte_mbuf *m);

// Gives up what waits: frees it and has the core count it as refused.
void pktio_abandon(struct pktio *io);
