// SPDX-License-Identifier: BSD-3-Clause
//
// The invariants of a switch, checked by walking every packet it holds:
//	rx + generated + copied = tx + consumed + dropped + queued
//	sum of charges = what groups, queues, pools and descriptor counts say
// Not on the packet path: tests, simulations and shutdown call it.

#include "dataplane/core/stage.h"

// What the packets held say about one switch.
struct tally {
	uint64_t pg_bytes;
	uint64_t pg_descriptors;
	uint64_t copy_descriptors;
	uint64_t packets;
};

static void tally_packet(const struct pkt *p, struct tally *tally)
{
	tally->packets++;
	if (p->flags & PKT_COPY) {
		tally->copy_descriptors += p->descriptors;
		return;
	}
	tally->pg_bytes += p->charge;
	tally->pg_descriptors += p->descriptors;
}

static void tally_list(const struct pkt *head, struct tally *tally)
{
	for (const struct pkt *p = head; p != NULL; p = p->next)
		tally_packet(p, tally);
}

static bool queue_agrees(const struct queue_state *q)
{
	uint64_t bytes = 0;
	uint32_t count = 0;

	for (const struct pkt *p = q->head; p != NULL; p = p->next) {
		bytes += p->charge;
		count++;
	}
	return bytes == q->bytes && count == q->count;
}

// Sums over groups and queues, pool by pool, against the pools' own figures.
static bool pools_agree(const struct sw *sw)
{
	uint64_t total[CONFIG_POOL_MAX] = { 0 };
	uint64_t headroom[CONFIG_POOL_MAX] = { 0 };

	for (uint32_t n = 0; n < sw->pf->port_count; n++) {
		for (uint32_t i = 0; i < PG_COUNT; i++) {
			uint8_t pool = sw->pf->port[n].pg[i].pool;

			total[pool] += sw->port[n].pg[i].used;
			headroom[pool] += sw->port[n].pg[i].headroom;
		}
		for (uint32_t i = 0; i < QUEUE_COUNT; i++)
			total[sw->pf->port[n].queue[i].pool] += sw->port[n].queue[i].bytes;
	}
	for (uint32_t i = 0; i < sw->pf->pool_count; i++) {
		struct pool_stats pool;

		sw_stats_pool(sw, i, WATERMARK_USER, &pool);
		if (total[i] != pool.curr_occupancy_bytes ||
		    headroom[i] != pool.xoff_room_curr_occupancy_bytes)
			return false;
	}
	return true;
}

static bool tally_queues(const struct port_state *st, struct tally *tally)
{
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		if (!queue_agrees(&st->queue[i]))
			return false;
		tally_list(st->queue[i].head, tally);
	}
	return true;
}

// Packets on their way to another lcore.
static void tally_ring(const struct ring *ring, struct tally *tally)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

	for (uint32_t i = head - ring_count(ring); i != head; i++)
		tally_packet(ring->slot[i & ring->mask], tally);
}

// What has left and was not yet taken off its group.
static void tally_row(const struct released *from, const struct collected *seen,
		      struct tally *tally)
{
	tally->copy_descriptors += from->copies - seen->copies;
	for (uint32_t i = 0; i < PG_COUNT; i++) {
		tally->pg_bytes += from->bytes[i] - seen->bytes[i];
		tally->pg_descriptors += from->descriptors[i] - seen->descriptors[i];
	}
}

static void tally_crossings(const struct sw *sw, struct tally *tally)
{
	uint32_t pairs = sw->lcore_count > 1 ? sw->lcore_count * sw->lcore_count : 0;
	uint32_t rows = sw->lcore_count > 1 ? sw->lcore_count * (sw->pf->port_count + 1) : 0;

	for (uint32_t i = 0; i < pairs; i++)
		tally_ring(&sw->crossing[i].ring, tally);
	for (uint32_t i = 0; i < rows; i++)
		tally_row(&sw->released[i], &sw->collected[i], tally);
}

// Nothing that lcores share is borrowed twice, or used without being borrowed. (One lcore borrows
// nothing.)
static bool credit_agrees(const struct sw *sw)
{
	int64_t descriptors = atomic_load(&sw->descriptors.left);

	if (sw->lcore_count == 1)
		return true;
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		descriptors += (int64_t)sw->lcore[i].descriptor_credit.limit;
	for (uint32_t n = 0; n < sw->pf->pool_count; n++) {
		int64_t bytes = atomic_load(&sw->pool[n].purse.left);

		for (uint32_t i = 0; i < sw->lcore_count; i++)
			bytes += (int64_t)sw->lcore[i].pool[n].credit.limit;
		if (bytes != (int64_t)sw->pf->pool[n].shared_bytes)
			return false;
	}
	return descriptors == sw->pf->descriptor_shared;
}

// What the lcores count, against what groups and copies hold.
static bool descriptors_agree(const struct sw *sw, uint64_t groups, uint64_t copies)
{
	uint64_t counted = 0;
	uint64_t counted_copies = 0;

	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		const struct sw_lcore *lc = &sw->lcore[i];

		counted += (uint64_t)lc->descriptors_used + lc->headroom_descriptors_used;
		counted_copies += lc->copy_descriptors;
	}
	return counted == groups + copies && counted_copies == copies;
}

static bool charges_agree(const struct sw *sw, struct tally *tally)
{
	uint64_t bytes = 0;
	uint64_t descriptors = 0;

	for (uint32_t n = 0; n < sw->pf->port_count; n++) {
		const struct pg_state *pg = sw->port[n].pg;

		if (!tally_queues(&sw->port[n], tally))
			return false;
		for (uint32_t i = 0; i < PG_COUNT; i++) {
			bytes += pg[i].used + pg[i].headroom;
			descriptors += pg[i].descriptors + pg[i].headroom_descriptors;
		}
	}
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		tally_list(sw->lcore[i].hold.head, tally);
	tally_crossings(sw, tally);
	return bytes == tally->pg_bytes && descriptors == tally->pg_descriptors &&
	       descriptors_agree(sw, descriptors, tally->copy_descriptors);
}

bool sw_conserved(const struct sw *sw)
{
	struct switch_stats s;
	struct tally tally = { 0 };

	if (!charges_agree(sw, &tally) || !pools_agree(sw) || !credit_agrees(sw))
		return false;
	sw_stats_switch(sw, WATERMARK_USER, &s);
	return s.rx_packets + s.generated_packets + s.copied_packets ==
	       s.tx_packets + s.consumed_packets + s.dropped_packets + tally.packets;
}
