// SPDX-License-Identifier: BSD-3-Clause
//
// Prints what Prometheus would read of the example leaf-spine.cfg, for test_fabric_metrics.py: each
// switch but the last has reported, and the counters of its ports are numbers that say whose they
// are. Usage: fabric_metrics FILE [SWITCH]

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "fabricmgr/memory.h"
#include "fabricmgr/net/metrics.h"

enum { HISTORY_BYTES = 1 << 20, SECONDS = 3 };

static struct source source;
static struct planner planner;
static struct health health;
static struct distributor distributor;
static struct manager_view view;
static struct metrics_plans plans;

static void open_view(const char *path)
{
	const struct planner_options options = { .engine_count = 0 };
	const uint32_t switches = (WEFT_CHECK(source_open(&source, path, stderr) == 0),
				   source.fabric.switch_count);

	WEFT_CHECK(planner_plan(&source.fabric, &source.graph, &options, &source.keep,
				&source.scratch, &planner));
	distributor = (struct distributor){ .epoch = 3, .number = 7, .switch_count = switches };
	distributor.at = calloc(switches, sizeof(*distributor.at));
	view = (struct manager_view){
		.source = &source,
		.planner = &planner,
		.distributor = &distributor,
		.links = calloc(source.graph.topo.link_count, sizeof(*view.links)),
		.switches = calloc(switches, sizeof(*view.switches)),
		.state = &planner.state,
		.plan = { .number = 7, .asked = { 1000000000 }, .planned = { 1000400000 } },
		.hold_why = "",
	};
	WEFT_CHECK(distributor.at != NULL && view.links != NULL && view.switches != NULL);
	for (uint32_t i = 0; i < switches; i++)
		distributor.at[i].life = i + 1 < switches ? DISTRIBUTE_THERE : DISTRIBUTE_UNSEEN;
}

// Queue 3 of port 1 is used, and priority 3 is one of those of which a device tells nothing.
static void set_values(uint64_t *values, uint32_t at, uint32_t ports)
{
	values[SWITCH_STATE_UPTIME_NS] += 1000000000;
	values[COUNTERS_SWITCH_RX_PACKETS] = 100 + at;
	values[counters_pool_at(1) + POOL_STATE_SIZE_BYTES] = 65536;
	values[counters_pool_at(1) + COUNTERS_POOL_WATERMARK_BYTES] = 1000 + at;
	for (uint32_t i = 0; i < ports; i++) {
		uint64_t *block = &values[counters_port_at(i)];

		block[COUNTERS_PORT_IF_IN_OCTETS] = 1000 * (at + 1) + i;
		block[COUNTERS_DROP_AT + COUNTERS_DROP_QUEUE_FULL] = at;
	}
	values[counters_queue_at(1, 3) + COUNTERS_QUEUE_BYTES] = 5000;
	values[counters_queue_at(1, 3) + COUNTERS_QUEUE_WATERMARK_BYTES] = 2000 + at;
	values[counters_queue_at(1, 3) + QUEUE_STATE_PEAK_BYTES] = 5 << 20;
	values[counters_queue_at(1, 3) + QUEUE_STATE_PEAK_DELAY_NS] = 20000;
	values[counters_prio_at(1, 3) + COUNTERS_PRIO_PFC_TX_PKTS] = 7;
	values[counters_prio_at(1, 3) + COUNTERS_PRIO_RX_PAUSE_DURATION_US] = COUNTERS_UNKNOWN;
}

static void report(struct arena *keep)
{
	ns_t now = { 1000000000 };

	WEFT_CHECK(health_init(&health, &source.fabric, HISTORY_BYTES, now, keep) == 0);
	for (uint32_t second = 0; second < SECONDS; second++) {
		now = ns_add(now, 1000000000);
		for (uint32_t i = 0; i + 1 < source.fabric.switch_count; i++) {
			set_values(health.switches[i].values, i,
				   source.fabric.switches[i].port_count);
			health_life(&health, i, true);
			health_report(&health, i, now);
		}
		health_second(&health, now);
	}
}

int main(int argc, char **argv)
{
	struct metrics_source metrics = { &health, &view, &plans, FABRIC_NONE };
	struct evbuffer *out = evbuffer_new();
	struct arena keep;

	WEFT_CHECK(argc >= 2 && out != NULL && memory_open(&keep));
	open_view(argv[1]);
	report(&keep);
	metrics_count_plan(&plans, &view.plan);
	metrics_count_plan(&plans, &view.plan); // of the same plan: once
	if (argc > 2)
		metrics.only = fabric_find_switch(&source.fabric, argv[2]);
	WEFT_CHECK(metrics_write(&metrics, out) == 0);
	while (evbuffer_get_length(out) > 0)
		WEFT_CHECK(evbuffer_write(out, 1) > 0);
	evbuffer_free(out);
	return 0;
}
