// SPDX-License-Identifier: BSD-3-Clause
//
// The laws of groups, over random members, weights, banks and failures.
//
// Shares follow the weights, a change of members moves no more than it must, and a port that cannot
// be used moves its own flows only, to the others by weight, and gets them all back.

#include "routing/group.h"

#include <math.h>
#include <string.h>

#include "tests/table.h"

enum {
	FLOWS = 20000,
	BUCKETS = 1024,
};

struct bench {
	struct rng *rng;
	struct group_member member[GROUP_MEMBER_MAX];
	uint32_t count;
	struct group *now, *then;
};

static void begin(struct bench *b, struct rng *rng, uint32_t least, uint32_t most)
{
	*b = (struct bench){ .rng = rng, .count = least + rng_below(rng, most - least + 1) };
	b->now = calloc(1, group_bytes(GROUP_BUCKET_MAX));
	b->then = calloc(1, group_bytes(GROUP_BUCKET_MAX));
	for (uint32_t i = 0; i < b->count; i++)
		b->member[i] = (struct group_member){ .port = { (uint16_t)(i * 4) },
						      .next_hop = (uint16_t)(1000 + i),
						      .weight = 1 };
}

static void end(struct bench *b)
{
	free(b->now);
	free(b->then);
}

// What the group is becomes what it was.
static void rebuild(struct bench *b, uint32_t buckets)
{
	struct group *spare = b->then;

	b->then = b->now;
	b->now = spare;
	cr_assert_eq(group_build(b->now, b->member, b->count, buckets,
				 b->then->member_count > 0 ? b->then : NULL),
		     0);
}

static uint16_t hop_of(const struct group *g, uint32_t bucket)
{
	return g->member[g->bucket[bucket]].next_hop;
}

static uint32_t buckets_of(const struct group *g, uint16_t next_hop)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < g->bucket_count; i++)
		count += hop_of(g, i) == next_hop;
	return count;
}

static uint32_t moved(const struct bench *b)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->now->bucket_count; i++)
		count += hop_of(b->now, i) != hop_of(b->then, i);
	return count;
}

static struct group_member remove_member(struct bench *b, uint32_t at)
{
	const struct group_member lost = b->member[at];

	b->count--;
	memmove(&b->member[at], &b->member[at + 1], (b->count - at) * sizeof(lost));
	return lost;
}

static void shuffle(struct bench *b)
{
	for (uint32_t i = b->count; i > 1; i--) {
		const uint32_t k = rng_below(b->rng, i);
		const struct group_member m = b->member[i - 1];

		b->member[i - 1] = b->member[k];
		b->member[k] = m;
	}
}

// Each share is the quota of the weights, to a bucket, or two when members had some before.
static void check_shares(const struct bench *b, double tolerance)
{
	double total = 0;

	for (uint32_t i = 0; i < b->count; i++)
		total += b->member[i].weight;
	for (uint32_t i = 0; i < b->count; i++) {
		const double quota = b->member[i].weight * b->now->bucket_count / total;
		const uint32_t share = buckets_of(b->now, b->member[i].next_hop);

		cr_assert_lt(fabs(share - quota), tolerance, "member %u: %u, quota %f", i, share,
			     quota);
	}
}

// Members come and go in any order, and their place in the list changes.
SEED_TEST(group, equal_members_come_and_go, rng, 40)
{
	struct bench b;

	begin(&b, rng, 2, 32);
	rebuild(&b, BUCKETS);
	check_shares(&b, 1);
	for (uint32_t step = 0; step < 60; step++) {
		const bool leaves = b.count > 1 && (b.count == 60 || rng_below(rng, 2) == 0);
		struct group_member m = { { (uint16_t)rng_below(rng, 256) }, 0, 1, 0, false };
		uint32_t must;

		m.next_hop = (uint16_t)(2000 + step);
		if (leaves)
			m = remove_member(&b, rng_below(rng, b.count));
		else
			b.member[b.count++] = m;
		shuffle(&b);
		rebuild(&b, BUCKETS);
		must = buckets_of(leaves ? b.then : b.now, m.next_hop);
		cr_assert_eq(moved(&b), must, "%s", leaves ? "leaves" : "joins");
		check_shares(&b, 1);
	}
	end(&b);
}

// With weights a change of one may shift the rounding of the others by a bucket.
SEED_TEST(group, weighted_members_come_and_go, rng, 40)
{
	struct bench b;

	begin(&b, rng, 2, 24);
	for (uint32_t i = 0; i < b.count; i++)
		b.member[i].weight = (uint16_t)(1 + rng_below(rng, 8));
	rebuild(&b, BUCKETS);
	check_shares(&b, 1);
	for (uint32_t step = 0; step < 60; step++) {
		const bool leaves = b.count > 1 && (b.count == 24 || rng_below(rng, 2) == 0);
		struct group_member m = { { (uint16_t)rng_below(rng, 256) }, 0, 0, 0, false };
		uint32_t must;

		m.weight = (uint16_t)(1 + rng_below(rng, 8));
		m.next_hop = (uint16_t)(2000 + step);
		if (leaves)
			m = remove_member(&b, rng_below(rng, b.count));
		else
			b.member[b.count++] = m;
		rebuild(&b, BUCKETS);
		must = buckets_of(leaves ? b.then : b.now, m.next_hop);
		cr_assert_geq(moved(&b), must);
		cr_assert_leq(moved(&b), must + 2, "%u for %u", moved(&b), must);
		check_shares(&b, 2);
	}
	end(&b);
}

// A changed weight moves the difference of shares, and twice the buckets hardly any flow: what was
// rounded can be rounded closer.
SEED_TEST(group, weights_and_buckets_change, rng, 40)
{
	struct bench b;
	uint32_t before, changed = 0;

	begin(&b, rng, 2, 16);
	rebuild(&b, BUCKETS);
	before = buckets_of(b.now, b.member[0].next_hop);
	b.member[0].weight = 3;
	rebuild(&b, BUCKETS);
	cr_assert_gt(moved(&b), 0);
	cr_assert_eq(moved(&b), buckets_of(b.now, b.member[0].next_hop) - before);
	check_shares(&b, 2);
	rebuild(&b, 2 * BUCKETS);
	for (uint32_t i = 0; i < 2 * BUCKETS; i++)
		changed += hop_of(b.now, i) != hop_of(b.then, i / 2);
	cr_assert_leq(changed, 2 * b.count);
	check_shares(&b, 2);
	end(&b);
}

// A lost member's buckets stay in its bank, those of the other banks do not move.
SEED_TEST(group, banks_are_worlds_of_their_own, rng, 40)
{
	struct bench b;
	uint32_t lost;

	begin(&b, rng, 8, 32);
	for (uint32_t i = 0; i < b.count; i++)
		b.member[i].bank = (uint8_t)(i % 3);
	rebuild(&b, BUCKETS);
	lost = rng_below(rng, b.count);
	b.member[lost].down = true;
	rebuild(&b, BUCKETS);
	cr_assert_eq(moved(&b), buckets_of(b.then, b.member[lost].next_hop));
	cr_assert_gt(moved(&b), 0);
	for (uint32_t i = 0; i < BUCKETS; i++)
		cr_assert_eq(b.now->member[b.now->bucket[i]].bank,
			     b.then->member[b.then->bucket[i]].bank);
	b.member[lost].down = false;
	rebuild(&b, BUCKETS);
	cr_assert_eq(moved(&b), buckets_of(b.now, b.member[lost].next_hop));
	for (uint32_t i = 0; i < BUCKETS; i++)
		cr_assert_eq(b.now->member[b.now->bucket[i]].bank,
			     b.then->member[b.then->bucket[i]].bank);
	check_shares(&b, 2);
	end(&b);
}

// --- picking ------------------------------------------------------------------------------------

struct flows {
	uint32_t hash[FLOWS];
	const struct group_member *of[FLOWS];
};

static struct flows *new_flows(struct bench *b, const struct port_set *usable)
{
	struct flows *flows = malloc(sizeof(*flows));

	for (uint32_t i = 0; i < FLOWS; i++) {
		flows->hash[i] = rng_next32(b->rng);
		flows->of[i] = group_pick(b->now, flows->hash[i], usable);
	}
	return flows;
}

static struct port_set all_ports(const struct bench *b)
{
	struct port_set set = { 0 };

	for (uint32_t i = 0; i < b->count; i++)
		port_set_add(&set, b->member[i].port);
	return set;
}

// Ports fail one after the other until none is left, then come back in another order.
SEED_TEST(group, only_flows_of_a_lost_port_move, rng, 40)
{
	struct bench b;
	struct port_set usable, lost;
	struct flows *first, *last;

	begin(&b, rng, 1, 64);
	for (uint32_t i = 0; i < b.count; i++) {
		b.member[i].weight = (uint16_t)(1 + rng_below(rng, 4));
		b.member[i].bank = (uint8_t)(i % (1 + rng_below(rng, 3)));
	}
	rebuild(&b, rng_below(rng, 2) == 0 ? 0 : 300);
	usable = all_ports(&b);
	first = new_flows(&b, &usable);
	last = malloc(sizeof(*last));
	memcpy(last, first, sizeof(*last));
	shuffle(&b);
	for (uint32_t n = 0; n < b.count; n++) {
		port_set_remove(&usable, b.member[n].port);
		for (uint32_t i = 0; i < FLOWS; i++) {
			const struct group_member *m = group_pick(b.now, last->hash[i], &usable);

			cr_assert_eq(m == NULL, n + 1 == b.count);
			cr_assert(m == NULL || port_set_has(&usable, m->port));
			cr_assert(m == last->of[i] || last->of[i]->port.v == b.member[n].port.v);
			last->of[i] = m;
		}
	}
	lost = all_ports(&b);
	for (uint32_t i = 0; i < FLOWS; i++)
		cr_assert_eq(group_pick(b.now, first->hash[i], &lost), first->of[i]);
	free(first);
	free(last);
	end(&b);
}

// What a lost member had goes to the others by their weights: binomial, within 6 deviations.
SEED_TEST(group, the_others_take_over_by_weight, rng, 20)
{
	struct bench b;
	struct port_set usable;
	uint32_t orphans = 0, taken[16] = { 0 };
	double shares = 0;
	struct flows *flows;

	begin(&b, rng, 3, 16);
	for (uint32_t i = 0; i < b.count; i++)
		b.member[i].weight = (uint16_t)(1 + rng_below(rng, 4));
	b.member[0].weight = 8;
	rebuild(&b, BUCKETS);
	usable = all_ports(&b);
	flows = new_flows(&b, &usable);
	port_set_remove(&usable, b.member[0].port);
	for (uint32_t i = 0; i < FLOWS; i++) {
		if (flows->of[i]->port.v != b.member[0].port.v)
			continue;
		orphans++;
		taken[group_pick(b.now, flows->hash[i], &usable)->port.v / 4]++;
	}
	shares = BUCKETS - buckets_of(b.now, b.member[0].next_hop);
	for (uint32_t i = 1; i < b.count; i++) {
		const double p = buckets_of(b.now, b.member[i].next_hop) / shares;

		cr_assert_leq(fabs(taken[i] - orphans * p), 6 * sqrt(orphans * p * (1 - p)) + 1,
			      "member %u: %u of %u, share %f", i, taken[i], orphans, p);
	}
	free(flows);
	end(&b);
}
