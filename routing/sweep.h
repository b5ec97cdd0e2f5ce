// SPDX-License-Identifier: BSD-3-Clause
//
// Every single failure, one after the other: each cable that is up, then each switch. Which engine
// plans is not known here; the caller does it between two calls:
//
//   sweep_begin(&sweep, ...);
//   while (sweep_next(&sweep)) {
//           plan for sweep.state, refused or not
//           sweep_judge(&sweep, refused ? NULL : &plan, scratch);
//   }
#pragma once

#include "routing/balance.h"
#include "routing/verify.h"

enum sweep_kind { SWEEP_CABLE, SWEEP_SWITCH };

// One failure that is worse than the others in some way.
struct sweep_case {
	enum sweep_kind kind;
	uint32_t number; // link of either end, or switch
};

// Of the failures of one kind.
struct sweep_result {
	uint32_t count;
	uint32_t refused;           // no plan
	uint32_t unsafe;            // the verifier found something other than pairs without a way
	uint32_t unrouted;          // hosts that are connected had no way
	uint32_t cutting;           // hosts of switches that are left were parted
	uint64_t unreachable_worst; // pairs, those of hosts of the lost switch not among them
	double load_worst;          // the most loaded link
	uint32_t lanes_worst;
	uint32_t hops_worst;
	struct sweep_case first_refused; // valid when there is one
	struct sweep_case first_unsafe;
	struct sweep_case worst_cut;
	struct sweep_case worst_load;
};

struct sweep {
	struct topo_state state; // to be planned for
	struct sweep_case now;
	struct sweep_result result[2]; // [enum sweep_kind]
	// Private.
	const struct topo *topo;
	const struct topo_state *base;
	struct verify_report report;
	struct balance_report balance;
	double *load;
	bool begun;
};

// `base` is what is lost already, and must stay. 0, or -ENOMEM.
int sweep_begin(const struct topo *topo, const struct topo_state *base, struct arena *keep,
		struct sweep *sweep);

// Goes on to the next failure; false when all were seen.
bool sweep_next(struct sweep *sweep);

// Judges the plan for it, NULL: the engine refused. 0, -ENOMEM or -EINVAL, as verify_plan();
// `scratch` is left as it was.
int sweep_judge(struct sweep *sweep, const struct plan *plan, struct arena *scratch);
