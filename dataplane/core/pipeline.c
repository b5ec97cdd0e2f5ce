// SPDX-License-Identifier: BSD-3-Clause
//
// The way in: sw_rx() takes a burst through parse, classify, admit, route and enqueue. The way out,
// sw_tx(), is in depart.c.
//
// Stateless stages run over the burst first, so that the frames' cache lines are on their way when
// the stateful ones need them. Admission tests and charges packet by packet: a burst judged against
// one occupancy would over-admit by up to a burst and break the headroom arithmetic.

#include "dataplane/core/stage.h"

#include "base/bytes.h"

void mac_control(struct sw *sw, struct pkt *p, ns_t now)
{
	const struct port_profile *pf = port_profile_of(sw, p->in_port);
	struct port_state *st = &sw->port[p->in_port.v];
	struct pfc_frame frame;

	switch (pfc_frame_decode(p->data, p->head_len, p->l3_offset, &frame)) {
	case PFC_FRAME_PFC:
		for (uint32_t i = 0; i < PRIO_COUNT; i++)
			st->pfc_rx_pkts[i] += frame.enable >> i & 1;
		pfc_rx_frame(&pf->rx, &st->rx, &frame, now);
		break;
	case PFC_FRAME_GLOBAL_PAUSE: st->stats.pause_rx_pkts++; break;
	case PFC_FRAME_UNKNOWN: st->stats.mac_control_unknown++; break;
	case PFC_FRAME_TRUNCATED: drop(sw, p, DROP_PFC_MALFORMED); return;
	}
	sw->stats.consumed_packets++;
	give_back(sw, p);
}

static void consume(struct sw *sw, struct pkt *p)
{
	release_early(sw, p);
	sw->stats.consumed_packets++;
}

static void flood_copies(struct sw *sw, struct pkt *p, const struct port_set *ports)
{
	action_add(sw, SW_ACTION_COPY, p)->ports = *ports;
	consume(sw, p);
	give_back(sw, p);
}

static COLD void act(struct sw *sw, struct pkt *p, enum route_verdict verdict,
		     const struct port_set *ports, enum drop_reason reason, ns_t now)
{
	switch (verdict) {
	case ROUTE_FORWARD: forward(sw, p, now); return;
	case ROUTE_FLOOD: flood_copies(sw, p, ports); return;
	case ROUTE_PUNT:
		consume(sw, p);
		action_add(sw, SW_ACTION_PUNT, p)->port = p->in_port;
		return;
	case ROUTE_HOLD: hold_add(sw, p, now); return;
	case ROUTE_DROP: drop(sw, p, reason); return;
	}
}

// One more CNP between two addresses; IPv4 ones are kept as IPv4-mapped IPv6 addresses.
static void count_cnp(struct sw *sw, const struct pkt *p)
{
	const uint8_t *ip = p->data + p->l3_offset;
	uint8_t address[2][16] = { { [10] = 0xff, [11] = 0xff }, { [10] = 0xff, [11] = 0xff } };

	if (p->l3 == PKT_L3_IPV4) {
		memcpy(&address[0][12], ip + 12, 4);
		memcpy(&address[1][12], ip + 16, 4);
	} else {
		memcpy(address, ip + 8, sizeof(address)); // IPv6 and GRH
	}
	cnp_flows_count(&sw->cnp, address[0], address[1]);
}

static inline bool is_mac_control(const struct pkt *p, enum drop_reason reason)
{
	return p->l3 == PKT_L3_MAC_CONTROL && reason == DROP_NONE;
}

// Frames and bytes of data received; MAC control frames are not data.
static void count_rx(struct sw *sw, struct port_state *st, struct pkt *const *pkts,
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
		count_cnp(sw, p);
	}
	st->stats.if_in_octets += octets;
	st->stats.if_in_ucast_pkts += data - group;
	st->stats.if_in_non_ucast_pkts += group;
}

__attribute__((flatten)) void sw_rx(struct sw *sw, port_t port, struct pkt **pkts, uint32_t count,
				    ns_t now)
{
	const struct port_profile *pf = port_profile_of(sw, port);
	struct port_state *st = port_state_of(sw, port);
	enum drop_reason reason[SW_BURST_MAX];
	uint8_t xoff_before = st->xoff_mask;

	WEFT_CHECK(count <= SW_BURST_MAX);
	sw->now = now;
	sw->stats.rx_packets += count;
	for (uint32_t i = 0; i < count; i++) {
		struct pkt *p = pkts[i];

		p->in_port = port;
		p->out_port = PORT_NONE;
		reason[i] = parse(p, pf->max_frame_bytes);
		if (reason[i] == DROP_NONE)
			classify(pf, sw->pf->cnp_tc, p);
	}
	count_rx(sw, st, pkts, reason, count);
	for (uint32_t i = 0; i < count; i++) {
		struct pkt *p = pkts[i];
		enum route_verdict verdict = ROUTE_DROP;
		struct port_set ports;

		if (is_mac_control(p, reason[i])) {
			mac_control(sw, p, now);
			continue;
		}
		if (reason[i] == DROP_NONE)
			reason[i] = admit(sw, pf, st, p);
		if (reason[i] == DROP_NONE)
			verdict = route(sw, pf, p, &ports, &reason[i], now);
		if (verdict == ROUTE_FORWARD)
			forward(sw, p, now);
		else
			act(sw, p, verdict, &ports, reason[i], now);
	}
	watermark_raise(&sw->wm_descriptors,
			(uint64_t)sw->descriptors_used + sw->headroom_descriptors_used);
	if (st->xoff_mask != xoff_before)
		admit_announce(sw, port, now);
}

void sw_copy(struct sw *sw, const struct pkt *original, struct pkt *copy, port_t port, ns_t now)
{
	uint8_t *data;
	enum drop_reason reason;

	sw->stats.copied_packets++;
	if (copy == NULL) {
		sw->stats.dropped_packets++;
		sw->port[port.v].drops[DROP_COPY_NO_BUFFER]++;
		sw->port[port.v].stats.out_dropped_pkts++;
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
	reason = admit_copy(sw, copy);
	if (reason == DROP_NONE)
		forward(sw, copy, now);
	else
		drop(sw, copy, reason);
}

void sw_inject(struct sw *sw, struct pkt *p, port_t port, uint16_t vid, ns_t now)
{
	bool known = port.v < sw->pf->port_count;
	enum drop_reason reason = parse(p, UINT16_MAX);
	enum route_verdict verdict = ROUTE_DROP;
	struct port_set ports;

	sw->now = now;
	sw->stats.generated_packets++;
	p->in_port = known ? port : PORT_NONE;
	p->out_port = PORT_NONE;
	p->tc = (tc_t){ 0 };
	p->vid = vid;
	if (known && reason == DROP_NONE)
		classify(port_profile_of(sw, port), sw->pf->cnp_tc, p);
	p->flags |= PKT_COPY;
	if (reason == DROP_NONE)
		verdict = route_injected(sw, p, &ports, &reason);
	if (verdict == ROUTE_FORWARD)
		reason = admit_copy(sw, p);
	act(sw, p, reason == DROP_NONE ? verdict : ROUTE_DROP, &ports, reason, now);
}
