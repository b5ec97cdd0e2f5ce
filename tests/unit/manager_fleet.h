// SPDX-License-Identifier: BSD-3-Clause
//
// A manager of a leaf-spine fabric with four leaves and two spines, and switches that are records
// of a test: they do what they are told, and count how often they were given tables. What tables
// must be is computed from the graph, by a planner of the test's own. The manager has a directory
// of its own, on the real clock and event loop; waits are bounded.
#pragma once

#include "fabricmgr/net/manager.h"

enum { SWITCHES = 6, SWITCHES_MAX = 8, PATH_BYTES = 128, MS = 1000000 };

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

extern char dir[]; // of the manager
extern char intent_path[PATH_BYTES];
extern struct manager *manager;
extern struct record fleet[SWITCHES_MAX];
extern uint32_t fleet_size;
extern ns_t shift; // added to the manager's clock

void stop_clock(void); // of the manager: from now on it is what `shift` makes of it

void set_up(void);
void clean_up(void);
void write_intent(const char *text);

const struct manager_view *view(void);
// Starts a manager; with `start` the whole fleet has its first generation as well.
void open_manager(void);
void start(void);

// Switches: a new run of all, and calls of one, of all, and of all after a turn of the loop.
void meet_all(void);
void say_hello(struct record *record, uint32_t at);
void call(struct record *record);
void call_all(void);
void turn(void);
// Until all that call run the generation; and long enough for any plan that is wanted to be made.
void wait_for(uint64_t number);
void settle(void);

struct record *find(const char *name);
uint32_t link_of(const char *name, const char *port);
// Both ends of a cable say it; and all neighbours of a switch that is silent from now on.
void say_link(uint32_t link, bool up);
void lose_switch(const char *name);
void forget_prepares(void);

// That every switch but a lost one is to have the routes of a plan with this cable and switch lost.
void expect_routes(uint32_t lost_link, uint32_t lost_switch);
bool has_event(enum journal_kind kind);
