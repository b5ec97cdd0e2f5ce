// SPDX-License-Identifier: BSD-3-Clause
//
// Parts are planned with an edge on each switch. A row of the whole is that of a part: the pod's to
// a switch of it, the tree's to the gateway that is next to the destination, and else the pod's to
// a gateway. Each switch goes to its nearest gateway, as long as the pod's routes agree with that
// all the way; when lost cables make them differ, to one that the destination chooses.

#include "routing/hybrid.h"

#include <errno.h>
#include <string.h>

#include "routing/distance.h"
#include "routing/reach.h"

enum {
	CLASS_UPLINK = 1 + TORUS_DIMS_MAX * TORUS_WAYS, // port of a pod's switch to the tree
	CLASS_UP,                                       // of a switch of the tree
	CLASS_DOWN,
	CLASSES,
	TREE = 0, // among parts
};

struct work {
	struct hybrid *hybrid;
	const struct topo *topo;
	const struct topo_state *state;
	struct plan *plan;
	struct arena parts; // memory of the parts' plans
	struct plan *part;  // [pod_count + 1]
	uint32_t *exit;  // [switch_count] nearest gateway of the pod, TOPO_NONE: none is connected
	uint8_t *agree;  // [pod_count + 1] whether routes to it agree
	uint32_t *queue; // [switch_count]
	uint32_t lanes;  // of pods
	bool enters;     // packets go on in the pod that they came to
};

static bool is_tree_link(const struct hybrid *hybrid, uint32_t link)
{
	const struct topo *topo = hybrid->topo;

	return hybrid->pod[topo->link_switch[link]] == 0 || hybrid->pod[topo_far(topo, link)] == 0;
}

// In pods all switches count, as packets come from the tree as well; in the tree gateways do and
// those with hosts.
static void mark_switches(const struct hybrid *hybrid, uint32_t part, uint8_t *switch_in)
{
	const struct topo *topo = hybrid->topo;

	for (uint32_t s = 0; s < topo->switch_count; s++) {
		if (part == TREE && hybrid->gateway[s])
			switch_in[s] = TOPO_PART_HOSTS;
		else if (hybrid->pod[s] == part)
			switch_in[s] = part == TREE ? TOPO_PART_PASS : TOPO_PART_HOSTS;
	}
	for (uint32_t e = 0; part == TREE && e < topo->edge_count; e++) {
		const uint32_t at = topo->edge_switch[e];

		if (hybrid->pod[at] == TREE && topo_edge_hosts(topo, e) != 0)
			switch_in[at] = TOPO_PART_HOSTS;
	}
}

static int make_part(struct hybrid *hybrid, uint32_t number, struct arena *keep,
		     struct arena *scratch)
{
	const struct topo *topo = hybrid->topo;
	const size_t mark = arena_mark(scratch);
	uint8_t *switch_in = arena_take(scratch, topo->switch_count, sizeof(*switch_in));
	uint8_t *link_in = arena_take(scratch, topo->link_count, sizeof(*link_in));
	int rc = -ENOMEM;

	if (switch_in != NULL && link_in != NULL) {
		mark_switches(hybrid, number, switch_in);
		for (uint32_t link = 0; link < topo->link_count; link++)
			link_in[link] = is_tree_link(hybrid, link) ?
						number == TREE :
						hybrid->pod[topo->link_switch[link]] == number;
		rc = topo_part_init(topo, switch_in, link_in, keep, scratch, &hybrid->part[number]);
	}
	arena_release(scratch, mark);
	return rc;
}

// The edge of the whole at a switch of a part, where edges have the numbers of their switches. A
// gateway may have none, and is named as the other switch then.
static void whole_edge(const struct topo_part *part, struct plan_fault *fault)
{
	const struct topo *whole = part->whole;

	if (fault->edge >= part->topo.switch_count)
		return;
	fault->other = part->switch_of[fault->edge];
	for (fault->edge = 0; fault->edge < whole->edge_count; fault->edge++) {
		if (whole->edge_switch[fault->edge] == fault->other)
			return;
	}
	fault->edge = TOPO_NONE;
}

// A part's fault in numbers of the whole.
static struct plan_fault whole_fault(const struct topo_part *part, struct plan_fault fault)
{
	if (fault.at < part->topo.switch_count)
		fault.at = part->switch_of[fault.at];
	if (fault.other < part->topo.switch_count)
		fault.other = part->switch_of[fault.other];
	if (fault.link < part->topo.link_count)
		fault.link = part->link_of[fault.link];
	if (fault.kind == PLAN_FAULT_LANES || fault.kind == PLAN_FAULT_UNREACHABLE)
		whole_edge(part, &fault);
	return fault;
}

static bool make_pod(struct hybrid *hybrid, uint32_t pod, const struct torus_shape *shape,
		     struct arena *keep, struct arena *scratch, struct plan_fault *fault)
{
	const struct topo_part *part = &hybrid->part[pod];
	struct torus_shape own;

	if (shape == NULL) {
		if (!torus_find(&part->topo, keep, scratch, &own, fault))
			return false;
	} else {
		own = *shape;
		own.place = arena_take_raw(keep, part->topo.switch_count, sizeof(*own.place));
		*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
		if (own.place == NULL)
			return false;
		for (uint32_t s = 0; s < part->topo.switch_count; s++)
			memcpy(own.place[s], shape->place[part->switch_of[s]],
			       sizeof(own.place[s]));
	}
	if (own.dim_count > hybrid->dim_count)
		hybrid->dim_count = own.dim_count;
	return torus_init(&part->topo, &own, keep, &hybrid->torus[pod], fault);
}

// The switches that are farthest from all gateways. TOPO_NONE: memory is short.
static uint32_t find_roots(const struct hybrid *hybrid, uint32_t *roots, struct arena *scratch)
{
	const struct topo *tree = &hybrid->part[TREE].topo;
	uint32_t *distance = arena_take_raw(scratch, tree->switch_count, sizeof(*distance));
	uint32_t *queue = arena_take_raw(scratch, tree->switch_count, sizeof(*queue));
	uint32_t count = 0;
	uint32_t found;

	if (roots == NULL || distance == NULL || queue == NULL)
		return TOPO_NONE;
	for (uint32_t s = 0; s < tree->switch_count; s++) {
		if (hybrid->gateway[hybrid->part[TREE].switch_of[s]])
			roots[count++] = s;
	}
	found = distance_find(tree, NULL, roots, count, distance, queue);
	count = 0;
	for (uint32_t s = 0; found > 0 && s < tree->switch_count; s++) {
		if (distance[s] == distance[queue[found - 1]])
			roots[count++] = s;
	}
	return count;
}

// The order of the tree, from the roots down.
static bool make_tree(struct hybrid *hybrid, struct arena *keep, struct arena *scratch,
		      struct plan_fault *fault)
{
	const struct topo *tree = &hybrid->part[TREE].topo;
	const size_t mark = arena_mark(scratch);
	uint32_t *roots = arena_take_raw(scratch, tree->switch_count, sizeof(*roots));
	const uint32_t count = find_roots(hybrid, roots, scratch);

	if (count == TOPO_NONE)
		*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
	else if (count == 0)
		*fault = (struct plan_fault){ PLAN_FAULT_NOT_A_TREE, .at = TOPO_NONE };
	else if (minhop_init(tree, roots, count, keep, scratch, &hybrid->tree, fault)) {
		// All ways rise and then fall; the tree's own switches are only passed.
		hybrid->tree.lanes_most = 1;
		hybrid->tree.hosts_only = true;
	}
	arena_release(scratch, mark);
	return fault->kind == PLAN_FAULT_NONE;
}

static struct plan_fault look_at_cables(struct hybrid *hybrid)
{
	const struct topo *topo = hybrid->topo;

	for (uint32_t link = 0; link < topo->link_count; link++) {
		const uint32_t at = topo->link_switch[link];
		const uint32_t far = topo_far(topo, link);

		if (hybrid->pod[at] != 0 && hybrid->pod[far] == 0)
			hybrid->gateway[at] = 1;
		else if (!is_tree_link(hybrid, link) && hybrid->pod[at] != hybrid->pod[far])
			return (struct plan_fault){ PLAN_FAULT_NOT_A_TORUS, .at = at, .other = far,
						    .link = link };
	}
	return (struct plan_fault){ .kind = PLAN_FAULT_NONE };
}

static bool take(struct hybrid *hybrid, struct arena *keep)
{
	for (uint32_t s = 0; s < hybrid->topo->switch_count; s++) {
		if (hybrid->pod[s] > hybrid->pod_count)
			hybrid->pod_count = hybrid->pod[s];
	}
	hybrid->part = arena_take(keep, hybrid->pod_count + 1u, sizeof(*hybrid->part));
	hybrid->torus = arena_take(keep, hybrid->pod_count + 1u, sizeof(*hybrid->torus));
	hybrid->gateway = arena_take(keep, hybrid->topo->switch_count, sizeof(*hybrid->gateway));
	return hybrid->part != NULL && hybrid->torus != NULL && hybrid->gateway != NULL;
}

bool hybrid_init(const struct topo *topo, const uint8_t *pod, const struct torus_shape *shape,
		 struct arena *keep, struct arena *scratch, struct hybrid *hybrid,
		 struct plan_fault *fault)
{
	bool good = true;

	*hybrid = (struct hybrid){ .topo = topo, .pod = pod };
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
	if (!take(hybrid, keep))
		return false;
	*fault = look_at_cables(hybrid);
	for (uint32_t p = TREE; fault->kind == PLAN_FAULT_NONE && p <= hybrid->pod_count; p++) {
		if (make_part(hybrid, p, keep, scratch) != 0)
			fault->kind = PLAN_FAULT_MEMORY;
	}
	if (fault->kind != PLAN_FAULT_NONE)
		return false;
	for (uint32_t p = TREE; good && p <= hybrid->pod_count; p++) {
		good = p == TREE ? make_tree(hybrid, keep, scratch, fault) :
				   make_pod(hybrid, p, shape, keep, scratch, fault);
		if (!good)
			*fault = whole_fault(&hybrid->part[p], *fault);
	}
	return good;
}

// Half of what is left of `scratch` is for the parts' plans, which grow while engines use the rest.
static int take_work(struct work *w, struct arena *scratch)
{
	const uint32_t switches = w->topo->switch_count;
	const size_t half = (scratch->size - scratch->used) / 2;

	w->parts = (struct arena){ .memory = arena_take_raw(scratch, half, 1), .size = half };
	w->part = arena_take(scratch, w->hybrid->pod_count + 1u, sizeof(*w->part));
	w->exit = arena_take_raw(scratch, switches, sizeof(*w->exit));
	w->agree = arena_take(scratch, w->hybrid->pod_count + 1u, sizeof(*w->agree));
	w->queue = arena_take_raw(scratch, switches, sizeof(*w->queue));
	return w->parts.memory != NULL && w->part != NULL && w->exit != NULL && w->agree != NULL &&
			       w->queue != NULL ?
		       0 :
		       -ENOMEM;
}

static bool plan_part(struct work *w, uint32_t p, struct arena *scratch, struct plan_fault *fault)
{
	struct topo_part *part = &w->hybrid->part[p];
	struct plan *plan = &w->part[p];
	bool good;

	topo_part_look(part, w->state);
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_MEMORY };
	if (plan_init(&part->topo, &w->parts, plan) != 0)
		return false;
	good = p == TREE ? minhop_plan(&w->hybrid->tree, &part->state, scratch, plan, fault) :
			   torus_plan(&w->hybrid->torus[p], &part->state, scratch, plan, fault);
	if (!good)
		*fault = whole_fault(part, *fault);
	else if (p != TREE && plan->turns.lane_count > w->lanes)
		w->lanes = plan->turns.lane_count;
	return good;
}

// A gateway that has a cable to the tree left.
static bool leads_out(const struct work *w, uint32_t at)
{
	const struct topo *topo = w->topo;

	if (!w->hybrid->gateway[at])
		return false;
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		if (is_tree_link(w->hybrid, link) && topo_link_up(topo, w->state, link))
			return true;
	}
	return false;
}

static void reach_exit(struct work *w, uint32_t link, uint32_t *tail)
{
	const uint32_t far = topo_far(w->topo, link);

	if (is_tree_link(w->hybrid, link) || w->exit[far] != TOPO_NONE ||
	    !topo_link_up(w->topo, w->state, link))
		return;
	w->exit[far] = w->exit[w->topo->link_switch[link]];
	w->queue[(*tail)++] = far;
}

// The nearest gateway of each switch, the first of those. On a shortest path to it all have the
// same.
static void find_exits(struct work *w)
{
	uint32_t tail = 0;

	for (uint32_t s = 0; s < w->topo->switch_count; s++) {
		w->exit[s] = TOPO_NONE;
		if (!leads_out(w, s))
			continue;
		w->exit[s] = s;
		w->queue[tail++] = s;
	}
	for (uint32_t i = 0; i < tail; i++) {
		const uint32_t at = w->queue[i];

		for (uint32_t link = w->topo->link_first[at]; link < w->topo->link_first[at + 1];
		     link++)
			reach_exit(w, link, &tail);
	}
}

// A row of a part in links of the whole.
static int whole_row(struct work *w, uint32_t p, uint32_t at, uint32_t to, uint16_t *row)
{
	const struct topo_part *part = &w->hybrid->part[p];
	const struct plan *plan = &w->part[p];
	const uint32_t own = part->number[at];
	const uint16_t from = plan_rows(plan, part->number[to])[own];
	struct plan_hop hops[PLAN_HOP_MAX];
	const struct plan_group *group;

	*row = from;
	if (!plan_is_group(from))
		return 0;
	group = &plan->group[from];
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const struct plan_hop *hop = &plan->hop[group->first + i];
		const uint32_t link = part->link_of[part->topo.link_first[own] + hop->link];

		hops[i] = (struct plan_hop){ (uint16_t)(link - w->topo->link_first[at]),
					     hop->weight };
	}
	return plan_group(w->plan, hops, group->hop_count, 0, row);
}

// Whether a switch's routes to its exit pass those only who have the same, or are gateways.
static bool agrees(const struct work *w, uint32_t at)
{
	const uint32_t p = w->hybrid->pod[at];
	const struct topo_part *part = &w->hybrid->part[p];
	const struct plan *plan = &w->part[p];
	const uint16_t row = plan_rows(plan, part->number[w->exit[at]])[part->number[at]];
	const struct plan_group *group;
	bool same = true;

	if (!plan_is_group(row))
		return row == PLAN_LOCAL;
	group = &plan->group[row];
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const uint32_t link = part->topo.link_first[part->number[at]] +
				      plan->hop[group->first + i].link;
		const uint32_t far = part->switch_of[topo_far(&part->topo, link)];

		same &= w->exit[far] == w->exit[at] || w->exit[far] == far;
	}
	return same;
}

// The gateway that packets to a switch elsewhere leave a pod by.
static uint32_t exit_of(const struct work *w, uint32_t at, uint32_t to)
{
	const uint32_t p = w->hybrid->pod[at];
	const struct topo_part *part = &w->hybrid->part[p];
	const uint32_t count = part->topo.switch_count;

	if (w->agree[p] || w->exit[at] == TOPO_NONE || w->exit[at] == at)
		return w->exit[at];
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t s = (to + i) % count;
		const uint32_t gateway = part->switch_of[s];

		if (w->exit[gateway] == gateway &&
		    plan_is_group(plan_rows(&w->part[p], s)[part->number[at]]))
			return gateway;
	}
	return TOPO_NONE;
}

// The row of a switch to another one.
static int join_row(struct work *w, uint32_t at, uint32_t to, uint16_t *row)
{
	const uint8_t *pod = w->hybrid->pod;
	const uint32_t entry = pod[to] == 0 ? to : w->exit[to];
	uint32_t exit;
	int rc = 0;

	*row = PLAN_NONE;
	if (pod[at] == pod[to])
		rc = whole_row(w, pod[at], at, to, row);
	if (rc != 0 || *row != PLAN_NONE || entry == TOPO_NONE)
		return rc;
	exit = pod[at] == 0 ? at : exit_of(w, at, to);
	if (exit == TOPO_NONE)
		return 0;
	// In islands of one pod entry and exit may not be the same.
	return exit == at ? whole_row(w, TREE, at, entry, row) :
			    whole_row(w, pod[at], at, exit, row);
}

static int join_rows(struct work *w, uint32_t edge)
{
	const uint32_t to = w->topo->edge_switch[edge];
	uint16_t *row = plan_rows(w->plan, edge);
	int rc = 0;

	memset(row, 0xff, w->topo->switch_count * sizeof(*row));
	if (w->state->switch_lost[to])
		return 0;
	for (uint32_t s = 0; rc == 0 && s < w->topo->switch_count; s++) {
		if (s != to && !w->state->switch_lost[s])
			rc = join_row(w, s, to, &row[s]);
	}
	row[to] = PLAN_LOCAL;
	return rc;
}

static uint32_t tree_class(const struct hybrid *hybrid, uint32_t link)
{
	const struct topo_part *tree = &hybrid->part[TREE];
	const uint32_t at = tree->topo.link_switch[link];
	const uint32_t far = topo_far(&tree->topo, link);

	if (hybrid->pod[tree->switch_of[at]] != 0)
		return CLASS_UPLINK;
	return hybrid->tree.above[far] < hybrid->tree.above[at] ? CLASS_UP : CLASS_DOWN;
}

static void set_classes(const struct work *w, uint32_t p, struct turn_rules *rules)
{
	const struct topo_part *part = &w->hybrid->part[p];

	for (uint32_t link = 0; link < part->topo.link_count; link++) {
		const uint32_t class = p == TREE ? tree_class(w->hybrid, link) :
						   w->part[p].turns.link_class[link];

		rules->link_class[part->link_of[link]] = (uint8_t) class;
	}
}

// A pod's turn, on its own lanes and on the further ones.
static void copy_turn(const struct work *w, const struct turn_rules *from, uint32_t in,
		      uint32_t out, struct turn_rules *rules)
{
	const size_t turn = (size_t)in * from->class_count + out;

	for (uint32_t lane = 0; lane < w->lanes; lane++) {
		const uint8_t to = from->lane[turn * LANE_MAX + lane];

		if (to == TURN_DENY)
			continue;
		if (in != TURN_CLASS_HOST || lane == 0)
			turn_rules_allow(rules, in, out, lane, to);
		if (!w->enters)
			continue;
		// From the tree as from hosts, but on further lanes.
		if (in != TURN_CLASS_HOST)
			turn_rules_allow(rules, in, out, w->lanes + lane, w->lanes + to);
		else if (lane == 0)
			turn_rules_allow(rules, CLASS_UPLINK, out, 0, w->lanes + to);
	}
}

static void set_tree_turns(const struct work *w, struct turn_rules *rules)
{
	turn_rules_allow(rules, TURN_CLASS_HOST, CLASS_UPLINK, 0, 0);
	turn_rules_allow(rules, TURN_CLASS_HOST, CLASS_UP, 0, 0);
	turn_rules_allow(rules, TURN_CLASS_HOST, CLASS_DOWN, 0, 0);
	turn_rules_allow(rules, CLASS_DOWN, CLASS_UP, 0, 0);
	turn_rules_allow(rules, CLASS_DOWN, CLASS_DOWN, 0, 0);
	turn_rules_allow(rules, CLASS_UP, CLASS_DOWN, 0, 0);
	for (uint32_t in = TURN_CLASS_HOST + 1; in < CLASS_UPLINK; in++) {
		for (uint32_t lane = 0; lane < w->lanes; lane++)
			turn_rules_allow(rules, in, CLASS_UPLINK, lane, 0);
	}
}

// Exceptions of a pod, put in order among those of others.
static void copy_exceptions(const struct work *w, uint32_t p, struct turn_rules *rules)
{
	const struct turn_rules *from = &w->part[p].turns;
	const uint32_t *link_of = w->hybrid->part[p].link_of;

	for (uint32_t i = 0; i < from->exception_count; i++) {
		struct turn_exception e = from->exception[i];

		e.in = link_of[e.in];
		e.out = link_of[e.out];
		turn_rules_insert(rules, &e);
	}
}

static int join_rules(struct work *w)
{
	struct turn_rules *rules = &w->plan->turns;
	const uint32_t lanes = w->enters ? 2 * w->lanes : w->lanes;
	uint32_t exceptions = 0;

	for (uint32_t p = 1; p <= w->hybrid->pod_count; p++)
		exceptions += w->part[p].turns.exception_count;
	if (turn_rules_init(w->topo, lanes, CLASSES, exceptions, w->plan->keep, rules) != 0)
		return -ENOMEM;
	for (uint32_t p = TREE; p <= w->hybrid->pod_count; p++)
		set_classes(w, p, rules);
	set_tree_turns(w, rules);
	for (uint32_t p = 1; p <= w->hybrid->pod_count; p++) {
		const struct turn_rules *from = &w->part[p].turns;

		for (uint32_t turn = 0; turn < from->class_count * from->class_count; turn++)
			copy_turn(w, from, turn / from->class_count, turn % from->class_count,
				  rules);
		copy_exceptions(w, p, rules);
	}
	return 0;
}

// Dimensions first, then levels of the tree.
static void join_tiers(const struct work *w)
{
	struct plan *plan = w->plan;

	plan->tier_count = w->hybrid->dim_count + w->part[TREE].tier_count;
	for (uint32_t p = TREE; p <= w->hybrid->pod_count; p++) {
		const struct topo_part *part = &w->hybrid->part[p];
		const uint32_t first = p == TREE ? w->hybrid->dim_count : 0;

		for (uint32_t link = 0; link < part->topo.link_count; link++)
			plan->link_tier[part->link_of[link]] =
				(uint8_t)(first + w->part[p].link_tier[link]);
	}
}

// Where packets enter and exit pods, and whether there are lanes for it.
static struct plan_fault find_ways(struct work *w)
{
	const struct topo *topo = w->topo;

	find_exits(w);
	memset(w->agree, 1, w->hybrid->pod_count + 1u);
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		if (w->hybrid->pod[s] != 0 && w->exit[s] != TOPO_NONE && !agrees(w, s))
			w->agree[w->hybrid->pod[s]] = 0;
	}
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		const uint32_t at = topo->edge_switch[e];

		w->enters |= w->hybrid->pod[at] != 0 && w->exit[at] != TOPO_NONE &&
			     w->exit[at] != at;
		if (w->enters && 2 * w->lanes > LANE_MAX)
			return (struct plan_fault){ PLAN_FAULT_LANES, .at = at, .edge = e };
	}
	return (struct plan_fault){ .kind = PLAN_FAULT_NONE };
}

bool hybrid_plan(struct hybrid *hybrid, const struct topo_state *state, struct arena *scratch,
		 struct plan *plan, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	struct work w = {
		.hybrid = hybrid,
		.topo = hybrid->topo,
		.state = state,
		.plan = plan,
		.lanes = 1,
	};
	bool good = take_work(&w, scratch) == 0;
	int rc = good ? 0 : -ENOMEM;

	for (uint32_t p = TREE; good && p <= hybrid->pod_count; p++)
		good = plan_part(&w, p, scratch, fault);
	if (good) {
		*fault = find_ways(&w);
		good = fault->kind == PLAN_FAULT_NONE;
	}
	plan_forget_groups(plan);
	for (uint32_t e = 0; good && rc == 0 && e < w.topo->edge_count; e++)
		rc = join_rows(&w, e);
	if (good && rc == 0)
		rc = join_rules(&w);
	if (good && rc == 0)
		join_tiers(&w);
	if (rc != 0)
		*fault = (struct plan_fault){
			.kind = rc == -EOVERFLOW ? PLAN_FAULT_GROUPS : PLAN_FAULT_MEMORY,
		};
	good = good && rc == 0 && reach_check(w.topo, state, plan, scratch, fault);
	arena_release(scratch, mark);
	return good;
}
