// SPDX-License-Identifier: BSD-3-Clause
//
// How evenly a plan loads its links.
//
// All pairs: every ordered pair of different hosts sends one unit, which a group splits by weight,
// or by the host for a pinned one. Permutations: one flow per host, which takes the member that the
// switches' own hash picks, buckets and seeds included.
//
// Plans must have passed the verifier: what does not arrive is not looked for here, though nothing
// ill comes of it.
#pragma once

#include "base/rng.h"
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
	uint64_t capacity; // weights together: of two tiers, how much one oversubscribes the other
};

struct balance_report {
	struct balance_tier all;
	struct balance_tier tier[BALANCE_TIERS]; // plan->tier_count of them
	// What each host can send to all others alike before a link is full, a link of weight 1
	// being 1 (Dally and Towles 2004, 3.3.1). Times half the hosts it is the bisection that the
	// plan makes use of. 0: no link carries anything.
	double injection;
};

// `load` [link_count] is filled with the units of each link. 0, or -ENOMEM; `scratch` is left as it
// was.
int balance_all_pairs(const struct topo *topo, const struct topo_state *state,
		      const struct plan *plan, struct arena *scratch, double *load,
		      struct balance_report *report);

// Flows of hosts and the most loaded link, for one permutation: host h sends to to_host[h] (itself:
// nothing). `hash` [switch_count] is the profile of each switch; a flow's key is made of 10.0.0.0 +
// the two hosts' numbers, RoCEv2's ports and queue pair `qp`. Load counts flows.
struct balance_flows {
	double max;
	double avg; // over links that carry any
	uint32_t max_link;
	uint32_t flow_count; // that crossed a link and arrived
};

// 0, -ENOMEM, or -E2BIG: a group has more members than a switch has room for.
int balance_permutation(const struct topo *topo, const struct topo_state *state,
			const struct plan *plan, const struct hash_profile *hash,
			const uint32_t *to_host, uint32_t qp, struct arena *scratch,
			struct balance_flows *flows);

// Permutations: host h to host h + by, and any.
void balance_shift(uint32_t host_count, uint32_t by, uint32_t *to_host);
void balance_shuffle(struct rng *rng, uint32_t host_count, uint32_t *to_host);

// How many paths flows of many queue pairs take between two hosts, equally used ones being as good:
// 1 / the sum of the squares of their shares (Simpson 1949; Hill 1973, order 2). `ideal` is by the
// weights, `used` what the hashes make of it, without the bias of a sample. Switches of one seed
// polarise: of m x m paths m are used.
struct balance_spread {
	double ideal;
	double used;
};

// Plain groups only: a pinned one leaves no choice. `flow_count` 2 or more. 0, -ENOMEM, or -E2BIG.
int balance_polarisation(const struct topo *topo, const struct topo_state *state,
			 const struct plan *plan, const struct hash_profile *hash, uint32_t from,
			 uint32_t to, uint32_t flow_count, struct arena *scratch,
			 struct balance_spread *spread);
