// SPDX-License-Identifier: BSD-3-Clause
//
// From names to numbers: cables become links, switches with hosts become edges, and what is to be
// ignored counts as lost from the start.

#include "fabricmgr/core/fabric.h"

#include <errno.h>

#include "fabricmgr/core/label.h"

// How hosts spread over switches, while they are numbered.
struct seating {
	uint32_t *first; // [switch_count + 1] host of a switch
	uint32_t *taken; // [switch_count] of them
	struct topo_edge *edges;
	uint32_t edge_count;
};

static int seating_init(const struct fabric *fabric, struct arena *scratch, struct seating *seats)
{
	seats->first = arena_take(scratch, fabric->switch_count + 1u, sizeof(*seats->first));
	seats->taken = arena_take(scratch, fabric->switch_count, sizeof(*seats->taken));
	seats->edges = arena_take_raw(scratch, fabric->switch_count, sizeof(*seats->edges));
	seats->edge_count = 0;
	return seats->first != NULL && seats->taken != NULL && seats->edges != NULL ? 0 : -ENOMEM;
}

static void count_hosts(const struct fabric *fabric, struct seating *seats,
			struct fabric_graph *graph)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		seats->first[fabric->host_ports[i].at]++;
	for (uint32_t i = 0; i <= fabric->switch_count; i++) {
		const uint32_t count = seats->first[i];

		seats->first[i] = sum;
		sum += count;
		if (i == fabric->switch_count)
			break;
		graph->switch_edge[i] = count > 0 ? seats->edge_count : TOPO_NONE;
		if (count > 0)
			seats->edges[seats->edge_count++] =
				(struct topo_edge){ .at = i, .host_count = count };
	}
}

// Puts a host port behind those of its switch with lower numbers; mostly it is the last.
static void seat(const struct fabric *fabric, struct seating *seats, uint32_t number,
		 uint32_t *host_of)
{
	const struct fabric_host_port *port = &fabric->host_ports[number];
	const uint32_t first = seats->first[port->at];
	uint32_t at = first + seats->taken[port->at]++;

	for (; at > first && fabric->host_ports[host_of[at - 1]].port > port->port; at--)
		host_of[at] = host_of[at - 1];
	host_of[at] = number;
}

static enum topo_fault build_topo(const struct fabric *fabric, const struct seating *seats,
				  struct arena *keep, struct arena *scratch,
				  struct fabric_graph *graph, uint32_t *at)
{
	struct topo_cable *cables = arena_take_raw(scratch, fabric->cable_count, sizeof(*cables));

	if (cables == NULL)
		return TOPO_NO_MEMORY;
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];

		cables[i] = (struct topo_cable){
			.end_switch = { cable->end_switch[0], cable->end_switch[1] },
			.end_port = { cable->end_port[0], cable->end_port[1] },
			.weight = cable->weight,
		};
	}
	return topo_build(fabric->switch_count, cables, fabric->cable_count, seats->edges,
			  seats->edge_count, keep, scratch, &graph->topo, at);
}

// What fabric_finish() lets pass and a graph cannot have.
static int refuse(const struct fabric *fabric, enum topo_fault fault, uint32_t at,
		  struct fabric_faults *faults)
{
	const struct fabric_cable *cable = at < fabric->cable_count ? &fabric->cables[at] : NULL;
	const uint32_t line = cable != NULL ? cable->line : 0;
	const char *name = cable != NULL ? fabric->switches[cable->end_switch[0]].name :
					   fabric->name;

	if (fault == TOPO_NO_MEMORY)
		fabric_fail(faults, FABRIC_FAULT_MEMORY, 0, fabric->name, "", 0, 0);
	else
		fabric_fail(faults, FABRIC_FAULT_TOO_LARGE, line, name, "", fabric->cable_count,
			    TOPO_DEGREE_MAX);
	return fault == TOPO_NO_MEMORY ? -ENOMEM : -EINVAL;
}

static void map_links(const struct fabric *fabric, struct fabric_graph *graph)
{
	for (uint32_t i = 0; i < fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i];
		const uint32_t link = topo_link_at(&graph->topo, cable->end_switch[0],
						   cable->end_port[0]);
		const uint32_t peer = graph->topo.link_peer[link];

		graph->cable_link[i] = link;
		graph->link_cable[link] = i;
		graph->link_cable[peer] = i | FABRIC_FAR_END;
		graph->state.link_lost[link] = graph->state.link_lost[peer] = cable->ignored;
	}
	for (uint32_t i = 0; i < fabric->switch_count; i++)
		graph->state.switch_lost[i] = fabric->switches[i].ignored;
}

static int build(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		 struct fabric_graph *graph, struct fabric_faults *faults)
{
	struct seating seats;
	enum topo_fault fault;
	uint32_t at;

	graph->host_of = arena_take_raw(keep, fabric->host_port_count, sizeof(uint32_t));
	graph->host_number = arena_take_raw(keep, fabric->host_port_count, sizeof(uint32_t));
	graph->switch_edge = arena_take_raw(keep, fabric->switch_count, sizeof(uint32_t));
	graph->cable_link = arena_take_raw(keep, fabric->cable_count, sizeof(uint32_t));
	graph->link_cable = arena_take_raw(keep, 2 * fabric->cable_count, sizeof(uint32_t));
	if (graph->host_of == NULL || graph->host_number == NULL || graph->switch_edge == NULL ||
	    graph->cable_link == NULL || graph->link_cable == NULL ||
	    seating_init(fabric, scratch, &seats) < 0)
		return refuse(fabric, TOPO_NO_MEMORY, FABRIC_NONE, faults);
	count_hosts(fabric, &seats, graph);
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		seat(fabric, &seats, i, graph->host_of);
	for (uint32_t i = 0; i < fabric->host_port_count; i++)
		graph->host_number[graph->host_of[i]] = i;
	fault = build_topo(fabric, &seats, keep, scratch, graph, &at);
	if (fault != TOPO_GOOD)
		return refuse(fabric, fault, at, faults);
	if (topo_state_init(&graph->topo, keep, &graph->state) < 0)
		return refuse(fabric, TOPO_NO_MEMORY, FABRIC_NONE, faults);
	map_links(fabric, graph);
	return 0;
}

int fabric_graph_build(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		       struct fabric_graph *graph, struct fabric_faults *faults)
{
	const size_t mark = arena_mark(scratch);
	const int rc = build(fabric, keep, scratch, graph, faults);

	arena_release(scratch, mark);
	return rc;
}
