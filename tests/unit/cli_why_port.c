// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of weft show why about a port as a whole: its device, its link and peer, test hooks. Of a
// peer's DCBX, what loses frames when the ends disagree is told apart from what does not: PFC and
// the priority of RoCE (IEEE 802.1Q, annex D).

#include "tests/table.h"
#include "tests/unit/why_scene.h"

static const struct why_row rows[] = {
	{ .what = "a healthy switch" },
	{ "no device",
	  "ports.0.present=false",
	  "",
	  "absent",
	  WHY_WRONG,
	  "port",
	  { "net_x" },
	  .advice = "check devargs" },
	{ "administratively down",
	  "ports.0.admin=false ports.0.link=false",
	  "",
	  "admin_down",
	  WHY_WRONG,
	  "port",
	  { "administratively" },
	  .advice = "admin = true" },
	{ "no carrier",
	  "ports.0.link=false",
	  "",
	  "link_down",
	  WHY_WRONG,
	  "port",
	  { "carrier" },
	  .advice = "the cable" },
	{ "carrier, but the peer is silent",
	  "ports.0.link=false ports.0.hello.carrier=true ports.0.hello.used=false "
	  "ports.0.hello.why=\"peer-is-silent\"",
	  "",
	  "hello_down",
	  WHY_WRONG,
	  "port",
	  { "peer-is-silent" },
	  .advice = "weft show fabric links" },
	{ "the peer has other lanes",
	  "ports.0.hello.carrier=true ports.0.hello.used=true ports.0.hello.lossless=false "
	  "ports.0.hello.why=\"peer-has-1-lane\"",
	  "",
	  "hello_mismatch",
	  WHY_WRONG,
	  "port",
	  { "peer-has-1-lane" },
	  .advice = "lane_tag" },
	{ "PFC does not get through",
	  "ports.0.pfc_path=\"none\" ports.0.pfc_path_reason=\"swallowed\"",
	  "",
	  "pfc_path",
	  WHY_WRONG,
	  "port",
	  { "swallowed" },
	  .advice = "see pfc_path" },
	{ "a test hook holds the port",
	  "ports.0.tx_disabled=true",
	  "",
	  "tx_disabled",
	  WHY_WRONG,
	  "port",
	  { "test hook" },
	  .advice = "weft debug tx-disable Ethernet0 off" },
	{ "the driver loses frames",
	  "",
	  "ports.0.stats.rx_missed=7",
	  "rx_lost",
	  WHY_WRONG,
	  "port",
	  { "14/s" },
	  .advice = "raise rx_ring" },
	{ "the device refuses frames",
	  "",
	  "ports.0.stats.tx_retried_packets=7",
	  "refused",
	  WHY_WARNING,
	  "port",
	  { "14/s" },
	  .advice = "a speed below that" },
	{ "the port is held",
	  "ports.0.held=true",
	  "",
	  "held",
	  WHY_WARNING,
	  "port",
	  { "not polled" },
	  .advice = "the group's traffic waits in" },
	{ "global pause",
	  "",
	  "ports.0.stats.pause_rx_pkts=1",
	  "global_pause",
	  WHY_WARNING,
	  "port",
	  { "802.3x" },
	  .advice = "PFC on" },
	{ "PFC of another priority",
	  "",
	  "ports.0.priorities.5.pfc_rx_pkts=3",
	  "pfc_ignored",
	  WHY_WARNING,
	  "port",
	  { "priority 5" },
	  .advice = "add 5 to pfc_enable" },
	{ "PFC of every priority where all are obeyed", "ports.0.pfc_asymmetric=true",
	  "ports.0.priorities.5.pfc_rx_pkts=3", .silent = "pfc_ignored" },
	{ "an impairment",
	  "",
	  "ports.0.stats.impair_lost_packets=1",
	  "impaired",
	  WHY_WARNING,
	  "port",
	  { "on purpose" },
	  .advice = "row out of impairment" },
};

TABLE_TEST(why_port, rules, row, rows)
{
	why_check(row);
}

// What loses frames when the ends disagree is a warning, the other two topics are notes.
static const struct dcbx_row {
	const char *what;
	enum why_severity severity;
} topics[] = {
	{ "PFC priorities", WHY_WARNING },
	{ "RoCE priority", WHY_WARNING },
	{ "priority:class", WHY_NOTE },
	{ "class:share", WHY_NOTE },
};

TABLE_TEST(why_port, dcbx_difference_is_told, row, topics)
{
	json_t *before = why_healthy(1000), *after = why_healthy(1000 + WHY_LOOK_MS);
	json_t *lldp = json_pack("{s:[{s:s, s:[{s:[{s:s, s:b}, {s:s, s:b, s:s, s:s, s:s}]}]}]}",
				 "ports", "name", "Ethernet0", "neighbors", "comparison", "topic",
				 "another", "differs", 0, "topic", row->what, "differs", 1, "ours",
				 "3-4", "theirs", "3", "why",
				 "peer tor1 enables PFC on 3, this port on 3-4");
	struct why_findings found;

	why_find(&(struct why_scene){ .before = before,
				      .after = after,
				      .lldp = lldp,
				      .port = "Ethernet0",
				      .queue = WHY_ANY_QUEUE },
		 &found);
	cr_assert_eq(found.count, 1);
	why_check_words(&(struct why_row){ .what = row->what,
					   .rule = "dcbx_mismatch",
					   .severity = row->severity,
					   .words = { "tor1 enables PFC on 3, this port on 3-4" },
					   .advice = "weft show dcbx Ethernet0" },
			&found.finding[0]);
	why_release(&found);
	json_decref(before);
	json_decref(after);
	json_decref(lldp);
}
