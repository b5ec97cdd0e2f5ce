// SPDX-License-Identifier: BSD-3-Clause
//
// Tables of the space-saving method become one. A table that is full may have forgotten a pair that
// it lacks, after at most as many CNPs as its smallest count (Metwally et al. 2005, lemma 4): so
// much is added to the count and to the error of a pair for each such table, which keeps both
// bounds. One with room has forgotten nothing.

#include "dataplane/cnp_merge.h"

#include <stdlib.h>

static bool same_pair(const struct cnp_flow *a, const struct cnp_flow *b)
{
	return a->src_hi == b->src_hi && a->src_lo == b->src_lo && a->dst_hi == b->dst_hi &&
	       a->dst_lo == b->dst_lo;
}

// The most CNPs of one pair that a table may have forgotten.
static uint64_t forgotten_max(const struct cnp_flows *table)
{
	uint64_t smallest = table->flow[0].count;

	if (table->used < CNP_FLOW_COUNT)
		return 0;
	for (uint32_t i = 1; i < table->used; i++) {
		if (table->flow[i].count < smallest)
			smallest = table->flow[i].count;
	}
	return smallest;
}

// The row of a pair. A new one starts as if every table had forgotten it.
static struct cnp_flow *row_of(struct cnp_pairs *all, const struct cnp_flow *pair,
			       uint64_t forgotten)
{
	struct cnp_flow *row;

	for (uint32_t i = 0; i < all->count; i++) {
		if (same_pair(&all->pair[i], pair))
			return &all->pair[i];
	}
	row = &all->pair[all->count++];
	*row = *pair;
	row->count = forgotten;
	row->error = forgotten;
	return row;
}

static int most_first(const void *a, const void *b)
{
	const struct cnp_flow *x = a;
	const struct cnp_flow *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

void cnp_merge(const struct cnp_flows *tables, uint32_t count, struct cnp_pairs *out)
{
	uint64_t forgotten[LCORE_MAX] = { 0 };
	uint64_t sum = 0;

	out->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		forgotten[i] = forgotten_max(&tables[i]);
		sum += forgotten[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < tables[i].used; k++) {
			const struct cnp_flow *flow = &tables[i].flow[k];
			struct cnp_flow *row = row_of(out, flow, sum);

			// This table has it: what it says counts instead.
			row->count = row->count - forgotten[i] + flow->count;
			row->error = row->error - forgotten[i] + flow->error;
		}
	}
	qsort(out->pair, out->count, sizeof(out->pair[0]), most_first);
}
