// SPDX-License-Identifier: BSD-3-Clause
//
// Each rule of weft show why, from two looks at a switch of three equal ports. A row says what is
// different from a healthy switch, as paths with values, and which finding must come of it, with
// words that a reader needs to act: the priority, the row of the access list, the other port.
// Wanted numbers follow from the row: a look is 500 ms after the one before.

#include "cli/why.h"

#include <stdio.h>
#include <string.h>

#include "tests/table.h"

enum { PORTS = 3, LOOK_MS = 500 };

static json_t *queue(uint32_t at)
{
	json_t *one = json_pack(
		"{s:b, s:s, s:b, s:i, s:i, s:b, s:[i], s:i, s:i, s:i, s:i, s:i, s:i}", "strict",
		at >= 6, "pool", at == 3 ? "lossless" : "lossy", "lossless", at == 3, "limit_bytes",
		100000, "pir_bps", 0, "blocked", 0, "priorities", at, "packets", 1000, "bytes",
		1000000, "curr_occupancy_bytes", 0, "curr_occupancy_packets", 0,
		"wred_ecn_marked_packets", 0, "pause_status", 0);

	if (at == 3)
		json_object_set_new(one, "ecn",
				    json_pack("{s:i, s:i, s:i}", "min_bytes", 20000, "max_bytes",
					      80000, "probability_ppm", 50000));
	return one;
}

static json_t *group(uint32_t at)
{
	return json_pack("{s:b, s:s, s:i, s:[i], s:i, s:i, s:i, s:i}", "lossless", at == 3, "pool",
			 "in", "xoff_bytes", at == 3 ? 30000 : 0, "priorities", at,
			 "curr_occupancy_bytes", 0, "xoff_threshold_bytes", at == 3 ? 50000 : 0,
			 "xoff_room_curr_occupancy_bytes", 0, "xoff_state", 0);
}

static json_t *port(uint32_t at)
{
	json_t *one = json_pack("{s:b, s:b, s:b, s:I, s:s, s:i, s:i, s:{}, s:n, s:s}", "admin", 1,
				"link", 1, "present", 1, "speed_bps", (json_int_t)1000000000,
				"pfc_path", "software", "pfc_enable", 8, "headroom_need_bytes",
				30000, "drops", "hello", "devargs", "net_x");
	json_t *queues = json_array(), *groups = json_array(), *priorities = json_array();
	char name[16];

	snprintf(name, sizeof(name), "Ethernet%u", at * 4);
	json_object_set_new(one, "name", json_string(name));
	json_object_set_new(one, "stats",
			    json_pack("{s:i, s:i, s:i, s:i, s:i}", "rx_missed", 0, "rx_no_buffer",
				      0, "pause_rx_pkts", 0, "impair_lost_packets", 0,
				      "tx_retried_packets", 0));
	for (uint32_t i = 0; i < 8; i++) {
		json_array_append_new(queues, queue(i));
		json_array_append_new(groups, group(i));
		json_array_append_new(
			priorities, json_pack("{s:i, s:i, s:i, s:i, s:i}", "pfc_rx_pkts", 0,
					      "rx_paused", 0, "rx_pause_duration_us", 0,
					      "tx_pause_duration_us", 0, "rx_pause_recent_us", 0));
	}
	json_object_set_new(one, "queues", queues);
	json_object_set_new(one, "priority_groups", groups);
	json_object_set_new(one, "priorities", priorities);
	return one;
}

static json_t *healthy(uint64_t uptime_ms)
{
	json_t *ports = json_array();

	for (uint32_t i = 0; i < PORTS; i++)
		json_array_append_new(ports, port(i));
	return json_pack("{s:{s:s, s:I, s:i, s:i, s:i, s:i, s:i}, s:[{s:s, s:i, s:i}], s:o}",
			 "switch", "boot_id", "a", "uptime_ns", (json_int_t)(uptime_ms * 1000000),
			 "shared_descriptors", 8000, "descriptors_in_use", 0,
			 "headroom_descriptors_in_use", 0, "queued_packets", 0, "held_packets", 0,
			 "pools", "name", "lossy", "shared_bytes", 200000,
			 "shared_curr_occupancy_bytes", 0, "ports", ports);
}

// Sets the member at a path such as "ports.0.link"; what is not there is made.
static void set_at(json_t *at, char *path, const char *value)
{
	char *key = path;
	char *dot;

	for (; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
		*dot = '\0';
		if (json_is_array(at)) {
			at = json_array_get(at, (size_t)(key[0] - '0'));
			continue;
		}
		if (json_object_get(at, key) == NULL || json_is_null(json_object_get(at, key)))
			json_object_set_new(at, key, json_object());
		at = json_object_get(at, key);
	}
	json_object_set_new(at, key, json_loads(value, JSON_DECODE_ANY, NULL));
}

// Applies "PATH=VALUE PATH=VALUE ...", with values in JSON that have no spaces.
static void apply(json_t *answer, const char *changes)
{
	char text[1024];
	char *rest = text;
	char *one;

	snprintf(text, sizeof(text), "%s", changes);
	while ((one = strsep(&rest, " ")) != NULL) {
		char *equals = strchr(one, '=');

		if (one[0] == '\0')
			continue;
		cr_assert_not_null(equals, "%s", one);
		*equals = '\0';
		set_at(answer, one, equals + 1);
	}
}

#define Q "ports.0.queues.3."
#define G "ports.0.priority_groups.3."
#define WD "ports.0.queues.3.pfc_wd.action=\"drop\" "

static const struct row {
	const char *what;
	const char *both;  // changes of both looks
	const char *after; // and of the second alone
	const char *rule;  // of the finding that must come; NULL: nothing worse than a note
	enum why_severity severity;
	const char *where;
	const char *words[4]; // that the finding has
} rows[] = {
	{ .what = "a healthy switch" },
	{ "no device", "ports.0.present=false", "", "absent", WHY_WRONG, "port", { "net_x" } },
	{ "administratively down",
	  "ports.0.admin=false ports.0.link=false",
	  "",
	  "admin_down",
	  WHY_WRONG,
	  "port",
	  { "administratively" } },
	{ "no carrier", "ports.0.link=false", "", "link_down", WHY_WRONG, "port", { "carrier" } },
	{ "carrier, but the peer is silent",
	  "ports.0.link=false ports.0.hello.carrier=true ports.0.hello.used=false "
	  "ports.0.hello.why=\"peer-is-silent\"",
	  "",
	  "hello_down",
	  WHY_WRONG,
	  "port",
	  { "peer-is-silent" } },
	{ "the peer has other lanes",
	  "ports.0.hello.carrier=true ports.0.hello.used=true ports.0.hello.lossless=false "
	  "ports.0.hello.why=\"peer-has-1-lane\"",
	  "",
	  "hello_mismatch",
	  WHY_WRONG,
	  "port",
	  { "peer-has-1-lane" } },
	{ "PFC does not get through",
	  "ports.0.pfc_path=\"none\" ports.0.pfc_path_reason=\"swallowed\"",
	  "",
	  "pfc_path",
	  WHY_WRONG,
	  "port",
	  { "swallowed" } },
	{ "paused now by the peer",
	  "",
	  "ports.0.priorities.3.rx_paused=1 ports.0.priorities.3.rx_pause_duration_us=400000 "
	  "ports.0.priorities.3.rx_pause_recent_us=1234567 " Q "curr_occupancy_bytes=9000 "
	  "ports.1.priority_groups.3.curr_occupancy_bytes=9000",
	  "paused",
	  WHY_WRONG,
	  "queue 3",
	  { "peer of Ethernet0 pauses priority 3", "80%", "1,234 ms",
	    "Ethernet4 priority group 3 (9,000 bytes)" } },
	{ "paused, but nothing is to be sent",
	  "",
	  "ports.0.priorities.3.rx_paused=1 ports.0.priorities.3.rx_pause_duration_us=400000",
	  "paused",
	  WHY_NOTE,
	  "queue 3",
	  { "priority 3", "80%", "holds 0 bytes" } },
	{ "paused, and what came was dropped",
	  Q "dropped_packets=0",
	  "ports.0.priorities.3.rx_paused=1 " Q "dropped_packets=2",
	  "paused",
	  WHY_WRONG,
	  "queue 3",
	  { "priority 3" } },
	{ "paused for a tenth of the time",
	  "",
	  "ports.0.priorities.3.rx_pause_duration_us=50000 " Q "packets=1001",
	  "paused",
	  WHY_WARNING,
	  "queue 3",
	  { "priority 3", "10%" } },
	{ "paused for a moment",
	  "",
	  "ports.0.priorities.3.rx_pause_duration_us=4000",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "the device takes nothing",
	  Q "blocked=true",
	  "",
	  "blocked",
	  WHY_WRONG,
	  "queue 3",
	  { "device does not take" } },
	{ "a test hook holds the port",
	  "ports.0.tx_disabled=true",
	  "",
	  "tx_disabled",
	  WHY_WRONG,
	  "port",
	  { "test hook" } },
	{ "a test hook holds a queue",
	  Q "dequeue_disabled=true",
	  "",
	  "blocked",
	  WHY_WRONG,
	  "queue 3",
	  { "test hook" } },
	{ "stormed",
	  WD Q "pfc_wd_status=1 " Q "pfc_wd_tx_dropped_packets=1500",
	  "",
	  "stormed",
	  WHY_WRONG,
	  "queue 3",
	  { "storm", "drop", "1,500" } },
	{ "the big red switch",
	  WD "switch.pfc_wd.big_red_switch=true",
	  "",
	  "stormed",
	  WHY_WRONG,
	  "queue 3",
	  { "big red switch" } },
	{ "frames that do not move",
	  Q "curr_occupancy_bytes=3000",
	  "",
	  "stuck",
	  WHY_WRONG,
	  "queue 3",
	  { "3,000 bytes", "500 ms" } },
	{ "frames that move",
	  Q "curr_occupancy_bytes=3000",
	  Q "packets=1001",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "a lossy queue near its limit",
	  "ports.0.queues.1.curr_occupancy_bytes=90000",
	  "ports.0.queues.1.packets=1001",
	  "queue_near",
	  WHY_WARNING,
	  "queue 1",
	  { "90,000 of at most 100,000" } },
	{ "above Kmin",
	  "",
	  Q "curr_occupancy_bytes=30000 " Q "wred_ecn_marked_packets=50 " Q "packets=2000",
	  "above_kmin",
	  WHY_WARNING,
	  "queue 3",
	  { "30,000", "Kmin 20,000", "100 frames/s" } },
	{ "below Kmin",
	  "",
	  Q "curr_occupancy_bytes=10000 " Q "packets=2000",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "an empty queue with Kmin 0 marks nothing",
	  "ports.0.queues.3.ecn.min_bytes=0 ports.1.queues.3.ecn.min_bytes=0 "
	  "ports.2.queues.3.ecn.min_bytes=0",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "a tiny pool that is empty",
	  "pools.0.shared_bytes=60",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "this port marks late",
	  Q "ecn.min_bytes=200000",
	  "",
	  "ecn_differs",
	  WHY_WARNING,
	  "queue 3",
	  { "Ethernet0 marks from 200,000", "2 equal ports", "from 20,000" } },
	{ "another port marks late",
	  "ports.2.queues.3.ecn.max_bytes=800000",
	  "",
	  "ecn_differs",
	  WHY_WARNING,
	  "queue 3",
	  { "Ethernet8", "to 800,000", "to 80,000" } },
	{ "another port does not mark",
	  "ports.1.queues.3.ecn=null",
	  "",
	  "ecn_differs",
	  WHY_WARNING,
	  "queue 3",
	  { "Ethernet4 does not mark" } },
	{ "a slower port may mark otherwise",
	  "ports.2.speed_bps=100000000 ports.2.queues.3.ecn.min_bytes=2000",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "a strict queue takes the line",
	  "",
	  "ports.0.queues.1.curr_occupancy_bytes=3000 ports.0.queues.7.packets=1900 "
	  "ports.0.queues.7.bytes=1900000 ports.0.queues.1.packets=1001",
	  "strict_above",
	  WHY_WARNING,
	  "queue 1",
	  { "strict", "queue 7" } },
	{ "a shaper holds it",
	  "ports.0.queues.1.pir_bps=10000000",
	  "ports.0.queues.1.curr_occupancy_bytes=3000 ports.0.queues.1.packets=1610 "
	  "ports.0.queues.1.bytes=1610000",
	  "shaped",
	  WHY_WARNING,
	  "queue 1",
	  { "10M", "3,000" } },
	{ "the line is full",
	  "",
	  "ports.0.queues.1.curr_occupancy_bytes=3000 ports.0.queues.1.packets=62000 "
	  "ports.0.queues.1.bytes=62500000",
	  "line_full",
	  WHY_WARNING,
	  "queue 1",
	  { "1G" } },
	{ "a group in XOFF",
	  "",
	  G "xoff_state=1 " G "curr_occupancy_bytes=52000 " G "xoff_room_curr_occupancy_bytes=2000 "
	    "ports.0.priorities.3.tx_pause_duration_us=250000",
	  "group_xoff",
	  WHY_WARNING,
	  "priority group 3",
	  { "behind Ethernet0 for priority 3", "50%", "52,000 of its limit of 50,000",
	    "2,000 of 30,000" } },
	{ "a group near XOFF",
	  "",
	  G "curr_occupancy_bytes=45000",
	  "group_near",
	  WHY_WARNING,
	  "priority group 3",
	  { "45,000", "50,000" } },
	{ "too little headroom is a note",
	  G "xoff_bytes=100",
	  "",
	  "headroom",
	  WHY_NOTE,
	  "priority group 3",
	  { "100 bytes", "30,000" } },
	{ "a pool nearly full",
	  "pools.0.shared_curr_occupancy_bytes=190000 ports.0.queues.1.curr_occupancy_bytes=50000",
	  "ports.0.queues.1.packets=1001",
	  "pool_full",
	  WHY_WARNING,
	  "port",
	  { "pool lossy", "190,000 of 200,000" } },
	{ "another's pool nearly full",
	  "pools.0.shared_curr_occupancy_bytes=190000",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "descriptors run out",
	  "switch.descriptors_in_use=7900",
	  "",
	  "descriptors",
	  WHY_WARNING,
	  "port",
	  { "7,900 of 8,000" } },
	{ "descriptors of headroom are others",
	  "switch.descriptors_in_use=7900 switch.headroom_descriptors_in_use=1400",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "shared ones run out while headroom is used",
	  "switch.descriptors_in_use=8300 switch.headroom_descriptors_in_use=500",
	  "",
	  "descriptors",
	  WHY_WARNING,
	  "port",
	  { "7,800 of 8,000" } },
	{ "frames between two lcores wait for no address",
	  "switch.queued_packets=5",
	  "",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "frames wait for an address",
	  "switch.queued_packets=9 switch.held_packets=5",
	  "",
	  "unknown_mac",
	  WHY_WARNING,
	  "port",
	  { "5 frames" } },
	{ "a small MTU eats frames",
	  "ports.0.drops.EGRESS_MTU=10",
	  "ports.0.drops.EGRESS_MTU=60",
	  "drops",
	  WHY_WRONG,
	  "port",
	  { "100 frames/s", "EGRESS_MTU", "longer than the egress port's MTU" } },
	{ "a reason that this command does not know",
	  "",
	  "ports.0.drops.COSMIC_RAY=1",
	  "drops",
	  WHY_WARNING,
	  "port",
	  { "2 frames/s", "COSMIC_RAY" } },
	{ "drops that stay", "ports.0.drops.EGRESS_MTU=10", "", NULL, WHY_NOTE, "", { NULL } },
	{ "link-local protocols end here",
	  "",
	  "ports.0.drops.RESERVED_MAC=4",
	  "drops",
	  WHY_NOTE,
	  "port",
	  { "RESERVED_MAC" } },
	{ "the driver loses frames",
	  "",
	  "ports.0.stats.rx_missed=7",
	  "rx_lost",
	  WHY_WRONG,
	  "port",
	  { "14/s" } },
	{ "the device refuses frames",
	  "",
	  "ports.0.stats.tx_retried_packets=7",
	  "refused",
	  WHY_WARNING,
	  "port",
	  { "14/s" } },
	{ "the port is held",
	  "ports.0.held=true",
	  "",
	  "held",
	  WHY_WARNING,
	  "port",
	  { "not polled" } },
	{ "global pause",
	  "",
	  "ports.0.stats.pause_rx_pkts=1",
	  "global_pause",
	  WHY_WARNING,
	  "port",
	  { "802.3x" } },
	{ "PFC of another priority",
	  "",
	  "ports.0.priorities.5.pfc_rx_pkts=3",
	  "pfc_ignored",
	  WHY_WARNING,
	  "port",
	  { "priority 5" } },
	{ "PFC of every priority where all are obeyed",
	  "ports.0.pfc_asymmetric=true",
	  "ports.0.priorities.5.pfc_rx_pkts=3",
	  NULL,
	  WHY_NOTE,
	  "",
	  { NULL } },
	{ "an impairment",
	  "",
	  "ports.0.stats.impair_lost_packets=1",
	  "impaired",
	  WHY_WARNING,
	  "port",
	  { "on purpose" } },
};

static const struct why_finding *find_rule(const struct why_findings *all, const char *rule,
					   const char *where)
{
	for (uint32_t i = 0; i < all->count; i++) {
		if (strcmp(all->finding[i].rule, rule) == 0 &&
		    strcmp(all->finding[i].where, where) == 0)
			return &all->finding[i];
	}
	return NULL;
}

static void check_words(const struct row *row, const struct why_finding *found)
{
	cr_assert_not_null(found, "%s: no finding of %s", row->what, row->rule);
	cr_expect_eq(found->severity, row->severity, "%s: %d", row->what, (int)found->severity);
	for (size_t i = 0; i < 4 && row->words[i] != NULL; i++)
		cr_expect_not_null(strstr(found->text, row->words[i]), "%s: \"%s\" is not in: %s",
				   row->what, row->words[i], found->text);
}

TABLE_TEST(why, rules, row, rows)
{
	json_t *before = healthy(1000), *after = healthy(1000 + LOOK_MS);
	struct why_findings found;

	if (row->both != NULL) {
		apply(before, row->both);
		apply(after, row->both);
	}
	if (row->after != NULL)
		apply(after, row->after);
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	if (row->rule != NULL)
		check_words(row, find_rule(&found, row->rule, row->where));
	for (uint32_t i = 0; i < found.count && row->rule == NULL; i++)
		cr_expect_eq(found.finding[i].severity, WHY_NOTE, "%s: %s", row->what,
			     found.finding[i].text);
	for (uint32_t i = 1; i < found.count; i++)
		cr_expect_leq(found.finding[i].severity, found.finding[i - 1].severity);
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

Test(why, access_list_row_is_named)
{
	json_t *before = healthy(1000), *after = healthy(1500);
	json_t *acl = json_loads("{\"rows\":[{\"name\":\"web\",\"action\":\"deny\","
				 "\"dropped_packets\":5},{\"name\":\"other tenant\","
				 "\"action\":\"deny\",\"dropped_packets\":5}]}",
				 0, NULL);
	json_t *later = json_deep_copy(acl);
	struct why_findings found;

	apply(after, "ports.0.drops.ACL_DENY=20");
	apply(later, "rows.1.dropped_packets=25");
	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .acl_before = acl,
				      .acl_after = later,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	check_words(&(struct row){ .what = "acl",
				   .rule = "acl",
				   .severity = WHY_WRONG,
				   .words = { "\"other tenant\"", "40/s" } },
		    find_rule(&found, "acl", "port"));
	for (uint32_t i = 0; i < found.count; i++)
		cr_expect_null(strstr(found.finding[i].text, "web"));
	why_release(&found);
	json_decref(before);
	json_decref(after);
	json_decref(acl);
	json_decref(later);
}

Test(why, dcbx_difference_is_told)
{
	json_t *before = healthy(1000), *after = healthy(1500);
	json_t *lldp = json_loads(
		"{\"ports\":[{\"name\":\"Ethernet0\",\"neighbors\":[{\"comparison\":["
		"{\"topic\":\"RoCE priority\",\"differs\":false},"
		"{\"topic\":\"PFC priorities\",\"differs\":true,\"ours\":\"3-4\",\"theirs\":\"3\","
		"\"why\":\"peer tor1 enables PFC on 3, this port on 3-4\"}]}]}]}",
		0, NULL);
	struct why_findings found;

	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .lldp = lldp,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_assert_eq(found.count, 1);
	check_words(&(struct row){ .what = "dcbx",
				   .rule = "dcbx_mismatch",
				   .severity = WHY_WARNING,
				   .words = { "tor1 enables PFC on 3, this port on 3-4" } },
		    &found.finding[0]);
	why_release(&found);
	json_decref(before);
	json_decref(after);
	json_decref(lldp);
}

// A named queue leaves the others out; a switch that restarted in between has no rates.
Test(why, scope)
{
	json_t *before = healthy(1000), *after = healthy(1500);
	struct why_scene scene = {
		.before = before, .after = after, .port = "Ethernet0", .queue = 4
	};
	struct why_findings found;

	apply(after, Q "blocked=true ports.0.drops.EGRESS_MTU=5");
	why_find(&scene, &found);
	cr_expect_null(find_rule(&found, "blocked", "queue 3"));
	cr_expect_not_null(find_rule(&found, "drops", "port"));
	why_release(&found);
	apply(after, "switch.boot_id=\"b\"");
	scene.queue = 3;
	why_find(&scene, &found);
	cr_expect_not_null(find_rule(&found, "blocked", "queue 3"));
	cr_expect_null(find_rule(&found, "drops", "port"));
	why_release(&found);
	json_decref(before);
	json_decref(after);
}

// Answers of an older switch, or of something else: no rule may trip over what is missing.
Test(why, nothing_known)
{
	json_t *nothing = json_object();
	json_t *nameless = json_loads("{\"ports\":[{\"name\":\"Ethernet0\"}]}", 0, NULL);
	struct why_findings found;

	why_find(&(struct why_scene){ .before = nothing,
				      .after = nameless,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_expect_eq(found.count, 0);
	why_release(&found);
	json_decref(nothing);
	json_decref(nameless);
}
