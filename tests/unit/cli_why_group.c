// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of weft show why about a priority group: whether it pauses the senders behind its port, how
// near it is to that, whether headroom suffices and pauses last.

#include "tests/table.h"
#include "tests/unit/why_scene.h"

static const struct why_row rows[] = {
	{ "a group in XOFF",
	  "",
	  WHY_G "xoff_state=1 " WHY_G "curr_occupancy_bytes=52000 " WHY_G
		"xoff_room_curr_occupancy_bytes=2000 "
		"ports.0.priorities.3.tx_pause_duration_us=250000",
	  "group_xoff",
	  WHY_WARNING,
	  "priority group 3",
	  { "behind Ethernet0 for priority 3", "50%", "52,000 of its limit of 50,000",
	    "2,000 of 30,000" },
	  .advice = "the queue that its traffic waits in" },
	{ "a group near XOFF",
	  "",
	  WHY_G "curr_occupancy_bytes=45000",
	  "group_near",
	  WHY_WARNING,
	  "priority group 3",
	  { "45,000", "50,000" },
	  .advice = "larger dynamic_th" },
	{ "too little headroom is a note",
	  WHY_G "xoff_bytes=100",
	  "",
	  "headroom",
	  WHY_NOTE,
	  "priority group 3",
	  { "100 bytes", "30,000" },
	  .advice = "raise xoff" },
	{ "a pause ran out just now",
	  "ports.0.priorities.3.tx_pause_lapses=5",
	  "ports.0.priorities.3.tx_pause_lapses=7 ports.0.max_poll_gap_ns=4000000",
	  "lapsed",
	  WHY_WRONG,
	  "priority group 3",
	  { "7 times, 2 of them", "4,000 us" },
	  .advice = "pfc_quanta" },
	{ "one that ran out long ago is a note",
	  "ports.0.priorities.3.tx_pause_lapses=1",
	  "",
	  "lapsed",
	  WHY_NOTE,
	  "priority group 3",
	  { "1 times, 0 of them" },
	  .advice = "a processor of its own" },
};

TABLE_TEST(why_group, rules, row, rows)
{
	why_check(row);
}
