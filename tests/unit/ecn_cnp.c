// SPDX-License-Identifier: BSD-3-Clause
//
// ecn/cnp.c: exact while the table has room, and within the bounds of the space-saving method
// (Metwally et al. 2005, lemmas 1 to 4) when it has not.

#include "ecn/ecn.h"

#include <string.h>

#include "tests/table.h"

// The IPv4-mapped address 10.0.x.y of a host.
static void host_address(uint32_t host, uint8_t address[16])
{
	const uint8_t mapped[16] = { [10] = 0xff,
				     [11] = 0xff,
				     [12] = 10,
				     [14] = (uint8_t)(host >> 8),
				     [15] = (uint8_t)host };

	memcpy(address, mapped, sizeof(mapped));
}

static void count(struct cnp_flows *flows, uint32_t from, uint32_t to)
{
	uint8_t src[16], dst[16];

	host_address(from, src);
	host_address(to, dst);
	cnp_flows_count(flows, src, dst);
}

static const struct cnp_flow *find(const struct cnp_flows *flows, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < flows->used; i++) {
		const struct cnp_flow *flow = &flows->flow[i];

		if ((flow->src_lo & 0xffff) == from && (flow->dst_lo & 0xffff) == to)
			return flow;
	}
	return NULL;
}

Test(cnp, addresses_are_kept_in_network_order)
{
	static struct cnp_flows flows;
	const uint8_t src[16] = { 0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
	uint8_t dst[16];

	host_address(0x0102, dst);
	cnp_flows_count(&flows, src, dst);
	cr_assert_eq(flows.used, 1);
	cr_assert_eq(flows.flow[0].src_hi, 0x20010db801020304);
	cr_assert_eq(flows.flow[0].src_lo, 0x05060708090a0b0c);
	cr_assert_eq(flows.flow[0].dst_hi, 0);
	cr_assert_eq(flows.flow[0].dst_lo, 0x0000ffff0a000102);
	cr_assert_eq(flows.flow[0].count, 1);
	cr_assert_eq(flows.flow[0].error, 0);
}

Test(cnp, pairs_have_a_direction)
{
	static struct cnp_flows flows;

	count(&flows, 1, 2);
	count(&flows, 2, 1);
	count(&flows, 1, 2);
	cr_assert_eq(flows.used, 2);
	cr_assert_eq(find(&flows, 1, 2)->count, 2);
	cr_assert_eq(find(&flows, 2, 1)->count, 1);
}

Test(cnp, exact_while_there_is_room)
{
	static struct cnp_flows flows;

	for (uint32_t round = 0; round < CNP_FLOW_COUNT; round++) {
		for (uint32_t host = round; host < CNP_FLOW_COUNT; host++)
			count(&flows, host, 1000);
	}
	cr_assert_eq(flows.used, CNP_FLOW_COUNT);
	for (uint32_t host = 0; host < CNP_FLOW_COUNT; host++) {
		cr_assert_eq(find(&flows, host, 1000)->count, host + 1);
		cr_assert_eq(find(&flows, host, 1000)->error, 0);
	}
}

Test(cnp, a_new_pair_takes_the_smallest_place_and_count)
{
	static struct cnp_flows flows;

	for (uint32_t host = 0; host < CNP_FLOW_COUNT; host++) {
		for (uint32_t i = 0; i < (host == 17 ? 3 : 5); i++)
			count(&flows, host, 1000);
	}
	count(&flows, 500, 1000);
	cr_assert_eq(flows.used, CNP_FLOW_COUNT);
	cr_assert_null(find(&flows, 17, 1000));
	cr_assert_eq(find(&flows, 500, 1000)->count, 4);
	cr_assert_eq(find(&flows, 500, 1000)->error, 3);
	cr_assert_eq(find(&flows, 16, 1000)->count, 5);
}

enum { HOSTS = 400, CNPS = 20000 };

// Skewed traffic from six times as many pairs as there are places.
SEED_TEST(cnp, bounds_hold, rng, 16)
{
	static struct cnp_flows flows;
	static uint64_t truth[HOSTS];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < CNPS; i++) {
		const uint32_t host = rng_below(rng, 1 + rng_below(rng, HOSTS));

		truth[host]++;
		count(&flows, host, 1000);
	}
	for (uint32_t i = 0; i < flows.used; i++)
		sum += flows.flow[i].count;
	cr_assert_eq(sum, CNPS, "the counts add up");
	for (uint32_t host = 0; host < HOSTS; host++) {
		const struct cnp_flow *flow = find(&flows, host, 1000);

		if (flow == NULL) {
			cr_assert_leq(truth[host], CNPS / CNP_FLOW_COUNT, "host %u is heavy", host);
			continue;
		}
		cr_assert_geq(flow->count, truth[host], "host %u", host);
		cr_assert_leq(flow->count - flow->error, truth[host], "host %u", host);
		cr_assert_leq(flow->error, CNPS / CNP_FLOW_COUNT, "host %u", host);
	}
}
