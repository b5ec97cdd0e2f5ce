// SPDX-License-Identifier: BSD-3-Clause
//
// Next-hop groups: members with weights, reached through buckets.
//
// A flow's hash names a bucket, the bucket a member. Buckets are given out by weight (largest
// remainder), and a changed member list moves only the buckets it must (resilient hashing), first
// within a bank (SONiC's fine-grained next-hop groups). A member whose port cannot be used is left
// out at look-up: only flows of its own buckets move, to the others by weight, at once and without
// any write to the group. Using a subset of a group is always safe.
#pragma once

#include "base/set.h"
#include "base/types.h"

enum {
	GROUP_MEMBER_MAX = 64,
	GROUP_BUCKET_MAX = 4096,
};

struct group_member {
	port_t port;
	uint16_t next_hop; // index into the caller's next hops
	uint16_t weight;   // 1..; 0 takes no buckets (a member that is not resolved)
	uint8_t bank;      // buckets of a lost member go to its own bank while that has others
	// Lost for now: holds no buckets, but its weight stays with its bank, so that the other
	// banks are not disturbed. A member that is left out of the list takes its weight with it.
	bool down;
};

// One group: const for readers once built.
struct group {
	uint16_t member_count;
	uint16_t bucket_count; // 0: the group has no usable member
	struct group_member member[GROUP_MEMBER_MAX];
	uint8_t bucket[]; // bucket_count indices into member
};

// Bytes of a group with so many buckets.
size_t group_bytes(uint32_t bucket_count);

// Fills `g`, which has group_bytes(bucket_count) bytes. `before`, which may be NULL and is not `g`,
// is what the group was: members are the same ones when port and next_hop are equal, and keep their
// buckets up to their new share. Its count of buckets may differ, best by a power of two: passing
// the larger one of the old and group_bucket_count() moves no flow without need.
//
// bucket_count 0 picks one: at least 16 per weight unit of the lightest member, a power of two, at
// most GROUP_BUCKET_MAX. Each member with a weight that is not down has a bucket at least. Returns
// 0, or -EINVAL (nothing written): too many members or buckets, or fewer buckets than members.
int group_build(struct group *g, const struct group_member *members, uint32_t member_count,
		uint32_t bucket_count, const struct group *before);

// Buckets that group_build() picks for these members.
uint32_t group_bucket_count(const struct group_member *members, uint32_t member_count);

// The member for a hash among those whose port is in `usable`; NULL when there is none. A flow of
// an unusable member tries buckets in an order of its own, those of its bank first, so when one
// more member is lost only that one's flows move, and all come back with it.
const struct group_member *group_pick(const struct group *g, uint32_t hash,
				      const struct port_set *usable);
