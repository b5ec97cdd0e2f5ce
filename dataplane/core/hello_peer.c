// SPDX-License-Identifier: BSD-3-Clause
//
// The peer's state from hello to hello. See hello_peer.h.
//
// Invariant: UP is usable, SILENT, DEAF, LOOPED and RETURNING are not; in UNHEARD and HEARD a port
// stays what it was, so that neither a first meeting nor the restart of a peer takes it away.

#include "dataplane/core/hello_peer.h"

enum { INTERVAL_MAX_US = 10000000 }; // of a peer: what hello_interval allows

const char *const hello_status_words[HELLO_STATUS_COUNT] = {
	[HELLO_OFF] = "off",       [HELLO_UNHEARD] = "unheard",     [HELLO_HEARD] = "heard",
	[HELLO_UP] = "up",         [HELLO_SILENT] = "silent",       [HELLO_DEAF] = "deaf",
	[HELLO_LOOPED] = "looped", [HELLO_RETURNING] = "returning",
};

static void go(struct hello_peer *peer, enum hello_status status, bool usable)
{
	peer->status = status;
	peer->usable = usable;
	if (status != HELLO_RETURNING)
		peer->streak = 0;
}

void hello_peer_init(const struct hello_profile *pf, struct hello_peer *peer)
{
	*peer = (struct hello_peer){
		.status = pf->on ? HELLO_UNHEARD : HELLO_OFF,
		.usable = !pf->on || !pf->required,
	};
}

void hello_peer_link(const struct hello_profile *pf, struct hello_peer *peer, bool up)
{
	if (!pf->on)
		return;
	peer->status = HELLO_UNHEARD;
	peer->streak = 0;
	peer->usable = !pf->required && !peer->expected;
	if (!up)
		peer->hello = (struct hello){ 0 };
	hello_peer_agree(pf, peer);
}

static bool same_end(const struct hello_end *a, const struct hello_end *b)
{
	return a->id == b->id && a->boot == b->boot && a->port == b->port;
}

// A hello that says that we are heard.
static void two_way(struct hello_peer *peer, bool in_sequence)
{
	switch (peer->status) {
	case HELLO_OFF:
	case HELLO_UP: return;
	case HELLO_UNHEARD:
	case HELLO_HEARD: break;
	case HELLO_SILENT:
	case HELLO_DEAF:
	case HELLO_LOOPED:
	case HELLO_RETURNING:
		peer->status = HELLO_RETURNING;
		peer->streak = in_sequence ? peer->streak + 1 : 1;
		if (peer->streak < HELLO_RETURN_COUNT)
			return;
		break;
	}
	peer->expected = true;
	go(peer, HELLO_UP, true);
}

// One that says that we are not.
static void one_way(struct hello_peer *peer, bool same, ns_t now)
{
	switch (peer->status) {
	case HELLO_OFF:
	case HELLO_DEAF: return;
	case HELLO_UNHEARD:
		peer->met_at = now;
		go(peer, HELLO_HEARD, peer->usable);
		return;
	case HELLO_HEARD:
		if (!same)
			peer->met_at = now;
		return;
	case HELLO_UP:
		peer->met_at = now;
		if (same)
			go(peer, HELLO_DEAF, false);
		else
			go(peer, HELLO_HEARD, peer->usable); // it has restarted
		return;
	case HELLO_SILENT:
	case HELLO_LOOPED:
	case HELLO_RETURNING: go(peer, HELLO_DEAF, false); return;
	}
}

bool hello_peer_heard(const struct hello_profile *pf, struct hello_peer *peer,
		      const struct hello_end *self, const struct hello *hello, ns_t now)
{
	const bool same = same_end(&peer->hello.from, &hello->from);
	const uint32_t ahead = hello->seq - peer->hello.seq;

	if (hello->from.id == self->id && hello->from.boot == self->boot) {
		peer->heard_at = now;
		peer->hello = (struct hello){ 0 };
		go(peer, HELLO_LOOPED, false);
		hello_peer_agree(pf, peer);
		return true;
	}
	if (same && (ahead == 0 || ahead > UINT32_MAX / 2))
		return false;
	peer->hello = *hello;
	peer->heard_at = now;
	if (hello->hears && same_end(&hello->heard, self))
		two_way(peer, same && ahead == 1);
	else
		one_way(peer, same, now);
	hello_peer_agree(pf, peer);
	return true;
}

uint64_t hello_peer_hold_ns(const struct hello_profile *pf, const struct hello_peer *peer)
{
	const uint64_t us = u64_min(peer->hello.interval_us, INTERVAL_MAX_US);

	return pf->multiplier * u64_max(pf->interval_ns, us * 1000);
}

static bool times_out(const struct hello_peer *peer)
{
	return peer->status != HELLO_OFF && peer->status != HELLO_UNHEARD &&
	       peer->status != HELLO_SILENT;
}

void hello_peer_tick(const struct hello_profile *pf, struct hello_peer *peer, uint64_t away_ns,
		     ns_t now)
{
	const uint64_t hold = hello_peer_hold_ns(pf, peer);

	if (!times_out(peer))
		return;
	peer->heard_at = ns_min(ns_add(peer->heard_at, away_ns), now);
	peer->met_at = ns_min(ns_add(peer->met_at, away_ns), now);
	if (ns_since(now, peer->heard_at) > hold)
		go(peer, HELLO_SILENT, false);
	else if (peer->status == HELLO_HEARD && ns_since(now, peer->met_at) > hold)
		go(peer, HELLO_DEAF, false);
}

ns_t hello_peer_deadline(const struct hello_profile *pf, const struct hello_peer *peer)
{
	ns_t from = peer->heard_at;

	if (!times_out(peer))
		return NS_NEVER;
	if (peer->status == HELLO_HEARD)
		from = ns_min(from, peer->met_at);
	return ns_add(from, hello_peer_hold_ns(pf, peer) + 1);
}

bool hello_peer_is_heard(const struct hello_peer *peer)
{
	return times_out(peer) && peer->status != HELLO_LOOPED;
}

static void disagree(struct hello_peer *peer, enum hello_mismatch why, uint32_t at, uint32_t have,
		     uint32_t want)
{
	peer->mismatch = why;
	peer->at = (uint8_t)at;
	peer->have = (uint8_t)have;
	peer->want = (uint8_t)want;
}

void hello_peer_agree(const struct hello_profile *pf, struct hello_peer *peer)
{
	const struct hello_lanes *ours = &pf->lanes;
	const struct hello_lanes *theirs = &peer->hello.lanes;
	const uint8_t we_ignore = theirs->pfc_sent & (uint8_t)~ours->pfc_obeyed;
	const uint8_t they_ignore = ours->pfc_sent & (uint8_t)~theirs->pfc_obeyed;

	disagree(peer, HELLO_AGREE, 0, 0, 0);
	if (!pf->on || peer->hello.interval_us == 0) // nobody to disagree with
		return;
	if (ours->tag != theirs->tag)
		disagree(peer, HELLO_LANE_TAG, 0, ours->tag, theirs->tag);
	else if (ours->count != theirs->count)
		disagree(peer, HELLO_LANE_COUNT, 0, ours->count, theirs->count);
	else if (ours->pfc_sent != theirs->pfc_sent)
		disagree(peer, HELLO_PFC_SENT, 0, ours->pfc_sent, theirs->pfc_sent);
	else if ((we_ignore | they_ignore) != 0)
		disagree(peer, HELLO_PFC_OBEYED, 0, we_ignore, they_ignore);
	for (uint32_t i = 0; i < ours->count && peer->mismatch == HELLO_AGREE; i++) {
		if (ours->priority[i] != theirs->priority[i])
			disagree(peer, HELLO_LANE_PRIORITY, i, ours->priority[i],
				 theirs->priority[i]);
	}
}
