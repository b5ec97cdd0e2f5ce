// SPDX-License-Identifier: BSD-3-Clause
//
// A switch's life: memory, profile, links and timers. The packet path is in pipeline.c.
//
// All memory is the caller's and is laid out once: struct sw with its ports, then the address
// table. Nothing is allocated afterwards.

#include "dataplane/core/stage.h"

#include <errno.h>
#include <string.h>

static size_t ports_bytes(const struct sw_profile *pf)
{
	size_t bytes = sizeof(struct sw) + pf->port_count * sizeof(struct port_state);

	return (bytes + 63) & ~(size_t)63;
}

// A power of two, at least twice the entries: probing stays short.
static uint32_t mac_slots(const struct sw_profile *pf)
{
	uint32_t count = 2;

	while (count < 2 * pf->mac_count)
		count *= 2;
	return count;
}

size_t sw_bytes(const struct sw_profile *pf)
{
	return ports_bytes(pf) + mac_slots(pf) * sizeof(struct mac_slot);
}

struct sw *sw_init(void *memory, const struct sw_profile *pf, uint64_t seed, ns_t now)
{
	struct sw *sw = memory;

	memset(memory, 0, sw_bytes(pf));
	sw->pf = pf;
	sw->now = now;
	sw->tick_at = NS_NEVER;
	sw->bridge.slot = (struct mac_slot *)((uint8_t *)memory + ports_bytes(pf));
	sw->bridge.slot_count = mac_slots(pf);
	sw->bridge.home_shift = 64 - (uint32_t)__builtin_ctz(sw->bridge.slot_count);
	rng_seed(&sw->dice, seed);
	return sw;
}

// A wait that an old rate imposed must not outlive it.
static void adopt_rates(const struct port_profile *pf, struct port_state *st, ns_t now)
{
	struct pacer_state ready = { .ready = now };

	pfc_rx_resume(&st->rx, pf->rx.obey, now);
	st->line = ready;
	st->flood = ready;
	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		st->queue[i].shaper = ready;
}

int sw_set_profile(struct sw *sw, const struct sw_profile *pf, ns_t now)
{
	if (pf->port_count != sw->pf->port_count || pf->pool_count != sw->pf->pool_count ||
	    pf->mac_count != sw->pf->mac_count)
		return -EINVAL;
	sw->now = now;
	sw->pf = pf;
	for (uint32_t i = 0; i < pf->port_count; i++)
		adopt_rates(&pf->port[i], &sw->port[i], now);
	bridge_forget_strangers(sw);
	admit_rebind(sw, now);
	return 0;
}

static void flush(struct sw *sw, port_t port)
{
	const struct port_profile *pf = port_profile_of(sw, port);
	struct port_state *st = port_state_of(sw, port);

	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		while (st->queue[i].head != NULL) {
			st->queue[i].stats.dropped_packets++;
			st->queue[i].stats.dropped_bytes += st->queue[i].head->len;
			drop(sw, dequeue(sw, pf, st, (queue_t){ (uint8_t)i }), DROP_LINK_FLUSH);
		}
	}
}

void sw_link(struct sw *sw, port_t port, bool up, ns_t now)
{
	struct port_state *st = &sw->port[port.v];

	sw->now = now;
	if (st->link_up == up)
		return;
	st->link_up = up;
	if (up) {
		admit_announce(sw, port, now);
		return;
	}
	flush(sw, port);
	pfc_rx_resume(&st->rx, 0, now);
	st->paused_mask = 0;
	// The peer forgets what it was told; the link's next life starts with a fresh XOFF.
	pfc_gen_update(&port_profile_of(sw, port)->gen, &st->gen, 0, now);
	pfc_gen_update(&port_profile_of(sw, port)->held, &st->held, 0, now);
	st->gen.told = 0;
	bridge_forget_port(sw, port);
	admit_xon_scan(sw, now);
}

bool sw_held(const struct sw *sw, port_t port)
{
	return sw->port[port.v].xoff_mask != 0 && port_profile_of(sw, port)->hold;
}

bool sw_backlogged(const struct sw *sw, port_t port)
{
	return sw->port[port.v].backlog_mask != 0;
}

void sw_tick(struct sw *sw, ns_t now)
{
	ns_t next;

	sw->now = now;
	if (now.v < sw->tick_at.v)
		return;
	hold_expire(sw, now);
	admit_xon_scan(sw, now);
	next = hold_deadline(sw);
	PORT_SET_FOR_EACH(port, &sw->xoff_ports) {
		ns_t due = pfc_gen_deadline(&sw->port[port.v].gen);

		if (due.v <= now.v)
			port_set_add(&sw->pfc_ports, port);
		else
			next = ns_min(next, due);
	}
	sw->tick_at = next;
}

ns_t sw_deadline(const struct sw *sw, ns_t now)
{
	ns_t at = sw->tick_at;

	if (!port_set_empty(&sw->pfc_ports))
		return now;
	for (uint32_t i = 0; i < sw->pf->port_count; i++) {
		if (sw->port[i].backlog_mask != 0)
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
	return sw->port[port.v].link_up;
}

void sw_count_rx_lost(struct sw *sw, port_t port, uint64_t no_buffer, uint64_t missed)
{
	sw->port[port.v].stats.rx_no_buffer += no_buffer;
	sw->port[port.v].stats.rx_missed += missed;
}

void sw_tx_refused(struct sw *sw, port_t port, const struct pkt *p)
{
	struct port_state *st = &sw->port[port.v];

	sw->stats.tx_packets--;
	sw->stats.dropped_packets++;
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
