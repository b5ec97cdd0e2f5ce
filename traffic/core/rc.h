// SPDX-License-Identifier: BSD-3-Clause
//
// One queue pair of the reliable connection service, both halves: the requester sends work and
// makes it arrive (PSNs, go-back-N, timeouts, RNR), the responder places what arrives and answers
// (ACK, NAK, READ responses). InfiniBand volume 1, chapter 9.
//
// State plus `now`; packets are values (roce.h). One iteration of an owner:
//	for each packet to this queue pair: rc_rx(pf, qp, packet, now);
//	while rc_ready(...): rc_tx(pf, qp, kind, now, &packet) and send it
//	while rc_complete(qp, &done): ...
//	wait until rc_deadline()
//
// All memory is the owner's: rc_init() takes the arrays, nothing is allocated and nothing grows, so
// a hostile peer can at most break its own connection.
#pragma once

#include "traffic/core/roce.h"

enum rc_op { RC_SEND, RC_WRITE, RC_READ };

// Memory that a peer may reach, and that local work sends from. Shared by the queue pairs of a
// host.
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
	uint32_t window;        // unacknowledged packets, 1..2^22
	uint32_t ack_every;     // the responder coalesces up to so many packets without AckReq
	uint32_t request_every; // the requester sets AckReq on every such packet, and on the last
	uint32_t read_depth;    // READs outstanding (max_rd_atomic), at most RC_READ_MAX
	uint64_t timeout_ns;    // 0: never; the spec's 4.096 us x 2^n is the caller's
	uint64_t ack_delay_ns;  // how long a coalesced ACK may wait
	uint8_t retry_limit;    // timeouts and sequence errors in a row without progress
	uint8_t rnr_limit;      // 7: for ever
	uint8_t rnr_timer;      // code 0..31 of table 45, told to the peer
	// Tolerates reordering, between hosts that both have it: every packet of a WRITE carries
	// its own address (RETH), the responder places what comes out of order within the window,
	// and only what is missing is sent again.
	bool selective;
};

struct rc_work {
	uint64_t id; // the owner's, comes back in the completion
	enum rc_op op;
	bool has_imm;
	uint32_t imm;
	uint8_t *data;      // local memory: sent from, or READ into; NULL: lengths alone
	uint64_t bytes;     // at most 2^31
	uint64_t remote_va; // WRITE and READ
	uint32_t rkey;
};

// A buffer for one message of a SEND, or the slot that a WRITE with immediate takes.
struct rc_receive {
	uint64_t id;
	uint8_t *data;
	uint64_t bytes;
};

enum rc_status {
	RC_OK,
	RC_RETRY_EXCEEDED,
	RC_RNR_EXCEEDED,
	RC_REMOTE_ACCESS,
	RC_REMOTE_INVALID,
	RC_REMOTE_OPERATION,
	RC_LOCAL_LENGTH, // a message longer than its receive buffer
	RC_FLUSHED,      // behind one that failed
};

struct rc_completion {
	uint64_t id;
	bool receive; // of a receive; otherwise of work
	bool has_imm;
	enum rc_status status;
	uint32_t imm;
	uint64_t bytes;
	ns_t posted;
	ns_t done;
};

struct rc_stats {
	uint64_t tx_packets; // requests and READ responses, repeats included
	uint64_t tx_bytes;   // their payload
	uint64_t rx_packets; // accepted in order
	uint64_t rx_bytes;
	uint64_t retransmits; // packets sent again
	uint64_t timeouts;
	uint64_t naks_received; // sequence errors
	uint64_t naks_sent;
	uint64_t rnr_received;
	uint64_t rnr_sent;
	uint64_t duplicates;      // received again
	uint64_t out_of_sequence; // received behind a gap
	uint64_t refused;         // malformed, not permitted, or in no state for it: dropped
};

// What rc_tx() can send. Answers are short, ahead of everything, and never paced; data is paced by
// the owner (DCQCN) and stops when its priority is paused.
enum rc_kind { RC_ANSWER, RC_DATA };

struct rc_qp; // state
struct rc_wqe;

// Sizes of the arrays are powers of two.
struct rc_memory {
	struct rc_wqe *send; // send queue, `send_count` entries
	uint32_t send_count;
	struct rc_receive *receive;
	uint32_t receive_count;
	struct rc_completion *done; // send_count + receive_count entries at least
	uint32_t done_count;
	uint64_t *bitmap; // window / 64 words, selective only
	const struct rc_region *region;
	uint32_t region_count;
};

// Begins in the ready-to-send state: first PSNs of both directions and the peer's number are known.
void rc_init(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_memory *memory,
	     uint32_t peer_qp, uint32_t send_psn, uint32_t receive_psn);

// False when the queue is full, or the queue pair has failed.
bool rc_post(const struct rc_profile *pf, struct rc_qp *qp, const struct rc_work *work, ns_t now);
bool rc_post_receive(struct rc_qp *qp, const struct rc_receive *receive);

// Takes a packet of the peer. Whatever it holds, memory outside regions and posted receives is not
// touched and the state stays valid. CNPs are the owner's.
void rc_rx(const struct rc_profile *pf, struct rc_qp *qp, const struct roce_packet *packet,
	   ns_t now);

// True when rc_tx() would send one of this kind at `now`; timers that are due have their effect.
bool rc_ready(const struct rc_profile *pf, struct rc_qp *qp, enum rc_kind kind, ns_t now);

// The next packet of a kind; false when there is none. Its payload points into the memory of the
// work or region and is to be copied before the next call.
bool rc_tx(const struct rc_profile *pf, struct rc_qp *qp, enum rc_kind kind, ns_t now,
	   struct roce_packet *out);

// When rc_ready() may change without a packet, NS_NEVER: not before one comes.
ns_t rc_deadline(const struct rc_profile *pf, const struct rc_qp *qp);

bool rc_complete(struct rc_qp *qp, struct rc_completion *out);
