// SPDX-License-Identifier: BSD-3-Clause
//
// Sweeping over failures: the state is the base but for one cable or switch, which is mended before
// the next one is broken.
//
// Pairs of hosts of a lost switch are left out of what is unreachable: nobody could save them.

#include "routing/sweep.h"

#include <errno.h>
#include <string.h>

int sweep_begin(const struct topo *topo, const struct topo_state *base, struct arena *keep,
		struct sweep *sweep)
{
	*sweep = (struct sweep){
		.topo = topo,
		.base = base,
		.load = arena_take_raw(keep, topo->link_count, sizeof(*sweep->load)),
	};
	if (topo_state_init(topo, keep, &sweep->state) != 0 || sweep->load == NULL)
		return -ENOMEM;
	topo_state_copy(topo, base, &sweep->state);
	return 0;
}

static void set_case(struct sweep *sweep, bool lost)
{
	const uint32_t n = sweep->now.number;

	if (sweep->now.kind == SWEEP_SWITCH) {
		sweep->state.switch_lost[n] = lost || sweep->base->switch_lost[n];
		return;
	}
	sweep->state.link_lost[n] = lost || sweep->base->link_lost[n];
	sweep->state.link_lost[sweep->topo->link_peer[n]] =
		lost || sweep->base->link_lost[sweep->topo->link_peer[n]];
}

// Whether there is something left to break: of a cable the end with the lower number.
static bool is_case(const struct sweep *sweep)
{
	const uint32_t n = sweep->now.number;

	if (sweep->now.kind == SWEEP_SWITCH)
		return !sweep->base->switch_lost[n];
	return n < sweep->topo->link_peer[n] && topo_link_up(sweep->topo, sweep->base, n);
}

static bool advance(struct sweep *sweep)
{
	if (sweep->begun)
		sweep->now.number++;
	sweep->begun = true;
	if (sweep->now.kind == SWEEP_CABLE && sweep->now.number == sweep->topo->link_count)
		sweep->now = (struct sweep_case){ SWEEP_SWITCH, 0 };
	return sweep->now.kind == SWEEP_CABLE || sweep->now.number < sweep->topo->switch_count;
}

bool sweep_next(struct sweep *sweep)
{
	if (sweep->begun)
		set_case(sweep, false);
	while (advance(sweep)) {
		if (!is_case(sweep))
			continue;
		set_case(sweep, true);
		return true;
	}
	return false;
}

// Ordered pairs of which one host at least is at a lost switch.
static uint64_t lost_pairs(const struct sweep *sweep)
{
	const struct topo *topo = sweep->topo;
	const uint64_t all = topo->host_count;
	uint64_t left = all;

	for (uint32_t e = 0; e < topo->edge_count; e++) {
		if (sweep->state.switch_lost[topo->edge_switch[e]])
			left -= topo_edge_hosts(topo, e);
	}
	return all * all - all - (left * left - left);
}

static bool is_safe(const struct verify_report *report)
{
	struct verify_report rest = *report;

	rest.violation_count[VIOLATION_NO_ROUTE] = 0;
	rest.unreachable_pairs = rest.parted_pairs;
	return verify_good(&rest);
}

static void note_first(uint32_t *count, struct sweep_case *first, struct sweep_case now)
{
	if ((*count)++ == 0)
		*first = now;
}

static void note(struct sweep *sweep, struct sweep_result *result)
{
	const struct verify_report *report = &sweep->report;
	const uint64_t unreachable = report->unreachable_pairs - lost_pairs(sweep);

	if (!is_safe(report))
		note_first(&result->unsafe, &result->first_unsafe, sweep->now);
	result->unrouted += report->unreachable_pairs != report->parted_pairs;
	result->cutting += report->parted_pairs != lost_pairs(sweep);
	if (unreachable > result->unreachable_worst) {
		result->unreachable_worst = unreachable;
		result->worst_cut = sweep->now;
	}
	if (sweep->balance.all.max > result->load_worst) {
		result->load_worst = sweep->balance.all.max;
		result->worst_load = sweep->now;
	}
	if (report->lanes > result->lanes_worst)
		result->lanes_worst = report->lanes;
	if (report->hops_max > result->hops_worst)
		result->hops_worst = report->hops_max;
}

int sweep_judge(struct sweep *sweep, const struct plan *plan, struct arena *scratch)
{
	struct sweep_result *result = &sweep->result[sweep->now.kind];
	const size_t mark = arena_mark(scratch);
	int rc;

	result->count++;
	if (plan == NULL) {
		note_first(&result->refused, &result->first_refused, sweep->now);
		return 0;
	}
	// Paths of violations are not kept: the case can be verified again.
	rc = verify_plan(sweep->topo, &sweep->state, plan, true, scratch, scratch, &sweep->report);
	if (rc == 0)
		rc = balance_all_pairs(sweep->topo, &sweep->state, plan, scratch, sweep->load,
				       &sweep->balance);
	if (rc == 0)
		note(sweep, result);
	arena_release(scratch, mark);
	return rc;
}
