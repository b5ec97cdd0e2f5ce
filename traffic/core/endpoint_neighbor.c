// SPDX-License-Identifier: BSD-3-Clause
//
// How an endpoint finds its peers and is found: it announces its addresses once, answers ARP and ND
// for them, and asks for peers whose MAC address nobody gave it, once a second and without end
// (RFC 1122 2.3.2.1). What a known peer says of itself is believed.

#include "traffic/core/endpoint_state.h"

#include <errno.h>

enum { ASK_NS = 1000000000 };

static bool alike(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->family == b->family &&
	       memcmp(a->address, b->address, ip_family_bits(a->family) / 8) == 0;
}

static struct ip_prefix own_address(const struct endpoint_profile *pf, bool ipv6)
{
	struct ip_prefix own = { .family = ipv6 ? IP_V6 : IP_V4, .len = ipv6 ? 128 : 32 };

	memcpy(own.address, ipv6 ? pf->ipv6 : pf->ipv4, own.len / 8);
	return own;
}

int endpoint_neighbor_find(const struct endpoint_profile *pf, struct endpoint_state *st,
			   const struct ip_prefix *address, ns_t now)
{
	for (uint32_t i = 0; i < st->neighbor_count; i++) {
		if (alike(&st->neighbor[i].address, address))
			return (int)i;
	}
	if (st->neighbor_count == pf->neighbor_count)
		return -ENOSPC;
	st->neighbor[st->neighbor_count] = (struct endpoint_neighbor){ .address = *address,
								       .ask_at = now };
	st->ask_at = ns_min(st->ask_at, now);
	return (int)st->neighbor_count++;
}

// Rare: tables are walked when one of their rows changes, which a neighbour may do once a second.
void endpoint_neighbor_resolve(const struct endpoint_profile *pf, struct endpoint_state *st,
			       uint32_t neighbor, uint64_t mac, ns_t now)
{
	st->neighbor[neighbor].moved = now;
	st->neighbor[neighbor].mac = mac;
	st->neighbor[neighbor].ask_at = NS_NEVER;
	st->ask_at = NS_NEVER;
	for (uint32_t i = 0; i < st->neighbor_count; i++)
		st->ask_at = ns_min(st->ask_at, st->neighbor[i].ask_at);
	for (uint32_t i = 0; i < pf->qp_count; i++) {
		if (!st->qp[i].connected || st->qp[i].neighbor != neighbor)
			continue;
		st->qp[i].path.dst_mac = mac;
		endpoint_wake(pf, st, i, now);
	}
}

static void learn(const struct endpoint_profile *pf, struct endpoint_state *st,
		  const struct neighbor_message *message, ns_t now)
{
	for (uint32_t i = 0; i < st->neighbor_count; i++) {
		const struct endpoint_neighbor *neighbor = &st->neighbor[i];

		if (!alike(&neighbor->address, &message->sender) || neighbor->mac == message->mac)
			continue;
		if (neighbor->mac == 0 || ns_since(now, neighbor->moved) >= ASK_NS)
			endpoint_neighbor_resolve(pf, st, i, message->mac, now);
	}
}

static bool is_own(const struct endpoint_profile *pf, const struct ip_prefix *address)
{
	const bool ipv6 = address->family == IP_V6;
	const struct ip_prefix own = own_address(pf, ipv6);

	return (ipv6 ? pf->has_ipv6 : pf->has_ipv4) && alike(&own, address);
}

bool endpoint_neighbor_rx(const struct endpoint_profile *pf, struct endpoint_state *st,
			  const uint8_t *data, uint32_t len, ns_t now)
{
	const uint16_t ethertype = load_be16(data + 12);
	struct neighbor_message message;

	if ((ethertype != 0x0806 && ethertype != 0x86dd) ||
	    !neighbor_read(data, len, 14, ethertype == 0x0806, &message))
		return false;
	st->stats.rx_neighbor++;
	if (message.sender.family != IP_NONE && !is_own(pf, &message.sender))
		learn(pf, st, &message, now);
	if (message.request && is_own(pf, &message.target) && message.mac != pf->mac &&
	    st->answer_head - st->answer_tail < ENDPOINT_ANSWER_MAX)
		st->answer[st->answer_head++ % ENDPOINT_ANSWER_MAX] = message;
	return true;
}

// Asks for the first one that is due, and finds out when the next one is.
static uint32_t ask(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
		    uint8_t *out)
{
	uint32_t len = 0;

	if (ns_before(now, st->ask_at))
		return 0;
	st->ask_at = NS_NEVER;
	for (uint32_t i = 0; i < st->neighbor_count; i++) {
		struct endpoint_neighbor *neighbor = &st->neighbor[i];

		if (len == 0 && !ns_before(now, neighbor->ask_at)) {
			const struct ip_prefix own = own_address(pf,
								 neighbor->address.family == IP_V6);

			len = neighbor_ask(pf->mac, &own, &neighbor->address, 0, out);
			neighbor->ask_at = ns_add(now, ASK_NS);
		}
		st->ask_at = ns_min(st->ask_at, neighbor->ask_at);
	}
	return len;
}

// A question for an own address is a gratuitous ARP; IPv6 advertises to all nodes.
static uint32_t announce(const struct endpoint_profile *pf, struct endpoint_state *st, uint8_t *out)
{
	const bool ipv6 = (st->unannounced & 1) == 0;
	struct neighbor_message message = { .target = own_address(pf, ipv6), .to_all = true };

	if (st->unannounced == 0)
		return 0;
	st->unannounced &= ipv6 ? 1 : 2;
	if (!ipv6)
		return neighbor_ask(pf->mac, &message.target, &message.target, 0, out);
	return neighbor_answer(pf->mac, &message, false, out);
}

uint32_t endpoint_neighbor_tx(const struct endpoint_profile *pf, struct endpoint_state *st,
			      ns_t now, uint8_t *out)
{
	uint32_t len = announce(pf, st, out);

	if (len == 0 && st->answer_tail != st->answer_head)
		len = neighbor_answer(pf->mac, &st->answer[st->answer_tail++ % ENDPOINT_ANSWER_MAX],
				      false, out);
	if (len == 0)
		len = ask(pf, st, now, out);
	st->stats.tx_neighbor += len != 0;
	return len;
}

ns_t endpoint_neighbor_deadline(const struct endpoint_state *st)
{
	if (st->unannounced != 0 || st->answer_tail != st->answer_head)
		return (ns_t){ 0 };
	return st->ask_at;
}
