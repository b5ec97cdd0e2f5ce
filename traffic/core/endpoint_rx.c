// SPDX-License-Identifier: BSD-3-Clause
//
// What an endpoint makes of a frame: PFC, ARP and ND, LLDP, or a packet of one of its queue pairs,
// which has to fit the receive buffer first. CE makes a CNP, a CNP cuts the rate.

#include "traffic/core/endpoint_state.h"

#include "base/wire.h"

enum { ETHERTYPE_IPV4 = 0x0800, ETHERTYPE_VLAN = 0x8100 };

static void take_pfc(const struct endpoint_profile *pf, struct endpoint_state *st,
		     const struct pfc_frame *frame, ns_t now)
{
	const struct pfc_rx_profile rx = { .obey = st->rules.obey, .bps = pf->bps };

	for (uint32_t i = 0; i < PRIO_COUNT; i++)
		st->stats.prio[i].rx_pfc += frame->enable >> i & 1;
	pfc_rx_frame(&rx, &st->pause, frame, now);
}

// True when the frame was MAC control, possibly behind tags.
static bool take_control(const struct endpoint_profile *pf, struct endpoint_state *st,
			 const uint8_t *data, uint32_t len, ns_t now)
{
	uint32_t l2_len = 14;
	struct pfc_frame frame;

	while (frame_has(len, l2_len, 4) && load_be16(data + l2_len - 2) == ETHERTYPE_VLAN)
		l2_len += 4;
	if (load_be16(data + l2_len - 2) != PFC_ETHERTYPE)
		return false;
	switch (pfc_frame_decode(data, len, l2_len, &frame)) {
	case PFC_FRAME_PFC: take_pfc(pf, st, &frame, now); break;
	case PFC_FRAME_GLOBAL_PAUSE: st->stats.rx_global_pause++; break;
	case PFC_FRAME_UNKNOWN: st->stats.rx_other++; break;
	case PFC_FRAME_TRUNCATED: st->stats.rx_bad++; break;
	}
	return true;
}

// The queue pair a packet is for, if it comes from that one's peer.
static uint32_t find_qp(const struct endpoint_profile *pf, const struct endpoint_state *st,
			const struct roce_path *path, const struct roce_packet *packet)
{
	const uint32_t qp = packet->dest_qp - pf->qp_base;

	if (packet->dest_qp < pf->qp_base || qp >= pf->qp_count || !st->qp[qp].connected ||
	    path->ipv6 != st->qp[qp].path.ipv6 ||
	    memcmp(path->src_ip, st->qp[qp].path.dst_ip, 16) != 0) // zeros behind IPv4's four
		return ENDPOINT_NONE;
	return qp;
}

static void take_packet(const struct endpoint_profile *pf, struct endpoint_state *st,
			const struct roce_path *path, const struct roce_packet *packet, ns_t now)
{
	const uint32_t qp = find_qp(pf, st, path, packet);
	struct endpoint_qp *q;

	if (qp == ENDPOINT_NONE) {
		st->stats.rx_no_qp++;
		return;
	}
	q = &st->qp[qp];
	if (packet->opcode == ROCE_CNP) {
		st->stats.rx_cnp++;
		q->rx_cnp++;
		if (pf->dcqcn)
			dcqcn_rp_cnp(&pf->rp, &q->rp, now);
		return;
	}
	if (path->ecn == ECN_CE) {
		q->rx_ce++;
		// Answers are too few to slow down for.
		if (!pf->trouble.ecn_blind && packet->opcode != ROCE_ACK && q->path.dst_mac != 0 &&
		    dcqcn_np_marked(&pf->np, &q->np, now))
			endpoint_push(st, ENDPOINT_CNP, 0, qp);
	}
	rc_rx(&pf->rc, &q->rc, packet, now);
	endpoint_push(st, ENDPOINT_DONE, 0, qp);
	endpoint_wake(pf, st, qp, now);
}

static bool for_us(const struct endpoint_profile *pf, const struct roce_path *path)
{
	if (path->dst_mac != pf->mac)
		return false;
	return path->ipv6 ? pf->has_ipv6 && memcmp(path->dst_ip, pf->ipv6, 16) == 0 :
			    pf->has_ipv4 && memcmp(path->dst_ip, pf->ipv4, 4) == 0;
}

static void take_roce(const struct endpoint_profile *pf, struct endpoint_state *st,
		      const uint8_t *data, uint32_t len, ns_t now)
{
	struct endpoint_prio_stats *stats;
	struct roce_packet packet;
	struct roce_path path;
	enum roce_verdict verdict = roce_frame_read(data, len, pf->crc, &path, &packet);
	uint8_t prio;

	if (verdict == ROCE_FRAME_OK && !for_us(pf, &path))
		verdict = ROCE_FRAME_OTHER;
	switch (verdict) {
	case ROCE_FRAME_OK: break;
	case ROCE_FRAME_OTHER: st->stats.rx_other++; return;
	case ROCE_FRAME_SHORT:
	case ROCE_FRAME_BAD: st->stats.rx_bad++; return;
	case ROCE_FRAME_ICRC: st->stats.rx_icrc++; return;
	}
	prio = st->rules.dscp_to_prio[path.dscp];
	stats = &st->stats.prio[prio];
	if (!receiver_take(&st->receiver_pf, &st->receiver, (prio_t){ prio }, len, now)) {
		stats->rx_overflow++;
		return;
	}
	stats->rx_packets++;
	stats->rx_bytes += len;
	stats->rx_ce += path.ecn == ECN_CE;
	take_packet(pf, st, &path, &packet, now);
}

void endpoint_rx(const struct endpoint_profile *pf, struct endpoint_state *st, const uint8_t *data,
		 uint32_t len, ns_t now)
{
	endpoint_tick(pf, st, now);
	if (len < 14)
		st->stats.rx_bad++;
	else if (load_be16(data + 12) == ETHERTYPE_IPV4 ||
		 (!take_control(pf, st, data, len, now) &&
		  !endpoint_neighbor_rx(pf, st, data, len, now) &&
		  !(load_be16(data + 12) == LLDP_ETHERTYPE &&
		    endpoint_lldp_rx(pf, st, data, len, now))))
		take_roce(pf, st, data, len, now);
}
