// SPDX-License-Identifier: BSD-3-Clause
//
// Routes of a switch as rows: groups of next hops, edges that lead to them, and turns. All next
// hops are bridges of the fabric: frames keep their addresses.
//
// Turns of a switch are a table of ports by ports for each lane. A row or a column of it that is
// alike takes one row with "all"; what does not matter (back out of the same port, ports of nobody,
// the lane that a host is sent on) is alike to everything.

#include "fabricmgr/switch_config_parts.h"

#include <errno.h>
#include <string.h>

#include "schema/config_limits.h"

enum { WEIGHT_MAX = 255, HOP_MAX = 64 };

// --- groups and edges -------------------------------------------------------------------------

static uint32_t heaviest(const struct plan *plan, const struct plan_group *group)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < group->hop_count; i++)
		most = (uint32_t)u64_max(most, plan->hop[group->first + i].weight);
	return most;
}

// Shares are kept to the nearest 1/255 of the heaviest one, and no hop goes without.
static uint32_t scaled(uint32_t weight, uint32_t most)
{
	if (most <= WEIGHT_MAX)
		return weight;
	return (uint32_t)u64_max(1, (weight * WEIGHT_MAX + most / 2) / most);
}

static void put_hop(struct config_text *text, uint32_t number, const struct plan_hop *hop,
		    uint32_t most)
{
	const struct topo *topo = &text->source->graph.topo;
	const uint32_t weight = scaled(hop->weight, most);

	if (!config_row(text, "next_hop", CONFIG_NEXT_HOP_MAX))
		return;
	config_text(text, "group", "g%u", number);
	config_port_name(text, "port", topo->link_port[topo->link_first[text->at] + hop->link]);
	if (weight != 1)
		config_number(text, "weight", weight);
	config_row_end(text);
}

static void put_group(struct config_text *text, uint32_t number, const struct plan_group *group)
{
	const uint32_t most = heaviest(text->plan, group);

	if (group->pin != 0) {
		config_fail(text, -ENOTSUP,
			    "its routes choose next hops by the number of the host (dmodk), which "
			    "rows cannot say");
		return;
	}
	if (group->hop_count > HOP_MAX) {
		config_fail(text, -EOVERFLOW, "a group of %u next hops, and it has at most %d",
			    group->hop_count, HOP_MAX);
		return;
	}
	for (uint32_t i = 0; i < group->hop_count; i++)
		put_hop(text, number, &text->plan->hop[group->first + i], most);
}

static void put_table(struct config_text *text, const struct plan_table *table)
{
	for (uint32_t i = 0; i < table->group_count; i++)
		put_group(text, i, &text->plan->group[table->group[i]]);
	for (uint32_t edge = 0; edge < text->plan->edge_count; edge++) {
		if (!plan_is_group(table->row[edge]) || !config_row(text, "edge", CONFIG_EDGE_MAX))
			continue;
		config_number(text, "number", edge);
		config_text(text, "via", "g%u", table->row[edge]);
		config_row_end(text);
	}
}

// --- turns ------------------------------------------------------------------------------------

// What a turn is to be, besides a lane and TURN_DENY.
enum { TURN_ANY = 0xfe, TURN_ANY_LANE = 0xfd, TURN_DONE = 0xfc };

struct turns {
	uint32_t ports;
	uint32_t lane;
	uint8_t *to; // [in][out]
};

static uint8_t *turn_at(const struct turns *t, uint32_t in, uint32_t out)
{
	return &t->to[(size_t)in * t->ports + out];
}

static uint8_t wanted(const struct config_text *text, uint32_t in, uint32_t out, uint32_t lane)
{
	const struct config_port *from = &text->port[in];
	const struct config_port *to = &text->port[out];
	uint8_t next;

	if (in == out || config_is_free(from) || config_is_free(to))
		return TURN_ANY;
	if (!config_is_fabric(from) && lane > 0) // hosts enter on lane 0
		return TURN_ANY;
	if (!config_is_fabric(to))
		return TURN_ANY_LANE;
	next = turn_rules_get(&text->plan->turns, from->link, to->link, (uint8_t)lane);
	return next < text->lanes ? next : TURN_DENY;
}

static void put_turn(struct config_text *text, const struct turns *t, int in, int out, uint8_t to)
{
	if (!config_row(text, "turn", CONFIG_TURN_MAX))
		return;
	if (in < 0)
		config_text(text, "in", "all");
	else
		config_port_name(text, "in", (uint32_t)in);
	if (out < 0)
		config_text(text, "out", "all");
	else
		config_port_name(text, "out", (uint32_t)out);
	if (t->lane != 0)
		config_number(text, "lane", t->lane);
	if (to != 0)
		config_number(text, "to", to);
	config_row_end(text);
}

// Some turns by one row: those of `in`, or of all, to `out`, or to all (-1). `need` and `to` are
// what is left of them, and their lane; false when they are not alike.
static bool alike(const struct turns *t, const uint8_t *all, int in, int out, bool *need,
		  uint8_t *to)
{
	*need = false;
	*to = TURN_ANY_LANE;
	for (uint32_t k = 0; k < t->ports; k++) {
		const uint32_t i = in < 0 ? k : (uint32_t)in;
		const uint32_t o = out < 0 ? k : (uint32_t)out;
		const uint8_t want = all[(size_t)i * t->ports + o];

		if (want == TURN_DENY)
			return false;
		if (want == TURN_ANY)
			continue;
		*need |= *turn_at(t, i, o) != TURN_DONE;
		if (want == TURN_ANY_LANE)
			continue;
		if (*to != TURN_ANY_LANE && *to != want)
			return false;
		*to = want;
	}
	if (*to == TURN_ANY_LANE)
		*to = 0;
	return true;
}

static void mark_done(const struct turns *t, int in, int out)
{
	for (uint32_t k = 0; k < t->ports; k++)
		*turn_at(t, in < 0 ? k : (uint32_t)in, out < 0 ? k : (uint32_t)out) = TURN_DONE;
}

static void put_line(struct config_text *text, const struct turns *t, const uint8_t *all, int in,
		     int out)
{
	bool need;
	uint8_t to;

	if (!alike(t, all, in, out, &need, &to) || !need)
		return;
	put_turn(text, t, in, out, to);
	mark_done(t, in, out);
}

static void put_rest(struct config_text *text, const struct turns *t)
{
	for (uint32_t pair = 0; pair < t->ports * t->ports; pair++) {
		const uint8_t to = t->to[pair];

		if (to != TURN_DENY && to != TURN_ANY && to != TURN_DONE)
			put_turn(text, t, (int)(pair / t->ports), (int)(pair % t->ports),
				 to == TURN_ANY_LANE ? 0 : to);
	}
}

static void put_lane(struct config_text *text, uint32_t lane, uint8_t *left, uint8_t *all)
{
	const struct turns t = { .ports = text->port_count, .lane = lane, .to = left };

	for (uint32_t pair = 0; pair < t.ports * t.ports; pair++)
		all[pair] = wanted(text, pair / t.ports, pair % t.ports, lane);
	memcpy(left, all, (size_t)t.ports * t.ports);
	for (uint32_t i = 0; i < t.ports; i++)
		put_line(text, &t, all, -1, (int)i);
	for (uint32_t i = 0; i < t.ports; i++)
		put_line(text, &t, all, (int)i, -1);
	put_rest(text, &t);
}

static void put_turns(struct config_text *text)
{
	const size_t pairs = (size_t)text->port_count * text->port_count;
	uint8_t *left = arena_take_raw(&text->keep, pairs, 1);
	uint8_t *all = arena_take_raw(&text->keep, pairs, 1);

	if (left == NULL || all == NULL) {
		config_fail(text, -ENOMEM, "memory is short");
		return;
	}
	for (uint32_t lane = 0; lane < text->lanes; lane++)
		put_lane(text, lane, left, all);
}

void config_routes(struct config_text *text)
{
	struct plan_table table;

	if (plan_table(text->plan, text->at, &text->keep, &text->scratch, &table) < 0) {
		config_fail(text, -ENOMEM, "memory is short");
		return;
	}
	put_table(text, &table);
	put_turns(text);
}
