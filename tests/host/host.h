// SPDX-License-Identifier: BSD-3-Clause
//
// A test host: sends flows at line rate, obeys PFC per priority within one frame, marks nothing,
// and counts everything it sees. It can also be the trouble: a PFC storm, or a receiver too slow
// for its line, which pauses its peer. Pure: state plus `now`; frames are bytes that the caller
// carries.
//
// One iteration of a caller:
//	for each received frame: host_rx(config, st, data, len, now);
//	while the link is free: len = host_tx(config, st, now, out); send it if len > 0
//	wait for a frame, or until host_deadline()
//
// `now` never decreases. The configuration is const while the state lives.
#pragma once

#include "base/pacer.h"
#include "pfc/pfc.h"
#include "tests/host/frame.h"

enum {
	HOST_FLOW_MAX = 32,
	HOST_STREAM_MAX = 1024, // streams that a receiver can follow
	HOST_DELAY_MAX = 64,    // PFC frames that may wait for a slow response
	HOST_ARP_MAX = 16,      // ARP answers that may wait
};

// A stream of equal frames to one destination. Its stream number is id << 8 | its index.
struct host_flow_config {
	enum frame_kind kind;
	uint64_t dst_mac;
	uint32_t dst_ip;
	bool ipv6;
	uint32_t frame_bytes; // tag included; 0: the least
	uint64_t bps;         // over wire bytes; 0: the line alone limits
	uint64_t frames;      // in total; 0: until `stop`
	ns_t start;
	ns_t stop;    // zero: never
	uint8_t prio; // PFC priority that holds it, and PCP when tagged
	uint8_t dscp;
	uint8_t ecn;
	uint8_t opcode; // of the BTH
	uint32_t qp;
	uint16_t vid; // 0: untagged
};

// Gapless PFC, or PFC at intervals, whatever the state of the receiver.
struct host_storm_config {
	uint8_t enable; // class-enable vector; 0: no storm
	uint16_t quanta;
	uint64_t gap_ns; // from frame to frame; 0: one after another
	ns_t start;
	ns_t stop; // zero: never
};

// A receiver that takes `bps` per priority out of a buffer. Above xoff_bytes it pauses the peer, at
// or below xon_bytes it resumes; what does not fit is lost and counted.
struct host_receiver_config {
	uint64_t bps; // 0: takes everything at once, never pauses
	uint64_t buffer_bytes;
	uint64_t xoff_bytes;
	uint64_t xon_bytes;
	uint8_t enable; // priorities it pauses; others just overflow
	uint16_t quanta;
};

struct host_config {
	uint32_t id;
	uint64_t mac;
	uint32_t ip;
	uint64_t bps;         // line rate, above 0
	uint8_t obey;         // priorities whose PFC stops transmission
	uint64_t response_ns; // from the receipt of PFC to its effect
	bool announce;        // sends a gratuitous ARP first, so that a bridge learns the address
	uint8_t dscp_to_prio[64];
	struct host_storm_config storm;
	struct host_receiver_config receiver;
	uint32_t flow_count;
	struct host_flow_config flow[HOST_FLOW_MAX];
};

// Per priority. Bytes are frame bytes without FCS.
struct host_prio_stats {
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_ce;        // frames that arrived with CE
	uint64_t rx_lost;      // sequence numbers missing so far
	uint64_t rx_reordered; // frames behind a later one of their stream
	uint64_t rx_overflow;  // frames that the slow receiver had no room for
	uint64_t pfc_rx;       // PFC frames that name the priority
	uint64_t pfc_tx;
	uint64_t paused_ns;      // transmission held by the peer
	uint64_t peer_paused_ns; // the peer held by this receiver (storms aside)
};

struct host_stats {
	uint64_t rx_stray;     // frames for another address
	uint64_t rx_unstamped; // data frames without a stamp: counted, not followed
	uint64_t rx_untracked; // frames of streams beyond HOST_STREAM_MAX
	uint64_t rx_global_pause;
	uint64_t rx_arp;
	struct host_prio_stats prio[PRIO_COUNT];
};

struct host_flow_state {
	uint64_t sent;
	struct pacer_state pacer;
};

struct host_stream {
	uint64_t key;  // stream number + 1, 0: empty
	uint64_t next; // sequence number expected
};

struct host_state {
	ns_t now;
	struct pacer_state line;
	uint32_t next_flow; // round robin
	struct host_flow_state flow[HOST_FLOW_MAX];
	struct pfc_rx_state rx;
	struct pfc_gen_state gen;
	uint8_t wanted;                        // priorities in XOFF of the slow receiver
	struct pacer_state buffer[PRIO_COUNT]; // `ready`: when what it holds will be gone
	ns_t storm_at;
	uint32_t delay_head, delay_tail;
	struct {
		ns_t at;
		struct pfc_frame frame;
	} delay[HOST_DELAY_MAX];
	uint32_t arp_head, arp_tail;
	struct {
		uint64_t mac;
		uint32_t ip;
	} arp[HOST_ARP_MAX];
	bool announced;
	struct host_stream stream[HOST_STREAM_MAX];
	struct host_stats stats;
};

// Defaults for host `id`: conventional addresses, 10 Gb/s, obeys priorities 3 and 4, AZURE classes
// with DSCP 26 in priority 3, nothing to send.
void host_config_init(struct host_config *config, uint32_t id);

// Appends a flow to host `to` at line rate: `len` bytes a frame, priority and DSCP `prio` (of
// AZURE). Returns it for changes. Aborts when there are too many.
struct host_flow_config *host_add_flow(struct host_config *config, uint32_t to, uint8_t prio,
				       uint32_t len);

void host_init(const struct host_config *config, struct host_state *st);

// Writes the next frame that leaves at `now` to `out` (FRAME_MAX_BYTES) and returns its length, 0
// when nothing may leave yet. The line is then busy for the frame's wire time.
uint32_t host_tx(const struct host_config *config, struct host_state *st, ns_t now, uint8_t *out);

// The time at which host_tx() should be asked again if nothing arrives; NS_NEVER when nothing
// waits.
ns_t host_deadline(const struct host_config *config, const struct host_state *st, ns_t now);

void host_rx(const struct host_config *config, struct host_state *st, const uint8_t *data,
	     uint32_t len, ns_t now);

// Counters as of `now`, pauses that last included.
void host_stats_read(const struct host_state *st, ns_t now, struct host_stats *out);

// --- between host.c, host_tx.c and host_rx.c --------------------------------------------------

// Brings timers to `now`: delayed PFC takes effect, the slow receiver resumes.
void host_tick(const struct host_config *config, struct host_state *st, ns_t now);

struct pfc_rx_profile host_pfc_rx(const struct host_config *config);
struct pfc_gen_profile host_pfc_gen(const struct host_config *config);

// Bytes in the slow receiver's buffer of a priority.
uint64_t host_buffered(const struct host_config *config, const struct host_state *st, uint32_t prio,
		       ns_t now);

// When a priority in XOFF reaches xon_bytes.
ns_t host_xon_at(const struct host_config *config, const struct host_state *st, uint32_t prio);
