// SPDX-License-Identifier: BSD-3-Clause
//
// The way in: sw_rx() takes a burst through parse, classify, filter, admit, route and
// enqueue. The way out,
// sw_tx(), is in depart.c.
//
// Stateless stages run over the burst first, so that the frames' cache lines are on their way when
// the stateful ones need them. Admission tests and charges packet by packet: a burst judged against
// one occupancy would over-admit by up to a burst and break the headroom arithmetic.

#include "dataplane/core/stage.h"

#include "base/bytes.h"
#include "dataplane/core/route_l3.h"

void mac_control(struct sw_lcore *lc, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(lc, p->in_port);
	struct port_state *st = &lc->port[p->in_port.v];
	struct pfc_frame frame;

	if (p->l3 == PKT_L3_HELLO) {
		hello_rx(lc, p, now);
		return;
	}
	if (p->l3 == PKT_L3_SLOW) {
		lacp_hear(lc, p, now);
		return;
	}

	switch (pfc_frame_decode(p->data, p->head_len, p->l3_offset, &frame)) {
	case PFC_FRAME_PFC:
		for (uint32_t i = 0; i < PRIO_COUNT; i++)
			st->pfc_rx_pkts[i] += frame.enable >> i & 1;
		pfc_rx_frame(&pf->rx, &st->rx, &frame, now);
		break;
	case PFC_FRAME_GLOBAL_PAUSE: st->stats.pause_rx_pkts++; break;
	case PFC_FRAME_UNKNOWN: st->stats.mac_control_unknown++; break;
	case PFC_FRAME_TRUNCATED: drop(lc, p, DROP_PFC_MALFORMED); return;
	}
	lc->stats.consumed_packets++;
	give_back(lc, p, DROP_NONE);
}

static void consume(struct sw_lcore *lc, struct pkt *p)
{
	release_early(lc, p);
	lc->stats.consumed_packets++;
}

static void flood_copies(struct sw_lcore *lc, struct pkt *p, const struct port_set *ports)
{
	action_add(lc, SW_ACTION_COPY, p)->ports = *ports;
	consume(lc, p);
	give_back(lc, p, DROP_NONE);
}

static COLD void act(struct sw_lcore *lc, struct pkt *p, enum route_verdict verdict,
		     const struct port_set *ports, enum drop_reason reason, ns_t now)
{
	switch (verdict) {
	case ROUTE_FORWARD: forward_own(lc, p, now); return;
	case ROUTE_FLOOD: flood_copies(lc, p, ports); return;
	case ROUTE_PUNT:
		consume(lc, p);
		action_add(lc, SW_ACTION_PUNT, p)->port = p->in_port;
		return;
	case ROUTE_HOLD: hold_add(lc, p, now); return;
	case ROUTE_DROP: drop(lc, p, reason); return;
	}
}

// One more CNP between two addresses; IPv4 ones are kept as IPv4-mapped IPv6 addresses.
static void count_cnp(struct sw_lcore *lc, const struct pkt *p)
{
	const uint8_t *ip = p->data + p->l3_offset;
	uint8_t address[2][16] = { { [10] = 0xff, [11] = 0xff }, { [10] = 0xff, [11] = 0xff } };

	if (p->l3 == PKT_L3_IPV4) {
		memcpy(&address[0][12], ip + 12, 4);
		memcpy(&address[1][12], ip + 16, 4);
	} else {
		memcpy(address, ip + 8, sizeof(address)); // IPv6 and GRH
	}
	cnp_flows_count(&lc->cnp, address[0], address[1]);
}

static inline bool is_mac_control(const struct pkt *p, enum drop_reason reason)
{
	return p->l3 >= PKT_L3_MAC_CONTROL && reason == DROP_NONE;
}

// Frames and bytes of data received; MAC control frames are not data.
static void count_rx(struct sw_lcore *lc, struct port_state *st, struct pkt *const *pkts,
		     const enum drop_reason *reason, uint32_t count)
{
	uint64_t octets = 0;
	uint32_t data = 0;
	uint32_t group = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct pkt *p = pkts[i];

		if (is_mac_control(p, reason[i]))
			continue;
		data++;
		octets += p->len;
		group += (p->flags & PKT_GROUP) != 0;
		if (!(p->flags & PKT_CNP))
			continue;
		st->stats.cnp_rx_packets++;
		count_cnp(lc, p);
	}
	st->stats.if_in_octets += octets;
	st->stats.if_in_ucast_pkts += data - group;
	st->stats.if_in_non_ucast_pkts += group;
}

// Arrivals in the priority groups of a stormed queue, before admission looks at them.
static COLD void discard_stormed(struct port_state *st, struct pkt *const *pkts,
				 enum drop_reason *reason, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct pkt *p = pkts[i];

		if (reason[i] != DROP_NONE || is_mac_control(p, reason[i]) ||
		    !(st->discarded >> p->pg.v & 1))
			continue;
		reason[i] = DROP_PFC_WD_RX;
		st->pg[p->pg.v].stats.dropped_packets++;
	}
}

// What the other lcores have done meanwhile.
static __attribute__((noinline)) void begin_burst(struct sw_lcore *lc, port_t port, ns_t now)
{
	credit_refresh(lc);
	if (collect_port(lc, port) && !port_set_empty(&lc->xoff_ports))
		admit_xon_scan(lc, now);
}

__attribute__((flatten)) void sw_rx(struct sw *sw, port_t port, struct pkt **pkts, uint32_t count,
				    ns_t now)
{
	struct sw_lcore *lc = lcore_of_port(sw, port);
	const struct port_profile *pf = port_profile_of(lc, port);
	struct port_state *st = port_state_of(lc, port);
	enum drop_reason reason[SW_BURST_MAX];
	uint8_t xoff_before;

	WEFT_CHECK(count <= SW_BURST_MAX);
	lc->now = now;
	if (__builtin_expect(sw->lcore_count > 1, 0))
		begin_burst(lc, port, now);
	xoff_before = st->xoff_mask;
	lc->stats.rx_packets += count;
	for (uint32_t i = 0; i < count; i++) {
		struct pkt *p = pkts[i];

		p->in_port = port;
		p->out_port = PORT_NONE;
		if (__builtin_expect(pf->lanes, 0)) {
			reason[i] = lane_parse(lc, pf, p);
			continue;
		}
		reason[i] = parse(p, pf->max_frame_bytes);
		if (reason[i] == DROP_NONE)
			classify(pf, lc->pf->cnp_tc, p);
	}
	count_rx(lc, st, pkts, reason, count);
	if (__builtin_expect(pf->filters != 0, 0))
		for (uint32_t i = 0; i < count; i++)
			reason[i] = filter(lc, pf, pkts[i], reason[i], now);
	if (__builtin_expect(st->discarded != 0, 0))
		discard_stormed(st, pkts, reason, count);
	for (uint32_t i = 0; i < count; i++) {
		struct pkt *p = pkts[i];
		enum route_verdict verdict = ROUTE_DROP;
		struct port_set ports;

		if (is_mac_control(p, reason[i])) {
			mac_control(lc, p, now);
			continue;
		}
		if (reason[i] == DROP_NONE)
			reason[i] = admit(lc, pf, st, p);
		if (reason[i] == DROP_NONE)
			verdict = route(lc, pf, p, &ports, &reason[i], now);
		if (verdict == ROUTE_FORWARD)
			forward(lc, p, now);
		else
			act(lc, p, verdict, &ports, reason[i], now);
	}
	watermark_raise(&lc->wm_descriptors,
			(uint64_t)lc->descriptors_used + lc->headroom_descriptors_used);
	if (st->xoff_mask != xoff_before)
		admit_announce(lc, port, now);
}

void sw_copy(struct sw *sw, const struct pkt *original, struct pkt *copy, port_t port, ns_t now)
{
	struct sw_lcore *lc = lcore_of_frame(sw, original->in_port);
	uint8_t *data;
	enum drop_reason reason;

	lc->stats.copied_packets++;
	if (copy == NULL) {
		drop_count(lc, original, DROP_COPY_NO_BUFFER);
		return;
	}
	data = copy->data;
	copy->l3_offset = original->l3_offset;
	copy->l4_offset = original->l4_offset;
	copy->l3 = original->l3;
	copy->l4 = original->l4;
	copy->tos = original->tos;
	copy->opcode = original->opcode;
	copy->dst_qp = original->dst_qp;
	copy->tci = original->tci;
	copy->vid = original->vid;
	copy->tc = original->tc;
	copy->pg = original->pg;
	copy->in_port = original->in_port;
	copy->out_port = port;
	copy->flags = (original->flags & (PKT_TAGGED | PKT_GROUP | PKT_CNP)) | PKT_COPY;
	WEFT_DEBUG_CHECK(data != original->data && copy->len == original->len);
	copy->lane = original->lane;
	reason = admit_copy(lc, copy);
	if (reason == DROP_NONE)
		reason = turn(lc, copy);
	if (reason == DROP_NONE)
		forward_own(lc, copy, now);
	else
		drop(lc, copy, reason);
}

void sw_inject(struct sw *sw, struct pkt *p, port_t port, uint16_t vid, ns_t now)
{
	struct sw_lcore *lc = lcore_of_frame(sw, port);
	bool known = port.v < lc->pf->port_count;
	const uint8_t lane = p->lane;
	enum drop_reason reason = parse(p, UINT16_MAX);
	enum route_verdict verdict = ROUTE_DROP;
	struct port_set ports;

	lc->now = now;
	lc->stats.generated_packets++;
	p->in_port = known ? port : PORT_NONE;
	p->out_port = PORT_NONE;
	p->tc = (tc_t){ 0 };
	p->vid = vid;
	if (known && reason == DROP_NONE)
		classify(port_profile_of(lc, port), lc->pf->cnp_tc, p);
	// What was punted comes back on the lane it arrived on: on another it might go in circles.
	if (known && port_profile_of(lc, port)->lanes)
		p->lane = lane;
	p->flags |= PKT_COPY;
	if (reason == DROP_NONE)
		verdict = route_injected(lc, p, &ports, &reason);
	if (verdict == ROUTE_FORWARD)
		reason = admit_copy(lc, p);
	act(lc, p, reason == DROP_NONE ? verdict : ROUTE_DROP, &ports, reason, now);
}

void sw_send(struct sw *sw, struct pkt *p, port_t port, uint16_t vid, ns_t now)
{
	struct sw_lcore *lc = lcore_of_frame(sw, PORT_NONE);
	enum drop_reason reason = parse(p, UINT16_MAX);

	lc->now = now;
	lc->stats.generated_packets++;
	p->in_port = PORT_NONE;
	p->out_port = port;
	p->tc = (tc_t){ 0 };
	p->lane = 0;
	p->vid = vid;
	p->flags |= PKT_COPY;
	if (reason == DROP_NONE && (vid >= 4096 || lc->pf->vlan_index[vid] == 0))
		reason = DROP_VLAN_NOT_MEMBER;
	if (reason == DROP_NONE)
		reason = admit_copy(lc, p);
	if (reason == DROP_NONE)
		forward_own(lc, p, now);
	else
		drop(lc, p, reason);
}
