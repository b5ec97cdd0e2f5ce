// SPDX-License-Identifier: BSD-3-Clause
//
// Switches, links, hosts and uplinks by name. Ends with a port are plugged in first, so that the
// others find the ports behind them.

#include "fabricmgr/intent_rows.h"

#include <string.h>

static const struct intent_fabric *top(const struct maker *maker)
{
	return &maker->intent->fabric;
}

static uint64_t or_else(uint64_t value, uint64_t other)
{
	return value != CONFIG_UNSET ? value : other;
}

static uint64_t host_speed(const struct maker *maker)
{
	return or_else(top(maker)->host_speed, top(maker)->speed);
}

static uint32_t millimetres(uint64_t metres)
{
	return (uint32_t)(metres * 1000);
}

bool maker_nodes(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->intent->node_count; i++) {
		const struct intent_node *row = &maker->intent->node[i];
		struct fabric_switch *sw = fabric_add_switch(maker->fabric, row->name);

		if (sw == NULL)
			return false;
		sw->line = row->line;
		sw->has_place = row->place.count > 0;
		if (row->place.count > FABRIC_DIMS_MAX)
			maker_complain(maker, row->line, "switches.place", "more than %d numbers",
				       FABRIC_DIMS_MAX);
		for (uint32_t d = 0; d < row->place.count && d < FABRIC_DIMS_MAX; d++)
			sw->place[d] = (uint16_t)row->place.value[d];
	}
	return true;
}

// Whether both ends of a link are found.
static bool find_ends(struct maker *maker, const struct intent_link *row, struct maker_end end[2])
{
	return maker_end(maker, row->line, "links.a", row->a, &end[0]) &&
	       maker_end(maker, row->line, "links.b", row->b, &end[1]);
}

// Adds one link unless it belongs to the other round. `with_ports`: both ends say theirs.
static bool add_link(struct maker *maker, const struct intent_link *row, bool with_ports)
{
	struct fabric_cable *cable;
	struct maker_end end[2];
	uint16_t port[2];

	if (with_ports != (strchr(row->a, ':') != NULL && strchr(row->b, ':') != NULL))
		return true;
	if (!find_ends(maker, row, end))
		return true;
	port[0] = maker_port(maker, &end[0]);
	port[1] = maker_port(maker, &end[1]);
	cable = fabric_add_cable(maker->fabric, end[0].at, port[0], end[1].at, port[1]);
	if (cable == NULL)
		return false;
	cable->line = row->line;
	cable->weight = (uint16_t)row->weight;
	cable->speed_bps = or_else(row->speed, top(maker)->speed);
	cable->length_mm = millimetres(or_else(row->length, top(maker)->length));
	return true;
}

bool maker_links(struct maker *maker)
{
	for (uint32_t i = 0; i < 2 * maker->intent->link_count; i++) {
		const uint32_t row = i % maker->intent->link_count;

		if (!add_link(maker, &maker->intent->link[row], i < maker->intent->link_count))
			return false;
	}
	return true;
}

// --- hosts ------------------------------------------------------------------------------------

// The port at a place of a host that the shape has made; NULL: none. A port of another host is
// found to be taken in the end.
static struct fabric_host_port *port_of(struct maker *maker, uint32_t host,
					const struct maker_end *end)
{
	for (uint32_t i = 0; host < maker->made_hosts && i < maker->attach; i++) {
		struct fabric_host_port *port =
			&maker->fabric->host_ports[(size_t)host * maker->attach + i];

		if (port->at == end->at && end->has_port && port->port == end->port)
			return port;
	}
	return NULL;
}

static void set_address(struct maker *maker, const struct intent_member *row, const char *where,
			const struct ip_prefix *address, uint8_t family, struct ip_prefix *to)
{
	if (address->family == IP_NONE)
		return;
	if (address->family != family)
		maker_complain(maker, row->line, where, "not an address of IPv%d",
			       family == IP_V4 ? 4 : 6);
	*to = *address;
}

static void set_port(struct maker *maker, const struct intent_member *row,
		     struct fabric_host_port *port)
{
	port->line = row->line;
	port->rail = (uint16_t)row->rail;
	if (row->mac != CONFIG_UNSET)
		port->mac = row->mac;
	set_address(maker, row, "hosts.ip", &row->ip, IP_V4, &port->ip);
	set_address(maker, row, "hosts.ip6", &row->ip6, IP_V6, &port->ip6);
	port->speed_bps = or_else(row->speed, port->speed_bps);
	if (row->length != CONFIG_UNSET)
		port->length_mm = millimetres(row->length);
}

static struct fabric_host_port *new_port(struct maker *maker, uint32_t host,
					 const struct maker_end *end)
{
	struct fabric_host_port *port = fabric_add_host_port(maker->fabric, host, end->at,
							     maker_port(maker, end));

	if (port != NULL) {
		port->speed_bps = host_speed(maker);
		port->length_mm = millimetres(top(maker)->host_length);
	}
	return port;
}

static bool add_member(struct maker *maker, const struct intent_member *row)
{
	uint32_t host = fabric_find_host(maker->fabric, row->name);
	struct fabric_host_port *port = NULL;
	struct maker_end end;

	if (!maker_end(maker, row->line, "hosts.at", row->at, &end))
		return true;
	if (host != FABRIC_NONE) {
		port = port_of(maker, host, &end);
	} else {
		struct fabric_host *added = fabric_add_host(maker->fabric, row->name);

		if (added == NULL)
			return false;
		added->line = row->line;
		host = maker->fabric->host_count - 1;
	}
	if (row->tenant[0] != '\0')
		maker->fabric->hosts[host].tenant = fabric_tenant(maker->fabric, row->tenant);
	if (maker->fabric->hosts[host].tenant == FABRIC_NONE)
		return false;
	if (port == NULL)
		port = new_port(maker, host, &end);
	if (port != NULL)
		set_port(maker, row, port);
	return port != NULL;
}

bool maker_members(struct maker *maker)
{
	for (uint32_t i = 0; i < 2 * maker->intent->member_count; i++) {
		const uint32_t at = i % maker->intent->member_count;
		const struct intent_member *row = &maker->intent->member[at];
		const bool first = i < maker->intent->member_count;

		if (first == (strchr(row->at, ':') != NULL) && !add_member(maker, row))
			return false;
	}
	return true;
}

bool maker_uplinks(struct maker *maker)
{
	for (uint32_t i = 0; i < maker->intent->uplink_count; i++) {
		const struct intent_uplink *row = &maker->intent->uplink[i];
		struct fabric_host_port *port;
		struct fabric_host *host;
		struct maker_end end;

		if (!maker_end(maker, row->line, "uplinks.at", row->at, &end))
			continue;
		host = fabric_add_host(maker->fabric, row->name);
		if (host == NULL)
			return false;
		host->line = row->line;
		host->external = true;
		port = new_port(maker, maker->fabric->host_count - 1, &end);
		if (port == NULL)
			return false;
		port->line = row->line;
		port->speed_bps = or_else(row->speed, port->speed_bps);
		if (row->length != CONFIG_UNSET)
			port->length_mm = millimetres(row->length);
	}
	return true;
}
