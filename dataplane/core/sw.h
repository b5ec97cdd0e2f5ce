// SPDX-License-Identifier: BSD-3-Clause
//
// One switch as a value: the contract between the core and any shell that moves packets. No I/O, no
// clock, no allocation, no globals: packets and `now` go in, packets and actions come out.
//
// Ownership: sw_rx and sw_copy take the packets; sw_tx, SW_ACTION_FREE and SW_ACTION_PUNT give
// packets back. `now` never decreases. Conservation, checked by sw_conserved():
//	rx + generated + copied = tx + consumed + dropped + queued
#pragma once

#include "dataplane/core/lacp.h"
#include "dataplane/core/pkt.h"
#include "dataplane/core/profile.h"
#include "dataplane/core/stats.h"
#include "ecn/roce_flows.h"

struct sw;
struct sw_tables;

// One iteration of a shell:
//	sw_tick(sw, lcore, now); drain sw_action();
//	for each port: n = receive(...); sw_rx(sw, port, pkts, n, now); drain sw_action();
//	sw_take(sw, lcore, now); drain sw_action();
//	for each port: n = sw_tx(sw, port, pkts, room, now); send(...); drain sw_action();
// Actions must be drained after each call that can make them, before the next sw_rx or sw_tx.
//
// A switch has one or more lcores; the profile says which of them owns a port. A call about a port
// is made by its owner, one that names an lcore by that one. Calls that do neither are made while
// every lcore is between two polls: sw_set_profile(), sw_set_tables(), statistics,
// sw_clear_watermarks() and sw_conserved().

enum {
	SW_BURST_MAX = 64, // packets per sw_rx or sw_tx call
	SW_TAG_ROOM = 8,   // writable bytes the shell keeps free before data, for tags
};

// --- life -------------------------------------------------------------------------------------

// Bytes and alignment (64) of the memory a switch of this profile needs.
size_t sw_bytes(const struct sw_profile *pf);

// Starts a switch in `memory` of sw_bytes(pf) bytes, all links down. The profile is borrowed until
// it is replaced. `seed` gives the dice.
struct sw *sw_init(void *memory, const struct sw_profile *pf, uint64_t seed, ns_t now);

// Replaces the whole profile. Nothing queued is lost: what packets hold stays charged and is split
// anew by the new reserves, headroom in use stays headroom, and limits apply from the next packet.
// Statistics of a pool follow its name.
// A row of the access list keeps its counters where its place and name stay.
// -EINVAL, and nothing changed, when ports or lcores differ in number, a port changes its lcore,
// several lcores shall hold more descriptors than the rings between them were made for, mac_count
// is more than sw_mac_room(), or memory is missing that sw_more_bytes() asks for.
int sw_set_profile(struct sw *sw, const struct sw_profile *pf, ns_t now);

// Addresses that the bridge's table was made for.
uint32_t sw_mac_room(const struct sw *sw);

// Bytes (alignment 64) of other memory that the switch needs before it can take this profile: for
// more rows of the access list than it has counters for, or for the first fabric port. 0: none.
size_t sw_more_bytes(const struct sw *sw, const struct sw_profile *pf);

// Moves what grows into `memory` of so many bytes, which is borrowed. Returns the memory of the
// call before, which is no longer used, or NULL; sw_more() is what is borrowed now.
void *sw_extend(struct sw *sw, const struct sw_profile *pf, void *memory);
void *sw_more(const struct sw *sw);

// Gives all lcores the tables to forward by; borrowed until replaced, NULL: a plain bridge. Rows
// may change while they are in use (tables.h).
void sw_set_tables(struct sw *sw, const struct sw_tables *tables);

// Routes packets that wait for a neighbour once more: it was found.
void sw_retry_held(struct sw *sw, lcore_t lcore, ns_t now);

// Carrier or admin state of a port. A port is used while that is up and its hellos say nothing
// else; what follows holds for both. Down drops what is queued for it, ends received pauses, and
// forgets its addresses (with several lcores the shell does that: sw_mac_forget_port()); a LAG
// keeps its own until as a whole it is down.
void sw_link(struct sw *sw, port_t port, bool up, ns_t now);

// --- packets ----------------------------------------------------------------------------------

// Takes `count` <= SW_BURST_MAX received packets: data, len, head_len and descriptors are set.
void sw_rx(struct sw *sw, port_t port, struct pkt **pkts, uint32_t count, ns_t now);

// Gives at most `count` packets that leave `port` now, in order. The caller sends all of them: they
// are no longer accounted. data and len are as sent.
uint32_t sw_tx(struct sw *sw, port_t port, struct pkt **pkts, uint32_t count, ns_t now);

// Bytes of the queue that pkts[at] left, itself included. `pkts` are the `count` packets that
// sw_tx() has just given for one port.
uint64_t sw_tx_queued(const struct sw *sw, struct pkt *const *pkts, uint32_t count, uint32_t at);

// The queues of a port (a bit each) that sw_tx() must not serve, replacing those of the last call:
// the device does not take their frames, be it full or paused by its peer. To the scheduler and the
// watchdog that is a received pause. It lasts until it is lifted here or the link goes down;
// sw_deadline() says nothing about such queues, so the shell watches the device meanwhile.
void sw_tx_block(struct sw *sw, port_t port, uint8_t queues);

// The queues of the last call.
uint8_t sw_tx_blocked(const struct sw *sw, port_t port);

// Takes what other lcores have handed to ports of this one to their queues; returns how many
// packets that were. Every iteration, before sw_tx(); nothing to do for a single lcore.
uint32_t sw_take(struct sw *sw, lcore_t lcore, ns_t now);

// True when another lcore has handed packets to this one.
bool sw_handed_waits(const struct sw *sw, lcore_t lcore);

// The lcores (a bit each) that this one has handed packets to since the last call: those that sleep
// must be woken.
uint32_t sw_handed(struct sw *sw, lcore_t lcore);

// True while a port with pause = "hold" has a lossless priority group in XOFF: do not receive.
bool sw_held(const struct sw *sw, port_t port);

// Priorities that a port has in XOFF towards its peer now. A device that does PFC itself is told by
// not receiving from their queues.
uint8_t sw_xoff(const struct sw *sw, port_t port);

// True when sw_tx() may have something for the port (its queues are not empty).
bool sw_backlogged(const struct sw *sw, port_t port);

// --- time -------------------------------------------------------------------------------------

// Timers: PFC repeats, hold list, hellos, LACP, watchdogs. Cheap when nothing is due.
void sw_tick(struct sw *sw, lcore_t lcore, ns_t now);

// Repeats the pauses that peers were told, ahead of their timers (pfc_gen_renew()). For a shell
// that has been away for longer than a visit takes, and may be so again.
void sw_renew_pauses(struct sw *sw, lcore_t lcore, ns_t now);

// The latest time at which sw_tick() or sw_tx() must be called again if nothing arrives: NS_NEVER
// when idle, in the past when there is work. A shell must not sleep beyond it.
ns_t sw_deadline(const struct sw *sw, lcore_t lcore, ns_t now);

// --- actions ----------------------------------------------------------------------------------

enum sw_action_kind {
	SW_ACTION_FREE,   // pkt, reason: release it; DROP_NONE: it was not dropped
	SW_ACTION_PFC,    // port, pfc: send this frame before any data
	SW_ACTION_LACP,   // port: send what sw_lacpdu() writes before any data
	SW_ACTION_COPY,   // pkt, ports: make a deep copy for each port and pass it to sw_copy();
			  // pkt stays the core's (an SW_ACTION_FREE follows)
	SW_ACTION_PUNT,   // pkt, port: to the control thread, which learns from ARP and ND and then
			  // sw_inject()s them; LLDP and what is for the router itself end there
	SW_ACTION_LEARN,  // mac, vid, port: an address is new or moved; answer with sw_mac_set()
	SW_ACTION_FORGET, // mac, vid, port: an address is old; answer with sw_mac_forget()
	SW_ACTION_STORM,  // port, queue, stormed: a watchdog found a storm or its end
	SW_ACTION_HELLO,  // port: send what sw_hello() writes before any data
	SW_ACTION_PEER,   // port: what sw_peer() says has changed
	SW_ACTION_SOLICIT, // pkt (borrowed), port, vid: ask for the address of its destination
	SW_ACTION_TELL,    // pkt (borrowed), port, vid, reason, mtu: it is dropped, its sender is
			   // told why; mtu with DROP_EXCEEDS_L3_MTU
};

struct sw_action {
	enum sw_action_kind kind;
	port_t port;
	uint16_t vid;
	uint64_t mac;
	struct pkt *pkt;
	struct port_set ports;
	struct pfc_frame pfc;
	queue_t queue;
	bool stormed;
	enum drop_reason reason;
	uint32_t mtu;
};

// Takes the next action; false when there is none. PFC frames come first.
bool sw_action(struct sw *sw, lcore_t lcore, struct sw_action *out, ns_t now);

// The answer to SW_ACTION_COPY for one port: `copy` has data, len, head_len, descriptors set and
// becomes the core's; NULL when no buffer was left (counted as COPY_NO_BUFFER). Copies are lossy:
// they hold no lossless charge.
void sw_copy(struct sw *sw, const struct pkt *original, struct pkt *copy, port_t port, ns_t now);

// Puts a frame of the control thread into the bridge as if it had arrived on `port` (a punted frame
// coming back, its struct pkt as it was: that keeps its lane), or, with PORT_NONE, floods it into
// VLAN `vid` (a solicitation). Lossy.
void sw_inject(struct sw *sw, struct pkt *p, port_t port, uint16_t vid, ns_t now);

// Sends a frame that the control thread made out of one port, in VLAN `vid`, whatever bridge,
// routes and turns say. Lossy, of class 0; ARP and ND go ahead of data, as those that sw_inject()
// floods do. Called by the first lcore.
void sw_send(struct sw *sw, struct pkt *p, port_t port, uint16_t vid, ns_t now);

// --- hellos -----------------------------------------------------------------------------------

// Writes the hello frame of a fabric port as of now; returns its length. `src` is the port's
// address.
uint32_t sw_hello(const struct sw *sw, port_t port, const uint8_t src[6],
		  uint8_t out[HELLO_FRAME_MAX]);

// What is known of the switch at the other end; status HELLO_OFF when the port sends no hellos.
const struct hello_peer *sw_peer(const struct sw *sw, port_t port);

// Whether the carrier is there; sw_link_up() says whether the port is used.
bool sw_carrier(const struct sw *sw, port_t port);

// --- link aggregation -------------------------------------------------------------------------

// Writes what LACP says on a port as of now. `src` is the port's address.
void sw_lacpdu(const struct sw *sw, port_t port, const uint8_t src[6],
	       uint8_t out[LACP_FRAME_BYTES]);

// All 0 on a port without LACP.
const struct lacp_state *sw_lacp(const struct sw *sw, port_t port);

// Whether a port takes part in its LAG, or stands alone and is up; whether a LAG as a whole, or the
// port, may be sent to.
bool sw_port_usable(const struct sw *sw, port_t port);
bool sw_link_reachable(const struct sw *sw, port_t port);

// --- watchdog ---------------------------------------------------------------------------------

// Makes the watchdog of a queue see a storm, for tests and drills, until it is turned off or the
// link goes down. False when the queue has no watchdog or its link is down.
bool sw_storm(struct sw *sw, port_t port, queue_t queue, bool on, ns_t now);

// Applies the action of each watched queue of the lcore, storm or none, until it is turned off
// again; besides the profile's own switch.
void sw_big_red(struct sw *sw, lcore_t lcore, bool on, ns_t now);

// Whether either switch is on.
bool sw_big_red_on(const struct sw *sw);

// --- test hooks -------------------------------------------------------------------------------

// What the field's test suites make queues fill with. They stay until they are turned off, over
// links that go down and profiles that change; what is queued is flushed with its link as ever.

// Off to `on`: no queue of the port is served. Frames that jump the queues still leave: PFC, hellos
// and LACP. To a watchdog that is no pause: nothing is stormed, and what is queued stays.
void sw_tx_disable(struct sw *sw, port_t port, bool on, ns_t now);

// The same of some queues of a port (a bit each), the others stay as they are. To a watchdog it is
// a received pause without end; no action of its lets such a queue send.
void sw_dequeue_disable(struct sw *sw, port_t port, uint8_t queues, bool on, ns_t now);

// Seeds the dice of an lcore as sw_init() does: what ECN and WRED draw from here on repeats.
void sw_seed(struct sw *sw, lcore_t lcore, uint64_t seed);

struct sw_hooks {
	bool tx_disabled;
	uint8_t dequeue_disabled; // queues
	uint8_t storm_forced;     // queues, by sw_storm()
};

struct sw_hooks sw_hooks(const struct sw *sw, port_t port);

// --- bridge -----------------------------------------------------------------------------------

// A LAG is known by the lowest of its member ports; where a port is given, any member will do.
struct mac_entry {
	uint64_t mac;
	uint16_t vid;
	port_t port;
	ns_t seen; // last time it was a source address
};

// Every lcore has a table of its own. The shell tells all of them of each change, in one order, so
// that they stay the same: no lcore changes its table by itself unless it is the only one.

// Binds an address to a port (adds or moves) and releases held packets that wait for it. False when
// the table or the port's limit is full.
bool sw_mac_set(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid, port_t port, ns_t now);
bool sw_mac_delete(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid);

// Unbinds an address if it is bound to this port, or all addresses of a port, or of its LAG, that
// is down.
bool sw_mac_forget(struct sw *sw, lcore_t lcore, uint64_t mac, uint16_t vid, port_t port);
void sw_mac_forget_port(struct sw *sw, lcore_t lcore, port_t port);

// Copies at most `max` entries of ports of the lcore from table position *at on; *at moves on and
// is 0 at the end. `seen` is right at the owner of the port alone.
uint32_t sw_mac_walk(const struct sw *sw, lcore_t lcore, uint32_t *at, struct mac_entry *out,
		     uint32_t max);

// Looks at `slots` positions per call, round robin, for entries of the lcore's ports that are
// unseen since mac_age. A single lcore forgets them, one of several announces them as
// SW_ACTION_FORGET.
void sw_mac_age(struct sw *sw, lcore_t lcore, uint32_t slots, ns_t now);

// --- statistics -------------------------------------------------------------------------------

const struct sw_profile *sw_profile_of(const struct sw *sw);
bool sw_link_up(const struct sw *sw, port_t port);

// Snapshots, of a switch whose lcores are all between two polls. Gauges are computed as of `now`,
// watermarks are of `kind`. With several lcores the watermarks of a pool and of descriptors are
// sums of what each lcore has seen: an upper bound.
void sw_stats_switch(const struct sw *sw, enum watermark_kind kind, struct switch_stats *out);
void sw_stats_pool(const struct sw *sw, uint32_t pool, enum watermark_kind kind,
		   struct pool_stats *out);
void sw_stats_port(const struct sw *sw, port_t port, struct port_stats *out);
void sw_stats_prio(const struct sw *sw, port_t port, prio_t prio, ns_t now, struct prio_stats *out);
void sw_stats_pg(const struct sw *sw, port_t port, pg_t pg, enum watermark_kind kind,
		 struct pg_stats *out);
void sw_stats_queue(const struct sw *sw, port_t port, queue_t queue, enum watermark_kind kind,
		    ns_t now, struct queue_stats *out);

// Of one row of the access list, by its place; acl_rows_of() has the rows.
void sw_stats_acl(const struct sw *sw, uint32_t row, struct acl_stats *out);

// Frames dropped for a reason at a port; with PORT_NONE, injected frames that had no port.
uint64_t sw_drops(const struct sw *sw, port_t port, enum drop_reason reason);
const struct cnp_flows *sw_cnp_flows(const struct sw *sw, lcore_t lcore);
const struct roce_flows *sw_roce_flows(const struct sw *sw, lcore_t lcore);

// Restarts the watermarks of one kind.
void sw_clear_watermarks(struct sw *sw, enum watermark_kind kind);

// Frames the shell lost or counted on a port's behalf (driver statistics): adds to RX_NO_BUFFER and
// RX_MISSED.
void sw_count_rx_lost(struct sw *sw, port_t port, uint64_t no_buffer, uint64_t missed);

// A packet that sw_tx() gave and the driver refused for good: it counts as TX_REFUSED, not as sent.
void sw_tx_refused(struct sw *sw, port_t port, const struct pkt *p);

// The conservation equation, and that the sum of all charges equals what pools, groups and queues
// hold. Walks everything; for tests, shutdown and debug builds.
bool sw_conserved(const struct sw *sw);
