// SPDX-License-Identifier: BSD-3-Clause
//
// Priority-based flow control, IEEE 802.1Qbb (802.1Q clause 36) over the MAC control frames of
// 802.3 annex 31B/31D: the frame, its generation from XOFF states, its reception into per-priority
// pause timers, and the headroom that covers what no pause can recall.
//
// All of it is state plus `now`; frames are values that the caller encodes and sends.
#pragma once

#include "base/types.h"

// --- frame.c ----------------------------------------------------------------------------------

enum {
	PFC_FRAME_BYTES = 60, // encoded, without FCS: the 64-byte minimum frame
	PFC_ETHERTYPE = 0x8808,
	PFC_OPCODE_PAUSE = 0x0001, // 802.3x, whole link
	PFC_OPCODE_PFC = 0x0101,
	PFC_QUANTUM_BITS = 512,
};

// One PFC frame. Bit p of `enable` says that quanta[p] counts; quanta 0 resumes.
struct pfc_frame {
	uint8_t enable;
	uint16_t quanta[PRIO_COUNT];
};

enum pfc_verdict {
	PFC_FRAME_PFC,          // decoded into the frame
	PFC_FRAME_GLOBAL_PAUSE, // 802.3x: counted apart, never pauses a priority
	PFC_FRAME_UNKNOWN,      // MAC control with another opcode
	PFC_FRAME_TRUNCATED,    // shorter than the fields it needs
};

// Writes a frame with destination 01:80:c2:00:00:01, source `src` (6 bytes, a real port address).
// The timers of priorities that are not enabled go out as 0.
void pfc_frame_encode(const struct pfc_frame *frame, const uint8_t src[6],
		      uint8_t out[PFC_FRAME_BYTES]);

// `frame_bytes` starts at the destination address; `len` bytes are readable; `l2_len` is the
// offset behind EtherType 0x8808 (14, or more behind VLAN tags). The high byte of the enable
// vector is reserved and ignored. Source addresses are not judged, all-zero ones included.
// `out` is written for PFC_FRAME_PFC alone; timers that are not enabled read as 0 there.
enum pfc_verdict pfc_frame_decode(const uint8_t *frame_bytes, uint32_t len, uint32_t l2_len,
				  struct pfc_frame *out);

// Duration of `quanta` pause quanta (512 bit times each) at `bps`, rounded down to whole
// nanoseconds; 0 when bps is 0. `quanta` is below 2^25 (two maximal timers make 2^17).
uint64_t pfc_quanta_ns(uint32_t quanta, uint64_t bps);

// --- gen.c ------------------------------------------------------------------------------------

struct pfc_gen_profile {
	uint8_t enable;      // priorities that may be generated: lossless ones only
	uint16_t quanta;     // pause time of an XOFF
	uint64_t refresh_ns; // period of repeats while XOFF lasts: half the pause time
};

// One port's generator. Zero is a valid initial state.
struct pfc_gen_state {
	uint8_t wanted;                 // priorities in XOFF now
	uint8_t told;                   // priorities the peer was last told to hold
	ns_t refresh_at;                // next repeat; meaningful while told != 0
	ns_t until;                     // the peer resumes on its own; likewise
	ns_t since[PRIO_COUNT];         // start of the present XOFF
	uint64_t paused_ns[PRIO_COUNT]; // XOFF time that has ended
	uint64_t lapses[PRIO_COUNT];    // pauses that ran out before the peer was told more
};

// Sets which priorities are in XOFF. Priorities outside pf->enable are ignored, so this is also the
// call that follows a change of the profile: what may no longer be paused is released. When the
// peer has forgotten what it was told (the link was down), clear st->told: all is told again.
void pfc_gen_update(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, uint8_t wanted,
		    ns_t now);

// True when a frame must go out: some priority changed, or a repeat is due. Fills `out` with the
// changed priorities and every priority in XOFF, and notes them as told. Since each frame renews
// all timers, the next repeat is due `refresh_ns` after this frame and a priority that toggles
// cannot put off the repeats of another. Repeats depend on `now` alone, never on arrivals.
//
// With refresh_ns at most half the pause time the peer never runs out while XOFF lasts, if this is
// asked at least every refresh_ns. Where that was not so, and the pause is over before this frame,
// the peer may have sent meanwhile, and `lapses` says so.
bool pfc_gen_frame(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, ns_t now,
		   struct pfc_frame *out);

// Makes the repeat due now, unless the peer was told within the last eighth of a pause. For who may
// be away for long: asked at each visit, pauses outlast absences of up to seven eighths of the
// pause time, whatever their phase, where the timer alone is good for half of it.
void pfc_gen_renew(const struct pfc_gen_profile *pf, struct pfc_gen_state *st, ns_t now);

// When pfc_gen_frame() must be asked again without a change: NS_NEVER while nothing is in XOFF,
// the past when a change has not been told.
ns_t pfc_gen_deadline(const struct pfc_gen_state *st);

// Total XOFF time of a priority including one that lasts.
uint64_t pfc_gen_paused_ns(const struct pfc_gen_state *st, prio_t prio, ns_t now);

// --- rx.c -------------------------------------------------------------------------------------

struct pfc_rx_profile {
	uint8_t obey; // priorities that pause: pfc_enable when symmetric, all when asymmetric
	uint64_t bps; // rate that gives the quantum its length; emulated rate on virtual ports
};

// One port's received pauses. Zero is a valid initial state.
struct pfc_rx_state {
	uint8_t paused;                 // as of the last call; pfc_rx_paused() expires timers
	ns_t expires;                   // earliest `until`; meaningful while paused != 0
	ns_t until[PRIO_COUNT];         // pause end
	ns_t since[PRIO_COUNT];         // pause start
	uint64_t paused_ns[PRIO_COUNT]; // pauses that have ended, at their real end
	uint64_t pauses[PRIO_COUNT];    // pauses begun (off to on)
	uint64_t resumes[PRIO_COUNT];   // pauses ended (SAI ON2OFF)
	uint64_t recent_ns[PRIO_COUNT]; // duration of the last pause that has ended
};

// Applies a received frame: for each enabled and obeyed priority the new timer replaces the old
// one, and quanta 0 resumes at once (as does a pause that rounds to 0 ns).
void pfc_rx_frame(const struct pfc_rx_profile *pf, struct pfc_rx_state *st,
		  const struct pfc_frame *frame, ns_t now);

// Priorities paused at `now`; ends the pauses whose time has passed (until <= now).
uint8_t pfc_rx_paused(struct pfc_rx_state *st, ns_t now);

// Ends every pause at `now` (link down, priority no longer obeyed: those not in `keep`).
void pfc_rx_resume(struct pfc_rx_state *st, uint8_t keep, ns_t now);

uint64_t pfc_rx_paused_ns(const struct pfc_rx_state *st, prio_t prio, ns_t now);

// Duration of the newest pause, which began at st->since[prio] and may still last; 0: never paused.
uint64_t pfc_rx_recent_ns(const struct pfc_rx_state *st, prio_t prio, ns_t now);

// --- watchdog.c -------------------------------------------------------------------------------

enum { PFC_WATCHDOG_PPM = 1000000 }; // paused fractions are in parts per million

struct pfc_watchdog_profile {
	uint64_t poll_ns; // at most detection_ns and restoration_ns
	uint64_t detection_ns;
	uint64_t restoration_ns;
	uint32_t paused_ppm; // fraction of a poll from which a queue counts as held by PFC
};

// What the owner of a queue has seen since the last poll.
struct pfc_watchdog_sample {
	ns_t head_since;    // when the packet at the head joined the queue, NS_NEVER: empty
	uint64_t dequeued;  // packets that ever left; any change clears
	uint64_t paused_ns; // time paused by received PFC since the last poll
};

enum pfc_watchdog_event { PFC_WATCHDOG_QUIET, PFC_WATCHDOG_DETECTED, PFC_WATCHDOG_RESTORED };

// One queue's watchdog. pfc_watchdog_start() makes a valid state of zeros.
struct pfc_watchdog_state {
	ns_t last;         // last poll
	ns_t next;         // when the next is due
	ns_t forced_at;    // when the forced storm was turned on or off
	uint64_t gathered; // time that counts towards detection, or restoration while stormed
	uint64_t dequeued; // as of the last poll
	uint64_t detected; // storms that began
	uint64_t restored; // storms that ended, by calm or by pfc_watchdog_start()
	bool stormed;
	bool forced; // a storm is made believe (DEBUG_STORM of the field)
};

// Begins anew at `now`, as when a link comes up or goes down: no storm, nothing gathered; a storm
// that lasted counts as restored, a forced storm ends. True when there was a storm.
bool pfc_watchdog_start(const struct pfc_watchdog_profile *pf, struct pfc_watchdog_state *st,
			uint64_t dequeued, ns_t now);

// Judges the time since the last poll, at or after st->next. Detected: longer than detection_ns the
// queue held packets, sent none and was paused, for at least paused_ppm of every poll. Restored:
// longer than restoration_ns it was paused by less. A poll that says otherwise starts over.
// With polls on time a storm is found more than detection_ns and at most detection_ns + poll_ns
// after it began; its end likewise.
enum pfc_watchdog_event pfc_watchdog_poll(const struct pfc_watchdog_profile *pf,
					  struct pfc_watchdog_state *st,
					  const struct pfc_watchdog_sample *sample, ns_t now);

// Makes the watchdog see a storm from `now` on, whatever happens on the wire, or no more.
void pfc_watchdog_force(struct pfc_watchdog_state *st, bool on, ns_t now);

// --- headroom.c -------------------------------------------------------------------------------

// Constants of the buffer model that the field's headroom formula takes (sonic-swss
// buffer_headroom_mellanox.lua). The field writes them as KiB with one decimal, which is no whole
// number of bytes, so they are kept in tenths of a KiB (below 2^20) and the formula is evaluated
// exactly.
struct headroom_asic {
	uint32_t cell_bytes; // 1..1024
	uint32_t pipeline_latency_deci_kib;
	uint32_t mac_phy_delay_deci_kib;
	uint32_t peer_response_deci_kib; // for speeds that have no quanta in the table
	bool fixed_peer_response;        // use peer_response_deci_kib at every speed
};

struct headroom_link {
	uint64_t bps; // bps * cable_m is below 2^63
	uint32_t cable_m;
	uint32_t port_mtu;      // frame bytes, 9100 in the field
	uint32_t lossless_mtu;  // frame bytes of the lossless traffic pattern, 1..65535
	uint32_t small_percent; // small_packet_percentage 0..100
	uint32_t gearbox_bytes; // one way
	bool eight_lanes;
	bool shared_pool; // a shared headroom pool exists: size is xon
};

struct headroom {
	uint64_t size;
	uint64_t xon;
	uint64_t xoff;
};

extern const struct headroom_asic headroom_asic_virtual; // SONiC's virtual switch

// The field's figure for hardware: everything still to come once XOFF is sent, rounded up to KiB.
// Values outside the ranges above are programmer errors.
struct headroom headroom_wire(const struct headroom_asic *asic, const struct headroom_link *link);

// Time from a PFC frame's arrival at a peer to its effect, as that formula takes it: MAC and PHY
// delay, and the response of IEEE 802.1Q where the speed is in its table. bps > 0.
uint64_t headroom_response_ns(const struct headroom_asic *asic, uint64_t bps);

// --- headroom_class.c -------------------------------------------------------------------------

// By what a port loses nothing.
enum headroom_class {
	HEADROOM_WIRE, // a NIC: headroom covers what is on its way until the pause works
	HEADROOM_RING, // a software link: headroom covers its rings, which no pause recalls
	HEADROOM_HOLD, // a peer that ignores PFC: it is not polled while in XOFF
};

// What is between a priority group and its peer; each class reads what is marked.
struct headroom_path {
	enum headroom_class class;
	uint64_t bps;          // wire, ring: rate of the peer; ring: 0 is none; at most 1.6T
	uint64_t delay_ns;     // wire: one way, at most 1 s
	uint64_t response_ns;  // wire, ring: until the peer obeys what has reached it, at most 10 s
	uint64_t gap_ns;       // wire: longest time between two visits of the receive ring
	uint32_t ring_frames;  // wire, ring: our receive ring
	uint32_t ahead_frames; // wire: sent before our PFC frame: transmit ring, frame on its way
	uint32_t peer_frames;  // wire: the peer's transmit ring; ring: what it holds back
	uint32_t burst_frames; // ring, hold: taken from the receive ring at once
	uint32_t visit_frames; // ring without a rate: sent between two looks at its receive ring
	uint32_t frame_bytes;  // largest frame without FCS, below 16 KiB
	uint32_t cell_bytes;   // 1..1024
};

// Headroom (xoff) that a lossless priority group needs behind this path. The proof of each class is
// in the file. Values outside the ranges above are programmer errors.
uint64_t headroom_class_bytes(const struct headroom_path *path);

// The most frames, of any length, that this headroom is for.
uint64_t headroom_class_frames(const struct headroom_path *path);
