// SPDX-License-Identifier: BSD-3-Clause
//
// Packed tables, byte for byte as routing/packed.h lays them out: three switches in a ring, of
// which switch 0 is packed. What is refused is one change away from those bytes.

#include "routing/packed.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

// Links 0 and 1 of switch 0 lead to switches 1 and 2. Edge 1 is reached by both, two to one; edge 2
// by link 1, pinned. Fabric-wide classes 2 and 1 of these links become 1 and 2.
static const uint8_t ring_table[] = {
	0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x02, // version, zero, edges, groups
	0xff, 0xfe, 0x00, 0x00, 0x00, 0x01,             // rows: local, group 0, group 1
	0x00, 0x02, 0x00, 0x00, 0x00, 0x00,             // 14: group 0: 2 hops, not pinned
	0x00, 0x00, 0x00, 0x02, 0x00, 0x01, 0x00, 0x01, // 20: link 0 twice as often as link 1
	0x00, 0x01, 0x00, 0x00, 0x00, 0x04,             // 28: group 1: 1 hop, pinned by 4
	0x00, 0x01, 0x00, 0x01,                         // 34: link 1
	0x00, 0x02, 0x02, 0x03, 0x00, 0x00, 0x00, 0x02, // 38: links, lanes, classes, exceptions
	0x00, 0x00, 0x00, 0x01, 0x01, 0x02,             // 46: ports, 50: classes
	0xff, 0xff, 0x00, 0xff, 0xff, 0xff,             // 52: from hosts: to class 1 on lane 0
	0xff, 0xff, 0xff, 0xff, 0x01, 0xff,             // 58: from class 1: to class 2 on lane 1
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff,             // 64: from class 2: nowhere
	0x00, 0x01, 0x00, 0x00, 0x01, 0x00,             // 70: link 1 to link 0, from lane 1 to 0
	0xff, 0xff, 0x00, 0x01, 0x00, 0xff,             // 76: hosts to link 1: not on lane 0
};

enum { RING_SIZE = sizeof(ring_table), DELTA_HEADER = 28 };

static void set_row(struct plan *plan, uint32_t edge, const struct plan_hop *hops, uint32_t count,
		    uint32_t pin)
{
	cr_assert_eq(plan_group(plan, hops, count, pin, &plan_rows(plan, edge)[0]), 0);
}

static void make_ring(struct graph *g, struct plan *plan)
{
	static const uint32_t cables[][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	const struct plan_hop both[] = { { 0, 2 }, { 1, 1 } };

	graph_cables(g, 3, cables, 3, 3, 1);
	cr_assert_eq(plan_init(&g->topo, &g->keep, plan), 0);
	plan_rows(plan, 0)[0] = PLAN_LOCAL;
	set_row(plan, 2, &(struct plan_hop){ 1, 1 }, 1, 4);
	set_row(plan, 1, both, 2, 0);
	cr_assert_eq(turn_rules_init(&g->topo, 2, 3, 3, &g->keep, &plan->turns), 0);
	plan->turns.link_class[0] = 2;
	plan->turns.link_class[1] = 1;
	turn_rules_allow(&plan->turns, TURN_CLASS_HOST, 2, 0, 0);
	turn_rules_allow(&plan->turns, 2, 1, 0, 1);
	plan->turns.exception[0] = (struct turn_exception){ 1, 0, 1, 0 };
	plan->turns.exception[1] = (struct turn_exception){ 2, 3, 0, 0 }; // of switch 1
	plan->turns.exception[2] = (struct turn_exception){ TOPO_NONE, 1, 0, TURN_DENY };
	plan->turns.exception_count = 3;
}

static void pack(struct graph *g, const struct plan *plan, struct packed_table *table)
{
	cr_assert_eq(packed_table_of(&g->topo, plan, 0, &g->keep, &g->scratch, table), 0);
}

Test(packed, layout)
{
	uint8_t bytes[RING_SIZE];
	struct packed_table table;
	uint64_t hash = HASH_EMPTY;
	struct graph g;
	struct plan plan;

	make_ring(&g, &plan);
	pack(&g, &plan, &table);
	cr_assert_eq(table.size, RING_SIZE);
	packed_table_encode(&table, bytes);
	cr_assert_arr_eq(bytes, ring_table, RING_SIZE);
	for (uint32_t i = 0; i < RING_SIZE; i++)
		hash = hash_add(hash, ring_table[i]);
	cr_assert_eq(table.hash, hash);
	graph_free(&g);
}

Test(packed, read_back)
{
	uint8_t bytes[RING_SIZE];
	struct arena keep = graph_arena();
	struct packed_table table;

	cr_assert_eq(packed_table_decode(ring_table, RING_SIZE, &keep, &table), 0);
	cr_assert_eq(table.plan.edge_count, 3);
	cr_assert_eq(table.plan.group[table.plan.row[2]].pin, 4);
	cr_assert_eq(table.plan.hop[0].weight, 2);
	cr_assert_eq(turn_rules_get(&table.plan.turns, TOPO_NONE, 0, 0), 0);
	cr_assert_eq(turn_rules_get(&table.plan.turns, 0, 1, 0), 1);
	cr_assert_eq(turn_rules_get(&table.plan.turns, 1, 0, 1), 0);
	cr_assert_eq(turn_rules_get(&table.plan.turns, TOPO_NONE, 1, 0), TURN_DENY);
	packed_table_encode(&table, bytes);
	cr_assert_arr_eq(bytes, ring_table, RING_SIZE);
}

Test(packed, cut_short)
{
	struct arena keep = graph_arena();
	uint8_t longer[RING_SIZE + 1] = { 0 };
	struct packed_table table;

	for (uint32_t size = 0; size < RING_SIZE; size++)
		cr_assert_eq(packed_table_decode(ring_table, size, &keep, &table), -EBADMSG);
	memcpy(longer, ring_table, RING_SIZE);
	cr_assert_eq(packed_table_decode(longer, sizeof(longer), &keep, &table), -EBADMSG);
	cr_assert_eq(keep.used, 0);
}

static const struct {
	const char *what;
	uint32_t at;
	uint16_t value;
	int want;
} refused[] = {
	{ "a version to come", 0, 2, -EPROTONOSUPPORT },
	{ "a field that is not used yet", 2, 1, -EBADMSG },
	{ "more edges than bytes", 4, 0xffff, -EBADMSG },
	{ "a group that no row names", 6, 3, -EBADMSG },
	{ "a row of a group that is not there", 12, 2, -EBADMSG },
	{ "groups out of order", 10, 1, -EBADMSG },
	{ "a group without hops", 14, 0, -EBADMSG },
	{ "a group of too many hops", 14, PLAN_HOP_MAX + 1, -EBADMSG },
	{ "hops out of order", 20, 1, -EBADMSG },
	{ "a hop of a link that is not there", 24, 2, -EBADMSG },
	{ "a hop without weight", 22, 0, -EBADMSG },
	{ "too many links", 38, TOPO_DEGREE_MAX + 1, -EBADMSG },
	{ "no lanes", 40, 0x0003, -EBADMSG },
	{ "too many lanes", 40, (LANE_MAX + 1) << 8 | 3, -EBADMSG },
	{ "no classes", 40, 0x0200, -EBADMSG },
	{ "too many classes", 40, 0x02ff, -EBADMSG },
	{ "more exceptions than bytes", 44, 3, -EBADMSG },
	{ "more exceptions than there may be", 42, 0x7fff, -EBADMSG },
	{ "a port that cannot be", 48, 0xffff, -EBADMSG },
	{ "ports out of order", 46, 1, -EBADMSG },
	{ "a class before its turn", 50, 0x0201, -EBADMSG },
	{ "a class that no link has", 50, 0x0101, -EBADMSG },
	{ "a lane that is not there", 54, 0x02ff, -EBADMSG },
	{ "an exception of a link that is not there", 70, 2, -EBADMSG },
	{ "an exception to a link that is not there", 78, 2, -EBADMSG },
	{ "a turn back", 72, 1, -EBADMSG },
	{ "an exception of a lane that is not there", 74, 0x0200, -EBADMSG },
	{ "an exception to a lane that is not there", 74, 0x0102, -EBADMSG },
};

TABLE_TEST(packed, refuses, row, refused)
{
	struct arena keep = graph_arena();
	struct packed_table table;
	uint8_t bytes[RING_SIZE];

	memcpy(bytes, ring_table, RING_SIZE);
	store_be16(bytes + row->at, row->value);
	cr_assert_eq(packed_table_decode(bytes, RING_SIZE, &keep, &table), row->want, "%s",
		     row->what);
	cr_assert_eq(keep.used, 0);
}

Test(packed, refuses_disorder)
{
	struct arena keep = graph_arena();
	struct packed_table table;
	uint8_t bytes[RING_SIZE];

	memcpy(bytes, ring_table, RING_SIZE);
	memcpy(bytes + 70, ring_table + 76, 6);
	cr_assert_eq(packed_table_decode(bytes, RING_SIZE, &keep, &table), -EBADMSG, "twice");
	memcpy(bytes + 76, ring_table + 70, 6);
	cr_assert_eq(packed_table_decode(bytes, RING_SIZE, &keep, &table), -EBADMSG, "reversed");
}

Test(packed, refuses_a_group_twice)
{
	static const uint8_t twice[] = {
		0, 1, 0, 0, 0, 2, 0, 2, 0, 0, 0, 1,    // two edges, two groups
		0, 1, 0, 0, 0, 0, 0, 0, 0, 1,          // link 0
		0, 1, 0, 0, 0, 0, 0, 0, 0, 1,          // link 0
		0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, // one link, a class, nothing allowed
	};
	struct arena keep = graph_arena();
	struct packed_table table;
	uint8_t once[sizeof(twice)];

	memcpy(once, twice, sizeof(twice));
	once[27] = 3; // pinned: another group
	cr_assert_eq(packed_table_decode(once, sizeof(once), &keep, &table), 0);
	cr_assert_eq(packed_table_decode(twice, sizeof(twice), &keep, &table), -EBADMSG);
}

Test(packed, memory_at_its_end)
{
	static uint8_t memory[16384] __attribute__((aligned(64)));
	struct packed_table table;

	for (size_t size = 0; size < sizeof(memory); size += 64) {
		struct arena keep = { .memory = memory, .size = size };
		const int rc = packed_table_decode(ring_table, RING_SIZE, &keep, &table);

		if (rc == 0)
			return;
		cr_assert_eq(rc, -ENOMEM);
		cr_assert_eq(keep.used, 0);
	}
	cr_assert_fail("never enough");
}

Test(packed, rows_that_plans_cannot_have)
{
	struct packed_table table;
	struct graph g;
	struct plan plan;

	make_ring(&g, &plan);
	set_row(&plan, 1, &(struct plan_hop){ 2, 1 }, 1, 0);
	cr_assert_eq(packed_table_of(&g.topo, &plan, 0, &g.keep, &g.scratch, &table), -EINVAL);
	plan.edge_count = PACKED_EDGE_MAX + 1;
	cr_assert_eq(packed_table_of(&g.topo, &plan, 0, &g.keep, &g.scratch, &table), -EOVERFLOW);
	graph_free(&g);
}

// What changes, and bytes that the delta has beyond its header.
struct delta_row {
	const char *what;
	uint16_t row[3]; // of edges; numbers of groups of the ring's plan
	bool widens;     // one more class may turn
	uint32_t want;
};

enum { PINNED = 0, BOTH = 1, ALONE = 2 };

static const struct delta_row deltas[] = {
	{ "nothing", { PLAN_LOCAL, BOTH, PINNED }, false, 0 },
	{ "a row to none", { PLAN_LOCAL, PLAN_NONE, PINNED }, false, 4 },
	{ "a row that shifts all numbers", { PINNED, BOTH, PINNED }, false, 4 },
	{ "rows swapped", { PLAN_LOCAL, PINNED, BOTH }, false, 8 },
	{ "a new group of one hop", { PLAN_LOCAL, ALONE, PINNED }, false, 4 + 6 + 4 },
	{ "a new group twice", { PLAN_LOCAL, ALONE, ALONE }, false, 4 + 4 + 6 + 4 },
	{ "turns", { PLAN_LOCAL, BOTH, PINNED }, true, RING_SIZE - 38 },
};

TABLE_TEST(packed, delta, row, deltas)
{
	struct packed_table base, next, got;
	struct packed_bytes delta;
	struct graph g;
	struct plan plan;
	uint16_t alone;

	make_ring(&g, &plan);
	pack(&g, &plan, &base);
	cr_assert_eq(plan_group(&plan, &(struct plan_hop){ 0, 1 }, 1, 0, &alone), 0);
	cr_assert_eq(alone, ALONE);
	for (uint32_t e = 0; e < 3; e++)
		plan_rows(&plan, e)[0] = row->row[e];
	if (row->widens)
		turn_rules_allow(&plan.turns, TURN_CLASS_HOST, 1, 0, 0);
	pack(&g, &plan, &next);
	cr_assert_eq(packed_delta_encode(&base, &next, &g.keep, &g.scratch, &delta), 0);
	cr_assert_eq(delta.size, DELTA_HEADER + row->want, "%s", row->what);
	cr_assert_eq(packed_delta_apply(&base, delta.data, delta.size, &g.keep, &g.scratch, &got),
		     0);
	cr_assert_eq(got.hash, next.hash);
	cr_assert_eq(got.size, next.size);
	for (uint32_t size = 0; size < delta.size; size++)
		cr_assert_eq(packed_delta_apply(&base, delta.data, size, &g.keep, &g.scratch, &got),
			     -EBADMSG);
	if (next.hash != base.hash)
		cr_assert_eq(packed_delta_apply(&next, delta.data, delta.size, &g.keep, &g.scratch,
						&got),
			     -ESTALE);
	graph_free(&g);
}

static const struct {
	const char *what;
	uint32_t at;
	uint16_t value;
	int want;
} refused_deltas[] = {
	{ "a version to come", 0, 2, -EPROTONOSUPPORT },
	{ "a flag to come", 2, 2, -EBADMSG },
	{ "turns that are not there", 2, 1, -EBADMSG },
	{ "another base", 12, 0x1234, -ESTALE },
	{ "another result", 20, 0x1234, -EBADMSG },
	{ "more groups than there may be", 6, 0xffff, -EBADMSG },
	{ "more rows than edges", 10, 4, -EBADMSG },
	{ "a row of an edge that is not there", DELTA_HEADER, 3, -EBADMSG },
	{ "a row of a group that is not there", DELTA_HEADER + 2, 2, -EBADMSG },
	{ "a row twice", DELTA_HEADER + 4, 1, -EBADMSG },
};

TABLE_TEST(packed, refuses_delta, row, refused_deltas)
{
	struct packed_table base, next, got;
	struct packed_bytes delta;
	struct graph g;
	struct plan plan;

	make_ring(&g, &plan);
	pack(&g, &plan, &base);
	plan_rows(&plan, 1)[0] = PINNED;
	plan_rows(&plan, 2)[0] = BOTH;
	pack(&g, &plan, &next);
	cr_assert_eq(packed_delta_encode(&base, &next, &g.keep, &g.scratch, &delta), 0);
	store_be16(delta.data + row->at, row->value);
	cr_assert_eq(packed_delta_apply(&base, delta.data, delta.size, &g.keep, &g.scratch, &got),
		     row->want, "%s", row->what);
	graph_free(&g);
}
