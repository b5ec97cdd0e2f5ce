// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of weft show why about ECN: a queue at its marking thresholds, and thresholds unlike those
// of equal ports. Both are congestion control or its setting, and hold nothing by themselves.

#include <stdio.h>
#include <string.h>

#include "base/types.h"
#include "tests/table.h"
#include "tests/unit/why_scene.h"

static const struct why_row rows[] = {
	{ "above Kmin",
	  "",
	  WHY_Q "curr_occupancy_bytes=30000 " WHY_Q "wred_ecn_marked_packets=50 " WHY_Q
		"packets=2000",
	  "above_kmin",
	  WHY_WARNING,
	  "queue 3",
	  { "30,000", "Kmin 20,000", "100 frames/s" },
	  .advice = "weft show roce" },
	{ "above Kmin, and nothing is marked",
	  "",
	  WHY_Q "curr_occupancy_bytes=30000 " WHY_Q "packets=2000",
	  "above_kmin",
	  WHY_NOTE,
	  "queue 3",
	  { "30,000", "0 frames/s" },
	  .advice = "weft show roce" },
	{ "below Kmin", "", WHY_Q "curr_occupancy_bytes=10000 " WHY_Q "packets=2000",
	  .silent = "above_kmin" },
	{ "an empty queue with Kmin 0 marks nothing",
	  "ports.0.queues.3.ecn.min_bytes=0 ports.1.queues.3.ecn.min_bytes=0 "
	  "ports.2.queues.3.ecn.min_bytes=0",
	  "", .silent = "above_kmin" },
	{ "this port marks late",
	  WHY_Q "ecn.min_bytes=200000",
	  "",
	  "ecn_differs",
	  WHY_NOTE,
	  "queue 3",
	  { "Ethernet0 marks from 200,000", "2 equal ports", "from 20,000" },
	  .advice = "queue 3 of Ethernet0" },
	{ "another port marks late",
	  "ports.2.queues.3.ecn.max_bytes=800000",
	  "",
	  "ecn_differs",
	  WHY_NOTE,
	  "queue 3",
	  { "Ethernet8", "to 800,000", "to 80,000" },
	  .advice = "queue 3 of Ethernet8" },
	{ "another port does not mark",
	  "ports.1.queues.3.ecn=null",
	  "",
	  "ecn_differs",
	  WHY_NOTE,
	  "queue 3",
	  { "Ethernet4 does not mark" },
	  .advice = "queue 3 of Ethernet4" },
	{ "a slower port may mark otherwise",
	  "ports.2.speed_bps=100000000 ports.2.queues.3.ecn.min_bytes=2000", "",
	  .silent = "ecn_differs" },
};

TABLE_TEST(why_mark, rules, row, rows)
{
	why_check(row);
}

enum { RACK_PORTS = 32, FIRST_ODD = 20, ODD_PORTS = 10 };

// A rack whose ports from 20 to 29 mark otherwise than the others, on every queue.
static json_t *make_rack(uint64_t uptime_ms)
{
	json_t *rack = why_healthy(uptime_ms);
	json_t *ports = json_object_get(rack, "ports");
	char name[16];

	for (uint32_t i = (uint32_t)json_array_size(ports); i < RACK_PORTS; i++) {
		json_t *port = json_deep_copy(json_array_get(ports, 1));

		snprintf(name, sizeof(name), "Ethernet%u", i * 4);
		json_object_set_new(port, "name", json_string(name));
		for (size_t k = 0; k < QUEUE_COUNT && i >= FIRST_ODD && i < FIRST_ODD + ODD_PORTS;
		     k++)
			json_object_set_new(
				json_array_get(json_object_get(port, "queues"), k), "ecn",
				json_pack("{s:i, s:i}", "min_bytes", 4000, "max_bytes", 9000));
		json_array_append_new(ports, port);
	}
	return rack;
}

// However many ports differ, a queue has one finding: it names the port that was asked about, or
// the first, and counts the others.
static void check_rack(const char *port, const char *words)
{
	json_t *before = make_rack(1000), *after = make_rack(1000 + WHY_LOOK_MS);
	const struct why_scene scene = {
		.before = before, .after = after, .port = port, .queue = WHY_ANY_QUEUE
	};
	struct why_findings found;

	why_find(&scene, &found);
	cr_assert_eq(found.count, QUEUE_COUNT, "%u", found.count);
	for (uint32_t i = 0; i < found.count; i++) {
		cr_expect_str_eq(found.finding[i].rule, "ecn_differs");
		cr_expect_eq(found.finding[i].severity, WHY_NOTE);
		cr_expect_not_null(strstr(found.finding[i].text, words), "%s",
				   found.finding[i].text);
		cr_expect_not_null(strstr(found.finding[i].text, "9 more"));
		cr_expect_not_null(strstr(found.finding[i].text, "22 equal ports"));
	}
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

Test(why_mark, many_ports_are_one_finding)
{
	check_rack("Ethernet0", "Ethernet80 marks from 4,000 to 9,000");
	check_rack("Ethernet100", "Ethernet100 marks from 4,000 to 9,000");
}
