// SPDX-License-Identifier: BSD-3-Clause
//
// What an endpoint is made of, for the files of the endpoint alone. One owner writes all of it.
//
// A queue pair that has something to send is in a list, one for each kind and priority, in the
// order in which it may go; one that waits for time is in the heap. endpoint_wake() puts it where
// it belongs after anything that happened to it, so that sending looks at heads only.
#pragma once

#include "link/neighbor.h"
#include "traffic/core/endpoint.h"

enum endpoint_list {
	ENDPOINT_DATA,   // by priority
	ENDPOINT_ANSWER, // by priority
	ENDPOINT_CNP,    // at [0]
	ENDPOINT_DONE,   // have completions; at [0]
	ENDPOINT_LISTS,
};

enum {
	ENDPOINT_NONE = UINT32_MAX,    // no queue pair: the end of a list
	ENDPOINT_OUT = UINT32_MAX - 1, // in no list of this kind
};

struct endpoint_qp {
	struct rc_qp rc;
	struct dcqcn_rp_state rp;
	struct dcqcn_np_state np;
	struct pacer_state pacer;
	struct roce_path path; // dst_mac 0: not resolved yet
	struct rc_memory memory;
	uint64_t rx_ce;
	uint64_t rx_cnp;
	uint64_t tx_cnp;
	uint32_t peer_qp;
	uint32_t neighbor;
	uint8_t prio;
	bool connected;
	bool sends;           // it has data to send, now or when its rate allows
	uint64_t retransmits; // that the endpoint's sum has
	uint32_t next[ENDPOINT_LISTS];
};

struct endpoint_neighbor {
	struct ip_prefix address;
	uint64_t mac; // 0: asked for
	ns_t ask_at;  // NS_NEVER: known
	ns_t moved;   // when its MAC address was learned
};

struct endpoint_lldp {
	struct lldp_port port;
	uint32_t heard; // neighbours so far
	bool goodbye;   // to be said
	bool left;
};

// What is in force: the profile's, or the switch's where the host is willing.
struct endpoint_rules {
	uint8_t obey;
	uint8_t pause; // priorities that its receiver may pause
	uint8_t dscp_to_prio[64];
};

struct endpoint_fifo {
	uint32_t head;
	uint32_t tail;
};

struct endpoint_state {
	ns_t now;
	struct endpoint_rules rules;
	struct receiver_profile receiver_pf; // with what the rules say of it
	struct pacer_state line;
	struct pfc_rx_state pause;
	struct receiver_state receiver;
	ns_t storm_at;
	struct rng rng;
	uint8_t turn[ENDPOINT_LISTS];   // priority that comes next
	uint8_t filled[ENDPOINT_LISTS]; // priorities whose list is not empty
	struct endpoint_fifo list[ENDPOINT_LISTS][PRIO_COUNT];
	struct endpoint_qp *qp;
	struct heap timers; // of queue pairs
	// Of queue pairs, kept with each change so that nobody has to look at all of them: those
	// that have data to send, as a set of bits and by priority, and what they have sent again.
	uint64_t *sends;
	uint32_t sends_of[PRIO_COUNT];
	uint32_t look_at; // word of `sends` where the next look begins
	uint64_t retransmits;
	const struct rc_region *region;
	uint32_t region_count;
	// Neighbours: known once `mac` is; `ask_at` is the earliest of theirs.
	struct endpoint_neighbor *neighbor;
	uint32_t neighbor_count;
	ns_t ask_at;
	uint8_t unannounced; // families that the link has not heard of: bit 0 IPv4, bit 1 IPv6
	uint32_t answer_head, answer_tail;
	struct neighbor_message answer[ENDPOINT_ANSWER_MAX];
	struct endpoint_lldp *lldp; // NULL: none
	ns_t lldp_at;               // when it has something to do
	// A frame that leaves as it is; not owned.
	const uint8_t *raw;
	uint32_t raw_bytes; // 0: none waits
	uint8_t raw_prio;
	// A frame that leaves behind the next one, on purpose.
	uint32_t held_bytes;
	uint8_t held_prio;
	bool held_due; // one has gone ahead of it
	uint8_t held[ROCE_FRAME_MAX];
	struct endpoint_stats stats;
};

// Puts a queue pair into the lists and timers where it belongs.
void endpoint_wake(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		   ns_t now);

// Appends to a list unless it is in there already.
void endpoint_push(struct endpoint_state *st, enum endpoint_list list, uint32_t at, uint32_t qp);

// The first of a list, which leaves it; ENDPOINT_NONE when it is empty.
uint32_t endpoint_pop(struct endpoint_state *st, enum endpoint_list list, uint32_t at);

// Gives each queue pair the priority that the rules say, and its place in the lists of that.
void endpoint_sort(const struct endpoint_profile *pf, struct endpoint_state *st);

// Brings timers to `now`.
void endpoint_tick(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now);

// --- endpoint_raw.c ---------------------------------------------------------------------------

// Copies the frame that was offered, if its priority may send; its length, or 0.
uint32_t endpoint_raw_tx(struct endpoint_state *st, ns_t now, uint8_t *out);

// --- endpoint_neighbor.c ----------------------------------------------------------------------

// The neighbour at this address, which is asked for when it is new: its index, or -ENOSPC.
int endpoint_neighbor_find(const struct endpoint_profile *pf, struct endpoint_state *st,
			   const struct ip_prefix *address, ns_t now);

// The neighbour has this MAC address: queue pairs that wait for it wake up.
void endpoint_neighbor_resolve(const struct endpoint_profile *pf, struct endpoint_state *st,
			       uint32_t neighbor, uint64_t mac, ns_t now);

// True when the frame was ARP or ND. Queue pairs behind a neighbour that it resolves wake up.
bool endpoint_neighbor_rx(const struct endpoint_profile *pf, struct endpoint_state *st,
			  const uint8_t *data, uint32_t len, ns_t now);

// Writes an announcement, answer or question that is due; its length, or 0.
uint32_t endpoint_neighbor_tx(const struct endpoint_profile *pf, struct endpoint_state *st,
			      ns_t now, uint8_t *out);

// When it may write one.
ns_t endpoint_neighbor_deadline(const struct endpoint_state *st);

// --- endpoint_lldp.c --------------------------------------------------------------------------

// Puts the rules of the profile in force.
void endpoint_lldp_init(const struct endpoint_profile *pf, struct endpoint_state *st);

// A frame of LLDP's EtherType has come: true when it is for this host. New rules may then be in
// force.
bool endpoint_lldp_rx(const struct endpoint_profile *pf, struct endpoint_state *st,
		      const uint8_t *data, uint32_t len, ns_t now);

// Not before `lldp_at`: forgets neighbours that are silent, and writes a frame that is due; its
// length, or 0.
uint32_t endpoint_lldp_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
			  uint8_t *out);
