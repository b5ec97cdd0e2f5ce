// SPDX-License-Identifier: BSD-3-Clause
//
// The things of a fabric, each with what the intent says of it and how it is now. A value that is
// not known, or that the thing does not have, is null; every object of a list has the same keys.
// Names come from a fabric that was checked, but not what switches call their software.

#include "fabricmgr/net/view_json.h"

#include <string.h>

#include "base/units.h"
#include "fabricmgr/net/view.h"
#include "sys/cfg_address.h"
#include "sys/text_json.h"

static json_t *generation_json(const struct generation *generation)
{
	if (generation->number == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:o}", "epoch", (json_int_t)generation->epoch, "number",
			 (json_int_t)generation->number, "hash",
			 json_sprintf("%016llx", (unsigned long long)generation->hash));
}

static json_t *place_json(const struct fabric *fabric, const struct fabric_switch *sw)
{
	json_t *place;

	if (!sw->has_place)
		return json_null();
	place = json_array();
	for (uint32_t d = 0; d < fabric->dim_count; d++)
		json_array_append_new(place, json_integer(sw->place[d]));
	return place;
}

static json_t *number_or_null(bool has, uint64_t number)
{
	return has ? json_integer((json_int_t)number) : json_null();
}

static uint32_t hosts_of(const struct fabric_graph *graph, uint32_t at)
{
	const uint32_t edge = graph->switch_edge[at];

	return edge == TOPO_NONE ? 0 : topo_edge_hosts(&graph->topo, edge);
}

static json_t *switch_json(const struct manager_view *view, uint32_t at, ns_t now)
{
	const struct fabric *fabric = &view->source->fabric;
	const struct fabric_switch *sw = &fabric->switches[at];
	const struct manager_switch *live = &view->switches[at];
	const struct distribute_switch *told = &view->distributor->at[at];
	const enum view_life life = view_life(view, at);
	const bool seen = life == VIEW_SWITCH_THERE || life == VIEW_SWITCH_HEADLESS;

	return json_pack("{s:s, s:s, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i}",
			 "name", sw->name, "state", view_life_names[life], "state_for_ns",
			 number_or_null(seen, ns_since(now, live->since)), "drained",
			 (int)live->drained, "behind", (int)view_behind(view, at), "refused",
			 (int)told->failed, "running", generation_json(&told->running), "target",
			 generation_json(&told->target), "software",
			 text_json(live->software, strlen(live->software)), "level",
			 number_or_null(sw->level != FABRIC_LEVEL_NONE, sw->level), "pod",
			 number_or_null(sw->pod != 0, sw->pod), "place", place_json(fabric, sw),
			 "ports", (int)sw->port_count, "host_ports",
			 (int)hosts_of(&view->source->graph, at));
}

static json_t *link_json(const struct manager_view *view, uint32_t cable)
{
	const struct fabric *fabric = &view->source->fabric;
	const struct fabric_graph *graph = &view->source->graph;
	const uint32_t link = graph->cable_link[cable];
	const uint32_t peer = graph->topo.link_peer[link];
	const struct label name = planner_link_name(fabric, graph, link);
	const struct label far = planner_link_name(fabric, graph, peer);
	const struct manager_link *worse = &view->links[link];

	if (view->links[peer].losses > worse->losses)
		worse = &view->links[peer];
	return json_pack("{s:s, s:s, s:s, s:b, s:I, s:i, s:I, s:I, s:i}", "name", name.text, "peer",
			 far.text, "state", view_link_names[view_link(view, link)], "planned",
			 (int)view_link_planned(view, link), "losses", (json_int_t)worse->losses,
			 "penalty", (int)worse->damping.penalty, "speed_bps",
			 (json_int_t)fabric->cables[cable].speed_bps, "length_mm",
			 (json_int_t)fabric->cables[cable].length_mm, "weight",
			 (int)fabric->cables[cable].weight);
}

static json_t *links_list(const struct manager_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < view->source->fabric.cable_count; i++)
		json_array_append_new(list, link_json(view, i));
	return list;
}

json_t *view_links_json(const struct manager_view *view)
{
	return json_pack("{s:o}", "links", links_list(view));
}

json_t *view_topology_json(const struct manager_view *view, ns_t now)
{
	const struct fabric *fabric = &view->source->fabric;
	json_t *switches = json_array();

	for (uint32_t i = 0; i < fabric->switch_count; i++)
		json_array_append_new(switches, switch_json(view, i, now));
	return json_pack("{s:s, s:o, s:o}", "fabric", fabric->name != NULL ? fabric->name : "",
			 "switches", switches, "links", links_list(view));
}

static json_t *address_json(const struct ip_prefix *prefix)
{
	char text[IP_PREFIX_TEXT_BYTES];

	if (prefix->family == IP_NONE)
		return json_null();
	ip_prefix_format(prefix, text);
	return json_string(text);
}

static json_t *mac_json(uint64_t mac)
{
	char text[MAC_TEXT_BYTES];

	if (mac == 0)
		return json_null();
	mac_format(mac, text);
	return json_string(text);
}

static json_t *host_port_json(const struct fabric *fabric, const struct fabric_host_port *port)
{
	const struct fabric_switch *sw = &fabric->switches[port->at];
	char name[FABRIC_NAME_BYTES];

	return json_pack("{s:s, s:s, s:i, s:I, s:o, s:o, s:o}", "switch", sw->name, "port",
			 fabric_port_name(sw, port->port, name), "rail", (int)port->rail,
			 "speed_bps", (json_int_t)port->speed_bps, "mac", mac_json(port->mac), "ip",
			 address_json(&port->ip), "ip6", address_json(&port->ip6));
}

static json_t *host_json(const struct fabric *fabric, const struct fabric_host *host)
{
	json_t *ports = json_array();

	for (uint32_t i = 0; i < host->port_count; i++)
		json_array_append_new(
			ports, host_port_json(fabric, &fabric->host_ports[host->first_port + i]));
	return json_pack("{s:s, s:o, s:b, s:o}", "name", host->name, "tenant",
			 host->tenant != 0 ? json_string(fabric->tenants[host->tenant]) :
					     json_null(),
			 "external", (int)host->external, "ports", ports);
}

json_t *view_hosts_json(const struct manager_view *view)
{
	const struct fabric *fabric = &view->source->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < fabric->host_count; i++)
		json_array_append_new(list, host_json(fabric, &fabric->hosts[i]));
	return json_pack("{s:o}", "hosts", list);
}
