// SPDX-License-Identifier: BSD-3-Clause
//
// Configurations, links and sums of a ring of switches.
//
// The turn map is written out for the four turns that exist: into the ring, on in either direction,
// and out to the host. The dateline is the link between the last switch and the first, both ways.

#include "tests/rig/ring.h"

#include <stdio.h>

enum {
	MTU = 1500,
	RESERVE_BYTES = 4096, // more than a largest frame, so that lanes stay independent
	DELAY_NS = 250,
	LOSSY_TH = 0,
};

static void allow(struct sw_config *c, uint32_t in, uint32_t out, uint32_t i, uint32_t count)
{
	const bool dateline = (out == RING_NEXT && i == count - 1) ||
			      (out == RING_BEFORE && i == 0);

	for (uint32_t lane = 0; lane < RING_LANES; lane++) {
		if (dateline && lane > 0)
			continue; // a second crossing
		setup_turn(c, in, out, lane, dateline ? 1 : lane);
	}
}

static void add_lanes(struct sw_config *c, uint32_t i, uint32_t count)
{
	c->sw.lanes = 0x18;
	for (uint32_t port = RING_NEXT; port <= RING_BEFORE; port++)
		c->port[port].lane_tag = true;
	allow(c, RING_HOST, RING_NEXT, i, count);
	allow(c, RING_HOST, RING_BEFORE, i, count);
	allow(c, RING_BEFORE, RING_NEXT, i, count); // goes on clockwise
	allow(c, RING_NEXT, RING_BEFORE, i, count);
	for (uint32_t lane = 0; lane < RING_LANES; lane++) {
		setup_turn(c, RING_NEXT, RING_HOST, lane, lane);
		setup_turn(c, RING_BEFORE, RING_HOST, lane, lane);
	}
}

struct sw_config *ring_switch(uint32_t i, uint32_t count, bool lanes, uint64_t pool_bytes)
{
	struct sw_config *c = setup_kvm(RING_PORTS);
	struct buffer_profile_config *lossless = setup_find_profile(c, KVM_PG_LOSSLESS);

	c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	c->sw.edge_number = i;
	lossless->size = KVM_XOFF_BYTES + RESERVE_BYTES;
	lossless->xon = RESERVE_BYTES;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = pool_bytes;
	setup_find_profile(c, KVM_PG_LOSSY)->dynamic_th = LOSSY_TH;
	for (uint32_t port = 0; port < RING_PORTS; port++) {
		c->port[port].speed = RING_BPS;
		c->port[port].mtu = MTU;
		c->port[port].role = port == RING_HOST ? CONFIG_ROLE_EDGE : CONFIG_ROLE_FABRIC;
	}
	for (uint32_t host = 0; host < count; host++)
		setup_fabric_host(c, frame_host_mac(host), frame_host_ip(host), (uint16_t)host,
				  RING_HOST);
	if (lanes)
		add_lanes(c, i, count);
	return c;
}

void ring_route(struct sw_config *c, uint32_t to, uint32_t ports)
{
	char group[CONFIG_NAME_BYTES];

	snprintf(group, sizeof(group), "to%u", to);
	for (uint32_t port = RING_NEXT; port <= RING_BEFORE; port++) {
		if (ports >> port & 1)
			setup_next_hop(c, group, port, 0);
	}
	if (ports != 0)
		setup_edge(c, (uint16_t)to, group);
}

struct ring ring_new(struct sw_config *const *switches, const struct host_config *hosts,
		     uint32_t count)
{
	struct ring ring = { .net = net_new(), .count = count };

	for (uint32_t i = 0; i < count; i++) {
		ring.sw[i] = net_add_switch(ring.net, rig_new_blank(switches[i]));
		ring.host[i] = net_add_host(ring.net, &hosts[i]);
		net_join(ring.net, ring.host[i], 0, ring.sw[i], RING_HOST, RING_BPS, DELAY_NS);
	}
	for (uint32_t i = 0; i < count; i++)
		net_join(ring.net, ring.sw[i], RING_NEXT, ring.sw[(i + 1) % count], RING_BEFORE,
			 RING_BPS, DELAY_NS);
	return ring;
}

void ring_flow(struct host_config *hosts, uint32_t from, uint32_t to, uint8_t prio, uint32_t len,
	       uint64_t frames)
{
	struct host_flow_config *flow = host_add_flow(&hosts[from], to, prio, len);

	flow->frames = frames;
	flow->qp = from << 8 | to;
}

uint64_t ring_sent(const struct ring *ring, uint32_t prio)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ring->count; i++)
		sum += net_host_stats(ring->net, ring->host[i]).prio[prio].tx_packets;
	return sum;
}

uint64_t ring_received(const struct ring *ring, uint32_t prio)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ring->count; i++)
		sum += net_host_stats(ring->net, ring->host[i]).prio[prio].rx_packets;
	return sum;
}

uint64_t ring_drops(const struct ring *ring, enum drop_reason reason)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ring->count; i++) {
		for (uint32_t port = 0; port < RING_PORTS; port++)
			sum += rig_drops(net_rig(ring->net, ring->sw[i]), port, reason);
	}
	return sum;
}

uint64_t ring_all_drops(const struct ring *ring)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ring->count; i++)
		sum += rig_all_drops(net_rig(ring->net, ring->sw[i]));
	return sum;
}

uint64_t ring_xoffs(const struct ring *ring, uint32_t prio)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ring->count; i++) {
		for (uint32_t port = RING_NEXT; port <= RING_BEFORE; port++)
			sum += net_rig(ring->net, ring->sw[i])->pfc[port].xoff[prio];
	}
	return sum;
}

uint64_t ring_headroom(const struct ring *ring, uint32_t pg)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < ring->count; i++) {
		const struct rig *rig = net_rig(ring->net, ring->sw[i]);

		for (uint32_t port = RING_NEXT; port <= RING_BEFORE; port++)
			most = u64_max(most, rig_pg(rig, port, pg).xoff_room_watermark_bytes);
	}
	return most;
}
