// SPDX-License-Identifier: BSD-3-Clause
//
// ecn/roce_flows.c: how many bytes are sampled is arithmetic, which ones is binomial; marks are all
// there; and a flow that sends much has a row (Metwally et al. 2005), also after others that have
// sent more and ended.

#include "ecn/roce_flows.h"

#include <string.h>

#include "tests/table.h"

static struct roce_flows flows;

static struct roce_flow_key key_of(uint32_t qp)
{
	return (struct roce_flow_key){
		.src_lo = 0xffff0a000001,
		.dst_lo = 0xffff0a000002,
		.dst_qp = qp,
		.port = { 3 },
	};
}

static const struct roce_flow *find(const struct roce_flow_key *key)
{
	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++) {
		const struct roce_flow *flow = &flows.flow[i];

		if (roce_flow_is_used(flow) && flow->dst_qp == key->dst_qp &&
		    flow->port.v == key->port.v && flow->src_hi == key->src_hi &&
		    flow->src_lo == key->src_lo && flow->dst_hi == key->dst_hi &&
		    flow->dst_lo == key->dst_lo)
			return flow;
	}
	return NULL;
}

static void sample(uint32_t qp, uint32_t samples, uint64_t half_life)
{
	const struct roce_flow_key key = key_of(qp);

	roce_flows_sample(&flows, &key, samples, (ns_t){ half_life << ROCE_HALF_LIFE_LOG2 });
}

static void mark(uint32_t qp)
{
	const struct roce_flow_key key = key_of(qp);

	roce_flows_mark(&flows, &key, (ns_t){ 0 });
}

static bool is_listed(uint32_t qp)
{
	const struct roce_flow_key key = key_of(qp);

	return find(&key) != NULL;
}

// The set of a queue pair, found by what an empty table does with it.
static uint32_t set_of(uint32_t qp)
{
	static struct roce_flows scratch;
	const struct roce_flow_key key = key_of(qp);

	memset(&scratch, 0, sizeof(scratch));
	roce_flows_sample(&scratch, &key, 1, (ns_t){ 0 });
	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++) {
		if (roce_flow_is_used(&scratch.flow[i]))
			return i / ROCE_FLOW_WAYS;
	}
	return ROCE_FLOW_SETS;
}

// The next queue pair behind `qp` that shares its set.
static uint32_t next_of_set(uint32_t qp)
{
	const uint32_t set = set_of(qp);

	while (set_of(++qp) != set)
		;
	return qp;
}

static const struct {
	const char *what;
	uint32_t bytes;
} size_rows[] = {
	{ "single bytes", 1 },
	{ "minimum frames", 60 },
	{ "a size that divides what is sampled from", 1024 },
	{ "jumbo", 9018 },
	{ "a burst", 3 * ROCE_SAMPLE_BYTES + 1 },
};

// Of each ROCE_SAMPLE_BYTES exactly one is sampled, whatever they are cut into.
TABLE_TEST(roce_flows, one_byte_of_each, row, size_rows)
{
	enum { ROUNDS = 64 };
	uint64_t passed = 0;
	uint64_t samples = 0;

	roce_flows_seed(&flows, 5);
	while (passed + row->bytes <= (uint64_t)ROUNDS * ROCE_SAMPLE_BYTES) {
		if (!roce_flows_pass(&flows, row->bytes))
			samples += roce_flows_draw(&flows, row->bytes);
		passed += row->bytes;
		cr_assert_geq(samples, passed / ROCE_SAMPLE_BYTES, "%s", row->what);
		cr_assert_leq(samples, passed / ROCE_SAMPLE_BYTES + 1, "%s", row->what);
	}
}

// Two flows take turns, 1 to 3 in bytes, in a rhythm that divides the sampling distance: of n
// samples the lesser gets n/4, within five standard deviations of a binomial distribution.
SEED_TEST(roce_flows, turns_do_not_hide_a_flow, rng, 8)
{
	enum { SAMPLES = 4800, LEAST = 1200 - 5 * 30, MOST = 1200 + 5 * 30 };
	const uint32_t packets = SAMPLES * (ROCE_SAMPLE_BYTES / 4096);
	uint32_t lesser = 0;
	uint32_t all = 0;

	roce_flows_seed(&flows, rng_next64(rng));
	for (uint32_t i = 0; i < packets; i++) {
		const uint32_t samples = roce_flows_draw(&flows, 1024);

		lesser += samples;
		all += samples + roce_flows_draw(&flows, 3072);
	}
	cr_assert_eq(all, SAMPLES);
	cr_assert_geq(lesser, LEAST);
	cr_assert_leq(lesser, MOST);
}

static const struct {
	const char *what;
	struct roce_flow_key key;
} key_rows[] = {
	{ "the other direction", { 0, 0xffff0a000002, 0, 0xffff0a000001, 7, { 3 } } },
	{ "another queue pair", { 0, 0xffff0a000001, 0, 0xffff0a000002, 8, { 3 } } },
	{ "another port", { 0, 0xffff0a000001, 0, 0xffff0a000002, 7, { 4 } } },
	{ "another network of the source", { 1, 0xffff0a000001, 0, 0xffff0a000002, 7, { 3 } } },
	{ "another network of the destination",
	  { 0, 0xffff0a000001, 1, 0xffff0a000002, 7, { 3 } } },
};

TABLE_TEST(roce_flows, flows_differ, row, key_rows)
{
	const struct roce_flow_key key = key_of(7);

	roce_flows_sample(&flows, &key, 2, (ns_t){ 100 });
	roce_flows_sample(&flows, &row->key, 3, (ns_t){ 200 });
	roce_flows_sample(&flows, &key, 1, (ns_t){ 300 });
	roce_flows_mark(&flows, &row->key, (ns_t){ 400 });
	cr_assert_eq(find(&key)->samples, 3, "%s", row->what);
	cr_assert_eq(find(&key)->marks, 0, "%s", row->what);
	cr_assert_eq(find(&key)->since.v, 100, "%s", row->what);
	cr_assert_eq(find(&row->key)->samples, 3, "%s", row->what);
	cr_assert_eq(find(&row->key)->marks, 1, "%s", row->what);
	cr_assert_eq(find(&row->key)->since.v, 200, "%s", row->what);
}

// Rows of flows that were as heavy as can be, and ended: after as many half-lives as a weight has
// bits nothing is left of that, and two who begin do not displace each other.
Test(roce_flows, what_has_ended_makes_room)
{
	uint32_t qp = 1;
	uint32_t first, second;

	for (uint32_t i = 0; i < ROCE_FLOW_WAYS; i++, qp = next_of_set(qp))
		sample(qp, UINT16_MAX, 0);
	first = qp;
	second = next_of_set(qp);
	sample(first, 1, 16);
	sample(second, 1, 16);
	cr_assert(is_listed(first));
	cr_assert(is_listed(second));
}

// Of as many heavy flows as there are ways the lightest gives its row to light ones, who share it;
// they inherit its weight, and have too few samples to reach the next.
Test(roce_flows, light_flows_do_not_displace_heavy_ones)
{
	uint32_t heavy[ROCE_FLOW_WAYS];
	uint32_t qp = 1;

	for (uint32_t i = 0; i < ROCE_FLOW_WAYS; i++, qp = next_of_set(qp)) {
		heavy[i] = qp;
		sample(qp, i == 0 ? 1000 : 2000, 0);
	}
	for (uint32_t i = 0; i < 999; i++, qp++) {
		if (set_of(qp) == set_of(1))
			sample(qp, 1, 0);
	}
	cr_assert(!is_listed(heavy[0]), "the lightest went");
	for (uint32_t i = 1; i < ROCE_FLOW_WAYS; i++)
		cr_assert(is_listed(heavy[i]), "flow %u", i);
}

// Marks take rows that nobody uses, and none that somebody does.
Test(roce_flows, marks_do_not_displace)
{
	uint32_t qp = 1;

	for (uint32_t i = 0; i < ROCE_FLOW_WAYS; i++, qp = next_of_set(qp))
		mark(qp);
	cr_assert_eq(flows.unlisted_marks, 0);
	mark(qp);
	cr_assert_eq(flows.unlisted_marks, 1);
	cr_assert(!is_listed(qp));
	cr_assert(is_listed(1));
}

enum { FLOWS = 3000, STEPS = 60000, HEAVY = 77 };

// Skewed traffic of six times as many flows as there are rows, over twenty half-lives: no mark is
// lost, no row has more samples than its flow, and the flow with a third of all samples is listed.
SEED_TEST(roce_flows, bounds_hold, rng, 16)
{
	static uint64_t samples[FLOWS];
	static uint64_t marks[FLOWS];
	uint64_t marked = 0;
	uint64_t listed = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		const uint32_t light = rng_below(rng, 1 + rng_below(rng, FLOWS));
		const uint32_t qp = i % 3 == 0 ? HEAVY : light;

		if (rng_below(rng, 4) == 0) {
			mark(qp);
			marks[qp]++;
			marked++;
		} else {
			sample(qp, 1, i * 20 / STEPS);
			samples[qp]++;
		}
	}
	for (uint32_t i = 0; i < ROCE_FLOW_COUNT; i++) {
		const struct roce_flow *flow = &flows.flow[i];

		if (!roce_flow_is_used(flow))
			continue;
		listed += flow->marks;
		cr_assert_leq(flow->samples, samples[flow->dst_qp], "flow %u", flow->dst_qp);
		cr_assert_leq(flow->marks, marks[flow->dst_qp], "flow %u", flow->dst_qp);
	}
	cr_assert_eq(listed + flows.unlisted_marks, marked);
	cr_assert(is_listed(HEAVY));
}
