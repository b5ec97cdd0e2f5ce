// SPDX-License-Identifier: BSD-3-Clause
//
// What is known of one neighbour, as a state machine: neighbour unreachability detection of RFC
// 4861 7.3, for ARP too. Time and dice are arguments; sending, and the forwarding tables, are the
// caller's (neighbor_keeper.h).
#pragma once

#include "base/types.h"

// Packets are forwarded in REACHABLE, STALE, DELAY and PROBE, so a neighbour that is in use and
// answers never stops its traffic.
enum neighbor_state {
	NEIGHBOR_INCOMPLETE, // asked for, all of the VLAN, no answer yet
	NEIGHBOR_REACHABLE,  // it answered a question of ours lately
	NEIGHBOR_STALE,      // that is long ago; packets go on to it
	NEIGHBOR_DELAY,      // and one went: it may still show by itself that it is there
	NEIGHBOR_PROBE,      // asked for, itself alone
	NEIGHBOR_FAILED,     // it did not answer: for a moment nobody asks again
};

extern const char *const neighbor_state_names[];

struct neighbor_times {
	uint64_t reachable_ns; // on average
	uint64_t stale_ns;     // unused for so long it is forgotten
	uint64_t probe_ns;     // between two probes
	uint64_t solicit_ns;   // how long packets wait for an unknown neighbour
	uint32_t probe_count;
};

struct neighbor {
	uint64_t mac;  // 0: not known
	ns_t at;       // when tick() has something to do
	ns_t heard;    // last time that it was confirmed; INCOMPLETE: since when it is asked for
	ns_t asked;    // last question to all
	ns_t settled;  // before that it has no other MAC address
	uint8_t state; // enum neighbor_state
	uint8_t sent;  // questions in this state
	uint8_t moves; // lately, as a logarithm
	bool unnamed;  // its questions have no sender: it answers to all
};

// What the caller has to do.
enum neighbor_task {
	NEIGHBOR_NOTHING,
	NEIGHBOR_ASK_ALL, // multicast, or broadcast, a question
	NEIGHBOR_ASK_IT,  // send one to its MAC address
	NEIGHBOR_FORGET,  // nobody uses it, or nobody waits for it any more
	NEIGHBOR_DEAD,    // it does not answer
};

// A packet waits for an address that nothing is known of; NEIGHBOR_ASK_ALL follows.
void neighbor_start(const struct neighbor_times *times, struct neighbor *n, ns_t now);

// A packet waits, because the bridge does not know where the neighbour is. Questions to all are
// limited.
enum neighbor_task neighbor_want(const struct neighbor_times *times, struct neighbor *n, ns_t now);

// An ARP or ND message about it. `solicited`: in answer to a question of ours, as far as it says so
// itself; `override`: a MAC address that differs counts.
struct neighbor_claim {
	uint64_t mac;
	bool solicited;
	bool override;
	bool to_all; // the answer to an unnamed question, if there is one
};

enum neighbor_news {
	NEIGHBOR_SAME,    // its MAC address is as before
	NEIGHBOR_CHANGED, // it is found, or has another one
	NEIGHBOR_DOUBTED, // another MAC address is claimed for it, and not believed
};

// `dice` spreads the time until it is stale (RFC 4861 6.3.2: between a half and one and a half).
enum neighbor_news neighbor_hear(const struct neighbor_times *times, struct neighbor *n,
				 const struct neighbor_claim *claim, uint32_t dice, ns_t now);

// When `at` has come, and for STALE ones always: `used` says whether a packet went to it since the
// last call.
enum neighbor_task neighbor_tick(const struct neighbor_times *times, struct neighbor *n, bool used,
				 ns_t now);

// Whether packets are forwarded to it.
static inline bool neighbor_is_known(const struct neighbor *n)
{
	return n->state != NEIGHBOR_INCOMPLETE && n->state != NEIGHBOR_FAILED;
}
