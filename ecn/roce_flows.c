// SPDX-License-Identifier: BSD-3-Clause
//
// The table of RoCE flows. Systematic sampling at a fixed distance would see one and the same of
// flows that take turns, so the place within each ROCE_SAMPLE_BYTES is drawn.
//
// Invariants: samples of listed and forgotten flows together are one in ROCE_SAMPLE_BYTES of what
// passed; marks of listed flows and unlisted_marks add up to what was marked; a flow with more than
// 1/ROCE_FLOW_WAYS of the recent samples of its set has a row.

#include "ecn/roce_flows.h"

#define MIX 0x9e3779b97f4a7c15u // 2^64 by the golden ratio

static uint32_t draw_gap(struct roce_flows *flows)
{
	const uint32_t offset = rng_below(&flows->dice, ROCE_SAMPLE_BYTES);
	const uint32_t gap = ROCE_SAMPLE_BYTES - flows->offset + offset;

	flows->offset = offset;
	return gap;
}

void roce_flows_seed(struct roce_flows *flows, uint64_t seed)
{
	rng_seed(&flows->dice, seed);
	flows->offset = ROCE_SAMPLE_BYTES - 1; // as if the one before had been the last
	flows->left = draw_gap(flows);
}

uint32_t roce_flows_draw(struct roce_flows *flows, uint32_t bytes)
{
	uint64_t rest = bytes;
	uint32_t samples = 0;

	for (; rest >= flows->left; samples++) { // at most two in ROCE_SAMPLE_BYTES
		rest -= flows->left;
		flows->left = draw_gap(flows);
	}
	flows->left -= rest;
	return samples;
}

static uint32_t set_of(const struct roce_flow_key *key)
{
	uint64_t hash = (key->src_hi ^ key->src_lo) * MIX;

	hash = (hash ^ hash >> 32 ^ key->dst_hi ^ key->dst_lo) * MIX;
	hash = (hash ^ hash >> 32 ^ key->dst_qp ^ (uint64_t)key->port.v << 32) * MIX;
	return (uint32_t)(hash >> 32) % ROCE_FLOW_SETS;
}

static inline bool is_of(const struct roce_flow *flow, const struct roce_flow_key *key)
{
	return flow->dst_qp == key->dst_qp && flow->src_lo == key->src_lo &&
	       flow->dst_lo == key->dst_lo && flow->port.v == key->port.v &&
	       flow->src_hi == key->src_hi && flow->dst_hi == key->dst_hi;
}

static struct roce_flow *find(struct roce_flow *way, const struct roce_flow_key *key)
{
	for (uint32_t i = 0; i < ROCE_FLOW_WAYS; i++) {
		if (is_of(&way[i], key))
			return &way[i];
	}
	return NULL;
}

// Halves the weights of a set once for each half-life that is over.
static void age(struct roce_flows *flows, uint32_t set, ns_t now)
{
	const uint32_t epoch = (uint32_t)(now.v >> ROCE_HALF_LIFE_LOG2);
	const uint32_t by = epoch - flows->epoch[set];
	struct roce_flow *way = &flows->flow[set * ROCE_FLOW_WAYS];

	flows->epoch[set] = epoch;
	for (uint32_t i = 0; by != 0 && i < ROCE_FLOW_WAYS; i++)
		way[i].weight = (uint16_t)(by < 16 ? way[i].weight >> by : 0);
}

static struct roce_flow *lightest(struct roce_flow *way)
{
	struct roce_flow *least = way;

	for (uint32_t i = 1; i < ROCE_FLOW_WAYS; i++) {
		if (way[i].weight < least->weight)
			least = &way[i];
	}
	return least;
}

// Gives a flow the row of another, whose weight it inherits.
static void replace(struct roce_flows *flows, struct roce_flow *row,
		    const struct roce_flow_key *key, ns_t now)
{
	flows->unlisted_marks += row->marks;
	*row = (struct roce_flow){
		.src_hi = key->src_hi,
		.src_lo = key->src_lo,
		.dst_hi = key->dst_hi,
		.dst_lo = key->dst_lo,
		.dst_qp = key->dst_qp,
		.port = key->port,
		.weight = row->weight,
		.since = now,
	};
}

static void gain(struct roce_flow *row, uint32_t weight)
{
	row->weight = (uint16_t)u64_min((uint64_t)row->weight + weight, UINT16_MAX);
}

void roce_flows_sample(struct roce_flows *flows, const struct roce_flow_key *key, uint32_t samples,
		       ns_t now)
{
	const uint32_t set = set_of(key);
	struct roce_flow *way = &flows->flow[set * ROCE_FLOW_WAYS];
	struct roce_flow *row = find(way, key);

	age(flows, set, now);
	if (row == NULL) {
		row = lightest(way);
		replace(flows, row, key, now);
	}
	row->samples += samples;
	gain(row, samples);
}

// A mark alone takes no row that a flow with recent samples has.
void roce_flows_mark(struct roce_flows *flows, const struct roce_flow_key *key, ns_t now)
{
	const uint32_t set = set_of(key);
	struct roce_flow *way = &flows->flow[set * ROCE_FLOW_WAYS];
	struct roce_flow *row = find(way, key);

	if (__builtin_expect(row != NULL, 1)) {
		row->marks++;
		return;
	}
	age(flows, set, now);
	row = lightest(way);
	if (row->weight != 0) {
		flows->unlisted_marks++;
		return;
	}
	replace(flows, row, key, now);
	row->marks = 1;
	gain(row, 1);
}
