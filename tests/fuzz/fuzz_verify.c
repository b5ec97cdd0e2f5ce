// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of what reads plans: verifier, traces and balance. The input makes a small graph and
// a plan whose rows, groups and rules are any numbers:
//
//   switches, cables, edges, groups, hops, exceptions (a byte each), then a few bytes for each
//
// Checked: nothing beyond the plan's arrays is read; every pair is counted once; paths are made of
// links that there are; in a plan that is good every trace arrives.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "routing/balance.h"
#include "routing/trace.h"
#include "tests/fuzz/fuzz.h"

enum {
	SWITCHES = 12,
	CABLES = 24,
	EDGES = 8,
	GROUPS = 16,
	HOPS = 32,
	EXCEPTIONS = 8,
	ARENA = 1 << 20,
	TRACES = 64,
};

struct input {
	const uint8_t *data;
	size_t size;
};

struct scene {
	struct arena keep;
	struct arena scratch;
	struct topo topo;
	struct topo_state state;
	struct plan plan;
};

static uint32_t next(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

// Up to `most`, or any byte if that is 0.
static uint32_t next_of(struct input *in, uint32_t most)
{
	return most == 0 ? next(in) : next(in) % (most + 1);
}

// Memory of its own, so that a sanitiser sees where it ends.
static void *own(size_t count, size_t bytes)
{
	void *memory = calloc(count == 0 ? 1 : count, bytes);

	WEFT_CHECK(memory != NULL);
	return memory;
}

static bool make_topo(struct input *in, struct scene *s)
{
	struct topo_cable cables[CABLES] = { 0 };
	struct topo_edge edges[EDGES] = { 0 };
	const uint32_t switches = 1 + next_of(in, SWITCHES - 1);
	const uint32_t cable_count = next_of(in, CABLES);
	const uint32_t edge_count = next_of(in, EDGES);
	uint32_t at;

	for (uint32_t i = 0; i < cable_count; i++) {
		for (uint32_t end = 0; end < 2; end++) {
			cables[i].end_switch[end] = next_of(in, switches - 1);
			cables[i].end_port[end] = (uint16_t)(2 * i + end);
		}
		cables[i].weight = (uint16_t)(1 + next_of(in, 3));
	}
	for (uint32_t i = 0; i < edge_count; i++)
		edges[i] = (struct topo_edge){ next_of(in, switches - 1), next_of(in, 3) };
	if (topo_build(switches, cables, cable_count, edges, edge_count, &s->keep, &s->scratch,
		       &s->topo, &at) != TOPO_GOOD)
		return false;
	WEFT_CHECK(topo_state_init(&s->topo, &s->keep, &s->state) == 0);
	for (uint32_t l = 0; l < s->topo.link_count; l++)
		s->state.link_lost[l] = next_of(in, 15) == 1;
	for (uint32_t i = 0; i < switches; i++)
		s->state.switch_lost[i] = next_of(in, 15) == 1;
	return true;
}

static void make_groups(struct input *in, struct plan *plan)
{
	plan->group_count = next_of(in, GROUPS);
	plan->hop_count = next_of(in, HOPS);
	plan->group = own(plan->group_count, sizeof(*plan->group));
	plan->hop = own(plan->hop_count, sizeof(*plan->hop));
	for (uint32_t i = 0; i < plan->group_count; i++)
		plan->group[i] = (struct plan_group){
			.first = next_of(in, HOPS),
			.hop_count = (uint16_t)next_of(in, 7),
			.pin = next_of(in, 3),
		};
	for (uint32_t i = 0; i < plan->hop_count; i++) {
		const uint32_t link = next_of(in, 6);

		plan->hop[i] = (struct plan_hop){ (uint16_t)(link == 6 ? UINT16_MAX : link),
						  (uint16_t)next_of(in, 3) };
	}
}

static void make_rules(struct input *in, const struct topo *topo, struct turn_rules *rules)
{
	static const uint32_t lanes[] = { 1, 1, 2, 2, LANE_MAX, LANE_MAX + 1, 0, UINT32_MAX };
	const uint32_t classes = next_of(in, 5);
	const size_t turns = (size_t)classes * classes * LANE_MAX;

	*rules = (struct turn_rules){
		.lane_count = lanes[next_of(in, 7)],
		.class_count = classes == 5 ? UINT32_MAX : classes,
		.link_class = own(topo->link_count, 1),
		.lane = own(turns, 1),
		.exception_count = next_of(in, EXCEPTIONS),
	};
	rules->exception = own(rules->exception_count, sizeof(*rules->exception));
	for (uint32_t i = 0; i < turns; i++)
		rules->lane[i] = (uint8_t)(next(in) & 0x83);
	for (uint32_t i = 0; i < topo->link_count; i++)
		rules->link_class[i] = (uint8_t)next_of(in, 4);
	for (uint32_t i = 0; i < rules->exception_count; i++) {
		const uint32_t links = topo->link_count;
		const uint32_t from = next_of(in, links);

		rules->exception[i] = (struct turn_exception){
			.in = from == links ? TOPO_NONE : from,
			.out = next_of(in, links),
			.lane = (uint8_t)next_of(in, 2),
			.to = (uint8_t)(next(in) & 0x83),
		};
	}
}

static void make_plan(struct input *in, struct scene *s)
{
	const uint32_t rows = s->topo.switch_count * s->topo.edge_count;

	s->plan = (struct plan){
		.switch_count = s->topo.switch_count,
		.edge_count = s->topo.edge_count,
		.row = own(rows, sizeof(*s->plan.row)),
		.tier_count = 1,
		.link_tier = own(s->topo.link_count, 1),
	};
	make_groups(in, &s->plan);
	for (uint32_t i = 0; i < rows; i++) {
		const uint32_t row = next_of(in, 0);

		s->plan.row[i] = row >= 0xf0 ? PLAN_NONE : (uint16_t)(row % (GROUPS + 1));
		// Edges mostly are where they are, and now and then somewhere else.
		if (row == 0xef || (row < 0xe0 && s->topo.edge_switch[i / s->topo.switch_count] ==
							  i % s->topo.switch_count))
			s->plan.row[i] = PLAN_LOCAL;
	}
	make_rules(in, &s->topo, &s->plan.turns);
}

static void check_report(const struct scene *s, const struct verify_report *report)
{
	const uint64_t hosts = s->topo.host_count;

	WEFT_CHECK(report->reachable_pairs + report->unreachable_pairs == hosts * hosts - hosts);
	WEFT_CHECK(report->parted_pairs <= report->unreachable_pairs);
	WEFT_CHECK(report->violation_kept <= VERIFY_KEPT);
	WEFT_CHECK(report->violation_count[VIOLATION_LOOP] == report->loops);
	for (uint32_t i = 0; i < report->violation_kept; i++) {
		const struct violation *v = &report->violation[i];

		WEFT_CHECK(v->at < s->topo.switch_count && v->edge < s->topo.edge_count);
		for (uint32_t h = 0; h < v->hop_count; h++)
			WEFT_CHECK(v->hop[h].link < s->topo.link_count);
	}
	for (uint32_t h = 0; h < report->cycle_count; h++)
		WEFT_CHECK(report->cycle[h].link < s->topo.link_count);
}

// From the first switch with hosts to each edge.
static void check_traces(struct scene *s, bool with_turns, bool good)
{
	const uint32_t from = s->topo.edge_switch[0];

	for (uint32_t e = 0; e < s->topo.edge_count; e++) {
		struct trace trace;

		WEFT_CHECK(trace_paths(&s->topo, &s->state, &s->plan, with_turns, from, e,
				       TOPO_NONE, TRACES, &s->keep, &s->scratch, &trace) == 0);
		for (uint32_t i = 0; i < trace.path_count; i++)
			WEFT_CHECK(trace.path[i].hop_count <= s->topo.switch_count);
		if (!good || topo_edge_hosts(&s->topo, 0) == 0 || s->state.switch_lost[from])
			continue;
		for (uint32_t i = 0; i < trace.path_count; i++)
			WEFT_CHECK(trace.path[i].end == TRACE_ARRIVES ||
				   trace.path[i].end == TRACE_NO_ROUTE);
	}
}

static void check(struct scene *s, bool with_turns)
{
	struct verify_report report;
	const int rc = verify_plan(&s->topo, &s->state, &s->plan, with_turns, &s->keep, &s->scratch,
				   &report);

	WEFT_CHECK(rc == 0 || (rc == -EINVAL && with_turns));
	WEFT_CHECK(s->scratch.used == 0);
	if (rc != 0)
		return;
	check_report(s, &report);
	if (s->topo.edge_count != 0)
		check_traces(s, with_turns, verify_good(&report));
}

static void check_balance(struct scene *s)
{
	const uint32_t hosts = s->topo.host_count;
	double *load = own(s->topo.link_count, sizeof(*load));
	struct hash_profile *hash = own(s->topo.switch_count, sizeof(*hash));
	uint32_t *to_host = own(hosts, sizeof(*to_host));
	struct balance_report report;
	struct balance_flows flows;

	WEFT_CHECK(balance_all_pairs(&s->topo, &s->state, &s->plan, &s->scratch, load, &report) ==
		   0);
	for (uint32_t i = 0; i < s->topo.switch_count; i++)
		hash[i] = (struct hash_profile){ .fields = HASH_FIELDS_DEFAULT, .seed = i };
	balance_shift(hosts, 1, to_host);
	WEFT_CHECK(balance_permutation(&s->topo, &s->state, &s->plan, hash, to_host, 1, &s->scratch,
				       &flows) == 0);
	WEFT_CHECK(flows.flow_count <= hosts && flows.max <= hosts);
	WEFT_CHECK(s->scratch.used == 0);
	free(load);
	free(hash);
	free(to_host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	static _Alignas(64) uint8_t keep[ARENA], scratch[ARENA];
	struct scene s = {
		.keep = { .memory = keep, .size = ARENA },
		.scratch = { .memory = scratch, .size = ARENA },
	};

	if (make_topo(&in, &s)) {
		make_plan(&in, &s);
		check(&s, true);
		check(&s, false);
		check_balance(&s);
		free(s.plan.row);
		free(s.plan.link_tier);
		free(s.plan.group);
		free(s.plan.hop);
		free(s.plan.turns.link_class);
		free(s.plan.turns.lane);
		free(s.plan.turns.exception);
	}
	return 0;
}
