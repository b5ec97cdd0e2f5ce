// SPDX-License-Identifier: BSD-3-Clause
//
// Edges that a neighbour should not be asked for. A switch tells the peer of each port which edges
// it reaches through nothing but that peer ("mask me for edge L"); the peer leaves the port out
// when it picks for L (route_l3.c). A mask may leave a switch without a way of its own, and then it
// says so in turn, so the news spreads as far as it must.
//
// Using a subset of a group is always safe, and what a port's own peer is told never depends on
// that peer: two switches cannot mask each other out of a way that is there.
//
// Bounded: one bit per edge and port, both ways, laid out once. Bits of `masked` are changed by the
// lcore of their port alone and read by all.

#include "dataplane/core/stage.h"

#include <string.h>

// One look at all edges.
struct scan {
	struct sw_lcore *lc;
	struct port_set up;
	struct port_set own;                   // ports of this lcore that send hellos
	struct hello_mask nowhere;             // edges that nothing leads to
	struct port_set known;                 // ports whose `fellows` are known
	struct port_set fellows[PORT_SET_MAX]; // ports to the same switch
	uint16_t group;                        // newest, and the ports of its members
	struct port_set members;
};

static void mask_add(struct hello_mask *mask, uint32_t edge)
{
	mask->word[edge / 64] |= 1ull << edge % 64;
}

static struct port_set member_ports(const struct group *g)
{
	struct port_set ports = { { 0 } };

	if (g->bucket_count == 0)
		return ports;
	for (uint32_t i = 0; i < g->member_count; i++) {
		const struct group_member *m = &g->member[i];

		if (m->weight > 0 && !m->down && m->port.v < PORT_SET_MAX)
			port_set_add(&ports, m->port);
	}
	return ports;
}

// Ports that lead to the switch that this one leads to.
static const struct port_set *fellows_of(struct scan *s, port_t port)
{
	const struct sw_lcore *lc = s->lc;
	struct port_set *set = &s->fellows[port.v];
	uint64_t peer;

	if (port_set_has(&s->known, port))
		return set;
	port_set_add(&s->known, port);
	*set = (struct port_set){ { 0 } };
	port_set_add(set, port);
	peer = atomic_load_explicit(&lc->port[port.v].hello.peer, memory_order_relaxed);
	for (uint16_t n = 0; peer != 0 && n < lc->pf->port_count; n++) {
		if (atomic_load_explicit(&lc->port[n].hello.peer, memory_order_relaxed) == peer)
			port_set_add(set, (port_t){ n });
	}
	return set;
}

// Ports that lead to an edge now.
static struct port_set ways_to(struct scan *s, uint32_t edge)
{
	const struct sw_tables *t = s->lc->tables;
	const uint16_t group = __atomic_load_n(&t->edge_group[edge], __ATOMIC_ACQUIRE);
	struct port_set ways = { { 0 } };

	if (group == GROUP_NONE)
		return ways;
	if (group != s->group) {
		s->group = group;
		s->members = member_ports(__atomic_load_n(&t->group[group], __ATOMIC_ACQUIRE));
	}
	ways = port_set_load(&s->lc->sw->masked[edge]);
	for (uint32_t i = 0; i < PORT_SET_WORDS; i++)
		ways.word[i] = s->members.word[i] & s->up.word[i] & ~ways.word[i];
	return ways;
}

static void look_at(struct scan *s, uint32_t edge)
{
	const struct port_set ways = ways_to(s, edge);
	const struct port_set *fellows;

	if (port_set_empty(&ways)) {
		mask_add(&s->nowhere, edge);
		return;
	}
	fellows = fellows_of(s, port_set_next(&ways, 0));
	for (uint32_t i = 0; i < PORT_SET_WORDS; i++) {
		if ((ways.word[i] & ~fellows->word[i]) != 0)
			return;
	}
	PORT_SET_FOR_EACH(port, fellows) {
		if (port_set_has(&s->own, port))
			mask_add(&s->lc->sw->masks[port.v].fresh, edge);
	}
}

// The new list of a port takes the place of the old one; true when they differ.
static bool replace(struct hello_masks *masks, const struct hello_mask *nowhere)
{
	bool changed = false;

	for (uint32_t i = 0; i < HELLO_MASK_WORDS; i++) {
		const uint64_t word = masks->fresh.word[i] | nowhere->word[i];

		changed |= word != masks->told.word[i];
		masks->told.word[i] = word;
		masks->fresh.word[i] = 0;
	}
	return changed;
}

void hello_mask_scan(struct sw_lcore *lc, struct port_set *changed)
{
	const struct sw_tables *t = lc->tables;
	const uint32_t edges = t == NULL ? 0 : t->edge_count;
	struct scan s;

	s.lc = lc;
	s.up = port_set_load(&lc->sw->reachable);
	s.group = GROUP_NONE;
	memset(&s.own, 0, sizeof(s.own));
	memset(&s.nowhere, 0, sizeof(s.nowhere));
	memset(&s.known, 0, sizeof(s.known));
	for (uint16_t n = 0; n < lc->pf->port_count; n++) {
		if (lcore_owns(lc, (port_t){ n }) && lc->pf->port[n].hello.on)
			port_set_add(&s.own, (port_t){ n });
	}
	for (uint32_t edge = 0; edge < edges && edge < HELLO_EDGE_MAX; edge++) {
		if (edge != t->self)
			look_at(&s, edge);
	}
	PORT_SET_FOR_EACH(port, &s.own) {
		if (replace(&lc->sw->masks[port.v], &s.nowhere))
			port_set_add(changed, port);
	}
}

bool hello_mask_take(struct sw_lcore *lc, port_t port, const struct hello_mask *mask)
{
	struct hello_mask *heard = &lc->sw->masks[port.v].heard;
	bool any = false;

	for (uint32_t i = 0; i < HELLO_MASK_WORDS; i++) {
		uint64_t changed = heard->word[i] ^ mask->word[i];

		any |= changed != 0;
		heard->word[i] = mask->word[i];
		for (; changed != 0; changed &= changed - 1) {
			const uint32_t bit = (uint32_t)__builtin_ctzll(changed);

			port_set_put(&lc->sw->masked[i * 64 + bit], port, mask->word[i] >> bit & 1);
		}
	}
	return any;
}

uint32_t hello_mask_count(const struct sw *sw, port_t port)
{
	uint32_t count = 0;

	for (uint32_t i = 0; sw->masks != NULL && i < HELLO_MASK_WORDS; i++)
		count += (uint32_t)__builtin_popcountll(sw->masks[port.v].heard.word[i]);
	return count;
}
