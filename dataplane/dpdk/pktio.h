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
#include "dataplane/dpdk/pool.h"

enum { PKTIO_BURST = 32, IDLE_NS_MAX = 500000 };
static_assert((int)PKTIO_BURST <= (int)SW_BURST_MAX, "a burst is one call of the core");

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
	uint8_t xoff;    // priorities that the peer was last told to hold
	uint8_t mac[6];  // source of PFC frames and hellos
	bool hello_due;  // a hello frame is to be sent
	uint32_t pending_count;
	uint64_t idle_ns;     // longest sleep before the receive ring is at risk
	struct pfc_frame due; // what the peer must still be told; enable 0: nothing
	struct rte_mempool *control;
	struct rte_mempool *linear; // of mbufs that hold any frame of a contiguous port
	struct sw *sw;              // counts frames that cannot be sent, as port `port`
	port_t port;
	struct impair_line *line; // what the port receives goes through it; NULL: not impaired
	struct rte_mbuf *pending[PKTIO_BURST];
	struct impair_line line_memory;
};

// --- rx.c -------------------------------------------------------------------------------------

// Receives at most PKTIO_BURST frames, ready for sw_rx().
uint32_t pktio_rx(struct pktio *io, struct pkt **pkts);

// --- impair_port.c ----------------------------------------------------------------------------

// On a port with a line: takes the frames that were received and gives at most PKTIO_BURST whose
// time has come, into the same array.
uint32_t pktio_impair(struct pktio *io, struct pkt **pkts, uint32_t count, ns_t now);

// Frees what is on the line. Harmless without one.
void pktio_clear_line(struct pktio *io);

// --- tx.c -------------------------------------------------------------------------------------

// Notes a PFC frame and sends it at once if the driver takes it. A frame that must wait is merged
// with later ones, the newest timer of a priority counts; so nothing is lost and no XOFF is sent
// after its XON.
void pktio_pfc(struct pktio *io, const struct pfc_frame *frame);

// Sends a hello frame, at once if the driver takes it; one that must wait says what is true when it
// leaves.
void pktio_hello(struct pktio *io);

// Sends what the driver refused before: PFC, a hello, then data. True when nothing is left.
bool pktio_flush(struct pktio *io);

// Sends one burst that sw_tx() gave; the caller has flushed. Frames are first made what the device
// can send: in one mbuf where it is contiguous, not too short on a wire. One for which there is no
// memory is freed and counted as refused.
void pktio_tx(struct pktio *io, struct pkt **pkts, uint32_t count);

// Gives up what waits: frees it and has the core count it as refused.
void pktio_abandon(struct pktio *io, struct sw *sw, port_t port);
