// SPDX-License-Identifier: BSD-3-Clause
//
// The machines of one port: receive (IEEE 802.1AX 6.4.12), periodic transmission (6.4.13) and the
// coupled mux (6.4.15). lacp_frame.c has the frames; which ports belong together is decided by
// lag_lacp.c, which sees all of a LAG.
//
// Invariant: the mux runs only while the receive machine is CURRENT, the port is selected and the
// partner says that it is in sync.

#include "dataplane/core/lacp.h"

#include "base/hash.h"

enum {
	// What of a state both ends must know of each other, or a frame is due (update_NTT).
	TOLD_BITS = LACP_ACTIVITY | LACP_TIMEOUT | LACP_SYNCHRONIZATION | LACP_AGGREGATION,
	MUX_BITS = LACP_SYNCHRONIZATION | LACP_COLLECTING | LACP_DISTRIBUTING,
	CONFIGURED_BITS = LACP_ACTIVITY | LACP_TIMEOUT | LACP_AGGREGATION,
};

static bool same_end(const struct lacp_info *a, const struct lacp_info *b)
{
	return a->system == b->system && a->system_priority == b->system_priority &&
	       a->key == b->key && a->port == b->port && a->port_priority == b->port_priority;
}

struct lacp_pdu lacp_pdu_of(const struct lacp_profile *pf, const struct lacp_state *st)
{
	struct lacp_pdu pdu = { pf->actor, st->partner };

	pdu.actor.state = st->state;
	return pdu;
}

uint64_t lacp_partner(const struct lacp_profile *pf, const struct lacp_state *st)
{
	const struct lacp_info *p = &st->partner;

	// A port that hears its own switch is a loop.
	if ((st->rx != LACP_RX_CURRENT && st->rx != LACP_RX_EXPIRED) || p->system == 0 ||
	    p->system == pf->actor.system || !(p->state & LACP_AGGREGATION))
		return 0;
	return hash_add(hash_add(hash_add(HASH_EMPTY, p->system), p->system_priority), p->key) | 1;
}

// --- periodic -----------------------------------------------------------------------------------

static uint64_t period_ns(const struct lacp_state *st)
{
	return st->partner.state & LACP_TIMEOUT ? LACP_FAST_NS : LACP_SLOW_NS;
}

// A partner that becomes fast must not wait for the slow period to end.
static void hasten_periodic(struct lacp_state *st, ns_t now)
{
	st->periodic_at = ns_min(st->periodic_at, ns_add(now, period_ns(st)));
}

// --- mux ----------------------------------------------------------------------------------------

static void set_mux(struct lacp_state *st, enum lacp_mux mux, uint8_t bits)
{
	st->mux = mux;
	st->ntt |= (st->state & MUX_BITS) != bits;
	st->state = (uint8_t)((st->state & ~MUX_BITS) | bits);
}

// Takes the mux as far as it goes.
static void run_mux(struct lacp_state *st, ns_t now)
{
	const bool in_sync = st->partner.state & LACP_SYNCHRONIZATION;

	if (!st->selected) {
		set_mux(st, LACP_MUX_DETACHED, 0);
		return;
	}
	if (st->mux == LACP_MUX_DETACHED) {
		st->mux = LACP_MUX_WAITING;
		st->wait_end = ns_add(now, LACP_AGGREGATE_WAIT_NS);
	}
	if (st->mux == LACP_MUX_WAITING && now.v >= st->wait_end.v)
		set_mux(st, LACP_MUX_ATTACHED, LACP_SYNCHRONIZATION);
	if (st->mux == LACP_MUX_ATTACHED && in_sync)
		set_mux(st, LACP_MUX_RUNNING, MUX_BITS);
	else if (st->mux == LACP_MUX_RUNNING && !in_sync)
		set_mux(st, LACP_MUX_ATTACHED, LACP_SYNCHRONIZATION);
}

void lacp_select(struct lacp_state *st, bool selected, ns_t now)
{
	st->selected = selected;
	run_mux(st, now);
}

// --- receive ------------------------------------------------------------------------------------

static void expire(struct lacp_state *st, ns_t now)
{
	st->rx = LACP_RX_EXPIRED;
	st->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	st->partner.state |= LACP_TIMEOUT;
	st->state |= LACP_EXPIRED;
	st->current_end = ns_add(now, LACP_SHORT_TIMEOUT_NS);
	hasten_periodic(st, now);
}

// Nobody is there: the partner is what it is by default, nobody.
static void record_default(struct lacp_state *st)
{
	st->rx = LACP_RX_DEFAULTED;
	st->partner = (struct lacp_info){ .state = LACP_TIMEOUT };
	st->state = (uint8_t)((st->state & ~LACP_EXPIRED) | LACP_DEFAULTED);
	st->current_end = NS_NEVER;
	st->selected = false;
}

void lacp_link(const struct lacp_profile *pf, struct lacp_state *st, bool up, ns_t now)
{
	*st = (struct lacp_state){
		.partner = { .state = LACP_TIMEOUT },
		.state = pf->actor.state & CONFIGURED_BITS,
		.current_end = NS_NEVER,
		.periodic_at = NS_NEVER,
		.tx_begin = st->tx_begin,
		.tx_count = st->tx_count,
	};
	if (!up)
		return;
	st->state |= LACP_DEFAULTED;
	expire(st, now);
	st->ntt = true;
}

// Whether the partner knows us, or is one that does not aggregate.
static bool is_matched(const struct lacp_profile *pf, const struct lacp_state *st,
		       const struct lacp_pdu *pdu)
{
	return !(pdu->actor.state & LACP_AGGREGATION) ||
	       (same_end(&pdu->partner, &pf->actor) &&
		(pdu->partner.state & LACP_AGGREGATION) == (st->state & LACP_AGGREGATION));
}

void lacp_receive(const struct lacp_profile *pf, struct lacp_state *st, const struct lacp_pdu *pdu,
		  ns_t now)
{
	const bool in_sync = pdu->actor.state & LACP_SYNCHRONIZATION && is_matched(pf, st, pdu);
	const uint8_t changed = pdu->actor.state ^ st->partner.state;

	if (st->rx == LACP_RX_DISABLED)
		return;
	// Another partner, or one that changed its mind about aggregating: selected anew.
	if (!same_end(&pdu->actor, &st->partner) || changed & LACP_AGGREGATION)
		st->selected = false;
	if (!same_end(&pdu->partner, &pf->actor) || (pdu->partner.state ^ st->state) & TOLD_BITS)
		st->ntt = true;
	st->rx = LACP_RX_CURRENT;
	st->partner = pdu->actor;
	if (!in_sync)
		st->partner.state &= (uint8_t)~LACP_SYNCHRONIZATION;
	st->state &= (uint8_t) ~(LACP_EXPIRED | LACP_DEFAULTED);
	st->current_end = ns_add(now, st->state & LACP_TIMEOUT ? LACP_SHORT_TIMEOUT_NS :
								 LACP_LONG_TIMEOUT_NS);
	hasten_periodic(st, now);
	run_mux(st, now);
}

// --- time ---------------------------------------------------------------------------------------

void lacp_tick(struct lacp_state *st, ns_t now)
{
	if (st->rx == LACP_RX_DISABLED)
		return;
	if (now.v >= st->current_end.v) {
		if (st->rx == LACP_RX_EXPIRED)
			record_default(st);
		else
			expire(st, now);
	}
	if (now.v >= st->periodic_at.v) {
		st->ntt = true;
		st->periodic_at = ns_add(now, period_ns(st));
	}
	run_mux(st, now);
}

ns_t lacp_deadline(const struct lacp_state *st)
{
	ns_t at = ns_min(st->current_end, st->periodic_at);

	if (st->rx == LACP_RX_DISABLED)
		return NS_NEVER;
	if (st->mux == LACP_MUX_WAITING)
		at = ns_min(at, st->wait_end);
	if (st->ntt && st->tx_count >= LACP_TX_MAX)
		at = ns_min(at, ns_add(st->tx_begin, LACP_FAST_NS));
	return at;
}

bool lacp_send(struct lacp_state *st, ns_t now)
{
	if (!st->ntt || st->rx == LACP_RX_DISABLED)
		return false;
	if (ns_since(now, st->tx_begin) >= LACP_FAST_NS) {
		st->tx_begin = now;
		st->tx_count = 0;
	}
	if (st->tx_count >= LACP_TX_MAX)
		return false;
	st->tx_count++;
	st->ntt = false;
	return true;
}
