// SPDX-License-Identifier: BSD-3-Clause
//
// New intents and new turns of a manager that lives: told, applied, tried on a canary and taken
// back; and plans whose turns could wait in a circle with those that are in force, which come in
// two steps (manager_fleet.h).

#include "tests/unit/manager_fleet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/table.h"

TestSuite(manager_intents, .init = set_up, .fini = clean_up);

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

Test(manager_intents, a_new_intent_is_told_applied_and_taken_back)
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

// What is said of a port is said once, also before there is a cable in the intent.
Test(manager_intents, a_new_cable_is_as_its_port_was)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];
	struct record *spine;
	uint32_t link;

	start();
	spine = find("spine1");
	manager_link_event(manager, manager_find(manager, spine->name), spine->boot,
			   ++spine->sequence, 4, false);
	cr_assert_eq(manager_apply(manager, write_larger(path), "", why), 0, "%s", why);
	wait_for(2);
	link = link_of("spine1", "Ethernet4");
	cr_expect_not(view()->links[link].up);
	cr_expect_eq(view()->links[link].losses, 0);
	cr_expect_not(topo_link_up(&view()->source->graph.topo, view()->state, link));
	cr_expect(view()->links[link_of("spine2", "Ethernet4")].up, "nothing was said of it");
	manager_link_event(manager, manager_find(manager, spine->name), spine->boot,
			   ++spine->sequence, 4, true);
	wait_for(3);
	cr_expect(topo_link_up(&view()->source->graph.topo, view()->state, link));
}

Test(manager_intents, a_canary_has_a_new_intent_alone_until_it_is_confirmed)
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

Test(manager_intents, a_canary_goes_back)
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

Test(manager_intents, a_wrong_intent_changes_nothing)
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

// The next manager, which nobody asked anything.
static void start_again(void)
{
	manager_close(manager);
	open_manager();
	meet_all();
}

Test(manager_intents, an_accepted_intent_outlives_its_manager)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];

	start();
	cr_assert_eq(manager_apply(manager, write_larger(path), "", why), 0, "%s", why);
	start_again();
	wait_for(2);
	cr_expect_eq(view()->source->fabric.switch_count, 7);
	cr_assert_eq(manager_rollback(manager, why), 0, "%s", why);
	start_again();
	wait_for(3);
	cr_expect_eq(view()->source->fabric.switch_count, SWITCHES, "rolled back");
	write_intent(larger_text);
	cr_assert_eq(manager_reload(manager, stderr), 0);
	start_again();
	wait_for(4);
	cr_expect_eq(view()->source->fabric.switch_count, 7, "of the file");
}

Test(manager_intents, a_confirmed_intent_outlives_its_manager)
{
	char why[MANAGER_WHY_BYTES], path[PATH_BYTES];

	start();
	cr_assert_eq(manager_apply(manager, write_larger(path), "leaf2", why), 0, "%s", why);
	wait_for(2);
	cr_assert_eq(manager_confirm(manager, why), 0, "%s", why);
	start_again();
	wait_for(4); // Generation 3 is what was in force, without a canary.
	cr_expect_eq(view()->source->fabric.switch_count, 7);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
}

static uint32_t count_events(enum journal_kind kind)
{
	uint32_t count = 0;

	for (uint64_t i = 1; i <= view()->journal->count; i++) {
		const struct journal_event *event = journal_at(view()->journal, i);

		count += event != NULL && event->kind == kind;
	}
	return count;
}

// It is tried once, and the manager is not stuck with it.
Test(manager_intents, a_first_intent_that_cannot_be_planned_can_be_replaced)
{
	write_intent("name = \"lab\"; engine = \"tree\";\n"
		     "torus = { dims = [5]; hosts_per_switch = 1; };\n");
	open_manager();
	settle();
	cr_expect_eq(count_events(JOURNAL_NOT_PLANNED), 1);
	cr_expect_eq(view()->hold, MANAGER_HOLD_FAULT);
	write_intent("name = \"lab\";\n"
		     "leaf_spine = { leaves = 4; spines = 2; hosts_per_leaf = 2; };\n");
	cr_assert_eq(manager_reload(manager, stderr), 0);
	while (view()->source->fabric.switch_count != SWITCHES)
		turn();
	meet_all();
	wait_for(1);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE);
	expect_routes(TOPO_NONE, TOPO_NONE);
}

Test(manager_intents, a_canary_that_refuses_ends_the_new_intent)
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

// --- turns --------------------------------------------------------------------------------------

enum { RING = 6 };

static char ring_names[RING][FABRIC_NAME_BYTES];

// Up*/down* on a ring: which switch is the root decides about every turn.
static void start_ring(void)
{
	write_intent("name = \"ring\"; engine = \"updown\";\n"
		     "torus = { dims = [6]; hosts_per_switch = 1; };\n");
	open_manager();
	cr_assert_eq(view()->source->fabric.switch_count, RING);
	for (uint32_t i = 0; i < RING; i++) {
		snprintf(ring_names[i], sizeof(ring_names[i]), "%s",
			 view()->source->fabric.switches[i].name);
		fleet[i] = (struct record){ .name = ring_names[i] };
	}
	meet_all();
	wait_for(1);
}

static uint32_t count_between(void)
{
	uint32_t count = 0;

	for (uint64_t i = 1; i <= view()->journal->count; i++) {
		const struct journal_event *event = journal_at(view()->journal, i);

		count += event != NULL && event->kind == JOURNAL_PLANNED &&
			 strstr(event->detail, "turns that go with those of before") != NULL;
	}
	return count;
}

// The root dies, and what is left is planned from another one: until no switch forwards by the old
// turns, only those are given that both have.
Test(manager_intents, other_turns_come_when_the_old_ones_are_gone)
{
	uint64_t between, number;
	ns_t before;

	start_ring();
	cr_assert_eq(count_between(), 0);
	find(fleet[0].name)->silent = true;
	stop_clock();
	shift.v += (DISTRIBUTE_SILENCE_MS + 1) * (uint64_t)MS;
	call_all();
	lose_switch(fleet[0].name);
	while (!has_event(JOURNAL_SWITCH_DEAD) || view()->plan.in_force.v == 0)
		turn();
	settle();
	cr_expect_gt(count_between(), 0);
	cr_expect(view()->plan.between);
	cr_expect_eq(view()->plan.unreachable, 2 * 5);
	between = find(fleet[3].name)->running.hash;
	before = view()->plan.in_force;
	number = view()->plan.number;
	shift.v += DISTRIBUTE_DRAIN_MS * (uint64_t)MS;
	wait_for(number + 1);
	cr_expect_not(view()->plan.between);
	cr_expect_neq(find(fleet[3].name)->running.hash, between);
	cr_expect_geq(ns_since(view()->plan.planned, before), DISTRIBUTE_DRAIN_MS * (uint64_t)MS);
	settle();
	cr_expect_eq(view()->plan.number, number + 1);
}

Test(manager_intents, a_restart_between_two_sets_of_turns_changes_no_table)
{
	uint64_t number;

	start_ring();
	find(fleet[0].name)->silent = true;
	stop_clock();
	shift.v += (DISTRIBUTE_SILENCE_MS + 1) * (uint64_t)MS;
	call_all();
	lose_switch(fleet[0].name);
	while (!has_event(JOURNAL_SWITCH_DEAD) || view()->plan.in_force.v == 0)
		turn();
	settle();
	cr_assert(view()->plan.between);
	number = view()->plan.number;
	manager_close(manager);
	forget_prepares();
	open_manager();
	for (uint32_t i = 1; i < RING; i++) {
		fleet[i].boot++;
		fleet[i].sequence = 0;
		say_hello(&fleet[i], i);
	}
	wait_for(number);
	for (uint32_t i = 1; i < RING; i++)
		cr_expect_eq(fleet[i].prepares, 0, "%s", fleet[i].name);
	settle();
	shift.v += DISTRIBUTE_DRAIN_MS * (uint64_t)MS;
	settle();
	// The one that was not seen is not waited for any longer than this.
	shift.v += DISTRIBUTE_STEP_MS * (uint64_t)MS;
	wait_for(number + 1);
	cr_expect_not(view()->plan.between);
}

Test(manager_intents, an_intent_of_another_engine_comes_by_turns_that_both_have)
{
	char why[MANAGER_WHY_BYTES];
	uint64_t number;

	start_ring();
	write_intent("name = \"ring\"; engine = \"minhop\"; roots = [ \"sw-3\" ];\n"
		     "torus = { dims = [6]; hosts_per_switch = 1; };\n");
	cr_assert_eq(manager_apply(manager, intent_path, "", why), 0, "%s", why);
	wait_for(2);
	number = view()->plan.between ? 3 : 2;
	cr_expect_eq(count_between(), number - 2);
	wait_for(number);
	cr_expect_eq(view()->plan.engine, PLANNER_MINHOP);
	cr_expect_not(view()->plan.between);
}
