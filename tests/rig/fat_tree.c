// SPDX-License-Identifier: BSD-3-Clause
//
// Configurations, links and sums of the fat-tree.
//
// Every switch has the same rows of hosts; what differs is which group leads to an edge: a port
// downwards where that is below the switch, else both ports upwards.

#include "tests/rig/fat_tree.h"

#include <stdio.h>

enum { MTU = 1500, PODS = 4, PER_POD = 2 };

static bool is_edge(uint32_t i)
{
	return i < TREE_EDGES;
}

static bool is_core(uint32_t i)
{
	return i >= TREE_EDGES + TREE_AGGREGATIONS;
}

static uint32_t pod_of(uint32_t i)
{
	return i % TREE_EDGES / PER_POD; // of an edge or aggregation switch
}

// The group of a port downwards, or of both ports upwards.
static void add_groups(struct sw_config *c, uint32_t i)
{
	const uint32_t down = is_core(i) ? TREE_PORTS : TREE_UP;

	for (uint32_t port = is_edge(i) ? down : 0; port < down; port++) {
		char name[CONFIG_NAME_BYTES];

		snprintf(name, sizeof(name), "down%u", port);
		setup_next_hop(c, name, port, 0);
	}
	for (uint32_t port = down; port < TREE_PORTS; port++)
		setup_next_hop(c, "up", port, 0);
}

static void add_routes(struct sw_config *c, uint32_t i)
{
	for (uint32_t edge = 0; edge < TREE_EDGES; edge++) {
		char name[CONFIG_NAME_BYTES] = "up";

		if (edge == i)
			continue;
		if (is_core(i))
			snprintf(name, sizeof(name), "down%u", pod_of(edge));
		else if (!is_edge(i) && pod_of(edge) == pod_of(i))
			snprintf(name, sizeof(name), "down%u", edge % PER_POD);
		setup_edge(c, (uint16_t)edge, name);
	}
}

static void add_turns(struct sw_config *c, uint32_t i)
{
	for (uint32_t pair = 0; pair < TREE_PORTS * TREE_PORTS; pair++) {
		const uint32_t in = pair / TREE_PORTS;
		const uint32_t out = pair % TREE_PORTS;
		const bool valley = !is_core(i) && in >= TREE_UP && out >= TREE_UP;

		if (in != out && !valley)
			setup_turn(c, in, out, 0, 0);
	}
}

struct sw_config *fat_tree_switch(uint32_t i, uint64_t pool_bytes, uint64_t bps)
{
	struct sw_config *c = setup_kvm(TREE_PORTS);

	snprintf(c->sw.name, sizeof(c->sw.name), "tree%u", i); // the seed of its hash, too
	c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	if (is_edge(i))
		c->sw.edge_number = i;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = pool_bytes;
	for (uint32_t port = 0; port < TREE_PORTS; port++) {
		c->port[port].speed = bps;
		c->port[port].mtu = MTU;
		c->port[port].role = is_edge(i) && port < TREE_UP ? CONFIG_ROLE_EDGE :
								    CONFIG_ROLE_FABRIC;
	}
	for (uint32_t host = 0; host < TREE_HOSTS; host++)
		setup_fabric_host(c, frame_host_mac(host), frame_host_ip(host),
				  (uint16_t)(host / PER_POD), host % PER_POD);
	add_groups(c, i);
	add_routes(c, i);
	add_turns(c, i);
	return c;
}

static void join_aggregation(struct fat_tree *tree, uint32_t i, uint64_t bps, uint64_t delay_ns)
{
	const uint32_t plane = i % PER_POD;
	const uint32_t first_core = TREE_EDGES + TREE_AGGREGATIONS + plane * PER_POD;

	for (uint32_t k = 0; k < PER_POD; k++) {
		net_join(tree->net, tree->sw[i], k, tree->sw[pod_of(i) * PER_POD + k],
			 TREE_UP + plane, bps, delay_ns);
		net_join(tree->net, tree->sw[i], TREE_UP + k, tree->sw[first_core + k], pod_of(i),
			 bps, delay_ns);
	}
}

struct fat_tree fat_tree_new(struct sw_config *const *switches, const struct host_config *hosts,
			     uint64_t bps, uint64_t delay_ns)
{
	struct fat_tree tree = { .net = net_new() };

	for (uint32_t i = 0; i < TREE_SWITCHES; i++)
		tree.sw[i] = net_add_switch(tree.net, rig_new_blank(switches[i]));
	for (uint32_t host = 0; host < TREE_HOSTS; host++) {
		tree.host[host] = net_add_host(tree.net, &hosts[host]);
		net_join(tree.net, tree.host[host], 0, tree.sw[host / PER_POD], host % PER_POD, bps,
			 delay_ns);
	}
	for (uint32_t i = TREE_EDGES; i < TREE_EDGES + TREE_AGGREGATIONS; i++)
		join_aggregation(&tree, i, bps, delay_ns);
	return tree;
}

uint64_t fat_tree_received(const struct fat_tree *tree, uint32_t prio)
{
	uint64_t sum = 0;

	for (uint32_t host = 0; host < TREE_HOSTS; host++)
		sum += net_host_stats(tree->net, tree->host[host]).prio[prio].rx_packets;
	return sum;
}

uint64_t fat_tree_drops(const struct fat_tree *tree)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < TREE_SWITCHES; i++)
		sum += rig_all_drops(net_rig(tree->net, tree->sw[i]));
	return sum;
}

uint64_t fat_tree_xoffs(const struct fat_tree *tree, uint32_t prio)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < TREE_SWITCHES; i++) {
		for (uint32_t port = 0; port < TREE_PORTS; port++)
			sum += net_rig(tree->net, tree->sw[i])->pfc[port].xoff[prio];
	}
	return sum;
}

uint64_t fat_tree_headroom(const struct fat_tree *tree, uint32_t pg)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < TREE_SWITCHES; i++) {
		const struct rig *rig = net_rig(tree->net, tree->sw[i]);

		for (uint32_t port = 0; port < TREE_PORTS; port++)
			most = u64_max(most, rig_pg(rig, port, pg).xoff_room_watermark_bytes);
	}
	return most;
}
