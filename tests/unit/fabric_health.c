// SPDX-License-Identifier: BSD-3-Clause
//
// Health of a small fabric whose switches report what the tests say: rates by arithmetic, an hour
// of history in bounded memory, alarms that neither tremble nor stick, the one port that a storm of
// pauses comes from, and cables that are plugged where the intent has another.

#include "fabricmgr/core/health.h"

#include <string.h>

#include "fabricmgr/core/health_cables.h"
#include "fabricmgr/core/health_storm.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

#define SECOND_NS 1000000000ull

enum { LEAF1, LEAF2, SPINE, SWITCHES, UPLINK = 4, PORTS_OF_LEAF = 5, HISTORY = 64 << 20 };

struct bed {
	struct arena keep;
	struct arena scratch;
	struct fabric fabric;
	struct health health;
	ns_t now;
};

// Hosts a and b at ports 0 and 1 of leaf1, c and d at those of leaf2; port 4 of each leads to the
// spine, ports 0 and 1 of it.
static struct bed *open_bed(size_t history)
{
	static struct bed bed;
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct fabric_faults faults = { .count = 0 };

	bed.keep = graph_arena();
	bed.scratch = graph_arena();
	bed.now = (ns_t){ 1000 * SECOND_NS };
	cr_assert_eq(fabric_init(&bed.fabric, &bed.keep), 0);
	fabric_add_switch(&bed.fabric, "leaf1");
	fabric_add_switch(&bed.fabric, "leaf2");
	fabric_add_switch(&bed.fabric, "spine1");
	fabric_add_cable(&bed.fabric, LEAF1, UPLINK, SPINE, 0);
	fabric_add_cable(&bed.fabric, LEAF2, UPLINK, SPINE, 1);
	for (uint32_t i = 0; i < 4; i++) {
		fabric_add_host(&bed.fabric, hosts[i]);
		fabric_add_host_port(&bed.fabric, i, i / 2, i % 2);
	}
	cr_assert_eq(fabric_finish(&bed.fabric, &bed.scratch, &faults), 0);
	cr_assert_eq(health_init(&bed.health, &bed.fabric, history, bed.now, &bed.keep), 0);
	cr_assert_leq(health_bytes(&bed.fabric, history), bed.keep.used);
	return &bed;
}

static uint64_t *value(struct bed *bed, uint32_t at, uint32_t place)
{
	return &bed->health.switches[at].values[place];
}

static uint64_t *port_value(struct bed *bed, uint32_t at, uint32_t port, uint32_t row)
{
	return value(bed, at, counters_port_at(port) + row);
}

static const struct health_port *port_of(const struct bed *bed, uint32_t at, uint32_t port)
{
	return &bed->health.ports[health_port_of(&bed->health, at, port)];
}

// A switch reports `ns` of its own time later.
static void report(struct bed *bed, uint32_t at, uint64_t ns)
{
	*value(bed, at, SWITCH_STATE_UPTIME_NS) += ns;
	health_life(&bed->health, at, true);
	health_report(&bed->health, at, bed->now);
}

// A second in which all report.
static void second(struct bed *bed)
{
	bed->now = ns_add(bed->now, SECOND_NS);
	for (uint32_t i = 0; i < SWITCHES; i++)
		report(bed, i, SECOND_NS);
	health_second(&bed->health, bed->now);
}

// --- rates --------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint64_t ns; // between the two reports, by the clock of the switch
	uint64_t before, after;
	double want;
} rate_rows[] = {
	{ "a second", SECOND_NS, 1000, 4000, 3000 },
	{ "a late report", 2 * SECOND_NS, 1000, 4000, 1500 },
	{ "an early one", SECOND_NS / 2, 0, 100, 200 },
	{ "nothing happened", SECOND_NS, 7, 7, 0 },
	{ "a counter that was set back", SECOND_NS, 1000, 10, 0 },
};

TABLE_TEST(health, rates, row, rate_rows)
{
	struct bed *bed = open_bed(HISTORY);

	*port_value(bed, LEAF1, 2, COUNTERS_PORT_IF_OUT_OCTETS) = row->before;
	report(bed, LEAF1, SECOND_NS);
	cr_assert_eq(port_of(bed, LEAF1, 2)->rate[HEALTH_TX_BYTES], 0, "the first has no rate");
	*port_value(bed, LEAF1, 2, COUNTERS_PORT_IF_OUT_OCTETS) = row->after;
	report(bed, LEAF1, row->ns);
	cr_assert_eq(port_of(bed, LEAF1, 2)->rate[HEALTH_TX_BYTES], row->want, "%s", row->what);
}

Test(health, a_switch_that_starts_anew_has_no_rate)
{
	struct bed *bed = open_bed(HISTORY);

	report(bed, LEAF1, 100 * SECOND_NS);
	*value(bed, LEAF1, SWITCH_STATE_UPTIME_NS) = 0;
	*port_value(bed, LEAF1, 0, COUNTERS_PORT_IF_IN_OCTETS) = 5000;
	report(bed, LEAF1, SECOND_NS);
	cr_assert_eq(port_of(bed, LEAF1, 0)->rate[HEALTH_RX_BYTES], 0);
	*port_value(bed, LEAF1, 0, COUNTERS_PORT_IF_IN_OCTETS) = 5600;
	report(bed, LEAF1, SECOND_NS);
	cr_assert_eq(port_of(bed, LEAF1, 0)->rate[HEALTH_RX_BYTES], 600);
}

// Which counters a rate is of.
static const struct {
	const char *what;
	uint32_t place; // in the block of a port
	enum health_row row;
} of_rows[] = {
	{ "bytes out", COUNTERS_PORT_IF_OUT_OCTETS, HEALTH_TX_BYTES },
	{ "bytes in", COUNTERS_PORT_IF_IN_OCTETS, HEALTH_RX_BYTES },
	{ "frames out", COUNTERS_PORT_IF_OUT_UCAST_PKTS, HEALTH_TX_PACKETS },
	{ "broadcast out", COUNTERS_PORT_IF_OUT_NON_UCAST_PKTS, HEALTH_TX_PACKETS },
	{ "frames in", COUNTERS_PORT_IF_IN_UCAST_PKTS, HEALTH_RX_PACKETS },
	{ "drops in", COUNTERS_PORT_IN_DROPPED_PKTS, HEALTH_DROPS },
	{ "drops out", COUNTERS_PORT_OUT_DROPPED_PKTS, HEALTH_DROPS },
	{ "marks", COUNTERS_PORT_ECN_MARKED_PACKETS, HEALTH_ECN_MARKS },
	{ "missed", COUNTERS_PORT_RX_MISSED, HEALTH_ERRORS },
	{ "no buffer", COUNTERS_PORT_RX_NO_BUFFER, HEALTH_ERRORS },
	{ "cut short", COUNTERS_DROP_AT + COUNTERS_DROP_PARSE_TRUNCATED, HEALTH_ERRORS },
	{ "no headroom", COUNTERS_DROP_AT + COUNTERS_DROP_PG_LOSSLESS_FULL, HEALTH_HEADROOM_DROPS },
	{ "pauses in, priority 7",
	  COUNTERS_PRIO_AT + 7 * COUNTERS_PRIO_ROWS + COUNTERS_PRIO_RX_PAUSE_TRANSITIONS,
	  HEALTH_XOFF_RX },
	{ "pauses out, group 0", COUNTERS_PG_AT + COUNTERS_PG_XOFF_EVENTS, HEALTH_XOFF_TX },
	{ "storms, queue 3",
	  COUNTERS_QUEUE_AT + 3 * COUNTERS_QUEUE_ROWS +
		  COUNTERS_QUEUE_PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED,
	  HEALTH_STORMS },
};

TABLE_TEST(health, what_rates_are_of, row, of_rows)
{
	struct bed *bed = open_bed(HISTORY);

	second(bed);
	*port_value(bed, LEAF2, 3, row->place) += 30;
	bed->now = ns_add(bed->now, SECOND_NS);
	report(bed, LEAF2, 3 * SECOND_NS);
	for (uint32_t i = 0; i < HEALTH_ROW_COUNT; i++)
		cr_assert_eq(port_of(bed, LEAF2, 3)->rate[i], i == row->row ? 10 : 0, "%s: %s",
			     row->what, health_row_keys[i]);
	cr_assert_eq(port_of(bed, LEAF2, 2)->rate[row->row], 0, "another port");
}

// The worst priority counts, not their sum, and what a device does not know is no time.
Test(health, shares_of_time)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t three = counters_prio_at(1, 3), four = counters_prio_at(1, 4);

	second(bed);
	*value(bed, LEAF1, three + COUNTERS_PRIO_RX_PAUSE_DURATION_US) = 250000;
	*value(bed, LEAF1, four + COUNTERS_PRIO_RX_PAUSE_DURATION_US) = 750000;
	*value(bed, LEAF1, three + COUNTERS_PRIO_TX_PAUSE_DURATION_US) = 125000;
	second(bed);
	cr_assert_eq(port_of(bed, LEAF1, 1)->rate[HEALTH_PAUSED], 0.75f);
	cr_assert_eq(port_of(bed, LEAF1, 1)->rate[HEALTH_PAUSING], 0.125f);
	*value(bed, LEAF1, four + COUNTERS_PRIO_RX_PAUSE_DURATION_US) = COUNTERS_UNKNOWN;
	second(bed);
	cr_assert_eq(port_of(bed, LEAF1, 1)->rate[HEALTH_PAUSED], 0);
}

Test(health, only_drops_of_lossless_classes)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t group = counters_pg_at(0, 3), queue = counters_queue_at(0, 3);

	*value(bed, LEAF1, group + PG_STATE_LOSSLESS) = 1;
	second(bed);
	*value(bed, LEAF1, group + COUNTERS_PG_DROPPED_PACKETS) += 5;
	*value(bed, LEAF1, queue + COUNTERS_QUEUE_DROPPED_PACKETS) += 100;
	second(bed);
	cr_assert_eq(port_of(bed, LEAF1, 0)->rate[HEALTH_LOSSLESS_DROPS], 5);
	// The queue becomes lossless: what it dropped before is not held against it.
	*value(bed, LEAF1, queue + QUEUE_STATE_LOSSLESS) = 1;
	second(bed);
	cr_assert_eq(port_of(bed, LEAF1, 0)->rate[HEALTH_LOSSLESS_DROPS], 0);
	*value(bed, LEAF1, queue + COUNTERS_QUEUE_DROPPED_PACKETS) += 7;
	second(bed);
	cr_assert_eq(port_of(bed, LEAF1, 0)->rate[HEALTH_LOSSLESS_DROPS], 7);
}

// --- history ------------------------------------------------------------------------------------

Test(health, history_of_seconds)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t port = health_port_of(&bed->health, LEAF2, 1);

	cr_assert_eq(bed->health.step_s, 1);
	second(bed);
	for (uint64_t i = 1; i <= 10; i++) {
		*port_value(bed, LEAF2, 1, COUNTERS_PORT_IF_OUT_OCTETS) += 100 * i;
		second(bed);
	}
	// A report is of the second before it.
	for (uint32_t ago = 1; ago <= 9; ago++)
		cr_assert_eq(health_past(&bed->health, port, HEALTH_TX_BYTES, ago),
			     100 * (11 - (double)ago));
	cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, 15), 0, "before it began");
	cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, 0), 0);
	cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, bed->health.slots), 0);
}

Test(health, history_of_silence_is_unknown)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t port = health_port_of(&bed->health, LEAF1, 0);

	for (uint32_t i = 0; i < 5; i++)
		second(bed);
	for (uint32_t i = 0; i < 3; i++) {
		bed->now = ns_add(bed->now, SECOND_NS);
		health_second(&bed->health, bed->now);
	}
	cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, 1), 0);
	cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, 3), 0);
	cr_assert_eq(health_past(&bed->health, port, HEALTH_TX_BYTES, 4), 0);
	// The caller was away for two hours: nothing of before is shown as new.
	bed->now = ns_add(bed->now, 7200 * SECOND_NS);
	health_second(&bed->health, bed->now);
	for (uint32_t ago = 1; ago < bed->health.slots; ago++)
		cr_assert_lt(health_past(&bed->health, port, HEALTH_TX_BYTES, ago), 0);
}

Test(health, history_wraps_around)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t port = health_port_of(&bed->health, SPINE, 1);

	for (uint64_t i = 0; i < 3700; i++) {
		*port_value(bed, SPINE, 1, COUNTERS_PORT_IF_IN_OCTETS) += i;
		second(bed);
	}
	cr_assert_eq(health_past(&bed->health, port, HEALTH_RX_BYTES, 1), 3699);
	cr_assert_eq(health_past(&bed->health, port, HEALTH_RX_BYTES, 3600), 100);
}

// Steps hold the mean of rates and the largest of peaks.
Test(health, coarser_history)
{
	const size_t hour = 3600 * HEALTH_ROW_COUNT * sizeof(float) * (2 * PORTS_OF_LEAF + 2);
	struct bed *bed = open_bed(hour / 9);
	const uint32_t port = health_port_of(&bed->health, LEAF1, 0);
	const uint32_t queue = counters_queue_at(0, 2) + QUEUE_STATE_PEAK_BYTES;

	cr_assert_eq(bed->health.step_s, 10);
	for (uint64_t i = 0; i < 31; i++) {
		*port_value(bed, LEAF1, 0, COUNTERS_PORT_IF_IN_OCTETS) += 10 * i;
		*value(bed, LEAF1, queue) = i == 14 ? 9000 : 100;
		second(bed);
	}
	// What came in seconds 1011 to 1020 is of i = 10..19, whose mean is 14.5.
	cr_assert_float_eq(health_past(&bed->health, port, HEALTH_RX_BYTES, 2), 145, 0.01);
	cr_assert_eq(health_past(&bed->health, port, HEALTH_PEAK_BYTES, 2), 9000);
	cr_assert_eq(health_past(&bed->health, port, HEALTH_PEAK_BYTES, 1), 100);
}

static const struct {
	const char *what;
	uint32_t ports;
	size_t bytes;
	uint32_t want;
} step_rows[] = {
	{ "a lab", 160, 256 << 20, 1 },
	{ "all that fits into a second", 10, 3601 * 10 * HEALTH_ROW_COUNT * 4, 1 },
	{ "a byte less", 10, 3601 * 10 * HEALTH_ROW_COUNT * 4 - 1, 2 },
	{ "next to no memory", 1 << 20, 1, 3600 },
};

TABLE_TEST(health, step, row, step_rows)
{
	cr_assert_eq(health_step_seconds(row->ports, row->bytes), row->want, "%s", row->what);
}

// --- alarms -------------------------------------------------------------------------------------

static const struct {
	const char *what;
	struct alarm_limits limits;
	double level[12]; // of each second
	const char *want; // 1: on, likewise
} alarm_rows[] = {
	{ "at once", { 0, 0, 0, 0 }, { 0, 1, 0, 5 }, "0101" },
	{ "at the limit is not above it", { 5, 5, 0, 0 }, { 5, 6, 5 }, "010" },
	{ "not before its time", { 5, 5, 2, 0 }, { 9, 9, 9, 9 }, "0011" },
	{ "a moment back starts the time again", { 5, 5, 2, 0 }, { 9, 9, 0, 9, 9, 9 }, "000001" },
	{ "between the limits nothing changes",
	  { 50, 20, 0, 0 },
	  { 49, 51, 30, 21, 20, 30 },
	  "011100" },
	{ "cleared only when it stays low",
	  { 0, 0, 0, 3 },
	  { 1, 0, 0, 1, 0, 0, 0, 0 },
	  "11111110" },
};

TABLE_TEST(health, hysteresis, row, alarm_rows)
{
	struct health_alarm alarm = { .on = false };
	char got[16] = "";

	for (uint32_t i = 0; i < strlen(row->want); i++) {
		const bool was = alarm.on;
		const bool changed = health_alarm_step(&alarm, &row->limits, row->level[i],
						       (ns_t){ (i + 1) * SECOND_NS });

		cr_assert_eq(changed, was != alarm.on);
		got[i] = alarm.on ? '1' : '0';
	}
	cr_assert_str_eq(got, row->want, "%s", row->what);
}

// A value of a port that raises its alarm, second after second.
static const struct {
	const char *what;
	enum alarm_kind kind;
	uint32_t place;
	uint64_t first, more;
	uint32_t seconds; // until it is raised
} raise_rows[] = {
	{ "one frame that came too late", ALARM_HEADROOM_OVERFLOW,
	  COUNTERS_DROP_AT + COUNTERS_DROP_PG_LOSSLESS_FULL, 0, 1, 1 },
	{ "a storm", ALARM_PFC_STORM, COUNTERS_QUEUE_AT + COUNTERS_QUEUE_PFC_WD_STATUS, 1, 0, 1 },
	{ "a storm that is over already", ALARM_PFC_STORM,
	  COUNTERS_QUEUE_AT + COUNTERS_QUEUE_PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED, 0, 1, 1 },
	{ "paused 60 % of the time", ALARM_PAUSED,
	  COUNTERS_PRIO_AT + COUNTERS_PRIO_RX_PAUSE_DURATION_US, 0, 600000, 11 },
	{ "50 errors a second", ALARM_ERRORS, COUNTERS_PORT_RX_MISSED, 0, 50, 6 },
};

TABLE_TEST(health, raised_by, row, raise_rows)
{
	struct bed *bed = open_bed(HISTORY);
	const struct health_alarm *alarm = &port_of(bed, LEAF1, 0)->alarm[row->kind];

	second(bed);
	*port_value(bed, LEAF1, 0, row->place) = row->first;
	for (uint32_t i = 1; i <= row->seconds; i++) {
		cr_assert_not(alarm->on, "%s, second %u", row->what, i);
		*port_value(bed, LEAF1, 0, row->place) += row->more;
		second(bed);
	}
	cr_assert(alarm->on, "%s", row->what);
	cr_assert_eq(bed->health.change_count, 1, "and no other");
	cr_assert_eq(bed->health.change[0].object, health_port_of(&bed->health, LEAF1, 0));
	cr_assert_eq(bed->health.change[0].kind, row->kind);
	*port_value(bed, LEAF1, 0, row->place) -= row->first;
	for (uint32_t i = 0; i < 120; i++)
		second(bed);
	cr_assert_not(alarm->on);
	cr_assert_eq(bed->health.change_count, 2);
}

static void lose_link(struct bed *bed, uint32_t port)
{
	health_link(&bed->health, SPINE, port, true, bed->now);
	health_link(&bed->health, SPINE, port, false, bed->now);
}

Test(health, flapping)
{
	struct bed *bed = open_bed(HISTORY);
	const struct health_alarm *alarm = &port_of(bed, SPINE, 1)->alarm[ALARM_FLAPPING];

	for (uint32_t i = 0; i < 3; i++) {
		cr_assert_not(alarm->on, "%u losses", i);
		lose_link(bed, 1);
		second(bed);
	}
	cr_assert(alarm->on);
	cr_assert_eq(alarm->level, 3);
	for (uint32_t i = 0; i < 130; i++)
		second(bed);
	cr_assert_not(alarm->on);
	for (uint32_t i = 0; i < 1000; i++)
		lose_link(bed, 1);
	second(bed);
	cr_assert_eq(alarm->level, HEALTH_FLAPS_MAX);
	lose_link(bed, 99);
}

Test(health, alarms_of_switches)
{
	struct bed *bed = open_bed(HISTORY);
	const struct health_alarm *alarm = bed->health.switches[LEAF2].alarm;
	const uint32_t pool = counters_pool_at(1);

	health_second(&bed->health, bed->now);
	cr_assert_not(alarm[ALARM_HEADLESS].on, "it was never there");
	*value(bed, LEAF2, pool + POOL_STATE_SIZE_BYTES) = 1000;
	*value(bed, LEAF2, pool + COUNTERS_POOL_CURR_OCCUPANCY_BYTES) = 950;
	for (uint32_t i = 0; i < 6; i++)
		second(bed);
	cr_assert(alarm[ALARM_BUFFER_FULL].on);
	cr_assert_float_eq(alarm[ALARM_BUFFER_FULL].level, 95, 0.01);
	health_life(&bed->health, LEAF2, false);
	health_second(&bed->health, bed->now);
	cr_assert(alarm[ALARM_HEADLESS].on);
	second(bed);
	cr_assert_not(alarm[ALARM_HEADLESS].on);
	bed->health.switches[LEAF2].unreadable = true;
	for (uint32_t i = 0; i < 6; i++) {
		bed->now = ns_add(bed->now, SECOND_NS);
		health_second(&bed->health, bed->now);
	}
	cr_assert(alarm[ALARM_UNREADABLE].on);
}

// The last rates of a switch that is silent are no reason to keep an alarm of its ports.
Test(health, silence_clears_rates)
{
	struct bed *bed = open_bed(HISTORY);
	const struct health_alarm *alarm = &port_of(bed, LEAF1, 0)->alarm[ALARM_HEADROOM_OVERFLOW];

	second(bed);
	*port_value(bed, LEAF1, 0, COUNTERS_DROP_AT + COUNTERS_DROP_PG_LOSSLESS_FULL) = 9;
	second(bed);
	cr_assert(alarm->on);
	for (uint32_t i = 0; i < 70; i++) {
		bed->now = ns_add(bed->now, SECOND_NS);
		health_second(&bed->health, bed->now);
	}
	cr_assert_not(alarm->on);
}

// --- storms -------------------------------------------------------------------------------------

// A port is paused by its peer for all of each second from now on.
static void pause(struct bed *bed, uint32_t at, uint32_t port)
{
	*value(bed, at, counters_prio_at(port, 3) + COUNTERS_PRIO_RX_PAUSE_DURATION_US) += 1000000;
}

static struct health_storm find(struct bed *bed)
{
	struct health_storm storm;
	const size_t before = bed->scratch.used;

	second(bed);
	cr_assert_eq(health_storm_find(&bed->health, 0.5, bed->now, &bed->scratch, &storm), 0);
	cr_assert_eq(bed->scratch.used, before);
	return storm;
}

Test(storm, nobody)
{
	struct bed *bed = open_bed(HISTORY);

	second(bed);
	cr_assert_eq(find(bed).count, 0);
}

// Host c pauses its port; leaf2 pauses the spine, the spine pauses leaf1.
Test(storm, a_host_that_pauses)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_storm storm;

	second(bed);
	pause(bed, LEAF2, 0);
	pause(bed, SPINE, 1);
	pause(bed, LEAF1, UPLINK);
	storm = find(bed);
	cr_assert_eq(storm.count, 1);
	cr_assert_eq(storm.pauses, 3);
	cr_assert_eq(storm.root[0].kind, HEALTH_ROOT_HOST);
	cr_assert_eq(storm.root[0].at, LEAF2);
	cr_assert_eq(storm.root[0].port, 0);
	cr_assert_eq(storm.root[0].victims, 2);
}

// More is sent to host d than its link takes: d pauses nobody, the port towards it is full.
Test(storm, a_port_that_is_full)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_storm storm;

	second(bed);
	pause(bed, SPINE, 1);
	pause(bed, LEAF1, UPLINK);
	*value(bed, LEAF2, counters_queue_at(1, 3) + QUEUE_STATE_PEAK_BYTES) = 1 << 20;
	storm = find(bed);
	cr_assert_eq(storm.count, 1);
	cr_assert_eq(storm.root[0].kind, HEALTH_ROOT_SWITCH);
	cr_assert_eq(storm.root[0].at, LEAF2);
	cr_assert_eq(storm.root[0].port, 1);
	cr_assert_eq(storm.root[0].victims, 2);
	cr_assert_float_eq(storm.root[0].share, 1, 0.01);
}

// Two reasons at once: the one with more victims comes first, and each has its own.
Test(storm, two_reasons)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_storm storm;

	second(bed);
	pause(bed, LEAF1, 1);
	pause(bed, LEAF2, 0);
	pause(bed, SPINE, 1);
	storm = find(bed);
	cr_assert_eq(storm.count, 2);
	cr_assert_eq(storm.root[0].at, LEAF2);
	cr_assert_eq(storm.root[0].victims, 1);
	cr_assert_eq(storm.root[1].at, LEAF1);
	cr_assert_eq(storm.root[1].victims, 0);
}

// Every switch waits for the other: no tree, and nobody is the reason.
Test(storm, a_ring)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_storm storm;

	second(bed);
	pause(bed, LEAF1, UPLINK);
	pause(bed, SPINE, 0);
	storm = find(bed);
	cr_assert_eq(storm.count, 1);
	cr_assert_eq(storm.root[0].kind, HEALTH_ROOT_RING);
	cr_assert_eq(storm.root[0].victims, 2);
}

Test(storm, old_news)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_storm storm;

	second(bed);
	pause(bed, LEAF2, 0);
	second(bed);
	bed->now = ns_add(bed->now, 30 * SECOND_NS);
	cr_assert_eq(health_storm_find(&bed->health, 0.5, bed->now, &bed->scratch, &storm), 0);
	cr_assert_eq(storm.count, 0);
}

// --- cables -------------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t at, port;
	const char *name, *remote_port;
	enum health_cable want;
} cable_rows[] = {
	{ "as meant", LEAF1, UPLINK, "spine1", "Ethernet0", HEALTH_CABLE_RIGHT },
	{ "as meant, from above", SPINE, 1, "leaf2", "Ethernet4", HEALTH_CABLE_RIGHT },
	{ "another port", LEAF1, UPLINK, "spine1", "Ethernet1", HEALTH_CABLE_WRONG },
	{ "another switch", LEAF1, UPLINK, "leaf2", "Ethernet0", HEALTH_CABLE_WRONG },
	{ "a host instead", LEAF1, UPLINK, "a", "eth0", HEALTH_CABLE_WRONG },
	{ "somebody from elsewhere", LEAF1, UPLINK, "router", "ge0", HEALTH_CABLE_WRONG },
	{ "nobody", LEAF1, UPLINK, "", "", HEALTH_CABLE_QUIET },
	{ "a host", LEAF1, 1, "b", "eth0", HEALTH_CABLE_RIGHT },
	{ "a host with its domain", LEAF1, 1, "b.lab.example", "eth0", HEALTH_CABLE_RIGHT },
	{ "another host", LEAF1, 1, "a", "eth0", HEALTH_CABLE_WRONG },
	{ "a name that begins like it", LEAF1, 1, "bb", "eth0", HEALTH_CABLE_UNKNOWN },
	{ "a host that has another name", LEAF1, 1, "localhost", "eth0", HEALTH_CABLE_UNKNOWN },
	{ "a switch where nobody is meant to be", LEAF1, 2, "spine1", "Ethernet0",
	  HEALTH_CABLE_WRONG },
	{ "somebody else there", LEAF1, 2, "printer", "1", HEALTH_CABLE_UNKNOWN },
};

TABLE_TEST(health, cables, row, cable_rows)
{
	struct bed *bed = open_bed(HISTORY);
	const struct health_alarm *alarm =
		&port_of(bed, row->at, row->port)->alarm[ALARM_MISCABLED];

	health_neighbor(&bed->health, row->at, row->port, row->name, row->remote_port, "02:00");
	cr_assert_eq(health_cable_judge(&bed->health, row->at, row->port), row->want, "%s",
		     row->what);
	for (uint32_t i = 0; i < 6; i++)
		second(bed);
	cr_assert_eq(alarm->on, row->want == HEALTH_CABLE_WRONG, "%s", row->what);
	health_forget_neighbors(&bed->health, row->at);
	second(bed);
	cr_assert_not(alarm->on);
}

Test(health, what_is_expected)
{
	struct bed *bed = open_bed(HISTORY);
	struct health_expected expected = health_expected(&bed->health, SPINE, 0);

	cr_assert_str_eq(expected.name, "leaf1");
	cr_assert_str_eq(expected.port, "Ethernet4");
	expected = health_expected(&bed->health, LEAF2, 1);
	cr_assert_str_eq(expected.name, "d");
	cr_assert_str_eq(expected.port, "");
	cr_assert_str_eq(health_expected(&bed->health, LEAF2, 3).name, "");
	// A peer may send what it likes.
	health_neighbor(&bed->health, LEAF1, 0,
			"0123456789012345678901234567890123456789012345678901234567890123456789",
			"p", "c");
	cr_assert_eq(strlen(port_of(bed, LEAF1, 0)->neighbor.name), HEALTH_TEXT_BYTES - 1);
	health_neighbor(&bed->health, LEAF1, 1000, "a", "b", "c");
}

// --- histograms ---------------------------------------------------------------------------------

Test(health, histograms)
{
	struct bed *bed = open_bed(HISTORY);
	const uint32_t queue = counters_queue_at(0, 5);
	const struct health_histogram *depth = &bed->health.switches[LEAF1].depth[5];
	const struct health_histogram *delay = &bed->health.switches[LEAF1].delay[5];
	static const uint64_t depths[] = { 1, 1024, 1025, 5 << 20 };

	second(bed);
	for (uint32_t i = 0; i < 4; i++) {
		*value(bed, LEAF1, queue + QUEUE_STATE_PEAK_BYTES) = depths[i];
		*value(bed, LEAF1, queue + QUEUE_STATE_PEAK_DELAY_NS) = 1001;
		second(bed);
	}
	*value(bed, LEAF1, queue + QUEUE_STATE_PEAK_BYTES) = 0;
	*value(bed, LEAF1, queue + QUEUE_STATE_PEAK_DELAY_NS) = 0;
	second(bed);
	cr_assert_eq(depth->count[0], 0);
	cr_assert_eq(depth->count[1], 2, "up to 1 KiB");
	cr_assert_eq(depth->count[2], 1);
	cr_assert_eq(depth->count[HEALTH_BUCKETS - 1], 1);
	cr_assert_eq(depth->sum, 1 + 1024 + 1025 + (5 << 20));
	cr_assert_eq(delay->count[1], 4);
	cr_assert_eq(delay->sum, 4004);
	cr_assert_eq(bed->health.switches[LEAF1].depth[4].sum, 0);
	for (uint32_t i = 1; i < HEALTH_BUCKETS - 1; i++) {
		cr_assert_lt(health_depth_limits[i - 1], health_depth_limits[i]);
		cr_assert_lt(health_delay_limits[i - 1], health_delay_limits[i]);
	}
}

// Ports of all switches are numbered one after the other.
Test(health, numbers_of_ports)
{
	struct bed *bed = open_bed(HISTORY);

	for (uint32_t at = 0; at < SWITCHES; at++) {
		for (uint32_t i = 0; i < bed->fabric.switches[at].port_count; i++)
			cr_assert_eq(health_switch_of(&bed->health,
						      health_port_of(&bed->health, at, i)),
				     at);
	}
	cr_assert_eq(bed->health.port_count, 2 * PORTS_OF_LEAF + 2);
}
