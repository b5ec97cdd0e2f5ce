// SPDX-License-Identifier: BSD-3-Clause
//
// Torus pods that a tree joins: plans of the parts, put together.
//
// Within a pod packets go as the Torus engine says. To another pod they go to a gateway, a switch
// with cables to the tree, by the pod's own routes, over the tree without coming up after they went
// down, and from a gateway of the other pod to the destination. There they are on as many further
// lanes as the pod has, from which no turn leads to the tree; so what waits for what goes from pods
// to the tree to pods' further lanes, and each of these is free of cycles by itself. Where every
// switch with hosts is a gateway, further lanes are not needed and not allowed.
#pragma once

#include "routing/minhop.h"
#include "routing/topo_part.h"
#include "routing/torus.h"

enum { HYBRID_POD_MAX = 255 };

struct hybrid {
	const struct topo *topo;
	const uint8_t *pod; // [switch_count] 1..pod_count; 0: of the tree
	uint32_t pod_count;
	uint32_t dim_count;     // the most of any pod
	struct topo_part *part; // [pod_count + 1] the tree and the gateways, then the pods
	struct torus *torus;    // [pod_count + 1] the first one is not used
	struct minhop tree;
	uint8_t *gateway; // [switch_count]
};

// `pod` must outlive it. `shape` gives the lengths of all pods and the place of each switch in its
// own; NULL: they are found. False: PLAN_FAULT_NOT_A_TORUS, also for a cable between two pods;
// PLAN_FAULT_NOT_A_TREE: there is none; and others of the Torus engine.
bool hybrid_init(const struct topo *topo, const uint8_t *pod, const struct torus_shape *shape,
		 struct arena *keep, struct arena *scratch, struct hybrid *hybrid,
		 struct plan_fault *fault);

// Into a plan that plan_init has made, or over one of another state. False: PLAN_FAULT_LANES, also
// when the tree has lost so much that shortest paths would bounce; PLAN_FAULT_UNREACHABLE; memory
// or groups.
bool hybrid_plan(struct hybrid *hybrid, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault);
