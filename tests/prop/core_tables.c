// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that forwards at once: random interfaces, neighbours, groups, hosts of a fabric, turn
// maps and lanes, that change while random and broken frames arrive, the control thread injects
// some, links flap, profiles with other VLANs and lanes come and tables go. On one lcore or
// several.
//
// No prediction, only what must always hold: conservation after every step, reasons that add up,
// frames that leave with the tag their link asks for, routed ones from the router's address, and a
// switch that is empty in the end.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/prop/random_config.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	STEPS = 1500,
	PROFILES = 3,
	PORTS_MIN = 4,
	PORTS_MAX = 8,
	FABRIC_PORTS = 2, // the first ones
	MTU = 1500,
	RESERVE_BYTES = MTU + 14 + 8,
	VLANS = 3,
	GROUPS = 3,
	EDGES = 4,
	HOSTS = 12,
	FABRIC_MAC = 100, // first number of a fabric host
	TAG_BYTES = 4,
	LANES_IN_TAG = 16, // four bits of the VID
};

static const uint64_t router_mac = 0x02aa00000001;
static const uint16_t vlan[VLANS] = { 1, 10, 20 };
static const uint32_t network[VLANS] = { 0x0a010000, 0x0a0a0000, 0x0a140000 };
static const uint32_t elsewhere[] = { 0x0b000001, 0x0b000002, 0x0c000001, 0x0d000003,
				      0xe0000001, 0xa9fe0001, 0xffffffff, 0x0a01fffe };
static const char *const groups[GROUPS] = { "g0", "g1", "g2" };

struct bench {
	struct rig *rig;
	struct rng *rng;
	uint32_t ports;
	uint32_t lcores;
	struct sw_config *config[PROFILES];
};

static port_t port_of(uint32_t port)
{
	return (port_t){ (uint16_t)port };
}

// --- configurations -----------------------------------------------------------------------------

static void add_vlan(struct bench *b, struct sw_config *c, uint16_t id, bool whole)
{
	char names[2][CONFIG_NAME_BYTES] = { "", "" };

	if (!whole && random_one_in(b->rng, 5))
		return;
	setup_port_name(rng_below(b->rng, b->ports), names[0]);
	setup_port_name(rng_below(b->rng, b->ports), names[1]);
	setup_vlan(c, id, "", random_one_in(b->rng, 3) ? names[0] : "all");
}

static void add_lanes(struct bench *b, struct sw_config *c)
{
	c->sw.lanes = random_one_in(b->rng, 4) ? 0x08 : 0x18;
	for (uint32_t i = 0; i < FABRIC_PORTS; i++)
		c->port[i].lane_tag = true;
}

// Lanes have reserves whether there are lanes or not: pools stay large enough for them.
static struct sw_config *random_profile(struct bench *b, bool whole)
{
	struct sw_config *c = random_config(b->rng, b->ports);
	struct buffer_profile_config *lossless = setup_find_profile(c, KVM_PG_LOSSLESS);

	lossless->size += RESERVE_BYTES;
	lossless->xon = RESERVE_BYTES;
	setup_find_pool(c, KVM_INGRESS_POOL)->size += 4ull * PORTS_MAX * RESERVE_BYTES;
	setup_find_pool(c, KVM_LOSSY_POOL)->size += 8ull * PORTS_MAX * 3000;
	c->sw.router_mac = router_mac;
	c->sw.mac_count = 16;
	c->sw.descriptors = 65536; // with several lcores it may not grow
	for (uint32_t i = 0; i < b->ports; i++) {
		c->port[i].mtu = random_one_in(b->rng, 4) ? MTU / 2 : MTU;
		c->port[i].lcore = i % b->lcores;
		c->port[i].role = i < FABRIC_PORTS ? CONFIG_ROLE_FABRIC : CONFIG_ROLE_EDGE;
	}
	for (uint32_t i = 1; i < VLANS; i++)
		add_vlan(b, c, vlan[i], whole);
	if (!random_one_in(b->rng, 4))
		add_lanes(b, c);
	if (random_one_in(b->rng, 3))
		c->sw.forwarding = CONFIG_FORWARDING_MANAGED;
	return c;
}

static uint64_t fabric_mac(uint32_t i)
{
	return frame_host_mac(FABRIC_MAC + i);
}

static void add_next_hops(struct bench *b, struct sw_config *c)
{
	for (uint32_t i = 0; i < 4 * GROUPS; i++) {
		const uint32_t kind = rng_below(b->rng, 3);
		const uint32_t port = rng_below(b->rng, b->ports);
		struct next_hop_config *row = setup_next_hop(c, groups[i % GROUPS], port,
							     kind == 0 ? 0 : 0x02bb00000000);

		row->weight = 1 + rng_below(b->rng, 255);
		row->bank = rng_below(b->rng, 2);
		if (random_one_in(b->rng, 3))
			row->vlan = vlan[rng_below(b->rng, VLANS)];
		if (kind == 2) {
			row->mac = CONFIG_UNSET;
			row->address = setup_ipv4(network[0] + 200 + i, 32);
		}
	}
}

static void add_rows(struct bench *b, struct sw_config *c)
{
	struct route_config *ipv6 = setup_add_row(c, "route");

	ipv6->prefix.family = IP_V6;
	setup_name(ipv6->via, "g0");
	for (uint32_t i = 0; i < VLANS; i++)
		setup_interface(c, vlan[i], network[i] + 0xfffe, 16);
	for (uint32_t i = 0; i < HOSTS / 2; i++)
		setup_neighbor(c, vlan[i % VLANS], network[i % VLANS] + i + 1, frame_host_mac(i));
	add_next_hops(b, c);
	setup_route(c, 0, 0, "g0");
	setup_route(c, 0x0b000000, 8, "g1");
	setup_route(c, 0x0c000000, 8, "drop");
	c->sw.edge_number = 0;
	for (uint32_t i = 1; i < EDGES - 1; i++)
		setup_edge(c, (uint16_t)i, groups[i % GROUPS]);
	for (uint32_t i = 0; i < HOSTS; i++)
		setup_fabric_host(c, fabric_mac(i), 0x0d000000 + i, (uint16_t)(i % EDGES),
				  rng_below(b->rng, b->ports));
}

static void add_turns(struct bench *b, struct sw_config *c)
{
	const uint32_t lanes = c->sw.lanes == 0 ? 1 : (uint32_t)__builtin_popcountll(c->sw.lanes);

	for (uint32_t i = 0; i < b->ports * b->ports; i++) {
		const uint32_t in = i / b->ports;
		const uint32_t out = i % b->ports;

		if (in != out && !random_one_in(b->rng, 5))
			setup_turn(c, in, out, rng_below(b->rng, lanes), rng_below(b->rng, lanes));
	}
}

// --- frames -------------------------------------------------------------------------------------

static uint32_t random_address(struct bench *b)
{
	const uint32_t net = network[rng_below(b->rng, VLANS)];

	switch (rng_below(b->rng, 4)) {
	case 0: return elsewhere[rng_below(b->rng, TABLE_COUNT(elsewhere))];
	case 1: return 0x0d000000 + rng_below(b->rng, HOSTS);
	default: return net + 1 + rng_below(b->rng, HOSTS);
	}
}

static uint64_t random_mac(struct bench *b)
{
	switch (rng_below(b->rng, 8)) {
	case 0: return 0xffffffffffff;
	case 1:
	case 2: return fabric_mac(rng_below(b->rng, HOSTS));
	case 3: return frame_host_mac(rng_below(b->rng, HOSTS));
	default: return router_mac;
	}
}

static struct frame random_frame(struct bench *b, uint32_t from)
{
	static const enum frame_kind kinds[] = { FRAME_ROCE,  FRAME_ROCE,        FRAME_ROCE,
						 FRAME_UDP,   FRAME_TCP,         FRAME_ARP_REPLY,
						 FRAME_PLAIN, FRAME_ARP_REQUEST, FRAME_ROCE_V1 };
	struct frame f = rig_frame(from, 0, 0, 0);

	f.kind = kinds[rng_below(b->rng, TABLE_COUNT(kinds))];
	f.dst = random_mac(b);
	f.dst_ip = random_address(b);
	f.src_ip = random_address(b);
	f.len = 60 + rng_below(b->rng, MTU);
	f.ipv6 = random_one_in(b->rng, 4);
	f.dscp = (uint8_t)(random_one_in(b->rng, 3) ? rng_below(b->rng, 64) :
						      3 + rng_below(b->rng, 2));
	f.ecn = (uint8_t)rng_below(b->rng, 4);
	f.qp = rng_below(b->rng, 100);
	f.ethertype = 0x88b5;
	f.opcode = random_one_in(b->rng, 10) ? 0x81 : 0x07;
	f.tag_count = (uint8_t)(random_one_in(b->rng, 2) ? 1 + random_one_in(b->rng, 8) : 0);
	f.tag[0].tci = (uint16_t)(rng_below(b->rng, 8) << 13);
	f.tag[0].tci |= vlan[rng_below(b->rng, VLANS)];
	return f;
}

// The tag of a link with lanes in front of a frame.
static struct pkt *with_lane(struct bench *b, struct pkt *p)
{
	struct pkt *tagged = rig_alloc(b->rig, p->len + TAG_BYTES);
	const uint16_t pcp = (uint16_t)(3 + rng_below(b->rng, 2));

	memcpy(tagged->data, p->data, 12);
	memcpy(tagged->data + 16, p->data + 12, p->len - 12);
	store_be16(tagged->data + 12, 0x8100);
	store_be16(tagged->data + 14, (uint16_t)(pcp << 13 | rng_below(b->rng, 3)));
	rig_free(b->rig, p);
	return tagged;
}

// Wrong bytes, a short frame, or headers that are not all in the first segment.
static void break_frame(struct bench *b, struct pkt *p)
{
	switch (rng_below(b->rng, 24)) {
	case 0: p->data[rng_below(b->rng, p->len)] = (uint8_t)rng_next32(b->rng); return;
	case 1:
		p->len = rng_below(b->rng, 60);
		p->head_len = (uint16_t)p->len;
		return;
	case 2: p->head_len = (uint16_t)rng_below(b->rng, p->len); return;
	case 3: p->data[14 + 8 + 4 * rng_below(b->rng, 3)] = (uint8_t)rng_below(b->rng, 3); return;
	default: return;
	}
}

static struct pkt *random_packet(struct bench *b, uint32_t port)
{
	struct frame f = random_frame(b, port);
	struct pkt *p = rig_build(b->rig, &f);

	if (b->rig->pf->port[port].lane_tag && !random_one_in(b->rng, 16))
		p = with_lane(b, p);
	break_frame(b, p);
	return p;
}

static void send_burst(struct bench *b, uint32_t port)
{
	struct pkt *pkts[SW_BURST_MAX];
	const uint32_t count = 1 + rng_below(b->rng, random_one_in(b->rng, 4) ? SW_BURST_MAX : 8);

	if (!sw_link_up(b->rig->sw, port_of(port)))
		return;
	for (uint32_t i = 0; i < count; i++)
		pkts[i] = random_packet(b, port);
	rig_rx(b->rig, port, pkts, count);
}

// Own frames, or such as a shell that was asked may give back.
static void inject(struct bench *b, uint32_t port)
{
	struct frame f = random_frame(b, port);
	struct pkt *p = rig_build(b->rig, &f);
	const bool own = random_one_in(b->rng, 2);

	if (!own)
		p->lane = (uint8_t)rng_below(b->rng, LANE_MAX);
	sw_inject(b->rig->sw, p, own ? PORT_NONE : port_of(port), vlan[rng_below(b->rng, VLANS)],
		  b->rig->now);
	rig_drain(b->rig);
}

// --- what leaves --------------------------------------------------------------------------------

static void check_sent(struct bench *b, uint32_t port, const struct pkt *p)
{
	const uint8_t *at = p->data + 12;

	if (b->rig->pf->port[port].lane_tag) {
		cr_assert_eq(load_be16(at), 0x8100);
		cr_assert_lt(load_be16(at + 2) & 0xfff, LANES_IN_TAG);
		at += TAG_BYTES;
	}
	if (!(p->flags & PKT_ROUTED))
		return;
	cr_assert_eq(load_be48(p->data + 6), router_mac);
	if (load_be16(at) == 0x8100)
		at += TAG_BYTES;
	cr_assert(load_be16(at) == (p->l3 == PKT_L3_IPV4 ? 0x0800 : 0x86dd));
}

static void take_burst(struct bench *b, uint32_t port)
{
	struct pkt *pkts[SW_BURST_MAX];
	uint32_t count;

	sw_take(b->rig->sw, b->rig->pf->port[port].lcore, b->rig->now);
	rig_drain(b->rig);
	count = sw_tx(b->rig->sw, port_of(port), pkts, 1 + rng_below(b->rng, SW_BURST_MAX),
		      b->rig->now);
	rig_drain(b->rig);
	for (uint32_t i = 0; i < count; i++) {
		check_sent(b, port, pkts[i]);
		rig_free(b->rig, pkts[i]);
	}
}

// --- changes ------------------------------------------------------------------------------------

static void change_profile(struct bench *b)
{
	memcpy(b->rig->config, b->config[rng_below(b->rng, PROFILES)], sizeof(*b->rig->config));
	cr_assert_eq(rig_reload(b->rig), 0);
}

static void retry(struct bench *b)
{
	for (uint8_t i = 0; i < b->lcores; i++)
		sw_retry_held(b->rig->sw, (lcore_t){ i }, b->rig->now);
	rig_drain(b->rig);
}

static void change_neighbor(struct bench *b)
{
	const uint32_t net = rng_below(b->rng, VLANS);
	const uint32_t host = rng_below(b->rng, HOSTS);
	const struct ip_prefix address = setup_ipv4(network[net] + 1 + host, 32);

	if (random_one_in(b->rng, 4))
		tables_neighbor_delete(b->rig->tables, &address);
	else
		tables_neighbor_set(b->rig->tables, &address, vlan[rng_below(b->rng, VLANS)],
				    frame_host_mac(rng_below(b->rng, HOSTS)));
}

static void change_next_hop(struct bench *b)
{
	const uint32_t next_hop = rng_below(b->rng, 4 * GROUPS + 1);
	const port_t port = random_one_in(b->rng, 3) ? PORT_NONE :
						       port_of(rng_below(b->rng, b->ports));

	tables_next_hop_set(b->rig->tables, next_hop, port,
			    port.v == PORT_NONE.v ? 0 : 0x02bb00000000 + rng_below(b->rng, 3));
}

static void change_edge(struct bench *b)
{
	const uint32_t group = rng_below(b->rng, GROUPS + 2);

	tables_edge_set(b->rig->tables, (uint16_t)rng_below(b->rng, EDGES + 1),
			group == GROUPS ? GROUP_NONE : (uint16_t)group);
}

static void change_mac(struct bench *b, uint32_t port)
{
	const uint64_t mac = frame_host_mac(rng_below(b->rng, HOSTS));
	const uint16_t vid = vlan[rng_below(b->rng, VLANS)];

	if (random_one_in(b->rng, 3)) {
		for (uint8_t i = 0; i < b->lcores; i++)
			sw_mac_delete(b->rig->sw, (lcore_t){ i }, mac, vid);
	} else {
		rig_mac_set(b->rig, mac, vid, port_of(port));
		rig_drain(b->rig);
	}
}

static void random_step(struct bench *b)
{
	const uint32_t port = rng_below(b->rng, b->ports);

	switch (rng_below(b->rng, 32)) {
	case 0: rig_link(b->rig, port, random_one_in(b->rng, 2)); return;
	case 1: change_profile(b); return;
	case 2: sw_set_tables(b->rig->sw, random_one_in(b->rng, 4) ? NULL : b->rig->tables); return;
	case 3:
	case 4: change_neighbor(b); return;
	case 5: change_next_hop(b); return;
	case 6: change_edge(b); return;
	case 7: tables_quiesce(b->rig->tables); return;
	case 8: retry(b); return;
	case 9: change_mac(b, port); return;
	case 10:
	case 11: inject(b, port); return;
	case 12: rig_send_pfc(b->rig, port, (uint8_t)rng_next32(b->rng), 0xff); return;
	case 13:
	case 14: rig_advance(b->rig, random_between(b->rng, 0, 1000000)); return;
	case 15: b->rig->answer_solicit = !b->rig->answer_solicit; return;
	case 16:
	case 17:
	case 18:
	case 19:
	case 20:
	case 21: take_burst(b, port); return;
	default: send_burst(b, port); return;
	}
}

static void check_counters(const struct bench *b)
{
	for (uint32_t port = 0; port < b->ports; port++) {
		struct port_stats st = rig_port(b->rig, port);
		uint64_t sum[2] = { 0 };

		for (uint32_t r = 1; r < DROP_REASON_COUNT; r++)
			sum[drop_infos[r].side] += rig_drops(b->rig, port, (enum drop_reason)r);
		cr_assert_eq(sum[DROP_SIDE_IN], st.in_dropped_pkts);
		cr_assert_eq(sum[DROP_SIDE_OUT], st.out_dropped_pkts);
	}
}

static uint64_t drops(const struct bench *b, enum drop_reason reason)
{
	uint64_t sum = 0;

	for (uint32_t port = 0; port < b->ports; port++)
		sum += rig_drops(b->rig, port, reason);
	return sum;
}

static void drain(struct bench *b)
{
	cr_assert(rig_run_dry(b->rig, 100000));
}

SEED_TEST(prop, core_tables, rng, 40)
{
	struct bench b = { .rng = rng };

	b.ports = PORTS_MIN + rng_below(rng, PORTS_MAX - PORTS_MIN + 1);
	b.lcores = random_one_in(rng, 3) ? 2 : 1;
	for (uint32_t i = 0; i < PROFILES; i++)
		b.config[i] = random_profile(&b, i == 0);
	add_rows(&b, b.config[0]);
	if (!random_one_in(rng, 4))
		add_turns(&b, b.config[0]);
	b.rig = rig_new(memcpy(setup_blank(), b.config[0], sizeof(*b.config[0])));
	for (uint32_t step = 0; step < STEPS; step++) {
		random_step(&b);
		cr_assert(sw_conserved(b.rig->sw), "step %u", step);
		rig_advance(b.rig, 0);
		cr_assert(sw_conserved(b.rig->sw), "step %u", step);
		check_counters(&b);
	}
	drain(&b);
	cr_assert_gt(rig_switch(b.rig).routed_packets + drops(&b, DROP_TURN_DENIED) +
			     drops(&b, DROP_NOT_ROUTABLE),
		     0);
	rig_end(b.rig);
	for (uint32_t i = 0; i < PROFILES; i++)
		free(b.config[i]);
}
