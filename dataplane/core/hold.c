// SPDX-License-Identifier: BSD-3-Clause
//
// Lossless unicast to an address the bridge does not know: it waits here, in order, while its
// destination is solicited, instead of being flooded (flooding lossless traffic is a known cause of
// PFC deadlock). Waiting packets keep their ingress charge, which is what bounds the list: a long
// wait raises XOFF and loses nothing until solicit_time is over.
//
// A routed packet, lossy ones too, waits likewise for its neighbour; of lossy ones only a few may.
//
// Who scans a network makes no more questions than the bucket of its port has, so those of others
// are still asked.
//
// A question may get lost, so those that wait are asked for several times.

#include "dataplane/core/stage.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "dataplane/core/route_l3.h"

enum {
	ASK_TIMES = 8,         // in one solicit_time
	ASK_ADDRESSES = 16,    // different ones per repeat: the next repeat has the rest
	ASKS_PER_SECOND = 500, // of one port
	ASKS_AT_ONCE = 64,
	LOSSY_MAX = 64, // lossy ones that wait: who scans a network must not fill the buffer
};

static const struct pacer_profile ask_rate = {
	.bps = 8ull * ASKS_PER_SECOND,
	.burst_ns = (ASKS_AT_ONCE - 1) * 1000000000ull / ASKS_PER_SECOND,
};

static uint64_t ask_interval(const struct sw_lcore *lc)
{
	return lc->pf->solicit_ns / ASK_TIMES;
}

// What a packet waits for, as one number: the address of a frame, or of a routed packet's neighbour
// (two that share a number are asked for again with the next repeat).
static uint64_t wanted(const struct pkt *p)
{
	const uint8_t *ip = p->data + p->l3_offset;

	if (!(p->flags & PKT_ROUTED))
		return mac_slot_key(load_be48(p->data), p->vid);
	if (p->l3 == PKT_L3_IPV4)
		return hash_add(hash_add(HASH_EMPTY, p->vid), load_be32(ip + 16));
	return hash_add(hash_add(hash_add(HASH_EMPTY, p->vid), load_be64(ip + 24)),
			load_be64(ip + 32));
}

// Asks once for a run of packets to one address.
static bool ask(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	uint64_t key = wanted(p);
	struct pacer_state *asks = &lc->port[p->in_port.v].asks;
	struct sw_action *action;

	if (lc->hold.asked_key == key)
		return false;
	if (!pacer_ready(asks, now)) {
		lc->stats.solicit_policed++;
		return false;
	}
	pacer_charge(&ask_rate, asks, 1, now);
	lc->hold.asked_key = key;
	lc->stats.solicited++;
	action = action_add(lc, SW_ACTION_SOLICIT, p);
	action->port = p->in_port;
	action->vid = p->vid;
	return true;
}

void hold_add(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	struct hold_state *hold = &lc->hold;
	const bool lossy = !(p->flags & PKT_LOSSLESS);

	if (lossy && hold->lossy == LOSSY_MAX) {
		ask(lc, p, now);
		drop(lc, p, DROP_UNKNOWN_NEIGHBOR);
		return;
	}
	hold->lossy += lossy;
	p->at = now;
	p->next = NULL;
	if (hold->head == NULL) {
		hold->head = p;
		hold->asked_key = 0;
		hold->ask_at = ns_add(now, ask_interval(lc));
	} else {
		hold->tail->next = p;
	}
	hold->tail = p;
	hold->count++;
	ask(lc, p, now);
	lc->tick_at = ns_min(lc->tick_at, hold_deadline(lc));
}

// Unlinks the packet at *link, whose predecessor is `before` (NULL: the head).
static struct pkt *hold_take(struct hold_state *hold, struct pkt **link, struct pkt *before)
{
	struct pkt *p = *link;

	*link = p->next;
	if (hold->tail == p)
		hold->tail = before;
	hold->count--;
	hold->lossy -= !(p->flags & PKT_LOSSLESS);
	return p;
}

// Takes the turn and forwards.
static void forward_turned(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const enum drop_reason reason = turn(lc, p);

	if (reason == DROP_NONE)
		forward(lc, p, now);
	else
		drop(lc, p, reason);
}

void hold_release(struct sw_lcore *lc, uint64_t mac, uint16_t vid, port_t port, ns_t now)
{
	struct pkt **link = &lc->hold.head;
	struct pkt *before = NULL;

	while (*link != NULL) {
		struct pkt *p = *link;

		if (p->vid != vid || p->flags & PKT_ROUTED || load_be48(p->data) != mac) {
			before = p;
			link = &p->next;
			continue;
		}
		hold_take(&lc->hold, link, before);
		p->out_port = port;
		if (port.v == logical_port(lc->pf, p->in_port).v)
			drop(lc, p, DROP_SAME_PORT);
		else
			forward_turned(lc, p, now);
	}
	hold_retry(lc, now); // the neighbour of a routed packet is a host of the bridge
}

static enum route_verdict route_again(struct sw_lcore *lc, struct pkt *p, enum drop_reason *reason)
{
	if (lc->tables != NULL)
		return route_ip(lc, p, reason);
	*reason = DROP_NO_ROUTE;
	return ROUTE_DROP;
}

// A routed packet that waited is as it was received, so its sender can be told.
static void give_up(struct sw_lcore *lc, struct pkt *p, enum drop_reason reason, ns_t now)
{
	if (p->flags & PKT_ROUTED)
		tell_sender(lc, p, reason, now);
	drop(lc, p, reason);
}

void hold_retry(struct sw_lcore *lc, ns_t now)
{
	struct pkt **link = &lc->hold.head;
	struct pkt *before = NULL;

	while (*link != NULL) {
		struct pkt *p = *link;
		enum drop_reason reason = DROP_NONE;
		enum route_verdict verdict = ROUTE_HOLD;

		if (p->flags & PKT_ROUTED)
			verdict = route_again(lc, p, &reason);
		if (verdict != ROUTE_FORWARD && verdict != ROUTE_DROP) {
			before = p;
			link = &p->next;
			continue;
		}
		hold_take(&lc->hold, link, before);
		if (verdict == ROUTE_FORWARD)
			forward_turned(lc, p, now);
		else
			give_up(lc, p, reason, now);
	}
}

static void ask_again(struct sw_lcore *lc, ns_t now)
{
	uint32_t asked = 0;

	lc->hold.asked_key = 0;
	lc->hold.ask_at = ns_add(now, ask_interval(lc));
	for (struct pkt *p = lc->hold.head; p != NULL && asked < ASK_ADDRESSES; p = p->next)
		asked += ask(lc, p, now);
}

void hold_expire(struct sw_lcore *lc, ns_t now)
{
	struct hold_state *hold = &lc->hold;

	while (hold->head != NULL && ns_add(hold->head->at, lc->pf->solicit_ns).v <= now.v) {
		struct pkt *p = hold_take(hold, &hold->head, NULL);

		give_up(lc, p,
			p->flags & PKT_LOSSLESS ? DROP_UNKNOWN_LOSSLESS : DROP_UNKNOWN_NEIGHBOR,
			now);
	}
	if (hold->head != NULL && hold->ask_at.v <= now.v)
		ask_again(lc, now);
}

ns_t hold_deadline(const struct sw_lcore *lc)
{
	const struct hold_state *hold = &lc->hold;

	if (hold->head == NULL)
		return NS_NEVER;
	return ns_min(ns_add(hold->head->at, lc->pf->solicit_ns), hold->ask_at);
}
