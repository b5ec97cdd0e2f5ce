// SPDX-License-Identifier: BSD-3-Clause
//
// A two-tier fabric for tests: every leaf has hosts on its first ports and a port to each spine
// behind them; port l of a spine leads to leaf l. Host h of leaf l is number l * LS_HOSTS + h.
// Managed forwarding, one group of all uplinks per leaf, hellos on every fabric port.
#pragma once

#include "base/check.h"
#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	LS_HOSTS = 2,
	LS_LEAF_MAX = 4,
	LS_SPINE_MAX = 4,
	LS_FLOWS = 16, // queue pairs of one sender
	LS_FRAME = 1000,
	LS_MS = 1000000,
	LS_INTERVAL = 10 * LS_MS,
	LS_MULTIPLIER = 4,
};

#define LS_BPS 10000000000u
#define LS_FLOW_BPS 10000000u

struct leaf_spine {
	struct net *net;
	uint32_t leaves, spines;
	uint32_t leaf[LS_LEAF_MAX]; // nodes
	uint32_t spine[LS_SPINE_MAX];
	uint32_t host[LS_LEAF_MAX * LS_HOSTS];
};

static inline struct sw_config *ls_config(uint32_t ports, const char *name, uint32_t first_fabric)
{
	struct sw_config *c = setup_kvm(ports);

	setup_name(c->sw.name, name);
	c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	c->sw.hello_interval = LS_INTERVAL;
	c->sw.hello_multiplier = LS_MULTIPLIER;
	for (uint32_t i = first_fabric; i < ports; i++) {
		c->port[i].role = CONFIG_ROLE_FABRIC;
		c->port[i].hello = CONFIG_HELLO_ON;
	}
	return c;
}

static inline void ls_add_hosts(struct sw_config *c, uint32_t leaves)
{
	for (uint32_t id = 0; id < leaves * LS_HOSTS; id++)
		setup_fabric_host(c, frame_host_mac(id), frame_host_ip(id),
				  (uint16_t)(id / LS_HOSTS), id % LS_HOSTS);
}

static inline struct sw_config *ls_leaf(uint32_t number, uint32_t leaves, uint32_t spines)
{
	char name[] = { 'l', 'e', 'a', 'f', (char)('0' + number), '\0' };
	struct sw_config *c = ls_config(LS_HOSTS + spines, name, LS_HOSTS);

	c->sw.edge_number = number;
	for (uint32_t s = 0; s < spines; s++)
		setup_next_hop(c, "up", LS_HOSTS + s, 0);
	for (uint32_t l = 0; l < leaves; l++) {
		if (l != number)
			setup_edge(c, (uint16_t)l, "up");
	}
	ls_add_hosts(c, leaves);
	return c;
}

static inline struct sw_config *ls_spine(uint32_t number, uint32_t leaves)
{
	char name[] = { 's', 'p', 'i', 'n', 'e', (char)('0' + number), '\0' };
	struct sw_config *c = ls_config(leaves, name, 0);

	for (uint32_t l = 0; l < leaves; l++) {
		const char group[] = { 'l', (char)('0' + l), '\0' };

		setup_next_hop(c, group, l, 0);
		setup_edge(c, (uint16_t)l, group);
	}
	ls_add_hosts(c, leaves);
	return c;
}

// Host `from` sends LS_FLOWS streams of lossless frames to host `to`, for ever.
static inline void ls_add_flows(struct host_config *config, uint32_t to)
{
	for (uint32_t i = 0; i < LS_FLOWS; i++) {
		struct host_flow_config *flow = host_add_flow(config, to, 3, LS_FRAME);

		flow->bps = LS_FLOW_BPS;
		flow->qp = 0x100 + i;
	}
}

// Attaches host `id` to its leaf; of the pairs (from, to) in `flows` it sends what it is the first
// of.
static inline void ls_add_host(struct leaf_spine *ls, uint32_t id, const uint32_t (*flows)[2],
			       uint32_t flow_count)
{
	struct host_config config;

	host_config_init(&config, id);
	config.announce = false;
	config.bps = LS_BPS;
	for (uint32_t i = 0; i < flow_count; i++) {
		if (flows[i][0] == id)
			ls_add_flows(&config, flows[i][1]);
	}
	ls->host[id] = net_add_host(ls->net, &config);
	net_join(ls->net, ls->leaf[id / LS_HOSTS], id % LS_HOSTS, ls->host[id], 0, LS_BPS, 1000);
}

static inline void ls_new(struct leaf_spine *ls, uint32_t leaves, uint32_t spines,
			  const uint32_t (*flows)[2], uint32_t flow_count)
{
	ls->net = net_new();
	ls->leaves = leaves;
	ls->spines = spines;
	for (uint32_t l = 0; l < leaves; l++)
		ls->leaf[l] = net_add_switch(ls->net, rig_new_blank(ls_leaf(l, leaves, spines)));
	for (uint32_t s = 0; s < spines; s++)
		ls->spine[s] = net_add_switch(ls->net, rig_new_blank(ls_spine(s, leaves)));
	for (uint32_t id = 0; id < leaves * LS_HOSTS; id++)
		ls_add_host(ls, id, flows, flow_count);
	for (uint32_t l = 0; l < leaves; l++) {
		for (uint32_t s = 0; s < spines; s++)
			net_join(ls->net, ls->leaf[l], LS_HOSTS + s, ls->spine[s], l, LS_BPS, 1000);
	}
}

static inline struct host_prio_stats ls_received(const struct leaf_spine *ls, uint32_t host)
{
	return net_host_stats(ls->net, ls->host[host]).prio[3];
}

static inline struct port_stats ls_port(const struct leaf_spine *ls, uint32_t node, uint32_t port)
{
	return rig_port(net_rig(ls->net, node), port);
}

static inline const struct hello_peer *ls_peer(const struct leaf_spine *ls, uint32_t node,
					       uint32_t port)
{
	return sw_peer(net_rig(ls->net, node)->sw, (port_t){ (uint16_t)port });
}
