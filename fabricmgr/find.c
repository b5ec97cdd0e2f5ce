// SPDX-License-Identifier: BSD-3-Clause
//
// Looking names up is fabric.h's; here is what is said when they are not there. Names come from
// outside: they are cut where a sentence would not hold them.

#include "fabricmgr/find.h"

#include <stdio.h>
#include <string.h>

#include "sys/nearest.h"

// Characters of a name that sentences show.
enum { SHOWN = FABRIC_NAME_BYTES - 1 };

static bool absent(const char *kind, const char *name, const struct nearest *near,
		   char why[FIND_WHY_BYTES])
{
	const char *best = near->best;

	snprintf(why, FIND_WHY_BYTES, "there is no %s %.*s%s%s%s", kind, SHOWN, name,
		 best != NULL ? "; did you mean " : "", best != NULL ? best : "",
		 best != NULL ? "?" : "");
	return false;
}

static void offer_switches(const struct fabric *fabric, struct nearest *near)
{
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		nearest_offer(near, fabric->switches[i].name);
}

bool find_switch(const struct fabric *fabric, const char *name, uint32_t *at,
		 char why[FIND_WHY_BYTES])
{
	struct nearest near = nearest_to(name);

	*at = fabric_find_switch(fabric, name);
	if (*at != FABRIC_NONE)
		return true;
	offer_switches(fabric, &near);
	return absent("switch", name, &near, why);
}

// What of a name is before its last colon. False: there is nothing, or too much.
static bool stem_of(const char *name, const char *colon, char stem[FABRIC_NAME_BYTES])
{
	const size_t len = colon != NULL ? (size_t)(colon - name) : 0;

	if (len == 0 || len >= FABRIC_NAME_BYTES)
		return false;
	memcpy(stem, name, len);
	stem[len] = '\0';
	return true;
}

// Only ports that lead to switches are offered: all others are no links.
static bool no_link(const struct fabric *fabric, const struct topo *topo, uint32_t at,
		    const char *port, char why[FIND_WHY_BYTES])
{
	const struct fabric_switch *sw = &fabric->switches[at];
	char names[2][FABRIC_NAME_BYTES];
	struct nearest near = nearest_to(port);
	uint32_t next = 0;

	// The name that was found near has to stay, so the others are written beside it.
	for (uint32_t link = topo->link_first[at]; link < topo->link_first[at + 1]; link++) {
		nearest_offer(&near, fabric_port_name(sw, topo->link_port[link], names[next]));
		if (near.best == names[next])
			next ^= 1;
	}
	snprintf(why, FIND_WHY_BYTES, "%s has no link to a switch at %.*s%s%s%s", sw->name, SHOWN,
		 port, near.best != NULL ? "; did you mean " : "",
		 near.best != NULL ? near.best : "", near.best != NULL ? "?" : "");
	return false;
}

bool find_link(const struct fabric *fabric, const struct topo *topo, const char *name,
	       uint32_t *link, char why[FIND_WHY_BYTES])
{
	const char *colon = strrchr(name, ':');
	char stem[FABRIC_NAME_BYTES];
	uint32_t at;
	uint16_t port;

	if (!stem_of(name, colon, stem)) {
		snprintf(why, FIND_WHY_BYTES, "%.*s is no link: those are called SWITCH:PORT",
			 SHOWN, name);
		return false;
	}
	if (!find_switch(fabric, stem, &at, why))
		return false;
	*link = fabric_find_port(&fabric->switches[at], colon + 1, &port) ?
			topo_link_at(topo, at, port) :
			TOPO_NONE;
	return *link != TOPO_NONE || no_link(fabric, topo, at, colon + 1, why);
}

static uint32_t find_host(const struct fabric *fabric, const char *name, uint32_t *nth)
{
	const char *colon = strrchr(name, ':');
	const uint32_t host = fabric_find_host(fabric, name);
	char stem[FABRIC_NAME_BYTES];

	*nth = 0;
	if (host != FABRIC_NONE || !stem_of(name, colon, stem) || colon[1] < '0' ||
	    colon[1] > '9' || colon[2] != '\0')
		return host;
	*nth = (uint32_t)(colon[1] - '0');
	return fabric_find_host(fabric, stem);
}

static uint32_t edge_of(const struct fabric_graph *graph, uint32_t at, uint32_t host)
{
	uint32_t edge = graph->switch_edge[at];

	// Tables by LID have an edge for each host of a switch, one behind the other.
	while (host != TOPO_NONE && edge != TOPO_NONE &&
	       host >= graph->topo.edge_first_host[edge + 1])
		edge++;
	return edge;
}

bool find_end(const struct fabric *fabric, const struct fabric_graph *graph, const char *name,
	      struct find_end *end, char why[FIND_WHY_BYTES])
{
	struct nearest near = nearest_to(name);
	uint32_t nth;
	const uint32_t host = find_host(fabric, name, &nth);

	end->at = fabric_find_switch(fabric, name);
	end->host = TOPO_NONE;
	if (host != FABRIC_NONE && nth < fabric->hosts[host].port_count) {
		const uint32_t port = fabric->hosts[host].first_port + nth;

		end->at = fabric->host_ports[port].at;
		end->host = graph->host_number[port];
	}
	if (end->at != FABRIC_NONE) {
		end->edge = edge_of(graph, end->at, end->host);
		return true;
	}
	for (uint32_t i = 0; i < fabric->host_count; i++)
		nearest_offer(&near, fabric->hosts[i].name);
	offer_switches(fabric, &near);
	return absent("host or switch", name, &near, why);
}
