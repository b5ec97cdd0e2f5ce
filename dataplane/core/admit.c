// SPDX-License-Identifier: BSD-3-Clause
//
// Stage 3: ingress admission.
//
// Charges an arriving packet to its priority group: reserve first, then the shared pool up to
// limit = reserve + 2^dynamic_th x free, then, in a lossless group, headroom. The limit is taken
// with the packet already in it, so that a group alone never exceeds reserve + pool a/(1+a), the
// fixed point of the SAI formula. A packet that does not fit under the limit raises XOFF and goes
// to headroom whole; headroom covers what the peer still sends (IEEE 802.1Q annex on PFC buffers).
// Packet descriptors are a second resource under the same law: a flood of small frames pauses its
// sender instead of exhausting the packet pool. Release goes headroom, shared, reserve.
//
// Invariant: the sum of all charges equals pool use, reserves and headroom (sw_conserved()).

#include "dataplane/core/stage.h"

// Padding to the minimum frame belongs to a packet: it bounds descriptors by bytes.
enum { MIN_FRAME_BYTES = 60 };

static uint32_t charge_bytes(const struct sw_lcore *lc, const struct pkt *p)
{
	uint32_t cell = lc->pf->cell_bytes;
	uint32_t len = p->len < MIN_FRAME_BYTES ? MIN_FRAME_BYTES : p->len;

	return cell == 1 ? len : (len + cell - 1) / cell * cell;
}

// Descriptors follow the group's alpha; a group with a static limit may take half of what is left.
static uint64_t descriptor_limit(const struct pg_profile *pf, uint64_t free_count)
{
	struct threshold th = { .dynamic = true };

	if (pf->limit.dynamic)
		th.alpha_log2 = pf->limit.alpha_log2;
	return threshold_bytes(&th, free_count);
}

// Whether `used` descriptors are within what this lcore has or can borrow.
static inline bool has_descriptors(struct sw_lcore *lc, uint64_t used)
{
	return __builtin_expect(used <= lc->descriptor_credit.limit, 1) ||
	       credit_borrow(&lc->descriptor_credit, &lc->sw->descriptors, used);
}

static bool fits_descriptors(struct sw_lcore *lc, const struct pg_profile *pf,
			     const struct pg_state *pg, uint32_t count)
{
	uint64_t used = (uint64_t)lc->descriptors_used + count;

	return has_descriptors(lc, used) &&
	       pg->descriptors + count <=
		       descriptor_limit(pf, lc->descriptor_credit.visible - used);
}

// Charges the packet to the headroom of its group, unless that or the common one is full.
static bool charge_headroom(struct sw_lcore *lc, struct pool_state *pool,
			    const struct pg_profile *pf, struct pg_state *pg, const struct pkt *p)
{
	if (pg->headroom + p->charge > pf->headroom_bytes ||
	    pg->headroom_descriptors + p->descriptors > pf->headroom_descriptors ||
	    !headroom_take(pool, pool_profile_of(lc, pf->pool)->headroom_bytes, p->charge))
		return false;
	pg->headroom += p->charge;
	pg->headroom_descriptors += p->descriptors;
	lc->headroom_descriptors_used += p->descriptors;
	watermark_raise(&pg->wm_headroom, pg->headroom);
	watermark_raise(&pool->wm_headroom, pool->headroom_used);
	return true;
}

static void raise_xoff(struct sw_lcore *lc, struct pg_state *pg, const struct pkt *p)
{
	if (pg->xoff)
		return;
	pg->xoff = true;
	pg->stats.xoff_events++;
	lc->port[p->in_port.v].xoff_mask |= (uint8_t)(1u << p->pg.v);
	port_set_add(&lc->xoff_ports, p->in_port);
}

// What does not fit under the limit goes to headroom, if the group has any.
static COLD enum drop_reason admit_beyond_limit(struct sw_lcore *lc, const struct pg_profile *pf,
						struct pg_state *pg, bool bytes_fit,
						const struct pkt *p)
{
	struct pool_state *pool = pool_state_of(lc, pf->pool);

	if (!pf->lossless) {
		pg->stats.dropped_packets++;
		pool->dropped_packets += !bytes_fit;
		if (bytes_fit)
			return DROP_DESCRIPTORS;
		return p->flags & PKT_CNP ? DROP_CNP_PG_FULL : DROP_PG_LOSSY_FULL;
	}
	raise_xoff(lc, pg, p);
	if (!charge_headroom(lc, pool, pf, pg, p)) {
		pg->stats.dropped_packets++;
		pool->dropped_packets++;
		return DROP_PG_LOSSLESS_FULL;
	}
	return DROP_NONE;
}

enum drop_reason admit(struct sw_lcore *lc, const struct port_profile *port, struct port_state *st,
		       struct pkt *p)
{
	const struct pg_profile *pf = pg_profile_of(port, p->pg);
	struct pg_state *pg = pg_state_of(st, p->pg);
	struct pool_state *pool = pool_state_of(lc, pf->pool);
	uint32_t charge = charge_bytes(lc, p);
	uint64_t used = pg->used + charge;
	uint64_t before = u64_minus(pg->used, pf->reserved_bytes);
	uint64_t after = u64_minus(used, pf->reserved_bytes);
	bool bytes_fit = pool_has_room(pool, &pf->limit, before, after);

	p->charge = charge;
	if (bytes_fit && fits_descriptors(lc, pf, pg, p->descriptors)) {
		pg->used = used;
		pg->descriptors += p->descriptors;
		lc->descriptors_used += p->descriptors;
		watermark_raise(&pg->wm_used, used);
		pool_charge(pool, charge, before, after);
	} else {
		enum drop_reason reason = admit_beyond_limit(lc, pf, pg, bytes_fit, p);

		if (reason != DROP_NONE)
			return reason;
	}
	p->flags |= pf->lossless ? PKT_CHARGED | PKT_LOSSLESS : PKT_CHARGED;
	pg->stats.packets++;
	pg->stats.bytes += p->len;
	if (__builtin_expect(pg->headroom != 0, 0))
		watermark_raise(&pg->wm_total, pg->used + pg->headroom);
	return DROP_NONE;
}

// Copies may hold an eighth of the descriptors, so that a broadcast storm cannot take those that
// lossless traffic counts on. Each lcore has an equal part of the eighth.
enum drop_reason admit_copy(struct sw_lcore *lc, struct pkt *p)
{
	p->charge = charge_bytes(lc, p);
	if (lc->copy_descriptors + p->descriptors >
		    lc->pf->descriptor_shared / 8 / lc->sw->lcore_count ||
	    !has_descriptors(lc, (uint64_t)lc->descriptors_used + p->descriptors))
		return DROP_COPY_NO_BUFFER;
	lc->copy_descriptors += p->descriptors;
	lc->descriptors_used += p->descriptors;
	watermark_raise(&lc->wm_descriptors,
			(uint64_t)lc->descriptors_used + lc->headroom_descriptors_used);
	p->flags |= PKT_CHARGED;
	return DROP_NONE;
}

void release_headroom(struct sw_lcore *lc, struct pool_state *pool, struct pg_state *pg,
		      uint64_t *bytes, uint32_t *descriptors)
{
	uint64_t back = u64_min(*bytes, pg->headroom);
	uint32_t count = (uint32_t)u64_min(*descriptors, pg->headroom_descriptors);

	pg->headroom -= back;
	headroom_give(pool, back);
	*bytes -= back;
	pg->headroom_descriptors -= count;
	lc->headroom_descriptors_used -= count;
	*descriptors -= count;
}

uint64_t admit_limit(const struct sw_lcore *lc, port_t port, pg_t pg)
{
	const struct pg_profile *pf = &port_profile_of(lc, port)->pg[pg.v];
	uint64_t free_bytes = u64_minus(lc->pool[pf->pool].credit.visible,
					lc->pool[pf->pool].shared_used);
	uint64_t shared = u64_minus(lc->port[port.v].pg[pg.v].used, pf->reserved_bytes);

	// No limit lets a group have more than what it holds and the pool has left.
	return pf->reserved_bytes +
	       u64_min(threshold_bytes(&pf->limit, free_bytes), shared + free_bytes);
}

// Descriptors resume an eighth below their limit: a group that they hold would otherwise resume at
// each packet that leaves.
static bool descriptors_due(struct sw_lcore *lc, const struct pg_profile *pf,
			    const struct pg_state *pg)
{
	uint64_t used = (uint64_t)lc->descriptors_used + pg->headroom_descriptors;
	uint64_t limit = descriptor_limit(pf, u64_minus(lc->descriptor_credit.visible, used));

	if (pg->descriptors + pg->headroom_descriptors > limit - limit / 8)
		return false;
	return pg->headroom_descriptors == 0 || has_descriptors(lc, used);
}

// Both conditions of SAI: occupancy at or below max(xon, limit - xon_offset), and xoff bytes of
// headroom free for the group.
static bool xon_due(struct sw_lcore *lc, port_t port, pg_t id)
{
	const struct pg_profile *pf = &port_profile_of(lc, port)->pg[id.v];
	const struct pool_profile *ppf = &lc->pf->pool[pf->pool];
	const struct pg_state *pg = &lc->port[port.v].pg[id.v];
	uint64_t free_headroom = u64_minus(pf->headroom_bytes, pg->headroom);
	uint64_t bound = pf->xon_bytes;

	if (pf->xon_offset_bytes != 0)
		bound = u64_max(bound, u64_minus(admit_limit(lc, port, id), pf->xon_offset_bytes));
	if (ppf->headroom_bytes != 0)
		free_headroom = u64_min(free_headroom,
					headroom_left(&lc->pool[pf->pool], ppf->headroom_bytes));
	if (pg->used + pg->headroom > bound || free_headroom < pf->headroom_bytes)
		return false;
	return descriptors_due(lc, pf, pg);
}

// Descriptors are one like the other, so those that headroom still holds when its bytes are free
// count as used under the limit from now on.
static void end_xoff(struct sw_lcore *lc, struct pg_state *pg)
{
	pg->descriptors += pg->headroom_descriptors;
	lc->descriptors_used += pg->headroom_descriptors;
	lc->headroom_descriptors_used -= pg->headroom_descriptors;
	pg->headroom_descriptors = 0;
	pg->xoff = false;
	pg->stats.xon_events++;
}

// Ends XOFF for the groups of a port that are due.
static void scan_port(struct sw_lcore *lc, port_t port)
{
	struct port_state *st = &lc->port[port.v];

	for (uint32_t left = st->xoff_mask; left != 0; left &= left - 1) {
		pg_t pg = { (uint8_t)__builtin_ctz(left) };

		if (!xon_due(lc, port, pg))
			continue;
		end_xoff(lc, &st->pg[pg.v]);
		st->xoff_mask &= (uint8_t) ~(1u << pg.v);
	}
}

void admit_xon_scan(struct sw_lcore *lc, ns_t now)
{
	PORT_SET_FOR_EACH(port, &lc->xoff_ports) {
		struct port_state *st = &lc->port[port.v];
		uint8_t before = st->xoff_mask;

		scan_port(lc, port);
		if (st->xoff_mask != before)
			admit_announce(lc, port, now);
		if (st->xoff_mask == 0)
			port_set_remove(&lc->xoff_ports, port);
	}
}

void admit_announce(struct sw_lcore *lc, port_t port, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = &lc->port[port.v];
	uint8_t wanted = 0;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		wanted |= (uint8_t)((st->xoff_mask >> pf->prio_to_pg[i] & 1) << i);
	wanted &= (uint8_t)~st->muted;
	pfc_gen_update(&pf->gen, &st->gen, wanted, now);
	pfc_gen_update(&pf->held, &st->held, wanted, now);
	if (pfc_gen_deadline(&st->gen).v <= now.v)
		port_set_add(&lc->pfc_ports, port);
}

static void rebind_pg(struct sw_lcore *lc, port_t port, uint32_t i)
{
	const struct pg_profile *pf = &port_profile_of(lc, port)->pg[i];
	struct pg_state *pg = &lc->port[port.v].pg[i];
	struct pool_state *pool = &lc->pool[pf->pool];
	uint64_t shared;

	if (!pf->lossless) {
		pg->used += pg->headroom;
		pg->descriptors += pg->headroom_descriptors;
		pg->headroom = 0;
		pg->headroom_descriptors = 0;
		pg->xoff = false;
		lc->port[port.v].xoff_mask &= (uint8_t) ~(1u << i);
	}
	shared = u64_minus(pg->used, pf->reserved_bytes);
	pool->shared_used += shared;
	pool->used += pg->used;
	pool->headroom_used += pg->headroom;
	lc->descriptors_used += pg->descriptors;
	lc->headroom_descriptors_used += pg->headroom_descriptors;
}

static void rebind_queue(struct sw_lcore *lc, port_t port, uint32_t i)
{
	const struct queue_profile *pf = &port_profile_of(lc, port)->queue[i];
	uint64_t bytes = lc->port[port.v].queue[i].bytes;

	lc->pool[pf->pool].shared_used += u64_minus(bytes, pf->reserved_bytes);
	lc->pool[pf->pool].used += bytes;
}

static void forget_charges(struct sw_lcore *lc)
{
	for (uint32_t i = 0; i < lc->pf->pool_count; i++) {
		lc->pool[i].shared_used = 0;
		lc->pool[i].used = 0;
		lc->pool[i].headroom_used = 0;
	}
	lc->descriptors_used = lc->copy_descriptors;
	lc->headroom_descriptors_used = 0;
}

// A pool that is new, or that counts what it did not before, has held what it holds.
static void raise_watermarks(struct sw_lcore *lc)
{
	for (uint32_t i = 0; i < lc->pf->pool_count; i++) {
		watermark_raise(&lc->pool[i].wm_total, lc->pool[i].used);
		watermark_raise(&lc->pool[i].wm_headroom, lc->pool[i].headroom_used);
	}
}

void admit_rebind(struct sw *sw, ns_t now)
{
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		forget_charges(&sw->lcore[i]);
	for (uint16_t n = 0; n < sw->pf->port_count; n++) {
		port_t port = { n };
		struct sw_lcore *lc = lcore_of_port(sw, port);

		for (uint32_t i = 0; i < PG_COUNT; i++)
			rebind_pg(lc, port, i);
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			rebind_queue(lc, port, i);
	}
	credit_deal(sw);
	for (uint16_t n = 0; n < sw->pf->port_count; n++)
		admit_announce(lcore_of_port(sw, (port_t){ n }), (port_t){ n }, now);
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		raise_watermarks(&sw->lcore[i]);
		admit_xon_scan(&sw->lcore[i], now);
	}
}
