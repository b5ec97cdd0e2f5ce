// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 5: the egress queue.
//
// Charges the packet to the queue of its class at the egress port. A lossy packet over the queue's
// limit is dropped here; a lossless one never is, whatever the limit: its ingress group has already
// answered for it (an egress limit on lossless traffic would drop before PAUSE was ever sent).
//
// Reserve and shared part follow from the queue's bytes alone, so there is nothing to split when a
// packet leaves.

#include "dataplane/core/stage.h"

// WRED looks at IP packets only: nothing else can say that it is not ECN-capable. A CNP is the
// signal itself and is spared.
static enum ecn_verdict wred(struct sw_lcore *lc, const struct queue_profile *pf,
			     const struct queue_state *q, const struct pkt *p)
{
	uint64_t queue_bytes = q->bytes + p->charge;
	enum ecn_codepoint codepoint = (enum ecn_codepoint)pkt_ecn(p);
	enum ecn_verdict verdict;

	if ((p->l3 != PKT_L3_IPV4 && p->l3 != PKT_L3_IPV6) || p->flags & PKT_CNP)
		return ECN_PASS;
	verdict = ecn_drop_verdict(&pf->wred, codepoint, queue_bytes, rng_next32(&lc->dice));
	if (verdict != ECN_PASS || !pf->wred.mark_at_enqueue)
		return verdict;
	return ecn_mark_verdict(&pf->wred, codepoint, queue_bytes, rng_next32(&lc->dice));
}

static void count_drop(struct queue_state *q, const struct pkt *p)
{
	q->stats.dropped_packets++;
	q->stats.dropped_bytes += p->len;
}

static COLD enum drop_reason refuse(struct sw_lcore *lc, struct pkt *p, struct queue_state *q,
				    enum drop_reason reason)
{
	struct port_stats *port = &lc->port[p->out_port.v].stats;

	count_drop(q, p);
	if (reason == DROP_QUEUE_WRED) {
		q->stats.wred_dropped_packets++;
		q->stats.wred_dropped_bytes += p->len;
		port->green_wred_dropped_packets++;
		port->wred_dropped_packets++;
	}
	return reason;
}

static COLD void mark_arrival(struct sw_lcore *lc, struct pkt *p)
{
	mark_ce(lc, p);
}

// What all that join a queue have in common, once q->bytes has them.
static inline void join(struct port_state *st, struct queue_state *q, struct pkt *p, ns_t now)
{
	q->count++;
	watermark_raise(&q->wm_total, q->bytes);
	// An idle line earns nothing: `burst` makes up for late polls of a backlog alone.
	if (st->backlog_mask == 0)
		pacer_restart(&st->line, now);
	p->at = now;
	st->backlog_mask |= (uint8_t)(1u << p->queue.v);
}

static enum drop_reason enqueue(struct sw_lcore *lc, const struct port_profile *port,
				struct port_state *st, struct pkt *p, ns_t now)
{
	const struct queue_profile *pf = queue_profile_of(port, p->queue);
	struct queue_state *q = queue_state_of(st, p->queue);
	struct pool_state *pool = pool_state_of(lc, pf->pool);
	uint64_t bytes = q->bytes + p->charge;
	uint64_t before = u64_minus(q->bytes, pf->reserved_bytes);
	uint64_t after = u64_minus(bytes, pf->reserved_bytes);

	if (!(p->flags & PKT_LOSSLESS) && !pool_has_room(pool, &pf->limit, before, after)) {
		pool->dropped_packets++;
		return refuse(lc, p, q, p->flags & PKT_CNP ? DROP_CNP_QUEUE_FULL : DROP_QUEUE_FULL);
	}
	if (pf->has_wred) {
		enum ecn_verdict verdict = wred(lc, pf, q, p);

		if (verdict == ECN_DROP)
			return refuse(lc, p, q, DROP_QUEUE_WRED);
		if (verdict == ECN_MARK)
			mark_arrival(lc, p);
	}
	q->bytes = bytes;
	pool_charge(pool, p->charge, before, after);
	join(st, q, p, now);
	p->next = NULL;
	if (q->head == NULL)
		q->head = p;
	else
		q->tail->next = p;
	q->tail = p;
	return DROP_NONE;
}

// As a packet of its class, but before all that waits, behind others of its kind. No limit refuses
// it: whether it may be here at all, admit_copy() has said.
static void enqueue_ahead(struct sw_lcore *lc, const struct port_profile *port,
			  struct port_state *st, struct pkt *p, ns_t now)
{
	const struct queue_profile *pf = queue_profile_of(port, p->queue);
	struct queue_state *q = queue_state_of(st, p->queue);
	struct pkt **link = st->ahead != NULL ? &st->ahead->next : &q->head;
	uint64_t before = u64_minus(q->bytes, pf->reserved_bytes);

	q->bytes += p->charge;
	pool_charge(pool_state_of(lc, pf->pool), p->charge, before,
		    u64_minus(q->bytes, pf->reserved_bytes));
	join(st, q, p, now);
	p->next = *link;
	*link = p;
	if (p->next == NULL)
		q->tail = p;
	st->ahead = p;
	st->ahead_queue = p->queue.v;
}

void flush_queue(struct sw_lcore *lc, port_t port, queue_t queue, enum drop_reason reason)
{
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = port_state_of(lc, port);
	struct queue_state *q = queue_state_of(st, queue);

	if (queue.v == st->ahead_queue)
		st->ahead = NULL;
	while (q->head != NULL) {
		count_drop(q, q->head);
		drop(lc, dequeue(lc, pf, st, queue), reason);
	}
}

// A queue that takes nothing: the link is down, the peer disagrees, or the watchdog drops.
static COLD enum drop_reason refuse_all(struct port_state *st, const struct pkt *p)
{
	struct queue_state *q = queue_state_of(st, p->queue);

	if (!port_is_up(st))
		return DROP_EGRESS_DOWN;
	count_drop(q, p);
	return st->hello.refused >> p->queue.v & 1 ? DROP_EGRESS_MISMATCH : DROP_PFC_WD_TX;
}

static inline void deliver(struct sw_lcore *lc, struct port_state *st, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, p->out_port);
	uint32_t tag_bytes = p->l3_offset - ETHERNET_BYTES;
	enum drop_reason reason;

	p->queue = (queue_t){ pf->tc_to_queue[p->tc.v] };
	if (st->refused >> p->queue.v & 1)
		reason = refuse_all(st, p);
	else if (p->len > pf->max_frame_bytes + tag_bytes)
		reason = DROP_EGRESS_MTU;
	else
		reason = enqueue(lc, pf, st, p, now);
	if (reason != DROP_NONE)
		drop(lc, p, reason);
}

// While others wait ahead, their queue is that of all: a change of maps does not part them.
static COLD void deliver_ahead(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, p->out_port);
	struct port_state *st = port_state_of(lc, p->out_port);

	p->queue = (queue_t){ st->ahead != NULL ? st->ahead_queue : pf->tc_to_queue[p->tc.v] };
	if (st->refused >> p->queue.v & 1)
		drop(lc, p, refuse_all(st, p));
	else
		enqueue_ahead(lc, pf, st, p, now);
}

// Frames that hosts have sent have a port.
static bool goes_ahead(const struct pkt *p)
{
	return p->in_port.v == PORT_NONE.v && (p->l3 == PKT_L3_ARP || p->l4 == PKT_L4_ND);
}

__attribute__((noinline)) void forward_here(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	if (__builtin_expect(goes_ahead(p), 0))
		deliver_ahead(lc, p, now);
	else
		deliver(lc, port_state_of(lc, p->out_port), p, now);
}

// Towards a LAG, or a port of another lcore.
static __attribute__((noinline)) void forward_on(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, p->out_port);

	if (pf->lag != 0) {
		const port_t member = lag_pick(lc, p);

		if (member.v == PORT_NONE.v) {
			drop(lc, p, DROP_EGRESS_DOWN);
			return;
		}
		p->out_port = member;
		pf = port_profile_of(lc, member);
	}
	if (pf->lcore.v == lc->id.v)
		forward_here(lc, p, now);
	else
		hand_off(lc, pf->lcore, p);
}

void forward(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	struct port_state *st = port_state_of(lc, p->out_port);

	if (__builtin_expect(st->way != lc->id.v, 0))
		forward_on(lc, p, now);
	else
		deliver(lc, st, p, now);
}

void forward_own(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	forward_on(lc, p, now);
}
