// SPDX-License-Identifier: BSD-3-Clause
//
// Proof of tenants' rules, which shares no code with what makes them (fabricmgr/core/tenants.h):
// each address of a host's port is looked up in the rules as a switch does it, and who may send
// there is compared with who is to.
//
// All ports of a tenant have the same rules, whatever edge they are at, so one verdict for a tenant
// and an address is that for all of its ports: the work is addresses times lengths of prefixes, and
// one step for each rule that matches.
#pragma once

#include "fabricmgr/core/tenants.h"

// From a port of a host to an address of another port, which the rules judge wrongly.
struct tenant_violation {
	uint32_t from;       // host port; the first of its tenant
	uint32_t to;         // host port
	struct ip_prefix ip; // of `to`, with the length of its subnet
	uint32_t rule; // that lets through what is another tenant's; FABRIC_NONE: none permits it
};

// The first of them are kept, all are counted.
enum { TENANT_VIOLATIONS_KEPT = 10 };

struct tenant_proof {
	uint64_t violations; // pairs of a port and an address of another port
	struct tenant_violation violation[TENANT_VIOLATIONS_KEPT];
	uint32_t kept;
};

// Rules are in any order and may overlap. 0, or -ENOMEM; `scratch` is left as it was.
int tenants_check(const struct fabric *fabric, const struct tenants *tenants, struct arena *scratch,
		  struct tenant_proof *proof);
