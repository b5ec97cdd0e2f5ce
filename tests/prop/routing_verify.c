// SPDX-License-Identifier: BSD-3-Clause
//
// The verifier against brute force: small random graphs with losses, rows that are mostly wrong
// somewhere, and random rules. Here states are found breadth first, failures and hops are spread
// until nothing changes, and cycles are looked up in the transitive closure.

#include "routing/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rig/routes.h"
#include "tests/rig/spoil.h"
#include "tests/table.h"

enum {
	SWITCHES = 7,
	LINKS = 2 * (SWITCHES + 6),
	LANES = 2,
	PAIRS = LINKS * LANES,
	STATES = PAIRS + SWITCHES, // (link, lane), then hosts of a switch
};

// What brute force knows of one edge, and of all.
struct brute {
	const struct graph *g;
	const struct plan *plan;
	bool with_turns;
	uint32_t edge;
	bool seen[STATES];
	bool leads[STATES][STATES];
	double share[STATES][STATES];
	bool failed[STATES];
	uint8_t faults[SWITCHES];
	bool held[PAIRS][PAIRS];
	struct verify_report want;
	double hop_sum;
};

static bool is_host(uint32_t state)
{
	return state >= PAIRS;
}

static uint32_t at_of(const struct brute *b, uint32_t state)
{
	return is_host(state) ? state - PAIRS : topo_far(&b->g->topo, state / LANES);
}

static bool connected(const struct graph *g, uint32_t a, uint32_t b)
{
	bool reached[SWITCHES] = { false };

	reached[a] = !g->state.switch_lost[a] && !g->state.switch_lost[b];
	for (uint32_t i = 0; i < SWITCHES * g->topo.link_count; i++) {
		const uint32_t l = i % g->topo.link_count;

		if (reached[g->topo.link_switch[l]] && topo_link_up(&g->topo, &g->state, l))
			reached[topo_far(&g->topo, l)] = true;
	}
	return reached[b];
}

static uint8_t lane_to(const struct brute *b, uint32_t state, uint32_t out)
{
	const uint32_t lane = is_host(state) ? 0 : state % LANES;
	const uint32_t in = is_host(state) ? TOPO_NONE : b->g->topo.link_peer[state / LANES];
	uint8_t to;

	if (!b->with_turns)
		return 0;
	to = turn_rules_get(&b->plan->turns, in, out, lane);
	return to < b->plan->turns.lane_count ? to : TURN_DENY;
}

static void fault(struct brute *b, uint32_t state, enum violation_kind kind)
{
	b->failed[state] = true;
	b->faults[at_of(b, state)] |= (uint8_t)(1 << kind);
}

static void look_at_member(struct brute *b, uint32_t state, const struct plan_hop *hop,
			   double share)
{
	const uint32_t at = at_of(b, state);
	const uint32_t out = b->g->topo.link_first[at] + hop->link;
	uint8_t to;

	if (hop->link >= topo_degree(&b->g->topo, at)) {
		fault(b, state, VIOLATION_BAD_ROW);
		return;
	}
	if (!topo_link_up(&b->g->topo, &b->g->state, out)) {
		fault(b, state, VIOLATION_LOST_LINK);
		return;
	}
	to = lane_to(b, state, out);
	if (to == TURN_DENY) {
		fault(b, state, VIOLATION_TURN_DENIED);
		return;
	}
	b->leads[state][out * LANES + to] = true;
	b->share[state][out * LANES + to] += share;
	b->seen[out * LANES + to] = true;
	if (!is_host(state))
		b->held[state][out * LANES + to] = true;
	if (to + 1u > b->want.lanes)
		b->want.lanes = to + 1u;
}

static void look_at(struct brute *b, uint32_t state)
{
	const uint32_t at = at_of(b, state);
	const uint32_t root = b->g->topo.edge_switch[b->edge];
	const uint16_t row = plan_rows(b->plan, b->edge)[at];
	const struct plan_group *group;
	double sum = 0;

	if (row == PLAN_LOCAL && at == root)
		return;
	if (row == PLAN_NONE) {
		b->failed[state] = true;
		if (connected(b->g, at, root))
			fault(b, state, VIOLATION_NO_ROUTE);
		return;
	}
	if (row >= b->plan->group_count) {
		fault(b, state, VIOLATION_BAD_ROW);
		return;
	}
	group = &b->plan->group[row];
	for (uint32_t i = 0; i < group->hop_count; i++)
		sum += group->pin != 0 ? 1 : b->plan->hop[group->first + i].weight;
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const struct plan_hop *hop = &b->plan->hop[group->first + i];

		look_at_member(b, state, hop, (group->pin != 0 ? 1 : hop->weight) / sum);
	}
}

// Each state that is seen is looked at once.
static void find_states(struct brute *b)
{
	bool looked[STATES] = { false };

	for (uint32_t i = 0; i < STATES * STATES; i++) {
		const uint32_t state = i % STATES;

		if (b->seen[state] && !looked[state])
			look_at(b, state);
		looked[state] = b->seen[state];
	}
}

// Transitive closure (Warshall 1962).
static void close(bool *reach, uint32_t n)
{
	for (uint32_t i = 0; i < n * n; i++) {
		const bool *through = &reach[i / n * n];
		bool *from = &reach[i % n * n];

		for (uint32_t j = 0; from[i / n] && j < n; j++)
			from[j] |= through[j];
	}
}

static double mean_hops(const struct brute *b, uint32_t state, const double *hops,
			uint32_t *longest)
{
	double sum = 0;

	for (uint32_t t = 0; t < STATES; t++) {
		if (!b->leads[state][t])
			continue;
		sum += b->share[state][t] * (1 + hops[t]);
		if (longest[t] + 1 > longest[state] && longest[t] < STATES)
			longest[state] = longest[t] + 1;
	}
	return sum;
}

// After as many rounds as a path may have hops nothing changes any more.
static void find_hops(const struct brute *b, double *hops, uint32_t *longest)
{
	for (uint32_t i = 0; i < STATES * STATES; i++)
		hops[i % STATES] = mean_hops(b, i % STATES, hops, longest);
}

static void judge_pairs(struct brute *b, uint32_t from_edge, bool good, double hops,
			uint32_t longest)
{
	const struct topo *topo = &b->g->topo;
	const uint32_t source = topo->edge_switch[from_edge];
	const bool same = from_edge == b->edge;
	const uint64_t hosts = topo_edge_hosts(topo, from_edge);
	const uint64_t pairs = hosts * (topo_edge_hosts(topo, b->edge) - same);

	if (good || (same && b->seen[PAIRS + source])) {
		b->want.reachable_pairs += pairs;
		b->hop_sum += same ? 0 : (double)pairs * hops;
		if (!same && pairs != 0 && longest > b->want.hops_max)
			b->want.hops_max = longest;
		return;
	}
	b->want.unreachable_pairs += pairs;
	if (!connected(b->g, source, topo->edge_switch[b->edge]))
		b->want.parted_pairs += pairs;
}

static void judge_source(struct brute *b, uint32_t source, const double *hops,
			 const uint32_t *longest, const bool (*reach)[STATES])
{
	const uint32_t state = PAIRS + source;
	bool good = b->seen[state];
	bool loops = false;

	for (uint32_t t = 0; t < STATES; t++) {
		const bool reached = t == state || reach[state][t];

		good = good && !(reached && (b->failed[t] || reach[t][t]));
		loops |= b->seen[state] && reached && reach[t][t];
	}
	b->want.loops += loops;
	for (uint32_t e = 0; e < b->g->topo.edge_count; e++) {
		if (b->g->topo.edge_switch[e] == source)
			judge_pairs(b, e, good, hops[state], longest[state]);
	}
}

static void judge_edge(struct brute *b)
{
	static bool reach[STATES][STATES];
	const struct topo *topo = &b->g->topo;
	double hops[STATES] = { 0 };
	uint32_t longest[STATES] = { 0 };
	bool has_hosts[SWITCHES] = { false };

	memset(b->seen, 0, sizeof(b->seen));
	memset(b->leads, 0, sizeof(b->leads));
	memset(b->share, 0, sizeof(b->share));
	memset(b->failed, 0, sizeof(b->failed));
	memset(b->faults, 0, sizeof(b->faults));
	for (uint32_t e = 0; e < topo->edge_count; e++) {
		const uint32_t at = topo->edge_switch[e];

		has_hosts[at] |= topo_edge_hosts(topo, e) != 0;
		b->seen[PAIRS + at] |= has_hosts[at] && !b->g->state.switch_lost[at];
	}
	find_states(b);
	find_hops(b, hops, longest);
	memcpy(reach, b->leads, sizeof(reach));
	close(&reach[0][0], STATES);
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		if (has_hosts[s])
			judge_source(b, s, hops, longest, reach);
		for (uint32_t kind = 0; kind < VIOLATION_KINDS; kind++)
			b->want.violation_count[kind] += b->faults[s] >> kind & 1;
	}
}

static bool any_cycle(const bool (*graph)[PAIRS])
{
	static bool reach[PAIRS][PAIRS];
	bool found = false;

	memcpy(reach, graph, sizeof(reach));
	close(&reach[0][0], PAIRS);
	for (uint32_t v = 0; v < PAIRS; v++)
		found |= reach[v][v];
	return found;
}

static bool rules_have_cycle(struct brute *b)
{
	static bool allowed[PAIRS][PAIRS];
	const struct topo *topo = &b->g->topo;
	const uint32_t pairs = topo->link_count * LANES;

	memset(allowed, 0, sizeof(allowed));
	for (uint32_t i = 0; i < pairs * topo->link_count; i++) {
		const uint32_t in = i % pairs;
		const uint32_t out = i / pairs;
		const uint8_t to = lane_to(b, in, out);

		if (topo_far(topo, in / LANES) == topo->link_switch[out] &&
		    in % LANES < b->plan->turns.lane_count &&
		    topo_link_up(topo, &b->g->state, in / LANES) &&
		    topo_link_up(topo, &b->g->state, out) && to != TURN_DENY)
			allowed[in][out * LANES + to] = true;
	}
	return any_cycle((const bool(*)[PAIRS])allowed);
}

static void judge(struct brute *b)
{
	for (b->edge = 0; b->edge < b->g->topo.edge_count; b->edge++)
		judge_edge(b);
	b->want.violation_count[VIOLATION_LOOP] = b->want.loops;
	b->want.rows_acyclic = !any_cycle((const bool(*)[PAIRS])b->held);
	b->want.turns_acyclic = !b->with_turns || !rules_have_cycle(b);
	if (b->want.reachable_pairs != 0)
		b->want.hops_avg = b->hop_sum / (double)b->want.reachable_pairs;
}

static void check_same(const struct verify_report *got, const struct verify_report *want)
{
	cr_assert_eq(got->reachable_pairs, want->reachable_pairs);
	cr_assert_eq(got->unreachable_pairs, want->unreachable_pairs);
	cr_assert_eq(got->parted_pairs, want->parted_pairs);
	cr_assert_eq(got->loops, want->loops, "%lu loops, %lu", got->loops, want->loops);
	for (uint32_t kind = 0; kind < VIOLATION_KINDS; kind++)
		cr_assert_eq(got->violation_count[kind], want->violation_count[kind],
			     "kind %u: %lu, not %lu", kind, got->violation_count[kind],
			     want->violation_count[kind]);
	cr_assert_eq(got->rows_acyclic, want->rows_acyclic);
	cr_assert_eq(got->turns_acyclic, want->turns_acyclic);
	cr_assert_eq(got->lanes, want->lanes);
	cr_assert_eq(got->hops_max, want->hops_max, "%u hops, not %u", got->hops_max,
		     want->hops_max);
	cr_assert_lt(fabs(got->hops_avg - want->hops_avg), 1e-9, "%f, %f", got->hops_avg,
		     want->hops_avg);
}

// A violation must be a path that a packet can take, to where it says.
static void check_path(const struct brute *b, const struct violation *v)
{
	uint32_t state = PAIRS + v->from;
	uint32_t visits[SWITCHES] = { 0 };

	visits[v->from]++;
	for (uint32_t i = 0; i < v->hop_count; i++) {
		const struct violation_hop *hop = &v->hop[i];
		const bool last = i + 1 == v->hop_count;
		const bool up = topo_link_up(&b->g->topo, &b->g->state, hop->link);
		const uint8_t to = lane_to(b, state, hop->link);

		cr_assert_eq(b->g->topo.link_switch[hop->link], at_of(b, state));
		if (last && v->kind == VIOLATION_LOST_LINK) {
			cr_assert_not(up);
			return;
		}
		if (last && v->kind == VIOLATION_TURN_DENIED) {
			cr_assert_eq(to, TURN_DENY);
			return;
		}
		cr_assert(up);
		cr_assert_eq(to, hop->lane);
		state = hop->link * LANES + to;
		visits[at_of(b, state)]++;
	}
	if (v->kind == VIOLATION_LOOP)
		cr_assert_eq(visits[at_of(b, state)], 2);
	else
		cr_assert_eq(at_of(b, state), v->at);
}

static void check_cycle(const struct brute *b, const struct verify_report *got)
{
	for (uint32_t i = 0; i < got->cycle_count; i++) {
		const struct violation_hop *hop = &got->cycle[i];
		const struct violation_hop *next = &got->cycle[(i + 1) % got->cycle_count];
		const uint32_t pair = hop->link * LANES + hop->lane;

		cr_assert_eq(topo_far(&b->g->topo, hop->link), b->g->topo.link_switch[next->link]);
		cr_assert_eq(lane_to(b, pair, next->link), next->lane);
		if (!got->rows_acyclic)
			cr_assert(b->held[pair][next->link * LANES + next->lane]);
	}
	cr_assert_eq(got->cycle_count == 0, got->rows_acyclic && got->turns_acyclic);
}

static void compare(struct rng *rng)
{
	static struct brute b;
	struct verify_report got;
	struct plan plan;
	struct graph g;

	graph_random(&g, rng, 2 + rng_below(rng, SWITCHES - 1), rng_below(rng, 7));
	if (rng_below(rng, 2) == 0)
		spoil_links(rng, &g);
	cr_assert_eq(plan_init(&g.topo, &g.keep, &plan), 0);
	routes_shortest(&g, &plan);
	routes_allow_all(&g, &plan);
	if (rng_below(rng, 3) != 0)
		spoil_rows(rng, &g, &plan, 2 + rng_below(rng, 40));
	if (rng_below(rng, 2) == 0)
		spoil_links(rng, &g);
	if (rng_below(rng, 2) == 0)
		spoil_rules(rng, &g, &plan, LANES);
	b = (struct brute){ .g = &g, .plan = &plan, .with_turns = rng_below(rng, 4) != 0 };
	judge(&b);
	cr_assert_eq(verify_plan(&g.topo, &g.state, &plan, b.with_turns, &g.keep, &g.scratch, &got),
		     0);
	cr_assert_eq(g.scratch.used, 0);
	check_same(&got, &b.want);
	for (uint32_t i = 0; i < got.violation_kept; i++)
		check_path(&b, &got.violation[i]);
	check_cycle(&b, &got);
	graph_free(&g);
}

SEED_TEST(verify, agrees_with_brute_force, rng, 20)
{
	for (uint32_t i = 0; i < 30; i++)
		compare(rng);
}
