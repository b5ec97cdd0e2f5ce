// SPDX-License-Identifier: BSD-3-Clause
//
// Planning class by class: one walk gives the rows of all edges of a class but for those of the
// edges' own switches and parents. A replan is the same job on fewer rows, in the plan that it
// finds.

#include "routing/valley_free.h"

#include <errno.h>
#include <string.h>

#include "routing/like_edges.h"
#include "routing/reach.h"
#include "routing/valley_free_walk.h"

// Switches whose rows are to be written, and those that must be gone through for it.
struct area {
	uint8_t *wanted;    // [switch_count]
	uint32_t row_count; // of job->rows, from the first
	uint32_t *list;     // [list_count] they and what is above them, from the top
	uint32_t list_count;
};

struct job {
	const struct order *order;
	const struct topo_state *state;
	const struct valley_free_options *options;
	struct arena *scratch;
	struct plan *plan;
	struct valley_walk walk;
	struct like_edges like;
	uint8_t *plain; // [class_count] whether weights are to be plain after all, or NULL
	// What is to be written: all rows of edges in the touched area, the rows of that area for
	// the others, or of the lower ends of changed links alone when that is as far as it goes.
	bool all;       // everything: what follows is not used
	uint32_t *rows; // [switch_count] lower ends first, then what is below
	struct area ends;
	struct area touched;
};

static bool fail(struct plan_fault *fault, int rc)
{
	*fault = (struct plan_fault){
		.kind = rc == -ENOMEM ? PLAN_FAULT_MEMORY : PLAN_FAULT_GROUPS,
	};
	return false;
}

// --- one class ----------------------------------------------------------------------------------

static bool is_whole(const struct job *job, uint32_t edge)
{
	return job->all || job->touched.wanted[job->order->topo->edge_switch[edge]] != 0;
}

static bool has_whole(const struct job *job, uint32_t first)
{
	for (uint32_t e = first; e != TOPO_NONE; e = job->like.next[e]) {
		if (is_whole(job, e))
			return true;
	}
	return false;
}

static void write_whole(struct job *job, uint32_t edge, uint16_t twin_row)
{
	struct valley_walk *w = &job->walk;
	const uint32_t at = job->order->topo->edge_switch[edge];
	uint16_t *rows = plan_rows(job->plan, edge);

	memcpy(rows, w->row, job->plan->switch_count * sizeof(*rows));
	if (at == w->target)
		return;
	rows[w->target] = twin_row;
	rows[at] = PLAN_LOCAL;
	valley_walk_twin_rows(w, at, rows);
}

// An edge that nothing changed below of: neither its switch nor what is above it is in the area.
static void write_some(struct job *job, uint32_t edge, const struct area *area, uint16_t twin_row)
{
	const struct valley_walk *w = &job->walk;
	uint16_t *rows = plan_rows(job->plan, edge);

	for (uint32_t i = 0; i < area->row_count; i++)
		rows[job->rows[i]] = w->row[job->rows[i]];
	if (area->wanted[w->target])
		rows[w->target] = twin_row;
}

static void write_class(struct job *job, uint32_t first, const struct area *area, uint16_t twin_row)
{
	for (uint32_t e = first; e != TOPO_NONE; e = job->like.next[e]) {
		if (is_whole(job, e))
			write_whole(job, e, twin_row);
		else
			write_some(job, e, area, twin_row);
	}
}

static void plan_whole_class(struct job *job, uint32_t first)
{
	const struct order *order = job->order;
	struct valley_walk *w = &job->walk;
	uint16_t twin_row = PLAN_LOCAL;

	valley_walk_edge(w, order->topo->edge_switch[first], order->top_down, order->placed_count,
			 NULL);
	// Other edges of the class see the first one's switch as it sees theirs.
	if (job->like.next[first] != TOPO_NONE)
		twin_row = valley_walk_up_row(w, w->target);
	write_class(job, first, &job->touched, twin_row);
	valley_walk_end(w);
}

// The length of the path that the rows of the plan gave.
static uint32_t length_before(const struct job *job, uint32_t edge, uint32_t at)
{
	const struct topo *topo = job->order->topo;
	const struct plan *plan = job->plan;
	const uint16_t *rows = plan_rows(plan, edge);
	uint32_t length = 0;

	for (; plan_is_group(rows[at]); length++)
		at = topo_far(topo,
			      topo->link_first[at] + plan->hop[plan->group[rows[at]].first].link);
	return rows[at] == PLAN_LOCAL ? length : VALLEY_WALK_FAR_AWAY;
}

// Whether switches below the ends of changed links see nothing of the change.
static bool ends_are_enough(const struct job *job, uint32_t first)
{
	for (uint32_t i = 0; i < job->ends.row_count; i++) {
		if (job->walk.length[job->rows[i]] != length_before(job, first, job->rows[i]))
			return false;
	}
	return true;
}

// None of the class is in the touched area. Plain rows go by the lengths above them alone.
static void plan_some_of_class(struct job *job, uint32_t first)
{
	const uint32_t target = job->order->topo->edge_switch[first];
	const bool plain = job->walk.weights == VALLEY_FREE_PLAIN;
	const struct area *area = plain ? &job->ends : &job->touched;
	struct valley_walk *w = &job->walk;

	valley_walk_edge(w, target, area->list, area->list_count, area->wanted);
	if (area->row_count != job->touched.row_count && !ends_are_enough(job, first)) {
		valley_walk_end(w);
		area = &job->touched;
		valley_walk_edge(w, target, area->list, area->list_count, area->wanted);
	}
	write_class(job, first, area, PLAN_LOCAL);
	valley_walk_end(w);
}

static void plan_class(struct job *job, uint32_t first)
{
	if (has_whole(job, first))
		plan_whole_class(job, first);
	else
		plan_some_of_class(job, first);
}

// --- exact weights within a bound ---------------------------------------------------------------

struct cost {
	uint64_t rows;  // of each edge
	uint64_t edges; // of the class
};

static struct cost class_cost(struct job *job, uint32_t first)
{
	struct cost cost = { 0 };

	valley_walk_edge(&job->walk, job->order->topo->edge_switch[first], job->order->top_down,
			 job->order->placed_count, NULL);
	cost.rows = job->walk.weighted;
	valley_walk_end(&job->walk);
	for (uint32_t e = first; e != TOPO_NONE; e = job->like.next[e])
		cost.edges++;
	return cost;
}

// Rows of all classes whose edges cost no more than `most`.
static uint64_t sum_costs(const struct job *job, const struct cost *cost, uint64_t most)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < job->like.class_count; c++)
		sum += cost[c].rows <= most ? cost[c].rows * cost[c].edges : 0;
	return sum;
}

// The least that an edge may cost so that not all which cost as much can have exact weights.
static uint64_t first_too_much(const struct job *job, const struct cost *cost)
{
	uint64_t low = 0;
	uint64_t high = (uint64_t)job->plan->switch_count + 1;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (sum_costs(job, cost, middle) > job->options->churn_rows)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// Plain weights for the classes that the bound leaves nothing for.
static int choose_plain(struct job *job)
{
	struct cost *cost = arena_take_raw(job->scratch, job->like.class_count, sizeof(*cost));
	uint64_t left = job->options->churn_rows;
	uint64_t limit;

	job->plain = arena_take(job->scratch, job->like.class_count, sizeof(*job->plain));
	if (cost == NULL || job->plain == NULL)
		return -ENOMEM;
	for (uint32_t c = 0; c < job->like.class_count; c++)
		cost[c] = class_cost(job, job->like.first[c]);
	limit = first_too_much(job, cost);
	if (limit > 0)
		left -= sum_costs(job, cost, limit - 1);
	for (uint32_t c = 0; c < job->like.class_count; c++) {
		const uint64_t rows = cost[c].rows * cost[c].edges;

		job->plain[c] = cost[c].rows >= limit;
		if (cost[c].rows == limit && rows <= left) {
			job->plain[c] = 0;
			left -= rows;
		}
	}
	return 0;
}

// --- all classes --------------------------------------------------------------------------------

static int begin(struct job *job)
{
	struct valley_walk *w = &job->walk;
	int rc = valley_walk_init(job->order, job->state, job->options, job->scratch, job->plan, w);

	if (rc == 0)
		rc = like_edges_find(job->order, w->up_far, w->nowhere, job->scratch, &job->like);
	if (rc == 0 && job->options->weights == VALLEY_FREE_EXACT &&
	    job->options->churn_rows != VALLEY_FREE_ANY_CHURN)
		rc = choose_plain(job);
	return rc;
}

static int plan_classes(struct job *job)
{
	for (uint32_t c = 0; c < job->like.class_count && job->walk.rc == 0; c++) {
		if (job->plain != NULL)
			job->walk.weights = job->plain[c] ? VALLEY_FREE_PLAIN : VALLEY_FREE_EXACT;
		plan_class(job, job->like.first[c]);
	}
	return job->walk.rc;
}

bool valley_free_plan(const struct order *order, const struct topo_state *state,
		      const struct valley_free_options *options, struct arena *scratch,
		      struct plan *plan, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	struct job job = {
		.order = order,
		.state = state,
		.options = options,
		.scratch = scratch,
		.plan = plan,
		.all = true,
	};
	int rc = begin(&job);

	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	if (rc == 0)
		rc = plan_classes(&job);
	arena_release(scratch, mark);
	if (rc != 0)
		return fail(fault, rc);
	return options->partial || !job.walk.parted ||
	       reach_check(order->topo, state, plan, scratch, fault);
}

// --- what changed -------------------------------------------------------------------------------

static void touch(struct job *job, uint32_t at)
{
	if (job->touched.wanted[at])
		return;
	job->touched.wanted[at] = 1;
	job->rows[job->touched.row_count++] = at;
}

// The lower end of a link that carries packets in one state only. With exact weights the upper one
// passes on a different part of what comes to it, if it passes anything on.
static void touch_link(struct job *job, const struct topo_state *before, uint32_t link)
{
	const struct order *order = job->order;
	const struct topo *topo = order->topo;
	const uint32_t up = order->way[link] == ORDER_UP ? link : topo->link_peer[link];
	const uint32_t above = topo_far(topo, up);

	if (order->way[link] == ORDER_UNUSED ||
	    topo_link_up(topo, before, link) == topo_link_up(topo, job->state, link))
		return;
	touch(job, topo->link_switch[up]);
	if (job->options->weights == VALLEY_FREE_EXACT &&
	    order->up_first[above] != order->up_first[above + 1] &&
	    valley_walk_fan(order, before, above) != valley_walk_fan(order, job->state, above))
		touch(job, above);
}

static void touch_changes(struct job *job, const struct topo_state *before)
{
	const struct topo *topo = job->order->topo;
	const struct topo_state *after = job->state;

	for (uint32_t l = 0; (l = topo_next_change(before->link_lost, after->link_lost,
						   topo->link_count, l)) < topo->link_count;
	     l++)
		touch_link(job, before, l);
	for (uint32_t s = 0; (s = topo_next_change(before->switch_lost, after->switch_lost,
						   topo->switch_count, s)) < topo->switch_count;
	     s++) {
		for (uint32_t l = topo->link_first[s]; l < topo->link_first[s + 1]; l++)
			touch_link(job, before, l);
	}
}

static void touch_children(struct job *job, uint32_t at)
{
	const struct topo *topo = job->order->topo;

	for (uint32_t l = topo->link_first[at]; l < topo->link_first[at + 1]; l++) {
		if (job->order->way[l] == ORDER_DOWN)
			touch(job, topo_far(topo, l));
	}
}

static uint32_t add_parents(const struct order *order, uint32_t at, uint8_t *found, uint32_t *queue,
			    uint32_t count)
{
	for (uint32_t i = order->up_first[at]; i < order->up_first[at + 1]; i++) {
		if (found[order->up_far[i]])
			continue;
		found[order->up_far[i]] = 1;
		queue[count++] = order->up_far[i];
	}
	return count;
}

// What valley_walk_edge asks for.
static int list_above(const struct job *job, struct area *area)
{
	const struct order *order = job->order;
	const uint32_t switches = order->topo->switch_count;
	uint8_t *found = arena_take_raw(job->scratch, switches, sizeof(*found));
	uint32_t count = area->row_count;

	area->list = arena_take_raw(job->scratch, switches, sizeof(*area->list));
	if (found == NULL || area->list == NULL)
		return -ENOMEM;
	memcpy(found, area->wanted, switches);
	// For now it is the queue of a search upwards.
	memcpy(area->list, job->rows, count * sizeof(*area->list));
	for (uint32_t k = 0; k < count; k++)
		count = add_parents(order, area->list[k], found, area->list, count);
	for (uint32_t k = 0; k < order->placed_count; k++) {
		const uint32_t at = order->top_down[k];
		const bool on_top = order->up_first[at] == order->up_first[at + 1];

		if (area->wanted[at] || (found[at] && !on_top))
			area->list[area->list_count++] = at;
	}
	return 0;
}

static int find_touched(struct job *job, const struct topo_state *before)
{
	const uint32_t switches = job->order->topo->switch_count;
	int rc;

	job->rows = arena_take_raw(job->scratch, switches, sizeof(*job->rows));
	job->touched.wanted = arena_take(job->scratch, switches, sizeof(*job->touched.wanted));
	job->ends.wanted = arena_take_raw(job->scratch, switches, sizeof(*job->ends.wanted));
	if (job->rows == NULL || job->touched.wanted == NULL || job->ends.wanted == NULL)
		return -ENOMEM;
	touch_changes(job, before);
	memcpy(job->ends.wanted, job->touched.wanted, switches);
	job->ends.row_count = job->touched.row_count;
	// And all below, by links of the topology: what has been lost may be what changed.
	for (uint32_t k = 0; k < job->touched.row_count; k++)
		touch_children(job, job->rows[k]);
	rc = list_above(job, &job->ends);
	return rc == 0 ? list_above(job, &job->touched) : rc;
}

static int replan_touched(struct job *job, const struct topo_state *before)
{
	int rc = find_touched(job, before);

	if (rc != 0 || job->ends.row_count == 0)
		return rc;
	rc = begin(job);
	return rc == 0 ? plan_classes(job) : rc;
}

// All over again, without groups that nothing may use any more.
static bool plan_anew(const struct job *job, struct plan_fault *fault)
{
	plan_forget_groups(job->plan);
	return valley_free_plan(job->order, job->state, job->options, job->scratch, job->plan,
				fault);
}

bool valley_free_replan(const struct order *order, const struct topo_state *before,
			const struct topo_state *after, const struct valley_free_options *options,
			struct arena *scratch, struct plan *plan, struct plan_fault *fault)
{
	const size_t mark = arena_mark(scratch);
	const bool whole = reach_is_whole(order->topo, plan);
	struct job job = {
		.order = order,
		.state = after,
		.options = options,
		.scratch = scratch,
		.plan = plan,
	};
	int rc;

	// What a bound leaves to an edge depends on all the others.
	if (options->weights == VALLEY_FREE_EXACT && options->churn_rows != VALLEY_FREE_ANY_CHURN)
		return plan_anew(&job, fault);
	*fault = (struct plan_fault){ .kind = PLAN_FAULT_NONE };
	rc = replan_touched(&job, before);
	arena_release(scratch, mark);
	if (rc == -EOVERFLOW)
		return plan_anew(&job, fault);
	if (rc != 0)
		return fail(fault, rc);
	// A link that returns may connect what rows cannot.
	if (options->partial || (whole && !job.walk.parted))
		return true;
	return reach_check(order->topo, after, plan, scratch, fault);
}
