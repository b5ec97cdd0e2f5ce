// SPDX-License-Identifier: BSD-3-Clause
//
// The arithmetic of charges: what a packet takes from a pool when it is admitted or queued, and
// gives back when it leaves. Inline, because every packet passes here four times.
//
// Reserve and shared part follow from the bytes of a group or queue alone: the first
// `reserved_bytes` are reserve, what is beyond is shared. So a charge is a step from `before` to
// `after` bytes beyond the reserve, and a release is the step back.
#pragma once

#include "dataplane/core/state.h"

// Borrows what `used` needs beyond the credit; false when there is not enough (credit.c).
COLD bool credit_borrow(struct credit *credit, struct purse *purse, uint64_t used);

// Whether a group or queue may go from `before` to `after` bytes beyond its reserve. The packet
// counts as used already, on both sides of the limit.
static inline bool pool_has_room(struct pool_state *st, const struct threshold *limit,
				 uint64_t before, uint64_t after)
{
	uint64_t used = st->shared_used + (after - before);

	return after == 0 || ((__builtin_expect(used <= st->credit.limit, 1) ||
			       credit_borrow(&st->credit, &st->common->purse, used)) &&
			      after <= threshold_bytes(limit, st->credit.visible - used));
}

// Charges `bytes`, which take a group or queue from `before` to `after` bytes beyond its reserve.
static inline void pool_charge(struct pool_state *st, uint64_t bytes, uint64_t before,
			       uint64_t after)
{
	st->used += bytes;
	st->shared_used += after - before;
	watermark_raise(&st->wm_total, st->used);
}

static inline void pool_release(struct pool_state *st, uint64_t bytes, uint64_t before,
				uint64_t after)
{
	st->used -= bytes;
	st->shared_used -= before - after;
}

// Takes out of *bytes and *descriptors what headroom gets back (admit.c).
COLD void release_headroom(struct sw_lcore *lc, struct pool_state *pool, struct pg_state *pg,
			   uint64_t *bytes, uint32_t *descriptors);

// Notes for the owner of the packet's group what has left here (handoff.c).
__attribute__((noinline)) void release_elsewhere(struct sw_lcore *lc, const struct pkt *p);

// Gives back what packets of a group of this lcore were charged.
static inline void release_group(struct sw_lcore *lc, const struct pg_profile *pf,
				 struct pg_state *pg, uint64_t bytes, uint32_t descriptors)
{
	struct pool_state *pool = pool_state_of(lc, pf->pool);
	uint64_t before;

	if (pg->headroom != 0 || pg->headroom_descriptors != 0)
		release_headroom(lc, pool, pg, &bytes, &descriptors);
	before = u64_minus(pg->used, pf->reserved_bytes);
	pg->used -= bytes;
	pool_release(pool, bytes, before, u64_minus(pg->used, pf->reserved_bytes));
	pg->descriptors -= descriptors;
	lc->descriptors_used -= descriptors;
}

static inline void release_copy(struct sw_lcore *lc, const struct pkt *p)
{
	if (lcore_of_frame(lc->sw, p->in_port) != lc) {
		release_elsewhere(lc, p);
		return;
	}
	lc->copy_descriptors -= p->descriptors;
	lc->descriptors_used -= p->descriptors;
}

// Gives back what admit() or admit_copy() charged.
static inline void release(struct sw_lcore *lc, struct pkt *p)
{
	const struct port_profile *port;

	if (!(p->flags & PKT_CHARGED))
		return;
	p->flags &= (uint8_t)~PKT_CHARGED;
	if (p->flags & PKT_COPY) {
		release_copy(lc, p);
		return;
	}
	port = port_profile_of(lc, p->in_port);
	if (__builtin_expect(port->lcore.v != lc->id.v, 0)) {
		release_elsewhere(lc, p);
		return;
	}
	release_group(lc, pg_profile_of(port, p->pg),
		      pg_state_of(port_state_of(lc, p->in_port), p->pg), p->charge, p->descriptors);
}

// Unlinks the head of a queue and uncharges the egress side.
static inline struct pkt *dequeue(struct sw_lcore *lc, const struct port_profile *port,
				  struct port_state *st, queue_t queue)
{
	const struct queue_profile *pf = queue_profile_of(port, queue);
	struct queue_state *q = queue_state_of(st, queue);
	struct pool_state *pool = pool_state_of(lc, pf->pool);
	struct pkt *p = q->head;
	uint64_t bytes = q->bytes - p->charge;
	uint64_t before = u64_minus(q->bytes, pf->reserved_bytes);

	q->head = p->next;
	q->bytes = bytes;
	q->count--;
	pool_release(pool, p->charge, before, u64_minus(bytes, pf->reserved_bytes));
	if (q->head == NULL) {
		q->tail = NULL;
		q->deficit = 0;
		st->backlog_mask &= (uint8_t) ~(1u << queue.v);
	} else {
		__builtin_prefetch(q->head);
	}
	return p;
}
