// SPDX-License-Identifier: BSD-3-Clause
//
// What a test host makes of a frame: PFC (obeyed after the configured response time), ARP
// (answered), or data, whose stamp shows loss and reordering.
//
// Loss is what is missing so far: a gap in a stream's sequence counts at once, and a frame that
// arrives behind a later one takes its number back and counts as reordered.

#include "tests/host/host.h"

#include "base/bytes.h"

static void take_pfc(const struct host_config *config, struct host_state *st,
		     const struct pfc_frame *frame, ns_t now)
{
	const struct pfc_rx_profile rx = host_pfc_rx(config);
	uint32_t slot = st->delay_head % HOST_DELAY_MAX;

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		st->stats.prio[i].pfc_rx += frame->enable >> i & 1;
	if (config->response_ns == 0) {
		pfc_rx_frame(&rx, &st->rx, frame, now);
		return;
	}
	// When too many wait, the oldest takes effect early.
	if (st->delay_head - st->delay_tail == HOST_DELAY_MAX) {
		pfc_rx_frame(&rx, &st->rx, &st->delay[slot].frame, now);
		st->delay_tail++;
	}
	st->delay[slot].at = ns_add(now, config->response_ns);
	st->delay[slot].frame = *frame;
	st->delay_head++;
}

// True when the frame was MAC control, possibly behind tags.
static bool take_control(const struct host_config *config, struct host_state *st,
			 const uint8_t *data, uint32_t len, ns_t now)
{
	uint32_t l2_len = 14;
	struct pfc_frame frame;

	while (frame_has(len, l2_len, 4) && load_be16(data + l2_len - 2) == 0x8100)
		l2_len += 4;
	if (len < l2_len || load_be16(data + l2_len - 2) != PFC_ETHERTYPE)
		return false;
	switch (pfc_frame_decode(data, len, l2_len, &frame)) {
	case PFC_FRAME_PFC: take_pfc(config, st, &frame, now); break;
	case PFC_FRAME_GLOBAL_PAUSE: st->stats.rx_global_pause++; break;
	case PFC_FRAME_UNKNOWN:
	case PFC_FRAME_TRUNCATED: break;
	}
	return true;
}

static void take_arp(const struct host_config *config, struct host_state *st, const struct frame *f)
{
	uint32_t slot = st->arp_head % HOST_ARP_MAX;

	st->stats.rx_arp++;
	if (f->kind != FRAME_ARP_REQUEST || f->dst_ip != config->ip || f->src_ip == config->ip ||
	    st->arp_head - st->arp_tail == HOST_ARP_MAX)
		return;
	st->arp[slot].mac = f->src;
	st->arp[slot].ip = f->src_ip;
	st->arp_head++;
}

// The slow receiver: false when the frame does not fit.
static bool take_buffer(const struct host_config *config, struct host_state *st, uint32_t prio,
			uint32_t len, ns_t now)
{
	const struct host_receiver_config *rx = &config->receiver;
	const struct pacer_profile drain = { rx->bps, 0 };

	if (rx->bps == 0)
		return true;
	if (host_buffered(config, st, prio, now) + len > rx->buffer_bytes)
		return false;
	pacer_charge(&drain, &st->buffer[prio], len, now);
	if (rx->enable >> prio & 1 && host_buffered(config, st, prio, now) > rx->xoff_bytes) {
		const struct pfc_gen_profile gen = host_pfc_gen(config);

		st->wanted |= (uint8_t)(1u << prio);
		pfc_gen_update(&gen, &st->gen, st->wanted, now);
	}
	return true;
}

// Slot of a stream by linear probing, NULL when the table is full.
static struct host_stream *find_stream(struct host_state *st, uint32_t number)
{
	uint64_t key = (uint64_t)number + 1;

	for (uint32_t i = 0; i < HOST_STREAM_MAX; i++) {
		struct host_stream *stream = &st->stream[(number + i) % HOST_STREAM_MAX];

		if (stream->key == 0)
			stream->key = key;
		if (stream->key == key)
			return stream;
	}
	return NULL;
}

static void follow(struct host_state *st, struct host_prio_stats *stats, const struct frame *f)
{
	struct host_stream *stream = find_stream(st, f->stream);

	if (stream == NULL) {
		st->stats.rx_untracked++;
	} else if (f->seq >= stream->next) {
		stats->rx_lost += f->seq - stream->next;
		stream->next = f->seq + 1;
	} else {
		stats->rx_reordered++;
		stats->rx_lost -= stats->rx_lost > 0;
	}
}

static uint32_t priority_of(const struct host_config *config, const struct frame *f)
{
	if (f->kind != FRAME_PLAIN && f->kind != FRAME_ROCE_V1)
		return config->dscp_to_prio[f->dscp];
	return f->tag_count > 0 ? f->tag[0].tci >> 13 : 0;
}

void host_rx(const struct host_config *config, struct host_state *st, const uint8_t *data,
	     uint32_t len, ns_t now)
{
	struct host_prio_stats *stats;
	struct frame f;
	uint32_t prio;
	bool stamped;

	host_tick(config, st, now);
	if (take_control(config, st, data, len, now))
		return;
	stamped = frame_read(data, len, &f);
	if (f.dst != config->mac && !(f.dst >> 40 & 1)) {
		st->stats.rx_stray++;
		return;
	}
	if (f.kind == FRAME_ARP_REQUEST || f.kind == FRAME_ARP_REPLY) {
		take_arp(config, st, &f);
		return;
	}
	prio = priority_of(config, &f);
	stats = &st->stats.prio[prio];
	if (!take_buffer(config, st, prio, len, now)) {
		stats->rx_overflow++;
		return;
	}
	stats->rx_packets++;
	stats->rx_bytes += len;
	stats->rx_ce += f.ecn == 3;
	if (stamped)
		follow(st, stats, &f);
	else
		st->stats.rx_unstamped++;
}
