// SPDX-License-Identifier: BSD-3-Clause
//
// Which senders are told why their packets were not routed, how many of them, and what of the
// packet is still as it was received then. Two VLANs with a host each, one behind a port with a
// small MTU, and a router; the host in VLAN 20 is at first unknown.
//
// The packet is dropped and counted in any case (rig_end() checks conservation and that nothing
// stays charged, of lossless groups neither).

#include "base/bytes.h"
#include "tests/rig/rig.h"
#include "tests/table.h"

enum {
	PORTS = 4,
	HOST = 0,  // VLAN 10
	SMALL = 1, // VLAN 20, a small MTU
	ROUTER = 2,
	BRIDGED = 3, // VLAN 10, a small MTU
	VLAN_A = 10,
	VLAN_B = 20,
	SMALL_MTU = 1500,
	TTL = 64,
	IP_AT = 14,
	DONT_FRAGMENT = 0x40,
	LOSSY = 0,
	LOSSLESS = 3,
	TELL_BURST = 16, // of the core, whatever the rate
	SECOND = 1000000000,
};

static const uint64_t router_mac = 0x02aa00000001;
static const uint32_t net_a = 0x0a0a0000;
static const uint32_t net_b = 0x0a140000;
static const uint32_t known = net_b + 10; // behind SMALL
static const uint32_t unknown = net_b + 99;

static struct sw_config *config(uint64_t rate)
{
	struct sw_config *c = setup_kvm(PORTS);

	c->sw.router_mac = router_mac;
	c->sw.icmp_rate = rate;
	c->port[SMALL].mtu = SMALL_MTU;
	c->port[BRIDGED].mtu = SMALL_MTU;
	setup_vlan(c, VLAN_A, "Ethernet0 Ethernet12", "");
	setup_vlan(c, VLAN_B, "Ethernet4", "");
	setup_interface(c, VLAN_A, net_a + 1, 24);
	setup_interface(c, VLAN_B, net_b + 1, 24);
	setup_neighbor(c, VLAN_B, known, frame_host_mac(SMALL));
	setup_next_hop(c, "far", ROUTER, 0x02bb00000000);
	setup_route(c, 0x0b000000, 8, "far");
	setup_route(c, 0x0c000000, 8, "drop");
	return c;
}

static struct frame to_router(uint32_t to_ip, uint8_t dscp, uint32_t len)
{
	struct frame f = rig_frame(HOST, 0, dscp, len);

	f.dst = router_mac;
	f.src_ip = net_a + 10;
	f.dst_ip = to_ip;
	return f;
}

enum edit { PLAIN, LAST_HOP, DF, ROUTER_DOWN };

static const struct {
	const char *what;
	uint32_t to;
	enum edit edit;
	uint32_t len;
	enum drop_reason reason; // DROP_NONE: it leaves
	bool told;
} rows[] = {
	{ "what arrives", known, PLAIN, 256, DROP_NONE, false },
	{ "no hop left", known, LAST_HOP, 256, DROP_TTL_EXPIRED, true },
	{ "no route", 0x0d000001, PLAIN, 256, DROP_NO_ROUTE, true },
	{ "a route that says drop", 0x0c000001, PLAIN, 256, DROP_BLACK_HOLE, false },
	{ "no next hop", 0x0b000001, ROUTER_DOWN, 256, DROP_GROUP_DEAD, true },
	{ "a group", 0xe0000001, PLAIN, 256, DROP_NO_ROUTE, true }, // the builder is silent
	{ "as long as can be", known, DF, SMALL_MTU + 14, DROP_NONE, false },
	{ "a byte longer", known, DF, SMALL_MTU + 15, DROP_EXCEEDS_L3_MTU, true },
	{ "a byte longer, may be fragmented", known, PLAIN, SMALL_MTU + 15, DROP_EXCEEDS_L3_MTU,
	  false },
};

static struct pkt *build(struct rig *rig, const struct frame *f, enum edit edit)
{
	struct pkt *p = rig_build(rig, f);

	if (edit == LAST_HOP)
		p->data[IP_AT + 8] = 1;
	p->data[IP_AT + 6] = edit == DF ? DONT_FRAGMENT : 0;
	return p;
}

TABLE_TEST(route_tell, told, row, rows)
{
	for (uint32_t dscp = LOSSY; dscp <= LOSSLESS; dscp += LOSSLESS - LOSSY) {
		struct rig *rig = rig_new(config(100));
		struct frame f = to_router(row->to, (uint8_t)dscp, row->len);
		struct pkt *p = build(rig, &f, row->edit);

		if (row->edit == ROUTER_DOWN)
			rig_link(rig, ROUTER, false);
		rig_rx(rig, HOST, &p, 1);
		cr_assert_eq(rig->tells, row->told, "%s", row->what);
		cr_assert_eq(rig_all_drops(rig), row->reason != DROP_NONE, "%s", row->what);
		cr_assert_eq(rig_release(rig, SMALL, 1), row->reason == DROP_NONE);
		if (row->reason != DROP_NONE)
			cr_assert_eq(rig_drops(rig, HOST, row->reason), 1, "%s", row->what);
		if (row->told) {
			cr_assert_eq(rig->last.kind, SW_ACTION_TELL);
			cr_assert_eq(rig->last.reason, row->reason);
			cr_assert_eq(rig->last.port.v, HOST);
			cr_assert_eq(rig->last.vid, VLAN_A);
			cr_assert_eq(rig->last.mtu,
				     row->reason == DROP_EXCEEDS_L3_MTU ? SMALL_MTU : 0);
		}
		rig_end(rig);
	}
}

// IPv6 is never fragmented on the way.
Test(route_tell, ipv6_too_long)
{
	struct sw_config *c = config(100);
	struct interface_config *gateway = setup_add_row(c, "interface");
	struct route_config *route = setup_add_row(c, "route");
	struct rig *rig;
	struct frame f = to_router(known, LOSSY, SMALL_MTU + 15);

	gateway->vlan = VLAN_A;
	setup_prefix(&gateway->address, "fd00:ffff::/64");
	gateway->address.address[15] = 1;
	setup_prefix(&route->prefix, "fd00::/64");
	setup_name(route->via, "far");
	c->port[ROUTER].mtu = SMALL_MTU;
	f.ipv6 = true;
	rig = rig_new(c);
	rig_send(rig, HOST, &f);
	cr_assert_eq(rig->tells, 1);
	cr_assert_eq(rig->last.reason, DROP_EXCEEDS_L3_MTU);
	cr_assert_eq(rig->last.mtu, SMALL_MTU);
	f.len--;
	rig_send(rig, HOST, &f);
	cr_assert_eq(rig_release(rig, ROUTER, 2), 1);
	cr_assert_eq(rig->tells, 1);
	rig_end(rig);
}

// What a bridge drops no sender is told of.
Test(route_tell, bridged_frames_are_nobodys_business)
{
	struct rig *rig = rig_new(config(100));
	struct frame f = rig_frame(HOST, BRIDGED, LOSSY, SMALL_MTU + 15);

	rig_send(rig, HOST, &f);
	cr_assert_eq(rig_drops(rig, BRIDGED, DROP_EGRESS_MTU), 1);
	cr_assert_eq(rig->tells, 0);
	rig_end(rig);
}

static const struct {
	const char *what;
	uint8_t dscp;
	enum drop_reason reason;
} silent_rows[] = {
	{ "lossy", LOSSY, DROP_UNKNOWN_NEIGHBOR },
	{ "lossless", LOSSLESS, DROP_UNKNOWN_LOSSLESS },
};

// A host that does not answer: the sender is told when the wait is over, not before.
TABLE_TEST(route_tell, a_host_that_is_silent, row, silent_rows)
{
	struct rig *rig = rig_new(config(100));
	struct frame f = to_router(unknown, row->dscp, 256);

	rig->answer_solicit = false;
	rig_send_many(rig, HOST, &f, 3);
	rig_advance(rig, rig->pf->solicit_ns - 1);
	cr_assert_eq(rig->tells, 0);
	rig_advance(rig, 1);
	cr_assert_eq(rig_drops(rig, HOST, row->reason), 3, "%s", row->what);
	cr_assert_eq(rig->tells, 3);
	cr_assert_eq(rig->last.vid, VLAN_A, "it came from there");
	rig_end(rig);
}

static const struct {
	const char *what;
	uint64_t rate;
	uint64_t at_once; // of a thousand packets at one time
	uint64_t later;   // of a thousand, ten seconds later
} rate_rows[] = {
	{ "none", 0, 0, 0 },
	{ "one a second", 1, 2, TELL_BURST }, // it began a second ago
	{ "a hundred a second", 100, TELL_BURST, TELL_BURST },
	{ "more than anybody wants", 100000, TELL_BURST, TELL_BURST },
};

TABLE_TEST(route_tell, policed, row, rate_rows)
{
	struct rig *rig = rig_new(config(row->rate));
	struct frame f = to_router(0x0d000001, LOSSY, 256);

	rig_send_many(rig, HOST, &f, 1000);
	cr_assert_leq(rig->tells, row->at_once, "%s: %zu", row->what, (size_t)rig->tells);
	cr_assert_eq(rig->tells > 0, row->rate > 0, "%s", row->what);
	rig->tells = 0;
	rig_advance(rig, 100ull * SECOND);
	rig_send_many(rig, HOST, &f, 1000);
	cr_assert_eq(rig->tells, row->later, "%s: %zu", row->what, (size_t)rig->tells);
	cr_assert_eq(rig_drops(rig, HOST, DROP_NO_ROUTE), 2000);
	cr_assert_eq(rig_switch(rig).icmp_policed > 0, row->rate > 0);
	rig_end(rig);
}

// Thousands that give up together ask for no more than a bucket has.
Test(route_tell, many_that_wait_give_up_together)
{
	struct rig *rig = rig_new(config(100000));
	struct frame f = to_router(unknown, LOSSLESS, 256);

	rig->answer_solicit = false;
	rig_send_many(rig, HOST, &f, 200);
	rig_advance(rig, rig->pf->solicit_ns);
	cr_assert_eq(rig_drops(rig, HOST, DROP_UNKNOWN_LOSSLESS), 200);
	cr_assert_eq(rig->tells, TELL_BURST);
	rig_end(rig);
}

// A port of another lcore: who drops, counts and tells is the lcore of the packet's port.
Test(route_tell, across_lcores)
{
	struct sw_config *c = config(100);
	struct rig *rig;
	struct frame f = to_router(known, LOSSLESS, SMALL_MTU + 15);
	struct pkt *p;

	c->port[SMALL].lcore = 1;
	rig = rig_new(c);
	p = build(rig, &f, DF);
	rig_rx(rig, HOST, &p, 1);
	cr_assert_eq(rig->tells, 1);
	cr_assert_eq(rig->last.mtu, SMALL_MTU);
	cr_assert_eq(rig_drops(rig, HOST, DROP_EXCEEDS_L3_MTU), 1);
	f.len--;
	p = build(rig, &f, DF);
	rig_rx(rig, HOST, &p, 1);
	rig_advance(rig, 0);
	cr_assert_eq(rig_release(rig, SMALL, 2), 1);
	rig_advance(rig, 0);
	rig_end(rig);
}
