// SPDX-License-Identifier: BSD-3-Clause
//
// Rules are hashed by their prefix. An address is cut to each length that any rule has, and the
// rules found are those that permit it; tenants that are stamped with the address are the ones
// whose ports may send there.

#include "fabricmgr/core/tenants_check.h"

#include <errno.h>

#include "base/hash.h"

enum { LENGTHS = 129 };

// Who has ports, and whom to name of them.
struct sender {
	uint64_t ports;
	uint32_t first[2]; // host ports; the other one speaks when the first is spoken to
	uint32_t seen;     // the last address that a rule of the tenant permits, counted from 1
};

struct check {
	const struct fabric *fabric;
	const struct tenants *tenants;
	struct tenant_proof *proof;
	uint32_t *slot; // rule + 1, 0: none
	uint32_t *next; // [rule_count] of the same slot, likewise
	uint32_t slot_mask;
	bool has_length[IP_V6 + 1][LENGTHS];
	struct sender *sender; // [tenant_count]
	uint32_t sender_count; // tenants that have ports
	uint32_t address;      // that is looked at, counted from 1
};

static uint32_t slot_of(const struct check *c, uint8_t family, uint32_t len, const uint8_t *address)
{
	uint64_t hash = hash_add(hash_add(HASH_EMPTY, family), len);

	for (uint32_t bit = 0; bit < len; bit += 8) {
		const uint32_t cut = len - bit < 8 ? 8 - (len - bit) : 0;

		hash = hash_add(hash, address[bit / 8] >> cut);
	}
	return (uint32_t)(hash ^ hash >> 32) & c->slot_mask;
}

static int index_rules(struct check *c, struct arena *scratch)
{
	const uint32_t count = c->tenants->rule_count;
	uint32_t slots = 1;

	while (slots < count)
		slots *= 2;
	c->slot_mask = slots - 1;
	c->slot = arena_take(scratch, slots, sizeof(*c->slot));
	c->next = arena_take(scratch, count + 1u, sizeof(*c->next));
	if (c->slot == NULL || c->next == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct ip_prefix *to = &c->tenants->rule[i].to;
		uint32_t *slot = &c->slot[slot_of(c, to->family, to->len, to->address)];

		c->has_length[to->family][to->len] = true;
		c->next[i] = *slot;
		*slot = i + 1;
	}
	return 0;
}

static int find_senders(struct check *c, struct arena *scratch)
{
	const struct fabric *fabric = c->fabric;

	c->sender = arena_take(scratch, fabric->tenant_count, sizeof(*c->sender));
	if (c->sender == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const uint32_t tenant = fabric->hosts[fabric->host_ports[i].host].tenant;
		struct sender *sender = &c->sender[tenant];

		c->sender_count += tenant != 0 && sender->ports == 0;
		if (sender->ports < 2)
			sender->first[sender->ports] = i;
		sender->ports++;
	}
	return 0;
}

static uint32_t owner_of(const struct check *c, uint32_t port)
{
	return c->fabric->hosts[c->fabric->host_ports[port].host].tenant;
}

// All ports of the tenant but the one that is spoken to are judged wrongly.
static void note(struct check *c, uint32_t tenant, uint32_t to, const struct ip_prefix *ip,
		 uint32_t rule)
{
	const struct sender *sender = &c->sender[tenant];
	const uint64_t pairs = sender->ports - (owner_of(c, to) == tenant);

	if (pairs == 0)
		return;
	c->proof->violations += pairs;
	if (c->proof->kept == TENANT_VIOLATIONS_KEPT)
		return;
	c->proof->violation[c->proof->kept++] = (struct tenant_violation){
		.from = sender->first[sender->first[0] == to],
		.to = to,
		.ip = *ip,
		.rule = rule,
	};
}

// A rule that holds the address; others of its tenant that do so, too, change nothing. The number
// of tenants that may send there by now.
static uint32_t permit(struct check *c, uint32_t rule, uint32_t to, const struct ip_prefix *ip)
{
	const uint32_t tenant = c->tenants->rule[rule].tenant;
	const uint32_t owner = owner_of(c, to);
	struct sender *sender = &c->sender[tenant];

	// Ports of nobody have no rules.
	if (tenant == 0 || sender->ports == 0 || sender->seen == c->address)
		return 0;
	sender->seen = c->address;
	if (owner != 0 && owner != tenant)
		note(c, tenant, to, ip, rule);
	return 1;
}

static uint32_t permit_by_length(struct check *c, uint32_t len, uint32_t to,
				 const struct ip_prefix *ip)
{
	uint32_t at = c->slot[slot_of(c, ip->family, len, ip->address)];
	uint32_t tenants = 0;

	for (; at != 0; at = c->next[at - 1]) {
		const struct ip_prefix *prefix = &c->tenants->rule[at - 1].to;

		if (prefix->family == ip->family && prefix->len == len &&
		    ip_prefix_holds(prefix, ip->address))
			tenants += permit(c, at - 1, to, ip);
	}
	return tenants;
}

static void check_address(struct check *c, uint32_t to, const struct ip_prefix *ip)
{
	const uint32_t owner = owner_of(c, to);
	uint32_t tenants = 0;

	if (ip->family == IP_NONE)
		return;
	c->address++;
	for (uint32_t len = 0; len <= ip_family_bits(ip->family); len++) {
		if (c->has_length[ip->family][len])
			tenants += permit_by_length(c, len, to, ip);
	}
	if (owner != 0 && c->sender[owner].seen != c->address)
		note(c, owner, to, ip, FABRIC_NONE);
	// All may send to what is nobody's; who may not is looked for only when somebody may not.
	if (owner != 0 || tenants == c->sender_count)
		return;
	for (uint32_t t = 1; t < c->fabric->tenant_count; t++) {
		if (c->sender[t].seen != c->address)
			note(c, t, to, ip, FABRIC_NONE);
	}
}

int tenants_check(const struct fabric *fabric, const struct tenants *tenants, struct arena *scratch,
		  struct tenant_proof *proof)
{
	const size_t mark = arena_mark(scratch);
	struct check c = { .fabric = fabric, .tenants = tenants, .proof = proof };
	int rc = index_rules(&c, scratch);

	*proof = (struct tenant_proof){ .violations = 0 };
	if (rc == 0)
		rc = find_senders(&c, scratch);
	for (uint32_t i = 0; rc == 0 && i < fabric->host_port_count; i++) {
		check_address(&c, i, &fabric->host_ports[i].ip);
		check_address(&c, i, &fabric->host_ports[i].ip6);
	}
	arena_release(scratch, mark);
	return rc;
}
