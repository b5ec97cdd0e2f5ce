// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of link/lldp_peer.c under random neighbours, changes and links, against an oracle
// that keeps who spoke when: the table holds exactly those whose time is not over, in the order in
// which they came, as far as there was room; the port never sends more than its credit; and what it
// does by itself it does at its deadline.

#include "link/lldp_peer.h"

#include <string.h>

#include "tests/table.h"

#define TENTH 100000000ull
#define SECOND (10 * TENTH)

enum { SPEAKERS = 6, STEPS = 4000 };

struct oracle {
	uint32_t count;
	uint32_t number[LLDP_NEIGHBOR_MAX];
	ns_t expires[LLDP_NEIGHBOR_MAX];
};

static void oracle_forget(struct oracle *oracle, uint32_t at)
{
	oracle->count--;
	for (; at < oracle->count; at++) {
		oracle->number[at] = oracle->number[at + 1];
		oracle->expires[at] = oracle->expires[at + 1];
	}
}

static void oracle_hear(struct oracle *oracle, uint32_t number, uint16_t ttl, ns_t now)
{
	uint32_t at = 0;

	while (at < oracle->count && oracle->number[at] != number)
		at++;
	if (ttl == 0 && at < oracle->count)
		oracle_forget(oracle, at);
	if (ttl == 0 || at == LLDP_NEIGHBOR_MAX)
		return;
	oracle->count += at == oracle->count;
	oracle->number[at] = number;
	oracle->expires[at] = ns_add(now, ttl * SECOND);
}

static void oracle_expire(struct oracle *oracle, ns_t now)
{
	for (uint32_t i = oracle->count; i-- > 0;) {
		if (oracle->expires[i].v <= now.v)
			oracle_forget(oracle, i);
	}
}

static void check_table(const struct oracle *oracle, const struct lldp_port *port)
{
	cr_assert_eq(port->neighbor_count, oracle->count);
	for (uint32_t i = 0; i < oracle->count; i++) {
		cr_assert_eq(port->neighbor[i].info.chassis.bytes[0], oracle->number[i]);
		cr_assert_eq(port->neighbor[i].expires.v, oracle->expires[i].v);
	}
}

static enum lldp_news speak(const struct lldp_profile *pf, struct lldp_port *port,
			    struct oracle *oracle, struct rng *rng, ns_t now)
{
	enum lldp_news news;
	const uint8_t number = (uint8_t)rng_below(rng, SPEAKERS);
	struct lldp_info info = { .ttl_seconds = (uint16_t)rng_below(rng, 8) };
	uint32_t at;

	lldp_set_id(&info.chassis, LLDP_CHASSIS_LOCAL, &number, 1);
	lldp_set_id(&info.port, LLDP_PORT_LOCAL, &number, 1);
	info.pvid = (uint16_t)rng_below(rng, 2);
	news = lldp_port_heard(pf, port, &info, number, now, &at);
	oracle_hear(oracle, number, info.ttl_seconds, now);
	return news;
}

// On a copy: at or behind the deadline there is something to do, ahead of it there is not.
static void check_deadline(const struct lldp_profile *pf, const struct lldp_port *port, ns_t now)
{
	static struct lldp_port copy;
	struct lldp_neighbor gone;
	bool due;

	copy = *port;
	due = lldp_port_expire(&copy, now, &gone);
	due |= lldp_port_due(pf, &copy, now);
	cr_assert_eq(due, lldp_port_deadline(pf, port).v <= now.v);
}

SEED_TEST(lldp_peer, table_and_credit, rng, 100)
{
	const struct lldp_profile pf = { (1 + rng_below(rng, 30)) * SECOND, true, true };
	struct lldp_port port = { 0 };
	struct oracle oracle = { 0 };
	struct lldp_neighbor gone;
	ns_t now = { 1 };
	ns_t up_at = now;
	uint64_t sent = 0, latest = now.v, aged = 0, refused = 0;

	lldp_port_link(&port, true, now);
	for (uint32_t step = 0; step < STEPS; step++) {
		now = ns_add(now, rng_below(rng, 10) * TENTH);
		check_deadline(&pf, &port, now);
		if (rng_below(rng, 200) == 0) {
			lldp_port_link(&port, false, now);
			lldp_port_link(&port, true, now);
			oracle.count = 0;
			up_at = now;
			sent = 0;
			latest = now.v;
		}
		while (lldp_port_expire(&port, now, &gone)) {
			cr_assert_leq(gone.expires.v, now.v);
			aged++;
		}
		oracle_expire(&oracle, now);
		if (rng_below(rng, 3) == 0)
			refused += speak(&pf, &port, &oracle, rng, now) == LLDP_NO_ROOM;
		if (rng_below(rng, 10) == 0)
			lldp_port_changed(&port);
		if (lldp_port_due(&pf, &port, now)) {
			sent++;
			latest = now.v;
		}
		check_table(&oracle, &port);
		cr_assert_leq(sent, LLDP_CREDIT_MAX + ns_since(now, up_at) / SECOND);
		// Steps are shorter than a second, so nothing is late by more than that.
		cr_assert_leq(now.v - latest, pf.interval_ns + SECOND);
	}
	cr_assert_gt(aged, 0);
	cr_assert_gt(refused, 0);
}
