// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses for hosts that have none: one subnet for all, or a subnet for each switch with hosts.
// The first address of a subnet is the gateway's, that of the switches (anycast). Uplinks get none.
// MAC addresses that nobody gave follow from numbers and names.
#pragma once

#include "fabricmgr/core/fabric.h"

struct address_plan {
	struct ip_prefix subnet;  // IPv4, IP_NONE: none are given
	struct ip_prefix subnet6; // likewise
	bool per_leaf; // the smallest subnets of IPv4 that are large enough, a /64 each of IPv6
};

// Gives addresses to ports of hosts in their order, around those that have one already, in a
// finished fabric. 0, or -EINVAL or -ENOMEM with faults: addresses twice, or too few of them.
int fabric_address(struct fabric *fabric, const struct address_plan *plan, struct arena *scratch,
		   struct fabric_faults *faults);

// The MAC address of a host's port. One that the fabric does not know is made of its number, 1 for
// the first one: 02:00:00:00:00:01 and so on, locally administered. Hosts of a lab have these.
uint64_t fabric_host_mac(const struct fabric *fabric, uint32_t host_port);

// The address of the gateways, the same on every switch; of the fabric's name, and no host's that
// fabric_host_mac() makes: it begins with 06.
uint64_t fabric_router_mac(const struct fabric *fabric);

// The gateway of a port's subnet: its first address, IP_NONE when the subnet has no room for one.
struct ip_prefix fabric_gateway(const struct ip_prefix *ip);
