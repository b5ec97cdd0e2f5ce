// SPDX-License-Identifier: BSD-3-Clause
//
// Rules of weft show why about what ports share: pools, descriptors, and frames that wait for an
// address. Descriptors of headroom are apart: 90 % of those that are shared must be in use.

#include "tests/table.h"
#include "tests/unit/why_scene.h"

static const struct why_row rows[] = {
	{ "a tiny pool that is empty", "pools.0.shared_bytes=60", "", .silent = "pool_full" },
	{ "a pool nearly full",
	  "pools.0.shared_curr_occupancy_bytes=190000 ports.0.queues.1.curr_occupancy_bytes=50000",
	  "ports.0.queues.1.packets=1001",
	  "pool_full",
	  WHY_WARNING,
	  "port",
	  { "pool lossy", "190,000 of 200,000" },
	  .advice = "raise its size" },
	{ "another's pool nearly full", "pools.0.shared_curr_occupancy_bytes=190000", "",
	  .silent = "pool_full" },
	{ "descriptors run out",
	  "switch.descriptors_in_use=7900",
	  "",
	  "descriptors",
	  WHY_WARNING,
	  "port",
	  { "7,900 of 8,000" },
	  .advice = "raise descriptors" },
	{ "descriptors of headroom are others",
	  "switch.descriptors_in_use=7900 switch.headroom_descriptors_in_use=1400", "",
	  .silent = "descriptors" },
	{ "shared ones run out while headroom is used",
	  "switch.descriptors_in_use=8300 switch.headroom_descriptors_in_use=500",
	  "",
	  "descriptors",
	  WHY_WARNING,
	  "port",
	  { "7,800 of 8,000" },
	  .advice = "raise descriptors" },
	{ "frames between two lcores wait for no address", "switch.queued_packets=5", "",
	  .silent = "unknown_mac" },
	{ "frames wait for an address",
	  "switch.queued_packets=9 switch.held_packets=5",
	  "",
	  "unknown_mac",
	  WHY_WARNING,
	  "port",
	  { "5 frames" },
	  .advice = "must answer ARP" },
};

TABLE_TEST(why_switch, rules, row, rows)
{
	why_check(row);
}
