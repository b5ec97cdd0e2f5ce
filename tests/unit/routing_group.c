// SPDX-License-Identifier: BSD-3-Clause
//
// Groups by example: which shares members get (largest remainder, Hamilton 1792, worked out by
// hand), what is refused, and how many buckets are picked. The laws of change are properties, in
// tests/prop/routing_group.c.

#include "routing/group.h"

#include <errno.h>

#include "tests/table.h"

enum { MEMBERS = 6 };

static const struct {
	const char *what;
	uint16_t weight[MEMBERS];
	uint8_t bank[MEMBERS];
	uint8_t down; // bit per member
	uint32_t buckets;
	uint32_t want[MEMBERS];
} share_rows[] = {
	{ "one", { 1 }, { 0 }, 0, 16, { 16 } },
	{ "two alike", { 1, 1 }, { 0 }, 0, 32, { 16, 16 } },
	{ "three of 16: the first has the odd one", { 1, 1, 1 }, { 0 }, 0, 16, { 6, 5, 5 } },
	{ "WCMP 1 : 2 : 3", { 1, 2, 3 }, { 0 }, 0, 12, { 2, 4, 6 } },
	{ "quotas 2.29, 4.57, 9.14", { 1, 2, 4 }, { 0 }, 0, 16, { 2, 5, 9 } },
	{ "not resolved takes none", { 1, 0, 1 }, { 0 }, 0, 8, { 4, 0, 4 } },
	{ "down takes none", { 1, 1, 1 }, { 0 }, 1 << 1, 8, { 4, 0, 4 } },
	{ "quotas .04, 15.96: a light member has one", { 1, 400 }, { 0 }, 0, 16, { 1, 15 } },
	{ "two banks of two", { 1, 1, 1, 1 }, { 0, 0, 1, 1 }, 0, 12, { 3, 3, 3, 3 } },
	{ "its bank takes over", { 1, 1, 1, 1 }, { 0, 0, 1, 1 }, 1 << 0, 12, { 0, 6, 3, 3 } },
	{ "a bank is down", { 1, 1, 1, 1 }, { 7, 7, 9, 9 }, 3 << 0, 12, { 0, 0, 6, 6 } },
	{ "banks left share by weight", { 3, 1, 2 }, { 0, 1, 2 }, 1 << 0, 12, { 0, 4, 8 } },
	{ "what is down counts for its bank", { 1, 3, 2 }, { 0, 1, 1 }, 1 << 2, 12, { 2, 10 } },
};

static uint32_t members_of(const struct group *g, uint32_t member)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < g->bucket_count; i++)
		count += g->bucket[i] == member;
	return count;
}

TABLE_TEST(group, shares, row, share_rows)
{
	struct group *g = malloc(group_bytes(row->buckets));
	struct group_member member[MEMBERS] = { 0 };

	for (uint16_t i = 0; i < MEMBERS; i++)
		member[i] = (struct group_member){ .port = { i },
						   .weight = row->weight[i],
						   .bank = row->bank[i],
						   .down = row->down >> i & 1 };
	cr_assert_eq(group_build(g, member, MEMBERS, row->buckets, NULL), 0, "%s", row->what);
	cr_assert_eq(g->bucket_count, row->buckets, "%s", row->what);
	for (uint32_t i = 0; i < MEMBERS; i++)
		cr_assert_eq(members_of(g, i), row->want[i], "%s: member %u has %u", row->what, i,
			     members_of(g, i));
	free(g);
}

static const struct {
	const char *what;
	uint32_t members, buckets;
	uint16_t weight;
	int want;
	uint32_t want_buckets;
} build_rows[] = {
	{ "no member", 0, 0, 1, 0, 0 },
	{ "no member that is resolved", 3, 0, 0, 0, 0 },
	{ "no member that is resolved, buckets asked for", 3, 64, 0, 0, 0 },
	{ "one", 1, 0, 1, 0, 16 },
	{ "one, of any weight", 1, 0, 65535, 0, 16 },
	{ "three: 48 is no power of two", 3, 0, 1, 0, 64 },
	{ "64", 64, 0, 1, 0, 1024 },
	{ "65", 65, 0, 1, -EINVAL, 0 },
	{ "a bucket each", 64, 64, 1, 0, 64 },
	{ "a bucket too few", 64, 63, 1, -EINVAL, 0 },
	{ "no power of two", 7, 60, 1, 0, 60 },
	{ "all of them", 64, GROUP_BUCKET_MAX, 1, 0, GROUP_BUCKET_MAX },
	{ "one too many", 1, GROUP_BUCKET_MAX + 1, 1, -EINVAL, 0 },
};

TABLE_TEST(group, build, row, build_rows)
{
	struct group *g = calloc(1, group_bytes(GROUP_BUCKET_MAX));
	struct group_member member[GROUP_MEMBER_MAX + 1];
	const struct port_set none = { 0 };

	for (uint16_t i = 0; i <= GROUP_MEMBER_MAX; i++)
		member[i] = (struct group_member){ .port = { i }, .weight = row->weight };
	cr_assert_eq(group_build(g, member, row->members, row->buckets, NULL), row->want, "%s",
		     row->what);
	cr_assert_eq(g->bucket_count, row->want_buckets, "%s", row->what);
	cr_assert_null(group_pick(g, 0x80000000, &none), "%s", row->what);
	free(g);
}

static const struct {
	const char *what;
	uint16_t weight[3];
	uint32_t want;
} count_rows[] = {
	{ "nobody", { 0, 0, 0 }, 0 },
	{ "equal weights are units", { 200, 200, 0 }, 32 },
	{ "1 : 2 : 3 are 6 units", { 1, 2, 3 }, 128 },
	{ "100 : 150 are 2.5 units", { 100, 150, 0 }, 64 },
	{ "at most", { 1, 65535, 65535 }, GROUP_BUCKET_MAX },
};

TABLE_TEST(group, bucket_count, row, count_rows)
{
	struct group_member member[3] = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		member[i].weight = row->weight[i];
	cr_assert_eq(group_bucket_count(member, 3), row->want, "%s", row->what);
}
