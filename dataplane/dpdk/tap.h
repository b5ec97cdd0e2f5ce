// SPDX-License-Identifier: BSD-3-Clause
//
// What a capture takes from one lcore: frames that a filter selects are copied, up to a length,
// into a ring of records that the control thread empties. The lcore never waits: a frame that does
// not fit is counted as lost to the capture, and goes its way through the switch like any other.
//
// Counters, charges and the frames themselves are not touched. While no capture runs an lcore tests
// one number per burst, and nothing per frame.
#pragma once

#include "dataplane/core/sw.h"
#include "dataplane/dpdk/clock.h"

struct rte_mbuf;

enum tap_kind {
	TAP_DROPS, // dropped frames of `reasons`, of `port` or PORT_NONE: all
	TAP_QUEUE, // what leaves `queue` of `port`
	TAP_PORT,  // what `port` receives (in) and sends (out), PFC too
};

struct tap_filter {
	enum tap_kind kind;
	port_t port;
	queue_t queue;
	bool in;
	bool out;
	uint32_t snaplen;
	uint64_t reasons; // a bit each
};
static_assert(DROP_REASON_COUNT <= 64, "a bit per reason");

enum tap_what {
	TAP_DROPPED,
	TAP_RECEIVED,
	TAP_SENT, // from a queue
	TAP_OWN,  // made here, and past all queues: PFC, hellos, LACP
};

struct tap_record {
	uint32_t bytes;  // of the record with its data, a multiple of 8
	uint32_t caught; // bytes of the frame in `data`
	ns_t at;
	uint64_t queued_bytes; // TAP_SENT: of its queue as it left, itself included
	uint32_t len;          // of the frame
	uint32_t lost;         // frames of `port` that did not fit since the last that did
	port_t port;           // whose counters have it: where it came in or goes out; or PORT_NONE
	port_t in_port;
	port_t out_port;
	uint8_t what;   // enum tap_what
	uint8_t reason; // enum drop_reason
	uint8_t queue;
	uint8_t pg;
	uint8_t flags; // enum pkt_flag
	uint8_t ecn;
	uint8_t data[];
};

enum { TAP_PORTS = CONFIG_PORT_MAX + 1 }; // the last: frames without a port

// One lcore's end of a capture.
struct tap {
	// control: rw until the lcore has it, ro afterwards
	struct tap_filter filter;
	struct clock clock;
	uint8_t *ring;
	uint64_t bytes; // of the ring, a power of two
	// lcore: rw, control: ro
	_Alignas(64) uint64_t head;
	uint64_t tail_seen;
	uint64_t lost[TAP_PORTS];    // frames that did not fit
	uint32_t pending[TAP_PORTS]; // of them, since the last that did
	// control: rw, lcore: ro
	_Alignas(64) uint64_t tail;
};

enum { TAPS_MAX = 4, TAP_RING_BYTES_MIN = 1 << 18 };

// The taps of one lcore of a switch. lcore: rw from its start to its end.
struct taps {
	uint32_t count;
	struct tap *tap[TAPS_MAX];
};

// --- control thread ----------------------------------------------------------------------------

// NULL when there is no memory. `ring_bytes` is a power of two, at least TAP_RING_BYTES_MIN.
struct tap *tap_new(const struct tap_filter *filter, const struct clock *clock,
		    uint64_t ring_bytes);

// No lcore has it. Accepts NULL.
void tap_free(struct tap *tap);

// The oldest record, NULL when there is none. It stays valid until tap_pop().
const struct tap_record *tap_peek(struct tap *tap);
void tap_pop(struct tap *tap, const struct tap_record *record);

// Frames of a port (PORT_NONE: of none) that were lost to the capture.
uint64_t tap_lost(const struct tap *tap, port_t port);

// --- lcore -------------------------------------------------------------------------------------

// False when there are TAPS_MAX already.
bool taps_add(struct taps *taps, struct tap *tap);
void taps_remove(struct taps *taps, const struct tap *tap);

// A packet that was dropped, also one that the shell itself has refused.
void taps_drop(const struct taps *taps, const struct pkt *p, enum drop_reason reason);

// What a port has received, before sw_rx() has it.
void taps_in(const struct taps *taps, port_t port, struct pkt *const *pkts, uint32_t count);

// What sw_tx() has just given.
void taps_out(const struct taps *taps, const struct sw *sw, port_t port, struct pkt *const *pkts,
	      uint32_t count);

// A frame that the switch has made and sent, or NULL: there was no memory to keep it.
void taps_own(const struct taps *taps, port_t port, const struct rte_mbuf *m);
