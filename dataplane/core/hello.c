// SPDX-License-Identifier: BSD-3-Clause
//
// Hellos of a switch: when they are sent, and what follows from those that arrive. hello_peer.c
// judges the peer of a port, hello_mask.c which edges are out of reach; here is their clock, and
// their consequences for the port.
//
// A port whose peer is gone is down for every user of `up`, as if its carrier were gone, but goes
// on sending and hearing hellos. A port whose peer disagrees refuses its lossless queues.
//
// News goes out at once, but no port sends two hellos within HELLO_GAP_NS, and no lcore looks at
// what it can reach more often: a storm of news stays cheap.

#include "dataplane/core/stage.h"

enum { HELLO_GAP_NS = 1000000 };

static bool sends(const struct sw_lcore *lc, uint16_t port)
{
	return lcore_owns(lc, (port_t){ port }) && lc->pf->port[port].hello.on &&
	       lc->port[port].hello.carrier;
}

// The next tick looks at hellos.
static void wake(struct sw_lcore *lc)
{
	lc->hello.at = (ns_t){ 0 };
	lc->tick_at = (ns_t){ 0 };
}

static void send_soon(struct sw_lcore *lc, port_t port, ns_t now)
{
	struct hello_state *st = &lc->port[port.v].hello;
	ns_t at = ns_add(st->sent_at, HELLO_GAP_NS);

	if (st->seq == 0 || ns_before(at, now))
		at = now;
	st->send_at = ns_min(st->send_at, at);
	wake(lc);
}

void hello_reach_changed(struct sw_lcore *lc)
{
	atomic_fetch_add_explicit(&lc->sw->reach, 1, memory_order_release);
	if (lc->pf->hellos)
		wake(lc);
}

static void note_mismatch(struct sw_lcore *lc, port_t port, ns_t now)
{
	struct hello_state *st = &lc->port[port.v].hello;
	const bool disagrees = st->about.mismatch != HELLO_AGREE;
	const uint8_t refused = disagrees ? port_profile_of(lc, port)->lossless_queues : 0;

	port_set_put(&lc->sw->disagreed, port, disagrees);
	if (st->refused == refused)
		return;
	st->refused = refused;
	watchdog_apply(lc, port, now);
}

// What follows from what is known of the peer.
static void follow(struct sw_lcore *lc, port_t port, ns_t now)
{
	struct port_state *st = port_state_of(lc, port);
	struct hello_state *hello = &st->hello;
	const struct hello_peer *peer = &hello->about;

	if (peer->status == hello->status && peer->mismatch == hello->seen_mismatch)
		return;
	if (peer->status != hello->status && hello->carrier)
		send_soon(lc, port, now);
	hello->status = peer->status;
	hello->seen_mismatch = peer->mismatch;
	if (port_is_up(st) && !peer->usable && hello->carrier)
		st->stats.hello_downs++;
	note_mismatch(lc, port, now);
	port_set_add(&lc->hello.tell, port);
	port_settle(lc, port, now);
}

// The switch at the other end, as masks see it; 0: unknown.
static void note_peer(struct sw_lcore *lc, port_t port)
{
	struct hello_state *st = &lc->port[port.v].hello;
	const struct hello_end *from = &st->about.hello.from;
	const uint64_t id = from->id ^ from->boot; // switches may share a name by mistake

	if (atomic_load_explicit(&st->peer, memory_order_relaxed) == id)
		return;
	atomic_store_explicit(&st->peer, id, memory_order_relaxed);
	hello_reach_changed(lc);
}

static struct hello_end own_end(const struct sw *sw, port_t port)
{
	return (struct hello_end){ .id = sw->hello_id, .boot = sw->boot, .port = port.v };
}

void hello_rx(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, p->in_port);
	struct port_state *st = port_state_of(lc, p->in_port);
	const struct hello_end self = own_end(lc->sw, p->in_port);
	struct hello hello;
	struct hello_mask mask;

	if (!pf->hello.on) {
		drop(lc, p, DROP_RESERVED_MAC);
		return;
	}
	if (p->flags & PKT_TAGGED || !hello_decode(p->data, p->head_len, &hello, &mask)) {
		drop(lc, p, DROP_HELLO_MALFORMED);
		return;
	}
	st->stats.hello_rx_pkts++;
	lc->stats.consumed_packets++;
	if (st->hello.carrier &&
	    hello_peer_heard(&pf->hello, &st->hello.about, &self, &hello, now)) {
		note_peer(lc, p->in_port);
		if (st->hello.about.status != HELLO_LOOPED &&
		    hello_mask_take(lc, p->in_port, &mask))
			hello_reach_changed(lc);
		follow(lc, p->in_port, now);
	}
	give_back(lc, p, DROP_NONE);
}

void hello_link(struct sw_lcore *lc, port_t port, bool up, ns_t now)
{
	const struct hello_profile *pf = &port_profile_of(lc, port)->hello;
	struct hello_state *st = &lc->port[port.v].hello;

	st->carrier = up;
	if (!pf->on)
		return;
	hello_peer_link(pf, &st->about, up);
	note_peer(lc, port);
	if (up)
		send_soon(lc, port, now);
	else if (hello_mask_take(lc, port, &(struct hello_mask){ { 0 } }))
		hello_reach_changed(lc);
	st->status = st->about.status;
	st->seen_mismatch = st->about.mismatch;
	note_mismatch(lc, port, now);
}

static void begin(struct sw_lcore *lc, port_t port)
{
	struct hello_state *st = &lc->port[port.v].hello;

	hello_peer_init(&port_profile_of(lc, port)->hello, &st->about);
	st->status = st->about.status;
	st->send_at = NS_NEVER;
}

void hello_init(struct sw_lcore *lc, ns_t now)
{
	lc->hello.visited = now;
	lc->hello.scan_at = now;
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (lcore_owns(lc, (port_t){ n }))
			begin(lc, (port_t){ n });
	}
}

static void rebind_port(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct hello_profile *pf = &port_profile_of(lc, port)->hello;
	struct hello_state *st = &lc->port[port.v].hello;
	const bool carrier = st->carrier;

	if (pf->on == (st->about.status == HELLO_OFF)) {
		hello_link(lc, port, false, now);
		if (lc->sw->masks != NULL)
			hello_mask_take(lc, port, &(struct hello_mask){ { 0 } });
		begin(lc, port);
		note_mismatch(lc, port, now);
		note_peer(lc, port);
		if (carrier)
			hello_link(lc, port, true, now);
		port_settle(lc, port, now);
	} else if (pf->on) {
		hello_peer_agree(pf, &st->about);
		note_mismatch(lc, port, now); // the queues may be others
		follow(lc, port, now);
		if (carrier)
			send_soon(lc, port, now);
	}
}

void hello_rebind(struct sw_lcore *lc, ns_t now)
{
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (lcore_owns(lc, (port_t){ n }))
			rebind_port(lc, (port_t){ n }, now);
	}
}

// Lists of edges out of reach, at the latest once an interval: tables change without saying so.
static void scan(struct sw_lcore *lc, ns_t now)
{
	const uint32_t reach = atomic_load_explicit(&lc->sw->reach, memory_order_acquire);
	struct port_set changed = { { 0 } };

	if (reach != lc->hello.reach_seen)
		lc->hello.scan_at = ns_min(lc->hello.scan_at,
					   ns_add(lc->hello.scanned, HELLO_GAP_NS));
	lc->hello.reach_seen = reach;
	if (ns_before(now, lc->hello.scan_at))
		return;
	lc->hello.scanned = now;
	lc->hello.scan_at = ns_add(now, lc->pf->hello_interval_ns);
	hello_mask_scan(lc, &changed);
	PORT_SET_FOR_EACH(port, &changed)
		send_soon(lc, port, now);
}

static ns_t send_due(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct hello_state *st = &lc->port[port.v].hello;

	if (ns_before(now, st->send_at))
		return st->send_at;
	port_set_add(&lc->hello.send, port);
	return NS_NEVER; // hello_action() sets the next
}

ns_t hello_tick(struct sw_lcore *lc, ns_t now)
{
	const uint64_t away = u64_minus(ns_since(now, lc->hello.visited),
					lc->pf->hello_interval_ns);
	ns_t next;

	if (ns_before(now, lc->hello.at) && !hello_waits(lc))
		return lc->hello.at;
	lc->hello.visited = now;
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (!sends(lc, n))
			continue;
		hello_peer_tick(&lc->pf->port[n].hello, &lc->port[n].hello.about, away, now);
		follow(lc, (port_t){ n }, now);
	}
	scan(lc, now);
	next = lc->hello.scan_at;
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (!sends(lc, n))
			continue;
		next = ns_min(next, send_due(lc, (port_t){ n }, now));
		next = ns_min(next, hello_peer_deadline(&lc->pf->port[n].hello,
							&lc->port[n].hello.about));
	}
	lc->hello.at = next;
	return next;
}

static bool next_to_send(struct sw_lcore *lc, struct sw_action *out, ns_t now)
{
	PORT_SET_FOR_EACH(port, &lc->hello.send) {
		struct port_state *st = &lc->port[port.v];

		port_set_remove(&lc->hello.send, port);
		if (!sends(lc, port.v))
			continue;
		st->hello.seq++;
		st->hello.sent_at = now;
		st->hello.send_at = ns_add(now, lc->pf->hello_interval_ns);
		lc->hello.at = ns_min(lc->hello.at, st->hello.send_at);
		lc->tick_at = ns_min(lc->tick_at, st->hello.send_at);
		st->stats.hello_tx_pkts++;
		lc->stats.generated_packets++;
		lc->stats.tx_packets++;
		*out = (struct sw_action){ .kind = SW_ACTION_HELLO, .port = port };
		return true;
	}
	return false;
}

bool hello_action(struct sw_lcore *lc, struct sw_action *out, ns_t now)
{
	if (next_to_send(lc, out, now))
		return true;
	PORT_SET_FOR_EACH(port, &lc->hello.tell) {
		port_set_remove(&lc->hello.tell, port);
		*out = (struct sw_action){ .kind = SW_ACTION_PEER, .port = port };
		return true;
	}
	return false;
}

// The part of a name that fits.
static void copy_name(char out[HELLO_NAME_BYTES], const char *name)
{
	for (uint32_t i = 0; i + 1 < HELLO_NAME_BYTES && name[i] != '\0'; i++)
		out[i] = name[i];
}

uint32_t sw_hello(const struct sw *sw, port_t port, const uint8_t src[6],
		  uint8_t out[HELLO_FRAME_MAX])
{
	const struct port_profile *pf = &sw->pf->port[port.v];
	const struct hello_state *st = &sw->port[port.v].hello;
	struct hello hello = {
		.from = own_end(sw, port),
		.edge = sw->pf->edge_number,
		.seq = st->seq,
		.interval_us = (uint32_t)(sw->pf->hello_interval_ns / 1000),
		.hears = hello_peer_is_heard(&st->about),
		.lanes = pf->hello.lanes,
	};

	if (hello.hears)
		hello.heard = st->about.hello.from;
	copy_name(hello.name, sw->pf->name);
	copy_name(hello.port_name, pf->name);
	return hello_encode(&hello, &sw->masks[port.v].told, src, out);
}

const struct hello_peer *sw_peer(const struct sw *sw, port_t port)
{
	return &sw->port[port.v].hello.about;
}
