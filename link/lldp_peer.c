// SPDX-License-Identifier: BSD-3-Clause
//
// Neighbours are known by chassis and port together (the MSAP identifier), in the order in which
// they came. One that finds no room is ignored: the table of a port is small
// because a link has one end, and a stranger must not push out who is there (9.2.7.7.5).

#include "link/lldp_peer.h"

#include <string.h>

uint16_t lldp_ttl(const struct lldp_profile *pf)
{
	const uint64_t seconds = (pf->interval_ns * LLDP_HOLD + LLDP_FAST_NS - 1) / LLDP_FAST_NS;

	return (uint16_t)u64_min(seconds + 1, UINT16_MAX);
}

void lldp_port_link(struct lldp_port *port, bool up, ns_t now)
{
	if (port->up == up)
		return;
	port->up = up;
	port->sending = false;
	port->changed = false;
	port->neighbor_count = 0;
	port->fast = LLDP_FAST_COUNT;
	port->credit = LLDP_CREDIT_MAX;
	port->credit_at = now;
	port->tx_at = now;
}

void lldp_port_changed(struct lldp_port *port)
{
	port->changed = true;
}

static uint32_t find(const struct lldp_port *port, const struct lldp_info *info)
{
	uint32_t i = 0;

	while (i < port->neighbor_count &&
	       (!lldp_same_id(&port->neighbor[i].info.chassis, &info->chassis) ||
		!lldp_same_id(&port->neighbor[i].info.port, &info->port)))
		i++;
	return i;
}

// It can still be read, in the place behind the last.
static void forget(struct lldp_port *port, uint32_t at)
{
	const struct lldp_neighbor gone = port->neighbor[at];

	port->neighbor_count--;
	memmove(&port->neighbor[at], &port->neighbor[at + 1],
		(port->neighbor_count - at) * sizeof(port->neighbor[0]));
	port->neighbor[port->neighbor_count] = gone;
}

// Padding and bytes behind a text are zeros: lldp_decode() begins with nothing else.
static bool says_the_same(const struct lldp_info *a, const struct lldp_info *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static enum lldp_news add(struct lldp_port *port, const struct lldp_info *info, uint32_t index,
			  ns_t now, uint32_t at)
{
	struct lldp_neighbor *neighbor = &port->neighbor[at];

	if (at == LLDP_NEIGHBOR_MAX)
		return LLDP_NO_ROOM;
	memset(neighbor, 0, sizeof(*neighbor));
	neighbor->info = *info;
	neighbor->index = index;
	neighbor->since = now;
	port->neighbor_count++;
	// Who is new should not wait for an interval to know us.
	port->fast = LLDP_FAST_COUNT;
	port->tx_at = ns_min(port->tx_at, now);
	return LLDP_NEW;
}

enum lldp_news lldp_port_heard(const struct lldp_profile *pf, struct lldp_port *port,
			       const struct lldp_info *info, uint32_t index, ns_t now, uint32_t *at)
{
	enum lldp_news news = LLDP_SAME;

	*at = find(port, info);
	if (!pf->receive || !port->up)
		return LLDP_SAME;
	if (info->ttl_seconds == 0) {
		if (*at == port->neighbor_count)
			return LLDP_SAME;
		forget(port, *at);
		*at = port->neighbor_count;
		return LLDP_LEFT;
	}
	if (*at == port->neighbor_count) {
		news = add(port, info, index, now, *at);
	} else if (!says_the_same(&port->neighbor[*at].info, info)) {
		port->neighbor[*at].info = *info;
		news = LLDP_CHANGED;
	}
	if (news != LLDP_NO_ROOM)
		port->neighbor[*at].expires = ns_add(now, info->ttl_seconds * LLDP_FAST_NS);
	return news;
}

bool lldp_port_expire(struct lldp_port *port, ns_t now, struct lldp_neighbor *gone)
{
	for (uint32_t i = 0; i < port->neighbor_count; i++) {
		if (ns_before(now, port->neighbor[i].expires))
			continue;
		*gone = port->neighbor[i];
		forget(port, i);
		return true;
	}
	return false;
}

static void refill(struct lldp_port *port, ns_t now)
{
	const uint64_t seconds = ns_since(now, port->credit_at) / LLDP_FAST_NS;

	if (seconds == 0)
		return;
	port->credit = (uint8_t)u64_min(port->credit + seconds, LLDP_CREDIT_MAX);
	port->credit_at = ns_add(port->credit_at, seconds * LLDP_FAST_NS);
}

bool lldp_port_due(const struct lldp_profile *pf, struct lldp_port *port, ns_t now)
{
	if (!port->up || !pf->send)
		return false;
	refill(port, now);
	if ((ns_before(now, port->tx_at) && !port->changed) || port->credit == 0)
		return false;
	port->credit--;
	port->changed = false;
	port->sending = true;
	port->fast -= port->fast > 0;
	port->tx_at = ns_add(now, port->fast > 0 ? u64_min(LLDP_FAST_NS, pf->interval_ns) :
						   pf->interval_ns);
	return true;
}

bool lldp_port_ends(struct lldp_port *port)
{
	const bool told = port->up && port->sending;

	port->sending = false;
	port->fast = LLDP_FAST_COUNT; // when it begins again
	port->tx_at = (ns_t){ 0 };
	return told;
}

ns_t lldp_port_deadline(const struct lldp_profile *pf, const struct lldp_port *port)
{
	ns_t at = NS_NEVER;

	if (port->up && pf->send) {
		at = port->tx_at;
		if (port->changed)
			at = (ns_t){ 0 };
		if (port->credit == 0 && ns_before(at, ns_add(port->credit_at, LLDP_FAST_NS)))
			at = ns_add(port->credit_at, LLDP_FAST_NS);
	}
	for (uint32_t i = 0; i < port->neighbor_count; i++)
		at = ns_min(at, port->neighbor[i].expires);
	return at;
}
