// SPDX-License-Identifier: BSD-3-Clause
//
// Reports of switches that are records of a test, to the health of a manager that is real: when a
// switch is asked to tell all again, what goes into the journal, and that another intent begins
// anew. Time is the test's; only the manager's planner runs by the clock of the machine.

#include "fabricmgr/net/health_feed.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "fabric.gen.h"
#include "sys/counters_packed.h"
#include "tests/table.h"

#define SECOND_NS 1000000000ull

enum { PORTS = 4, BYTES = 4096, PATH_BYTES = 128 };

static const char intent_text[] = "name = \"lab\";\n"
				  "leaf_spine = { leaves = 2; spines = 2; hosts_per_leaf = 2; };\n";

static char dir[] = "/tmp/weft-health.XXXXXX";
static char intent_path[PATH_BYTES];
static struct event_base *base;
static struct manager *manager;
static struct health_feed *feed;
static ns_t clock_now = { 1000 * SECOND_NS };

// A switch: what it counts, and what it has told.
static struct {
	uint64_t now[COUNTERS_PORT_AT + PORTS * COUNTERS_BLOCK];
	uint64_t told[COUNTERS_PORT_AT + PORTS * COUNTERS_BLOCK];
	bool anew;
	uint64_t boot;
} own;

static ns_t now(void)
{
	return clock_now;
}

static void set_up(void)
{
	struct manager_options options = { .state_dir = dir,
					   .intent_path = intent_path,
					   .clock = now };
	struct alarm_limits limits[ALARM_COUNT];
	FILE *file;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(intent_path, sizeof(intent_path), "%s/lab.cfg", dir);
	file = fopen(intent_path, "w");
	cr_assert_not_null(file);
	fputs(intent_text, file);
	fclose(file);
	base = event_base_new();
	manager = manager_open(base, &options, stderr);
	cr_assert_not_null(manager);
	for (uint32_t i = 0; i < ALARM_COUNT; i++)
		limits[i] = alarm_infos[i].limits;
	limits[ALARM_FLAPPING].raise = 4;
	feed = health_feed_open(base, manager, limits);
	cr_assert_not_null(feed);
	own.anew = true;
	own.boot = 7;
}

static void clean_up(void)
{
	DIR *names = opendir(dir);
	const struct dirent *entry;

	health_feed_close(feed);
	manager_close(manager);
	event_base_free(base);
	while ((entry = readdir(names)) != NULL)
		unlinkat(dirfd(names), entry->d_name, 0);
	closedir(names);
	rmdir(dir);
}

TestSuite(health_feed, .init = set_up, .fini = clean_up);

// A second passes, and leaf1 reports. True: it is to tell all again.
static bool report(struct rpc_report *message)
{
	uint8_t bytes[BYTES];
	uint32_t from = 0;
	bool again;
	size_t size;

	clock_now = ns_add(clock_now, SECOND_NS);
	own.now[SWITCH_STATE_UPTIME_NS] += SECOND_NS;
	size = counters_encode(own.now, own.told, PORTS, own.anew, &from, bytes, sizeof(bytes));
	cr_assert_gt(size, 0);
	message->boot = own.boot;
	cr_assert_eq(rpc_report_set_counters(message, bytes, size), 0);
	again = health_feed_report(feed, manager_find(manager, "leaf1"), message);
	counters_decode(bytes, size, own.told, PORTS);
	own.anew = false;
	rpc_report_clear(message);
	health_feed_second(feed);
	return again;
}

static bool report_counters(void)
{
	struct rpc_report message = { 0 };

	return report(&message);
}

static void forget(void)
{
	own.anew = true;
	memset(own.told, 0, sizeof(own.told));
}

// The newest event of a kind, "" for none: "OBJECT: DETAIL".
static const char *newest(enum journal_kind kind)
{
	static char text[JOURNAL_OBJECT_BYTES + JOURNAL_DETAIL_BYTES + 2];
	const struct journal *journal = manager_view(manager)->journal;

	text[0] = '\0';
	for (uint64_t i = 1; i <= journal->count; i++) {
		const struct journal_event *event = journal_at(journal, i);

		if (event != NULL && event->kind == kind)
			snprintf(text, sizeof(text), "%s: %s", event->object, event->detail);
	}
	return text;
}

Test(health_feed, alarms_go_into_the_journal)
{
	cr_assert_not(report_counters());
	cr_assert_not(report_counters());
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "");
	own.now[counters_drop_at(2) + COUNTERS_DROP_PG_LOSSLESS_FULL] = 12;
	cr_assert_not(report_counters());
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED),
			 "leaf1:Ethernet2: HEADROOM_OVERFLOW, 12.0 frames/s");
	for (uint32_t i = 0; i < 70; i++)
		report_counters();
	cr_assert_str_eq(newest(JOURNAL_ALARM_CLEARED),
			 "leaf1:Ethernet2: HEADROOM_OVERFLOW, 0.0 frames/s");
}

// A manager that knows nothing of a switch cannot take what has changed since.
Test(health_feed, asks_for_what_it_missed)
{
	own.anew = false;
	cr_assert(report_counters());
	cr_assert(report_counters());
	forget();
	cr_assert_not(report_counters());
	cr_assert_not(report_counters());
}

Test(health_feed, another_run_of_a_switch_begins_anew)
{
	cr_assert_not(report_counters());
	own.boot++;
	cr_assert(report_counters());
	forget();
	cr_assert_not(report_counters());
}

// Counters of another version are an alarm, and are not asked for in vain.
Test(health_feed, counters_that_cannot_be_read)
{
	struct rpc_report message = { .boot = own.boot };
	uint8_t bytes[16] = { [COUNTERS_FLAGS_AT] = COUNTERS_ANEW };

	cr_assert_not(report_counters());
	for (uint32_t i = 0; i < 7; i++) {
		cr_assert_eq(rpc_report_set_counters(&message, bytes, sizeof(bytes)), 0);
		cr_assert_not(health_feed_report(feed, manager_find(manager, "leaf1"), &message));
		bytes[COUNTERS_FLAGS_AT] = 0;
		clock_now = ns_add(clock_now, SECOND_NS);
		health_feed_second(feed);
	}
	rpc_report_clear(&message);
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "leaf1: UNREADABLE");
	forget();
	cr_assert_not(report_counters());
	cr_assert_str_eq(newest(JOURNAL_ALARM_CLEARED), "leaf1: UNREADABLE");
}

static void add_event(struct rpc_report *message, uint64_t sequence, uint32_t kind, uint32_t port)
{
	struct rpc_event *event = rpc_report_add_events(message);

	cr_assert_not_null(event);
	event->sequence = sequence;
	event->kind = kind;
	event->port = port;
}

// Events that were not acknowledged come again, and count once.
Test(health_feed, repeated_events_are_no_flapping)
{
	cr_assert_not(report_counters());
	for (uint32_t i = 0; i < 5; i++) {
		struct rpc_report message = { 0 };

		add_event(&message, 1, FABRIC_EVENT_LINK_DOWN, 3);
		add_event(&message, 2, FABRIC_EVENT_LINK_UP, 3);
		add_event(&message, 3, FABRIC_EVENT_LINK_DOWN, 3);
		report(&message);
	}
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "");
	// Who says hello tells of all links anew.
	for (uint64_t i = 4; i < 14; i++) {
		struct rpc_report message = { 0 };

		add_event(&message, i, FABRIC_EVENT_LINK_DOWN, 3);
		report(&message);
	}
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "");
	// One so far; the limit of this manager is four, not two.
	for (uint64_t i = 14; i < 22; i += 2) {
		struct rpc_report message = { 0 };

		add_event(&message, i, FABRIC_EVENT_LINK_UP, 3);
		add_event(&message, i + 1, FABRIC_EVENT_LINK_DOWN, 3);
		report(&message);
	}
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "leaf1:Ethernet3: FLAPPING, 5.0 losses/min");
}

Test(health_feed, neighbours_that_are_not_meant)
{
	struct rpc_report message = { 0 };
	struct rpc_neighbor *row = rpc_report_add_neighbors(&message);

	row->port = 2;
	cr_assert_eq(rpc_neighbor_set_name(row, "spine2"), 0);
	cr_assert_eq(rpc_neighbor_set_remote_port(row, "Ethernet0"), 0);
	cr_assert_eq(rpc_neighbor_set_chassis(row, "02:00:00:00:00:01"), 0);
	cr_assert_not(report(&message));
	for (uint32_t i = 0; i < 6; i++)
		report_counters();
	cr_assert_str_eq(newest(JOURNAL_ALARM_RAISED), "leaf1:Ethernet2: MISCABLED");
	// Who begins anew has other neighbours until it says who.
	forget();
	report_counters();
	cr_assert_str_eq(newest(JOURNAL_ALARM_CLEARED), "leaf1:Ethernet2: MISCABLED");
}
