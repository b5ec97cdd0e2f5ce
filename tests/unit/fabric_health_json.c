// SPDX-License-Identifier: BSD-3-Clause
//
// Health as JSON, of the example leaf-spine.cfg whose switches report what the tests say: counters
// and rates, the worst ports first, storms, cables, alarms and history, and what is said of names
// that are not there.

#include "fabricmgr/net/health_json.h"

#include <string.h>

#include "fabricmgr/net/health_errors.h"
#include "fabricmgr/source.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

#define SECOND_NS 1000000000ull

enum { LEAF1 = 0, LEAF2 = 1, SPINE1 = 4, SWITCHES = 6, HISTORY = 16 << 20 };

struct bed {
	struct source source;
	struct arena keep;
	struct arena scratch;
	struct health health;
	ns_t now;
	char why[FIND_WHY_BYTES];
};

static struct bed *open_bed(void)
{
	static struct bed bed;

	cr_assert_eq(source_open(&bed.source, LEAF_SPINE, stderr), 0);
	bed.keep = graph_arena();
	bed.scratch = graph_arena();
	bed.now = (ns_t){ 1000 * SECOND_NS };
	cr_assert_eq(health_init(&bed.health, &bed.source.fabric, HISTORY, bed.now, &bed.keep), 0);
	return &bed;
}

static uint64_t *port_value(struct bed *bed, uint32_t at, uint32_t port, uint32_t row)
{
	return &bed->health.switches[at].values[counters_port_at(port) + row];
}

static void second(struct bed *bed)
{
	bed->now = ns_add(bed->now, SECOND_NS);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		bed->health.switches[i].values[SWITCH_STATE_UPTIME_NS] += SECOND_NS;
		health_life(&bed->health, i, true);
		health_report(&bed->health, i, bed->now);
	}
	health_second(&bed->health, bed->now);
}

// "a.b.0.c" in an object; the test fails when it is not there.
static const json_t *at(const json_t *json, const char *path)
{
	char key[64];

	while (*path != '\0') {
		const size_t len = strcspn(path, ".");

		memcpy(key, path, len);
		key[len] = '\0';
		json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) :
					     json_object_get(json, key);
		cr_assert_not_null(json, "%s", path);
		path += len + (path[len] == '.');
	}
	return json;
}

static const char *text(const json_t *json, const char *path)
{
	return json_string_value(at(json, path));
}

static double number(const json_t *json, const char *path)
{
	return json_number_value(at(json, path));
}

Test(health_json, counters_of_all)
{
	struct bed *bed = open_bed();
	json_t *json;

	json = health_counters_json(&bed->health, NULL, NULL, bed->now, bed->why);
	cr_assert_eq(json_array_size(at(json, "switches")), SWITCHES);
	cr_assert(json_is_null(at(json, "switches.0.age_ns")), "it has not reported");
	json_decref(json);
	second(bed);
	*port_value(bed, LEAF2, 0, COUNTERS_PORT_IF_IN_OCTETS) = 300;
	*port_value(bed, LEAF2, 5, COUNTERS_PORT_IF_IN_OCTETS) = 200;
	bed->health.switches[LEAF2].values[COUNTERS_SWITCH_RX_PACKETS] = 9;
	second(bed);
	json = health_counters_json(&bed->health, NULL, NULL, ns_add(bed->now, 5), bed->why);
	cr_assert_str_eq(text(json, "switches.1.switch"), "leaf2");
	cr_assert_eq(number(json, "switches.1.age_ns"), 5);
	cr_assert_eq(number(json, "switches.1.rates.rx_bytes"), 500);
	cr_assert_eq(number(json, "switches.1.stats.rx_packets"), 9);
	json_decref(json);
}

Test(health_json, counters_of_one)
{
	struct bed *bed = open_bed();
	uint64_t *values = bed->health.switches[LEAF1].values;
	json_t *json;

	values[counters_queue_at(2, 3) + COUNTERS_QUEUE_BYTES] = 77;
	values[counters_prio_at(2, 3) + COUNTERS_PRIO_PFC_RX_PKTS] = COUNTERS_UNKNOWN;
	values[counters_prio_at(2, 3) + COUNTERS_PRIO_PFC_TX_PKTS] = 1;
	values[counters_drop_at(2) + COUNTERS_DROP_QUEUE_FULL] = 4;
	second(bed);
	json = health_counters_json(&bed->health, "leaf1", NULL, bed->now, bed->why);
	cr_assert_eq(json_array_size(at(json, "ports")), 6);
	cr_assert_str_eq(text(json, "ports.2.name"), "Ethernet2");
	cr_assert_eq(json_array_size(at(json, "ports.2.queues")), 1);
	cr_assert_eq(number(json, "ports.2.queues.0.queue"), 3);
	cr_assert_eq(number(json, "ports.2.queues.0.bytes"), 77);
	cr_assert(json_is_null(at(json, "ports.2.priorities.0.pfc_rx_pkts")), "not known");
	cr_assert_eq(number(json, "ports.2.drops.QUEUE_FULL"), 4);
	cr_assert_eq(json_object_size(at(json, "ports.2.drops")), 1);
	json_decref(json);
	json = health_counters_json(&bed->health, "leaf1", "Ethernet2", bed->now, bed->why);
	cr_assert_eq(json_array_size(at(json, "ports")), 1);
	cr_assert_eq(number(json, "ports.0.queues.0.bytes"), 77);
	json_decref(json);
}

static const struct {
	const char *what;
	const char *at, *port, *row;
	const char *why; // part of it
} absent_rows[] = {
	{ "a switch", "leaf9", "Ethernet1", NULL, "there is no switch leaf9" },
	{ "a port", "leaf1", "Ethernet99", NULL, "leaf1 has no port Ethernet99" },
	{ "a row", NULL, "leaf1:Ethernet1", "tx_byte", "did you mean tx_bytes?" },
	{ "a switch of history", NULL, "leaf9:Ethernet1", "drops", "there is no switch leaf9" },
	{ "a port of history", NULL, "leaf1:Ethernet99", "drops", "no port Ethernet99" },
	{ "no port", NULL, "leaf1", "drops", "leaf1:Ethernet4" },
};

TABLE_TEST(health_json, absent, row, absent_rows)
{
	struct bed *bed = open_bed();
	json_t *json = row->row == NULL ?
			       health_counters_json(&bed->health, row->at, row->port, bed->now,
						    bed->why) :
			       health_history_json(&bed->health, row->port, row->row, 60, bed->why);

	cr_assert_null(json);
	cr_assert_not_null(strstr(bed->why, row->why), "%s: %s", row->what, bed->why);
}

// A lossless drop is worse than any number of others, a pause is the least.
Test(health_json, the_worst_ports_first)
{
	struct bed *bed = open_bed();
	uint64_t *values = bed->health.switches[LEAF2].values;
	json_t *json;

	values[counters_pg_at(1, 3) + PG_STATE_LOSSLESS] = 1;
	second(bed);
	json = health_errors_json(&bed->health, bed->now, &bed->scratch);
	cr_assert_eq(json_array_size(at(json, "ports")), 0);
	json_decref(json);
	values[counters_pg_at(1, 3) + COUNTERS_PG_DROPPED_PACKETS] = 1;
	*port_value(bed, LEAF1, 3, COUNTERS_PORT_OUT_DROPPED_PKTS) = 100000;
	*port_value(bed, LEAF1, 2, COUNTERS_PORT_RX_MISSED) = 2000;
	bed->health.switches[SPINE1]
		.values[counters_prio_at(0, 3) + COUNTERS_PRIO_RX_PAUSE_DURATION_US] = 500000;
	second(bed);
	json = health_errors_json(&bed->health, bed->now, &bed->scratch);
	cr_assert_eq(json_array_size(at(json, "ports")), 4);
	cr_assert_str_eq(text(json, "ports.0.switch"), "leaf2");
	cr_assert_eq(number(json, "ports.0.lossless_dropped"), 1);
	cr_assert_str_eq(text(json, "ports.0.alarms.0"), "LOSSLESS_DROPS");
	cr_assert_str_eq(text(json, "ports.1.port"), "Ethernet2");
	cr_assert_str_eq(text(json, "ports.2.port"), "Ethernet3");
	cr_assert_str_eq(text(json, "ports.3.switch"), "spine1");
	cr_assert_str_eq(text(json, "storms.roots.0.kind"), "switch");
	cr_assert_str_eq(text(json, "storms.roots.0.switch"), "leaf1");
	json_decref(json);
}

// There is no end to bad ports: the list has one.
Test(health_json, a_bounded_list)
{
	struct bed *bed = open_bed();
	const uint32_t total = bed->health.port_count;
	json_t *json;

	second(bed);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		for (uint32_t k = 0; k < bed->source.fabric.switches[i].port_count; k++)
			*port_value(bed, i, k, COUNTERS_PORT_RX_MISSED) = 1 + 10 * i + k;
	}
	second(bed);
	json = health_errors_json(&bed->health, bed->now, &bed->scratch);
	cr_assert_eq(json_array_size(at(json, "ports")),
		     total < HEALTH_JSON_PORTS_MAX ? total : HEALTH_JSON_PORTS_MAX);
	for (size_t i = 1; i < json_array_size(at(json, "ports")); i++)
		cr_assert_geq(number(json_array_get(at(json, "ports"), i - 1), "badness"),
			      number(json_array_get(at(json, "ports"), i), "badness"));
	json_decref(json);
}

Test(health_json, cables)
{
	struct bed *bed = open_bed();
	json_t *json;

	health_neighbor(&bed->health, LEAF1, 4, "spine2", "Ethernet0", "02:00");
	health_neighbor(&bed->health, LEAF1, 0, "\xff\xfe", "eth0", "02:01");
	health_neighbor(&bed->health, LEAF2, 0, "host5", "eth0", "02:02");
	json = health_errors_json(&bed->health, bed->now, &bed->scratch);
	cr_assert_eq(json_array_size(at(json, "cables")), 2);
	cr_assert_str_eq(text(json, "cables.0.seen"), "??");
	cr_assert_str_eq(text(json, "cables.0.expected"), "host1");
	cr_assert_str_eq(text(json, "cables.0.state"), "unknown");
	cr_assert_str_eq(text(json, "cables.1.port"), "Ethernet4");
	cr_assert_str_eq(text(json, "cables.1.expected"), "spine1");
	cr_assert_str_eq(text(json, "cables.1.expected_port"), "Ethernet0");
	cr_assert_str_eq(text(json, "cables.1.seen"), "spine2");
	cr_assert_str_eq(text(json, "cables.1.seen_port"), "Ethernet0");
	cr_assert_str_eq(text(json, "cables.1.state"), "wrong");
	json_decref(json);
}

Test(health_json, alarms)
{
	struct bed *bed = open_bed();
	json_t *json;

	second(bed);
	json = health_alarms_json(&bed->health, bed->now);
	cr_assert_eq(json_array_size(at(json, "alarms")), 0);
	json_decref(json);
	*port_value(bed, LEAF1, 3, COUNTERS_DROP_AT + COUNTERS_DROP_PG_LOSSLESS_FULL) = 8;
	second(bed);
	health_life(&bed->health, LEAF2, false);
	bed->now = ns_add(bed->now, SECOND_NS);
	health_second(&bed->health, bed->now);
	json = health_alarms_json(&bed->health, ns_add(bed->now, SECOND_NS));
	cr_assert_eq(json_array_size(at(json, "alarms")), 2);
	cr_assert_str_eq(text(json, "alarms.0.alarm"), "HEADLESS");
	cr_assert_str_eq(text(json, "alarms.0.switch"), "leaf2");
	cr_assert_eq(number(json, "alarms.0.for_ns"), SECOND_NS);
	cr_assert_null(json_object_get(at(json, "alarms.0"), "port"));
	cr_assert_str_eq(text(json, "alarms.1.alarm"), "HEADROOM_OVERFLOW");
	cr_assert_str_eq(text(json, "alarms.1.port"), "Ethernet3");
	cr_assert_str_eq(text(json, "alarms.1.severity"), "error");
	cr_assert_eq(number(json, "alarms.1.level"), 8);
	json_decref(json);
}

Test(health_json, history)
{
	struct bed *bed = open_bed();
	json_t *json;

	for (uint64_t i = 0; i < 6; i++) {
		*port_value(bed, LEAF1, 3, COUNTERS_PORT_IF_OUT_OCTETS) += 100 * i;
		second(bed);
	}
	json = health_history_json(&bed->health, "leaf1:Ethernet3", "tx_bytes", 10, bed->why);
	cr_assert_eq(number(json, "step_s"), 1);
	cr_assert_eq(json_array_size(at(json, "values")), 10);
	cr_assert(json_is_null(at(json, "values.3")), "before it began");
	cr_assert_eq(number(json, "values.4"), 0);
	cr_assert_eq(number(json, "values.5"), 100);
	cr_assert_eq(number(json, "values.9"), 500);
	json_decref(json);
	json = health_history_json(&bed->health, "", "", 10, bed->why);
	cr_assert_eq(json_array_size(at(json, "rows")), HEALTH_ROW_COUNT);
	json_decref(json);
	json = health_history_json(&bed->health, "leaf1:Ethernet3", "drops", UINT32_MAX, bed->why);
	cr_assert_eq(json_array_size(at(json, "values")), HEALTH_HISTORY_SECONDS);
	json_decref(json);
}

// --- sentences --------------------------------------------------------------------------------

// Of two seconds in which spine1 was paused, leaf2 dropped what is lossless, and LLDP heard another
// spine at leaf1 for long enough; leaf4 does not call, which others say.
Test(health_json, errors_in_sentences)
{
	struct bed *bed = open_bed();
	json_t *list = json_array();

	bed->health.switches[LEAF2].values[counters_pg_at(1, 3) + PG_STATE_LOSSLESS] = 1;
	health_neighbor(&bed->health, LEAF1, 4, "spine2", "Ethernet3", "");
	for (uint32_t i = 0; i < 9; i++) {
		bed->health.switches[SPINE1].values[counters_prio_at(0, 3) +
						    COUNTERS_PRIO_RX_PAUSE_DURATION_US] += 600000;
		*port_value(bed, LEAF1, 3, COUNTERS_PORT_OUT_DROPPED_PKTS) += 1;
		second(bed);
	}
	bed->health.switches[LEAF2].values[counters_pg_at(1, 3) + COUNTERS_PG_DROPPED_PACKETS] = 2;
	bed->health.switches[SPINE1]
		.values[counters_prio_at(0, 3) + COUNTERS_PRIO_RX_PAUSE_DURATION_US] += 600000;
	second(bed);
	health_life(&bed->health, 3, false);
	health_errors_add(&bed->health, bed->now, &bed->scratch, list);
	cr_assert_eq(json_array_size(list), 3);
	cr_assert_str_eq(text(list, "0.object"), "leaf2:Ethernet1");
	cr_assert_str_eq(text(list, "0.severity"), "error");
	cr_assert_str_eq(text(list, "0.what"),
			 "frames of a lossless class are dropped at the port (2 frames/s now)");
	cr_assert_str_eq(text(list, "0.advice"), "weft -n leaf2 show why Ethernet1 says more");
	cr_assert_str_eq(text(list, "1.object"), "leaf1:Ethernet4");
	cr_assert_str_eq(text(list, "1.what"),
			 "its cable is meant for spine1:Ethernet0 and leads to spine2:Ethernet3");
	cr_assert_not_null(strstr(text(list, "2.what"), "ports that wait for it: 1"));
	json_decref(list);
}
