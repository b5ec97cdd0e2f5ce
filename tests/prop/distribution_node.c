// SPDX-License-Identifier: BSD-3-Clause
//
// A switch: the follower with a disk below and a network above it. What is asked of every switch at
// every moment is checked where it is done.

#include <errno.h>
#include <string.h>

#include "schema/fabric.h"
#include "tests/prop/distribution_world.h"
#include "tests/table.h"

enum {
	REPORT_MS = 300,
	ANSWER_MS = 500,
	POLL_MS = 2000,
	WORK_MOST_US = 20000,
	AWAY_MOST_MS = 2500,
};

static const struct follower_generation none;

static void put(struct world *w, uint64_t after_ns, enum world_event_kind kind, uint32_t at)
{
	world_put(w, after_ns, kind, at, w->node[at].boot, NULL);
}

static uint64_t work_ns(struct world *w)
{
	return w->steady_ns != 0 ? 0 : rng_below(w->rng, WORK_MOST_US) * 1000ull;
}

// What it has shown to be in force, or has said, it has for ever.
static void check_kept(const struct world_node *n)
{
	const struct follower_state *state = &n->disk.state;

	cr_assert_not(follower_generation_before(&state->running, &n->told), "forgot what it ran");
	cr_assert_not(follower_generation_before(&state->running, &n->most));
	cr_assert(state->running.number == 0 || n->disk.running_table == state->running.hash);
}

void node_boot(struct world *w, uint32_t at)
{
	struct world_node *n = &w->node[at];

	// Power fails between tables and the state that names them, too.
	if (n->disk.state.prepared.hash != n->disk.prepared_table)
		n->disk.state.prepared = none;
	check_kept(n);
	n->up = true;
	n->boot++;
	n->call = 0;
	n->in_grace = false;
	n->met = n->disk.state.epoch;
	follower_init(&n->f, &n->disk.state, n->boot);
	n->in_force = n->disk.state.running.number == 0 ?
			      NULL :
			      plans_table(w->plans, at, n->disk.running_table);
	w->counts.restarted++;
	put(w, rng_below(w->rng, 100) * WORLD_MS, WORLD_NODE_CALLS, at);
	put(w, rng_below(w->rng, 100) * WORLD_MS, WORLD_NODE_REPORTS, at);
}

void node_die(struct world *w, uint32_t at)
{
	struct world_node *n = &w->node[at];

	if (!n->up)
		return;
	n->up = false;
	n->in_force = NULL;
	put(w, rng_below(w->rng, AWAY_MOST_MS) * WORLD_MS, WORLD_NODE_BOOTS, at);
}

// --- calls --------------------------------------------------------------------------------------

static void call(struct world *w, uint32_t at)
{
	struct world_node *n = &w->node[at];
	struct world_message m = { .kind = WORLD_FETCH, .boot = n->boot };

	if (n->call != 0 || n->f.task != FOLLOWER_NOTHING)
		return;
	switch (follower_next(&n->f)) {
	case FOLLOWER_HELLO: m.kind = WORLD_HELLO; break;
	case FOLLOWER_FETCH: m.kind = WORLD_FETCH; break;
	case FOLLOWER_ACK: m.kind = WORLD_ACK; break;
	}
	n->disk.state = n->f.state;
	check_kept(n);
	n->call = m.call = ++w->calls;
	m.epoch = n->f.state.epoch;
	m.running = n->f.state.running;
	m.prepared = n->f.state.prepared;
	m.step = n->f.ack_step;
	m.generation = n->f.ack_generation;
	m.error = n->f.ack_error;
	world_send(w, WORLD_TO_BOSS, at, n->boot, &m);
	world_put(w, (m.kind == WORLD_FETCH ? POLL_MS + ANSWER_MS : ANSWER_MS) * WORLD_MS,
		  WORLD_NODE_GIVES_UP, at, m.call, NULL);
}

static void call_later(struct world *w, uint32_t at)
{
	put(w, follower_wait_ns(&w->node[at].f, rng_next32(w->rng)), WORLD_NODE_CALLS, at);
}

static void report(struct world *w, uint32_t at)
{
	const struct topo *topo = &w->plans->graph.topo;
	struct world_node *n = &w->node[at];
	struct world_message m = { .kind = WORLD_REPORT,
				   .boot = n->boot,
				   .epoch = n->f.state.epoch,
				   .sequence = ++n->sequence };

	for (uint32_t i = 0; i < topo_degree(topo, at); i++)
		m.lost[i] = !world_link_works(w, topo->link_first[at] + i);
	world_send(w, WORLD_TO_BOSS, at, n->boot, &m);
	put(w, REPORT_MS * WORLD_MS, WORLD_NODE_REPORTS, at);
}

// --- tasks --------------------------------------------------------------------------------------

static int work_error(struct world *w, enum follower_task task)
{
	if (task != FOLLOWER_STORE)
		return 0;
	return world_chance(w, 2) ? ENOSPC : world_chance(w, 1) ? EINVAL : 0;
}

// Only what was decided, nothing older than what was, and what is there in full.
static void put_in_force(struct world *w, uint32_t at)
{
	struct world_node *n = &w->node[at];
	const struct follower_generation *g = &n->f.task_generation;
	bool decided = false;

	cr_assert(follower_generation_before(&n->most, g), "goes back");
	cr_assert_eq(n->disk.prepared_table, g->hash, "what it prepared is not there");
	for (uint32_t i = 0; i < w->decision_count; i++)
		decided |= w->plans->at[w->decision[i]].hash[at] == g->hash;
	cr_assert(decided, "not decided");
	n->disk.running_table = g->hash;
	n->disk.state = n->f.state;
	n->disk.state.running = *g;
	n->most = *g;
	n->in_force = plans_table(w->plans, at, g->hash);
	w->counts.applied++;
}

static void work(struct world *w, uint32_t at)
{
	struct world_node *n = &w->node[at];
	const enum follower_task task = n->f.task;
	const struct follower_generation g = n->f.task_generation;
	const int error = work_error(w, task);

	if (task == FOLLOWER_APPLY && !n->in_grace) {
		put_in_force(w, at);
		n->in_grace = true;
		put(w, work_ns(w), WORLD_NODE_WORKS, at);
		return;
	}
	n->in_grace = false;
	w->counts.stored += task == FOLLOWER_STORE;
	if (task == FOLLOWER_STORE)
		n->disk.prepared_table = error == 0 ? g.hash : 0;
	if (task == FOLLOWER_FORGET)
		n->disk.prepared_table = 0;
	if (task == FOLLOWER_RENAME) {
		cr_assert_eq(g.hash, n->disk.running_table);
		w->counts.renamed++;
	}
	follower_done(&n->f, task, &g, error);
	n->call = 0;
	call(w, at);
}

static void take(struct world *w, uint32_t at, const struct world_message *m)
{
	struct world_node *n = &w->node[at];
	enum follower_task task = FOLLOWER_NOTHING;
	const bool busy = n->f.task != FOLLOWER_NOTHING;
	const bool late = m->call != n->call;
	const char *why;

	if (late)
		w->counts.late++;
	else
		n->call = 0;
	if (m->refused) {
		follower_failed(&n->f);
	} else {
		switch (m->kind) {
		case WORLD_HELLO:
			follower_hello_reply(&n->f, m->epoch, FABRIC_VERSION, &why);
			break;
		case WORLD_FETCH:
			task = follower_fetch_reply(&n->f, m->epoch, m->step, &m->generation);
			break;
		case WORLD_ACK: follower_ack_reply(&n->f, m->epoch); break;
		case WORLD_REPORT: break;
		}
		cr_assert(task == FOLLOWER_NOTHING || m->epoch >= n->met, "follows an old manager");
		n->met = u64_max(n->met, m->epoch);
	}
	cr_assert(late || n->f.ack_step != FABRIC_STEP_COMMIT || m->step != FABRIC_STEP_COMMIT,
		  "was told to commit what it does not have");
	if (task != FOLLOWER_NOTHING)
		put(w, work_ns(w), WORLD_NODE_WORKS, at);
	else if (!busy)
		call_later(w, at);
}

void node_event(struct world *w, const struct world_event *event)
{
	struct world_node *n = &w->node[event->who];
	const uint64_t life = event->kind == WORLD_NODE_GIVES_UP ? n->call : n->boot;

	if (event->life != life || n->up == (event->kind == WORLD_NODE_BOOTS))
		return;
	switch ((int)event->kind) {
	case WORLD_TO_NODE: take(w, event->who, &event->message); break;
	case WORLD_NODE_BOOTS: node_boot(w, event->who); break;
	case WORLD_NODE_CALLS: call(w, event->who); break;
	case WORLD_NODE_WORKS: work(w, event->who); break;
	case WORLD_NODE_REPORTS: report(w, event->who); break;
	case WORLD_NODE_GIVES_UP:
		n->call = 0;
		follower_failed(&n->f);
		call_later(w, event->who);
		break;
	}
}
