// SPDX-License-Identifier: BSD-3-Clause
//
// A planned fabric in virtual time: an intent is planned, the configuration of every switch is
// written and becomes a core, cables become links, and test hosts take the places of hosts. What
// fails in between is a fault of the test.
#pragma once

#include "fabricmgr/source.h"
#include "tests/rig/net.h"

enum {
	BED_SWITCHES_MAX = 32,
	BED_HOSTS_MAX = 16,
	BED_DELAY_NS = 250, // of a link, no more than the 50 m of BED_LINKS
};

#define BED_BPS 1000000000ull

// Of an intent: links of the bed, and rings that add next to nothing to the headroom of wires.
#define BED_LINKS "speed = \"1G\"; length = \"50m\"; host_length = \"50m\"; mtu = 1500; ring = 1; "

struct fabric_bed {
	struct source source;
	struct planner planner;
	struct qos qos;
	struct net *net;
	uint32_t host_count;
	uint32_t sw[BED_SWITCHES_MAX]; // nodes of the net, by the numbers of the fabric
	uint32_t host[BED_HOSTS_MAX];  // likewise, by host ports
};

// Adds what host `from` sends.
typedef void bed_flows(const struct fabric_bed *bed, struct host_config *config, uint32_t from);

// Plans the fabric of an intent's text.
void bed_plan(struct fabric_bed *bed, const char *intent);

// What the switch loads, to be freed or given to a rig.
struct sw_config *bed_configure(const struct fabric_bed *bed, uint32_t at);

// Plans and builds all of it; links carry nothing before the first hello.
void bed_build(struct fabric_bed *bed, const char *intent, bed_flows *flows);

// A flow of RoCE to host `to`, for changes.
struct host_flow_config *bed_flow(const struct fabric_bed *bed, struct host_config *config,
				  uint32_t to);

// Of a bed that was built.
void bed_end(struct fabric_bed *bed);

struct bed_sums {
	uint64_t drops;
	uint64_t open; // switches in which nothing waits
	uint64_t xoffs[PRIO_COUNT];
	uint64_t packets[PRIO_COUNT]; // that left by links between switches
	uint64_t headroom;            // most bytes that a group has held
};

struct bed_sums bed_sum(const struct fabric_bed *bed);
