// SPDX-License-Identifier: BSD-3-Clause
//
// One queue pair of the reliable connection service, both halves: the requester sends work and
// makes it arrive (PSNs, go-back-N, timeouts, RNR), the responder places what arrives and answers
// (ACK, NAK, READ responses). InfiniBand volume 1, chapter 9. State plus `now`, which never goes
// back; packets are values (roce.h). All memory is the owner's: rc_init() takes the arrays, nothing
// is allocated and nothing grows, so a hostile peer can at most break its own connection. A packet
// costs the same whatever waits: queues are walked once per work, not once per packet.
#pragma once

#include "traffic/core/roce.h"

// One iteration of an owner:
//	for each packet to this queue pair: rc_rx(pf, qp, packet, now);
//	while rc_complete(qp, &done): ...
//	while rc_ready(...): rc_tx(pf, qp, kind, now, &packet) and send it
//	wait until rc_deadline()
// Completions wait until they are taken; taken after each packet, their times are exact.

enum rc_op { RC_SEND, RC_WRITE, RC_READ };

enum {
	RC_BYTES_MAX = 1u << 31, // of a message
	RC_WINDOW_MAX = 1 << 22, // packets
	// PSNs between the oldest unacknowledged packet and the next one: old and new must differ
	// by less than half of the circle.
	RC_SPAN_MAX = (1 << 23) - 1,
	RC_RNR_FOR_EVER = 7, // as a limit
};

// Memory that a peer may reach. Shared by the queue pairs of a host, and not changed while they
// exist. The upper 24 bits of its key are its index in the table, as NICs have it; the lower eight
// are the owner's.
struct rc_region {
	uint64_t va;    // of its first byte, as peers say it
	uint64_t bytes; // length
	uint8_t *data;  // NULL: lengths alone count (a simulation)
	uint32_t rkey;
	bool remote_write;
	bool remote_read;
};

struct rc_profile {
	uint32_t mtu;           // payload bytes of a packet, both ways: 1..ROCE_PAYLOAD_MAX
	uint32_t window;        // unacknowledged packets of SEND and WRITE, 1..RC_WINDOW_MAX
	uint32_t ack_every;     // the responder coalesces up to so many packets without AckReq
	uint32_t request_every; // the requester sets AckReq on every such packet, and on the last
	uint32_t read_depth;    // READs outstanding (max_rd_atomic)
	uint64_t timeout_ns;    // 0: never; the spec's 4.096 us x 2^n is the caller's
	uint64_t ack_delay_ns;  // how long a coalesced ACK may wait
	uint8_t retry_limit;    // timeouts and sequence errors in a row without progress
	uint8_t rnr_limit;      // RNR NAKs in a row, RC_RNR_FOR_EVER: any number
	uint8_t rnr_timer;      // code 0..31 of table 45, told to the peer
	// Tolerates reordering, between hosts that both have it (rc_selective.c): the responder
	// places WRITEs out of order within the window, and only what is missing is sent again.
	// SENDs, READs and their responses are taken in order: what overtakes is lost.
	bool selective;
	// Selective: a gap that lasts longer is a loss; twice as long, so is its repair.
	uint64_t reorder_ns;
};

struct rc_work {
	uint64_t id; // the owner's, comes back in the completion
	enum rc_op op;
	bool has_imm;
	bool asks; // SEND and WRITE: for its answer, even if more follows: its time counts
	uint32_t imm;
	uint8_t *data;      // local memory: sent from, or READ into; NULL: lengths alone
	uint64_t bytes;     // at most RC_BYTES_MAX
	uint64_t remote_va; // WRITE and READ
	uint32_t rkey;
};

// A buffer for one message of a SEND, or the slot that a WRITE with immediate takes.
struct rc_receive {
	uint64_t id;
	uint8_t *data;
	uint64_t bytes; // more than RC_BYTES_MAX are of no use
};

enum rc_status {
	RC_OK,
	RC_RETRY_EXCEEDED,
	RC_RNR_EXCEEDED,
	RC_REMOTE_ACCESS,
	RC_REMOTE_INVALID,
	RC_REMOTE_OPERATION,
	RC_LOCAL_LENGTH, // a message longer than its receive buffer
	RC_FLUSHED,      // not done when something else failed
};

struct rc_completion {
	uint64_t id;
	bool receive; // of a receive; otherwise of work
	bool has_imm; // of a receive
	enum rc_status status;
	uint32_t imm;
	uint64_t bytes;
	ns_t posted; // of a receive: when its message began to arrive
	ns_t done;
};

// What arrived is counted once: rx_packets, duplicates, out_of_sequence, rnr_sent or refused.
struct rc_stats {
	uint64_t tx_packets; // requests and READ responses, repeats included
	uint64_t tx_bytes;   // their payload
	uint64_t rx_packets; // requests and READ responses that had their effect
	uint64_t rx_bytes;
	uint64_t retransmits; // packets sent again
	uint64_t timeouts;
	uint64_t naks_received; // sequence errors
	uint64_t naks_sent;
	uint64_t rnr_received;
	uint64_t rnr_sent;        // packets dropped for want of a receive
	uint64_t duplicates;      // received again
	uint64_t out_of_sequence; // received behind a gap
	uint64_t refused;         // malformed, not permitted, or in no state for it
};

// What rc_tx() can send. Answers are short, ahead of everything, and never paced; data is paced by
// the owner (DCQCN) and stops when its priority is paused.
enum rc_kind { RC_ANSWER, RC_DATA };

// Work in the send queue. Its packets have consecutive sequence numbers.
struct rc_wqe {
	uint64_t id;
	uint8_t *data;
	uint64_t remote_va;
	uint64_t first; // sequence number
	ns_t posted;
	uint32_t bytes;
	uint32_t packets;
	uint32_t rkey;
	uint32_t imm;
	uint32_t next_read; // place of the READ posted after this one
	uint8_t op;
	bool has_imm;
	bool asks;
};
static_assert(sizeof(struct rc_wqe) == 64, "work is a cache line");

// A posted receive, and what became of it.
struct rc_rqe {
	uint64_t id;
	uint8_t *data;
	ns_t began;
	ns_t done;
	uint32_t room; // bytes
	uint32_t bytes;
	uint32_t imm;
	uint8_t status;
	bool has_imm;
};

// A READ of the peer that is being answered.
struct rc_read {
	const uint8_t *data;
	uint32_t bytes;
	uint32_t first; // PSN
	uint32_t packets;
	uint32_t sent; // of them
	uint32_t msn;
};

// Selective: what came of a packet that is ahead of the expected one.
struct rc_early {
	uint32_t imm;
	uint16_t bytes;
	bool placed;
	bool ends; // its message
	bool has_imm;
	bool asks; // AckReq
};

// Selective: packets that are to be sent again.
struct rc_range {
	uint64_t first;
	uint64_t end;
};

// Sizes are powers of two. The arrays belong to one queue pair, the regions are shared.
struct rc_memory {
	struct rc_wqe *send;
	uint32_t send_count;
	struct rc_rqe *receive;
	uint32_t receive_count;
	struct rc_read *read; // READs of the peer at a time: its read_depth at least
	uint32_t read_count;
	struct rc_early *early; // selective: the window at least
	uint32_t early_count;
	struct rc_range *range; // selective: gaps that are repaired at a time, 8 are many
	uint32_t range_count;
	const struct rc_region *region;
	uint32_t region_count;
};

// Sequence numbers count this side's packets from 0 and never wrap; a PSN is the first PSN plus
// one of them. Places in queues run freely, too, and are masked.
// Invariants: una <= next <= sent <= posted; sent - una <= RC_SPAN_MAX.
struct rc_requester {
	struct rc_wqe *send;
	struct rc_range *range;
	uint64_t una;    // oldest unacknowledged packet
	uint64_t next;   // to send
	uint64_t sent;   // past the last one that was ever sent
	uint64_t posted; // past the last of the work there is
	uint64_t asked;  // past the last one whose answer is waited for
	ns_t timer;      // when to send again from una; NS_NEVER while nothing is waited for
	ns_t hold;       // after an RNR NAK nothing is sent before; 0: none
	ns_t progress;   // when una moved
	uint32_t mask;
	uint32_t head;       // where the next work goes
	uint32_t tail;       // oldest work without completion taken
	uint32_t next_place; // work of `next`
	uint32_t una_place;  // of `una`, or behind it: looked up when needed
	uint32_t read;       // oldest READ that is not done, of `read_left`
	uint32_t read_last;
	uint32_t read_left;
	uint32_t reads_out; // READ requests of una..next
	uint32_t read_psns; // packets of una..next that READs take
	uint32_t unasked;   // packets since one with AckReq
	uint32_t first_psn;
	uint32_t range_mask;
	uint32_t range_head;
	uint32_t range_tail;
	uint8_t retries;
	uint8_t rnr_retries;
	bool went_back; // for lost READ responses, since una moved
};

// Invariants: at most one answer waits, for the packets before `psn` or the one with it, and it
// waits for READ responses.
struct rc_responder {
	struct rc_rqe *receive;
	struct rc_read *read;
	struct rc_early *early; // by PSN
	const struct rc_region *region;
	uint8_t *at;        // where the message that is arriving goes on
	ns_t began;         // when it began
	ns_t ack_due;       // when a coalesced ACK is sent; NS_NEVER: none
	ns_t gap_due;       // when what is missing counts as lost; NS_NEVER: no gap
	uint32_t psn;       // expected
	uint32_t msn;       // messages taken
	uint32_t left;      // bytes of it that are to come (WRITE), or that have room (SEND)
	uint32_t bytes;     // of it so far
	uint32_t coalesced; // packets since the last ACK
	uint32_t read_sent; // PSN past the READ responses that were ever sent
	uint32_t receive_mask;
	uint32_t receive_head; // where the next receive goes
	uint32_t receive_next; // that the next message takes
	uint32_t receive_tail; // oldest without completion taken
	uint32_t read_mask;
	uint32_t read_head;
	uint32_t read_tail;
	uint32_t region_count;
	uint32_t early_mask;
	uint32_t far;      // PSN past what came first of all, or `psn`
	uint32_t gap_end;  // `far` when the gap that is watched was seen
	uint32_t name;     // next missing PSN to name
	uint32_t name_end; // `name`: all that are to be named have been
	uint8_t named;     // times that they were
	uint8_t answer;    // syndrome that waits; RC_NO_ANSWER
	uint8_t message;   // enum rc_op of what is arriving; RC_NO_MESSAGE
	bool told;         // that `psn` is awaited: not told again
};

struct rc_qp {
	struct rc_requester rq;
	struct rc_responder rs;
	uint32_t peer_qp;
	bool responses_last; // what data was sent last
	bool failed;
	uint8_t status;     // of the packet that failed
	uint64_t failed_at; // its sequence number, UINT64_MAX: none of this side's
	ns_t failed_since;
	struct rc_stats stats;
};

// Begins in the ready-to-send state: first PSNs of both directions and the peer's number are known.
void rc_init(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_memory *memory,
	     uint32_t peer_qp, uint32_t send_psn, uint32_t receive_psn);

// False when the queue is full, the queue pair has failed, or the work is too long.
bool rc_post(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_work *work, ns_t now);
bool rc_post_receive(struct rc_qp *qp, const struct rc_receive *receive);

// Takes a packet of the peer. Whatever it holds, memory outside regions and posted receives is not
// touched and the state stays valid. CNPs are the owner's.
void rc_rx(const struct rc_profile *pf, struct rc_qp *qp, const struct roce_packet *packet,
	   ns_t now);

// Which kinds rc_tx() would send at `now`, as bits 1 << kind. Timers that are due have their effect
// here.
uint32_t rc_kinds(const struct rc_profile *pf, struct rc_qp *qp, ns_t now);

static inline bool rc_ready(const struct rc_profile *pf, struct rc_qp *qp, enum rc_kind kind,
			    ns_t now)
{
	return (rc_kinds(pf, qp, now) >> kind & 1) != 0;
}

// The next packet of a kind; false when there is none. Its payload points into the memory of the
// work or region and is to be copied before the next call.
bool rc_tx(const struct rc_profile *pf, struct rc_qp *qp, enum rc_kind kind, ns_t now,
	   struct roce_packet *out);

// When rc_ready() may change without a packet, NS_NEVER: not before one comes.
ns_t rc_deadline(const struct rc_profile *pf, const struct rc_qp *qp);

// For so long the caller did not look at what came: answers may be there unseen, so what waits for
// them does so that much longer. False: nothing does.
bool rc_away(struct rc_qp *qp, uint64_t ns);

// Takes the next completion: receives in the order of messages, work in the order of posting.
bool rc_complete(struct rc_qp *qp, struct rc_completion *out);

// Adds all counters of one to a sum.
void rc_stats_add(struct rc_stats *sum, const struct rc_stats *more);
