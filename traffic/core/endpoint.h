// SPDX-License-Identifier: BSD-3-Clause
//
// A RoCEv2 host: one port, its addresses, its queue pairs, and what a NIC does around them. Obeys
// PFC within one frame, makes PFC when its receive buffer fills, answers CE with CNPs, paces each
// queue pair at its DCQCN rate, resolves and answers ARP and ND, speaks LLDP and DCBX with its
// switch. It can also be the trouble.
//
// Pure: state plus `now`, which never decreases; frames are bytes that the caller carries:
//	for each received frame: endpoint_rx()
//	while the link takes frames: len = endpoint_tx(); send it if len > 0
//	while (endpoint_complete()): ...
//	wait for a frame, or until endpoint_deadline()
#pragma once

#include "base/heap.h"
#include "base/pacer.h"
#include "base/rng.h"
#include "ecn/dcqcn.h"
#include "link/dcbx.h"
#include "link/lldp_peer.h"
#include "traffic/core/rc.h"
#include "traffic/core/receiver.h"
#include "traffic/core/sight.h"

// A queue pair is a number 0..qp_count-1 here, and qp_base more on the wire.

enum {
	ENDPOINT_ANSWER_MAX = 16, // ARP and ND answers that may wait
	ENDPOINT_WIRE_EXTRA = 24, // FCS, preamble, gap
	ENDPOINT_NEIGHBOR_MAX = 4096,
};

// What is wrong with a host on purpose.
struct endpoint_trouble {
	uint8_t storm; // priorities that it pauses without end; 0: no storm
	uint16_t storm_quanta;
	uint64_t storm_gap_ns; // between its PFC frames; 0: one after another
	ns_t storm_start;
	ns_t storm_stop;      // zero: never
	bool ecn_blind;       // CE never makes a CNP
	uint32_t corrupt_ppm; // of its RoCE frames leave with a wrong ICRC
	uint32_t reorder_ppm; // of its RoCE frames leave behind the next one
};

// Whether the host tells its switch over LLDP about PFC and classes, and whether it follows it.
enum endpoint_dcbx {
	ENDPOINT_DCBX_OFF,
	ENDPOINT_DCBX_ANNOUNCE, // it says how it is
	// It takes over which priorities have PFC, that of RoCE and those of DSCPs, and is as it
	// was when its switch falls silent. Not for a host that shall ignore PFC.
	ENDPOINT_DCBX_WILLING,
};

struct endpoint_lldp_profile {
	uint64_t interval_ns; // of frames, 30 s in the field; 0: no LLDP, the rest does not count
	enum endpoint_dcbx dcbx;
	uint8_t dscp;  // of RoCE data: names its priority
	uint32_t rank; // for its name
	char name[64]; // of the host; empty: "weft-traffic RANK"
};

struct endpoint_profile {
	uint64_t mac; // first byte in bits 47..40
	uint8_t ipv4[4];
	uint8_t ipv6[16];
	bool has_ipv4;
	bool has_ipv6;
	uint64_t bps; // of the line: paces what is sent, wire bytes counted, and gives quanta
	uint32_t mtu; // largest IP packet
	uint8_t dscp_to_prio[64];
	uint8_t obey;      // priorities whose PFC stops this transmitter; 0: none
	uint64_t burst_ns; // idle time of the line that a late caller may catch up
	uint8_t cnp_dscp;  // 48 in the field
	bool dcqcn;        // otherwise queue pairs run at line rate whatever comes back
	struct dcqcn_rp_profile rp;
	struct dcqcn_np_profile np;
	struct rc_profile rc; // of every queue pair
	enum roce_crc crc;
	uint32_t qp_base;
	uint32_t qp_count;
	uint32_t neighbor_count; // at most ENDPOINT_NEIGHBOR_MAX
	uint32_t send_count;     // of each queue pair, powers of two
	uint32_t receive_count;
	struct receiver_profile receiver;
	struct endpoint_lldp_profile lldp;
	struct endpoint_trouble trouble;
	uint64_t seed;
};

// Counters of schema/traffic.def.
struct endpoint_prio_stats {
#define ENDPOINT_PRIO_STAT(field, doc) uint64_t field;
#include "schema/traffic.def"
};

struct endpoint_stats {
#define ENDPOINT_STAT(field, doc) uint64_t field;
#include "schema/traffic.def"
	struct endpoint_prio_stats prio[PRIO_COUNT];
};

struct endpoint_state; // below

// Bytes of memory for a host of this profile, aligned to 64.
size_t endpoint_bytes(const struct endpoint_profile *pf);

// Makes a host in zeroed `memory`. Regions are the caller's and must outlive it.
struct endpoint_state *endpoint_init(const struct endpoint_profile *pf,
				     const struct rc_region *region, uint32_t region_count,
				     void *memory);

struct endpoint_peer {
	bool ipv6;
	uint8_t ip[16]; // network order; IPv4 in the first four
	uint64_t mac;   // 0: resolved by ARP or ND
	uint32_t qp;    // number on the wire
	uint32_t send_psn;
	uint32_t receive_psn;
	uint8_t dscp;
	uint8_t ecn;       // of data and answers: ECT(0), or not
	uint16_t src_port; // 0: by the hash of soft-RoCE
};

// Connects a queue pair. 0, -EINVAL when it is connected or has no such number, -ENOSPC when there
// are too many neighbours.
int endpoint_connect(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		     const struct endpoint_peer *peer, ns_t now);

// True when the MAC address of every peer is known.
bool endpoint_resolved(const struct endpoint_state *st);

// Gives work to a connected queue pair. False when its queue is full, or it has failed.
bool endpoint_post(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		   const struct rc_work *work, ns_t now);
bool endpoint_post_receive(struct endpoint_state *st, uint32_t qp,
			   const struct rc_receive *receive);

// The next completion of any queue pair; order holds within one.
bool endpoint_complete(struct endpoint_state *st, uint32_t *qp, struct rc_completion *out);

// Gives it a frame that leaves as it is, of at most ROCE_FRAME_MAX bytes, with the priority of its
// VLAN tag or else of its DSCP. The memory is lent until endpoint_offers() is false. False: there
// is one already.
bool endpoint_offer(struct endpoint_state *st, const uint8_t *frame, uint32_t len);

// True while a frame that was offered waits.
bool endpoint_offers(const struct endpoint_state *st);

// Writes the next frame that leaves at `now` to `out` (ROCE_FRAME_MAX bytes) and returns its
// length, 0 when nothing may leave yet. The line is then busy for the frame's wire time.
uint32_t endpoint_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
		     uint8_t *out);

void endpoint_rx(const struct endpoint_profile *pf, struct endpoint_state *st, const uint8_t *data,
		 uint32_t len, ns_t now);

// When endpoint_tx() should be asked again if nothing arrives; NS_NEVER when nothing waits.
ns_t endpoint_deadline(const struct endpoint_profile *pf, const struct endpoint_state *st,
		       ns_t now);

// For so long the caller did not run, so that answers may be there that it has not given to
// endpoint_rx() yet: timers of queue pairs that wait for them run so much longer. To be called
// first of all behind such a time.
void endpoint_away(const struct endpoint_profile *pf, struct endpoint_state *st, uint64_t ns);

// Counters, and the sum over the queue pairs.
void endpoint_stats_read(const struct endpoint_profile *pf, const struct endpoint_state *st,
			 struct endpoint_stats *out, struct rc_stats *rc);

// One queue pair.
struct endpoint_qp_view {
	struct rc_stats rc;
	uint64_t rate_bps; // at which it may send
	uint64_t rx_ce;
	uint64_t rx_cnp;
	uint64_t tx_cnp;
};
void endpoint_qp_read(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
		      ns_t now, struct endpoint_qp_view *out);

// What the host is doing: why it does not send more.
void endpoint_look(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
		   struct sight *out);

// Time for which a priority was held by the peer, and for which this receiver held the peer,
// including pauses that last.
uint64_t endpoint_paused_ns(const struct endpoint_state *st, prio_t prio, ns_t now);
uint64_t endpoint_pausing_ns(const struct endpoint_state *st, prio_t prio, ns_t now);

// --- LLDP ---------------------------------------------------------------------------------------

// The carrier came or went; a new host takes it for up. With it go the neighbours.
void endpoint_lldp_link(const struct endpoint_profile *pf, struct endpoint_state *st, bool up,
			ns_t now);

// The host is about to go: its next frame takes back what it said over LLDP, if it has said
// anything, and it neither says nor hears more.
void endpoint_lldp_leave(const struct endpoint_profile *pf, struct endpoint_state *st);

struct endpoint_lldp_view {
	struct lldp_info ours;                // as it would be sent now
	const struct lldp_neighbor *neighbor; // the host's: until it is called again
	uint32_t neighbor_count;
	const struct lldp_neighbor
		*peer;   // the one that says anything of DCBX; NULL: none, or several
	uint8_t differs; // bit n: `peer` differs in enum dcbx_topic n
	bool follows;    // `peer`: its rules are in force
};

// False when the host has no LLDP.
bool endpoint_lldp_read(const struct endpoint_profile *pf, const struct endpoint_state *st,
			struct endpoint_lldp_view *out);
