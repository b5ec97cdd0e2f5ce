// SPDX-License-Identifier: BSD-3-Clause
//
// What tenants mean for switches: a port of a tenant's host may send to addresses of that tenant
// and of hosts that are nobody's, and to no other host; ports of nobody may send anywhere.
// Addresses are covered exactly by as few prefixes as there can be, so that rules are few where
// tenants were given neighbouring addresses.
#pragma once

#include "fabricmgr/core/fabric.h"

struct tenant_rule {
	uint32_t tenant; // 1..
	struct ip_prefix to;
};

struct tenants {
	const struct tenant_rule *rule; // by tenant, IPv4 before IPv6, ascending
	uint32_t rule_count;
	uint64_t allowed_pairs; // ordered, of different ports of hosts
	uint64_t pairs;
};

// Of a finished fabric. Uplinks count as nobody's hosts, with no address of their own: what is not
// in the fabric is theirs. 0, or -ENOMEM.
int tenants_plan(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		 struct tenants *tenants);
