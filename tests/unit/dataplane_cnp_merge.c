// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/cnp_merge.c: what several lcores counted, each in a table that may have forgotten
// pairs, stays within the bounds of the space-saving method (Metwally et al. 2005) when it is one
// list. The truth is counted beside the tables.

#include "dataplane/cnp_merge.h"

#include <string.h>

#include "tests/table.h"

enum { LCORES = 3, HOSTS = 400, CNPS = 6000 };

static struct cnp_flows tables[LCORES];
static struct cnp_pairs all;

static void count(uint32_t lcore, uint32_t host)
{
	const uint8_t src[16] = { [14] = (uint8_t)(host >> 8), [15] = (uint8_t)host };
	const uint8_t dst[16] = { [15] = 1 };

	cnp_flows_count(&tables[lcore], src, dst);
}

static const struct cnp_flow *find(uint32_t host)
{
	for (uint32_t i = 0; i < all.count; i++) {
		if (all.pair[i].src_lo == host)
			return &all.pair[i];
	}
	return NULL;
}

Test(cnp_merge, tables_with_room_are_added_up)
{
	count(0, 1);
	count(0, 2);
	count(1, 2);
	count(2, 2);
	count(1, 3);
	count(1, 3);
	cnp_merge(tables, LCORES, &all);
	cr_assert_eq(all.count, 3);
	cr_assert_eq(all.pair[0].src_lo, 2);
	cr_assert_eq(all.pair[0].count, 3);
	cr_assert_eq(all.pair[1].src_lo, 3);
	cr_assert_eq(all.pair[1].count, 2);
	cr_assert_eq(all.pair[2].src_lo, 1);
	cr_assert_eq(all.pair[2].count, 1);
	for (uint32_t i = 0; i < all.count; i++)
		cr_assert_eq(all.pair[i].error, 0);
}

// Host 1000 sends seven CNPs to lcore 0 and five to lcore 1, which then forgets it: 64 others come
// six times each.
Test(cnp_merge, a_full_table_may_have_forgotten_the_pair)
{
	for (uint32_t i = 0; i < 7; i++)
		count(0, 1000);
	for (uint32_t i = 0; i < 5; i++)
		count(1, 1000);
	for (uint32_t host = 0; host < 6 * CNP_FLOW_COUNT; host++)
		count(1, host % CNP_FLOW_COUNT);
	for (uint32_t i = 0; i < tables[1].used; i++)
		cr_assert_neq(tables[1].flow[i].src_lo, 1000);
	cnp_merge(tables, LCORES, &all);
	cr_assert_not_null(find(1000));
	cr_assert_geq(find(1000)->count, 12);
	cr_assert_leq(find(1000)->count - find(1000)->error, 12);
	cr_assert_gt(find(1000)->error, 0);
}

// Skewed traffic; a third of the hosts is seen by one lcore, a third by two, the rest by all.
SEED_TEST(cnp_merge, bounds_hold, rng, 16)
{
	uint64_t truth[HOSTS] = { 0 };

	memset(tables, 0, sizeof(tables));
	for (uint32_t i = 0; i < CNPS; i++) {
		const uint32_t host = rng_below(rng, 1 + rng_below(rng, HOSTS));

		truth[host]++;
		count(rng_below(rng, 1 + host % LCORES), host);
	}
	cnp_merge(tables, LCORES, &all);
	cr_assert_geq(all.count, CNP_FLOW_COUNT);
	for (uint32_t host = 0; host < HOSTS; host++) {
		const struct cnp_flow *flow = find(host);

		if (flow == NULL)
			continue;
		cr_assert_geq(flow->count, truth[host], "host %u", host);
		cr_assert_leq(flow->count - flow->error, truth[host], "host %u", host);
	}
	for (uint32_t i = 1; i < all.count; i++)
		cr_assert_geq(all.pair[i - 1].count, all.pair[i].count);
}
