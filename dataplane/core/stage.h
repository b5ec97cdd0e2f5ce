// SPDX-License-Identifier: BSD-3-Clause
//
// The stages of a packet's life, in order. Private to dataplane/core; pipeline.c strings them
// together. A stage that returns DROP_NONE passes the packet on; any other reason sends it to
// drop(), the only other exit.
//
//	parse > classify > filter > admit > route > enqueue > sched > depart
//
// A stage is given the lcore that runs it; ports that it touches are that lcore's.
#pragma once

#include "dataplane/core/charge.h"
#include "dataplane/core/config.h"

// 01:80:c2:00:00:00 to :0f, which no bridge forwards (IEEE 802.1Q 8.6.3): MAC control, LLDP and the
// like.
#define RESERVED_GROUP 0x0180c2000000u

// --- stage 1: parse.c, stateless ----------------------------------------------------------------

// Finds headers and sets lane, tci, l3_offset, l4_offset, l3, l4, tos, opcode, dst_qp and the flags
// PKT_TAGGED, PKT_GROUP, PKT_CNP (all others cleared). Reads at most head_len bytes; a header that
// lies in the frame but behind head_len counts as truncated (shells keep 256 bytes contiguous).
// Padding behind an IP packet is accepted; an IP or UDP length beyond the frame is not.
enum drop_reason parse(struct pkt *p, uint32_t max_frame_bytes);

// Protocol of an IPv4 packet, or of an IPv6 one behind its extension headers.
uint8_t parse_ip_protocol(const struct pkt *p);

// The VLAN that a frame on this port is for, 0 when it is for none.
static inline uint16_t frame_vid(const struct port_profile *port, const struct pkt *p)
{
	const uint16_t vid = p->flags & PKT_TAGGED ? p->tci & 0xfff : 0;

	return vid != 0 ? vid : port->pvid;
}

// --- stage 2: classify.c, stateless -------------------------------------------------------------

// Sets tc and pg. Order: CNP, EtherType map, DSCP (trusted, IP), PCP (tagged), default_tc.
// RoCEv1's class comes from its EtherType map row if there is one, else its PCP.
void classify(const struct port_profile *pf, uint8_t cnp_tc, struct pkt *p);

// --- between: filter.c, guard.c, acl.c -----------------------------------------------------------

// Tests a packet of a port that has filters, unless it has a reason already: the reason to drop it,
// or class and group set anew if a row remarks it. Nothing is charged yet.
enum drop_reason filter(struct sw_lcore *lc, const struct port_profile *port, struct pkt *p,
			enum drop_reason reason, ns_t now);

// Whether what the packet says about its sender is bound to its port, which has FILTER_GUARD.
bool guard_allows(const struct sw_profile *pf, const struct port_profile *port,
		  const struct pkt *p);

// The fate of one packet by the access list, which has rows; counts in `state`, one per row.
enum drop_reason acl_apply(const struct sw_profile *pf, const struct port_profile *port,
			   struct acl_state *state, struct pkt *p, ns_t now);

enum acl_address_kind { ACL_ADDRESS_NONE, ACL_ADDRESS_IPV4, ACL_ADDRESS_IPV6 };

// The two hosts that a packet is about, see acl.h.
struct acl_addresses {
	enum acl_address_kind kind;
	address_t src;
	address_t dst;
};

void acl_addresses(const struct pkt *p, struct acl_addresses *out);

// --- stage 3: admit.c ---------------------------------------------------------------------------

// Charges the packet to its priority group at `port`: reserve, shared up to the limit, headroom.
// Latches XOFF. Sets charge, PKT_LOSSLESS, PKT_CHARGED.
enum drop_reason admit(struct sw_lcore *lc, const struct port_profile *port, struct port_state *st,
		       struct pkt *p);

// Takes only descriptors: copies and injected frames, which belong to no priority group.
enum drop_reason admit_copy(struct sw_lcore *lc, struct pkt *p);

// Looks at every PG in XOFF and ends XOFF where both conditions of SAI hold.
void admit_xon_scan(struct sw_lcore *lc, ns_t now);

// Tells the PFC generator of a port which of its groups are in XOFF.
void admit_announce(struct sw_lcore *lc, port_t port, ns_t now);

// Splits all that is charged anew after lc->pf was replaced.
void admit_rebind(struct sw *sw, ns_t now);

// Limit of a PG as of now, reserve included.
uint64_t admit_limit(const struct sw_lcore *lc, port_t port, pg_t pg);

// --- stage 4: route.c, bridge.c -----------------------------------------------------------------

enum route_verdict {
	ROUTE_FORWARD, // out_port is set
	ROUTE_FLOOD,   // to `ports`, as copies
	ROUTE_PUNT,    // to the control thread
	ROUTE_HOLD,    // lossless to an unknown address: wait for it
	ROUTE_DROP,    // *reason is set
};

// `port` is the profile of the port that the packet came from.
enum route_verdict route(struct sw_lcore *lc, const struct port_profile *port, struct pkt *p,
			 struct port_set *ports, enum drop_reason *reason, ns_t now);

// Where a frame that the control thread gives back goes: as route(), without punting or holding.
enum route_verdict route_injected(struct sw_lcore *lc, struct pkt *p, struct port_set *ports,
				  enum drop_reason *reason);

void bridge_forget_port(struct sw_lcore *lc, port_t port);

// Forgets addresses behind ports that are no longer members of their VLAN.
void bridge_forget_strangers(struct sw_lcore *lc);

// --- hold.c -------------------------------------------------------------------------------------

// Keeps the packet and asks for its destination.
void hold_add(struct sw_lcore *lc, struct pkt *p, ns_t now);

// Sends on the packets that wait for this address.
void hold_release(struct sw_lcore *lc, uint64_t mac, uint16_t vid, port_t port, ns_t now);

// Routes those that wait for a neighbour once more.
void hold_retry(struct sw_lcore *lc, ns_t now);

// Gives up those that have waited for solicit_time, asks again for the others.
void hold_expire(struct sw_lcore *lc, ns_t now);
ns_t hold_deadline(const struct sw_lcore *lc);

// --- lag.c --------------------------------------------------------------------------------------

// The link of a port went up or down: whether it, or its LAG, may be sent to.
void lag_update(struct sw *sw, port_t port);

// After sw->pf was replaced.
void lag_rebind(struct sw *sw, ns_t now);

// The member of the LAG of out_port that the packet leaves by, PORT_NONE when the LAG is down.
port_t lag_pick(const struct sw_lcore *lc, const struct pkt *p);

// A set that several lcores write: a copy of it, and one of its members put in or taken out.
struct port_set port_set_load(const struct port_set *set);
void port_set_put(struct port_set *set, port_t port, bool value);

// --- lag_lacp.c ---------------------------------------------------------------------------------

// A Slow Protocols frame: hears, consumes.
COLD void lacp_hear(struct sw_lcore *lc, struct pkt *p, ns_t now);

// The link of a port went up or down; before lag_update().
void lacp_port_link(struct sw_lcore *lc, port_t port, bool up, ns_t now);

// After lc->pf was replaced: a port whose LAG is another begins anew.
void lacp_rebind(struct sw_lcore *lc, port_t port, ns_t now);

// Timers of the lcore's ports. Returns when the next one is due.
COLD ns_t lacp_port_tick(struct sw_lcore *lc, ns_t now);

// The next LACPDU to send; false when there is none.
COLD bool lacp_action(struct sw_lcore *lc, struct sw_action *out, ns_t now);

// --- between lcores: handoff.c ------------------------------------------------------------------

// Gives a routed packet to the lcore of its egress port.
__attribute__((noinline)) void hand_off(struct sw_lcore *lc, lcore_t to, struct pkt *p);

// Applies what other lcores have released of the groups of this one: of all, or of one port (then
// true when there was something). With several lcores only.
void collect(struct sw_lcore *lc);
bool collect_port(struct sw_lcore *lc, port_t port);

// --- what lcores share: credit.c ----------------------------------------------------------------

// Divides pools and descriptors anew, by what is charged; no lcore runs.
void credit_deal(struct sw *sw);

// Looks at what is left, gives back what lies idle. With several lcores, once per burst.
void credit_refresh(struct sw_lcore *lc);

// Headroom of a pool: `limit` bytes for all groups together, 0: each has its own.
bool headroom_take(struct pool_state *pool, uint64_t limit, uint64_t bytes);
void headroom_give(struct pool_state *pool, uint64_t bytes);
uint64_t headroom_left(const struct pool_state *pool, uint64_t limit);

// --- stage 5: enqueue.c -------------------------------------------------------------------------

// Takes a routed packet to its queue and charges that, or drops it: link down, longer than the
// port's MTU, over the queue's limit if lossy, WRED. Marks, if that is to be done here. Of a LAG it
// picks the member first. If the port is another lcore's, that one does all this, in sw_take().
void forward(struct sw_lcore *lc, struct pkt *p, ns_t now);

// The same for what the switch itself makes. Its questions and answers about neighbours (ARP, ND)
// go ahead of all queues: what they are about may be what the queues wait for.
COLD void forward_own(struct sw_lcore *lc, struct pkt *p, ns_t now);

// Whether packets that go ahead may go now. Shapers do not hold them, a pause of their class does.
static inline bool ahead_ready(const struct port_state *st)
{
	const uint8_t held = st->blocked | st->paused_mask;

	return st->ahead != NULL && !(held >> st->ahead_queue & 1);
}

// forward() for a packet whose out_port is known to be a port of this lcore, not a LAG.
void forward_here(struct sw_lcore *lc, struct pkt *p, ns_t now);

// Drops what a queue of a port of this lcore holds.
void flush_queue(struct sw_lcore *lc, port_t port, queue_t queue, enum drop_reason reason);

// --- stage 6: sched.c ---------------------------------------------------------------------------

enum { SCHED_NONE = QUEUE_COUNT };

// Notes which queues are paused or blocked at `now`, before a series of sched_next() at the same
// time. A queue that leaves a pause starts its shaper anew: nothing is earned while paused.
void sched_update_pauses(const struct port_profile *pf, struct port_state *st, ns_t now);

// The queue that sends next among those that are backlogged, not paused and within their shaper;
// SCHED_NONE when none may. Strict queues first, then deficit weighted round robin.
uint32_t sched_next(const struct port_profile *pf, struct port_state *st, ns_t now);

// Earliest time at which a backlogged queue may send that may not now.
ns_t sched_deadline(const struct port_profile *pf, const struct port_state *st, ns_t now);

// --- stage 7: depart.c --------------------------------------------------------------------------

// The priority that says a class on a port: the lowest that the port itself reads as that class.
uint16_t pcp_of(const struct port_profile *port, tc_t tc);

// Puts an 802.1Q tag behind the addresses, or takes off the tag there. The frame has SW_TAG_ROOM in
// front, or 18 readable bytes. Offsets of headers follow.
void tag_push(struct pkt *p, uint16_t tci);
void tag_pop(struct pkt *p);

// Gives the packet CE, once, and counts it at its queue and port.
void mark_ce(struct sw_lcore *lc, struct pkt *p);

// --- roce.c -------------------------------------------------------------------------------------

// Packets that leave, one of whose bytes is to be sampled: finds out which, and whose.
void roce_sample(struct sw_lcore *lc, struct pkt *const *pkts, uint32_t count);

// One of RoCE has got CE.
void roce_mark(struct sw_lcore *lc, const struct pkt *p);

// --- block.c ------------------------------------------------------------------------------------

// The queues whose block counts as a received pause.
uint8_t blocked_queues(const struct port_state *st);

// --- watchdog.c ---------------------------------------------------------------------------------

// The link of a port went up or down: its watchdogs begin anew, storms end. Sets st->refused.
void watchdog_link(struct sw_lcore *lc, port_t port, ns_t now);

// After lc->pf replaced `old`: storms of queues that are watched no longer end, actions are those
// of the new profile at once.
void watchdog_rebind(struct sw_lcore *lc, const struct sw_profile *old, ns_t now);

// Polls what is due. Returns when the next poll is.
COLD ns_t watchdog_tick(struct sw_lcore *lc, ns_t now);

// The next storm that began or ended and was not reported; false when there is none.
COLD bool watchdog_report(struct sw_lcore *lc, struct sw_action *out);

// Fills in the watchdog's rows.
void watchdog_stats(const struct sw_lcore *lc, port_t port, queue_t queue, struct queue_stats *out);

// Sets st->refused and the other masks anew.
void watchdog_apply(struct sw_lcore *lc, port_t port, ns_t now);

// --- hello.c, hello_mask.c ----------------------------------------------------------------------

// A hello frame: hears, consumes.
COLD void hello_rx(struct sw_lcore *lc, struct pkt *p, ns_t now);

// The carrier of a port came or went; before port_settle().
void hello_link(struct sw_lcore *lc, port_t port, bool up, ns_t now);

// The switch begins, or lc->pf was replaced.
void hello_init(struct sw_lcore *lc, ns_t now);
void hello_rebind(struct sw_lcore *lc, ns_t now);

// True when another lcore changed what can be reached.
static inline bool hello_waits(const struct sw_lcore *lc)
{
	return lc->pf->hellos &&
	       lc->hello.reach_seen != atomic_load_explicit(&lc->sw->reach, memory_order_relaxed);
}

// Timers. Returns when it must run again.
COLD ns_t hello_tick(struct sw_lcore *lc, ns_t now);

// The next hello to send or peer to report; false when there is none.
COLD bool hello_action(struct sw_lcore *lc, struct sw_action *out, ns_t now);

// Something that can be reached has changed: every lcore looks again.
void hello_reach_changed(struct sw_lcore *lc);

// Finds which edges each port's peer must be told of; ports whose list has changed are added to
// `changed`.
void hello_mask_scan(struct sw_lcore *lc, struct port_set *changed);

// The peer's list is now this; true when it has changed.
bool hello_mask_take(struct sw_lcore *lc, port_t port, const struct hello_mask *mask);

// Edges in the list of a port's peer.
uint32_t hello_mask_count(const struct sw *sw, port_t port);

// --- sw.c ---------------------------------------------------------------------------------------

// Makes the port usable or not, by carrier and hellos; down does what sw_link() says.
void port_settle(struct sw_lcore *lc, port_t port, ns_t now);

// --- drop.c, tell.c, action.c, pipeline.c -------------------------------------------------------

// The only other exit: uncharges what was charged and counts exactly one reason. The packet goes
// to the shell as SW_ACTION_FREE.
COLD void drop(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason);

// Only counts it: for what has no packet.
COLD void drop_count(struct sw_lcore *lc, const struct pkt *p, enum drop_reason reason);

// Releases a packet that leaves otherwise than by transmission. That may be what some group in XOFF
// waits for, and no transmission will look for it: the next tick does, at once.
COLD void release_early(struct sw_lcore *lc, struct pkt *p);

// Asks the shell to tell the sender of a routed packet that is about to be dropped, if this is one
// of the reasons that senders are told. The packet is as it was received.
COLD void tell_sender(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason, ns_t now);

// Gives a packet that was dropped, or consumed (DROP_NONE), back to the shell, which frees it once
// it has seen every other action.
void give_back(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason);

// Next free action slot; the shell has drained the ring (checked).
struct sw_action *action_add(struct sw_lcore *lc, enum sw_action_kind kind, struct pkt *p);

// A frame for the core itself, MAC control or LACP: counts, obeys, consumes.
COLD void mac_control(struct sw_lcore *lc, struct pkt *p, ns_t now);
