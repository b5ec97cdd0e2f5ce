// SPDX-License-Identifier: BSD-3-Clause
//
// Life and timers of a test host: defaults, delayed PFC, and the fluid buffer of the slow receiver,
// which is kept as the time at which it runs empty.

#include "tests/host/host.h"

#include <string.h>

#include "base/check.h"

void host_config_init(struct host_config *config, uint32_t id)
{
	static const uint8_t classes[][2] = { { 3, 3 }, { 4, 4 }, { 26, 3 }, { 46, 5 }, { 48, 6 } };

	*config = (struct host_config){
		.id = id,
		.mac = frame_host_mac(id),
		.ip = frame_host_ip(id),
		.bps = 10000000000,
		.obey = 0x18,
	};
	for (uint32_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		config->dscp_to_prio[classes[i][0]] = classes[i][1];
}

struct host_flow_config *host_add_flow(struct host_config *config, uint32_t to, uint8_t prio,
				       uint32_t len)
{
	struct host_flow_config *flow = &config->flow[config->flow_count];

	WEFT_CHECK(config->flow_count < HOST_FLOW_MAX);
	config->flow_count++;
	*flow = (struct host_flow_config){
		.kind = FRAME_ROCE,
		.dst_mac = frame_host_mac(to),
		.dst_ip = frame_host_ip(to),
		.frame_bytes = len,
		.prio = prio,
		.dscp = prio,
		.ecn = 2,
		.opcode = 0x07, // RDMA write middle
		.qp = to,
	};
	return flow;
}

void host_init(const struct host_config *config, struct host_state *st)
{
	WEFT_CHECK(config->bps > 0 && config->flow_count <= HOST_FLOW_MAX);
	memset(st, 0, sizeof(*st));
	st->storm_at = config->storm.start;
	st->announced = !config->announce;
}

struct pfc_rx_profile host_pfc_rx(const struct host_config *config)
{
	return (struct pfc_rx_profile){ .obey = config->obey, .bps = config->bps };
}

struct pfc_gen_profile host_pfc_gen(const struct host_config *config)
{
	const struct host_receiver_config *rx = &config->receiver;

	return (struct pfc_gen_profile){
		.enable = rx->enable,
		.quanta = rx->quanta,
		.refresh_ns = u64_max(pfc_quanta_ns(rx->quanta, config->bps) / 2, 1),
	};
}

uint64_t host_buffered(const struct host_config *config, const struct host_state *st, uint32_t prio,
		       ns_t now)
{
	uint64_t left_ns = ns_since(st->buffer[prio].ready, now);

	return (uint64_t)((unsigned __int128)left_ns * config->receiver.bps / 8000000000u);
}

ns_t host_xon_at(const struct host_config *config, const struct host_state *st, uint32_t prio)
{
	const struct host_receiver_config *rx = &config->receiver;
	uint64_t xon_ns = (uint64_t)((unsigned __int128)rx->xon_bytes * 8000000000u / rx->bps);

	return (ns_t){ u64_minus(st->buffer[prio].ready.v, xon_ns) };
}

void host_tick(const struct host_config *config, struct host_state *st, ns_t now)
{
	const struct pfc_rx_profile rx = host_pfc_rx(config);
	const struct pfc_gen_profile gen = host_pfc_gen(config);

	WEFT_CHECK(!ns_before(now, st->now));
	st->now = now;
	while (st->delay_tail != st->delay_head) {
		uint32_t slot = st->delay_tail % HOST_DELAY_MAX;

		if (ns_before(now, st->delay[slot].at))
			break;
		pfc_rx_frame(&rx, &st->rx, &st->delay[slot].frame, st->delay[slot].at);
		st->delay_tail++;
	}
	for (uint32_t left = st->wanted; left != 0; left &= left - 1) {
		uint32_t prio = (uint32_t)__builtin_ctz(left);

		if (!ns_before(now, host_xon_at(config, st, prio)))
			st->wanted &= (uint8_t) ~(1u << prio);
	}
	pfc_gen_update(&gen, &st->gen, st->wanted, now);
}

void host_stats_read(const struct host_state *st, ns_t now, struct host_stats *out)
{
	*out = st->stats;
	for (uint8_t i = 0; i < PRIO_COUNT; i++) {
		out->prio[i].paused_ns = pfc_rx_paused_ns(&st->rx, (prio_t){ i }, now);
		out->prio[i].peer_paused_ns = pfc_gen_paused_ns(&st->gen, (prio_t){ i }, now);
	}
}
