// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses are sorted once; then for each tenant those that it may send to are walked, runs of
// neighbours are cut into aligned blocks, and each block is a rule.

#include "fabricmgr/core/tenants.h"

#include <errno.h>
#include <string.h>

enum { ADDRESS_BYTES = 16 };

// One address that somebody has.
struct owned {
	struct ip_prefix ip;
	uint32_t tenant;
};

struct cover {
	struct owned *owned; // ascending
	uint32_t count;
	struct tenant_rule *rule;
	uint32_t rule_count;
};

static int compare(const struct owned *a, const struct owned *b)
{
	if (a->ip.family != b->ip.family)
		return a->ip.family < b->ip.family ? -1 : 1;
	return memcmp(a->ip.address, b->ip.address, ADDRESS_BYTES);
}

static void sift(struct owned *heap, uint32_t at, uint32_t count)
{
	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		const struct owned moved = heap[at];

		if (child + 1 < count && compare(&heap[child], &heap[child + 1]) < 0)
			child++;
		if (compare(&heap[at], &heap[child]) >= 0)
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

static void sort(struct owned *owned, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;)
		sift(owned, i, count);
	for (uint32_t i = count; i-- > 1;) {
		const struct owned largest = owned[0];

		owned[0] = owned[i];
		owned[i] = largest;
		sift(owned, 0, i);
	}
}

static void add_address(struct cover *c, const struct ip_prefix *ip, uint32_t tenant)
{
	if (ip->family != IP_NONE)
		c->owned[c->count++] = (struct owned){ .ip = *ip, .tenant = tenant };
}

static int collect(const struct fabric *fabric, struct arena *scratch, struct cover *c)
{
	c->owned = arena_take_raw(scratch, 2u * fabric->host_port_count, sizeof(*c->owned));
	if (c->owned == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];

		add_address(c, &port->ip, fabric->hosts[port->host].tenant);
		add_address(c, &port->ip6, fabric->hosts[port->host].tenant);
	}
	sort(c->owned, c->count);
	return 0;
}

// Adds one to an address; false when it was the last of its family.
static bool next_of(struct ip_prefix *ip)
{
	for (uint32_t i = ip_family_bits(ip->family) / 8; i-- > 0;) {
		if (++ip->address[i] != 0)
			return true;
	}
	return false;
}

// The largest block that begins at an address, is aligned, and has at most `most` addresses.
static struct ip_prefix block_at(const struct ip_prefix *first, uint64_t most)
{
	struct ip_prefix block = *first;

	block.len = ip_family_bits(first->family);
	while (block.len > 0 && 1ull << (ip_family_bits(first->family) - block.len) <= most / 2) {
		const uint32_t bit = block.len - 1u;

		if ((block.address[bit / 8] >> (7 - bit % 8) & 1) != 0)
			break;
		block.len--;
	}
	return block;
}

// Cuts the run of addresses [first, first + count) into blocks.
static void add_run(struct cover *c, uint32_t tenant, const struct ip_prefix *first, uint64_t count)
{
	struct ip_prefix at = *first;

	while (count > 0) {
		const struct ip_prefix block = block_at(&at, count);
		const uint64_t size = 1ull << (ip_family_bits(at.family) - block.len);

		c->rule[c->rule_count++] = (struct tenant_rule){ .tenant = tenant, .to = block };
		count -= size;
		for (uint64_t i = 0; i < size; i++)
			next_of(&at);
	}
}

static void cover_tenant(struct cover *c, uint32_t tenant)
{
	struct ip_prefix first = { .family = IP_NONE };
	struct ip_prefix next = first;
	uint64_t run = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct owned *owned = &c->owned[i];

		if (owned->tenant != tenant && owned->tenant != 0)
			continue;
		if (run > 0 && next.family == owned->ip.family &&
		    memcmp(next.address, owned->ip.address, ADDRESS_BYTES) == 0) {
			run++;
		} else {
			add_run(c, tenant, &first, run);
			first = owned->ip;
			run = 1;
		}
		next = owned->ip;
		if (!next_of(&next))
			next.family = IP_NONE;
	}
	add_run(c, tenant, &first, run);
}

// Ports by tenant, and the pairs of them that are allowed.
static int count_pairs(const struct fabric *fabric, struct arena *scratch, struct tenants *tenants)
{
	uint64_t *ports = arena_take(scratch, fabric->tenant_count, sizeof(*ports));
	const uint64_t all = fabric->host_port_count;

	if (ports == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		ports[fabric->hosts[fabric->host_ports[i].host].tenant]++;
	tenants->pairs = all > 0 ? all * (all - 1) : 0;
	tenants->allowed_pairs = 2 * ports[0] * (all - ports[0]);
	for (uint32_t t = 0; t < fabric->tenant_count; t++)
		tenants->allowed_pairs += ports[t] > 0 ? ports[t] * (ports[t] - 1) : 0;
	return 0;
}

static int plan(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		struct tenants *tenants)
{
	struct cover c = { .count = 0 };
	uint64_t room = 0;

	if (count_pairs(fabric, scratch, tenants) < 0)
		return -ENOMEM;
	if (fabric->tenant_count < 2)
		return 0;
	if (collect(fabric, scratch, &c) < 0)
		return -ENOMEM;
	// A rule is of one address at least.
	for (uint32_t i = 0; i < c.count; i++)
		room += c.owned[i].tenant == 0 ? fabric->tenant_count - 1 : 1;
	c.rule = arena_take_raw(keep, room, sizeof(*c.rule));
	if (c.rule == NULL)
		return -ENOMEM;
	for (uint32_t t = 1; t < fabric->tenant_count; t++)
		cover_tenant(&c, t);
	tenants->rule = c.rule;
	tenants->rule_count = c.rule_count;
	return 0;
}

int tenants_plan(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		 struct tenants *tenants)
{
	const size_t mark = arena_mark(scratch);
	int rc;

	*tenants = (struct tenants){ .rule_count = 0 };
	rc = plan(fabric, keep, scratch, tenants);
	arena_release(scratch, mark);
	return rc;
}
