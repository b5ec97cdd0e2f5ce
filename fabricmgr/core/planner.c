// SPDX-License-Identifier: BSD-3-Clause
//
// One case per engine for each of: what it knows of the topology, a plan, a changed plan. What a
// fabric says of levels and places is handed on as hints, so that a plan is that of the intent, and
// what it does not say is found in the graph.

#include "fabricmgr/core/planner.h"

#include <errno.h>
#include <string.h>

#include "routing/group.h"

const char *const planner_engine_names[PLANNER_ENGINES] = {
	[PLANNER_TREE] = "tree",     [PLANNER_DMODK] = "dmodk",   [PLANNER_TORUS] = "torus",
	[PLANNER_HYBRID] = "hybrid", [PLANNER_MINHOP] = "minhop", [PLANNER_UPDOWN] = "updown",
};

// The list that goes with a kind of fabric.
static void choose_engines(enum fabric_kind kind, struct planner_options *options)
{
	static const enum planner_engine any[] = { PLANNER_TREE, PLANNER_TORUS, PLANNER_MINHOP,
						   PLANNER_UPDOWN };

	options->engine_count = 1;
	switch (kind) {
	case FABRIC_TREE: options->engine[0] = PLANNER_TREE; return;
	case FABRIC_TORUS: options->engine[0] = PLANNER_TORUS; return;
	case FABRIC_HYBRID: options->engine[0] = PLANNER_HYBRID; return;
	case FABRIC_LINKS: break;
	}
	options->engine_count = sizeof(any) / sizeof(any[0]);
	memcpy(options->engine, any, sizeof(any));
}

static bool short_of_memory(struct plan_fault *fault)
{
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
	return false;
}

// --- hints ------------------------------------------------------------------------------------

// Switches that are marked as roots; NULL: memory is short.
static uint32_t *find_roots(const struct planner *p, uint32_t *count)
{
	uint32_t *roots = arena_take_raw(p->keep, p->fabric->switch_count + 1u, sizeof(*roots));

	*count = 0;
	for (uint32_t i = 0; roots != NULL && i < p->fabric->switch_count; i++) {
		if (p->fabric->switches[i].root)
			roots[(*count)++] = i;
	}
	return roots;
}

// Levels, when the fabric says those of all switches; *level is NULL otherwise. False: memory is
// short.
static bool find_levels(const struct planner *p, uint8_t **level)
{
	const struct fabric *fabric = p->fabric;

	*level = NULL;
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		if (fabric->switches[i].level == FABRIC_LEVEL_NONE)
			return true;
	}
	*level = arena_take_raw(p->keep, fabric->switch_count, sizeof(**level));
	for (uint32_t i = 0; *level != NULL && i < fabric->switch_count; i++)
		(*level)[i] = fabric->switches[i].level;
	return *level != NULL;
}

// Places of switches as the fabric says, in its Torus or in their pods.
static bool known_places(struct planner *p, struct plan_fault *fault)
{
	const struct fabric *fabric = p->fabric;

	p->shape.dim_count = fabric->dim_count;
	p->shape.place = arena_take(p->keep, fabric->switch_count, sizeof(*p->shape.place));
	if (p->shape.place == NULL)
		return short_of_memory(fault);
	memcpy(p->shape.dims, fabric->dims, sizeof(fabric->dims));
	memcpy(p->shape.shift, fabric->shift, sizeof(fabric->shift));
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		memcpy(p->shape.place[i], fabric->switches[i].place,
		       sizeof(fabric->switches[i].place));
	return true;
}

static bool find_places(struct planner *p, struct plan_fault *fault)
{
	if (p->fabric->kind == FABRIC_TORUS)
		return known_places(p, fault);
	return torus_find(&p->graph->topo, p->keep, p->scratch, &p->shape, fault);
}

// The pod of each switch; NULL: memory is short.
static uint8_t *find_pods(const struct planner *p)
{
	uint8_t *pod = arena_take(p->keep, p->fabric->switch_count, sizeof(*pod));

	for (uint32_t i = 0; pod != NULL && i < p->fabric->switch_count; i++)
		pod[i] = (uint8_t)p->fabric->switches[i].pod;
	return pod;
}

// --- engines ----------------------------------------------------------------------------------

static bool init_tree(struct planner *p, struct plan_fault *fault)
{
	struct tree_hints hints = { .ignored = &p->graph->state };
	uint8_t *level;

	hints.root = find_roots(p, &hints.root_count);
	if (hints.root == NULL || !find_levels(p, &level))
		return short_of_memory(fault);
	hints.level = level;
	return tree_init(&p->graph->topo, &hints, p->keep, p->scratch, &p->tree, fault);
}

// Pods of a fabric that has none, or more than the engine knows, are refused as no Torus.
static bool init_hybrid(struct planner *p, struct plan_fault *fault)
{
	const uint8_t *pod = find_pods(p);

	for (uint32_t i = 0; i < p->fabric->switch_count; i++) {
		if (p->fabric->kind == FABRIC_HYBRID &&
		    p->fabric->switches[i].pod <= HYBRID_POD_MAX)
			continue;
		*fault = (struct plan_fault){ .kind = PLAN_FAULT_NOT_A_TORUS, .at = i };
		return false;
	}
	if (pod == NULL)
		return short_of_memory(fault);
	return known_places(p, fault) &&
	       hybrid_init(&p->graph->topo, pod, &p->shape, p->keep, p->scratch, &p->hybrid, fault);
}

static bool init_with_roots(struct planner *p, enum planner_engine engine, struct plan_fault *fault)
{
	const struct topo *topo = &p->graph->topo;
	uint32_t count;
	uint32_t *roots = find_roots(p, &count);

	if (roots == NULL)
		return short_of_memory(fault);
	if (engine == PLANNER_MINHOP)
		return minhop_init(topo, roots, count, p->keep, p->scratch, &p->minhop, fault);
	return updown_init(topo, roots, count, &p->graph->state, p->keep, p->scratch, &p->updown,
			   fault);
}

static bool init_engine(struct planner *p, enum planner_engine engine, struct plan_fault *fault)
{
	switch (engine) {
	case PLANNER_TREE:
	case PLANNER_DMODK:
		p->options.tree.pinned = engine == PLANNER_DMODK;
		return init_tree(p, fault);
	case PLANNER_TORUS:
		return find_places(p, fault) &&
		       torus_init(&p->graph->topo, &p->shape, p->keep, &p->torus, fault);
	case PLANNER_HYBRID: return init_hybrid(p, fault);
	case PLANNER_MINHOP:
	case PLANNER_UPDOWN: return init_with_roots(p, engine, fault);
	case PLANNER_ENGINES: break;
	}
	return false;
}

static bool make_plan(struct planner *p, enum planner_engine engine, struct plan_fault *fault)
{
	switch (engine) {
	case PLANNER_TREE:
	case PLANNER_DMODK:
		return tree_plan(&p->tree, &p->state, &p->options.tree, p->scratch, &p->plan,
				 fault);
	case PLANNER_TORUS: return torus_plan(&p->torus, &p->state, p->scratch, &p->plan, fault);
	case PLANNER_HYBRID: return hybrid_plan(&p->hybrid, &p->state, p->scratch, &p->plan, fault);
	case PLANNER_MINHOP: return minhop_plan(&p->minhop, &p->state, p->scratch, &p->plan, fault);
	case PLANNER_UPDOWN: return updown_plan(&p->updown, &p->state, p->scratch, &p->plan, fault);
	case PLANNER_ENGINES: break;
	}
	return false;
}

static bool change_plan(struct planner *p, const struct topo_state *after, struct plan_fault *fault)
{
	switch (p->engine) {
	case PLANNER_TREE:
	case PLANNER_DMODK:
		return tree_replan(&p->tree, &p->state, after, &p->options.tree, p->scratch,
				   &p->plan, fault);
	case PLANNER_TORUS:
		return torus_replan(&p->torus, &p->state, after, p->scratch, &p->plan, fault);
	case PLANNER_HYBRID: return hybrid_plan(&p->hybrid, after, p->scratch, &p->plan, fault);
	case PLANNER_MINHOP: return minhop_plan(&p->minhop, after, p->scratch, &p->plan, fault);
	case PLANNER_UPDOWN:
		return updown_replan(&p->updown, &p->state, after, p->scratch, &p->plan, fault);
	case PLANNER_ENGINES: break;
	}
	return false;
}

// What a refusing engine took of the arena is given back.
static bool try_engine(struct planner *p, enum planner_engine engine)
{
	struct planner_refusal *refusal = &p->refusal[p->refusal_count];
	const size_t mark = arena_mark(p->keep);

	*refusal = (struct planner_refusal){ .engine = engine };
	if (!init_engine(p, engine, &refusal->fault) ||
	    plan_init(&p->graph->topo, p->keep, &p->plan) < 0 ||
	    !make_plan(p, engine, &refusal->fault) ||
	    !plan_fits_groups(&p->plan, GROUP_MEMBER_MAX, &refusal->fault)) {
		if (refusal->fault.kind == PLAN_FAULT_NONE)
			refusal->fault.kind = PLAN_FAULT_MEMORY;
		arena_release(p->keep, mark);
		p->refusal_count++;
		return false;
	}
	p->engine = engine;
	return true;
}

bool planner_plan(const struct fabric *fabric, const struct fabric_graph *graph,
		  const struct planner_options *options, struct arena *keep, struct arena *scratch,
		  struct planner *planner)
{
	*planner = (struct planner){ .fabric = fabric,
				     .graph = graph,
				     .options = *options,
				     .keep = keep,
				     .scratch = scratch };
	if (options->engine_count == 0)
		choose_engines(fabric->kind, &planner->options);
	if (topo_state_init(&graph->topo, keep, &planner->state) < 0) {
		planner->refusal[0] = (struct planner_refusal){
			.engine = planner->options.engine[0], .fault = { .kind = PLAN_FAULT_MEMORY }
		};
		planner->refusal_count = 1;
		return false;
	}
	topo_state_copy(&graph->topo, &graph->state, &planner->state);
	for (uint32_t i = 0; i < planner->options.engine_count; i++) {
		if (try_engine(planner, planner->options.engine[i]))
			return true;
	}
	return false;
}

bool planner_replan(struct planner *planner, const struct topo_state *after,
		    struct plan_fault *fault)
{
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	if (!change_plan(planner, after, fault) ||
	    !plan_fits_groups(&planner->plan, GROUP_MEMBER_MAX, fault)) {
		if (fault->kind == PLAN_FAULT_NONE)
			fault->kind = PLAN_FAULT_MEMORY;
		return false;
	}
	topo_state_copy(&planner->graph->topo, after, &planner->state);
	return true;
}
