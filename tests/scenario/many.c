// SPDX-License-Identifier: BSD-3-Clause
//
// Fifty switches in one process, each a value of its own: a chain through which back-pressure must
// travel hop by hop, and a burst through all of them without a clock.

#include "tests/rig/net.h"
#include "tests/table.h"

enum {
	SWITCHES = 50,
	LEN = 1226,
};

#define LINE_BPS 10000000000u
#define MS 1000000ull

// Port 0 faces host 0's side, port 1 host 1's; every switch knows both hosts.
static struct rig *chain_rig(uint64_t pool_bytes)
{
	struct sw_config *c = setup_kvm(2);

	for (uint32_t i = 0; i < 2; i++)
		c->port[i].speed = LINE_BPS;
	c->sw.descriptors = 65536;
	c->sw.mac_count = 16;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = pool_bytes;
	return rig_new(c);
}

// A slow receiver at the end: PFC reaches the sender through fifty hops, nothing is lost, and both
// directions work at the same time.
Test(scenario, fifty_switches_back_pressure)
{
	struct net *net = net_new();
	struct host_config host[2];
	uint32_t node[2];
	uint32_t sw[SWITCHES];
	uint64_t xoffs = 0;
	struct host_stats got;

	for (uint32_t i = 0; i < 2; i++) {
		host_config_init(&host[i], i);
		host_add_flow(&host[i], 1 - i, 3, LEN)->stop = (ns_t){ 12 * MS };
	}
	host[1].receiver = (struct host_receiver_config){
		.bps = 2000000000,
		.buffer_bytes = 100000,
		.xoff_bytes = 40000,
		.xon_bytes = 20000,
		.enable = 1 << 3,
		.quanta = 65535,
	};
	for (uint32_t i = 0; i < 2; i++)
		node[i] = net_add_host(net, &host[i]);
	for (uint32_t i = 0; i < SWITCHES; i++)
		sw[i] = net_add_switch(net, chain_rig(100000));
	net_join(net, node[0], 0, sw[0], 0, LINE_BPS, 250);
	for (uint32_t i = 1; i < SWITCHES; i++)
		net_join(net, sw[i - 1], 1, sw[i], 0, LINE_BPS, 250);
	net_join(net, sw[SWITCHES - 1], 1, node[1], 0, LINE_BPS, 250);

	net_run(net, 12 * MS);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		cr_assert(sw_conserved(net_rig(net, sw[i])->sw));
		xoffs += rig_pg(net_rig(net, sw[i]), 0, 3).xoff_events > 0;
	}
	cr_assert_eq(xoffs, SWITCHES);
	got = net_host_stats(net, node[0]);
	cr_assert_gt(got.prio[3].paused_ns, 0);
	// The way back is free: all but what is in flight arrives.
	cr_assert_geq(got.prio[3].rx_packets, 11900);

	net_run(net, 200 * MS);
	for (uint32_t i = 0; i < 2; i++) {
		got = net_host_stats(net, node[i]);
		cr_assert_eq(got.prio[3].rx_packets,
			     net_host_stats(net, node[1 - i]).prio[3].tx_packets);
		cr_assert_eq(got.prio[3].rx_lost + got.prio[3].rx_reordered +
				     got.prio[3].rx_overflow,
			     0);
	}
	for (uint32_t i = 0; i < SWITCHES; i++) {
		cr_assert_eq(rig_all_drops(net_rig(net, sw[i])), 0);
		cr_assert_gt(rig_pg(net_rig(net, sw[i]), 0, 3).xoff_room_watermark_bytes, 0);
	}
	net_end(net);
}

// The next frame of a switch's far port enters the near port of the next one, if there is one.
static void pass(struct rig *rig, struct rig *next)
{
	struct pkt *p = rig_take(rig, 1);
	struct pkt *copy;

	cr_assert_not_null(p);
	rig_advance(rig, 1000);
	if (next != NULL) {
		copy = rig_alloc(next, p->len);
		memcpy(copy->data, p->data, p->len);
		rig_rx(next, 0, &copy, 1);
	}
	rig_free(rig, p);
}

// By hand, without the event loop: each switch has a clock of its own and sees exactly what passed.
Test(scenario, fifty_switches_by_hand)
{
	struct rig *rig[SWITCHES + 1] = { 0 };
	struct frame f = rig_frame(0, 1, 3, LEN);

	for (uint32_t i = 0; i < SWITCHES; i++)
		rig[i] = chain_rig(KVM_POOL_BYTES);
	for (uint32_t n = 0; n < 20; n++) {
		rig_send_many(rig[0], 0, &f, 1);
		for (uint32_t i = 0; i < SWITCHES; i++)
			pass(rig[i], rig[i + 1]);
	}
	for (uint32_t i = 0; i < SWITCHES; i++) {
		cr_assert_eq(rig_pg(rig[i], 0, 3).packets, 20);
		cr_assert_eq(rig_queue(rig[i], 1, 3).packets, 20);
		cr_assert_eq(rig_all_drops(rig[i]), 0);
		rig_end(rig[i]);
	}
}

// Learning end to end with ARP and no address known beforehand: hosts announce themselves, and the
// first lossless frame finds its way or waits for it.
Test(scenario, learning_chain)
{
	struct net *net = net_new();
	struct host_config host[2];
	uint32_t node[2];
	uint32_t sw[5];

	for (uint32_t i = 0; i < 2; i++) {
		host_config_init(&host[i], i);
		host_add_flow(&host[i], 1 - i, 3, LEN)->frames = 1000;
		node[i] = net_add_host(net, &host[i]);
	}
	for (uint32_t i = 0; i < 5; i++) {
		struct sw_config *c = setup_kvm(2);

		sw[i] = net_add_switch(net, rig_new_blank(c));
	}
	net_join(net, node[0], 0, sw[0], 0, LINE_BPS, 250);
	for (uint32_t i = 1; i < 5; i++)
		net_join(net, sw[i - 1], 1, sw[i], 0, LINE_BPS, 250);
	net_join(net, sw[4], 1, node[1], 0, LINE_BPS, 250);
	net_run(net, 10 * MS);
	for (uint32_t i = 0; i < 2; i++) {
		struct host_stats got = net_host_stats(net, node[i]);

		cr_assert_eq(got.prio[3].rx_packets, 1000);
		cr_assert_eq(got.prio[3].rx_lost + got.prio[3].rx_reordered, 0);
	}
	for (uint32_t i = 0; i < 5; i++)
		cr_assert_eq(rig_all_drops(net_rig(net, sw[i])), 0);
	net_end(net);
}
