// SPDX-License-Identifier: BSD-3-Clause
//
// Variants and the switch they need: pipeline.cfg, with single knobs changed. Each variant says
// what must have come about during a run, and a run in which it has not does not count: a benchmark
// of dropped packets is fast.

#include "tests/bench/stand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cfg_load.h"
#include "sys/fault.h"

enum { PAUSED_PRIO = 3, ROCE_QUEUE = 3, SINK_PORT = 1 };

const struct variant variants[VARIANT_COUNT] = {
	[VARIANT_64] = { .name = "64", .doc = "UDP, 64 bytes", .stream = STREAM_UDP_64 },
	[VARIANT_1024] = { .name = "1024", .doc = "UDP, 1024 bytes", .stream = STREAM_UDP_1024 },
	[VARIANT_ROCE] = { .name = "roce",
			   .doc = "RoCE write stream",
			   .stream = STREAM_ROCE_WRITE },
	[VARIANT_STANDING] = { .name = "standing",
			       .doc = "64 bytes, 2048 packets wait in 4 DWRR queues, paced",
			       .stream = STREAM_CLASSES_64,
			       .standing = 2048,
			       .paced = true },
	[VARIANT_PAUSED] = { .name = "paused",
			     .doc = "64 bytes beside a paused priority in XOFF",
			     .stream = STREAM_UDP_64,
			     .paused = true },
	[VARIANT_ECN] = { .name = "ecn",
			  .doc = "RoCE write stream, 1024 packets wait, paced, CE marks",
			  .stream = STREAM_ROCE_WRITE,
			  .standing = 1024,
			  .paced = true,
			  .ecn = true },
};

static struct sw_config *load_config(const struct variant *variant)
{
	struct sw_config *config = calloc(1, sizeof(*config));

	if (config == NULL || cfg_load(BENCH_DIR "/pipeline.cfg", config_tables, CONFIG_TABLE_COUNT,
				       config, stderr) != 0) {
		free(config);
		return NULL;
	}
	if (variant->paced)
		config->port[SINK_PORT].speed = 1600000000000u;
	for (uint32_t i = 0; variant->ecn && i < config->queue_count; i++) {
		if (config->queue[i].queue >> ROCE_QUEUE & 1)
			memcpy(config->queue[i].wred_profile, "ecn", sizeof("ecn"));
	}
	return config;
}

static struct sw_profile *build_profile(const struct sw_config *config)
{
	struct sw_profile *pf = malloc(profile_bytes(config));
	struct profile_fault fault;

	if (pf == NULL || profile_build(config, pf, &fault) == 0)
		return pf;
	fprintf(stderr, BENCH_DIR "/pipeline.cfg:%u: fault %d (%s, %s)\n", fault.line, fault.id,
		fault.object, fault.detail);
	free(pf);
	return NULL;
}

struct sw *stand_make(const struct variant *variant, ns_t now)
{
	struct sw_config *config = load_config(variant);
	struct sw_profile *pf = config == NULL ? NULL : build_profile(config);
	void *memory = pf == NULL ? NULL : aligned_alloc(64, (sw_bytes(pf) + 63) & ~(size_t)63);
	struct sw *sw;

	free(config);
	if (memory == NULL)
		return NULL;
	sw = sw_init(memory, pf, 1, now);
	sw_link(sw, STAND_SOURCE, true, now);
	sw_link(sw, STAND_SINK, true, now);
	for (uint32_t i = 0; i < STREAM_HOSTS; i++) {
		sw_mac_set(sw, LCORE_FIRST, stream_source_mac(i), 1, STAND_SOURCE, now);
		sw_mac_set(sw, LCORE_FIRST, stream_sink_mac(i), 1, STAND_SINK, now);
	}
	return sw;
}

void stand_pause_frame(uint8_t *frame)
{
	static const uint8_t peer[6] = { 2, 0, 0, 0, 2, 0 };
	struct pfc_frame pause = { .enable = 1 << PAUSED_PRIO };

	pause.quanta[PAUSED_PRIO] = UINT16_MAX;
	pfc_frame_encode(&pause, peer, frame);
}

bool stand_filled(const struct sw *sw, const struct variant *variant, ns_t now)
{
	struct switch_stats stats;
	struct pg_stats pg;

	sw_stats_switch(sw, WATERMARK_USER, &stats);
	sw_stats_pg(sw, STAND_SOURCE, (pg_t){ PAUSED_PRIO }, WATERMARK_USER, &pg);
	return stats.queued_packets >= variant->standing && (!variant->paused || pg.xoff_state);
}

bool stand_check(const struct sw *sw, const struct variant *variant, ns_t now)
{
	struct switch_stats stats;
	struct port_stats sink;
	bool right;

	sw_stats_switch(sw, WATERMARK_USER, &stats);
	sw_stats_port(sw, STAND_SINK, &sink);
	right = stats.dropped_packets == 0 && (sink.ecn_marked_packets != 0) == variant->ecn &&
		sw_conserved(sw);
	if (!right)
		fprintf(stderr, "%s: %lu dropped, %lu marked\n", variant->name,
			(unsigned long)stats.dropped_packets,
			(unsigned long)sink.ecn_marked_packets);
	return right;
}
