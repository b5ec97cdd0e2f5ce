// SPDX-License-Identifier: BSD-3-Clause
//
// What a test host sends next: PFC of its receiver, then a storm, then ARP, then the flows in turn.
//
// Invariant: no data frame of a paused priority leaves, and the line is never busier than its rate;
// a frame whose sending began before the pause is the one frame that PFC allows.

#include "tests/host/host.h"

#include "base/bytes.h"

static uint32_t write_pfc(const struct host_config *config, struct host_state *st,
			  const struct pfc_frame *frame, uint8_t *out)
{
	uint8_t src[6];

	store_be48(src, config->mac);
	pfc_frame_encode(frame, src, out);
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		st->stats.prio[i].pfc_tx += frame->enable >> i & 1;
	return PFC_FRAME_BYTES;
}

static bool storm_on(const struct host_storm_config *storm, ns_t now)
{
	return storm->enable != 0 && !ns_before(now, storm->start) &&
	       (storm->stop.v == 0 || ns_before(now, storm->stop));
}

static uint32_t storm_tx(const struct host_config *config, struct host_state *st, ns_t now,
			 uint8_t *out)
{
	struct pfc_frame frame = { .enable = config->storm.enable };

	if (!storm_on(&config->storm, now) || ns_before(now, st->storm_at))
		return 0;
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		frame.quanta[i] = config->storm.quanta;
	st->storm_at = ns_add(now, config->storm.gap_ns);
	return write_pfc(config, st, &frame, out);
}

static uint32_t arp_tx(const struct host_config *config, struct host_state *st, uint8_t *out)
{
	struct frame f = { .src = config->mac, .src_ip = config->ip };

	if (!st->announced) {
		st->announced = true;
		f.kind = FRAME_ARP_REQUEST;
		f.dst = 0xffffffffffff;
		f.dst_ip = config->ip;
		return frame_write(&f, out);
	}
	if (st->arp_tail == st->arp_head)
		return 0;
	f.kind = FRAME_ARP_REPLY;
	f.dst = st->arp[st->arp_tail % HOST_ARP_MAX].mac;
	f.dst_ip = st->arp[st->arp_tail % HOST_ARP_MAX].ip;
	st->arp_tail++;
	return frame_write(&f, out);
}

static bool flow_done(const struct host_flow_config *flow, const struct host_flow_state *st,
		      ns_t now)
{
	return (flow->frames != 0 && st->sent == flow->frames) ||
	       (flow->stop.v != 0 && !ns_before(now, flow->stop));
}

static bool flow_ready(const struct host_flow_config *flow, const struct host_flow_state *st,
		       uint8_t paused, ns_t now)
{
	return !(paused >> flow->prio & 1) && !ns_before(now, flow->start) &&
	       pacer_ready(&st->pacer, now) && !flow_done(flow, st, now);
}

static uint32_t flow_tx(const struct host_config *config, struct host_state *st, uint32_t index,
			ns_t now, uint8_t *out)
{
	const struct host_flow_config *flow = &config->flow[index];
	struct host_prio_stats *stats = &st->stats.prio[flow->prio];
	const struct pacer_profile pace = { flow->bps, 0 };
	struct frame f = {
		.kind = flow->kind,
		.dst = flow->dst_mac,
		.src = config->mac,
		.dst_ip = flow->dst_ip,
		.src_ip = config->ip,
		.ipv6 = flow->ipv6,
		.tag_count = flow->vid != 0,
		.ethertype = 0x88b5, // local experimental
		.src_port = (uint16_t)(0xc000 | index),
		.dst_port = 9, // discard
		.dscp = flow->dscp,
		.ecn = flow->ecn,
		.opcode = flow->opcode,
		.qp = flow->qp,
		.stream = config->id << 8 | index,
		.seq = st->flow[index].sent,
		.len = flow->frame_bytes,
	};
	uint32_t len;

	f.tag[0].tci = (uint16_t)(flow->prio << 13 | flow->vid);
	len = frame_write(&f, out);
	st->flow[index].sent++;
	stats->tx_packets++;
	stats->tx_bytes += len;
	pacer_charge(&pace, &st->flow[index].pacer, frame_wire_bytes(len), now);
	return len;
}

static uint32_t data_tx(const struct host_config *config, struct host_state *st, ns_t now,
			uint8_t *out)
{
	uint8_t paused = pfc_rx_paused(&st->rx, now);

	for (uint32_t i = 0; i < config->flow_count; i++) {
		uint32_t index = (st->next_flow + i) % config->flow_count;

		if (!flow_ready(&config->flow[index], &st->flow[index], paused, now))
			continue;
		st->next_flow = index + 1;
		return flow_tx(config, st, index, now, out);
	}
	return 0;
}

uint32_t host_tx(const struct host_config *config, struct host_state *st, ns_t now, uint8_t *out)
{
	const struct pacer_profile line = { config->bps, 0 };
	const struct pfc_gen_profile gen = host_pfc_gen(config);
	struct pfc_frame frame;
	uint32_t len = 0;

	host_tick(config, st, now);
	if (!pacer_ready(&st->line, now))
		return 0;
	if (pfc_gen_frame(&gen, &st->gen, now, &frame))
		len = write_pfc(config, st, &frame, out);
	if (len == 0)
		len = storm_tx(config, st, now, out);
	if (len == 0)
		len = arp_tx(config, st, out);
	if (len == 0)
		len = data_tx(config, st, now, out);
	if (len != 0)
		pacer_charge(&line, &st->line, frame_wire_bytes(len), now);
	return len;
}

// When a flow wants to send, pauses included: the pause may end earlier by a frame, which is an
// arrival and asks again.
static ns_t flow_deadline(const struct host_flow_config *flow, const struct host_flow_state *fst,
			  const struct pfc_rx_state *rx, ns_t now)
{
	ns_t at = fst->pacer.ready.v > flow->start.v ? fst->pacer.ready : flow->start;

	if (flow_done(flow, fst, now))
		return NS_NEVER;
	if (rx->paused >> flow->prio & 1 && ns_before(at, rx->until[flow->prio]))
		at = rx->until[flow->prio];
	return at;
}

static ns_t storm_deadline(const struct host_config *config, const struct host_state *st, ns_t now)
{
	const struct host_storm_config *storm = &config->storm;

	if (storm->enable == 0 || (storm->stop.v != 0 && !ns_before(now, storm->stop)))
		return NS_NEVER;
	return st->storm_at;
}

ns_t host_deadline(const struct host_config *config, const struct host_state *st, ns_t now)
{
	ns_t at = ns_min(storm_deadline(config, st, now), pfc_gen_deadline(&st->gen));
	ns_t timer = NS_NEVER; // does not need the line

	if (!st->announced || st->arp_tail != st->arp_head)
		at = now;
	for (uint32_t i = 0; i < config->flow_count; i++)
		at = ns_min(at, flow_deadline(&config->flow[i], &st->flow[i], &st->rx, now));
	for (uint32_t left = st->wanted; left != 0; left &= left - 1)
		timer = ns_min(timer, host_xon_at(config, st, (uint32_t)__builtin_ctz(left)));
	if (st->delay_tail != st->delay_head)
		timer = ns_min(timer, st->delay[st->delay_tail % HOST_DELAY_MAX].at);
	if (ns_before(at, st->line.ready))
		at = st->line.ready;
	at = ns_min(at, timer);
	return ns_before(at, now) ? now : at;
}
