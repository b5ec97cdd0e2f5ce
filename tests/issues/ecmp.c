// SPDX-License-Identifier: BSD-3-Clause
//
// Public bugs around ECMP that groups and their hash show alone: flows that pile up on one path,
// members that take the whole group with them, weights that shares do not follow. Names are those
// of rows.tsv. tests/flows.h says what balanced means.

#include "routing/group.h"

#include <string.h>

#include "tests/flows.h"
#include "tests/table.h"

enum {
	PATHS = 4,
	MEMBERS_MAX = 16,
};

static const struct hash_profile by_default = { .fields = HASH_FIELDS_DEFAULT, .seed = 10 };

// Equal members 0..count-1, each behind the port of its number.
static struct group *new_group(uint32_t count, const struct group *before)
{
	struct group_member member[MEMBERS_MAX] = { 0 };
	const uint32_t old = before != NULL ? before->bucket_count : 0;
	uint32_t buckets;
	struct group *g;

	for (uint16_t i = 0; i < count; i++)
		member[i] = (struct group_member){ .port = { i }, .next_hop = i, .weight = 1 };
	buckets = group_bucket_count(member, count);
	buckets = buckets > old ? buckets : old;
	g = malloc(group_bytes(buckets));
	cr_assert_eq(group_build(g, member, count, buckets, before), 0);
	return g;
}

static struct port_set ports_below(uint32_t count)
{
	struct port_set set = { 0 };

	for (uint16_t i = 0; i < count; i++)
		port_set_add(&set, (port_t){ i });
	return set;
}

static uint32_t pick(const struct group *g, const struct hash_profile *pf,
		     const struct hash_key *key, const struct port_set *usable)
{
	const struct group_member *m = group_pick(g, hash_packet(pf, key), usable);

	cr_assert_not_null(m);
	return m->port.v;
}

// Flows of a pattern over a group of so many paths are balanced.
static bool balances(const struct hash_profile *pf, enum flow_pattern pattern, bool ipv6,
		     uint32_t paths)
{
	struct group *g = new_group(paths, NULL);
	const struct port_set usable = ports_below(paths);
	uint32_t counts[MEMBERS_MAX] = { 0 };

	for (uint32_t i = 0; i < paths * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(pattern, ipv6, i);

		counts[pick(g, pf, &key, &usable)]++;
	}
	free(g);
	return flows_are_balanced(counts, paths);
}

// Flows that a first choice sends over its path 0, after a second choice. True when the paths of
// the second share them.
static bool balances_behind(const struct hash_profile *first, const struct hash_profile *second,
			    uint32_t paths)
{
	uint32_t counts[MEMBERS_MAX] = { 0 };

	for (uint32_t i = 0; i < PATHS * paths * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_PORT, false, i);

		if (flow_path(first, &key, PATHS) == 0)
			counts[flow_path(second, &key, paths)]++;
	}
	return flows_are_balanced(counts, paths);
}

// A group of 4 LAGs of 2..8 ports in the same switch, which has one seed.
Test(issues, sonic_buildimage_5681)
{
	struct hash_profile lag = by_default;

	for (uint32_t paths = 2; paths <= 8; paths++) {
		lag.rotation = 0;
		cr_assert_not(balances_behind(&by_default, &lag, paths));
		lag.rotation = 10;
		cr_assert(balances_behind(&by_default, &lag, paths));
	}
}

// One profile holds both. Tiers that differ in either spread; tiers that differ in none do not.
Test(issues, sonic_buildimage_17412)
{
	static const uint32_t seeds[] = { 0, 10, 25, 40 };

	for (uint32_t i = 0; i < TABLE_COUNT(seeds) * TABLE_COUNT(seeds); i++) {
		const struct hash_profile leaf = { .fields = HASH_FIELDS_DEFAULT,
						   .seed = seeds[i / TABLE_COUNT(seeds)] };
		struct hash_profile spine = leaf;

		spine.seed = seeds[i % TABLE_COUNT(seeds)];
		cr_assert_eq(balances_behind(&leaf, &spine, PATHS), leaf.seed != spine.seed);
		spine.rotation = 10;
		cr_assert(balances_behind(&leaf, &spine, PATHS));
	}
}

// The default, for both families: one pair of addresses, its ports count up.
Test(issues, sonic_buildimage_9236)
{
	for (uint32_t ipv6 = 0; ipv6 <= 1; ipv6++) {
		struct hash_profile l3 = by_default;

		cr_assert(balances(&by_default, VARY_SRC_PORT, ipv6, PATHS));
		cr_assert(balances(&by_default, VARY_DST_PORT, ipv6, PATHS));
		l3.fields = 1u << HASH_SRC_IP | 1u << HASH_DST_IP;
		cr_assert_not(balances(&l3, VARY_SRC_PORT, ipv6, PATHS));
	}
}

Test(issues, sonic_buildimage_23780)
{
	for (uint32_t i = 0; i < HASH_ALGORITHM_COUNT * FLOW_PATTERN_COUNT; i++) {
		struct hash_profile pf = by_default;

		pf.algorithm = (uint8_t)(i / FLOW_PATTERN_COUNT);
		for (uint32_t paths = 2; paths <= MEMBERS_MAX; paths++)
			cr_assert(balances(&pf, (enum flow_pattern)(i % FLOW_PATTERN_COUNT), false,
					   paths),
				  "%s, pattern %u, %u paths", hash_algorithm_names[pf.algorithm],
				  i % FLOW_PATTERN_COUNT, paths);
	}
}

// The group stays, each flow of the others stays where it was, and one that returns changes nothing
// but what it takes.
Test(issues, SONiC_370)
{
	const struct port_set usable = ports_below(PATHS);
	struct group *four = new_group(PATHS, NULL);
	struct group *three = new_group(PATHS - 1, four);
	struct group *again = new_group(PATHS, three);
	uint32_t counts[PATHS] = { 0 };

	for (uint32_t i = 0; i < PATHS * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_IP, false, i);
		const uint32_t before = pick(four, &by_default, &key, &usable);
		const uint32_t between = pick(three, &by_default, &key, &usable);
		const uint32_t after = pick(again, &by_default, &key, &usable);

		cr_assert_neq(between, PATHS - 1);
		cr_assert(before == between || before == PATHS - 1);
		cr_assert(after == between || after == PATHS - 1);
		counts[after]++;
	}
	cr_assert(flows_are_balanced(counts, PATHS));
	free(four);
	free(three);
	free(again);
}

// A thousand groups share the port that fails. One bit of the set of usable ports is all that is
// written: the groups' memory stays as it is, and none of them picks the port again.
Test(issues, sonic_swss_193)
{
	enum { GROUPS = 1000 };
	static struct group *g[GROUPS];
	struct port_set usable = ports_below(MEMBERS_MAX);
	struct hash_key key = flow_key(VARY_SRC_IP, false, 0);
	uint32_t would_have = 0;

	for (uint32_t i = 0; i < GROUPS; i++)
		g[i] = new_group(2 + i % (MEMBERS_MAX - 1), NULL);
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct port_set without = usable;
		const size_t bytes = group_bytes(g[i]->bucket_count);
		struct group *copy = memcpy(malloc(bytes), g[i], bytes);

		port_set_remove(&without, (port_t){ 0 });
		for (uint32_t flow = 0; flow < 100; flow++) {
			key.src_port = (uint16_t)flow;
			would_have += pick(g[i], &by_default, &key, &usable) == 0;
			cr_assert_neq(pick(g[i], &by_default, &key, &without), 0);
		}
		cr_assert_arr_eq(copy, g[i], bytes);
		free(copy);
		free(g[i]);
	}
	cr_assert_gt(would_have, GROUPS);
}

// Three tiers of a fat-tree of k = 8: edge and aggregation choose 1 of 4, so 16 cores. Each switch
// has a seed of its own; with one seed for all only 4 cores see flows.
Test(issues, ns3_rdma_19)
{
	enum { UP = 4 };

	for (uint32_t same = 0; same <= 1; same++) {
		uint32_t cores[UP * UP] = { 0 };
		uint32_t used = 0;

		for (uint32_t i = 0; i < UP * UP * FLOWS_PER_PATH; i++) {
			const struct hash_key key = flow_key(VARY_SRC_PORT, false, i);
			struct hash_profile edge = by_default, aggregation = by_default;
			uint32_t up;

			edge.seed = 1000;
			up = flow_path(&edge, &key, UP);
			aggregation.seed = same ? 1000 : 2000 + up;
			cores[up * UP + flow_path(&aggregation, &key, UP)]++;
		}
		for (uint32_t i = 0; i < UP * UP; i++)
			used += cores[i] > 0;
		cr_assert_eq(used, same ? UP : UP * UP);
		cr_assert_eq(flows_are_balanced(cores, UP * UP), !same);
	}
}

// A tunnel between two endpoints on one pair of ports: the inner flows differ.
Test(issues, sonic_buildimage_378)
{
	struct group *g = new_group(PATHS, NULL);
	const struct port_set usable = ports_below(PATHS);
	uint32_t ports[PATHS] = { 0 }, addresses[PATHS] = { 0 };

	for (uint32_t i = 0; i < PATHS * FLOWS_PER_PATH; i++) {
		struct hash_key key = flow_key(VARY_SRC_PORT, false, 0);

		key.has_inner = true;
		key.inner_protocol = 6;
		key.inner_src_ip[0] = 0xc0a80001;
		key.inner_dst_ip[0] = 0xc0a80002;
		key.inner_src_port = (uint16_t)(32768 + i);
		ports[pick(g, &by_default, &key, &usable)]++;
		key.inner_src_port = 32768;
		key.inner_dst_ip[0] += i;
		addresses[pick(g, &by_default, &key, &usable)]++;
	}
	cr_assert(flows_are_balanced(ports, PATHS));
	cr_assert(flows_are_balanced(addresses, PATHS));
	cr_assert(balances(&by_default, VARY_SRC_PORT, false, PATHS));
	free(g);
}

// Members join one after the other, up to 16.
Test(issues, ovs_issues_357)
{
	struct group *g = new_group(1, NULL);

	for (uint32_t count = 2; count <= MEMBERS_MAX; count++) {
		const struct port_set usable = ports_below(count);
		struct group *next = new_group(count, g);
		uint32_t counts[MEMBERS_MAX] = { 0 };

		for (uint32_t i = 0; i < count * FLOWS_PER_PATH; i++) {
			const struct hash_key key = flow_key(VARY_SRC_IP, false, i);
			const uint32_t after = pick(next, &by_default, &key, &usable);

			cr_assert(after == count - 1 ||
				  after == pick(g, &by_default, &key, &usable));
			counts[after]++;
		}
		cr_assert(flows_are_balanced(counts, count), "%u members", count);
		free(g);
		g = next;
	}
	free(g);
}

// Shares are within 25 % of the weights. The best of weighted scores would give 1 : 3 a share of
// 1/6 in place of 1/4 to the lighter one.
static const struct {
	const char *what;
	uint16_t weight[4];
} weight_rows[] = {
	{ "1 : 3", { 1, 3 } },
	{ "1 : 2 : 3 : 4", { 1, 2, 3, 4 } },
	{ "link bandwidths of 10, 25, 40 and 100 Gbit/s", { 10, 25, 40, 100 } },
	{ "normalised to 255", { 15, 48, 64, 128 } },
};

Test(issues, ovs_issues_180)
{
	for (uint32_t n = 0; n < TABLE_COUNT(weight_rows); n++) {
		const uint16_t *weight = weight_rows[n].weight;
		struct group_member member[4] = { 0 };
		struct group *g = malloc(group_bytes(GROUP_BUCKET_MAX));
		const struct port_set usable = ports_below(4);
		const uint32_t total = weight[0] + weight[1] + weight[2] + weight[3];
		const uint32_t flows = FLOWS_PER_PATH * ((total + weight[0] - 1) / weight[0]);
		uint32_t counts[4] = { 0 };

		for (uint16_t i = 0; i < 4; i++)
			member[i] = (struct group_member){ .port = { i }, .weight = weight[i] };
		cr_assert_eq(group_build(g, member, 4, 0, NULL), 0);
		for (uint32_t i = 0; i < flows; i++) {
			const struct hash_key key = flow_key(VARY_SRC_IP, false, i);

			counts[pick(g, &by_default, &key, &usable)]++;
		}
		for (uint32_t i = 0; i < 4; i++) {
			const double want = (double)flows * weight[i] / total;

			cr_assert(counts[i] >= 0.75 * want && counts[i] <= 1.25 * want,
				  "%s: member %u has %u of %u", weight_rows[n].what, i, counts[i],
				  flows);
		}
		free(g);
	}
}

// Of 1000 flows, those that another profile sends elsewhere among 16 paths: 15 of 16 by chance.
static uint32_t moved_by(const struct hash_profile *other, enum flow_pattern pattern)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		const struct hash_key key = flow_key(pattern, false, i);

		count += flow_path(&by_default, &key, 16) != flow_path(other, &key, 16);
	}
	return count;
}

// Seed, rotation, algorithm and fields can be set one by one, and each has a name to be shown by.
Test(issues, sonic_buildimage_11880)
{
	struct hash_profile other = by_default;

	cr_assert_eq(moved_by(&other, VARY_SRC_IP), 0);
	other.seed++;
	cr_assert_gt(moved_by(&other, VARY_SRC_IP), 850);
	other = by_default;
	other.rotation = 16;
	cr_assert_gt(moved_by(&other, VARY_SRC_IP), 850);
	other = by_default;
	other.algorithm = HASH_CRC;
	cr_assert_gt(moved_by(&other, VARY_SRC_IP), 850);
	other = by_default;
	other.fields |= 1u << HASH_ETHERTYPE;
	cr_assert_gt(moved_by(&other, VARY_SRC_IP), 850);
	for (uint32_t i = 0; i < HASH_FIELD_COUNT; i++)
		cr_assert_not_null(hash_field_names[i]);
	for (uint32_t i = 0; i < HASH_ALGORITHM_COUNT; i++)
		cr_assert_not_null(hash_algorithm_names[i]);
}

// A route that had one next hop gets all four: they share.
Test(issues, sonic_buildimage_7825)
{
	const struct port_set usable = ports_below(PATHS);
	struct group *one = new_group(1, NULL);
	struct group *all = new_group(PATHS, one);
	uint32_t counts[PATHS] = { 0 };

	for (uint32_t i = 0; i < PATHS * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_PORT, false, i);

		cr_assert_eq(pick(one, &by_default, &key, &usable), 0);
		counts[pick(all, &by_default, &key, &usable)]++;
	}
	cr_assert(flows_are_balanced(counts, PATHS));
	free(one);
	free(all);
}

// Of eight next hops the first `resolved` have a weight; the group stands whatever their number.
static void check_resolved(struct group *g, uint32_t resolved)
{
	const struct port_set usable = ports_below(8);
	uint32_t counts[8] = { 0 };

	for (uint32_t i = 0; i < resolved * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_PORT, false, i);

		counts[pick(g, &by_default, &key, &usable)]++;
	}
	cr_assert(flows_are_balanced(counts, resolved), "%u resolved", resolved);
	for (uint32_t i = resolved; i < 8; i++)
		cr_assert_eq(counts[i], 0);
}

Test(issues, sonic_swss_1216)
{
	const struct port_set usable = ports_below(8);
	struct group_member member[8] = { 0 };
	struct group *g[2] = { malloc(group_bytes(128)), malloc(group_bytes(128)) };

	for (uint16_t i = 0; i < 8; i++)
		member[i] = (struct group_member){ .port = { i }, .next_hop = i };
	cr_assert_eq(group_build(g[0], member, 8, 128, NULL), 0);
	cr_assert_null(group_pick(g[0], 0, &usable));
	for (uint32_t resolved = 1; resolved <= 8; resolved++) {
		member[resolved - 1].weight = 1;
		cr_assert_eq(group_build(g[resolved % 2], member, 8, 128, g[(resolved + 1) % 2]),
			     0);
		check_resolved(g[resolved % 2], resolved);
	}
	free(g[0]);
	free(g[1]);
}

// A live group of six gains two members: flows move to them alone, six of eight parts stay.
Test(issues, sonic_platform_vpp_115)
{
	enum { OLD = 6, NEW = 8 };
	const struct port_set usable = ports_below(NEW);
	struct group *six = new_group(OLD, NULL);
	struct group *eight = new_group(NEW, six);
	struct group *again = new_group(OLD, eight);
	uint32_t counts[NEW] = { 0 };
	uint32_t kept = 0;

	for (uint32_t i = 0; i < NEW * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_PORT, false, i);
		const uint32_t before = pick(six, &by_default, &key, &usable);
		const uint32_t now = pick(eight, &by_default, &key, &usable);
		const uint32_t after = pick(again, &by_default, &key, &usable);

		cr_assert(now == before || now >= OLD, "flow %u: %u to %u", i, before, now);
		cr_assert(now >= OLD || after == now, "flow %u: %u to %u", i, now, after);
		cr_assert_lt(after, OLD);
		counts[now]++;
		kept += now == before;
	}
	cr_assert(flows_are_balanced(counts, NEW));
	cr_assert_geq(kept * 100, NEW * FLOWS_PER_PATH * 70);
	free(six);
	free(eight);
	free(again);
}
