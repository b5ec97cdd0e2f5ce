// SPDX-License-Identifier: BSD-3-Clause
//
// Verifying a plan: the graph that is left is cut into its parts, each edge is walked, and the
// lanes that were held are looked through for a cycle.

#include "routing/verify.h"

#include <errno.h>
#include <string.h>

#include "routing/verify_block.h"

// The neighbours of a switch that have no number yet get that of its part.
static void spread_part(struct verify_run *run, uint32_t at, uint32_t *queue, uint32_t *tail)
{
	const struct topo *topo = run->topo;

	run->part_host[run->part[at]] += run->hosts_at[at];
	for (uint32_t l = topo->link_first[at]; l < topo->link_first[at + 1]; l++) {
		const uint32_t far = topo_far(topo, l);

		if (!run->link_up[l] || run->part[far] != TOPO_NONE)
			continue;
		run->part[far] = run->part[at];
		queue[(*tail)++] = far;
	}
}

// Gives all switches that can be reached from `root` its number, breadth first.
static void fill_part(struct verify_run *run, uint32_t root, uint32_t *queue)
{
	uint32_t head = 0;
	uint32_t tail = 0;

	run->part[root] = root;
	queue[tail++] = root;
	while (head < tail)
		spread_part(run, queue[head++], queue, &tail);
}

static void find_parts(struct verify_run *run, const struct topo_state *state, uint32_t *queue)
{
	for (uint32_t s = 0; s < run->topo->switch_count; s++)
		run->part[s] = TOPO_NONE;
	for (uint32_t s = 0; s < run->topo->switch_count; s++) {
		if (run->part[s] == TOPO_NONE && !state->switch_lost[s])
			fill_part(run, s, queue);
	}
}

int verify_prepare(struct verify_run *run, const struct topo_state *state, bool with_turns,
		   struct arena *scratch)
{
	const struct topo *topo = run->topo;
	uint32_t *queue = arena_take_raw(scratch, topo->switch_count, sizeof(*queue));

	run->link_up = arena_take_raw(scratch, topo->link_count, sizeof(*run->link_up));
	run->part = arena_take_raw(scratch, topo->switch_count, sizeof(*run->part));
	run->hosts_at = arena_take(scratch, topo->switch_count, sizeof(*run->hosts_at));
	run->part_host = arena_take(scratch, topo->switch_count, sizeof(*run->part_host));
	if (queue == NULL || run->link_up == NULL || run->part == NULL || run->hosts_at == NULL ||
	    run->part_host == NULL)
		return -ENOMEM;
	for (uint32_t link = 0; link < topo->link_count; link++)
		run->link_up[link] = topo_link_up(topo, state, link);
	for (uint32_t e = 0; e < topo->edge_count; e++)
		run->hosts_at[topo->edge_switch[e]] += topo_edge_hosts(topo, e);
	find_parts(run, state, queue);
	return lane_graph_init(topo, run->link_up, with_turns ? &run->plan->turns : NULL, scratch,
			       &run->graph);
}

static bool is_exception_good(const struct topo *topo, const struct turn_exception *e)
{
	return e->out < topo->link_count &&
	       (e->in == TOPO_NONE || (e->in < topo->link_count &&
				       topo->link_switch[e->in] == topo->link_switch[e->out]));
}

static bool is_sorted(const struct turn_exception *a, const struct turn_exception *b)
{
	if (a->in != b->in)
		return a->in < b->in;
	return a->out != b->out ? a->out < b->out : a->lane < b->lane;
}

// Whether the rules can be looked up.
static bool rules_fit(const struct topo *topo, const struct turn_rules *rules)
{
	if (rules->lane_count < 1 || rules->lane_count > LANE_MAX || rules->class_count < 1 ||
	    rules->class_count > TURN_CLASS_MAX)
		return false;
	for (uint32_t link = 0; link < topo->link_count; link++) {
		if (rules->link_class[link] >= rules->class_count)
			return false;
	}
	for (uint32_t i = 0; i < rules->exception_count; i++) {
		const struct turn_exception *e = &rules->exception[i];

		if (!is_exception_good(topo, e) || (i > 0 && !is_sorted(e - 1, e)))
			return false;
	}
	return true;
}

static int find_cycles(struct verify_run *run, struct arena *scratch)
{
	struct verify_report *report = run->report;
	const struct violation_hop *cycle;
	uint32_t count;
	int rc = lane_graph_cycle(&run->graph, LANE_GRAPH_HELD, run->keep, scratch, &report->cycle,
				  &report->cycle_count);

	report->rows_acyclic = report->cycle_count == 0;
	report->turns_acyclic = true;
	if (rc != 0 || run->graph.rules == NULL)
		return rc;
	rc = lane_graph_cycle(&run->graph, LANE_GRAPH_ALLOWED, run->keep, scratch, &cycle, &count);
	report->turns_acyclic = count == 0;
	if (report->rows_acyclic) {
		report->cycle = cycle;
		report->cycle_count = count;
	}
	return rc;
}

static int verify(struct verify_run *run, const struct topo_state *state, bool with_turns,
		  struct arena *scratch)
{
	struct block block;
	struct walk walk;
	int rc = verify_prepare(run, state, with_turns, scratch);

	if (rc == 0)
		rc = block_init(run, scratch, &block);
	if (rc == 0)
		rc = walk_init(run, scratch, &walk);
	if (rc != 0)
		return rc;
	for (uint32_t e = 0; e < run->topo->edge_count; e += BLOCK_EDGES) {
		uint64_t suspect = block_verify(&block, e);

		for (; suspect != 0; suspect &= suspect - 1)
			walk_edge(&walk, e + (uint32_t)__builtin_ctzll(suspect));
	}
	if (run->report->reachable_pairs != 0)
		run->report->hops_avg = run->hop_sum / (double)run->report->reachable_pairs;
	return run->no_memory ? -ENOMEM : find_cycles(run, scratch);
}

int verify_plan(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		bool with_turns, struct arena *keep, struct arena *scratch,
		struct verify_report *report)
{
	const size_t mark = arena_mark(scratch);
	struct verify_run run = { .topo = topo, .plan = plan, .keep = keep, .report = report };
	int rc;

	*report = (struct verify_report){ 0 };
	if (plan->switch_count != topo->switch_count || plan->edge_count != topo->edge_count ||
	    (with_turns && !rules_fit(topo, &plan->turns)))
		return -EINVAL;
	rc = verify(&run, state, with_turns, scratch);
	arena_release(scratch, mark);
	return rc;
}

bool verify_safe(const struct verify_report *report)
{
	for (uint32_t kind = 0; kind < VIOLATION_KINDS; kind++) {
		if (kind != VIOLATION_NO_ROUTE && report->violation_count[kind] != 0)
			return false;
	}
	return report->rows_acyclic && report->turns_acyclic;
}

bool verify_good(const struct verify_report *report)
{
	return verify_safe(report) && report->violation_count[VIOLATION_NO_ROUTE] == 0 &&
	       report->unreachable_pairs == report->parted_pairs;
}
