// SPDX-License-Identifier: BSD-3-Clause
//
// Copies every counter of a switch.
//
// Runs on the lcore between two polls: a few microseconds per port, which is why nobody is asked
// anything else there.

#include "dataplane/dpdk/snapshot.h"

static void fill_port(struct port_snapshot *out, const struct sw *sw, port_t port,
		      enum watermark_kind watermark, ns_t now)
{
	sw_stats_port(sw, port, &out->stats);
	for (uint8_t i = 0; i < PRIO_COUNT; i++)
		sw_stats_prio(sw, port, (prio_t){ i }, now, &out->prio[i]);
	for (uint8_t i = 0; i < PG_COUNT; i++)
		sw_stats_pg(sw, port, (pg_t){ i }, watermark, &out->pg[i]);
	for (uint8_t i = 0; i < QUEUE_COUNT; i++)
		sw_stats_queue(sw, port, (queue_t){ i }, watermark, now, &out->queue[i]);
	for (uint32_t i = 0; i < DROP_REASON_COUNT; i++)
		out->drops[i] = sw_drops(sw, port, (enum drop_reason)i);
	out->peer = *sw_peer(sw, port);
	out->carrier = sw_carrier(sw, port);
	out->lacp = *sw_lacp(sw, port);
	out->usable = sw_port_usable(sw, port);
	out->reachable = sw_link_reachable(sw, port);
	out->link_up = sw_link_up(sw, port);
	out->held = sw_held(sw, port);
	out->hooks = sw_hooks(sw, port);
	out->blocked = sw_tx_blocked(sw, port);
}

void snapshot_fill(struct snapshot *out, const struct sw *sw, ns_t now)
{
	const struct sw_profile *pf = sw_profile_of(sw);

	out->now = now;
	out->profile = pf;
	out->big_red = sw_big_red_on(sw);
	sw_stats_switch(sw, out->watermark, &out->sw);
	for (uint32_t i = 0; i < pf->pool_count; i++)
		sw_stats_pool(sw, i, out->watermark, &out->pool[i]);
	for (uint32_t i = 0; i < pf->port_count; i++)
		fill_port(&out->port[i], sw, (port_t){ (uint16_t)i }, out->watermark, now);
}
