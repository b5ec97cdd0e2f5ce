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

// Whether a group or queue may go from `before` to `after` bytes beyond its reserve. The packet
// counts as used already, on both sides of the limit.
static inline bool pool_has_room(const struct pool_profile *pf, const struct pool_state *st,
				 const struct threshold *limit, uint64_t before, uint64_t after)
{
	uint64_t used = st->shared_used + (after - before);

	return after == 0 || (used <= pf->shared_bytes &&
			      after <= threshold_bytes(limit, pf->shared_bytes - used));
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
			   uint32_t *bytes, uint32_t *descriptors);

// Gives back what admit() or admit_copy() charged.
static inline void release(struct sw_lcore *lc, struct pkt *p)
{
	const struct pg_profile *pf;
	struct pg_state *pg;
	struct pool_state *pool;
	uint64_t before;
	uint32_t bytes = p->charge;
	uint32_t descriptors = p->descriptors;

	if (!(p->flags & PKT_CHARGED))
		return;
	p->flags &= (uint8_t)~PKT_CHARGED;
	if (p->flags & PKT_COPY) {
		lc->copy_descriptors -= p->descriptors;
		lc->descriptors_used -= p->descriptors;
		return;
	}
	pf = pg_profile_of(port_profile_of(lc, p->in_port), p->pg);
	pg = pg_state_of(port_state_of(lc, p->in_port), p->pg);
	pool = pool_state_of(lc, pf->pool);

	if (pg->headroom != 0 || pg->headroom_descriptors != 0)
		release_headroom(lc, pool, pg, &bytes, &descriptors);
	before = u64_minus(pg->used, pf->reserved_bytes);
	pg->used -= bytes;
	pool_release(pool, bytes, before, u64_minus(pg->used, pf->reserved_bytes));
	pg->descriptors -= descriptors;
	lc->descriptors_used -= descriptors;
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
