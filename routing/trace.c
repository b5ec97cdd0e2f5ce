// SPDX-License-Identifier: BSD-3-Clause
//
// Paths are found depth first; the stack is the path. No switch is on it twice, so it is never
// longer than there are switches, and the number of paths is bounded by the caller.

#include "routing/trace.h"

#include <errno.h>
#include <string.h>

#include "routing/verify_walk.h"

struct stop {
	uint32_t at;
	struct violation_hop over; // that led here
	uint32_t position;         // of the member that is next
	double share;
};

struct tracer {
	const struct topo *topo;
	const struct topo_state *state;
	const struct plan *plan;
	const uint16_t *row;
	struct lane_graph graph; // for its turns alone
	uint32_t edge;
	uint32_t to_host;
	uint32_t most;
	struct arena *keep;
	struct stop *stop;
	uint32_t depth;
	uint8_t *on_path; // [switch_count]
	struct trace_path *path;
	struct trace *trace;
	bool no_memory;
};

// The path on the stack ends, after `last` if that is not NULL.
static void end_path(struct tracer *t, enum trace_end end, const struct violation_hop *last,
		     double share)
{
	const uint32_t count = t->depth - 1 + (last != NULL);
	struct violation_hop *hops;

	if (t->trace->path_count == t->most) {
		t->trace->cut = true;
		return;
	}
	hops = arena_take(t->keep, count, sizeof(*hops));
	if (hops == NULL) {
		t->no_memory = true;
		return;
	}
	for (uint32_t i = 1; i < t->depth; i++)
		hops[i - 1] = t->stop[i].over;
	if (last != NULL)
		hops[count - 1] = *last;
	t->path[t->trace->path_count++] = (struct trace_path){ end, count, hops, share };
}

static void push(struct tracer *t, uint32_t at, struct violation_hop over, double share)
{
	const uint16_t row = t->row[at];

	t->stop[t->depth++] = (struct stop){ .at = at, .over = over, .share = share };
	t->on_path[at] = 1;
	if (row == PLAN_LOCAL && at == t->topo->edge_switch[t->edge])
		end_path(t, TRACE_ARRIVES, NULL, share);
	else if (row == PLAN_NONE)
		end_path(t, TRACE_NO_ROUTE, NULL, share);
	else if (verify_group(t->plan, row) == NULL)
		end_path(t, TRACE_BAD_ROW, NULL, share);
}

static void follow(struct tracer *t, const struct plan_hop *member, double share)
{
	const struct stop *s = &t->stop[t->depth - 1];
	const uint32_t over = t->depth == 1 ? TOPO_NONE : s->over.link;
	struct violation_hop hop = { .lane = t->depth == 1 ? (uint8_t)0 : s->over.lane };
	uint8_t to;

	if (member->link >= topo_degree(t->topo, s->at)) {
		end_path(t, TRACE_BAD_ROW, NULL, share);
		return;
	}
	hop.link = t->topo->link_first[s->at] + member->link;
	if (!topo_link_up(t->topo, t->state, hop.link)) {
		end_path(t, TRACE_LOST_LINK, &hop, share);
		return;
	}
	to = lane_graph_turn(&t->graph, over, hop.link, hop.lane);
	if (to == TURN_DENY) {
		end_path(t, TRACE_TURN_DENIED, &hop, share);
		return;
	}
	hop.lane = to;
	if (t->on_path[topo_far(t->topo, hop.link)])
		end_path(t, TRACE_LOOPS, &hop, share);
	else
		push(t, topo_far(t->topo, hop.link), hop, share);
}

// Goes on with the next member of the group on top; false when there are no more.
static bool step(struct tracer *t)
{
	struct stop *s = &t->stop[t->depth - 1];
	const struct plan_group *g = verify_group(t->plan, t->row[s->at]);
	const struct plan_hop *member;
	double share = s->share;

	if (g == NULL || s->position == g->hop_count)
		return false;
	member = &t->plan->hop[g->first + s->position];
	if (g->pin == 0) {
		share *= (double)member->weight / (double)verify_group_weight(t->plan, g);
	} else if (t->to_host == TOPO_NONE) {
		share /= g->hop_count;
	} else {
		member = &t->plan->hop[g->first + t->to_host / g->pin % g->hop_count];
		s->position = g->hop_count - 1u;
	}
	s->position++;
	follow(t, member, share);
	return true;
}

static int trace_all(struct tracer *t, uint32_t from_switch)
{
	push(t, from_switch, (struct violation_hop){ 0 }, 1);
	while (t->depth > 0 && !t->trace->cut && !t->no_memory) {
		if (step(t))
			continue;
		t->depth--;
		t->on_path[t->stop[t->depth].at] = 0;
	}
	return t->no_memory ? -ENOMEM : 0;
}

int trace_paths(const struct topo *topo, const struct topo_state *state, const struct plan *plan,
		bool with_turns, uint32_t from_switch, uint32_t edge, uint32_t to_host,
		uint32_t most, struct arena *keep, struct arena *scratch, struct trace *trace)
{
	const size_t mark = arena_mark(scratch);
	struct tracer t = {
		.topo = topo,
		.state = state,
		.plan = plan,
		.row = plan_rows(plan, edge),
		.edge = edge,
		.to_host = to_host,
		.most = most,
		.keep = keep,
		.stop = arena_take_raw(scratch, topo->switch_count, sizeof(*t.stop)),
		.on_path = arena_take(scratch, topo->switch_count, sizeof(*t.on_path)),
		.path = arena_take(keep, most, sizeof(*t.path)),
		.trace = trace,
	};
	int rc = -ENOMEM;

	*trace = (struct trace){ .path = t.path };
	if (t.stop != NULL && t.on_path != NULL && t.path != NULL &&
	    lane_graph_init(topo, NULL, with_turns ? &plan->turns : NULL, scratch, &t.graph) == 0)
		rc = trace_all(&t, from_switch);
	arena_release(scratch, mark);
	return rc;
}
