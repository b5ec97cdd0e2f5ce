// SPDX-License-Identifier: BSD-3-Clause
//
// LLDP of one port: when to send (IEEE 802.1AB 9.2.8, transmit state machine and timers) and who is
// at the other end (9.2.9, receive state machine). A value without clock or memory of its own, the
// same for a switch and a host; its owner counts, in rows of its own.
//
// Sends every interval, a few times in quick succession after the link came up and when somebody
// new is heard, soon after something has changed, and never more than LLDP_CREDIT_MAX frames in a
// row and one per second on average (txDelay in the words of older editions).
#pragma once

#include "link/lldp_frame.h"

enum {
	LLDP_NEIGHBOR_MAX =
		4, // of one port: more than one only behind a hub or a bridge that leaks
	LLDP_NOTES = 4,
	LLDP_FAST_COUNT = 4, // txFastInit
	LLDP_CREDIT_MAX = 5, // txCreditMax
	LLDP_HOLD = 4, // msgTxHold: intervals that a neighbour keeps what we said, and one second
};

#define LLDP_FAST_NS 1000000000ull // msgFastTx, and what one more frame of credit takes

struct lldp_profile {
	uint64_t interval_ns; // msgTxInterval
	bool send;
	bool receive;
};

struct lldp_neighbor {
	struct lldp_info info;
	uint32_t index;            // of its owner's neighbours so far: 1, 2, ...
	uint64_t note[LLDP_NOTES]; // its owner's, 0 at first
	ns_t since;
	ns_t expires;
};

struct lldp_port {
	bool up;
	bool sending; // peers have been told something that should be taken back
	bool changed; // since the last frame
	uint8_t fast;
	uint8_t credit;
	ns_t credit_at; // of the credit that came last
	ns_t tx_at;
	uint32_t neighbor_count;
	struct lldp_neighbor neighbor[LLDP_NEIGHBOR_MAX];
};

enum lldp_news {
	LLDP_SAME,    // said again
	LLDP_NEW,     // a new neighbour
	LLDP_CHANGED, // a known one says something else
	LLDP_LEFT,    // it went away
	LLDP_NO_ROOM,
};

// The time to live of what is sent: whole seconds, never beyond 16 bits.
uint16_t lldp_ttl(const struct lldp_profile *pf);

// The carrier came or went; with it go the neighbours.
void lldp_port_link(struct lldp_port *port, bool up, ns_t now);

// What would be sent is no longer what was.
void lldp_port_changed(struct lldp_port *port);

// A neighbour has spoken; *at is its place, behind the last one when it has left. A new one gets
// `index`. LLDP_SAME and nothing noted when the port does not receive.
enum lldp_news lldp_port_heard(const struct lldp_profile *pf, struct lldp_port *port,
			       const struct lldp_info *info, uint32_t index, ns_t now,
			       uint32_t *at);

// Takes one neighbour whose time is over into *gone; false when there is none.
bool lldp_port_expire(struct lldp_port *port, ns_t now, struct lldp_neighbor *gone);

// True when a frame is to be sent now; then it counts as sent.
bool lldp_port_due(const struct lldp_profile *pf, struct lldp_port *port, ns_t now);

// True when the peers are to be told, by a frame with a time to live of 0, that nothing more will
// come: the port no longer sends, or is about to close.
bool lldp_port_ends(struct lldp_port *port);

// Until when neither lldp_port_due() nor lldp_port_expire() has anything to say unless something
// happens: the past when one of them has, NS_NEVER when nothing is waited for.
ns_t lldp_port_deadline(const struct lldp_profile *pf, const struct lldp_port *port);
