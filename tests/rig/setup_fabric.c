// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of forwarding tables for tests: interfaces, neighbours, next hops, routes, edges, hosts and
// turns. Ports are named by index; addresses are IPv4 numbers.

#include "tests/rig/setup.h"

#include "base/bytes.h"
#include "base/check.h"

struct ip_prefix setup_ipv4(uint32_t ip, uint8_t len)
{
	struct ip_prefix prefix = { .family = IP_V4, .len = len };

	store_be32(prefix.address, ip);
	return prefix;
}

void setup_interface(struct sw_config *c, uint16_t vlan, uint32_t ip, uint8_t len)
{
	struct interface_config *row = setup_add_row(c, "interface");

	row->vlan = vlan;
	row->address = setup_ipv4(ip, len);
}

void setup_neighbor(struct sw_config *c, uint16_t vlan, uint32_t ip, uint64_t mac)
{
	struct neighbor_config *row = setup_add_row(c, "neighbor");

	row->vlan = vlan;
	row->address = setup_ipv4(ip, 32);
	row->mac = mac;
}

struct next_hop_config *setup_next_hop(struct sw_config *c, const char *group, uint32_t port,
				       uint64_t mac)
{
	struct next_hop_config *row = setup_add_row(c, "next_hop");

	setup_name(row->group, group);
	setup_port_name(port, row->port);
	if (mac != 0)
		row->mac = mac;
	return row;
}

void setup_route(struct sw_config *c, uint32_t ip, uint8_t len, const char *via)
{
	struct route_config *row = setup_add_row(c, "route");

	row->prefix = setup_ipv4(ip, len);
	setup_name(row->via, via);
}

void setup_edge(struct sw_config *c, uint16_t number, const char *via)
{
	struct edge_config *row = setup_add_row(c, "edge");

	row->number = number;
	setup_name(row->via, via);
}

void setup_fabric_host(struct sw_config *c, uint64_t mac, uint32_t ip, uint16_t edge, uint32_t port)
{
	struct fabric_host_config *row = setup_add_row(c, "host");

	row->mac = mac;
	row->prefix = setup_ipv4(ip, 32);
	row->edge = edge;
	row->port = port;
}

void setup_turn(struct sw_config *c, uint32_t in, uint32_t out, uint32_t lane, uint32_t to)
{
	struct turn_config *row = setup_add_row(c, "turn");

	setup_port_name(in, row->in);
	setup_port_name(out, row->out);
	row->lane = lane;
	row->to = to;
}
