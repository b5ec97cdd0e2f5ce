// SPDX-License-Identifier: BSD-3-Clause
//
// Plans of a fabric: engines are tried in the order that was asked for, or that goes with the kind
// of fabric, and the first that can is used. Who refused, why and at which switch is kept and told;
// nothing is ever used that was not on the list.
//
// After a failure the engine that made the plan changes it, or refuses; it is never another one's
// turn, since rules of turns of two engines do not mix.
#pragma once

#include "fabricmgr/core/fabric.h"
#include "fabricmgr/core/label.h"
#include "routing/hybrid.h"
#include "routing/minhop.h"
#include "routing/torus.h"
#include "routing/tree.h"
#include "routing/updown.h"
#include "routing/verify.h"

enum planner_engine {
	PLANNER_TREE,
	PLANNER_DMODK, // a tree whose up-ports are a function of the destination host
	PLANNER_TORUS,
	PLANNER_HYBRID, // pods that the fabric names
	PLANNER_MINHOP,
	PLANNER_UPDOWN,
	PLANNER_ENGINES,
};

extern const char *const planner_engine_names[PLANNER_ENGINES];

struct planner_options {
	enum planner_engine engine[PLANNER_ENGINES];
	uint32_t engine_count; // 0: those that go with the kind of fabric
	struct tree_options tree;
};

struct planner_refusal {
	enum planner_engine engine;
	struct plan_fault fault;
};

struct planner {
	const struct fabric *fabric;
	const struct fabric_graph *graph;
	struct planner_options options;
	struct arena *keep;
	struct arena *scratch;
	struct planner_refusal refusal[PLANNER_ENGINES];
	uint32_t refusal_count;
	enum planner_engine engine; // that made the plan
	struct topo_state state;    // that it is for
	struct plan plan;
	// What the engine knows of the topology.
	struct tree tree;
	struct torus torus;
	struct hybrid hybrid;
	struct torus_shape shape;
	struct minhop minhop;
	struct updown updown;
};

// Plans for the state of the graph. Both arenas are held on to; `scratch` is left as it was by each
// call. False: every engine of the list refused.
bool planner_plan(const struct fabric *fabric, const struct fabric_graph *graph,
		  const struct planner_options *options, struct arena *keep, struct arena *scratch,
		  struct planner *planner);

// Changes the plan into that of `after`, which it is for then. False: the engine refuses, and there
// is no plan any more.
bool planner_replan(struct planner *planner, const struct topo_state *after,
		    struct plan_fault *fault);

// Who refused and why, a sentence: `text` with %o and %d in it (sys/fault.h), and the two names.
const char *planner_fault_text(const struct fabric *fabric, const struct fabric_graph *graph,
			       const struct plan_fault *fault, struct label *object,
			       struct label *detail);

// What a switch does wrong, behind its name: "gets it a second time".
const char *planner_violation_text(enum violation_kind kind);

// "leaf1:Ethernet4", the port that a link transmits at.
struct label planner_link_name(const struct fabric *fabric, const struct fabric_graph *graph,
			       uint32_t link);

// What links of a tier of the plan are called: a level of a tree, a dimension of a Torus.
struct label planner_tier_name(const struct planner *planner, uint32_t tier);
