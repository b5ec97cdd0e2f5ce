// SPDX-License-Identifier: BSD-3-Clause
//
// All statistics of a switch at one instant, filled by the lcore between two polls, so that sums
// agree across ports.
#pragma once

#include "dataplane/core/sw.h"

struct port_snapshot {
	struct port_stats stats;
	struct prio_stats prio[PRIO_COUNT];
	struct pg_stats pg[PG_COUNT];
	struct queue_stats queue[QUEUE_COUNT];
	uint64_t drops[DROP_REASON_COUNT];
	struct lacp_state lacp;
	bool usable;    // in its LAG, if it has one
	bool reachable; // its LAG, or itself
	struct hello_peer peer;
	bool carrier;
	bool link_up; // used: carrier, and hellos say nothing else
	bool held;
	struct sw_hooks hooks;
	uint8_t blocked; // queues that the device does not take from
};

struct snapshot {
	enum watermark_kind watermark; // set by who asks
	bool big_red;
	ns_t now;
	const struct sw_profile *profile;
	struct switch_stats sw;
	struct pool_stats pool[CONFIG_POOL_MAX];
	struct port_snapshot port[]; // as many as the switch has
};

static inline size_t snapshot_bytes(uint32_t port_count)
{
	return sizeof(struct snapshot) + port_count * sizeof(struct port_snapshot);
}

// lcore: fills what the switch knows.
void snapshot_fill(struct snapshot *out, const struct sw *sw, ns_t now);

// A piece of the address table. `at` is where it goes on, 0 at the beginning and again at the end.
enum { MAC_LIST_MAX = 512 };

struct mac_list {
	lcore_t lcore; // whose ports' addresses these are
	uint32_t at;
	uint32_t count;
	ns_t now;
	struct mac_entry entry[MAC_LIST_MAX];
};

// A piece of what rows of the access list have seen, from row `at` on; `at` goes on likewise.
enum { ACL_LIST_MAX = 1024 };

struct acl_list {
	uint32_t at;
	uint32_t count;
	struct acl_stats stats[ACL_LIST_MAX];
};

// RoCE flows, and congestion notifications per pair of addresses, of every lcore.
struct roce_list {
	ns_t now;
	uint32_t lcore_count;
	struct cnp_flows cnps[LCORE_MAX];
	struct roce_flows flows[LCORE_MAX];
};
