// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses that are in use are kept in a hashed set, so those that were given by hand may lie
// anywhere, also in the middle of what is counted through.

#include "fabricmgr/core/address.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "fabricmgr/core/label.h"

struct addresses {
	struct fabric *fabric;
	struct fabric_faults *faults;
	uint32_t *slot; // host port + 1, of the family at hand
	uint32_t size;  // a power of two
	bool v6;
};

// One subnet while it is given away.
struct subnet {
	struct ip_prefix prefix;
	uint64_t next;
	uint64_t end;
};

static struct ip_prefix *field(const struct addresses *a, uint32_t port)
{
	struct fabric_host_port *host_port = &a->fabric->host_ports[port];

	return a->v6 ? &host_port->ip6 : &host_port->ip;
}

// The slot with this address, or the free one where it belongs.
static uint32_t find_slot(const struct addresses *a, const uint8_t *address)
{
	const uint64_t hash = hash_bytes(address, sizeof(a->fabric->host_ports->ip.address));
	uint32_t at = (uint32_t)(hash ^ hash >> 32) & (a->size - 1);

	while (a->slot[at] != 0 && memcmp(field(a, a->slot[at] - 1)->address, address,
					  sizeof(a->fabric->host_ports->ip.address)) != 0)
		at = (at + 1) & (a->size - 1);
	return at;
}

static const char *host_name(const struct addresses *a, uint32_t port)
{
	return a->fabric->hosts[a->fabric->host_ports[port].host].name;
}

static int collect(struct addresses *a, struct arena *scratch)
{
	for (a->size = 64; a->size < 2 * a->fabric->host_port_count; a->size *= 2)
		;
	a->slot = arena_take(scratch, a->size, sizeof(*a->slot));
	if (a->slot == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->fabric->host_port_count; i++) {
		uint32_t *slot;

		if (field(a, i)->family == IP_NONE)
			continue;
		slot = &a->slot[find_slot(a, field(a, i)->address)];
		if (*slot != 0)
			fabric_fail(a->faults, FABRIC_FAULT_ADDRESS_TWICE,
				    a->fabric->host_ports[i].line, host_name(a, i),
				    host_name(a, *slot - 1), 0, 0);
		else
			*slot = i + 1;
	}
	return 0;
}

// The prefix's address plus a number, which must not reach beyond the last 64 bits.
static struct ip_prefix nth(const struct ip_prefix *prefix, uint64_t number)
{
	const uint32_t bytes = ip_family_bits(prefix->family) / 8;
	struct ip_prefix out = *prefix;

	for (uint32_t i = bytes; i-- > 0 && number > 0;) {
		number += out.address[i];
		out.address[i] = (uint8_t)number;
		number >>= 8;
	}
	return out;
}

// Host numbers of a subnet: behind the gateway, and before the broadcast address.
static struct subnet open_subnet(const struct ip_prefix *prefix)
{
	const uint32_t bits = ip_family_bits(prefix->family) - prefix->len;
	struct subnet subnet = { .prefix = *prefix, .next = 2 };

	subnet.end = bits >= 63 ? (uint64_t)INT64_MAX : (1ull << bits) - 1;
	return subnet;
}

static bool give(struct addresses *a, struct subnet *subnet, uint32_t port)
{
	for (; subnet->next < subnet->end; subnet->next++) {
		const struct ip_prefix candidate = nth(&subnet->prefix, subnet->next);
		uint32_t *slot = &a->slot[find_slot(a, candidate.address)];

		if (*slot != 0)
			continue;
		*field(a, port) = candidate;
		*slot = port + 1;
		subnet->next++;
		return true;
	}
	return false;
}

static bool needs(const struct addresses *a, uint32_t port)
{
	return field(a, port)->family == IP_NONE &&
	       !a->fabric->hosts[a->fabric->host_ports[port].host].external;
}

static void complain(struct addresses *a, enum fabric_fault_kind kind, uint64_t have, uint64_t want)
{
	fabric_fail(a->faults, kind, 0, a->v6 ? "subnet6" : "subnet", "", have, want);
}

static int give_flat(struct addresses *a, const struct ip_prefix *prefix)
{
	struct subnet subnet = open_subnet(prefix);

	for (uint32_t i = 0; i < a->fabric->host_port_count; i++) {
		if (!needs(a, i) || give(a, &subnet, i))
			continue;
		complain(a, FABRIC_FAULT_SUBNET_FULL, a->fabric->host_port_count, subnet.end - 2);
		return -EINVAL;
	}
	return 0;
}

// Bits of host numbers in the subnet of a switch with so many hosts: network, gateway and broadcast
// take three.
static uint32_t bits_for(const struct addresses *a, uint32_t most)
{
	uint32_t bits = 2;

	while (!a->v6 && (1ull << bits) < (uint64_t)most + 3)
		bits++;
	return a->v6 ? 64 : bits;
}

// Hosts of each switch, which may be more than are to get an address; the most of one, and how
// many switches have any.
static void count_hosts(const struct fabric *fabric, uint32_t *hosts, uint32_t *most,
			uint32_t *leaves)
{
	*most = *leaves = 0;
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const uint32_t count = ++hosts[fabric->host_ports[i].at];

		*leaves += count == 1;
		*most = count > *most ? count : *most;
	}
}

// The n-th subnet of `bits` bits for hosts. The number of a /64 stands in the first eight bytes.
static struct subnet nth_subnet(const struct ip_prefix *prefix, uint32_t number, uint32_t bits)
{
	struct ip_prefix own = *prefix;

	if (bits < 64)
		own = nth(prefix, (uint64_t)number << bits);
	for (uint32_t i = 8; bits == 64 && i-- > 0; number >>= 8)
		own.address[i] |= (uint8_t)number;
	own.len = (uint8_t)(ip_family_bits(prefix->family) - bits);
	return open_subnet(&own);
}

static int give_per_leaf(struct addresses *a, const struct ip_prefix *prefix, struct arena *scratch)
{
	const struct fabric *fabric = a->fabric;
	const uint32_t all_bits = ip_family_bits(prefix->family) - prefix->len;
	struct subnet *subnets = arena_take(scratch, fabric->switch_count, sizeof(*subnets));
	uint32_t *hosts = arena_take(scratch, fabric->switch_count, sizeof(*hosts));
	uint32_t most, leaves, bits, number = 0;
	uint64_t room;

	if (subnets == NULL || hosts == NULL)
		return -ENOMEM;
	count_hosts(fabric, hosts, &most, &leaves);
	bits = bits_for(a, most);
	room = all_bits < bits ? 0 : 1ull << (all_bits - bits < 32 ? all_bits - bits : 32);
	if (leaves > room) {
		complain(a, FABRIC_FAULT_SUBNETS, leaves, room);
		return -EINVAL;
	}
	for (uint32_t s = 0; s < fabric->switch_count; s++) {
		if (hosts[s] > 0)
			subnets[s] = nth_subnet(prefix, number++, bits);
	}
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		struct subnet *subnet = &subnets[fabric->host_ports[i].at];

		if (needs(a, i) && !give(a, subnet, i))
			complain(a, FABRIC_FAULT_SUBNET_FULL, most, subnet->end - 2);
	}
	return a->faults->count > 0 ? -EINVAL : 0;
}

static int address_family(struct addresses *a, const struct ip_prefix *prefix, bool per_leaf,
			  struct arena *scratch)
{
	if (collect(a, scratch) < 0)
		return -ENOMEM;
	if (a->faults->count > 0)
		return -EINVAL;
	if (prefix->family == IP_NONE)
		return 0;
	return per_leaf ? give_per_leaf(a, prefix, scratch) : give_flat(a, prefix);
}

int fabric_address(struct fabric *fabric, const struct address_plan *plan, struct arena *scratch,
		   struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	struct addresses a = { .fabric = fabric, .faults = faults };
	int rc = address_family(&a, &plan->subnet, plan->per_leaf, scratch);

	a.v6 = true;
	if (rc == 0)
		rc = address_family(&a, &plan->subnet6, plan->per_leaf, scratch);
	arena_release(scratch, mark);
	return rc;
}

// --- what follows from numbers and names ------------------------------------------------------

enum { HOST_OCTET = 0x02, ROUTER_OCTET = 0x06 }; // both locally administered

uint64_t fabric_host_mac(const struct fabric *fabric, uint32_t host_port)
{
	const uint64_t known = fabric->host_ports[host_port].mac;

	return known != 0 ? known : (uint64_t)HOST_OCTET << 40 | (host_port + 1);
}

uint64_t fabric_router_mac(const struct fabric *fabric)
{
	return (uint64_t)ROUTER_OCTET << 40 | (hash_text(fabric->name) & 0xffffffffff);
}

struct ip_prefix fabric_gateway(const struct ip_prefix *ip)
{
	const uint32_t bits = ip_family_bits(ip->family);
	struct ip_prefix network = *ip;

	if (ip->family == IP_NONE || ip->len + 1u >= bits)
		return (struct ip_prefix){ .family = IP_NONE };
	for (uint32_t bit = ip->len; bit < bits; bit++)
		network.address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	return nth(&network, 1);
}
