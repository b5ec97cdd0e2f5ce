// SPDX-License-Identifier: BSD-3-Clause
//
// Hosts of the whole fabric, which every switch knows by the edge they are at, and the gateways
// that a switch is for its own. What is behind an uplink nobody knows before it speaks: uplinks
// have no rows.

#include "fabricmgr/switch_config_parts.h"

#include <string.h>

#include "fabricmgr/core/address.h"
#include "schema/config_limits.h"

enum { FABRIC_VLAN = 1, EDGE_NUMBER_MAX = 4095 };

static struct ip_prefix alone(const struct ip_prefix *ip)
{
	struct ip_prefix host = *ip;

	host.len = (uint8_t)ip_family_bits(ip->family);
	return host;
}

static void put_host(struct config_text *text, uint32_t host_port, const struct ip_prefix *ip)
{
	const struct fabric *fabric = &text->source->fabric;
	const struct fabric_host_port *port = &fabric->host_ports[host_port];
	const struct ip_prefix prefix = alone(ip);

	if (!config_row(text, "host", CONFIG_HOST_MAX))
		return;
	config_mac(text, "mac", fabric_host_mac(fabric, host_port));
	if (ip->family != IP_NONE)
		config_ip(text, "prefix", &prefix);
	config_number(text, "edge", text->source->graph.switch_edge[port->at]);
	config_number(text, "port", port->port);
	config_row_end(text);
}

static void put_host_rows(struct config_text *text, uint32_t host_port)
{
	const struct fabric_host_port *port = &text->source->fabric.host_ports[host_port];

	if (text->source->fabric.hosts[port->host].external)
		return;
	if (port->ip.family != IP_NONE || port->ip6.family == IP_NONE)
		put_host(text, host_port, &port->ip);
	if (port->ip6.family != IP_NONE)
		put_host(text, host_port, &port->ip6);
}

// --- gateways ---------------------------------------------------------------------------------

static bool same_address(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->family == b->family && a->len == b->len &&
	       memcmp(a->address, b->address, sizeof(a->address)) == 0;
}

static const struct ip_prefix *address_of(const struct config_text *text, uint32_t port, bool v6)
{
	const struct fabric_host_port *host =
		&text->source->fabric.host_ports[text->port[port].host_port];

	return v6 ? &host->ip6 : &host->ip;
}

// Whether an earlier port has it.
static bool is_known(const struct config_text *text, uint32_t ports, bool v6,
		     const struct ip_prefix *gateway)
{
	for (uint32_t i = 0; i < ports; i++) {
		struct ip_prefix other;

		if (text->port[i].host_port == FABRIC_NONE)
			continue;
		other = fabric_gateway(address_of(text, i, v6));
		if (same_address(&other, gateway))
			return true;
	}
	return false;
}

static void put_gateway(struct config_text *text, uint32_t port, bool v6)
{
	struct ip_prefix gateway;

	if (text->port[port].host_port == FABRIC_NONE)
		return;
	gateway = fabric_gateway(address_of(text, port, v6));
	if (gateway.family == IP_NONE || is_known(text, port, v6, &gateway) ||
	    !config_row(text, "interface", CONFIG_INTERFACE_MAX))
		return;
	config_number(text, "vlan", FABRIC_VLAN);
	config_ip(text, "address", &gateway);
	config_row_end(text);
}

void config_hosts(struct config_text *text)
{
	const uint32_t edges = text->source->graph.topo.edge_count;

	if (edges > EDGE_NUMBER_MAX + 1) {
		config_fail(text, -EOVERFLOW, "%u switches with hosts, and there are %d numbers",
			    edges, EDGE_NUMBER_MAX + 1);
		return;
	}
	for (uint32_t i = 0; config_has_gateways(text) && i < 2 * text->port_count; i++)
		put_gateway(text, i % text->port_count, i >= text->port_count);
	for (uint32_t i = 0; text->rc == 0 && i < text->source->fabric.host_port_count; i++)
		put_host_rows(text, i);
}
