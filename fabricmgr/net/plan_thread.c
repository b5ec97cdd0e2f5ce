// SPDX-License-Identifier: BSD-3-Clause
//
// Orders and results change hands under a lock; a counter that the loop watches says that there is
// a result. What an order points to is only read. Texts of faults are made here, where the names
// are at hand.

#include "fabricmgr/net/plan_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fabricmgr/memory.h"
#include "routing/turn_mix.h"
#include "sys/fault.h"

// A plan and all that it is made of.
struct slot {
	struct arena keep;
	struct planner planner;
	uint64_t serial; // of its source; 0: no plan
	uint32_t replans;
};

struct plan_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started;
	bool ends;                  // lock
	bool ordered;               // lock: `order` is to be worked on
	bool busy;                  // loop: from an order to its result being taken
	struct plan_order order;    // the thread's while `ordered`
	uint32_t switch_count;      // of it
	struct plan_result *result; // lock
	int done_fd;
	struct event *done_event;
	void (*done)(void *arg);
	void *arg;
	// The thread's own.
	struct slot slot[2];
	struct turns_in_force turns; // of the order
	struct arena paper;
	struct arena scratch;
};

static void say(struct plan_result *result, const char *text)
{
	snprintf(result->why, sizeof(result->why), "%s", text);
}

// --- planning -----------------------------------------------------------------------------------

static void say_refusal(const struct plan_order *order, const char *engine,
			const struct plan_fault *fault, struct plan_result *result)
{
	struct label object, detail;
	const char *text = planner_fault_text(&order->source->fabric, &order->source->graph, fault,
					      &object, &detail);
	const int length = snprintf(result->why, sizeof(result->why), "%s: ", engine);

	fault_render(result->why + length, sizeof(result->why) - (size_t)length, text, object.text,
		     detail.text, 0, 0);
}

// For what the fabric ignores alone; the state of the order comes by a replan.
static bool plan_anew(struct plan_thread *thread, struct slot *slot, struct plan_result *result)
{
	const struct source *source = thread->order.source;
	struct planner_options options = { .engine_count = 0 };

	slot->serial = 0;
	slot->replans = 0;
	arena_release(&slot->keep, 0);
	if (!source_rules(source, source->fabric.name, &options, stderr)) {
		say(result, "the intent names an engine that there is not");
		return false;
	}
	// Two hosts that lose each other must not keep the others from being helped.
	options.tree.partial = true;
	if (!planner_plan(&source->fabric, &source->graph, &options, &slot->keep, &thread->scratch,
			  &slot->planner)) {
		const struct planner_refusal *refusal = &slot->planner.refusal[0];

		say_refusal(&thread->order, planner_engine_names[refusal->engine], &refusal->fault,
			    result);
		return false;
	}
	slot->serial = thread->order.serial;
	return true;
}

static bool replan(struct plan_thread *thread, struct slot *slot, struct plan_result *result)
{
	struct plan_fault fault;

	slot->replans++;
	if (planner_replan(&slot->planner, &thread->order.state, &fault))
		return true;
	slot->serial = 0;
	say_refusal(&thread->order, planner_engine_names[slot->planner.engine], &fault, result);
	return false;
}

// What a changed plan cannot do, a new one may.
static bool plan(struct plan_thread *thread, struct slot *slot, struct plan_result *result)
{
	if (slot->serial == thread->order.serial && slot->replans < PLAN_REPLANS_MAX &&
	    replan(thread, slot, result))
		return true;
	return plan_anew(thread, slot, result) && replan(thread, slot, result);
}

// --- proof and measures -------------------------------------------------------------------------

static void say_violation(const struct source *source, const struct verify_report *report,
			  struct plan_result *result)
{
	const struct fabric_switch *switches = source->fabric.switches;
	const struct violation *violation = &report->violation[0];

	if (report->violation_kept == 0) {
		say(result, "routes could wait for each other in a circle");
		return;
	}
	snprintf(result->why, sizeof(result->why), "from %s to %s: %s %s",
		 switches[violation->from].name,
		 switches[source->graph.topo.edge_switch[violation->edge]].name,
		 switches[violation->at].name, planner_violation_text(violation->kind));
}

static bool prove(struct plan_thread *thread, struct slot *slot, struct plan_result *result)
{
	const struct source *source = thread->order.source;
	const size_t mark = arena_mark(&thread->paper);
	struct verify_report report;
	bool good = false;

	if (verify_plan(&source->graph.topo, &slot->planner.state, &slot->planner.plan, true,
			&thread->paper, &thread->scratch, &report) < 0) {
		say(result, "the plan cannot be verified: memory is short");
	} else if (!verify_safe(&report)) {
		say_violation(source, &report, result);
	} else {
		result->pairs = report.reachable_pairs + report.unreachable_pairs;
		result->unreachable = report.unreachable_pairs;
		result->lanes = report.lanes;
		good = true;
	}
	arena_release(&thread->paper, mark);
	return good;
}

static double worst_tier(const struct balance_report *report, uint32_t tiers)
{
	double worst = 0;

	for (uint32_t i = 0; i < tiers; i++) {
		const struct balance_tier *tier = &report->tier[i];

		if (tier->avg > 0 && tier->max / tier->avg > worst)
			worst = tier->max / tier->avg;
	}
	return worst;
}

static void measure(struct plan_thread *thread, const struct slot *slot, struct plan_result *result)
{
	const struct topo *topo = &thread->order.source->graph.topo;
	const struct plan *plan = &slot->planner.plan;
	const size_t mark = arena_mark(&thread->paper);
	double *load = arena_take(&thread->paper, topo->link_count, sizeof(*load));
	struct balance_report *report = arena_take(&thread->paper, 1, sizeof(*report));

	if (load != NULL && report != NULL &&
	    balance_all_pairs(topo, &slot->planner.state, plan, &thread->scratch, load, report) ==
		    0)
		result->max_over_avg = worst_tier(report, plan->tier_count);
	arena_release(&thread->paper, mark);
}

static void count_rows(struct plan_thread *thread, const struct slot *slot,
		       struct plan_result *result)
{
	const struct planner *before = thread->order.in_use;
	struct plan_change change;

	if (before != NULL && before->graph == slot->planner.graph &&
	    plan_diff(&before->plan, &slot->planner.plan, &thread->scratch, &change) == 0)
		result->rows_changed = change.rows;
}

// The turns that all have: of a manager before it is not known what else there is.
static int common_turns(const struct topo *topo, const struct turns_in_force *others,
			struct arena *keep, struct plan_result *result)
{
	struct turn_rules common;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < others->count; i++) {
		if (turn_mix_same(topo, &result->turns, &others->rules[i]))
			continue;
		rc = turn_mix_common(topo, &result->turns, &others->rules[i], keep, &common);
		if (rc < 0)
			break;
		result->turns = common;
		result->between = true;
	}
	return rc;
}

static bool choose_turns(struct plan_thread *thread, struct slot *slot, struct plan_result *result)
{
	const struct topo *topo = &thread->order.source->graph.topo;
	const struct turns_in_force *others = &thread->turns;
	const struct turn_rules *rules[TURNS_MAX + 1];
	int rc;

	result->turns = slot->planner.plan.turns;
	for (uint32_t i = 0; i < others->count; i++)
		rules[i] = &others->rules[i];
	if (others->partly)
		rc = common_turns(topo, others, &slot->keep, result);
	else
		rc = turn_mix_choose(topo, &slot->planner.plan.turns, rules, others->count,
				     &slot->keep, &thread->scratch, &result->turns,
				     &result->between);
	if (rc < 0)
		say(result, "memory is short for the turns that a plan can be given with");
	return rc == 0;
}

// Of all switches. What cannot be made is said by a line on of->errors.
static bool make_each(struct plan_thread *thread, const struct switch_tables_of *of,
		      struct plan_result *result)
{
	const struct plan_order *order = &thread->order;
	const bool with_config = order->config_lanes != result->lanes;

	for (uint32_t i = 0; i < result->switch_count; i++) {
		const struct switch_tables *base = &order->base[i];
		struct switch_tables *tables = &result->tables[i];

		if (order->keeps[i] && base->table[0] != NULL)
			switch_tables_copy(tables, base);
		else if (switch_tables_make(of, i, base, with_config, tables) < 0)
			return false;
		result->switches_changed += !switch_tables_equal(tables, base);
	}
	return true;
}

static bool make_tables(struct plan_thread *thread, const struct slot *slot,
			struct plan_result *result)
{
	const struct source *source = thread->order.source;
	struct qos_options options = source_qos(source, result->lanes);
	struct qos qos;
	struct plan plan = slot->planner.plan;
	bool memory_short;
	bool good;
	struct switch_tables_of of = { .source = source,
				       .plan = &plan,
				       .qos = &qos,
				       .keep = &thread->paper,
				       .scratch = &thread->scratch };

	if (!qos_plan(&source->fabric, &options, &thread->scratch, &qos, &memory_short)) {
		say(result, memory_short ? "memory is short" :
					   "classes and lanes need more priorities than there are");
		return false;
	}
	plan.turns = result->turns;
	of.errors = fmemopen(result->why, sizeof(result->why), "w");
	if (of.errors == NULL)
		return false;
	good = make_each(thread, &of, result);
	fclose(of.errors);
	return good;
}

static void work(struct plan_thread *thread, struct plan_result *result)
{
	struct slot *slot = &thread->slot[thread->order.in_use == &thread->slot[0].planner];

	result->good = plan(thread, slot, result) && prove(thread, slot, result) &&
		       choose_turns(thread, slot, result) && make_tables(thread, slot, result);
	if (!result->good)
		return;
	measure(thread, slot, result);
	count_rows(thread, slot, result);
	result->planner = &slot->planner;
}

// --- the thread ---------------------------------------------------------------------------------

static void *run(void *arg)
{
	struct plan_thread *thread = arg;
	const uint64_t one = 1;

	pthread_mutex_lock(&thread->lock);
	while (!thread->ends) {
		if (!thread->ordered) {
			pthread_cond_wait(&thread->wake, &thread->lock);
			continue;
		}
		pthread_mutex_unlock(&thread->lock);
		work(thread, thread->result);
		pthread_mutex_lock(&thread->lock);
		thread->ordered = false;
		if (write(thread->done_fd, &one, sizeof(one)) != sizeof(one))
			break;
	}
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct plan_thread *thread = arg;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) == sizeof(count))
		thread->done(thread->arg);
}

static void free_order(struct plan_thread *thread)
{
	struct plan_order *order = &thread->order;

	for (uint32_t i = 0; order->base != NULL && i < thread->switch_count; i++)
		switch_tables_drop((struct switch_tables *)&order->base[i]);
	free((void *)order->base);
	free((void *)order->keeps);
	*order = (struct plan_order){ 0 };
}

static bool start(struct plan_thread *thread, struct event_base *base)
{
	thread->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (thread->done_fd < 0)
		return false;
	thread->done_event = event_new(base, thread->done_fd, EV_READ | EV_PERSIST, on_done,
				       thread);
	if (thread->done_event == NULL || event_add(thread->done_event, NULL) != 0)
		return false;
	thread->started = pthread_create(&thread->thread, NULL, run, thread) == 0;
	return thread->started;
}

struct plan_thread *plan_thread_open(struct event_base *base, void (*done)(void *arg), void *arg)
{
	struct plan_thread *thread = calloc(1, sizeof(*thread));

	if (thread == NULL)
		return NULL;
	thread->done_fd = -1;
	thread->done = done;
	thread->arg = arg;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->wake, NULL);
	if (memory_open(&thread->slot[0].keep) && memory_open(&thread->slot[1].keep) &&
	    turns_open(&thread->turns) && memory_open(&thread->paper) &&
	    memory_open(&thread->scratch) && start(thread, base))
		return thread;
	plan_thread_close(thread);
	return NULL;
}

void plan_thread_close(struct plan_thread *thread)
{
	if (thread == NULL)
		return;
	pthread_mutex_lock(&thread->lock);
	thread->ends = true;
	pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&thread->lock);
	if (thread->started)
		pthread_join(thread->thread, NULL);
	if (thread->done_event != NULL)
		event_free(thread->done_event);
	if (thread->done_fd >= 0)
		close(thread->done_fd);
	free_order(thread);
	plan_result_free(thread->result);
	memory_close(&thread->slot[0].keep);
	memory_close(&thread->slot[1].keep);
	turns_close(&thread->turns);
	memory_close(&thread->paper);
	memory_close(&thread->scratch);
	pthread_cond_destroy(&thread->wake);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

// --- orders and results -------------------------------------------------------------------------

// A state in one block of memory, to be freed by its link_lost.
static bool copy_state(const struct topo *topo, const struct topo_state *from,
		       struct topo_state *to)
{
	to->link_lost = calloc(1, (size_t)topo->link_count + topo->switch_count + 1);
	if (to->link_lost == NULL)
		return false;
	to->switch_lost = to->link_lost + topo->link_count;
	topo_state_copy(topo, from, to);
	return true;
}

static struct plan_result *make_result(const struct plan_order *order)
{
	const struct topo *topo = &order->source->graph.topo;
	struct plan_result *result = calloc(1, sizeof(*result));

	if (result == NULL)
		return NULL;
	result->serial = order->serial;
	result->switch_count = topo->switch_count;
	result->tables = calloc(topo->switch_count + 1u, sizeof(*result->tables));
	if (result->tables != NULL && copy_state(topo, &order->state, &result->state))
		return result;
	plan_result_free(result);
	return NULL;
}

static bool copy_order(struct plan_thread *thread, const struct plan_order *order)
{
	const uint32_t count = order->source->graph.topo.switch_count;
	struct switch_tables *base = calloc(count + 1u, sizeof(*base));
	uint8_t *keeps = malloc(count + 1u);

	thread->order = *order;
	thread->order.base = base;
	thread->order.keeps = keeps;
	thread->switch_count = count;
	if (base == NULL || keeps == NULL) {
		free(base);
		free(keeps);
		thread->order = (struct plan_order){ 0 };
		return false;
	}
	if (turns_copy(&thread->turns, &order->source->graph.topo, order->turns) < 0) {
		free_order(thread);
		return false;
	}
	thread->order.state = thread->result->state;
	memcpy(keeps, order->keeps, count);
	for (uint32_t i = 0; i < count; i++)
		switch_tables_copy(&base[i], &order->base[i]);
	return true;
}

int plan_thread_order(struct plan_thread *thread, const struct plan_order *order)
{
	if (thread->busy)
		return -EBUSY;
	thread->result = make_result(order);
	if (thread->result == NULL || !copy_order(thread, order)) {
		plan_result_free(thread->result);
		thread->result = NULL;
		return -ENOMEM;
	}
	thread->busy = true;
	pthread_mutex_lock(&thread->lock);
	thread->ordered = true;
	pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&thread->lock);
	return 0;
}

bool plan_thread_is_busy(const struct plan_thread *thread)
{
	return thread->busy;
}

struct plan_result *plan_thread_take(struct plan_thread *thread)
{
	struct plan_result *result;
	bool ordered;

	pthread_mutex_lock(&thread->lock);
	ordered = thread->ordered;
	pthread_mutex_unlock(&thread->lock);
	if (!thread->busy || ordered)
		return NULL;
	result = thread->result;
	thread->result = NULL;
	thread->busy = false;
	free_order(thread);
	return result;
}

void plan_result_free(struct plan_result *result)
{
	if (result == NULL)
		return;
	for (uint32_t i = 0; result->tables != NULL && i < result->switch_count; i++)
		switch_tables_drop(&result->tables[i]);
	free(result->tables);
	free(result->state.link_lost);
	free(result);
}
