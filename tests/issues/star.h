// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of public bugs share: hosts around one switch, host i at port i, all links alike,
// and what a configuration is refused for. The bugs themselves stand in rows.tsv.
#pragma once

#include "tests/rig/net.h"

enum {
	STAR_PORTS_MAX = 32,
	STAR_LEN = 1226, // 1250 bytes of wire: 1 us at 10G
	STAR_DELAY_NS = 250,
};

#define STAR_BPS 10000000000u
#define STAR_MS 1000000ull

struct star {
	struct net *net;
	struct rig *rig; // of the switch
	uint32_t sw;
	uint32_t host[STAR_PORTS_MAX];
	uint32_t count;
};

// setup_kvm() with line rates and pools small enough for XOFF within a millisecond.
struct sw_config *star_config(uint32_t ports);

// host_config_init() of the first `count` hosts.
void star_hosts(struct host_config *hosts, uint32_t count);

// Every port of `config` gets its host at STAR_BPS.
struct star star_new(struct sw_config *config, const struct host_config *hosts);
struct host_prio_stats star_prio(const struct star *star, uint32_t host, uint32_t prio);

// Frames of a priority that all hosts sent.
uint64_t star_sent(const struct star *star, uint32_t prio);

// Ends all flows at `at_ns`, which has not passed, and lets everything arrive.
void star_finish(struct star *star, uint64_t at_ns);

// What the configuration is refused for, FAULT_NONE when it is right. Frees it.
enum profile_fault_id star_fault(struct sw_config *config);
