// SPDX-License-Identifier: BSD-3-Clause
//
// What a manager makes of links and switches that come and go, of its own end and of what
// operators ask: which generation comes into force, which switches get tables for it, and that
// these are those of the plan (manager_fleet.h).

#include "tests/unit/manager_fleet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/table.h"

TestSuite(manager, .init = set_up, .fini = clean_up);

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

// leaf1 has spine2 alone, leaf2 spine1: from one to the other there are only valleys. The others
// are helped all the same, and go on to be.
Test(manager, two_leaves_that_lose_each_other_hold_nobody_up)
{
	uint32_t first, second, third;

	start();
	first = link_of("leaf1", "Ethernet2");
	second = link_of("leaf2", "Ethernet3");
	third = link_of("leaf3", "Ethernet2");
	say_link(first, false);
	wait_for(2);
	say_link(second, false);
	wait_for(3);
	cr_expect_eq(view()->hold, MANAGER_HOLD_NONE, "%s", view()->hold_why);
	// Two hosts at each, in both directions.
	cr_expect_eq(view()->plan.unreachable, 2 * 2 * 2);
	say_link(third, false);
	wait_for(4);
	say_link(third, true);
	wait_for(5);
	cr_expect_eq(view()->plan.unreachable, 2 * 2 * 2);
	say_link(first, true);
	wait_for(6);
	cr_expect_eq(view()->plan.unreachable, 0);
	expect_routes(second, TOPO_NONE);
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
