// SPDX-License-Identifier: BSD-3-Clause
//
// Packed tables of random plans: each switch's table says what the plan says, reads back to the
// same bytes, and the delta between any two tables makes the one of the other. Its size is what
// plan_diff counts. Bytes with one changed are refused, or are those of another table.

#include "routing/packed.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/rig/graph.h"
#include "tests/rig/spoil.h"
#include "tests/table.h"

enum {
	SEEDS = 30,
	SWITCHES = 9,
	CABLES = 14,
	LANES = 3,
	DELTA_HEADER = 28,
	GROUP_MORE = 2, // bytes of a group beyond those that plan_diff counts
	DAMAGES = 200,
};

// One side of a comparison: a fabric and its plan.
struct side {
	struct graph g;
	struct plan plan;
};

static void random_row(struct rng *rng, struct side *s, uint32_t at, uint16_t *row)
{
	struct plan_hop hops[2 * CABLES];
	uint32_t count = 0;

	for (uint32_t l = 0; l < topo_degree(&s->g.topo, at); l++) {
		if (rng_below(rng, 2) == 0)
			hops[count++] = (struct plan_hop){
				.link = (uint16_t)l, .weight = (uint16_t)(1 + rng_below(rng, 3))
			};
	}
	cr_assert_eq(plan_group(&s->plan, hops, count, rng_below(rng, 3), row), 0);
	if (rng_below(rng, 8) == 0)
		*row = PLAN_LOCAL;
}

static void change_rows(struct rng *rng, struct side *s, uint32_t rarity)
{
	for (uint32_t i = 0; i < s->plan.edge_count * s->plan.switch_count; i++) {
		if (rng_below(rng, rarity) == 0)
			random_row(rng, s, i % s->plan.switch_count, &s->plan.row[i]);
	}
}

static void make_side(struct rng *rng, struct side *s)
{
	graph_random(&s->g, rng, SWITCHES, CABLES);
	cr_assert_eq(plan_init(&s->g.topo, &s->g.keep, &s->plan), 0);
	change_rows(rng, s, 1);
	spoil_rules(rng, &s->g, &s->plan, LANES);
}

// The other side: of the same fabric with few or many changes, or of another one.
static void make_other(struct rng *rng, const struct side *a, struct side *b)
{
	if (rng_below(rng, 4) == 0) {
		make_side(rng, b);
		return;
	}
	b->g = a->g;
	b->g.keep = graph_arena();
	b->g.scratch = graph_arena();
	cr_assert_eq(plan_copy(&a->g.topo, &a->plan, &b->g.keep, &b->plan), 0);
	change_rows(rng, b, 1 + rng_below(rng, 60));
	if (rng_below(rng, 3) == 0)
		spoil_rules(rng, &b->g, &b->plan, LANES);
}

static void pack(struct side *s, uint32_t at, struct packed_table *table)
{
	cr_assert_eq(packed_table_of(&s->g.topo, &s->plan, at, &s->g.keep, &s->g.scratch, table),
		     0);
}

static uint8_t *bytes_of(struct side *s, const struct packed_table *table)
{
	uint8_t *bytes = arena_take_raw(&s->g.keep, table->size, 1);

	packed_table_encode(table, bytes);
	return bytes;
}

static uint8_t lane_or_deny(const struct turn_rules *rules, uint8_t lane)
{
	return lane < rules->lane_count ? lane : (uint8_t)TURN_DENY;
}

static void check_turns(const struct side *s, uint32_t at, const struct packed_table *table)
{
	const uint32_t first = s->g.topo.link_first[at];

	for (uint32_t in = 0; in <= table->link_count; in++) {
		const bool hosts = in == table->link_count;

		for (uint32_t i = 0; i < table->link_count * LANES; i++) {
			const uint32_t out = i / LANES;
			const uint8_t lane = turn_rules_get(&s->plan.turns,
							    hosts ? TOPO_NONE : first + in,
							    first + out, i % LANES);

			cr_assert_eq(turn_rules_get(&table->plan.turns, hosts ? TOPO_NONE : in, out,
						    i % LANES),
				     lane_or_deny(&s->plan.turns, lane));
		}
	}
}

static void check_rows(const struct side *s, uint32_t at, const struct packed_table *table)
{
	for (uint32_t e = 0; e < s->plan.edge_count; e++)
		cr_assert(plan_same(&s->plan, plan_rows(&s->plan, e)[at], &table->plan,
				    table->plan.row[e]));
	for (uint32_t l = 0; l < table->link_count; l++)
		cr_assert_eq(table->port[l], s->g.topo.link_port[s->g.topo.link_first[at] + l]);
}

SEED_TEST(packed, says_what_the_plan_says, rng, SEEDS)
{
	struct side s;

	make_side(rng, &s);
	for (uint32_t at = 0; at < SWITCHES; at++) {
		struct packed_table table, got;
		uint8_t *bytes;

		pack(&s, at, &table);
		bytes = bytes_of(&s, &table);
		cr_assert_eq(packed_table_decode(bytes, table.size, &s.g.keep, &got), 0);
		check_rows(&s, at, &got);
		check_turns(&s, at, &got);
		cr_assert_eq(got.size, table.size);
		cr_assert_eq(got.hash, table.hash);
		cr_assert_arr_eq(bytes_of(&s, &got), bytes, table.size);
	}
	graph_free(&s.g);
}

static uint32_t delta_size(struct side *b, const struct packed_table *base,
			   const struct packed_table *next)
{
	struct plan_change change;

	cr_assert_eq(plan_diff(&base->plan, &next->plan, &b->g.scratch, &change), 0);
	return (uint32_t)(DELTA_HEADER + change.bytes + GROUP_MORE * change.groups);
}

SEED_TEST(packed, delta_makes_the_other, rng, SEEDS)
{
	struct side a, b;

	make_side(rng, &a);
	make_other(rng, &a, &b);
	for (uint32_t at = 0; at < SWITCHES; at++) {
		struct packed_table base, next, got;
		struct packed_bytes delta;

		pack(&a, at, &base);
		pack(&b, at, &next);
		cr_assert_eq(packed_delta_encode(&base, &next, &b.g.keep, &b.g.scratch, &delta), 0);
		cr_assert_eq(packed_delta_apply(&base, delta.data, delta.size, &b.g.keep,
						&b.g.scratch, &got),
			     0);
		cr_assert_eq(got.size, next.size);
		cr_assert_arr_eq(bytes_of(&b, &got), bytes_of(&b, &next), next.size);
		if (load_be16(delta.data + 2) == 0 && base.plan.edge_count == next.plan.edge_count)
			cr_assert_eq(delta.size, delta_size(&b, &base, &next));
	}
}

SEED_TEST(packed, damage_is_refused, rng, SEEDS)
{
	struct packed_table table, got;
	uint32_t refused = 0;
	struct side s;
	uint8_t *bytes;

	make_side(rng, &s);
	pack(&s, rng_below(rng, SWITCHES), &table);
	bytes = bytes_of(&s, &table);
	for (uint32_t i = 0; i < DAMAGES; i++) {
		const uint32_t at = rng_below(rng, table.size);
		const uint8_t was = bytes[at];
		const size_t mark = arena_mark(&s.g.keep);

		bytes[at] ^= (uint8_t)(1 + rng_below(rng, 255));
		if (packed_table_decode(bytes, table.size, &s.g.keep, &got) != 0)
			refused++;
		else
			cr_assert_arr_eq(bytes_of(&s, &got), bytes, table.size);
		bytes[at] = was;
		arena_release(&s.g.keep, mark);
	}
	cr_assert_gt(refused, 0);
	graph_free(&s.g);
}
