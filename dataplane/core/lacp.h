// SPDX-License-Identifier: BSD-3-Clause
//
// LACP (IEEE 802.1AX clause 6): which ports of a LAG lead to the same partner, and may be used. One
// value per port, driven by received LACPDUs, by link changes and by time, which is an argument.
//
// The actor is always active and its mux is of the coupled kind (collecting and distributing are
// one state). A port without a partner stays down: it is not used as an individual one.
#pragma once

#include "base/types.h"

enum {
	LACP_FRAME_BYTES = 14 + 110, // without FCS
	LACP_ETHERTYPE = 0x8809,     // Slow Protocols
	LACP_SUBTYPE = 1,
	LACP_TX_MAX = 3, // frames per fast_periodic_time
};

#define LACP_ADDRESS 0x0180c2000002u

// Times of 6.4.4.
#define LACP_FAST_NS 1000000000u
#define LACP_SLOW_NS 30000000000u
#define LACP_SHORT_TIMEOUT_NS (3ull * LACP_FAST_NS)
#define LACP_LONG_TIMEOUT_NS (3ull * LACP_SLOW_NS)
#define LACP_AGGREGATE_WAIT_NS 2000000000u

// Bits of a port's state on the wire (6.4.2.3).
enum lacp_bit {
	LACP_ACTIVITY = 1 << 0,
	LACP_TIMEOUT = 1 << 1, // short
	LACP_AGGREGATION = 1 << 2,
	LACP_SYNCHRONIZATION = 1 << 3,
	LACP_COLLECTING = 1 << 4,
	LACP_DISTRIBUTING = 1 << 5,
	LACP_DEFAULTED = 1 << 6,
	LACP_EXPIRED = 1 << 7,
};

// One end of a link, as LACPDUs name it.
struct lacp_info {
	uint64_t system;
	uint16_t system_priority;
	uint16_t key;
	uint16_t port_priority;
	uint16_t port;
	uint8_t state; // enum lacp_bit
};

struct lacp_pdu {
	struct lacp_info actor;
	struct lacp_info partner;
};

enum lacp_verdict {
	LACP_FRAME_PDU,
	LACP_FRAME_OTHER, // another slow protocol, such as OAM
	LACP_FRAME_MALFORMED,
};

void lacp_pdu_encode(const struct lacp_pdu *pdu, const uint8_t src[6],
		     uint8_t out[LACP_FRAME_BYTES]);

// Reads a frame of `len` bytes whose EtherType ends at `l2_len`. Versions above 1 are read as
// version 1 (6.4.2.3 b); what is reserved is not looked at.
enum lacp_verdict lacp_pdu_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t l2_len,
				  struct lacp_pdu *out);

enum lacp_rx { LACP_RX_DISABLED, LACP_RX_EXPIRED, LACP_RX_DEFAULTED, LACP_RX_CURRENT };
enum lacp_mux { LACP_MUX_DETACHED, LACP_MUX_WAITING, LACP_MUX_ATTACHED, LACP_MUX_RUNNING };

// The actor; `state` has what is configured: ACTIVITY, TIMEOUT, AGGREGATION.
struct lacp_profile {
	struct lacp_info actor;
};

struct lacp_state {
	enum lacp_rx rx;
	enum lacp_mux mux;
	bool ntt;      // need to transmit
	bool selected; // leads to the partner that the LAG leads to
	struct lacp_info partner;
	uint8_t state;    // of the actor, as sent
	ns_t current_end; // of what the partner said, NS_NEVER: no timer
	ns_t periodic_at;
	ns_t wait_end; // of LACP_MUX_WAITING
	ns_t tx_begin; // of the second that tx_count frames were sent in
	uint8_t tx_count;
};

// All fields 0 is a port whose link is down; begins anew with each life of the link.
void lacp_link(const struct lacp_profile *pf, struct lacp_state *st, bool up, ns_t now);

void lacp_receive(const struct lacp_profile *pf, struct lacp_state *st, const struct lacp_pdu *pdu,
		  ns_t now);

// What the LAG decides: whether the port is one of those it is made of (selection logic, 6.4.14).
void lacp_select(struct lacp_state *st, bool selected, ns_t now);

// Timers.
void lacp_tick(struct lacp_state *st, ns_t now);
ns_t lacp_deadline(const struct lacp_state *st);

// True when a frame is to be sent now, which the caller then does.
bool lacp_send(struct lacp_state *st, ns_t now);

// What a frame says now.
struct lacp_pdu lacp_pdu_of(const struct lacp_profile *pf, const struct lacp_state *st);

// A number that is equal for ports of one partner system and key; 0: no partner that aggregates.
uint64_t lacp_partner(const struct lacp_profile *pf, const struct lacp_state *st);

static inline bool lacp_is_running(const struct lacp_state *st)
{
	return st->mux == LACP_MUX_RUNNING;
}
