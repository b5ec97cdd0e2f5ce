// SPDX-License-Identifier: BSD-3-Clause
//
// The reader of packed tables. Nothing is taken on trust: counts are held against the bytes that
// are left before memory is taken for them, and what is not in the one packed form of its table is
// refused, so a table that was read writes the same bytes again.

#include "routing/packed.h"

#include <errno.h>

#include "routing/packed_io.h"

enum { LINK_BYTES = 3, EXCEPTION_BYTES = 6 };

int packed_get_group(struct packed_in *in, struct plan_hop *hops, uint32_t *count, uint32_t *pin)
{
	*count = packed_get16(in);
	*pin = packed_get32(in);
	if (*count == 0 || *count > PLAN_HOP_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < *count; i++) {
		hops[i] = (struct plan_hop){ .link = packed_get16(in), .weight = packed_get16(in) };
		if (hops[i].weight == 0 || (i > 0 && hops[i].link <= hops[i - 1].link))
			return -EBADMSG;
	}
	return in->short_of ? -EBADMSG : 0;
}

// Classes but that of hosts are numbered as they first appear, and each appears.
static bool get_classes(struct packed_in *in, uint32_t link_count, struct turn_rules *rules)
{
	uint32_t seen = 1;

	for (uint32_t i = 0; i < link_count; i++) {
		rules->link_class[i] = packed_get8(in);
		if (rules->link_class[i] > seen)
			return false;
		seen += rules->link_class[i] == seen;
	}
	return seen == rules->class_count;
}

static bool is_lane(const struct turn_rules *rules, uint8_t lane)
{
	return lane < rules->lane_count || lane == TURN_DENY;
}

static bool get_lanes(struct packed_in *in, struct turn_rules *rules)
{
	const uint32_t turns = rules->class_count * rules->class_count;

	for (uint32_t i = 0; i < turns * rules->lane_count; i++) {
		const uint32_t turn = i / rules->lane_count;
		const uint8_t lane = packed_get8(in);

		if (!is_lane(rules, lane))
			return false;
		rules->lane[turn * LANE_MAX + i % rules->lane_count] = lane;
	}
	return true;
}

static bool get_exceptions(struct packed_in *in, uint32_t count, uint32_t link_count,
			   struct turn_rules *rules)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint16_t from = packed_get16(in);
		const uint16_t out = packed_get16(in);
		const uint8_t lane = packed_get8(in);
		const uint8_t to = packed_get8(in);
		const uint64_t order = (uint64_t)from << 24 | (uint32_t)out << 8 | lane;

		if ((from >= link_count && from != PACKED_HOSTS) || out >= link_count ||
		    from == out || lane >= rules->lane_count || !is_lane(rules, to) ||
		    order < least)
			return false;
		least = order + 1;
		rules->exception[rules->exception_count++] = (struct turn_exception){
			.in = from == PACKED_HOSTS ? TOPO_NONE : from,
			.out = out,
			.lane = lane,
			.to = to,
		};
	}
	return true;
}

static bool get_ports(struct packed_in *in, struct packed_table *table)
{
	for (uint32_t i = 0; i < table->link_count; i++) {
		table->port[i] = packed_get16(in);
		if (table->port[i] > TOPO_PORT_MAX ||
		    (i > 0 && table->port[i] <= table->port[i - 1]))
			return false;
	}
	return true;
}

int packed_get_turns(struct packed_in *in, struct arena *keep, struct packed_table *table)
{
	struct turn_rules *rules = &table->plan.turns;
	const uint32_t links = packed_get16(in);
	const uint32_t lanes = packed_get8(in);
	const uint32_t classes = packed_get8(in);
	const uint32_t exceptions = packed_get32(in);
	const struct topo one = { .link_count = links };

	if (links > TOPO_DEGREE_MAX || lanes == 0 || lanes > LANE_MAX || classes == 0 ||
	    classes > TURN_CLASS_MAX || exceptions > PACKED_EXCEPTION_MAX)
		return -EBADMSG;
	if (in->left !=
	    links * LINK_BYTES + classes * classes * lanes + (size_t)exceptions * EXCEPTION_BYTES)
		return -EBADMSG;
	table->link_count = links;
	table->port = arena_take_raw(keep, links, sizeof(*table->port));
	if (table->port == NULL ||
	    turn_rules_init(&one, lanes, classes, exceptions, keep, rules) != 0)
		return -ENOMEM;
	if (!get_ports(in, table) || !get_classes(in, links, rules) || !get_lanes(in, rules) ||
	    !get_exceptions(in, exceptions, links, rules))
		return -EBADMSG;
	return 0;
}

// Groups are numbered as they first appear in rows, and each appears.
static bool get_rows(struct packed_in *in, uint32_t group_count, struct plan *plan)
{
	uint32_t seen = 0;

	for (uint32_t e = 0; e < plan->edge_count; e++) {
		const uint16_t row = packed_get16(in);

		if (plan_is_group(row) && row > seen)
			return false;
		seen += row == seen && plan_is_group(row);
		plan->row[e] = row;
	}
	return seen == group_count;
}

static int get_groups(struct packed_in *in, uint32_t group_count, struct plan *plan)
{
	struct plan_hop hops[PLAN_HOP_MAX];
	uint32_t count, pin;

	for (uint32_t i = 0; i < group_count; i++) {
		uint16_t number;
		int rc = packed_get_group(in, hops, &count, &pin);

		if (rc == 0)
			rc = plan_group(plan, hops, count, pin, &number);
		if (rc != 0)
			return rc;
		if (number != i) // a group that was there already
			return -EBADMSG;
	}
	return 0;
}

static int get_table(struct packed_in *in, struct arena *keep, struct packed_table *table)
{
	const uint16_t version = packed_get16(in);
	const uint16_t zero = packed_get16(in);
	const uint16_t edge_count = packed_get16(in);
	const uint16_t group_count = packed_get16(in);
	int rc;

	if (!in->short_of && version != PACKED_VERSION)
		return -EPROTONOSUPPORT;
	if (in->short_of || zero != 0 || in->left < 2 * (size_t)edge_count)
		return -EBADMSG;
	rc = packed_init(edge_count, keep, table);
	if (rc != 0)
		return rc;
	if (!get_rows(in, group_count, &table->plan))
		return -EBADMSG;
	rc = get_groups(in, group_count, &table->plan);
	if (rc == 0)
		rc = packed_get_turns(in, keep, table);
	if (rc == 0 && !packed_hops_exist(table))
		rc = -EBADMSG;
	return rc;
}

int packed_table_decode(const uint8_t *data, size_t size, struct arena *keep,
			struct packed_table *table)
{
	struct packed_in in = { .data = data, .left = size };
	const size_t mark = arena_mark(keep);
	const int rc = size > PACKED_BYTES_MAX ? -EBADMSG : get_table(&in, keep, table);

	if (rc != 0) {
		arena_release(keep, mark);
		return rc;
	}
	packed_seal(table);
	return 0;
}
