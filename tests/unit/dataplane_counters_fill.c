// SPDX-License-Identifier: BSD-3-Clause
//
// A snapshot as numbers: every row of every object stands at the place that has its name, whatever
// the order of rows is. The descriptors of the core and those of the packed counters are two
// readings of one schema; they are compared by name.

#include "dataplane/counters_fill.h"

#include <string.h>

#include "sys/counters_packed.h"
#include "tests/table.h"

enum { PORTS = 3, POOLS = 2 };

struct bed {
	struct snapshot *snapshot, *peak;
	uint64_t *values;
};

static struct bed bed_open(struct rng *rng)
{
	const size_t bytes = snapshot_bytes(PORTS);
	struct sw_profile *pf = calloc(1, sizeof(*pf) + PORTS * sizeof(pf->port[0]));
	struct bed bed = { calloc(1, bytes), calloc(1, bytes),
			   calloc(counters_count(PORTS), sizeof(uint64_t)) };

	for (size_t i = 0; i < bytes / 8; i++) {
		((uint64_t *)bed.snapshot)[i] = rng_next64(rng);
		((uint64_t *)bed.peak)[i] = rng_next64(rng);
	}
	pf->port_count = PORTS;
	pf->pool_count = POOLS;
	pf->pool[1].size_bytes = 4711;
	pf->port[1].pg[3].lossless = true;
	pf->port[1].lossless_queues = 1 << 5;
	bed.snapshot->profile = pf;
	for (uint32_t i = 0; i < PORTS; i++)
		bed.snapshot->port[i].link_up = i == 2;
	return bed;
}

static void bed_close(struct bed *bed)
{
	free((void *)bed->snapshot->profile);
	free(bed->snapshot);
	free(bed->peak);
	free(bed->values);
}

// The value of a row by its name; the test fails when there is none of it.
static uint64_t value_of(const struct bed *bed, enum counters_object object, uint32_t at,
			 const char *key)
{
	const struct counters_table *table = &counters_tables[object];

	for (uint32_t i = 0; i < table->count; i++) {
		if (strcmp(table->rows[i].key, key) == 0)
			return bed->values[at + i];
	}
	cr_assert_fail("%s has no %s", table->object, key);
	return 0;
}

static void check_rows(const struct bed *bed, enum counters_object object, uint32_t at,
		       enum stat_object of, const void *stats)
{
	const struct stat_table *table = &stat_tables[of];

	for (uint32_t i = 0; i < table->count; i++) {
		const struct stat_info *row = &table->rows[i];
		uint64_t want;

		memcpy(&want, (const uint8_t *)stats + row->offset, sizeof(want));
		cr_assert_eq(value_of(bed, object, at, row->key), want, "%s %s", table->object,
			     row->key);
	}
}

static void check_port(const struct bed *bed, uint32_t n)
{
	const struct port_snapshot *port = &bed->snapshot->port[n];

	check_rows(bed, COUNTERS_OF_PORT, counters_port_at(n), STAT_PORT, &port->stats);
	for (uint32_t i = 0; i < COUNTERS_PARTS; i++) {
		check_rows(bed, COUNTERS_OF_PRIO, counters_prio_at(n, i), STAT_PRIO,
			   &port->prio[i]);
		check_rows(bed, COUNTERS_OF_PG, counters_pg_at(n, i), STAT_PG, &port->pg[i]);
		check_rows(bed, COUNTERS_OF_QUEUE, counters_queue_at(n, i), STAT_QUEUE,
			   &port->queue[i]);
	}
	for (uint32_t i = DROP_NONE + 1; i < DROP_REASON_COUNT; i++)
		cr_assert_eq(value_of(bed, COUNTERS_OF_DROP, counters_drop_at(n),
				      drop_infos[i].name),
			     port->drops[i]);
}

SEED_TEST(counters_fill, every_row_at_its_place, rng, 3)
{
	struct bed bed = bed_open(rng);

	counters_fill(bed.snapshot, bed.peak, PORTS, bed.values);
	check_rows(&bed, COUNTERS_OF_SWITCH, 0, STAT_SWITCH, &bed.snapshot->sw);
	for (uint32_t i = 0; i < POOLS; i++)
		check_rows(&bed, COUNTERS_OF_POOL, counters_pool_at(i), STAT_POOL,
			   &bed.snapshot->pool[i]);
	for (uint32_t i = 0; i < PORTS; i++)
		check_port(&bed, i);
	bed_close(&bed);
}

Test(counters_fill, states)
{
	struct rng rng;
	struct bed bed;
	uint64_t lossless = 0, up = 0;

	rng_seed(&rng, 1);
	bed = bed_open(&rng);
	counters_fill(bed.snapshot, bed.peak, PORTS, bed.values);
	cr_assert_eq(value_of(&bed, COUNTERS_OF_SWITCH, 0, "uptime_ns"), bed.snapshot->now.v);
	cr_assert_eq(value_of(&bed, COUNTERS_OF_POOL, counters_pool_at(1), "size_bytes"), 4711);
	for (uint32_t i = 0; i < PORTS; i++) {
		up += value_of(&bed, COUNTERS_OF_PORT, counters_port_at(i), "up") << i;
		for (uint32_t k = 0; k < COUNTERS_PARTS; k++) {
			const uint32_t at = counters_queue_at(i, k);

			lossless += value_of(&bed, COUNTERS_OF_PG, counters_pg_at(i, k),
					     "lossless") +
				    16 * value_of(&bed, COUNTERS_OF_QUEUE, at, "lossless");
			cr_assert_eq(value_of(&bed, COUNTERS_OF_QUEUE, at, "peak_bytes"),
				     bed.peak->port[i].queue[k].watermark_bytes);
			cr_assert_eq(value_of(&bed, COUNTERS_OF_QUEUE, at, "peak_delay_ns"),
				     bed.peak->port[i].queue[k].delay_watermark_ns);
		}
	}
	cr_assert_eq(up, 1 << 2);
	cr_assert_eq(lossless, 1 + 16);
	cr_assert_eq(bed.values[counters_pg_at(1, 3) + PG_STATE_LOSSLESS], 1);
	cr_assert_eq(bed.values[counters_queue_at(1, 5) + QUEUE_STATE_LOSSLESS], 1);
	bed_close(&bed);
}

// A pool that another configuration does not have leaves nothing behind.
Test(counters_fill, pools_that_are_gone)
{
	struct rng rng;
	struct bed bed;

	rng_seed(&rng, 1);
	bed = bed_open(&rng);
	bed.values[counters_pool_at(POOLS)] = 5;
	counters_fill(bed.snapshot, bed.peak, PORTS, bed.values);
	cr_assert_eq(bed.values[counters_pool_at(POOLS)], 0);
	bed_close(&bed);
}
