// SPDX-License-Identifier: BSD-3-Clause
//
// Planning from a command line: the fabric is opened, planned or given tables, failures are
// replanned, and the result is proven and measured. What is printed of it is in plan_show.h.
#pragma once

#include "cli/plan_options.h"
#include "fabricmgr/core/tenants_check.h"
#include "fabricmgr/source.h"
#include "routing/balance.h"
#include "routing/sweep.h"
#include "routing/verify.h"

// Processor time of the steps.
struct plan_times {
	double parse_ms;
	double plan_ms;
	double verify_ms;
	double replan_ms;
};

// Loads of the most loaded link, over samples of permutations.
struct plan_sample {
	double max_avg;
	double max_worst;
};

// How many of the paths between two hosts flows of many queue pairs use, in parts of what the
// weights would have: 1 is all, and the tiers' hashes do not polarise. Over pairs with a choice.
struct plan_spread {
	uint32_t pairs;
	double avg;
	double worst;
};

struct plan_work {
	struct source source;
	struct planner planner;
	struct plan_times times;
	bool from_tables; // nobody planned
	bool with_turns;  // and there are rules of turns
	struct plan_fault replan_fault;
	bool replan_refused;
	bool has_change;
	struct plan_change change;
	struct verify_report verify;
	bool good; // proven
	bool has_balance;
	struct balance_report balance;
	double *load; // [link_count]
	bool has_samples;
	struct plan_sample shift;
	struct plan_sample random;
	struct plan_spread spread;
	bool has_sweep;
	struct sweep sweep;
	uint64_t rows;
	uint64_t groups;
	struct tenants tenants;
	struct tenant_proof tenant_proof;
	struct qos_options qos_options;
	struct qos qos;
	bool qos_fits; // into the priorities that there are
};

// Each returns an exit status (cli/run.h) after lines on stderr, EXIT_DONE when it may go on. In
// any case the work is to be closed.
int plan_work_open(const struct plan_options *options, struct plan_work *work);
// Plans and replans; EXIT_REFUSED: no plan, and work->planner says why.
int plan_work_plan(const struct plan_options *options, struct plan_work *work);
// EXIT_REFUSED: something is wrong, and work->verify says what.
int plan_work_prove(struct plan_work *work);
// Whether all that is sent arrives, though it may wait for itself.
bool plan_work_arrives(const struct plan_work *work);
// Of such a plan: loads, and what options ask for.
int plan_work_measure(const struct plan_options *options, struct plan_work *work);

void plan_work_close(struct plan_work *work);
