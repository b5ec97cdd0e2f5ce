// SPDX-License-Identifier: BSD-3-Clause
//
// What an endpoint sends next: PFC of its receiver, ARP and ND, LLDP, a storm, CNPs, answers, data.
// The last two go round the priorities, and round the queue pairs within one.
//
// Invariant: no frame of a paused priority begins, and the line is never busier than its rate.

#include "traffic/core/endpoint_state.h"

static uint32_t write_pfc(const struct endpoint_profile *pf, struct endpoint_state *st,
			  const struct pfc_frame *frame, uint8_t *out)
{
	uint8_t src[6];

	store_be48(src, pf->mac);
	pfc_frame_encode(frame, src, out);
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		st->stats.prio[i].tx_pfc += frame->enable >> i & 1;
	return PFC_FRAME_BYTES;
}

static bool storm_on(const struct endpoint_trouble *trouble, ns_t now)
{
	return trouble->storm != 0 && !ns_before(now, trouble->storm_start) &&
	       (trouble->storm_stop.v == 0 || ns_before(now, trouble->storm_stop));
}

static uint32_t pause_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
			 uint8_t *out)
{
	struct pfc_frame frame;

	if (!pfc_gen_frame(&st->receiver_pf.gen, &st->receiver.gen, now, &frame))
		return 0;
	return write_pfc(pf, st, &frame, out);
}

static uint32_t storm_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
			 uint8_t *out)
{
	struct pfc_frame frame;

	if (!storm_on(&pf->trouble, now) || ns_before(now, st->storm_at))
		return 0;
	frame.enable = pf->trouble.storm;
	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		frame.quanta[i] = pf->trouble.storm_quanta;
	st->storm_at = ns_add(now, pf->trouble.storm_gap_ns);
	return write_pfc(pf, st, &frame, out);
}

static bool hits(struct endpoint_state *st, uint32_t ppm)
{
	return ppm != 0 && rng_below(&st->rng, 1000000) < ppm;
}

// Writes a RoCE frame of a queue pair; what is wrong with the host on purpose happens here. 0 when
// the frame is held back; `built` is its length all the same.
static uint32_t roce_tx(const struct endpoint_profile *pf, struct endpoint_state *st,
			const struct roce_path *path, const struct roce_packet *packet,
			uint8_t *out, uint32_t *built)
{
	const uint8_t prio = st->rules.dscp_to_prio[path->dscp];
	struct endpoint_prio_stats *stats = &st->stats.prio[prio];
	const uint32_t len = roce_frame_write(path, packet, pf->crc, out);

	*built = len;
	stats->tx_packets++;
	stats->tx_bytes += len;
	if (hits(st, pf->trouble.corrupt_ppm)) {
		out[len - 1] ^= 0x5a;
		st->stats.tx_corrupted++;
	}
	if (st->held_bytes == 0 && hits(st, pf->trouble.reorder_ppm)) {
		memcpy(st->held, out, len);
		st->held_bytes = len;
		st->held_prio = prio;
		st->held_due = false;
		st->stats.tx_reordered++;
		return 0;
	}
	st->held_due = true;
	return len;
}

// The frame that was held back, once another has gone ahead or there is none.
static uint32_t held_tx(struct endpoint_state *st, uint8_t paused, bool due, uint8_t *out)
{
	const uint32_t len = st->held_bytes;

	if (len == 0 || !due || paused >> st->held_prio & 1)
		return 0;
	memcpy(out, st->held, len);
	st->held_bytes = 0;
	return len;
}

static uint32_t cnp_tx(const struct endpoint_profile *pf, struct endpoint_state *st, uint8_t paused,
		       uint8_t *out)
{
	struct roce_packet packet;
	struct roce_path path;
	uint32_t qp, built;

	if (st->filled[ENDPOINT_CNP] == 0 || paused >> st->rules.dscp_to_prio[pf->cnp_dscp] & 1)
		return 0;
	qp = endpoint_pop(st, ENDPOINT_CNP, 0);
	path = st->qp[qp].path;
	path.dscp = pf->cnp_dscp;
	path.ecn = ECN_NOT_ECT;
	packet = (struct roce_packet){
		.opcode = ROCE_CNP, .pkey = 0xffff, .becn = true, .dest_qp = st->qp[qp].peer_qp
	};
	st->stats.tx_cnp++;
	st->qp[qp].tx_cnp++;
	return roce_tx(pf, st, &path, &packet, out, &built);
}

static uint32_t answer_tx(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
			  ns_t now, uint8_t *out)
{
	struct endpoint_qp *q = &st->qp[qp];
	struct roce_packet packet;
	uint32_t len = 0, built;

	if (rc_tx(&pf->rc, &q->rc, RC_ANSWER, now, &packet))
		len = roce_tx(pf, st, &q->path, &packet, out, &built);
	endpoint_wake(pf, st, qp, now);
	return len;
}

static uint32_t data_tx(const struct endpoint_profile *pf, struct endpoint_state *st, uint32_t qp,
			ns_t now, uint8_t *out)
{
	struct endpoint_qp *q = &st->qp[qp];
	struct pacer_profile pace = { .burst_ns = pf->burst_ns };
	struct roce_packet packet;
	uint32_t len = 0, built = 0;

	if (rc_tx(&pf->rc, &q->rc, RC_DATA, now, &packet)) {
		st->stats.tx_payload += packet.payload_bytes;
		len = roce_tx(pf, st, &q->path, &packet, out, &built);
	}
	if (pf->dcqcn && built != 0) {
		dcqcn_rp_sent(&pf->rp, &q->rp, built, now);
		pace.bps = dcqcn_rp_rate(&pf->rp, &q->rp, now);
		pacer_charge(&pace, &q->pacer, built + ENDPOINT_WIRE_EXTRA, now);
	}
	endpoint_wake(pf, st, qp, now);
	return len;
}

// The queue pair whose turn it is among the priorities that are not paused.
static uint32_t next_in_turn(struct endpoint_state *st, enum endpoint_list list, uint8_t paused)
{
	const uint32_t may = st->filled[list] & ~paused & 0xffu;
	const uint32_t turn = st->turn[list];
	uint32_t prio;

	if (may == 0)
		return ENDPOINT_NONE;
	// The first from `turn` on, round the circle.
	prio = (turn + (uint32_t)__builtin_ctz((may | may << PRIO_COUNT) >> turn)) % PRIO_COUNT;
	st->turn[list] = (uint8_t)((prio + 1) % PRIO_COUNT);
	return endpoint_pop(st, list, prio);
}

static uint32_t transport_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
			     uint8_t *out)
{
	const uint8_t paused = pfc_rx_paused(&st->pause, now);
	uint32_t len = held_tx(st, paused, st->held_due, out);
	uint32_t qp;

	if (len == 0)
		len = cnp_tx(pf, st, paused, out);

	// A queue pair may have nothing to send any more when its turn comes: not for ever, since
	// it has left its list.
	while (len == 0 && (qp = next_in_turn(st, ENDPOINT_ANSWER, paused)) != ENDPOINT_NONE)
		len = answer_tx(pf, st, qp, now, out);
	while (len == 0 && (qp = next_in_turn(st, ENDPOINT_DATA, paused)) != ENDPOINT_NONE)
		len = data_tx(pf, st, qp, now, out);
	return len != 0 ? len : held_tx(st, paused, true, out);
}

uint32_t endpoint_tx(const struct endpoint_profile *pf, struct endpoint_state *st, ns_t now,
		     uint8_t *out)
{
	const struct pacer_profile line = { pf->bps, pf->burst_ns };
	uint32_t len;

	endpoint_tick(pf, st, now);
	if (!pacer_ready(&st->line, now))
		return 0;
	len = pause_tx(pf, st, now, out);
	if (len == 0)
		len = endpoint_neighbor_tx(pf, st, now, out);
	if (len == 0 && !ns_before(now, st->lldp_at))
		len = endpoint_lldp_tx(pf, st, now, out);
	if (len == 0)
		len = storm_tx(pf, st, now, out);
	if (len == 0)
		len = endpoint_raw_tx(st, now, out);
	if (len == 0)
		len = transport_tx(pf, st, now, out);
	if (len != 0)
		pacer_charge(&line, &st->line, len + ENDPOINT_WIRE_EXTRA, now);
	return len;
}

static ns_t storm_deadline(const struct endpoint_trouble *trouble, const struct endpoint_state *st,
			   ns_t now)
{
	if (trouble->storm == 0 ||
	    (trouble->storm_stop.v != 0 && !ns_before(now, trouble->storm_stop)))
		return NS_NEVER;
	return st->storm_at;
}

// Zero when one of the lists holds a queue pair that may send now, or when the first pause of those
// that may not ends. A pause may end earlier by a frame, which is an arrival and asks again.
static ns_t transport_deadline(const struct endpoint_profile *pf, const struct endpoint_state *st)
{
	uint32_t waits = st->filled[ENDPOINT_DATA] | st->filled[ENDPOINT_ANSWER];
	ns_t at = NS_NEVER;

	waits |= (uint32_t)(st->filled[ENDPOINT_CNP] != 0) << st->rules.dscp_to_prio[pf->cnp_dscp];
	waits |= (uint32_t)(st->held_bytes != 0) << st->held_prio;
	waits |= (uint32_t)(st->raw_bytes != 0) << st->raw_prio;
	if ((waits & ~(uint32_t)st->pause.paused) != 0)
		return (ns_t){ 0 };
	for (; waits != 0; waits &= waits - 1)
		at = ns_min(at, st->pause.until[__builtin_ctz(waits)]);
	return at;
}

ns_t endpoint_deadline(const struct endpoint_profile *pf, const struct endpoint_state *st, ns_t now)
{
	ns_t at = ns_min(storm_deadline(&pf->trouble, st, now),
			 pfc_gen_deadline(&st->receiver.gen));

	at = ns_min(at, ns_min(endpoint_neighbor_deadline(st), st->lldp_at));
	at = ns_min(at, transport_deadline(pf, st));
	if (ns_before(at, st->line.ready))
		at = st->line.ready;
	// Timers do not need the line.
	at = ns_min(at, heap_next(&st->timers));
	at = ns_min(at, receiver_deadline(&st->receiver_pf, &st->receiver));
	return ns_before(at, now) ? now : at;
}
