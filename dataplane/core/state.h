// SPDX-License-Identifier: BSD-3-Clause
//
// The mutable state of one switch. Private to dataplane/core: shells see only sw.h.
//
// Writers: a port, its priority groups and its queues belong to the lcore that polls the port. All
// else that one lcore writes is in its struct sw_lcore, which is what every stage is given. A
// packet may go from a group of one lcore to a queue of another; that is why the two sides of a
// port are kept apart and why charges never keep a pointer into the other side.
#pragma once

#include <stdatomic.h>

#include "base/check.h"
#include "base/ring.h"
#include "base/rng.h"
#include "dataplane/core/sw.h"
#include "dataplane/core/tables.h"

// Occupancy of one priority group. Bytes under the limit (reserve first, then shared) and headroom
// are kept apart: which of them an old packet was charged to does not matter, since release takes
// headroom, then shared, then reserve.
struct pg_state {
	_Alignas(64) uint64_t used; // reserve and shared
	uint64_t headroom;          // headroom in use
	uint32_t descriptors;       // under the limit
	uint32_t headroom_descriptors;
	bool xoff;                 // latched by the owner; only the XON rule clears it
	struct watermark wm_used;  // of `used`; beyond the reserve it is the shared watermark
	struct watermark wm_total; // of used and headroom, raised while headroom is in use
	struct watermark wm_headroom;
	struct pg_stats stats;
};

struct queue_state {
	_Alignas(64) struct pkt *head;
	struct pkt *tail;
	uint64_t bytes; // charged, whole cells
	uint64_t deficit;
	uint32_t count;
	struct pacer_state shaper;
	struct watermark wm_total; // of `bytes`; beyond the reserve it is the shared watermark
	struct watermark wm_delay;
	struct queue_stats stats;
	// blocks that the watchdog counts (block.c), in what was room to the next line
	uint64_t blocked_ns;         // blocks that have ended
	uint64_t watched_blocked_ns; // of them, and of a present one, at the watchdog's last poll
	ns_t blocked_at;             // start of the present one
};

// Something that the lcores share (credit.c).
struct purse {
	_Atomic(int64_t)
		left;  // not borrowed; below 0 when lossless traffic has taken more than all
	int64_t chunk; // how much is borrowed ahead; written while no lcore runs
};

// What an lcore has borrowed of it.
struct credit {
	uint64_t limit;   // may be used without asking
	uint64_t visible; // that, and what nobody had borrowed as of this burst
};

// What all lcores know of a pool.
struct pool_common {
	_Alignas(64) struct purse purse; // its shared bytes
	_Atomic(uint64_t) headroom_used;
};

// What one lcore has charged to a pool.
struct pool_state {
	_Alignas(64) uint64_t shared_used;
	struct credit credit; // for `shared_used`
	struct pool_common *common;
	uint64_t used; // reserve and shared
	uint64_t headroom_used;
	struct watermark wm_total;
	struct watermark wm_headroom;
	uint64_t dropped_packets;
};

// Packets of a watched queue (tx) and of its priority groups at the port (rx).
struct watchdog_counts {
	uint64_t tx, tx_dropped, rx, rx_dropped;
};

struct watchdog_state {
	struct pfc_watchdog_state pfc;
	struct watchdog_counts base;  // counters when the action was last applied
	struct watchdog_counts last;  // of the newest spell that has ended
	struct watchdog_counts ended; // of all spells that have ended
};

// What the hellos of a port say (hello.c).
struct hello_state {
	bool carrier;             // of the link; hellos may find that it lies
	enum hello_status status; // of `about`, as of its last change
	enum hello_mismatch seen_mismatch;
	uint32_t seq;           // of the newest sent
	ns_t sent_at;           // when
	ns_t send_at;           // when the next is due
	uint8_t refused;        // lossless queues, while the peer disagrees
	_Atomic(uint64_t) peer; // who it is, 0: unknown; read by every lcore
	struct hello_peer about;
};

enum { WAY_LAG = UINT8_MAX };

struct port_state {
	// ingress side
	_Atomic(bool) link_up; // read by every lcore: port_is_up()
	// Of the logical port; written by whoever owns a member: port_is_reachable().
	_Atomic(bool) reachable;
	uint8_t xoff_mask; // PGs in XOFF
	uint8_t discarded; // PGs whose arrivals the watchdog discards
	uint8_t muted;     // priorities that the watchdog keeps from announcing XOFF
	struct pacer_state flood;
	struct pfc_gen_state gen;
	struct pfc_gen_state held; // how long priorities of a `hold` port were held
	struct pg_state pg[PG_COUNT];
	// egress side
	uint8_t backlog_mask; // queues that are not empty
	uint8_t paused_mask;  // queues paused as of the last sw_tx
	uint8_t refused;      // queues that take nothing: all while the link is down, or stormed
	uint8_t unpaused;     // queues on which the watchdog ignores PFC
	uint8_t blocked;      // queues that are not served, by any of the orders in block.c
	uint8_t way;          // lcore that takes packets to this port, WAY_LAG: first pick a member
	uint8_t dwrr_current;
	uint8_t ahead_queue; // that `ahead` is in
	struct pacer_state line;
	struct pfc_rx_state rx;
	struct pkt *ahead; // last of the packets at the head of a queue that go before all, or NULL
	struct queue_state queue[QUEUE_COUNT];
	// both
	struct lacp_state lacp;
	struct lacp_info lacp_actor;    // that `lacp` began as
	_Atomic(uint64_t) lacp_partner; // lacp_partner(), read by every lcore
	struct port_stats stats;
	uint64_t pfc_rx_pkts[PRIO_COUNT];
	uint64_t pfc_tx_pkts[PRIO_COUNT];
	uint64_t drops[DROP_REASON_COUNT];
	// block.c, on the egress side
	uint8_t device_blocked;   // sw_tx_block()
	uint8_t dequeue_disabled; // sw_dequeue_disable()
	bool tx_disabled;         // sw_tx_disable()
	// watchdog.c, on the egress side but for what it masks
	uint8_t applied;                        // queues whose action is in effect
	uint8_t storm_told;                     // queues last reported as stormed
	uint64_t watched_paused_ns[PRIO_COUNT]; // pause clock at the last poll
	struct watchdog_state watchdog[QUEUE_COUNT];
	struct hello_state hello; // on the ingress side
	struct pacer_state asks;  // hold.c: its bytes are questions
	struct pacer_state lldp;  // route.c: its bytes are frames
};

// The bridge's address table: open addressing with linear probing and backward-shift deletion. Each
// lcore has a replica of its own, so a reader never meets a writer; the control thread tells every
// lcore of each change.
struct mac_slot {
	uint64_t key; // mac | vid << 48 | MAC_SLOT_USED; 0: empty
	ns_t seen;
	port_t port;
};

#define MAC_SLOT_USED (1ull << 60)

static inline uint64_t mac_slot_key(uint64_t mac, uint16_t vid)
{
	return mac | (uint64_t)vid << 48 | MAC_SLOT_USED;
}

struct bridge_state {
	struct mac_slot *slot; // slot_count, a power of two
	uint32_t slot_count;
	uint32_t home_shift; // 64 - log2(slot_count)
	uint32_t used;
	uint32_t *port_used; // addresses behind each port
	uint32_t age_at;     // next slot of sw_mac_age()
	uint64_t learn_key;  // last address announced, so that a burst announces it once
	port_t learn_port;
	ns_t learn_at;
};

// What one row of the access list has seen, on one lcore.
struct acl_state {
	struct acl_stats stats;
	struct pacer_state rate;
};

// Lossless unicast and routed packets that wait for their destination to be learned, oldest first.
struct hold_state {
	struct pkt *head;
	struct pkt *tail;
	uint32_t count;
	uint32_t lossy;     // of them, routed packets without a lossless charge
	uint64_t asked_key; // last address asked for, so that a burst asks once
	ns_t ask_at;        // when those that still wait are asked for again
};

// Actions wait in a ring until the shell drains them: a burst of SW_BURST_MAX packets makes at most
// two each (learn, then copy, punt or solicit). Packets to be freed form a list of their own, since
// a link that goes down may free thousands.
enum { ACTION_RING = 4 * SW_BURST_MAX };
static_assert((ACTION_RING & (ACTION_RING - 1)) == 0, "ring indices are masked");

struct action_state {
	uint32_t head;
	uint32_t tail;
	struct pkt *freed;
	struct sw_action ring[ACTION_RING];
};

// Hellos of the ports of an lcore.
struct hello_lcore {
	ns_t at;              // next timer
	ns_t scan_at;         // next look at what can be reached
	struct port_set send; // have a hello to send
	struct port_set tell; // have a changed peer to report
	ns_t visited;         // last look at the time
	ns_t scanned;         // last look at what can be reached
	uint32_t reach_seen;  // sw->reach then
};

// Masks of one port (hello_mask.c), of the lcore that owns it.
struct hello_masks {
	struct hello_mask told;  // edges that our hellos say we reach only through the peer
	struct hello_mask heard; // that the peer's say
	struct hello_mask fresh; // 0 but while hello_mask_scan() runs
};

// What one forwarding lcore writes, beside its ports. Its sums over the lcores are the switch's.
struct sw_lcore {
	struct pool_state pool[CONFIG_POOL_MAX]; // first: nothing to add to find one
	const struct sw_profile *pf;
	struct port_state *port;        // all ports of the switch; those of other lcores are theirs
	struct sw *sw;                  // what is common to all lcores
	const struct sw_tables *tables; // NULL: a plain bridge
	lcore_t id;
	uint8_t handed; // lcores that were given packets, see sw_handed()
	struct rng dice;
	ns_t now;                    // latest time seen; time never goes back
	struct port_set pfc_ports;   // have a PFC frame to send
	struct port_set lacp_ports;  // may have an LACPDU to send
	struct port_set xoff_ports;  // have a PG in XOFF
	ns_t tick_at;                // next timer, see sw_tick()
	ns_t watchdog_at;            // next poll of a watchdog
	struct port_set storm_ports; // have a storm that began or ended, to be reported
	bool big_red;                // sw_big_red()
	uint32_t descriptors_used;   // under limits, copies included
	uint32_t copy_descriptors;   // of them, held by copies
	uint32_t headroom_descriptors_used;
	struct credit descriptor_credit; // for `descriptors_used`
	struct watermark wm_descriptors;
	struct switch_stats stats;
	struct bridge_state bridge;
	struct hold_state hold;
	struct pacer_state tell; // tell_sender(): its bytes are packets
	struct action_state actions;
	struct hello_lcore hello;
	struct cnp_flows cnp;
	struct acl_state *acl;                      // acl_capacity of the switch, one per row
	uint64_t portless_drops[DROP_REASON_COUNT]; // of injected frames that have no port yet
	struct roce_flows roce;
};

// From one lcore to another.
struct crossing {
	struct ring ring; // packets for ports of the other
	// sender: rw
	_Alignas(64) _Atomic(uint32_t) released; // packets of the other's groups that have left
	// receiver: rw
	_Alignas(64) uint32_t collected; // `released` when it last looked
};

// What an lcore has released, ever, of the groups of a port of another lcore.
struct released {
	_Alignas(64) _Atomic(uint64_t) bytes[PG_COUNT];
	_Atomic(uint32_t) descriptors[PG_COUNT];
	_Atomic(uint32_t) copies;  // descriptors of copies
	_Atomic(uint32_t) packets; // written last: who sees it sees the others
};

// What the owner of that port has applied of it.
struct collected {
	_Alignas(64) uint64_t bytes[PG_COUNT];
	uint32_t descriptors[PG_COUNT];
	uint32_t copies;
	uint32_t packets;
};

struct sw {
	const struct sw_profile *pf;
	struct port_state *port; // port_count
	// read and written by atomic operations on their words, see lag.c
	struct port_set usable;    // ports that may be sent to
	struct port_set reachable; // likewise logical ports: LAGs as a whole
	struct port_set disagreed; // likewise: ports whose peers differ in lanes or PFC
	_Atomic(uint32_t) reach;   // counts changes of what can be reached
	uint32_t boot;             // differs from life to life
	uint64_t hello_id;         // of the name
	// with fabric ports
	struct port_set *masked;   // HELLO_EDGE_MAX: ports whose peer cannot reach it; as `usable`
	struct hello_masks *masks; // port_count
	uint32_t lcore_count;
	uint32_t acl_capacity;
	void *more; // of sw_extend(), NULL: all is where sw_init() laid it
	// with several lcores
	struct crossing *crossing; // [from][to]
	struct released *released; // [egress lcore][port], and behind the ports frames without one
	struct collected *collected; // likewise
	uint32_t ring_count;         // slots of each ring
	_Alignas(64) struct purse descriptors;
	struct pool_common pool[CONFIG_POOL_MAX];
	struct sw_lcore lcore[];
};

// Fibonacci hashing: the table size is a power of two, the upper bits mix best.
static inline uint32_t mac_slot_home(const struct bridge_state *bridge, uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> bridge->home_shift);
}

// The slot of a key, or the empty one where it would go.
static inline struct mac_slot *mac_slot_find(const struct bridge_state *bridge, uint64_t key)
{
	uint32_t mask = bridge->slot_count - 1;

	for (uint32_t i = mac_slot_home(bridge, key);; i = (i + 1) & mask) {
		if (bridge->slot[i].key == key || bridge->slot[i].key == 0)
			return &bridge->slot[i];
	}
}

// A function off the path that most packets take: laid out apart, and its callers keep no registers
// free for it.
#define COLD __attribute__((cold, noinline))

// Makes the compiler keep an address. Left alone, gcc works out the place of an array element anew
// at each access to it, multiplications included, which took a third of all instructions.
#define KEEP_ADDRESS(pointer) __asm__("" : "+r"(pointer))

static inline struct sw_lcore *lcore_of_port(struct sw *sw, port_t port)
{
	struct sw_lcore *lc = &sw->lcore[sw->pf->port[port.v].lcore.v];

	KEEP_ADDRESS(lc);
	return lc;
}

static inline bool lcore_owns(const struct sw_lcore *lc, port_t port)
{
	return lc->pf->port[port.v].lcore.v == lc->id.v;
}

static inline const struct port_profile *port_profile_of(const struct sw_lcore *lc, port_t port)
{
	const struct port_profile *pf = &lc->pf->port[port.v];

	KEEP_ADDRESS(pf);
	return pf;
}

static inline struct port_state *port_state_of(struct sw_lcore *lc, port_t port)
{
	struct port_state *st = &lc->port[port.v];

	KEEP_ADDRESS(st);
	return st;
}

// Injected frames without a port are the first lcore's.
static inline struct sw_lcore *lcore_of_frame(struct sw *sw, port_t in_port)
{
	return in_port.v < sw->pf->port_count ? lcore_of_port(sw, in_port) : &sw->lcore[0];
}

static inline struct crossing *crossing_of(const struct sw *sw, lcore_t from, lcore_t to)
{
	return &sw->crossing[from.v * sw->lcore_count + to.v];
}

// Where a port's row is, in `released` and `collected`.
static inline size_t released_row(const struct sw *sw, lcore_t egress, port_t port)
{
	uint32_t count = sw->pf->port_count;

	return egress.v * (count + 1) + (port.v < count ? port.v : count);
}

static inline struct released *released_of(const struct sw *sw, lcore_t egress, port_t port)
{
	return &sw->released[released_row(sw, egress, port)];
}

static inline struct collected *collected_of(const struct sw *sw, lcore_t egress, port_t port)
{
	return &sw->collected[released_row(sw, egress, port)];
}

// Whether a port may be sent to, as of lately: its owner decides when a packet gets there.
static inline bool port_is_up(const struct port_state *st)
{
	return atomic_load_explicit(&st->link_up, memory_order_relaxed);
}

// The same of a logical port: a port in no LAG, or a LAG with enough members.
static inline bool port_is_reachable(const struct port_state *st)
{
	return atomic_load_explicit(&st->reachable, memory_order_relaxed);
}

// The port that stands for the LAG of a port, or itself; PORT_NONE stays.
static inline port_t logical_port(const struct sw_profile *pf, port_t port)
{
	return port.v < pf->port_count ? pf->port[port.v].logical : port;
}

// NULL: the port is in none.
static inline const struct lag_profile *lag_profile_of(const struct sw_profile *pf, port_t port)
{
	const uint8_t lag = pf->port[port.v].lag;

	return lag != 0 ? &pf->lag[lag - 1] : NULL;
}

static inline const struct pg_profile *pg_profile_of(const struct port_profile *port, pg_t pg)
{
	const struct pg_profile *pf = &port->pg[pg.v];

	KEEP_ADDRESS(pf);
	return pf;
}

static inline struct pg_state *pg_state_of(struct port_state *port, pg_t pg)
{
	struct pg_state *st = &port->pg[pg.v];

	KEEP_ADDRESS(st);
	return st;
}

static inline const struct queue_profile *queue_profile_of(const struct port_profile *port,
							   queue_t queue)
{
	const struct queue_profile *pf = &port->queue[queue.v];

	KEEP_ADDRESS(pf);
	return pf;
}

static inline struct queue_state *queue_state_of(struct port_state *port, queue_t queue)
{
	struct queue_state *st = &port->queue[queue.v];

	KEEP_ADDRESS(st);
	return st;
}

static inline const struct pool_profile *pool_profile_of(const struct sw_lcore *lc, uint8_t pool)
{
	const struct pool_profile *pf = &lc->pf->pool[pool];

	KEEP_ADDRESS(pf);
	return pf;
}

static inline struct pool_state *pool_state_of(struct sw_lcore *lc, uint8_t pool)
{
	struct pool_state *st = &lc->pool[pool];

	KEEP_ADDRESS(st);
	return st;
}
