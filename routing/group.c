// SPDX-License-Identifier: BSD-3-Clause
//
// Building groups and picking a member.
//
// Shares come first: of all buckets to banks by the weights of their members, then of a bank's
// buckets to its members. Each is a share-out by largest remainder, held close to what was there
// before. Then buckets stay with their member while its share allows, and the others are given out.
//
// Invariants: a share lies between the exact quota rounded down, less one, and rounded up; every
// member that can hold buckets has one.

#include "routing/group.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "routing/fold.h"

enum {
	NOBODY = UINT8_MAX, // in place of an index into members
	BUCKETS_PER_UNIT = 16,
};

// One of those among whom buckets are shared out: a member or a bank.
struct claim {
	uint64_t weight; // 0: takes none
	uint32_t least;
	uint32_t held; // before
	uint32_t share;
};

struct build {
	struct group *group;
	const struct group *before;
	uint32_t bank_count;
	uint8_t bank_of[GROUP_MEMBER_MAX]; // member to index into `bank`
	uint8_t bank_id[GROUP_MEMBER_MAX];
	uint8_t now[GROUP_MEMBER_MAX];  // old member to the same one now, or NOBODY
	uint8_t home[GROUP_MEMBER_MAX]; // old member to its bank's index now, or NOBODY
	struct claim bank[GROUP_MEMBER_MAX];
	struct claim member[GROUP_MEMBER_MAX];
};

size_t group_bytes(uint32_t bucket_count)
{
	return sizeof(struct group) + bucket_count;
}

static bool holds_buckets(const struct group_member *m)
{
	return m->weight > 0 && !m->down;
}

uint32_t group_bucket_count(const struct group_member *members, uint32_t member_count)
{
	uint64_t total = 0;
	uint64_t lightest = UINT64_MAX;
	uint64_t wanted;
	uint32_t count = 1;

	for (uint32_t i = 0; i < member_count; i++) {
		if (members[i].weight == 0)
			continue;
		total += members[i].weight;
		lightest = u64_min(lightest, members[i].weight);
	}
	if (total == 0)
		return 0;
	wanted = (total * BUCKETS_PER_UNIT + lightest - 1) / lightest;
	while (count < wanted && count < GROUP_BUCKET_MAX)
		count *= 2;
	return count;
}

// Exact quota less share, times the total weight. At most 2^12 x 2^22 on either side.
static int64_t deficit(const struct claim *c, uint64_t total, uint32_t buckets)
{
	return (int64_t)(c->weight * buckets) - (int64_t)(c->share * total);
}

// The claim that is next to gain a bucket (sign 1) or to lose one (-1). When losing, those who had
// buckets and gain anyway come first, for one bucket below their quota: nobody has to move for
// that.
static struct claim *next_claim(struct claim *claims, uint32_t count, uint64_t total,
				uint32_t buckets, int sign)
{
	struct claim *best = NULL;
	bool best_gains = false;

	for (uint32_t i = 0; i < count; i++) {
		struct claim *c = &claims[i];
		const int64_t d = sign * deficit(c, total, buckets);
		const bool gains = sign < 0 && c->held > 0 && c->share > c->held &&
				   -d < (int64_t)total;

		if (c->weight == 0 || (sign < 0 && c->share <= c->least))
			continue;
		if (best == NULL || gains > best_gains ||
		    (gains == best_gains && d > sign * deficit(best, total, buckets))) {
			best = c;
			best_gains = gains;
		}
	}
	return best;
}

// Shares `buckets` out. The sum of `least` is at most `buckets`, so both loops end.
static void share_out(struct claim *claims, uint32_t count, uint32_t buckets)
{
	uint64_t total = 0;
	uint64_t given = 0;

	for (uint32_t i = 0; i < count; i++)
		total += claims[i].weight;
	for (uint32_t i = 0; i < count && total > 0; i++) {
		struct claim *c = &claims[i];
		const uint64_t quota = c->weight * buckets;
		const uint64_t low = u64_max(c->least, quota / total);
		const uint64_t high = u64_max(low, (quota + total - 1) / total);

		c->share = c->weight == 0 ? 0 : (uint32_t)u64_min(high, u64_max(low, c->held));
		given += c->share;
	}
	for (; total > 0 && given < buckets; given++)
		next_claim(claims, count, total, buckets, 1)->share++;
	for (; total > 0 && given > buckets; given--)
		next_claim(claims, count, total, buckets, -1)->share--;
}

static uint8_t bank_index(struct build *b, uint8_t id)
{
	for (uint32_t i = 0; i < b->bank_count; i++) {
		if (b->bank_id[i] == id)
			return (uint8_t)i;
	}
	return NOBODY;
}

static void find_banks(struct build *b)
{
	for (uint32_t i = 0; i < b->group->member_count; i++) {
		const struct group_member *m = &b->group->member[i];
		uint8_t bank = bank_index(b, m->bank);

		if (bank == NOBODY) {
			bank = (uint8_t)b->bank_count++;
			b->bank_id[bank] = m->bank;
		}
		b->bank_of[i] = bank;
		b->bank[bank].weight += m->weight;
		b->bank[bank].least += holds_buckets(m);
		b->member[i].weight = holds_buckets(m) ? m->weight : 0;
		b->member[i].least = holds_buckets(m);
	}
	// A bank in which all are down gives its buckets to the others.
	for (uint32_t i = 0; i < b->bank_count; i++) {
		if (b->bank[i].least == 0)
			b->bank[i].weight = 0;
	}
}

// The same member among those not yet taken, NOBODY when there is none.
static uint8_t same_member(const struct group *g, const struct group_member *was, uint64_t taken)
{
	for (uint32_t i = 0; i < g->member_count; i++) {
		const struct group_member *m = &g->member[i];

		if (!(taken >> i & 1) && m->port.v == was->port.v && m->next_hop == was->next_hop)
			return (uint8_t)i;
	}
	return NOBODY;
}

// Who of the old members is who now.
static void match_members(struct build *b)
{
	uint64_t taken = 0;

	for (uint32_t old = 0; b->before != NULL && old < b->before->member_count; old++) {
		const struct group_member *was = &b->before->member[old];
		const uint8_t now = same_member(b->group, was, taken);

		b->now[old] = now;
		b->home[old] = now == NOBODY ? bank_index(b, was->bank) : b->bank_of[now];
		taken |= now == NOBODY ? 0 : 1ull << now;
	}
}

// The old member of a bucket: buckets lie over the old ones in proportion.
static uint8_t old_member(const struct build *b, uint32_t bucket)
{
	const struct group *was = b->before;

	if (was == NULL || was->bucket_count == 0)
		return NOBODY;
	return was->bucket[(uint64_t)bucket * was->bucket_count / b->group->bucket_count];
}

static void count_held(struct build *b)
{
	for (uint32_t i = 0; i < b->group->bucket_count; i++) {
		const uint8_t old = old_member(b, i);

		if (old != NOBODY && b->now[old] != NOBODY)
			b->member[b->now[old]].held++;
		if (old != NOBODY && b->home[old] != NOBODY)
			b->bank[b->home[old]].held++;
	}
}

// A bank's buckets among its members; the others claim nothing.
static void share_bank(struct build *b, uint32_t bank)
{
	struct claim part[GROUP_MEMBER_MAX] = { 0 };

	for (uint32_t i = 0; i < b->group->member_count; i++) {
		if (b->bank_of[i] == bank)
			part[i] = b->member[i];
	}
	share_out(part, b->group->member_count, b->bank[bank].share);
	for (uint32_t i = 0; i < b->group->member_count; i++)
		b->member[i].share += part[i].share;
}

static void share_banks(struct build *b)
{
	share_out(b->bank, b->bank_count, b->group->bucket_count);
	for (uint32_t bank = 0; bank < b->bank_count; bank++)
		share_bank(b, bank);
}

// Takes one of the member's share for a bucket, if there is any left.
static bool take(struct build *b, uint32_t bucket, uint32_t member)
{
	if (b->member[member].share == 0)
		return false;
	b->member[member].share--;
	b->group->bucket[bucket] = (uint8_t)member;
	return true;
}

// Round robin from *from on, among all or those of a bank.
static void take_next(struct build *b, uint32_t bucket, uint32_t *from, uint8_t bank)
{
	const uint32_t count = b->group->member_count;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t member = (*from + i) % count;

		if ((bank == NOBODY || b->bank_of[member] == bank) && take(b, bucket, member)) {
			*from = member + 1;
			return;
		}
	}
}

static void place(struct build *b)
{
	struct group *g = b->group;
	uint32_t from = 0;

	for (uint32_t i = 0; i < g->bucket_count; i++) {
		const uint8_t old = old_member(b, i);

		g->bucket[i] = NOBODY;
		if (old != NOBODY && b->now[old] != NOBODY)
			take(b, i, b->now[old]);
	}
	for (uint32_t i = 0; i < g->bucket_count; i++) {
		const uint8_t old = old_member(b, i);

		if (g->bucket[i] == NOBODY && old != NOBODY && b->home[old] != NOBODY)
			take_next(b, i, &from, b->home[old]);
	}
	for (uint32_t i = 0; i < g->bucket_count; i++) {
		if (g->bucket[i] == NOBODY)
			take_next(b, i, &from, NOBODY);
		WEFT_CHECK(g->bucket[i] != NOBODY);
	}
}

int group_build(struct group *g, const struct group_member *members, uint32_t member_count,
		uint32_t bucket_count, const struct group *before)
{
	struct build b = { .group = g, .before = before };
	uint32_t able = 0;

	if (member_count > GROUP_MEMBER_MAX || bucket_count > GROUP_BUCKET_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < member_count; i++)
		able += holds_buckets(&members[i]);
	if (bucket_count == 0)
		bucket_count = group_bucket_count(members, member_count);
	if (bucket_count < able)
		return -EINVAL;
	g->member_count = (uint16_t)member_count;
	g->bucket_count = (uint16_t)(able == 0 ? 0 : bucket_count);
	memset(g->member, 0, sizeof(g->member));
	if (member_count > 0)
		memcpy(g->member, members, member_count * sizeof(*members));
	find_banks(&b);
	match_members(&b);
	count_held(&b);
	share_banks(&b);
	place(&b);
	return 0;
}

static bool holder_is_usable(const struct group *g, uint8_t member, const struct port_set *usable)
{
	return holds_buckets(&g->member[member]) && port_set_has(usable, g->member[member].port);
}

// Members that may take over from a lost one: usable ones of its bank, or all usable ones.
static uint64_t heirs(const struct group *g, uint8_t lost, const struct port_set *usable)
{
	uint64_t all = 0;
	uint64_t bank = 0;

	for (uint32_t i = 0; i < g->member_count; i++) {
		if (!holder_is_usable(g, (uint8_t)i, usable))
			continue;
		all |= 1ull << i;
		if (g->member[i].bank == g->member[lost].bank)
			bank |= 1ull << i;
	}
	return bank != 0 ? bank : all;
}

// A walk over all buckets, whose start and stride are the flow's own: an odd stride visits each
// number below a power of two once.
static __attribute__((cold, noinline)) const struct group_member *pick_heir(
	const struct group *g, uint32_t hash, uint8_t lost, const struct port_set *usable)
{
	const uint64_t candidates = heirs(g, lost, usable);
	const uint64_t dice = fold_multiply(hash ^ FOLD_A, FOLD_B);
	const uint32_t stride = (uint32_t)(dice >> 32) | 1;
	uint32_t mask = 1;
	uint32_t at = (uint32_t)dice;

	if (candidates == 0)
		return NULL;
	while (mask < g->bucket_count)
		mask *= 2;
	mask--;
	// Ends: every candidate holds a bucket, and each number is visited.
	for (;; at += stride) {
		const uint32_t bucket = at & mask;

		if (bucket < g->bucket_count && candidates >> g->bucket[bucket] & 1)
			return &g->member[g->bucket[bucket]];
	}
}

const struct group_member *group_pick(const struct group *g, uint32_t hash,
				      const struct port_set *usable)
{
	uint8_t member;

	if (__builtin_expect(g->bucket_count == 0, 0))
		return NULL;
	member = g->bucket[(uint64_t)hash * g->bucket_count >> 32];
	if (__builtin_expect(port_set_has(usable, g->member[member].port), 1))
		return &g->member[member];
	return pick_heir(g, hash, member, usable);
}
