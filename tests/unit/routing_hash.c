// SPDX-License-Identifier: BSD-3-Clause
//
// The flow hash: what enters and what does not, both directions alike when asked for, the spread
// over paths (tests/flows.h has the law), and that two tiers of equal hash polarise while a seed or
// a rotation of their own cures it. CRC-32C is checked against its check value.

#include "routing/hash.h"

#include <math.h>
#include <string.h>

#include "tests/flows.h"
#include "tests/table.h"

#define ALL_FIELDS ((1u << HASH_FIELD_COUNT) - 1)

// SONiC's seeds of the tiers, and two of a generator.
static const uint32_t seeds[] = { 0, 10, 25, 40, 50, 60, 70, 80, 0x9e3779b9, 0xffffffff };

static const struct {
	const char *what;
	enum hash_algorithm algorithm;
	enum flow_pattern pattern;
	bool ipv6;
} spread_rows[] = {
	{ "MIX, source port", HASH_MIX, VARY_SRC_PORT, false },
	{ "MIX, destination port", HASH_MIX, VARY_DST_PORT, false },
	{ "MIX, source", HASH_MIX, VARY_SRC_IP, false },
	{ "MIX, destination", HASH_MIX, VARY_DST_IP, false },
	{ "MIX, destination QP", HASH_MIX, VARY_DEST_QP, false },
	{ "MIX, IPv6, source port", HASH_MIX, VARY_SRC_PORT, true },
	{ "MIX, IPv6, destination port", HASH_MIX, VARY_DST_PORT, true },
	{ "MIX, IPv6, source", HASH_MIX, VARY_SRC_IP, true },
	{ "MIX, IPv6, destination", HASH_MIX, VARY_DST_IP, true },
	{ "MIX, IPv6, destination QP", HASH_MIX, VARY_DEST_QP, true },
	{ "CRC, source port", HASH_CRC, VARY_SRC_PORT, false },
	{ "CRC, destination port", HASH_CRC, VARY_DST_PORT, false },
	{ "CRC, source", HASH_CRC, VARY_SRC_IP, false },
	{ "CRC, destination", HASH_CRC, VARY_DST_IP, false },
	{ "CRC, destination QP", HASH_CRC, VARY_DEST_QP, false },
	{ "CRC, IPv6, source port", HASH_CRC, VARY_SRC_PORT, true },
	{ "CRC, IPv6, destination port", HASH_CRC, VARY_DST_PORT, true },
	{ "CRC, IPv6, source", HASH_CRC, VARY_SRC_IP, true },
	{ "CRC, IPv6, destination", HASH_CRC, VARY_DST_IP, true },
	{ "CRC, IPv6, destination QP", HASH_CRC, VARY_DEST_QP, true },
};

TABLE_TEST(hash, spreads_flows_that_differ_in_one_field, row, spread_rows)
{
	for (uint32_t i = 0; i < TABLE_COUNT(seeds) * 15; i++) {
		const uint32_t paths = 2 + i % 15;
		const struct hash_profile pf = {
			.fields = HASH_FIELDS_DEFAULT,
			.seed = seeds[i / 15],
			.algorithm = row->algorithm,
		};
		uint32_t counts[FLOWS_PATHS_MAX] = { 0 };

		for (uint32_t flow = 0; flow < paths * FLOWS_PER_PATH; flow++) {
			const struct hash_key key = flow_key(row->pattern, row->ipv6, flow);

			counts[flow_path(&pf, &key, paths)]++;
		}
		cr_assert(flows_are_balanced(counts, paths), "%s: seed %u, %u paths", row->what,
			  pf.seed, paths);
	}
}

// Each bit is one half of the time: rotation may bring any of them to the top.
TABLE_TEST(hash, has_32_even_bits, row, spread_rows)
{
	const struct hash_profile pf = { .fields = HASH_FIELDS_DEFAULT,
					 .algorithm = row->algorithm };
	const double flows = 10000;
	uint32_t ones[32] = { 0 };

	for (uint32_t flow = 0; flow < flows; flow++) {
		const struct hash_key key = flow_key(row->pattern, row->ipv6, flow);
		const uint32_t h = hash_packet(&pf, &key);

		for (uint32_t bit = 0; bit < 32; bit++)
			ones[bit] += h >> bit & 1;
	}
	for (uint32_t bit = 0; bit < 32; bit++)
		cr_assert_leq(fabs(ones[bit] - flows / 2), 6 * sqrt(flows) / 2, "%s: bit %u",
			      row->what, bit);
}

static struct hash_key random_key(struct rng *rng)
{
	return (struct hash_key){
		.src_ip = { rng_next64(rng), rng_next64(rng) },
		.dst_ip = { rng_next64(rng), rng_next64(rng) },
		.inner_src_ip = { rng_next64(rng), rng_next64(rng) },
		.inner_dst_ip = { rng_next64(rng), rng_next64(rng) },
		.src_mac = rng_next64(rng) >> 16,
		.dst_mac = rng_next64(rng) >> 16,
		.flow_label = rng_below(rng, 1 << 20),
		.dst_qp = rng_below(rng, 1 << 24),
		.in_port = (uint16_t)rng_next32(rng),
		.ethertype = (uint16_t)rng_next32(rng),
		.vid = (uint16_t)rng_below(rng, 4096),
		.src_port = (uint16_t)rng_next32(rng),
		.dst_port = (uint16_t)rng_next32(rng),
		.inner_src_port = (uint16_t)rng_next32(rng),
		.inner_dst_port = (uint16_t)rng_next32(rng),
		.protocol = (uint8_t)rng_next32(rng),
		.inner_protocol = (uint8_t)rng_next32(rng),
		.opcode = (uint8_t)rng_next32(rng),
		.has_inner = true,
	};
}

// Of an address both words count.
static void change(struct hash_key *key, enum hash_field field, uint32_t word)
{
	switch (field) {
	case HASH_IN_PORT: key->in_port ^= 1; return;
	case HASH_DST_MAC: key->dst_mac ^= 1; return;
	case HASH_SRC_MAC: key->src_mac ^= 1; return;
	case HASH_ETHERTYPE: key->ethertype ^= 1; return;
	case HASH_VLAN_ID: key->vid ^= 1; return;
	case HASH_IP_PROTOCOL: key->protocol ^= 1; return;
	case HASH_DST_IP: key->dst_ip[word] ^= 1; return;
	case HASH_SRC_IP: key->src_ip[word] ^= 1; return;
	case HASH_L4_DST_PORT: key->dst_port ^= 1; return;
	case HASH_L4_SRC_PORT: key->src_port ^= 1; return;
	case HASH_IPV6_FLOW_LABEL: key->flow_label ^= 1; return;
	case HASH_BTH_OPCODE: key->opcode ^= 1; return;
	case HASH_BTH_DEST_QP: key->dst_qp ^= 1; return;
	case HASH_INNER_DST_IP: key->inner_dst_ip[word] ^= 1; return;
	case HASH_INNER_SRC_IP: key->inner_src_ip[word] ^= 1; return;
	case HASH_INNER_IP_PROTOCOL: key->inner_protocol ^= 1; return;
	case HASH_INNER_L4_DST_PORT: key->inner_dst_port ^= 1; return;
	case HASH_INNER_L4_SRC_PORT: key->inner_src_port ^= 1; return;
	case HASH_FIELD_COUNT: return;
	}
}

// A field's hash changes with that field and with no other. Two hashes meet by chance once in 2^32.
SEED_TEST(hash, takes_the_fields_of_the_mask, rng, 10)
{
	const struct hash_key key = random_key(rng);

	for (uint32_t i = 0; i < HASH_FIELD_COUNT * HASH_FIELD_COUNT * 4; i++) {
		const uint32_t mine = i / 4 / HASH_FIELD_COUNT, other = i / 4 % HASH_FIELD_COUNT;
		const struct hash_profile pf = {
			.fields = 1u << mine,
			.algorithm = (uint8_t)(i % 2),
			.seed = rng_next32(rng),
		};
		struct hash_key changed = key;

		change(&changed, (enum hash_field)other, i / 2 % 2);
		if (mine == other)
			cr_assert_neq(hash_packet(&pf, &key), hash_packet(&pf, &changed), "%s",
				      hash_field_names[mine]);
		else
			cr_assert_eq(hash_packet(&pf, &key), hash_packet(&pf, &changed), "%s, %s",
				     hash_field_names[mine], hash_field_names[other]);
	}
}

static struct hash_key other_direction(const struct hash_key *key, struct rng *rng)
{
	struct hash_key back = *key;

	memcpy(back.src_ip, key->dst_ip, sizeof(back.src_ip));
	memcpy(back.dst_ip, key->src_ip, sizeof(back.dst_ip));
	memcpy(back.inner_src_ip, key->inner_dst_ip, sizeof(back.src_ip));
	memcpy(back.inner_dst_ip, key->inner_src_ip, sizeof(back.dst_ip));
	back.src_mac = key->dst_mac;
	back.dst_mac = key->src_mac;
	back.src_port = key->dst_port;
	back.dst_port = key->src_port;
	back.inner_src_port = key->inner_dst_port;
	back.inner_dst_port = key->inner_src_port;
	back.dst_qp = rng_below(rng, 1 << 24);
	back.opcode = (uint8_t)rng_next32(rng);
	back.flow_label = rng_below(rng, 1 << 20);
	back.in_port = (uint16_t)rng_next32(rng);
	return back;
}

SEED_TEST(hash, is_symmetric_when_asked_to_be, rng, 50)
{
	struct hash_key key = random_key(rng), back;

	// Equal addresses leave the order to the ports, and equal first words to the second ones.
	if (rng_below(rng, 3) == 0)
		memcpy(key.dst_ip, key.src_ip, sizeof(key.dst_ip));
	if (rng_below(rng, 3) == 0)
		key.inner_dst_ip[0] = key.inner_src_ip[0];
	back = other_direction(&key, rng);
	for (uint32_t i = 0; i < 2 * HASH_ALGORITHM_COUNT; i++) {
		struct hash_profile pf = {
			.fields = i % 2 == 0 ? ALL_FIELDS : HASH_FIELDS_DEFAULT,
			.algorithm = (uint8_t)(i / 2),
			.symmetric = true,
		};
		struct hash_key third = key;

		cr_assert_eq(hash_packet(&pf, &key), hash_packet(&pf, &back));
		third.src_port ^= 0x4000;
		cr_assert_neq(hash_packet(&pf, &key), hash_packet(&pf, &third));
		pf.symmetric = false;
		cr_assert_neq(hash_packet(&pf, &key), hash_packet(&pf, &back));
	}
}

SEED_TEST(hash, rotates_to_the_left, rng, 10)
{
	const struct hash_key key = random_key(rng);

	for (uint32_t i = 0; i < 32 * HASH_ALGORITHM_COUNT; i++) {
		struct hash_profile pf = { .fields = ALL_FIELDS, .algorithm = (uint8_t)(i / 32) };
		const uint64_t plain = hash_packet(&pf, &key);

		pf.rotation = (uint8_t)(i % 32);
		cr_assert_eq(hash_packet(&pf, &key),
			     (uint32_t)(plain << i % 32 | plain >> (32 - i % 32)));
	}
}

// The finaliser backwards: x ^= x >> 16 undoes itself, the factors are the inverses modulo 2^32.
static uint32_t before_finaliser(uint32_t h)
{
	cr_assert_eq(0x85ebca6bu * 0xa5cb9243u, 1);
	cr_assert_eq(0xc2b2ae35u * 0x7ed1b41du, 1);
	h = (h ^ h >> 16) * 0x7ed1b41du;
	h = (h ^ h >> 13 ^ h >> 26) * 0xa5cb9243u;
	return h ^ h >> 16;
}

// The check value of CRC-32C, that of the nine bytes "123456789" (RFC 3720; Koopman's tables).
Test(hash, crc_is_crc32c)
{
	const struct hash_profile pf = {
		.fields = 1u << HASH_DST_MAC | 1u << HASH_IPV6_FLOW_LABEL,
		.algorithm = HASH_CRC,
	};
	const struct hash_key key = { .dst_mac = 0x313233343536, .flow_label = 0x373839 };

	cr_assert_eq(before_finaliser(hash_packet(&pf, &key)), 0xe3069283);
}

// --- tiers --------------------------------------------------------------------------------------

enum { FIRST = 4, SECOND = 4 };

// Flows that the first tier sends over each of its paths, by the path the second tier gives them.
static uint32_t balanced_paths(const struct hash_profile *first, const struct hash_profile *second,
			       uint32_t first_paths, uint32_t second_paths, uint32_t *used)
{
	uint32_t counts[FLOWS_PATHS_MAX][FLOWS_PATHS_MAX] = { 0 };
	uint32_t balanced = 0;

	*used = 0;
	for (uint32_t i = 0; i < first_paths * second_paths * FLOWS_PER_PATH; i++) {
		const struct hash_key key = flow_key(VARY_SRC_IP, false, i);

		counts[flow_path(first, &key, first_paths)]
		      [flow_path(second, &key, second_paths)]++;
	}
	for (uint32_t i = 0; i < first_paths; i++) {
		balanced += flows_are_balanced(counts[i], second_paths);
		for (uint32_t k = 0; k < second_paths; k++)
			*used += counts[i][k] > 0;
	}
	return balanced;
}

TABLE_TEST(hash, equal_tiers_polarise, row, seeds)
{
	for (uint8_t algorithm = 0; algorithm < HASH_ALGORITHM_COUNT; algorithm++) {
		const struct hash_profile pf = { .fields = HASH_FIELDS_DEFAULT,
						 .seed = *row,
						 .algorithm = algorithm };
		uint32_t used;

		cr_assert_eq(balanced_paths(&pf, &pf, FIRST, SECOND, &used), 0);
		cr_assert_eq(used, FIRST, "each path leads to one of the next tier only");
	}
}

TABLE_TEST(hash, a_seed_of_its_own_spreads, row, seeds)
{
	for (uint32_t i = 0; i < TABLE_COUNT(seeds) * HASH_ALGORITHM_COUNT; i++) {
		const uint8_t algorithm = (uint8_t)(i % HASH_ALGORITHM_COUNT);
		const struct hash_profile first = { .fields = HASH_FIELDS_DEFAULT,
						    .seed = *row,
						    .algorithm = algorithm };
		struct hash_profile second = first;
		uint32_t used;

		second.seed = seeds[i / HASH_ALGORITHM_COUNT];
		if (second.seed == first.seed)
			continue;
		cr_assert_eq(balanced_paths(&first, &second, FIRST, SECOND, &used), FIRST,
			     "%s: seeds %u and %u", hash_algorithm_names[algorithm], first.seed,
			     second.seed);
		cr_assert_eq(used, FIRST * SECOND);
	}
}

// A LAG behind a group has the switch's seed; its rotation sets it apart.
static const struct {
	const char *what;
	uint8_t algorithm;
	uint32_t members, lag;
} lag_rows[] = {
	{ "MIX, 2 and 2", HASH_MIX, 2, 2 }, { "MIX, 3 and 2", HASH_MIX, 3, 2 },
	{ "MIX, 4 and 3", HASH_MIX, 4, 3 }, { "MIX, 16 and 8", HASH_MIX, 16, 8 },
	{ "CRC, 2 and 2", HASH_CRC, 2, 2 }, { "CRC, 3 and 2", HASH_CRC, 3, 2 },
	{ "CRC, 4 and 3", HASH_CRC, 4, 3 }, { "CRC, 16 and 8", HASH_CRC, 16, 8 },
};

TABLE_TEST(hash, a_lag_behind_a_group_needs_a_rotation, row, lag_rows)
{
	const struct hash_profile group = { .fields = HASH_FIELDS_DEFAULT,
					    .seed = 10,
					    .algorithm = row->algorithm };
	struct hash_profile lag = group;
	uint32_t used;

	cr_assert_lt(balanced_paths(&group, &lag, row->members, row->lag, &used), row->members,
		     "%s", row->what);
	cr_assert_lt(used, row->members * row->lag, "%s", row->what);
	lag.rotation = 10;
	cr_assert_eq(balanced_paths(&group, &lag, row->members, row->lag, &used), row->members,
		     "%s", row->what);
	cr_assert_eq(used, row->members * row->lag, "%s", row->what);
}
