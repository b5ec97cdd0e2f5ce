// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics: the descriptor tables of schema/stats.def, snapshots with their gauges and
// watermarks, and the clearing of watermarks. Nothing here runs per packet.

#include "dataplane/core/stage.h"

#define ROW(object, kind, name, field, doc)                                                        \
	{ #name, #field, doc, STAT_##kind, (uint32_t)offsetof(struct object, field) },

#define SWITCH_STAT(kind, name, field, doc) ROW(switch_stats, kind, name, field, doc)
static const struct stat_info switch_rows[] = {
#include "schema/stats.def"
};

#define POOL_STAT(kind, name, field, doc) ROW(pool_stats, kind, name, field, doc)
static const struct stat_info pool_rows[] = {
#include "schema/stats.def"
};

#define PORT_STAT(kind, name, field, doc) ROW(port_stats, kind, name, field, doc)
static const struct stat_info port_rows[] = {
#include "schema/stats.def"
};

#define PRIO_STAT(kind, name, field, doc) ROW(prio_stats, kind, name, field, doc)
static const struct stat_info prio_rows[] = {
#include "schema/stats.def"
};

#define PG_STAT(kind, name, field, doc) ROW(pg_stats, kind, name, field, doc)
static const struct stat_info pg_rows[] = {
#include "schema/stats.def"
};

#define QUEUE_STAT(kind, name, field, doc) ROW(queue_stats, kind, name, field, doc)
static const struct stat_info queue_rows[] = {
#include "schema/stats.def"
};

#define ACL_STAT(kind, name, field, doc) ROW(acl_stats, kind, name, field, doc)
static const struct stat_info acl_rows[] = {
#include "schema/stats.def"
};

#define FLOW_STAT(kind, name, field, doc) ROW(flow_stats, kind, name, field, doc)
static const struct stat_info flow_rows[] = {
#include "schema/stats.def"
};

#define TABLE(object, rows)                                                                        \
	{                                                                                          \
		object, rows, (uint32_t)(sizeof(rows) / sizeof((rows)[0]))                         \
	}

const struct stat_table stat_tables[STAT_OBJECT_COUNT] = {
	[STAT_SWITCH] = TABLE("switch", switch_rows), [STAT_POOL] = TABLE("pool", pool_rows),
	[STAT_PORT] = TABLE("port", port_rows),       [STAT_PRIO] = TABLE("priority", prio_rows),
	[STAT_PG] = TABLE("priority_group", pg_rows), [STAT_QUEUE] = TABLE("queue", queue_rows),
	[STAT_ACL] = TABLE("acl", acl_rows),          [STAT_FLOW] = TABLE("flow", flow_rows),
};

uint64_t watermark_read(const struct watermark *wm, enum watermark_kind kind)
{
	return u64_max(wm->current, wm->kept[kind]);
}

void watermark_clear(struct watermark *wm, enum watermark_kind kind, uint64_t now_value)
{
	for (uint32_t i = 0; i < WATERMARK_KIND_COUNT; i++)
		wm->kept[i] = u64_max(wm->kept[i], wm->current);
	wm->kept[kind] = now_value;
	wm->current = now_value;
}

// Frames that are with the switch and wait for no address.
static uint64_t moving_packets(const struct sw *sw)
{
	uint64_t count = 0;

	for (uint32_t i = 0; sw->lcore_count > 1 && i < sw->lcore_count * sw->lcore_count; i++)
		count += ring_count(&sw->crossing[i].ring);
	for (uint32_t i = 0; i < sw->pf->port_count; i++) {
		for (uint32_t q = 0; q < QUEUE_COUNT; q++)
			count += sw->port[i].queue[q].count;
	}
	return count;
}

static void add_counters(const struct switch_stats *from, struct switch_stats *to)
{
	const struct stat_table *table = &stat_tables[STAT_SWITCH];

	for (uint32_t i = 0; i < table->count; i++) {
		const uint32_t offset = table->rows[i].offset;

		if (table->rows[i].kind == STAT_COUNTER)
			*(uint64_t *)((uint8_t *)to + offset) +=
				*(const uint64_t *)((const uint8_t *)from + offset);
	}
}

void sw_stats_switch(const struct sw *sw, enum watermark_kind kind, struct switch_stats *out)
{
	*out = (struct switch_stats){ 0 };
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		const struct sw_lcore *lc = &sw->lcore[i];

		add_counters(&lc->stats, out);
		out->descriptors_in_use += (uint64_t)lc->descriptors_used +
					   lc->headroom_descriptors_used;
		out->headroom_descriptors_in_use += lc->headroom_descriptors_used;
		out->held_packets += lc->hold.count;
		out->descriptors_watermark += watermark_read(&lc->wm_descriptors, kind);
	}
	out->queued_packets = out->held_packets + moving_packets(sw);
}

void sw_stats_pool(const struct sw *sw, uint32_t pool, enum watermark_kind kind,
		   struct pool_stats *out)
{
	*out = (struct pool_stats){ 0 };
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		const struct pool_state *st = &sw->lcore[i].pool[pool];

		out->dropped_packets += st->dropped_packets;
		out->curr_occupancy_bytes += st->used;
		out->shared_curr_occupancy_bytes += st->shared_used;
		out->xoff_room_curr_occupancy_bytes += st->headroom_used;
		out->watermark_bytes += watermark_read(&st->wm_total, kind);
		out->xoff_room_watermark_bytes += watermark_read(&st->wm_headroom, kind);
	}
}

void sw_stats_port(const struct sw *sw, port_t port, struct port_stats *out)
{
	*out = sw->port[port.v].stats;
	out->hello_masked_edges = hello_mask_count(sw, port);
}

void sw_stats_prio(const struct sw *sw, port_t port, prio_t prio, ns_t now, struct prio_stats *out)
{
	const struct port_state *st = &sw->port[port.v];

	*out = (struct prio_stats){
		.pfc_rx_pkts = st->pfc_rx_pkts[prio.v],
		.pfc_tx_pkts = st->pfc_tx_pkts[prio.v],
		.rx_pause_duration_us = pfc_rx_paused_ns(&st->rx, prio, now) / 1000,
		.tx_pause_duration_us = (pfc_gen_paused_ns(&st->gen, prio, now) +
					 pfc_gen_paused_ns(&st->held, prio, now)) /
					1000,
		.tx_pause_lapses = st->gen.lapses[prio.v],
		.rx_pause_transitions = st->rx.pauses[prio.v],
		.on2off_rx_pkts = st->rx.resumes[prio.v],
		.rx_pause_recent_us = pfc_rx_recent_ns(&st->rx, prio, now) / 1000,
		.rx_pause_recent_at_ns = st->rx.since[prio.v].v,
		.rx_paused = st->rx.paused >> prio.v & 1 && ns_before(now, st->rx.until[prio.v]),
	};
}

void sw_stats_pg(const struct sw *sw, port_t port, pg_t pg, enum watermark_kind kind,
		 struct pg_stats *out)
{
	const struct sw_lcore *owner = &sw->lcore[sw->pf->port[port.v].lcore.v];
	const struct pg_state *st = &sw->port[port.v].pg[pg.v];
	const struct pg_profile *pf = &sw->pf->port[port.v].pg[pg.v];

	*out = st->stats;
	out->xoff_state = st->xoff;
	out->curr_occupancy_bytes = st->used + st->headroom;
	out->shared_curr_occupancy_bytes = u64_minus(st->used, pf->reserved_bytes);
	out->xoff_room_curr_occupancy_bytes = st->headroom;
	out->descriptors_in_use = (uint64_t)st->descriptors + st->headroom_descriptors;
	out->xoff_threshold_bytes = pf->lossless ? admit_limit(owner, port, pg) : 0;
	out->watermark_bytes = u64_max(watermark_read(&st->wm_used, kind),
				       watermark_read(&st->wm_total, kind));
	out->shared_watermark_bytes = u64_minus(watermark_read(&st->wm_used, kind),
						pf->reserved_bytes);
	out->xoff_room_watermark_bytes = watermark_read(&st->wm_headroom, kind);
}

void sw_stats_queue(const struct sw *sw, port_t port, queue_t queue, enum watermark_kind kind,
		    ns_t now, struct queue_stats *out)
{
	const struct port_profile *pf = &sw->pf->port[port.v];
	const struct port_state *st = &sw->port[port.v];
	const struct queue_state *q = &st->queue[queue.v];

	*out = q->stats;
	out->curr_occupancy_bytes = q->bytes;
	out->curr_occupancy_packets = q->count;
	out->shared_curr_occupancy_bytes = u64_minus(q->bytes, pf->queue[queue.v].reserved_bytes);
	out->pause_status = 0;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (pf->prio_to_queue[i] == queue.v && !(st->unpaused >> queue.v & 1) &&
		    st->rx.paused >> i & 1 && ns_before(now, st->rx.until[i]))
			out->pause_status = 1;
	}
	out->watermark_bytes = watermark_read(&q->wm_total, kind);
	out->shared_watermark_bytes = u64_minus(out->watermark_bytes,
						pf->queue[queue.v].reserved_bytes);
	out->delay_watermark_ns = watermark_read(&q->wm_delay, kind);
	watchdog_stats(&sw->lcore[pf->lcore.v], port, queue, out);
}

void sw_stats_acl(const struct sw *sw, uint32_t row, struct acl_stats *out)
{
	*out = (struct acl_stats){ 0 };
	for (uint32_t i = 0; i < sw->lcore_count; i++) {
		const struct acl_stats *st = &sw->lcore[i].acl[row].stats;

		out->packets += st->packets;
		out->bytes += st->bytes;
		out->dropped_packets += st->dropped_packets;
	}
}

uint64_t sw_drops(const struct sw *sw, port_t port, enum drop_reason reason)
{
	return port.v < sw->pf->port_count ? sw->port[port.v].drops[reason] :
					     sw->lcore[0].portless_drops[reason];
}

const struct cnp_flows *sw_cnp_flows(const struct sw *sw, lcore_t lcore)
{
	return &sw->lcore[lcore.v].cnp;
}

const struct roce_flows *sw_roce_flows(const struct sw *sw, lcore_t lcore)
{
	return &sw->lcore[lcore.v].roce;
}

static void clear_port(struct sw *sw, port_t port, enum watermark_kind kind)
{
	struct port_state *st = &sw->port[port.v];

	for (uint32_t i = 0; i < PG_COUNT; i++) {
		struct pg_state *pg = &st->pg[i];

		watermark_clear(&pg->wm_total, kind, pg->used + pg->headroom);
		watermark_clear(&pg->wm_used, kind, pg->used);
		watermark_clear(&pg->wm_headroom, kind, pg->headroom);
	}
	for (uint32_t i = 0; i < QUEUE_COUNT; i++) {
		struct queue_state *q = &st->queue[i];

		watermark_clear(&q->wm_total, kind, q->bytes);
		watermark_clear(&q->wm_delay, kind, 0);
	}
}

static void clear_lcore(struct sw_lcore *lc, enum watermark_kind kind)
{
	watermark_clear(&lc->wm_descriptors, kind,
			(uint64_t)lc->descriptors_used + lc->headroom_descriptors_used);
	for (uint32_t i = 0; i < lc->pf->pool_count; i++) {
		struct pool_state *pool = &lc->pool[i];

		watermark_clear(&pool->wm_total, kind, pool->used);
		watermark_clear(&pool->wm_headroom, kind, pool->headroom_used);
	}
}

void sw_clear_watermarks(struct sw *sw, enum watermark_kind kind)
{
	for (uint32_t i = 0; i < sw->lcore_count; i++)
		clear_lcore(&sw->lcore[i], kind);
	for (uint16_t i = 0; i < sw->pf->port_count; i++)
		clear_port(sw, (port_t){ i }, kind);
}
