// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 7: packets leave. sw_tx() asks the scheduler for one queue after the other.
//
// In this order: CE by the queue it leaves (itself included), the VLAN tag of the egress port, the
// release of its ingress charge, the queue's counters, and the pacers that decide when the next may
// go. The egress charge goes first of all, with the packet's place in the queue.

#include "dataplane/core/stage.h"

#include "base/bytes.h"
#include "dataplane/core/route_l3.h"

enum {
	VLAN_TAG_BYTES = 4,
	ETHERTYPE_VLAN = 0x8100,
	FCS_BYTES = 4,
	WIRE_GAP_BYTES = 20, // preamble, start delimiter and inter-packet gap
	WIRE_MIN_BYTES = 64, // frame with FCS
};

void mark_ce(struct sw_lcore *lc, struct pkt *p)
{
	struct queue_stats *queue = &lc->port[p->out_port.v].queue[p->queue.v].stats;
	uint8_t *ip = p->data + p->l3_offset;

	if (!(p->l3 == PKT_L3_IPV4 ? ip_ecn_mark_v4(ip) : ip_ecn_mark_v6(ip)))
		return;
	p->tos |= ECN_CE;
	p->flags |= PKT_MARKED;
	queue->wred_ecn_marked_packets++;
	queue->wred_ecn_marked_bytes += p->len;
	lc->port[p->out_port.v].stats.ecn_marked_packets++;
	if (p->l4 == PKT_L4_BTH)
		roce_mark(lc, p);
}

static __attribute__((noinline)) void mark(struct sw_lcore *lc, const struct queue_profile *pf,
					   struct pkt *p, uint64_t queue_bytes)
{
	if (!pf->wred.ecn || pf->wred.mark_at_enqueue ||
	    (p->l3 != PKT_L3_IPV4 && p->l3 != PKT_L3_IPV6) || p->flags & PKT_CNP)
		return;
	if (ecn_mark_verdict(&pf->wred, (enum ecn_codepoint)pkt_ecn(p), queue_bytes,
			     rng_next32(&lc->dice)) == ECN_MARK)
		mark_ce(lc, p);
}

uint16_t pcp_of(const struct port_profile *port, tc_t tc)
{
	for (uint32_t pcp = 0; pcp < PRIO_COUNT; pcp++) {
		if (port->pcp_to_tc[pcp] == tc.v)
			return (uint16_t)pcp;
	}
	return tc.v;
}

void tag_push(struct pkt *p, uint16_t tci)
{
	p->data -= VLAN_TAG_BYTES;
	memmove(p->data, p->data + VLAN_TAG_BYTES, 12);
	store_be16(p->data + 12, ETHERTYPE_VLAN);
	store_be16(p->data + 14, tci);
	p->len += VLAN_TAG_BYTES;
	p->head_len += VLAN_TAG_BYTES;
	p->l3_offset += VLAN_TAG_BYTES;
	p->l4_offset += VLAN_TAG_BYTES;
}

void tag_pop(struct pkt *p)
{
	p->data += VLAN_TAG_BYTES;
	memmove(p->data, p->data - VLAN_TAG_BYTES, 12);
	p->len -= VLAN_TAG_BYTES;
	p->head_len -= VLAN_TAG_BYTES;
	p->l3_offset -= VLAN_TAG_BYTES;
	p->l4_offset -= VLAN_TAG_BYTES;
}

// IEEE 802.1Q 6.9: untagged members send the VLAN without its tag, tagged ones with it. The outer
// tag, 802.1Q or 802.1ad, is the bridge's; inner tags stay.
static __attribute__((noinline)) void retag(const struct port_profile *port, struct pkt *p,
					    bool untagged)
{
	if (untagged && p->flags & PKT_TAGGED)
		tag_pop(p);
	else if (!untagged && p->flags & PKT_TAGGED)
		store_be16(p->data + 14, (uint16_t)((p->tci & 0xf000) | p->vid));
	else if (!untagged)
		tag_push(p, (uint16_t)(pcp_of(port, p->tc) << 13 | p->vid));
}

// A frame whose VLAN is gone (the profile has changed) leaves as it came. VID 0 is a port without a
// VLAN, which routed packets leave by.
static inline void fit_tag(const struct sw_lcore *lc, const struct port_profile *port,
			   struct pkt *p)
{
	uint16_t index = lc->pf->vlan_index[p->vid];
	bool untagged = index == 0 || port_set_has(&lc->pf->vlan[index - 1].untagged, p->out_port);

	if (__builtin_expect(!untagged || (p->flags & PKT_TAGGED && (index != 0 || p->vid == 0)),
			     0))
		retag(port, p, untagged);
}

static uint64_t wire_bytes(uint32_t len)
{
	return u64_max(len + FCS_BYTES, WIRE_MIN_BYTES) + WIRE_GAP_BYTES;
}

// Takes the head of a queue off it for good.
static inline struct pkt *depart(struct sw_lcore *lc, const struct port_profile *port,
				 struct port_state *st, queue_t queue, ns_t now)
{
	const struct queue_profile *pf = queue_profile_of(port, queue);
	struct queue_state *q = queue_state_of(st, queue);
	uint64_t queue_bytes = q->bytes;
	struct pkt *p = dequeue(lc, port, st, queue);

	if (__builtin_expect(pf->has_wred, 0))
		mark(lc, pf, p, queue_bytes);
	fit_tag(lc, port, p);
	if (__builtin_expect(port->lane_tag, 0))
		lane_tag(lc->pf, port, p);
	release(lc, p);

	q->stats.packets++;
	q->stats.bytes += p->len;
	watermark_raise(&q->wm_delay, ns_since(now, p->at));
	pacer_charge(&port->line, &st->line, wire_bytes(p->len), now);
	pacer_charge(&pf->shaper, &q->shaper, wire_bytes(p->len), now);
	return p;
}

// What goes ahead. As long as any is left, nothing else leaves its queue: then there is no more
// room, the line is not ready, or the queue is blocked.
static COLD uint32_t depart_ahead(struct sw_lcore *lc, const struct port_profile *pf,
				  struct port_state *st, struct pkt **pkts, uint32_t count,
				  ns_t now)
{
	uint32_t sent = 0;

	while (sent < count && ahead_ready(st) && pacer_ready(&st->line, now)) {
		const queue_t queue = { st->ahead_queue };

		if (st->ahead == queue_state_of(st, queue)->head)
			st->ahead = NULL;
		pkts[sent++] = depart(lc, pf, st, queue, now);
	}
	return sent;
}

static void count_tx(struct sw_lcore *lc, struct port_state *st, struct pkt *const *pkts,
		     uint32_t count)
{
	uint64_t octets = 0;
	uint32_t group = 0;
	uint32_t cnp = 0;

	for (uint32_t i = 0; i < count; i++) {
		octets += pkts[i]->len;
		group += (pkts[i]->flags & PKT_GROUP) != 0;
		cnp += (pkts[i]->flags & PKT_CNP) != 0;
	}
	lc->stats.tx_packets += count;
	st->stats.if_out_octets += octets;
	st->stats.if_out_ucast_pkts += count - group;
	st->stats.if_out_non_ucast_pkts += group;
	st->stats.cnp_tx_packets += cnp;
	if (!roce_flows_pass(&lc->roce, octets))
		roce_sample(lc, pkts, count);
}

__attribute__((flatten)) uint32_t sw_tx(struct sw *sw, port_t port, struct pkt **pkts,
					uint32_t count, ns_t now)
{
	struct sw_lcore *lc = lcore_of_port(sw, port);
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = port_state_of(lc, port);
	uint32_t sent = 0;

	WEFT_CHECK(count <= SW_BURST_MAX);
	lc->now = now;
	if (st->backlog_mask != 0)
		sched_update_pauses(pf, st, now);
	if (__builtin_expect(st->ahead != NULL, 0))
		sent = depart_ahead(lc, pf, st, pkts, count, now);
	while (sent < count && st->backlog_mask != 0 && pacer_ready(&st->line, now)) {
		uint32_t id = sched_next(pf, st, now);

		if (id == SCHED_NONE) {
			// Nor does a line whose whole backlog is paused or shaped.
			pacer_restart(&st->line, now);
			break;
		}
		pkts[sent++] = depart(lc, pf, st, (queue_t){ (uint8_t)id }, now);
	}
	count_tx(lc, st, pkts, sent);
	if (sent != 0 && !port_set_empty(&lc->xoff_ports))
		admit_xon_scan(lc, now);
	return sent;
}

uint64_t sw_tx_queued(const struct sw *sw, struct pkt *const *pkts, uint32_t count, uint32_t at)
{
	const struct pkt *p = pkts[at];
	uint64_t bytes = sw->port[p->out_port.v].queue[p->queue.v].bytes;

	for (uint32_t i = at; i < count; i++)
		bytes += pkts[i]->queue.v == p->queue.v ? pkts[i]->charge : 0;
	return bytes;
}
