// SPDX-License-Identifier: BSD-3-Clause
//
// Records of switches take every step at once, by calls of the distributor and the manager as the
// RPC makes them; one may be told to be silent, not to commit, or to refuse. What a call brings is
// what distribute_fetch() says, so there is no other way for tables to get to a switch.

#include "tests/unit/manager_fleet.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "routing/packed.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { WAIT_S = 30 };

static const char intent_text[] = "name = \"lab\";\n"
				  "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 2; };\n";

char dir[] = "/tmp/weft-manager.XXXXXX";
char intent_path[PATH_BYTES];
static struct event_base *base;
struct manager *manager;
struct record fleet[SWITCHES_MAX] = { { .name = "leaf1" },  { .name = "leaf2" },
				      { .name = "leaf3" },  { .name = "leaf4" },
				      { .name = "spine1" }, { .name = "spine2" } };
uint32_t fleet_size = SWITCHES;
ns_t shift;
static ns_t stopped; // 0: it goes on

static ns_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (ns_t){ (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec };
}

// The manager's clock.
static ns_t now(void)
{
	return ns_add(stopped.v != 0 ? stopped : real_now(), shift.v);
}

void stop_clock(void)
{
	stopped = real_now();
}

void write_intent(const char *text)
{
	FILE *file = fopen(intent_path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

void set_up(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(intent_path, sizeof(intent_path), "%s/lab.cfg", dir);
	write_intent(intent_text);
	base = event_base_new();
}

void clean_up(void)
{
	DIR *names = opendir(dir);
	const struct dirent *entry;

	manager_close(manager);
	event_base_free(base);
	while ((entry = readdir(names)) != NULL)
		unlinkat(dirfd(names), entry->d_name, 0);
	closedir(names);
	rmdir(dir);
}

const struct manager_view *view(void)
{
	return manager_view(manager);
}

// --- switches -----------------------------------------------------------------------------------

void say_hello(struct record *record, uint32_t at)
{
	const char *why;

	cr_assert(distribute_hello(manager_distributor(manager), at, record->boot, &record->running,
				   &record->prepared, now(), &why),
		  "%s: %s", record->name, why);
	manager_hello(manager, at, "a test");
}

static void acknowledge(struct record *record, uint32_t at, enum distribute_step step,
			const struct generation *generation, int error)
{
	distribute_ack(manager_distributor(manager), at, record->boot, step, generation, error,
		       now());
	manager_progress(manager);
}

static void prepare(struct record *record, uint32_t at, const struct generation *generation)
{
	const struct switch_tables *tables = manager_tables(manager, at, generation);

	if (tables == NULL) // of a manager before: they have to be found again first
		return;
	cr_assert_eq(switch_tables_hash(tables), generation->hash);
	record->prepares++;
	if (record->answer == 0)
		record->prepared = *generation;
	acknowledge(record, at, DISTRIBUTE_PREPARE, generation, record->answer);
}

void call(struct record *record)
{
	const uint32_t at = manager_find(manager, record->name);
	struct generation generation;

	if (record->silent || at == FABRIC_NONE)
		return;
	switch (distribute_fetch(manager_distributor(manager), at, record->boot, &record->running,
				 &record->prepared, now(), &generation)) {
	case DISTRIBUTE_NOTHING: break;
	case DISTRIBUTE_PREPARE: prepare(record, at, &generation); break;
	case DISTRIBUTE_COMMIT:
		if (record->stays)
			break;
		record->running = generation;
		record->prepared = (struct generation){ 0 };
		acknowledge(record, at, DISTRIBUTE_COMMIT, &generation, 0);
		break;
	case DISTRIBUTE_FORGET:
		record->prepared = (struct generation){ 0 };
		acknowledge(record, at, DISTRIBUTE_FORGET, &generation, 0);
		break;
	}
	manager_progress(manager);
}

void call_all(void)
{
	for (uint32_t i = 0; i < fleet_size; i++)
		call(&fleet[i]);
}

void turn(void)
{
	const struct timeval wait = { .tv_usec = 1000 };

	event_base_loopexit(base, &wait);
	event_base_dispatch(base);
	call_all();
}

static bool all_run(uint64_t number)
{
	for (uint32_t i = 0; i < fleet_size; i++) {
		if (!fleet[i].silent && fleet[i].running.number != number)
			return false;
	}
	return view()->plan.in_force.v != 0;
}

void wait_for(uint64_t number)
{
	const ns_t end = ns_add(real_now(), WAIT_S * 1000000000ull);

	while (!all_run(number)) {
		cr_assert(ns_before(real_now(), end), "generation %llu does not come into force",
			  (unsigned long long)number);
		turn();
	}
}

// Until nothing has happened for a while, of which a busy machine may take more than its share.
void settle(void)
{
	ns_t quiet = real_now();
	uint64_t events = 0;
	uint32_t turns = 0;

	while (turns < 30 || ns_since(real_now(), quiet) < 150 * MS) {
		turn();
		turns++;
		if (view()->journal->count == events)
			continue;
		events = view()->journal->count;
		quiet = real_now();
		turns = 0;
	}
}

void open_manager(void)
{
	const struct manager_options options = { .intent_path = intent_path,
						 .state_dir = dir,
						 .damping_ms = 10000,
						 .mass_ppm = 500000,
						 .clock = now };

	manager = manager_open(base, &options, stderr);
	cr_assert_not_null(manager);
}

void meet_all(void)
{
	for (uint32_t i = 0; i < fleet_size; i++) {
		fleet[i].boot++;
		fleet[i].sequence = 0;
		say_hello(&fleet[i], manager_find(manager, fleet[i].name));
	}
}

void start(void)
{
	open_manager();
	meet_all();
	wait_for(1);
}

struct record *find(const char *name)
{
	for (uint32_t i = 0; i < fleet_size; i++) {
		if (strcmp(fleet[i].name, name) == 0)
			return &fleet[i];
	}
	cr_assert_fail("%s", name);
	return NULL;
}

uint32_t link_of(const char *name, const char *port)
{
	const struct source *source = view()->source;
	const uint32_t at = manager_find(manager, name);
	uint16_t number;
	uint32_t link;

	cr_assert(fabric_find_port(&source->fabric.switches[at], port, &number));
	link = topo_link_at(&source->graph.topo, at, number);
	cr_assert_neq(link, TOPO_NONE);
	return link;
}

static void say_end(uint32_t link, bool up)
{
	const struct topo *topo = &view()->source->graph.topo;
	const uint32_t at = topo->link_switch[link];
	struct record *record = find(view()->source->fabric.switches[at].name);

	if (!record->silent)
		manager_link_event(manager, at, record->boot, ++record->sequence,
				   topo->link_port[link], up);
}

// Both ends of a cable say it.
void say_link(uint32_t link, bool up)
{
	say_end(link, up);
	say_end(view()->source->graph.topo.link_peer[link], up);
}

void forget_prepares(void)
{
	for (uint32_t i = 0; i < fleet_size; i++)
		fleet[i].prepares = 0;
}

// --- what tables are to be ----------------------------------------------------------------------

// Hash of the packed routes of a switch when a cable and a switch are lost; TOPO_NONE: nothing is.
static uint64_t routes_hash(uint32_t at, uint32_t lost_link, uint32_t lost_switch)
{
	static struct arena keep, scratch;
	const struct source *source = view()->source;
	const struct topo *topo = &source->graph.topo;
	const struct planner_options options = { .engine_count = 0 };
	struct planner planner;
	struct topo_state state;
	struct packed_table table;
	struct plan_fault fault;

	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(topo_state_init(topo, &keep, &state), 0);
	if (lost_link != TOPO_NONE)
		state.link_lost[lost_link] = state.link_lost[topo->link_peer[lost_link]] = 1;
	if (lost_switch != TOPO_NONE)
		state.switch_lost[lost_switch] = 1;
	cr_assert(
		planner_plan(&source->fabric, &source->graph, &options, &keep, &scratch, &planner));
	cr_assert(planner_replan(&planner, &state, &fault));
	cr_assert_eq(packed_table_of(topo, &planner.plan, at, &keep, &scratch, &table), 0);
	return table.hash;
}

void expect_routes(uint32_t lost_link, uint32_t lost_switch)
{
	for (uint32_t i = 0; i < SWITCHES; i++) {
		const struct switch_tables *tables = &view()->switches[i].tables;

		if (i != lost_switch)
			cr_expect_eq(tables->table[FABRIC_TABLE_ROUTES - 1]->hash,
				     routes_hash(i, lost_link, lost_switch), "%s",
				     view()->source->fabric.switches[i].name);
	}
}

bool has_event(enum journal_kind kind)
{
	for (uint64_t i = 1; i <= view()->journal->count; i++) {
		const struct journal_event *event = journal_at(view()->journal, i);

		if (event != NULL && event->kind == kind)
			return true;
	}
	return false;
}

void lose_switch(const char *name)
{
	const struct topo *topo = &view()->source->graph.topo;
	const uint32_t at = manager_find(manager, name);

	find(name)->silent = true;
	for (uint32_t i = topo->link_first[at]; i < topo->link_first[at + 1]; i++)
		say_end(topo->link_peer[i], false);
}
