// SPDX-License-Identifier: BSD-3-Clause
//
// The walk: depth first over states, with a stack of its own. The stack is the path of a packet, so
// it is what a violation is printed from. A state that is met while it is on the stack is a loop.
//
// A state fails when one of its members does; it comes back when one of them leads into a loop.

#include "routing/verify_walk.h"

#include <errno.h>
#include <string.h>

enum {
	KEPT_OF_A_KIND = VERIFY_KEPT / VIOLATION_KINDS,
	// Marks of a state.
	SEEN = 1,
	DONE = 2,
	FAILED = 4,
	LOOPS = 8,
	NOTED = 16,         // of a pair
	LEADS_KNOWN = 0x80, // of what was said of a switch
};

struct walk_frame {
	uint32_t state;
	uint32_t at;               // switch
	struct violation_hop over; // that led here, from a host: of link TOPO_NONE
	uint32_t position;         // of the member that is followed
	uint32_t longest;
	uint64_t weight; // of the members so far
	double hops;     // theirs, by weight
};

static uint32_t pair_count(const struct verify_run *run)
{
	return run->topo->link_count * run->graph.lanes;
}

// States: pairs on their own, pairs that are alike under the number of the first, and hosts.
static uint32_t host_state(const struct verify_run *run, uint32_t at)
{
	return 2 * pair_count(run) + at;
}

static int take_states(struct verify_run *run, struct arena *scratch, struct walk *w)
{
	const uint32_t states = host_state(run, run->topo->switch_count);

	w->mark = arena_take_raw(scratch, states, sizeof(*w->mark));
	w->hops = arena_take_raw(scratch, states, sizeof(*w->hops));
	w->longest = arena_take_raw(scratch, states, sizeof(*w->longest));
	w->stack = arena_take_raw(scratch, states, sizeof(*w->stack));
	return w->mark != NULL && w->hops != NULL && w->longest != NULL && w->stack != NULL ?
		       0 :
		       -ENOMEM;
}

int walk_init(struct verify_run *run, struct arena *scratch, struct walk *walk)
{
	const uint32_t pairs = pair_count(run);
	const uint32_t links = run->topo->link_count;
	const uint32_t switches = run->topo->switch_count;
	const uint32_t words = run->graph.words;

	*walk = (struct walk){
		.run = run,
		.first_alike = arena_take_raw(scratch, links, sizeof(*walk->first_alike)),
		.said = arena_take_raw(scratch, switches, sizeof(*walk->said)),
		.met = arena_take(scratch, switches, sizeof(*walk->met)),
		.state = arena_take_raw(scratch, pairs, sizeof(*walk->state)),
		.before = arena_take_raw(scratch, pairs, sizeof(*walk->before)),
		.last = arena_take_raw(scratch, 2 * (size_t)pairs, sizeof(*walk->last)),
		.leads = arena_take_raw(scratch, (size_t)switches * words, sizeof(*walk->leads)),
		.allowed = arena_take_raw(scratch, words, sizeof(*walk->allowed)),
	};
	if (take_states(run, scratch, walk) != 0 || walk->first_alike == NULL ||
	    walk->said == NULL || walk->met == NULL || walk->state == NULL ||
	    walk->before == NULL || walk->last == NULL || walk->leads == NULL ||
	    walk->allowed == NULL)
		return -ENOMEM;
	lane_graph_find_alike(&run->graph, walk->first_alike);
	return 0;
}

// The path on the stack and one more hop, if any; of a loop it ends where it meets a switch again.
static uint32_t copy_path(struct walk *w, enum violation_kind kind,
			  const struct violation_hop *last, struct violation_hop *hops,
			  uint32_t most)
{
	uint32_t count = 0;

	w->met_number++;
	w->met[w->stack[0].at] = w->met_number;
	for (uint32_t i = 1; i < w->depth && count < most; i++) {
		const uint32_t at = w->stack[i].at;

		hops[count++] = w->stack[i].over;
		if (kind == VIOLATION_LOOP && w->met[at] == w->met_number)
			return count;
		w->met[at] = w->met_number;
	}
	if (last != NULL && count < most)
		hops[count++] = *last;
	return count;
}

static void keep_violation(struct walk *w, enum violation_kind kind,
			   const struct violation_hop *last)
{
	struct verify_report *report = w->run->report;
	const uint32_t most = w->depth < VERIFY_PATH_MAX ? w->depth : VERIFY_PATH_MAX;
	struct violation_hop *hops;

	if (w->run->kept_of[kind] == KEPT_OF_A_KIND)
		return;
	hops = arena_take(w->run->keep, most, sizeof(*hops));
	if (hops == NULL) {
		w->run->no_memory = true;
		return;
	}
	w->run->kept_of[kind]++;
	report->violation[report->violation_kept++] = (struct violation){
		.kind = kind,
		.from = w->stack[0].at,
		.at = w->stack[w->depth - 1].at,
		.edge = w->edge,
		.hop_count = copy_path(w, kind, last, hops, most),
		.hop = hops,
	};
}

// The state on top of the stack is wrong; `last` is the hop that it would take, NULL: none.
static void fail(struct walk *w, enum violation_kind kind, const struct violation_hop *last)
{
	const struct walk_frame *top = &w->stack[w->depth - 1];

	w->mark[top->state] |= FAILED;
	if (w->said[top->at] >> kind & 1)
		return;
	w->said[top->at] |= (uint8_t)(1 << kind);
	w->run->report->violation_count[kind]++;
	keep_violation(w, kind, last);
}

// A state begins; what its row says when it is no group is judged here.
static void enter(struct walk *w, uint32_t state, uint32_t at, struct violation_hop over)
{
	const uint16_t row = w->row[at];

	w->stack[w->depth++] = (struct walk_frame){ .state = state, .at = at, .over = over };
	w->mark[state] = SEEN;
	if (row == PLAN_LOCAL && at == w->run->topo->edge_switch[w->edge])
		return;
	if (row != PLAN_NONE && verify_group(w->run->plan, row) == NULL)
		fail(w, VIOLATION_BAD_ROW, NULL);
	else if (row == PLAN_NONE && !verify_is_parted(w->run, at, w->edge))
		fail(w, VIOLATION_NO_ROUTE, NULL);
	else if (row == PLAN_NONE)
		w->mark[state] |= FAILED;
}

// A member whose state is known.
static void merge(struct walk *w, struct walk_frame *f, uint32_t state, uint32_t weight)
{
	w->mark[f->state] |= w->mark[state] & (FAILED | LOOPS);
	f->weight += weight;
	f->hops += weight * (w->hops[state] + 1);
	if (w->longest[state] + 1 > f->longest)
		f->longest = w->longest[state] + 1;
}

static void came_back(struct walk *w, const struct violation_hop *hop)
{
	struct walk_frame *f = &w->stack[w->depth - 1];

	w->mark[f->state] |= FAILED | LOOPS;
	keep_violation(w, VIOLATION_LOOP, hop);
}

// Where a member leads: what comes first on the way is judged, false when it does not go on.
static bool leads_on(struct walk *w, uint32_t local, struct violation_hop *hop)
{
	const struct verify_run *run = w->run;
	const struct walk_frame *f = &w->stack[w->depth - 1];
	uint8_t to;

	if (local >= topo_degree(run->topo, f->at)) {
		fail(w, VIOLATION_BAD_ROW, NULL);
		return false;
	}
	*hop = (struct violation_hop){
		.link = run->topo->link_first[f->at] + local,
		.lane = f->over.lane,
	};
	if (!run->link_up[hop->link]) {
		fail(w, VIOLATION_LOST_LINK, hop);
		return false;
	}
	to = lane_graph_turn(&run->graph, f->over.link, hop->link, hop->lane);
	if (to == TURN_DENY) {
		fail(w, VIOLATION_TURN_DENIED, hop);
		return false;
	}
	hop->lane = to;
	return true;
}

// The links of a switch's row as bits.
static const uint64_t *find_leads(struct walk *w, uint32_t at)
{
	const struct plan *plan = w->run->plan;
	const struct plan_group *g = verify_group(plan, w->row[at]);
	const uint32_t words = w->run->graph.words;
	uint64_t *leads = w->leads + (size_t)at * words;

	if (w->said[at] & LEADS_KNOWN)
		return leads;
	w->said[at] |= LEADS_KNOWN;
	memset(leads, 0, words * sizeof(*leads));
	for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
		const uint32_t local = plan->hop[g->first + i].link;

		if (local < topo_degree(w->run->topo, at))
			leads[local / 64] |= 1ull << local % 64;
	}
	return leads;
}

// The state of a packet that came over a link: of its own if that may matter.
static uint32_t state_of(struct walk *w, const struct violation_hop *hop)
{
	const struct verify_run *run = w->run;
	const uint32_t in = run->topo->link_peer[hop->link];
	const uint32_t at = run->topo->link_switch[in];
	const uint32_t local = in - run->topo->link_first[at];
	uint32_t link = hop->link;

	if (run->graph.rules == NULL ||
	    (!run->graph.special[at] && !(find_leads(w, at)[local / 64] >> local % 64 & 1)))
		link = run->topo->link_count + w->first_alike[hop->link];
	return link * run->graph.lanes + hop->lane;
}

// Notes that a packet was in a state by a link and lane, once for each edge.
static void note_pair(struct walk *w, uint32_t state, const struct violation_hop *hop)
{
	const uint32_t pair = hop->link * w->run->graph.lanes + hop->lane;

	if (hop->lane + 1u > w->run->report->lanes)
		w->run->report->lanes = hop->lane + 1u;
	if (w->mark[state] == 0) {
		w->state[w->state_count++] = state;
		w->last[state] = TOPO_NONE;
	} else if (w->mark[pair] != 0) {
		return;
	}
	w->mark[pair] |= NOTED;
	w->before[pair] = w->last[state];
	w->last[state] = pair;
}

// Follows one member; a state that is new is entered first, and the member comes again behind it.
static void follow(struct walk *w, const struct plan_group *g, const struct plan_hop *member)
{
	struct walk_frame *f = &w->stack[w->depth - 1];
	struct violation_hop hop;
	uint32_t state;
	bool is_new;

	if (!leads_on(w, member->link, &hop)) {
		f->position++;
		return;
	}
	state = state_of(w, &hop);
	is_new = w->mark[state] == 0;
	note_pair(w, state, &hop);
	if (is_new) {
		enter(w, state, topo_far(w->run->topo, hop.link), hop);
		return;
	}
	f->position++;
	if (w->mark[state] & DONE)
		merge(w, f, state, g->pin != 0 ? 1 : member->weight);
	else
		came_back(w, &hop);
}

// The links that packets leave by, coming by a pair.
static void find_allowed(struct walk *w, uint32_t pair)
{
	const struct verify_run *run = w->run;
	const uint32_t over = pair / run->graph.lanes;
	const uint32_t at = topo_far(run->topo, over);
	const struct plan_group *g = verify_group(run->plan, w->row[at]);

	memset(w->allowed, 0, run->graph.words * sizeof(*w->allowed));
	for (uint32_t i = 0; g != NULL && i < g->hop_count; i++) {
		const uint32_t local = run->plan->hop[g->first + i].link;
		const uint32_t out = run->topo->link_first[at] + local;

		if (local < topo_degree(run->topo, at) && run->link_up[out] &&
		    lane_graph_turn(&run->graph, over, out, pair % run->graph.lanes) != TURN_DENY)
			w->allowed[local / 64] |= 1ull << local % 64;
	}
}

static void hold(const struct walk *w, uint32_t pair)
{
	const struct lane_graph *graph = &w->run->graph;
	uint64_t *held = lane_graph_held(graph, pair / graph->lanes, pair % graph->lanes);

	for (uint32_t i = 0; i < graph->words; i++)
		held[i] |= w->allowed[i];
}

// Enters the dependencies of all pairs that were noted: those of a state are alike.
static void hold_pairs(struct walk *w)
{
	for (uint32_t i = 0; i < w->state_count; i++) {
		const uint32_t last = w->last[w->state[i]];

		find_allowed(w, last);
		for (uint32_t pair = last; pair != TOPO_NONE; pair = w->before[pair])
			hold(w, pair);
	}
}

static void finish(struct walk *w)
{
	const struct walk_frame *f = &w->stack[--w->depth];

	w->mark[f->state] |= DONE;
	w->longest[f->state] = f->longest;
	w->hops[f->state] = f->weight == 0 ? 0 : f->hops / (double)f->weight;
}

static void walk_from(struct walk *w, uint32_t state, uint32_t source)
{
	const struct violation_hop sent = { .link = TOPO_NONE, .lane = 0 };
	const struct plan *plan = w->run->plan;

	w->depth = 0;
	enter(w, state, source, sent);
	while (w->depth > 0) {
		const struct walk_frame *f = &w->stack[w->depth - 1];
		const struct plan_group *g = verify_group(plan, w->row[f->at]);

		if (g == NULL || f->position == g->hop_count)
			finish(w);
		else
			follow(w, g, &plan->hop[g->first + f->position]);
	}
}

// Pairs from the hosts of a switch to those of the edge, by what has become of the walk.
static void count_pairs(struct walk *w, uint32_t state, uint32_t source)
{
	struct verify_report *report = w->run->report;
	const uint64_t hosts = topo_edge_hosts(w->run->topo, w->edge);
	const bool at_edge = source == w->run->topo->edge_switch[w->edge];
	uint64_t pairs = w->run->hosts_at[source] * hosts;

	if (at_edge) {
		pairs -= hosts * hosts;
		report->reachable_pairs += hosts * hosts - hosts;
	}
	if (w->mark[state] & LOOPS) {
		report->loops++;
		report->violation_count[VIOLATION_LOOP]++;
	}
	if (w->mark[state] & FAILED) {
		report->unreachable_pairs += pairs;
		if (verify_is_parted(w->run, source, w->edge))
			report->parted_pairs += pairs;
		return;
	}
	report->reachable_pairs += pairs;
	w->run->hop_sum += (double)pairs * w->hops[state];
	if (pairs != 0 && w->longest[state] > report->hops_max)
		report->hops_max = w->longest[state];
}

// Of a lost switch: those of the edge if it is at one, else the walks of the others stay.
static void count_lost(struct walk *w, uint32_t source)
{
	const uint64_t hosts = topo_edge_hosts(w->run->topo, w->edge);
	const bool at_edge = source == w->run->topo->edge_switch[w->edge];
	const uint64_t pairs = w->run->hosts_at[source] * hosts - (at_edge ? hosts : 0);

	w->run->report->unreachable_pairs += pairs;
	w->run->report->parted_pairs += pairs;
}

void walk_edge(struct walk *w, uint32_t edge)
{
	const struct topo *topo = w->run->topo;

	w->edge = edge;
	w->state_count = 0;
	w->row = plan_rows(w->run->plan, edge);
	memset(w->mark, 0, host_state(w->run, topo->switch_count) * sizeof(*w->mark));
	memset(w->said, 0, topo->switch_count * sizeof(*w->said));
	for (uint32_t s = 0; s < topo->switch_count; s++) {
		const uint32_t state = host_state(w->run, s);

		if (w->run->hosts_at[s] == 0)
			continue;
		if (w->run->part[s] == TOPO_NONE) {
			count_lost(w, s);
			continue;
		}
		walk_from(w, state, s);
		count_pairs(w, state, s);
	}
	hold_pairs(w);
}
