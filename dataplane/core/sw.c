// SPDX-License-Identifier: BSD-3-Clause
//
// A switch's life: memory, links and timers. Another profile is replace.c, the packet path
// pipeline.c.
//
// All memory is the caller's and is laid out once: struct sw with its lcores, the ports, then for
// each lcore its address table and what rows of the access list have seen there. Nothing is
// allocated afterwards.

#include "dataplane/core/profile_build.h"
#include "dataplane/core/stage.h"

#include <string.h>

// A power of two, at least twice the entries: probing stays short.
static uint32_t mac_slots(const struct sw_profile *pf)
{
	uint32_t count = 2;

	while (count < 2 * pf->mac_count)
		count *= 2;
	return count;
}

// Where the parts lie, in bytes from the start.
struct layout {
	size_t ports;
	size_t tables; // lcore_count of them
	size_t table_bytes;
	size_t port_used; // within a table, behind its slots
	size_t acl;       // behind that
	size_t masks;     // with fabric ports
	size_t masked;
	size_t crossings; // with several lcores: all from here
	size_t released;
	size_t collected;
	size_t slots;
	size_t ring_count; // of the slots of one ring
	size_t end;
};

static size_t whole_lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

// A ring for each pair of lcores that holds every packet there may be, and counts by lcore and
// port.
static void add_crossings(const struct sw_profile *pf, struct layout *at)
{
	size_t pairs = (size_t)pf->lcore_count * pf->lcore_count;
	size_t rows = (size_t)pf->lcore_count * (pf->port_count + 1);

	at->ring_count = 1;
	while (at->ring_count < pf->descriptor_count)
		at->ring_count *= 2;
	at->released = at->crossings + pairs * sizeof(struct crossing);
	at->collected = at->released + rows * sizeof(struct released);
	at->slots = at->collected + rows * sizeof(struct collected);
	at->end = at->slots + (pairs - pf->lcore_count) * at->ring_count * sizeof(void *);
}

static struct layout layout_of(const struct sw_profile *pf)
{
	struct layout at = { 0 };

	at.ports = whole_lines(sizeof(struct sw) + pf->lcore_count * sizeof(struct sw_lcore));
	at.tables = whole_lines(at.ports + pf->port_count * sizeof(struct port_state));
	at.port_used = mac_slots(pf) * sizeof(struct mac_slot);
	at.acl = whole_lines(at.port_used + pf->port_count * sizeof(uint32_t));
	at.table_bytes = whole_lines(at.acl + pf->acl_capacity * sizeof(struct acl_state));
	at.masks = at.tables + pf->lcore_count * at.table_bytes;
	at.masked = at.masks;
	at.crossings = at.masks;
	if (pf->has_fabric) {
		at.masked += whole_lines(pf->port_count * sizeof(struct hello_masks));
		at.crossings = at.masked + whole_lines(HELLO_EDGE_MAX * sizeof(struct port_set));
	}
	at.end = at.crossings;
	if (pf->lcore_count > 1)
		add_crossings(pf, &at);
	return at;
}

size_t sw_bytes(const struct sw_profile *pf)
{
	return layout_of(pf).end;
}

static void init_bridge(struct bridge_state *bridge, const struct sw_profile *pf, uint8_t *table)
{
	bridge->slot = (struct mac_slot *)table;
	bridge->slot_count = mac_slots(pf);
	bridge->home_shift = 64 - (uint32_t)__builtin_ctz(bridge->slot_count);
	bridge->port_used = (uint32_t *)(table + layout_of(pf).port_used);
}

static void init_crossings(struct sw *sw, const struct layout *at, uint8_t *base)
{
	void **slots = (void **)(base + at->slots);

	sw->crossing = (struct crossing *)(base + at->crossings);
	sw->released = (struct released *)(base + at->released);
	sw->collected = (struct collected *)(base + at->collected);
	sw->ring_count = (uint32_t)at->ring_count;
	for (uint32_t i = 0; i < sw->lcore_count * sw->lcore_count; i++) {
		if (i % (sw->lcore_count + 1) == 0) // from one to itself
			continue;
		ring_init(&sw->crossing[i].ring, slots, sw->ring_count);
		slots += sw->ring_count;
	}
}

// Shells start at another time each time; what the number is does not matter.
static uint32_t boot_of(uint64_t seed, ns_t now)
{
	struct rng dice;

	rng_seed(&dice, seed ^ now.v);
	return rng_next32(&dice);
}

struct sw *sw_init(void *memory, const struct sw_profile *pf, uint64_t seed, ns_t now)
{
	struct sw *sw = memory;
	struct layout at = layout_of(pf);
	uint8_t *base = memory;

	memset(memory, 0, at.end);
	sw->pf = pf;
	sw->lcore_count = pf->lcore_count;
	sw->acl_capacity = pf->acl_capacity;
	sw->port = (struct port_state *)(base + at.ports);
	for (uint8_t i = 0; i < pf->lcore_count; i++) {
		struct sw_lcore *lc = &sw->lcore[i];

		lc->pf = pf;
		lc->port = sw->port;
		lc->sw = sw;
		lc->id = (lcore_t){ i };
		lc->now = now;
		lc->tick_at = NS_NEVER;
		lc->watchdog_at = NS_NEVER;
		sw_seed(sw, lc->id, seed);
		init_bridge(&lc->bridge, pf, base + at.tables + i * at.table_bytes);
		lc->acl = (struct acl_state *)(base + at.tables + i * at.table_bytes + at.acl);
	}
	for (uint32_t i = 0; i < pf->port_count; i++)
		sw->port[i].refused = UINT8_MAX;
	if (pf->has_fabric) {
		sw->masks = (struct hello_masks *)(base + at.masks);
		sw->masked = (struct port_set *)(base + at.masked);
	}
	sw->boot = boot_of(seed, now);
	sw->hello_id = hello_id(pf->name);
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		hello_init(&sw->lcore[i], now);
	if (pf->lcore_count > 1)
		init_crossings(sw, &at, base);
	lag_rebind(sw, now);
	credit_deal(sw);
	return sw;
}

void sw_seed(struct sw *sw, lcore_t lcore, uint64_t seed)
{
	rng_seed(&sw->lcore[lcore.v].dice, seed + lcore.v);
	roce_flows_seed(&sw->lcore[lcore.v].roce, seed + lcore.v);
}

void sw_set_tables(struct sw *sw, const struct sw_tables *tables)
{
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		__atomic_store_n(&sw->lcore[i].tables, tables, __ATOMIC_RELEASE);
}

void sw_retry_held(struct sw *sw, lcore_t lcore, ns_t now)
{
	hold_retry(&sw->lcore[lcore.v], now);
}

static void flush(struct sw_lcore *lc, port_t port)
{
	for (uint8_t i = 0; i < QUEUE_COUNT; i++)
		flush_queue(lc, port, (queue_t){ i }, DROP_LINK_FLUSH);
}

// What a port loses with its link, or with a peer that is gone.
static void let_go(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = port_state_of(lc, port);

	flush(lc, port);
	pfc_rx_resume(&st->rx, 0, now);
	st->paused_mask = 0;
	if (!st->hello.carrier)
		sw_tx_block(lc->sw, port, 0);
	// The peer forgets what it was told; the link's next life starts with a fresh XOFF.
	pfc_gen_update(&pf->gen, &st->gen, 0, now);
	pfc_gen_update(&pf->held, &st->held, 0, now);
	st->gen.told = 0;
	if (lc->sw->lcore_count == 1)
		sw_mac_forget_port(lc->sw, lc->id, port);
	admit_xon_scan(lc, now);
}

void port_settle(struct sw_lcore *lc, port_t port, ns_t now)
{
	struct port_state *st = port_state_of(lc, port);
	const bool up = st->hello.carrier && st->hello.about.usable;

	if (port_is_up(st) == up)
		return;
	atomic_store_explicit(&st->link_up, up, memory_order_relaxed);
	lacp_port_link(lc, port, up, now);
	lag_update(lc->sw, port);
	hello_reach_changed(lc);
	watchdog_link(lc, port, now);
	if (!up)
		let_go(lc, port, now);
}

void sw_link(struct sw *sw, port_t port, bool up, ns_t now)
{
	struct sw_lcore *lc = lcore_of_port(sw, port);

	lc->now = now;
	if (sw->port[port.v].hello.carrier == up)
		return;
	hello_link(lc, port, up, now);
	port_settle(lc, port, now);
}

bool sw_carrier(const struct sw *sw, port_t port)
{
	return sw->port[port.v].hello.carrier;
}

bool sw_held(const struct sw *sw, port_t port)
{
	const struct port_state *st = &sw->port[port.v];

	return (st->xoff_mask & (uint8_t)~st->discarded) != 0 && sw->pf->port[port.v].hold;
}

uint8_t sw_xoff(const struct sw *sw, port_t port)
{
	return sw->port[port.v].gen.wanted;
}

bool sw_backlogged(const struct sw *sw, port_t port)
{
	return sw->port[port.v].backlog_mask != 0;
}

void sw_tick(struct sw *sw, lcore_t lcore, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];
	ns_t next;

	lc->now = now;
	if (sw->lcore_count > 1) {
		credit_refresh(lc);
		collect(lc);
		if (!port_set_empty(
			    &lc->xoff_ports) || // another's release may be what they wait for
		    hello_waits(lc))
			lc->tick_at = (ns_t){ 0 };
	}
	if (now.v < lc->tick_at.v)
		return;
	hold_expire(lc, now);
	next = lc->pf->hellos ? hello_tick(lc, now) : NS_NEVER;
	next = ns_min(next, watchdog_tick(lc, now));
	if (lc->pf->lacp)
		next = ns_min(next, lacp_port_tick(lc, now));
	admit_xon_scan(lc, now);
	next = ns_min(next, hold_deadline(lc));
	PORT_SET_FOR_EACH(port, &lc->xoff_ports) {
		ns_t due = pfc_gen_deadline(&lc->port[port.v].gen);

		if (due.v <= now.v)
			port_set_add(&lc->pfc_ports, port);
		else
			next = ns_min(next, due);
	}
	lc->tick_at = next;
}

void sw_renew_pauses(struct sw *sw, lcore_t lcore, ns_t now)
{
	struct sw_lcore *lc = &sw->lcore[lcore.v];

	PORT_SET_FOR_EACH(port, &lc->xoff_ports) {
		struct port_state *st = &lc->port[port.v];

		pfc_gen_renew(&port_profile_of(lc, port)->gen, &st->gen, now);
		if (pfc_gen_deadline(&st->gen).v <= now.v)
			port_set_add(&lc->pfc_ports, port);
	}
}

ns_t sw_deadline(const struct sw *sw, lcore_t lcore, ns_t now)
{
	const struct sw_lcore *lc = &sw->lcore[lcore.v];
	ns_t at = lc->tick_at;

	if (!port_set_empty(&lc->pfc_ports) || !port_set_empty(&lc->lacp_ports))
		return now;
	if (sw->lcore_count > 1 &&
	    (!port_set_empty(&lc->xoff_ports) || sw_handed_waits(sw, lcore) || hello_waits(lc)))
		return now;
	for (uint32_t i = 0; i < sw->pf->port_count; i++) {
		if (sw->pf->port[i].lcore.v == lcore.v && sw->port[i].backlog_mask != 0)
			at = ns_min(at, sched_deadline(&sw->pf->port[i], &sw->port[i], now));
	}
	return at;
}

const struct sw_profile *sw_profile_of(const struct sw *sw)
{
	return sw->pf;
}

bool sw_link_up(const struct sw *sw, port_t port)
{
	return port_is_up(&sw->port[port.v]);
}

void sw_count_rx_lost(struct sw *sw, port_t port, uint64_t no_buffer, uint64_t missed)
{
	sw->port[port.v].stats.rx_no_buffer += no_buffer;
	sw->port[port.v].stats.rx_missed += missed;
}

void sw_tx_refused(struct sw *sw, port_t port, const struct pkt *p)
{
	struct sw_lcore *lc = lcore_of_port(sw, port);
	struct port_state *st = &sw->port[port.v];

	lc->stats.tx_packets--;
	lc->stats.dropped_packets++;
	st->drops[DROP_TX_REFUSED]++;
	st->stats.out_dropped_pkts++;
	st->stats.if_out_octets -= p->len;
	st->stats.cnp_tx_packets -= (p->flags & PKT_CNP) != 0;
	st->queue[p->queue.v].stats.packets--;
	st->queue[p->queue.v].stats.bytes -= p->len;
	if (p->flags & PKT_GROUP)
		st->stats.if_out_non_ucast_pkts--;
	else
		st->stats.if_out_ucast_pkts--;
}
