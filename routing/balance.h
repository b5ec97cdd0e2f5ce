// SPDX-License-Identifier: BSD-3-Clause
//
// How evenly a plan loads its links.
//
// All pairs: every ordered pair of different hosts sends one unit, which a group splits by weight,
// or by the host for a pinned one. Permutations: one flow per host, which takes the member that the
// switches' own hash picks, buckets and seeds included.
#pragma once

#include "routing/hash.h"
#include "routing/plan.h"
#include "routing/topo.h"

enum { BALANCE_TIERS = 255 };

// Over directed links between switches that are up.
struct balance_tier {
	double max;
	double avg;
	uint32_t max_link;
	uint32_t link_count;
};

struct balance_report {
	struct balance_tier all;
	struct balance_tier tier[BALANCE_TIERS]; // plan->tier_count of them
};

// `load` [link_count] is filled with the units of each link. The plan must have passed the
// verifier. 0, or -ENOMEM; `scratch` is left as it was.
int balance_all_pairs(const struct topo *topo, const struct topo_state *state,
		      const struct plan *plan, struct arena *scratch, double *load,
		      struct balance_report *report);

// Flows of hosts and the most loaded link, for one permutation: host h sends to to_host[h] (itself:
// nothing). `hash` [switch_count] is the profile of each switch; a flow's key is made of the two
// hosts' numbers as IPv4 addresses, RoCEv2's port and queue pair `qp`. Load counts flows.
struct balance_flows {
	double max;
	double avg; // over links that carry any
	uint32_t max_link;
	uint32_t flow_count;
};

int balance_permutation(const struct topo *topo, const struct topo_state *state,
			const struct plan *plan, const struct hash_profile *hash,
			const uint32_t *to_host, uint32_t qp, struct arena *scratch,
			struct balance_flows *flows);
