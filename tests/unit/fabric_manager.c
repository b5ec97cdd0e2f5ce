// SPDX-License-Identifier: BSD-3-Clause
//
// The manager of a leaf-spine fabric with four leaves and two spines, and switches that are records
// of a test: they do what they are told, and count how often they were given tables. What tables
// must be is computed here from the graph, by a planner of the test's own.

#include "fabricmgr/net/manager.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "routing/packed.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

enum { SWITCHES = 6, SWITCHES_MAX = 8, PATH_BYTES = 128, WAIT_S = 30, MS = 1000000 };

static const char intent_text[] = "name = \"lab\";\n"
				  "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 2; };\n";

// A switch as the manager sees it. It takes every step at once, unless it is told to wait.
struct record {
	const char *name;
	bool silent; // does not call
	bool stays;  // prepares, and does not commit
	uint64_t boot;
	uint64_t sequence;
	struct generation running;
	struct generation prepared;
	uint32_t prepares;
	int answer; // errno to PREPARE
};

static char dir[] = "/tmp/weft-manager.XXXXXX";
static char intent_path[PATH_BYTES];
static struct event_base *base;
static struct manager *manager;
static struct record fleet[SWITCHES_MAX] = { { .name = "leaf1" },  { .name = "leaf2" },
					     { .name = "leaf3" },  { .name = "leaf4" },
					     { .name = "spine1" }, { .name = "spine2" } };
static uint32_t fleet_size = SWITCHES;
static ns_t shift; // added to the clock

static ns_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (ns_t){ (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec + shift.v };
}

static void write_intent(const char *text)
{
	FILE *file = fopen(intent_path, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(intent_path, sizeof(intent_path), "%s/lab.cfg", dir);
	write_intent(intent_text);
	base = event_base_new();
}

static void clean_up(void)
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

TestSuite(manager, .init = set_up, .fini = clean_up);

static const struct manager_view *view(void)
{
	return manager_view(manager);
}

// --- switches -----------------------------------------------------------------------------------

static void say_hello(struct record *record, uint32_t at)
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

static void call(struct record *record)
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

static void call_all(void)
{
	for (uint32_t i = 0; i < fleet_size; i++)
		call(&fleet[i]);
}

static void turn(void)
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

static void wait_for(uint64_t number)
{
	const ns_t end = ns_add(now(), WAIT_S * 1000000000ull);

	while (!all_run(number)) {
		cr_assert(ns_before(now(), end), "generation %llu does not come into force",
			  (unsigned long long)number);
		turn();
	}
}

// Long enough for any plan that is wanted to be made.
static void settle(void)
{
	const ns_t end = ns_add(now(), 150 * MS);

	while (ns_before(now(), end))
		turn();
}

static void open_manager(void)
{
	const struct manager_options options = { .intent_path = intent_path,
						 .state_dir = dir,
						 .damping_ms = 10000,
						 .mass_ppm = 500000,
						 .clock = now };

	manager = manager_open(base, &options, stderr);
	cr_assert_not_null(manager);
}

static void meet_all(void)
{
	for (uint32_t i = 0; i < fleet_size; i++) {
		fleet[i].boot++;
		fleet[i].sequence = 0;
		say_hello(&fleet[i], manager_find(manager, fleet[i].name));
	}
}

static void start(void)
{
	open_manager();
	meet_all();
	wait_for(1);
}

static struct record *find(const char *name)
{
	for (uint32_t i = 0; i < fleet_size; i++) {
		if (strcmp(fleet[i].name, name) == 0)
			return &fleet[i];
	}
	cr_assert_fail("%s", name);
	return NULL;
}

static uint32_t link_of(const char *name, const char *port)
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
static void say_link(uint32_t link, bool up)
{
	say_end(link, up);
	say_end(view()->source->graph.topo.link_peer[link], up);
}

static void forget_prepares(void)
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

static void expect_routes(uint32_t lost_link, uint32_t lost_switch)
{
	for (uint32_t i = 0; i < SWITCHES; i++) {
		const struct switch_tables *tables = &view()->switches[i].tables;

		if (i != lost_switch)
			cr_expect_eq(tables->table[FABRIC_TABLE_ROUTES - 1]->hash,
				     routes_hash(i, lost_link, lost_switch), "%s",
				     view()->source->fabric.switches[i].name);
	}
}

static bool has_event(enum journal_kind kind)
{
	for (uint64_t i = 1; i <= view()->journal->count; i++) {
		const struct journal_event *event = journal_at(view()->journal, i);

		if (event != NULL && event->kind == kind)
			return true;
	}
	return false;
}

// --- tests --------------------------------------------------------------------------------------

Test(manager, brings_the_plan_of_the_intent_into_force)
{
	start();
	expect_routes(TOPO_NONE, TOPO_NONE);
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_expect_eq(fleet[i].prepares, 1, "%s", fleet[i].name);
	cr_expect_eq(view()->plan.pairs, 8 * 7);
	cr_expect_eq(view()->plan.unreachable, 0);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	cr_expect(has_event(JOURNAL_IN_FORCE));
}

Test(manager, a_cut_cable_changes_only_switches_whose_routes_use_it)
{
	uint32_t link;

	start();
	forget_prepares();
	link = link_of("leaf1", "Ethernet2");
	say_link(link, false);
	wait_for(2);
	expect_routes(link, TOPO_NONE);
	// leaf1 loses a way to everybody, the other leaves one to leaf1, and the spine that it led
	// to has none; the other spine forwards as before.
	cr_expect_eq(find("leaf1")->prepares, 1);
	cr_expect_eq(find("leaf2")->prepares, 1);
	cr_expect_eq(find("spine1")->prepares, 1);
	cr_expect_eq(find("spine2")->prepares, 0);
	cr_expect_eq(find("spine2")->running.number, 2, "it gets the name");
	settle();
	cr_expect_eq(view()->plan.number, 2, "the report of the other end changes nothing");
	say_link(link, true);
	wait_for(3);
	expect_routes(TOPO_NONE, TOPO_NONE);
}

Test(manager, a_restart_changes_no_table)
{
	const char *cut = "Ethernet2";
	struct generation before[SWITCHES];

	start();
	say_link(link_of("leaf1", cut), false);
	wait_for(2);
	for (uint32_t i = 0; i < SWITCHES; i++)
		before[i] = fleet[i].running;
	manager_close(manager);
	forget_prepares();
	open_manager();
	meet_all();
	say_link(link_of("leaf1", cut), false);
	wait_for(2);
	settle();
	for (uint32_t i = 0; i < SWITCHES; i++) {
		cr_expect_eq(fleet[i].prepares, 0, "%s", fleet[i].name);
		cr_expect_eq(fleet[i].running.hash, before[i].hash);
	}
	cr_expect_eq(view()->plan.number, 2);
	cr_expect_eq(view()->distributor->epoch, 2);
	cr_expect(has_event(JOURNAL_LINK_DOWN), "the journal goes on");
}

Test(manager, what_was_decided_is_completed_by_the_next_manager)
{
	uint64_t decided;

	start();
	for (uint32_t i = 0; i < SWITCHES; i++)
		fleet[i].stays = true;
	say_link(link_of("leaf1", "Ethernet2"), false);
	while (!view()->distributor->decided || view()->distributor->number != 2)
		turn();
	decided = view()->distributor->at[0].target.hash;
	cr_assert_eq(find("leaf1")->running.number, 1);
	manager_close(manager);
	for (uint32_t i = 0; i < SWITCHES; i++)
		fleet[i].stays = false;
	open_manager();
	meet_all();
	wait_for(2);
	cr_expect_eq(find("leaf1")->running.hash, decided);
	expect_routes(link_of("leaf1", "Ethernet2"), TOPO_NONE);
}

Test(manager, wrong_tables_leave_the_last_good_ones)
{
	uint64_t good;

	start();
	good = find("leaf1")->running.hash;
	find("leaf2")->answer = 22; // EINVAL
	say_link(link_of("leaf1", "Ethernet2"), false);
	while (!has_event(JOURNAL_NOT_IN_FORCE))
		turn();
	settle();
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_expect_eq(fleet[i].running.number, 3, "%s: the good one, anew", fleet[i].name);
	cr_expect_eq(find("leaf1")->running.hash, good);
	cr_expect_eq(view()->planner->state.link_lost[link_of("leaf1", "Ethernet2")], 0);
	cr_expect_eq(view()->hold, MANAGER_HOLD_FAULT);
	find("leaf2")->answer = 0;
	say_link(link_of("leaf1", "Ethernet3"), false);
	say_link(link_of("leaf1", "Ethernet2"), true);
	wait_for(4);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	expect_routes(link_of("leaf1", "Ethernet3"), TOPO_NONE);
}

// --- damping, deaths, mass changes --------------------------------------------------------------

Test(manager, a_flapping_cable_is_left_out_until_it_is_calm)
{
	uint32_t link;
	uint64_t number;

	start();
	link = link_of("leaf1", "Ethernet2");
	for (uint32_t i = 0; i < 4; i++) {
		say_link(link, false);
		say_link(link, true);
	}
	cr_expect(has_event(JOURNAL_LINK_DAMPED));
	wait_for(2);
	expect_routes(link, TOPO_NONE);
	settle();
	number = view()->plan.number;
	// 4000 is below 1000 after two half-lives of 10 s.
	shift.v += 21 * 1000000000ull;
	for (uint32_t i = 0; i < fleet_size; i++)
		call(&fleet[i]);
	wait_for(number + 1);
	expect_routes(TOPO_NONE, TOPO_NONE);
	cr_expect(has_event(JOURNAL_LINK_CALM));
}

static void lose_switch(const char *name)
{
	const struct topo *topo = &view()->source->graph.topo;
	const uint32_t at = manager_find(manager, name);

	find(name)->silent = true;
	for (uint32_t i = topo->link_first[at]; i < topo->link_first[at + 1]; i++)
		say_end(topo->link_peer[i], false);
}

Test(manager, a_silent_switch_is_dead_when_all_neighbours_say_so)
{
	uint32_t spine;

	start();
	spine = manager_find(manager, "spine1");
	find("spine1")->silent = true;
	shift.v += (DISTRIBUTE_SILENCE_MS + 1) * (uint64_t)MS;
	call_all();
	settle();
	cr_expect(has_event(JOURNAL_SWITCH_SILENT));
	cr_expect_not(view()->switches[spine].dead);
	cr_expect_eq(view()->plan.number, 1, "it forwards as ever");
	lose_switch("spine1");
	wait_for(2);
	cr_expect(view()->switches[spine].dead);
	expect_routes(TOPO_NONE, spine);
	cr_expect_eq(view()->plan.unreachable, 0);

	find("spine1")->silent = false;
	find("spine1")->boot++;
	find("spine1")->sequence = 0;
	say_hello(find("spine1"), spine);
	for (uint32_t i = 0; i < 4; i++)
		say_link(view()->source->graph.topo.link_first[spine] + i, true);
	wait_for(view()->plan.number > 2 ? view()->plan.number : 3);
	settle();
	expect_routes(TOPO_NONE, TOPO_NONE);
	cr_expect_not(view()->switches[spine].dead);
}

// Both spines of three leaves, one way for each, is more than half of the cables.
Test(manager, a_mass_loss_waits_to_be_confirmed)
{
	char why[MANAGER_WHY_BYTES];
	uint32_t links[5];

	start();
	for (uint32_t i = 0; i < 4; i++)
		links[i] = link_of(fleet[i].name, "Ethernet2");
	links[4] = link_of("leaf1", "Ethernet3");
	for (uint32_t i = 0; i < 5; i++)
		say_link(links[i], false);
	settle();
	cr_expect_eq(view()->hold, MANAGER_HOLD_MASS, "%s", view()->hold_why);
	cr_expect_eq(view()->plan.number, 1);
	// It is over when all is back.
	for (uint32_t i = 0; i < 5; i++)
		say_link(links[i], true);
	settle();
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	cr_expect_eq(manager_confirm(manager, why), -EINVAL);

	for (uint32_t i = 0; i < 5; i++)
		say_link(links[i], false);
	settle();
	cr_assert_eq(view()->hold, MANAGER_HOLD_MASS);
	cr_expect_eq(manager_confirm(manager, why), 0);
	wait_for(view()->plan.number + 1);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	// The two ports of leaf1 are cut off: 2 x 6 pairs in both directions.
	cr_expect_eq(view()->plan.unreachable, 2 * 2 * 6);
}

// --- operators ----------------------------------------------------------------------------------

Test(manager, a_drained_switch_keeps_its_tables_and_gets_no_packets)
{
	char why[MANAGER_WHY_BYTES];
	uint32_t spine;

	start();
	spine = manager_find(manager, "spine1");
	forget_prepares();
	cr_assert_eq(manager_drain(manager, "spine1", true, false, why), 0, "%s", why);
	wait_for(2);
	expect_routes(TOPO_NONE, spine);
	cr_expect_eq(find("spine1")->prepares, 0, "what is on its way arrives");
	cr_expect_eq(manager_drain(manager, "spine2", true, false, why), -EPERM);
	cr_expect_str_eq(why, "hosts at leaf2 would be cut off");
	cr_expect_not(view()->switches[manager_find(manager, "spine2")].drained);
	cr_expect_eq(manager_drain(manager, "spine9", true, false, why), -ENOENT);

	manager_close(manager);
	forget_prepares();
	open_manager();
	meet_all();
	wait_for(2);
	settle();
	cr_expect_eq(view()->plan.number, 2, "it stays drained over a restart");
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_expect_eq(fleet[i].prepares, 0, "%s", fleet[i].name);
	cr_assert_eq(manager_drain(manager, "spine1", false, false, why), 0, "%s", why);
	wait_for(3);
	expect_routes(TOPO_NONE, TOPO_NONE);
}

Test(manager, a_drained_cable_is_one_by_either_name)
{
	char why[MANAGER_WHY_BYTES];

	start();
	cr_assert_eq(manager_drain(manager, "leaf1:Ethernet2", true, false, why), 0, "%s", why);
	wait_for(2);
	expect_routes(link_of("leaf1", "Ethernet2"), TOPO_NONE);
	cr_expect_eq(manager_drain(manager, "leaf1:Ethernet3", true, false, why), -EPERM);
	cr_assert_eq(manager_drain(manager, "spine1:Ethernet0", false, false, why), 0, "%s", why);
	wait_for(3);
	expect_routes(TOPO_NONE, TOPO_NONE);
	cr_assert_eq(manager_drain(manager, "leaf1", true, true, why), 0, "%s", why);
	wait_for(4);
	cr_expect_eq(view()->plan.unreachable, 2 * 2 * 6 + 2, "also the pairs of leaf1's own");
}

Test(manager, a_frozen_fabric_is_not_planned)
{
	char why[MANAGER_WHY_BYTES];

	start();
	cr_assert_eq(manager_freeze(manager, true, why), 0);
	say_link(link_of("leaf1", "Ethernet2"), false);
	settle();
	cr_expect_eq(view()->plan.number, 1);
	cr_expect_eq(view()->hold, MANAGER_HOLD_FROZEN);
	manager_close(manager);
	open_manager();
	meet_all();
	say_link(link_of("leaf1", "Ethernet2"), false);
	settle();
	cr_expect_eq(view()->plan.number, 1);
	cr_expect_eq(view()->hold, MANAGER_HOLD_FROZEN, "over a restart, too");
	cr_assert_eq(manager_freeze(manager, false, why), 0);
	wait_for(2);
	expect_routes(link_of("leaf1", "Ethernet2"), TOPO_NONE);
}

// --- intents ------------------------------------------------------------------------------------

static const char larger_text[] = "name = \"lab\";\n"
				  "leaf_spine = { leaves = 5; spines = 2; hosts_per_leaf = 2; };\n";

static const char *write_larger(char path[PATH_BYTES])
{
	FILE *file;

	snprintf(path, PATH_BYTES, "%s/larger.cfg", dir);
	file = fopen(path, "w");
	fputs(larger_text, file);
	fclose(file);
	return path;
}

Test(manager, a_new_intent_is_told_applied_and_taken_back)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];
	char text[4096] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	start();
	write_larger(path);
	cr_assert_eq(manager_diff(manager, path, out, why), 0, "%s", why);
	fclose(out);
	cr_expect_not_null(strstr(text, "+ switch leaf5\n"), "%s", text);
	cr_expect_not_null(strstr(text, "+ host host9\n"), "%s", text);
	cr_expect_not_null(strstr(text, "+ cable leaf5:Ethernet2 spine1:Ethernet4\n"), "%s", text);
	cr_expect_null(strstr(text, "leaf4"), "%s", text);

	say_link(link_of("leaf1", "Ethernet2"), false);
	wait_for(2);
	cr_assert_eq(manager_apply(manager, path, "", why), 0, "%s", why);
	cr_expect_eq(manager_apply(manager, path, "", why), -EBUSY);
	wait_for(3);
	cr_assert_eq(view()->source->fabric.switch_count, 7);
	cr_expect_eq(view()->plan.pairs, 10 * 9);
	cr_expect_not(view()->links[link_of("leaf1", "Ethernet2")].up, "what was known stays so");
	fleet[fleet_size++] = (struct record){ .name = "leaf5", .boot = 1 };
	say_hello(&fleet[fleet_size - 1], manager_find(manager, "leaf5"));
	wait_for(3);
	cr_expect_eq(fleet[fleet_size - 1].prepares, 1);

	cr_assert_eq(manager_rollback(manager, why), 0, "%s", why);
	fleet_size--;
	wait_for(4);
	cr_expect_eq(view()->source->fabric.switch_count, SWITCHES);
	expect_routes(link_of("leaf1", "Ethernet2"), TOPO_NONE);
}

Test(manager, a_canary_has_a_new_intent_alone_until_it_is_confirmed)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];

	start();
	forget_prepares();
	cr_assert_eq(manager_apply(manager, write_larger(path), "leaf2", why), 0, "%s", why);
	wait_for(2);
	cr_expect_eq(view()->hold, MANAGER_HOLD_CANARY);
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_expect_eq(fleet[i].prepares, i == 1, "%s", fleet[i].name);
	// The others are repaired as ever; the canary stays as it is.
	say_link(link_of("leaf1", "Ethernet2"), false);
	wait_for(3);
	cr_expect_eq(fleet[0].prepares, 1);
	cr_expect_eq(fleet[1].prepares, 1);

	manager_close(manager);
	forget_prepares();
	open_manager();
	meet_all();
	wait_for(3);
	settle();
	cr_expect_eq(view()->hold, MANAGER_HOLD_CANARY, "over a restart");
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_expect_eq(fleet[i].prepares, 0, "%s", fleet[i].name);
	cr_assert_eq(manager_confirm(manager, why), 0, "%s", why);
	wait_for(4);
	cr_expect_eq(view()->source->fabric.switch_count, 7);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
}

Test(manager, a_canary_goes_back)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];
	uint64_t before;

	start();
	before = find("leaf2")->running.hash;
	cr_assert_eq(manager_apply(manager, write_larger(path), "leaf2", why), 0, "%s", why);
	wait_for(2);
	cr_expect_neq(find("leaf2")->running.hash, before);
	cr_assert_eq(manager_rollback(manager, why), 0, "%s", why);
	wait_for(3);
	cr_expect_eq(find("leaf2")->running.hash, before);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	cr_expect_eq(view()->source->fabric.switch_count, SWITCHES);
}

Test(manager, a_wrong_intent_changes_nothing)
{
	char said[1024] = "";
	FILE *errors = fmemopen(said, sizeof(said), "w");

	start();
	write_intent("leaf_spine = { leafs = 4; };\n");
	cr_expect_lt(manager_reload(manager, errors), 0);
	fclose(errors);
	cr_expect_not_null(strstr(said, "lab.cfg:1:"), "%s", said);
	settle();
	cr_expect_eq(view()->plan.number, 1);
	// And a manager that starts goes on with the last one that was right.
	manager_close(manager);
	open_manager();
	meet_all();
	settle();
	cr_expect_eq(view()->plan.number, 1);
	cr_expect_eq(view()->source->fabric.switch_count, SWITCHES);
	write_intent(larger_text);
	cr_expect_eq(manager_reload(manager, stderr), 0);
	wait_for(2);
	cr_expect_eq(view()->source->fabric.switch_count, 7);
}

Test(manager, a_canary_that_refuses_ends_the_new_intent)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];

	start();
	find("leaf2")->answer = EINVAL;
	cr_assert_eq(manager_apply(manager, write_larger(path), "leaf2", why), 0, "%s", why);
	while (!has_event(JOURNAL_NOT_IN_FORCE))
		turn();
	settle();
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	cr_expect_eq(view()->source->fabric.switch_count, SWITCHES);
	find("leaf2")->answer = 0;
	cr_expect_eq(manager_confirm(manager, why), -EINVAL);
	say_link(link_of("leaf1", "Ethernet2"), false);
	wait_for(4);
	expect_routes(link_of("leaf1", "Ethernet2"), TOPO_NONE);
}
