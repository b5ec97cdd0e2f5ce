// SPDX-License-Identifier: BSD-3-Clause
//
// A group is called by its members, "Ethernet0+Ethernet4*3", so that one that stays keeps its name
// from plan to plan and differences between configurations say what changed.
//
// Turns are first laid out as a matrix, then written with as few rows as "all" allows.

#include "dataplane/fabric_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "routing/group.h"
#include "sys/cfg_row.h"

enum { WEIGHT_MAX = 255, EDGE_NUMBER_MAX = 4095, LABEL_BYTES = GROUP_MEMBER_MAX * 64 };

// A port, a sign and a weight for each member.
static_assert((int)LABEL_BYTES >= GROUP_MEMBER_MAX * (CONFIG_NAME_BYTES + 5), "the longest label");

struct rows {
	const struct packed_table *routes;
	const struct fabric_ports *ports;
	struct sw_config *config;
	FILE *errors;
};

// A new row with the schema's defaults; NULL after a line: there is no room.
static void *add_row(const struct rows *rows, const char *table_name)
{
	const struct config_table *table = cfg_find_table(config_tables, CONFIG_TABLE_COUNT,
							  table_name);
	const uint32_t count = cfg_row_count(table, rows->config);
	uint8_t *row = cfg_row(table, rows->config, count);

	if (count == table->row_max) {
		fprintf(rows->errors, "the routes take more %s rows than a switch has, %u\n",
			table_name, count);
		return NULL;
	}
	cfg_row_default(table, row);
	cfg_set_row_count(table, rows->config, count + 1);
	return row;
}

static const struct port_config *port_of_link(const struct rows *rows, uint32_t link)
{
	return &rows->config->port[rows->ports->at[rows->routes->port[link]]];
}

static int check_links(const struct rows *rows)
{
	const struct packed_table *routes = rows->routes;

	for (uint32_t i = 0; i < routes->link_count; i++) {
		if (routes->port[i] < rows->ports->count)
			continue;
		fprintf(rows->errors, "the routes name port %u of %u\n", routes->port[i],
			rows->ports->count);
		return -EINVAL;
	}
	return 0;
}

// --- groups and edges -------------------------------------------------------------------------

// Weights up to WEIGHT_MAX stay as they are; above, the largest becomes that.
static uint32_t scaled(uint32_t weight, uint32_t most)
{
	uint32_t scaled_weight = weight;

	if (most > WEIGHT_MAX)
		scaled_weight = (weight * WEIGHT_MAX + most / 2) / most;
	return scaled_weight == 0 ? 1 : scaled_weight;
}

static uint32_t heaviest(const struct plan *plan, const struct plan_group *group)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < group->hop_count; i++) {
		if (plan->hop[group->first + i].weight > most)
			most = plan->hop[group->first + i].weight;
	}
	return most;
}

// Names that are too long become the hash of what they would have been.
static void name_group(const struct rows *rows, const struct plan_group *group,
		       char name[CONFIG_NAME_BYTES])
{
	const struct plan *plan = &rows->routes->plan;
	const uint32_t most = heaviest(plan, group);
	char label[LABEL_BYTES];
	size_t len = 0;

	// Rows are compared by all of their bytes.
	memset(name, 0, CONFIG_NAME_BYTES);
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const struct plan_hop *hop = &plan->hop[group->first + i];
		const uint32_t weight = scaled(hop->weight, most);
		const char *port = port_of_link(rows, hop->link)->name;

		len += (size_t)snprintf(label + len, sizeof(label) - len, "%s%s", i > 0 ? "+" : "",
					port);
		if (weight != 1)
			len += (size_t)snprintf(label + len, sizeof(label) - len, "*%u", weight);
	}
	if (len < CONFIG_NAME_BYTES)
		memcpy(name, label, len + 1);
	else
		snprintf(name, CONFIG_NAME_BYTES, "group-%016" PRIx64, hash_text(label));
}

static int check_group(const struct rows *rows, const struct plan_group *group)
{
	if (group->pin != 0) {
		fputs("the routes pin a group to hosts (D-mod-K), which a switch does not do\n",
		      rows->errors);
		return -ENOTSUP;
	}
	if (group->hop_count > GROUP_MEMBER_MAX) {
		fprintf(rows->errors, "a group of the routes has %u members, a switch takes %d\n",
			group->hop_count, GROUP_MEMBER_MAX);
		return -EOVERFLOW;
	}
	return 0;
}

static int add_group(const struct rows *rows, const struct plan_group *group)
{
	const struct plan *plan = &rows->routes->plan;
	const uint32_t most = heaviest(plan, group);
	char name[CONFIG_NAME_BYTES];
	int rc = check_group(rows, group);

	if (rc != 0)
		return rc;
	name_group(rows, group, name);
	for (uint32_t i = 0; i < group->hop_count; i++) {
		const struct plan_hop *hop = &plan->hop[group->first + i];
		struct next_hop_config *row = add_row(rows, "next_hop");

		if (row == NULL)
			return -EOVERFLOW;
		memcpy(row->group, name, sizeof(row->group));
		memcpy(row->port, port_of_link(rows, hop->link)->name, sizeof(row->port));
		row->weight = scaled(hop->weight, most);
	}
	return 0;
}

static int add_edge(const struct rows *rows, uint32_t edge)
{
	const struct plan *plan = &rows->routes->plan;
	const uint16_t to = plan->row[edge];
	struct edge_config *row;

	if (!plan_is_group(to))
		return 0;
	if (edge > EDGE_NUMBER_MAX) {
		fprintf(rows->errors, "the routes lead to edge %u, a switch knows %d\n", edge,
			EDGE_NUMBER_MAX + 1);
		return -EOVERFLOW;
	}
	row = add_row(rows, "edge");
	if (row == NULL)
		return -EOVERFLOW;
	row->number = edge;
	name_group(rows, &plan->group[to], row->via);
	return 0;
}

// --- turns ------------------------------------------------------------------------------------

// [in][out][lane]: the lane to leave on, or TURN_DENY; by ports of the configuration.
struct turns {
	uint32_t ports;
	uint32_t lanes;
	uint8_t *to;
};

static uint8_t *turn_at(const struct turns *turns, uint32_t in, uint32_t out, uint32_t lane)
{
	return &turns->to[((size_t)in * turns->ports + out) * turns->lanes + lane];
}

// Hosts enter on lane 0, and know no other when they are sent to.
static uint8_t rule(const struct packed_table *routes, uint32_t in, uint32_t out, uint32_t lane)
{
	if (in == TOPO_NONE && lane != 0)
		return TURN_DENY;
	return out == TOPO_NONE ? 0 : turn_rules_get(&routes->plan.turns, in, out, lane);
}

static void lay_out_turn(const struct rows *rows, const uint32_t *link_of, uint32_t in,
			 uint32_t out, struct turns *turns)
{
	const struct fabric_ports *ports = rows->ports;

	if (in == out || ports->closed[in] || ports->closed[out])
		return;
	for (uint32_t lane = 0; lane < turns->lanes; lane++)
		*turn_at(turns, ports->at[in], ports->at[out],
			 lane) = rule(rows->routes, link_of[in], link_of[out], lane);
}

static void lay_out_turns(const struct rows *rows, struct turns *turns)
{
	uint32_t link_of[CONFIG_PORT_MAX];

	for (uint32_t i = 0; i < rows->ports->count; i++)
		link_of[i] = TOPO_NONE;
	for (uint32_t i = 0; i < rows->routes->link_count; i++)
		link_of[rows->routes->port[i]] = i;
	for (uint32_t i = 0; i < rows->ports->count * rows->ports->count; i++)
		lay_out_turn(rows, link_of, i / rows->ports->count, i % rows->ports->count, turns);
}

// CONFIG_PORT_MAX stands for all ports.
static int add_turn(const struct rows *rows, uint32_t in, uint32_t out, uint32_t lane, uint32_t to)
{
	struct turn_config *row = add_row(rows, "turn");
	const struct port_config *port = rows->config->port;

	if (row == NULL)
		return -EOVERFLOW;
	snprintf(row->in, sizeof(row->in), "%s", in < CONFIG_PORT_MAX ? port[in].name : "all");
	snprintf(row->out, sizeof(row->out), "%s", out < CONFIG_PORT_MAX ? port[out].name : "all");
	row->lane = lane;
	row->to = to;
	return 0;
}

// Whether a packet that arrives at `port` may leave by every other one, or with `leaves` the other
// way round.
static bool is_free(const struct turns *turns, uint32_t port, bool leaves, uint32_t lane,
		    uint32_t to)
{
	for (uint32_t i = 0; i < turns->ports; i++) {
		const uint32_t in = leaves ? i : port;
		const uint32_t out = leaves ? port : i;

		if (i != port && *turn_at(turns, in, out, lane) != to)
			return false;
	}
	return turns->ports > 1;
}

// All turns from one lane to another.
static int add_turns_of(const struct rows *rows, const struct turns *turns, uint32_t lane,
			uint32_t to)
{
	bool enters[CONFIG_PORT_MAX];
	bool leaves[CONFIG_PORT_MAX];
	int rc = 0;

	for (uint32_t i = 0; i < turns->ports && rc == 0; i++) {
		enters[i] = is_free(turns, i, false, lane, to);
		leaves[i] = is_free(turns, i, true, lane, to);
		if (enters[i])
			rc = add_turn(rows, i, CONFIG_PORT_MAX, lane, to);
		if (leaves[i] && rc == 0)
			rc = add_turn(rows, CONFIG_PORT_MAX, i, lane, to);
	}
	for (uint32_t i = 0; i < turns->ports * turns->ports && rc == 0; i++) {
		const uint32_t in = i / turns->ports;
		const uint32_t out = i % turns->ports;

		if (in != out && !enters[in] && !leaves[out] &&
		    *turn_at(turns, in, out, lane) == to)
			rc = add_turn(rows, in, out, lane, to);
	}
	return rc;
}

static int add_turns(const struct rows *rows)
{
	struct turns turns = { .ports = rows->config->port_count,
			       .lanes = rows->routes->plan.turns.lane_count };
	const size_t count = (size_t)turns.ports * turns.ports * turns.lanes;
	int rc = 0;

	turns.to = malloc(count + 1);
	if (turns.to == NULL)
		return -ENOMEM;
	memset(turns.to, TURN_DENY, count);
	lay_out_turns(rows, &turns);
	for (uint32_t i = 0; i < turns.lanes * turns.lanes && rc == 0; i++)
		rc = add_turns_of(rows, &turns, i / turns.lanes, i % turns.lanes);
	// A switch without rows of turns allows them all; one from a port to itself allows none.
	if (rc == 0 && rows->config->turn_count == 0)
		rc = add_turn(rows, 0, 0, 0, 0);
	free(turns.to);
	return rc;
}

int fabric_rows_write(const struct packed_table *routes, const struct fabric_ports *ports,
		      struct sw_config *config, FILE *errors)
{
	const struct rows rows = { routes, ports, config, errors };
	int rc = check_links(&rows);

	config->edge_count = 0;
	config->next_hop_count = 0;
	config->turn_count = 0;
	for (uint32_t i = 0; i < routes->plan.group_count && rc == 0; i++)
		rc = add_group(&rows, &routes->plan.group[i]);
	for (uint32_t i = 0; i < routes->plan.edge_count && rc == 0; i++)
		rc = add_edge(&rows, i);
	return rc == 0 ? add_turns(&rows) : rc;
}
