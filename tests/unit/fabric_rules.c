// SPDX-License-Identifier: BSD-3-Clause
//
// What goes with routes: priorities for classes and lanes, headroom and thresholds of ports, and
// what tenants may send to. Prefixes are checked against every address there is; numbers come from
// the text of the rules or from arithmetic.

#include "fabricmgr/core/qos.h"
#include "fabricmgr/core/tenants_check.h"

#include <stdio.h>
#include <string.h>

#include "fabricmgr/core/address.h"
#include "fabricmgr/core/generate.h"
#include "pfc/pfc.h"
#include "tests/rig/graph.h"
#include "tests/table.h"

static struct arena keep;
static struct arena scratch;

static const struct generate_options plain = {
	.host = { 25000000000, 2000, 1 },
	.tier = { { 100000000000, 5000, 1 }, { 100000000000, 99000, 1 } },
	.attach = 1,
};

static void make(struct fabric *fabric, uint32_t k)
{
	const struct address_plan addresses = {
		.subnet = { IP_V4, 8, { 10 } },
		.subnet6 = { IP_V6, 64, { 0xfd } },
	};
	struct fabric_faults faults = { .count = 0 };

	keep = graph_arena();
	scratch = graph_arena();
	cr_assert_eq(fabric_init(fabric, &keep), 0);
	cr_assert_eq(generate_fat_tree(fabric, &plain, k, &faults), 0);
	cr_assert_eq(fabric_finish(fabric, &scratch, &faults), 0);
	cr_assert_eq(fabric_address(fabric, &addresses, &scratch, &faults), 0);
}

// --- priorities -------------------------------------------------------------------------------

static const struct {
	const char *what;
	uint32_t lossless;
	uint32_t lossy;
	uint32_t lanes;
	uint32_t needed;
	const char *want; // per priority: . free, o other, n notification, else class x 4 + lane
} prio_rows[] = {
	{ "RoCE on a tree", 1, 0, 1, 3, "o..0..n." },
	{ "RoCE on a Torus", 1, 0, 2, 4, "o..01.n." },
	{ "four lanes go round 6", 1, 0, 4, 6, "o..012n3" },
	{ "two classes on two lanes", 2, 0, 2, 6, "o..014n5" },
	{ "and a lossy one begin at 1", 2, 1, 2, 7, "o01458n." },
	{ "three lanes and two classes fill all", 2, 0, 3, 8, "o01245n6" },
	{ "four lanes of two classes are too many", 2, 0, 4, 10, "o.....n." },
};

TABLE_TEST(qos, priorities, row, prio_rows)
{
	struct qos_options options = { .class_count = row->lossless + row->lossy,
				       .lanes = row->lanes,
				       .mtu = 9100,
				       .ring_frames = 256,
				       .cell_bytes = 1 };
	struct fabric fabric;
	struct qos qos;
	bool short_of_memory;

	make(&fabric, 4);
	for (uint32_t i = 0; i < row->lossless; i++)
		options.class[i].lossless = true;
	cr_assert_eq(qos_plan(&fabric, &options, &scratch, &qos, &short_of_memory),
		     row->needed <= 8, "%s", row->what);
	cr_assert_not(short_of_memory);
	cr_assert_eq(qos.prio_count, row->needed, "%s", row->what);
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		const struct qos_prio *prio = &qos.prio[i];
		const bool is_class = prio->class < options.class_count;
		char have = '.';

		if (prio->use == QOS_CNP)
			have = 'n';
		else if (prio->use != QOS_FREE)
			have = is_class ? (char)('0' + prio->class * 4 + prio->lane) : 'o';
		cr_assert_eq(have, row->want[i], "%s: priority %u is %c", row->what, i, have);
	}
}

Test(qos, ports)
{
	const struct qos_options options = { .class = { { .lossless = true } },
					     .class_count = 1,
					     .lanes = 2,
					     .mtu = 9100,
					     .ring_frames = 64,
					     .cell_bytes = 1,
					     .gap_ns = 1000 };
	// 99 m are 500 ns each way.
	struct headroom_path path = { .class = HEADROOM_WIRE,
				      .bps = 100000000000,
				      .delay_ns = 500,
				      .gap_ns = 1000,
				      .ring_frames = 64,
				      .ahead_frames = 65,
				      .peer_frames = 64,
				      .burst_frames = 1,
				      .frame_bytes = 9118,
				      .cell_bytes = 1 };
	struct fabric fabric;
	struct qos qos;
	bool short_of_memory;

	make(&fabric, 4);
	cr_assert(qos_plan(&fabric, &options, &scratch, &qos, &short_of_memory));
	cr_assert_eq(qos.ports_count, 3);
	cr_assert(qos.ports[0].to_host);
	cr_assert_eq(qos.ports[0].count, 16);
	cr_assert_eq(qos.ports[2].count, 32, "both ends of 16 cables to cores");
	path.response_ns = headroom_response_ns(&headroom_asic_virtual, path.bps);
	cr_assert_eq(qos.ports[2].headroom.bytes, headroom_class_bytes(&path));
	// A core has four long cables, each with two lanes of one class.
	cr_assert_eq(qos.headroom_worst, 8 * qos.ports[2].headroom.bytes);
}

// Thresholds as NVIDIA's RoCE setup has them; below 10G they stand for the same time on the line,
// and for five of the largest frames at least.
static const struct {
	uint64_t bps;
	uint32_t mtu;
	uint64_t ecn_min;
} ecn_rows[] = {
	{ 400000000000, 9100, 150000 }, { 10000000000, 9100, 150000 }, { 5000000000, 9100, 75000 },
	{ 1000000000, 1500, 15000 },    { 100000000, 1500, 5 * 1522 },
};

TABLE_TEST(qos, ecn, row, ecn_rows)
{
	const struct qos_options options = { .class = { { .lossless = true } },
					     .class_count = 1,
					     .lanes = 1,
					     .mtu = row->mtu,
					     .ring_frames = 16,
					     .cell_bytes = 1 };
	struct fabric fabric;
	struct qos qos;
	bool short_of_memory;

	make(&fabric, 4);
	for (uint32_t i = 0; i < fabric.host_port_count; i++)
		fabric.host_ports[i].speed_bps = row->bps;
	cr_assert(qos_plan(&fabric, &options, &scratch, &qos, &short_of_memory));
	cr_assert(qos.ports[0].to_host);
	cr_assert_eq(qos.ports[0].ecn_min_bytes, row->ecn_min);
	cr_assert_eq(qos.ports[0].ecn_max_bytes, 10 * row->ecn_min);
}

// What software holds: the ring, the burst in hand and the one that the peer holds, 32 frames each;
// and what comes in a millisecond at 1G: 10^6 bits, 1518 bytes in 1542 of wire, and a frame more.
Test(qos, software)
{
	const struct qos_options options = { .mtu = 1500, .ring_frames = 32, .cell_bytes = 1 };
	const struct qos_headroom headroom = qos_software_headroom(&options, 1000000000, 1000000);

	cr_assert_eq(headroom.bytes, 96 * 1518 + 1000000ull * 1518 / (8 * 1542) + 1518);
	// Shortest frames: 84 bytes of wire each.
	cr_assert_eq(headroom.frames, 96 + 1000000 / (8 * 84) + 1);
}

// --- tenants ----------------------------------------------------------------------------------

static bool covered(const struct tenants *tenants, uint32_t tenant, const struct ip_prefix *ip)
{
	for (uint32_t i = 0; i < tenants->rule_count; i++) {
		const struct tenant_rule *rule = &tenants->rule[i];

		if (rule->tenant == tenant && rule->to.family == ip->family &&
		    ip_prefix_holds(&rule->to, ip->address))
			return true;
	}
	return false;
}

// The rules of tenants, and that they are exactly what is allowed.
static void check_rules(const struct fabric *fabric, const struct tenants *tenants)
{
	uint64_t allowed = 0;

	for (uint32_t i = 0; i < fabric->host_port_count * fabric->host_port_count; i++) {
		const uint32_t a = i / fabric->host_port_count;
		const uint32_t b = i % fabric->host_port_count;
		const bool want = fabric_allows(fabric, a, b);
		const uint32_t tenant = fabric->hosts[a].tenant;

		allowed += want && a != b;
		if (tenant == 0)
			continue;
		cr_assert_eq(covered(tenants, tenant, &fabric->host_ports[b].ip), want,
			     "from %u to %u", a, b);
		cr_assert_eq(covered(tenants, tenant, &fabric->host_ports[b].ip6), want);
	}
	cr_assert_eq(tenants->allowed_pairs, allowed);
	for (uint32_t i = 0; i < tenants->rule_count; i++)
		cr_assert(ip_prefix_canonical(&tenants->rule[i].to));
}

static const struct {
	const char *what;
	const char *of; // tenant of each of the 16 hosts
	uint32_t rules; // of both families
} tenant_rows[] = {
	{ "nobody's", "0000000000000000", 0 },
	// Hosts are 10.0.0.2 to 10.0.0.17: .2/31 .4/30 .8/29 .16/31.
	{ "all of one", "1111111111111111", 8 },
	// .2/31 .4/30 .8/31 and .10/31 .12/30 .16/31.
	{ "halves", "1111111122222222", 12 },
	{ "every other one", "1212121212121212", 32 },
	// One of nobody's, .17: red .2/31, .4/30, .8/31, .17; blue .10/31, .12/30, .16/31.
	{ "a host for all", "1111111122222220", 14 },
};

static void join(struct fabric *fabric, uint32_t host, char of)
{
	const char name[] = { of, '\0' };

	fabric->hosts[host].tenant = of == '0' ? 0 : fabric_tenant(fabric, name);
}

static void make_tenants(struct fabric *fabric, const char *of, struct tenants *tenants)
{
	make(fabric, 4);
	for (uint32_t i = 0; i < 16; i++)
		join(fabric, i, of[i]);
	cr_assert_eq(tenants_plan(fabric, &keep, &scratch, tenants), 0);
}

TABLE_TEST(tenants, rules, row, tenant_rows)
{
	struct tenants tenants;
	struct fabric fabric;

	make_tenants(&fabric, row->of, &tenants);
	cr_assert_eq(tenants.rule_count, row->rules, "%s: %u", row->what, tenants.rule_count);
	cr_assert_eq(tenants.pairs, 16 * 15);
	check_rules(&fabric, &tenants);
}

// --- proof of tenants -------------------------------------------------------------------------

enum { NO_RULE = -1 };

static const struct {
	const char *what;
	const char *of;
	uint32_t rule; // that is made wrong
	uint8_t len;
	uint32_t tenant;
	uint64_t violations;
	uint32_t from; // of the first one
	uint32_t to;
	int blamed;
} wrong_rows[] = {
	// Of halves, rules 0 to 2 are red .2/31 .4/30 .8/31, 6 to 8 blue .10/31 .12/30 .16/31.
	{ "as it was", "1111111122222222", 2, 31, 1, 0, 0, 0, NO_RULE },
	{ "red .0/29 holds .2/31 as well", "1111111122222222", 1, 29, 1, 0, 0, 0, NO_RULE },
	{ "8 red reach blue .10 and .11", "1111111122222222", 2, 30, 1, 16, 0, 8, 2 },
	{ "7 blue miss .17", "1111111122222222", 8, 32, 2, 7, 8, 15, NO_RULE },
	{ "8 red reach .10 and .11, 7 blue do not", "1111111122222222", 6, 31, 1, 30, 0, 8, 6 },
	{ "a red one reaches everything", "1111111122222222", 0, 0, 1, 64, 0, 8, 0 },
	// Rule 3 is red .17/32, which is nobody's; blue has it in .16/31.
	{ "8 red miss the host for all", "1111111122222220", 3, 32, 2, 8, 0, 15, NO_RULE },
	// A tenant's only port has no other one to miss it. Rule 0 is .2/32.
	{ "the only red one", "1222222222222222", 0, 32, 2, 15, 1, 0, 0 },
};

TABLE_TEST(tenants, wrong_rule_is_found, row, wrong_rows)
{
	const struct tenant_violation *first;
	struct tenant_proof proof;
	struct tenant_rule *rules;
	struct tenants tenants;
	struct fabric fabric;

	make_tenants(&fabric, row->of, &tenants);
	rules = arena_take_raw(&keep, tenants.rule_count, sizeof(*rules));
	memcpy(rules, tenants.rule, tenants.rule_count * sizeof(*rules));
	rules[row->rule].to.len = row->len;
	rules[row->rule].tenant = row->tenant;
	tenants.rule = rules;
	cr_assert_eq(tenants_check(&fabric, &tenants, &scratch, &proof), 0);
	cr_assert_eq(proof.violations, row->violations, "%s: %lu", row->what, proof.violations);
	cr_assert_eq(proof.kept > 0, row->violations > 0);
	if (proof.kept == 0)
		return;
	first = &proof.violation[0];
	cr_assert_eq(fabric.host_ports[first->from].host, row->from, "%s", row->what);
	cr_assert_eq(fabric.host_ports[first->to].host, row->to, "%s", row->what);
	cr_assert_eq(first->rule, row->blamed == NO_RULE ? FABRIC_NONE : (uint32_t)row->blamed);
}

// Every pair and address by itself.
static uint64_t count_wrong(const struct fabric *fabric, const struct tenants *tenants)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < fabric->host_port_count * fabric->host_port_count; i++) {
		const uint32_t a = i / fabric->host_port_count;
		const uint32_t b = i % fabric->host_port_count;
		const uint32_t tenant = fabric->hosts[a].tenant;
		const bool want = fabric_allows(fabric, a, b);

		if (a == b || tenant == 0)
			continue;
		wrong += covered(tenants, tenant, &fabric->host_ports[b].ip) != want;
		wrong += covered(tenants, tenant, &fabric->host_ports[b].ip6) != want;
	}
	return wrong;
}

SEED_TEST(tenants, any_mix, rng, 20)
{
	struct tenant_proof proof;
	struct tenant_rule *rules;
	struct tenants tenants;
	struct fabric fabric;

	make(&fabric, 6);
	for (uint32_t i = 0; i < fabric.host_count; i++)
		join(&fabric, i, (char)('0' + rng_below(rng, 4)));
	cr_assert_eq(tenants_plan(&fabric, &keep, &scratch, &tenants), 0);
	check_rules(&fabric, &tenants);
	cr_assert_eq(tenants_check(&fabric, &tenants, &scratch, &proof), 0);
	cr_assert_eq(proof.violations, 0);
	// Then one rule after the other goes wrong.
	rules = arena_take_raw(&keep, tenants.rule_count, sizeof(*rules));
	memcpy(rules, tenants.rule, tenants.rule_count * sizeof(*rules));
	tenants.rule = rules;
	for (uint32_t i = 0; i < 10; i++) {
		struct tenant_rule *rule = &rules[rng_below(rng, tenants.rule_count)];

		rule->tenant = 1 + (uint32_t)rng_below(rng, fabric.tenant_count - 1);
		rule->to.len = (uint8_t)(ip_family_bits(rule->to.family) - rng_below(rng, 8));
		cr_assert_eq(tenants_check(&fabric, &tenants, &scratch, &proof), 0);
		cr_assert_eq(proof.violations, count_wrong(&fabric, &tenants));
	}
	cr_assert_eq(scratch.used, 0);
}
