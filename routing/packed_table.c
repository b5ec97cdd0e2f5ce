// SPDX-License-Identifier: BSD-3-Clause
//
// Tables made of plans, and the writer of the packed form. Turn rules of a whole fabric become
// those of one switch: only the classes that its links have, numbered by first use, and its
// exceptions. What a rule says beyond the lanes in use is denied, so the packed form has no such
// value.

#include "routing/packed.h"

#include <errno.h>
#include <string.h>

#include "routing/packed_io.h"

enum { CLASS_UNSEEN = UINT8_MAX };

static_assert(TURN_CLASS_MAX < UINT8_MAX, "a class is a byte with one value to spare");

// Class of the fabric <-> class of the switch.
struct class_map {
	uint8_t local[256];
	uint8_t fabric[TURN_CLASS_MAX];
	uint32_t count;
};

int packed_init(uint32_t edge_count, struct arena *keep, struct packed_table *table)
{
	const struct topo one = { .switch_count = 1, .edge_count = edge_count };

	*table = (struct packed_table){ 0 };
	return plan_init(&one, keep, &table->plan);
}

static void map_classes(const struct topo *topo, const struct turn_rules *rules, uint32_t at,
			struct class_map *map)
{
	memset(map->local, CLASS_UNSEEN, sizeof(map->local));
	map->local[TURN_CLASS_HOST] = TURN_CLASS_HOST;
	map->fabric[0] = TURN_CLASS_HOST;
	map->count = 1;
	for (uint32_t l = topo->link_first[at]; l < topo->link_first[at + 1]; l++) {
		const uint8_t class = rules->link_class[l];

		if (map->local[class] != CLASS_UNSEEN)
			continue;
		map->local[class] = (uint8_t)map->count;
		map->fabric[map->count++] = class;
	}
}

static uint8_t lane_or_deny(uint8_t lane, uint32_t lane_count)
{
	return lane < lane_count ? lane : (uint8_t)TURN_DENY;
}

static void copy_lanes(const struct turn_rules *from, const struct class_map *map,
		       struct turn_rules *to)
{
	for (uint32_t turn = 0; turn < map->count * map->count; turn++) {
		const uint32_t in = map->fabric[turn / map->count];
		const uint32_t out = map->fabric[turn % map->count];
		const uint8_t *lane = from->lane +
				      ((size_t)in * from->class_count + out) * LANE_MAX;

		for (uint32_t l = 0; l < to->lane_count; l++)
			to->lane[(size_t)turn * LANE_MAX + l] = lane_or_deny(lane[l],
									     to->lane_count);
	}
}

// Appends the exceptions of arrivals at `in` that leave by links from `first` to `end`.
static void copy_exceptions(const struct turn_rules *from, uint32_t in, uint32_t first,
			    uint32_t end, struct turn_rules *to)
{
	for (uint32_t i = turn_rules_seek(from, in, first, 0); i < from->exception_count; i++) {
		const struct turn_exception *e = &from->exception[i];

		if (e->in != in || e->out >= end)
			return;
		if (e->lane >= to->lane_count || e->in == e->out)
			continue;
		to->exception[to->exception_count++] = (struct turn_exception){
			.in = in == TOPO_NONE ? in : in - first,
			.out = e->out - first,
			.lane = e->lane,
			.to = lane_or_deny(e->to, to->lane_count),
		};
	}
}

static int take_turns(const struct topo *topo, const struct turn_rules *from, uint32_t at,
		      struct arena *keep, struct packed_table *table)
{
	const uint32_t first = topo->link_first[at];
	const uint32_t end = topo->link_first[at + 1];
	const struct topo one = { .link_count = end - first };
	// Exceptions of the links of a switch stand together, those of its hosts at the end.
	const uint32_t room = turn_rules_seek(from, end, 0, 0) -
			      turn_rules_seek(from, first, 0, 0) +
			      turn_rules_seek(from, TOPO_NONE, end, 0) -
			      turn_rules_seek(from, TOPO_NONE, first, 0);
	struct class_map map;

	if (room > PACKED_EXCEPTION_MAX)
		return -EOVERFLOW;
	map_classes(topo, from, at, &map);
	table->link_count = end - first;
	table->port = arena_take_raw(keep, table->link_count, sizeof(*table->port));
	if (table->port == NULL ||
	    turn_rules_init(&one, from->lane_count, map.count, room, keep, &table->plan.turns) != 0)
		return -ENOMEM;
	copy_lanes(from, &map, &table->plan.turns);
	for (uint32_t l = first; l < end; l++) {
		table->port[l - first] = topo->link_port[l];
		table->plan.turns.link_class[l - first] = map.local[from->link_class[l]];
		copy_exceptions(from, l, first, end, &table->plan.turns);
	}
	copy_exceptions(from, TOPO_NONE, first, end, &table->plan.turns);
	return 0;
}

int packed_copy_turns(const struct packed_table *from, struct arena *keep,
		      struct packed_table *table)
{
	const struct topo one = { .link_count = from->link_count };

	table->link_count = from->link_count;
	table->port = arena_take_raw(keep, from->link_count, sizeof(*table->port));
	if (table->port == NULL)
		return -ENOMEM;
	memcpy(table->port, from->port, from->link_count * sizeof(*table->port));
	return turn_rules_copy(&one, &from->plan.turns, keep, &table->plan.turns);
}

// Groups of the plan that the switch uses, in the order of its table.
static int take_rows(const struct plan *plan, uint32_t at, struct arena *keep,
		     struct arena *scratch, struct packed_table *table)
{
	struct plan_table rows;
	int rc = plan_table(plan, at, scratch, keep, &rows);

	for (uint32_t i = 0; i < rows.group_count && rc == 0; i++) {
		const struct plan_group *group = &plan->group[rows.group[i]];
		uint16_t number;

		rc = plan_group(&table->plan, plan->hop + group->first, group->hop_count,
				group->pin, &number);
	}
	if (rc == 0)
		memcpy(table->plan.row, rows.row, plan->edge_count * sizeof(*rows.row));
	return rc;
}

bool packed_hops_exist(const struct packed_table *table)
{
	for (uint32_t i = 0; i < table->plan.hop_count; i++) {
		if (table->plan.hop[i].link >= table->link_count)
			return false;
	}
	return true;
}

int packed_table_of(const struct topo *topo, const struct plan *plan, uint32_t at,
		    struct arena *keep, struct arena *scratch, struct packed_table *table)
{
	const size_t mark = arena_mark(scratch);
	int rc;

	if (plan->edge_count > PACKED_EDGE_MAX)
		return -EOVERFLOW;
	rc = packed_init(plan->edge_count, keep, table);
	if (rc == 0)
		rc = take_rows(plan, at, keep, scratch, table);
	arena_release(scratch, mark);
	if (rc == 0)
		rc = take_turns(topo, &plan->turns, at, keep, table);
	if (rc != 0)
		return rc;
	if (!packed_hops_exist(table))
		return -EINVAL;
	packed_seal(table);
	return table->size <= PACKED_BYTES_MAX ? 0 : -EOVERFLOW;
}

void packed_put_group(struct packed_out *out, const struct plan *plan, uint32_t group)
{
	const struct plan_group *g = &plan->group[group];

	packed_put16(out, g->hop_count);
	packed_put32(out, g->pin);
	for (uint32_t i = g->first; i < g->first + g->hop_count; i++) {
		packed_put16(out, plan->hop[i].link);
		packed_put16(out, plan->hop[i].weight);
	}
}

void packed_put_turns(struct packed_out *out, const struct packed_table *table)
{
	const struct turn_rules *rules = &table->plan.turns;

	packed_put16(out, (uint16_t)table->link_count);
	packed_put8(out, (uint8_t)rules->lane_count);
	packed_put8(out, (uint8_t)rules->class_count);
	packed_put32(out, rules->exception_count);
	for (uint32_t i = 0; i < table->link_count; i++)
		packed_put16(out, table->port[i]);
	for (uint32_t i = 0; i < table->link_count; i++)
		packed_put8(out, rules->link_class[i]);
	for (uint32_t turn = 0; turn < rules->class_count * rules->class_count; turn++) {
		for (uint32_t l = 0; l < rules->lane_count; l++)
			packed_put8(out, rules->lane[(size_t)turn * LANE_MAX + l]);
	}
	for (uint32_t i = 0; i < rules->exception_count; i++) {
		const struct turn_exception *e = &rules->exception[i];

		packed_put16(out, e->in == TOPO_NONE ? (uint16_t)PACKED_HOSTS : (uint16_t)e->in);
		packed_put16(out, (uint16_t)e->out);
		packed_put8(out, e->lane);
		packed_put8(out, e->to);
	}
}

static void put_table(struct packed_out *out, const struct packed_table *table)
{
	packed_put16(out, PACKED_VERSION);
	packed_put16(out, 0);
	packed_put16(out, (uint16_t)table->plan.edge_count);
	packed_put16(out, (uint16_t)table->plan.group_count);
	for (uint32_t e = 0; e < table->plan.edge_count; e++)
		packed_put16(out, table->plan.row[e]);
	for (uint32_t g = 0; g < table->plan.group_count; g++)
		packed_put_group(out, &table->plan, g);
	packed_put_turns(out, table);
}

void packed_seal(struct packed_table *table)
{
	struct packed_out out = packed_out_to(NULL);

	put_table(&out, table);
	table->size = out.size;
	table->hash = out.hash;
}

void packed_table_encode(const struct packed_table *table, uint8_t *data)
{
	struct packed_out out = packed_out_to(data);

	put_table(&out, table);
}
