// SPDX-License-Identifier: BSD-3-Clause
//
// Addresses for hosts that have none: one subnet for all, or a subnet for each switch with hosts.
// The first address of a subnet is the gateway's, that of the switches (anycast). Uplinks get none.
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
