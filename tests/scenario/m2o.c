// SPDX-License-Identifier: BSD-3-Clause
//
// Many to one: over-subscription lossless, mixed and lossy, fluctuating senders, a slow receiver
// and hosts that ignore PFC on held ports. Hosts and switch at 10 Gb/s, 50 m of cable (250 ns).
//
// Where nothing may be lost, the run must also have used what prevents it: XOFF and headroom.

#include "tests/rig/net.h"
#include "tests/rig/oracle.h"
#include "tests/table.h"

enum {
	SENDERS = 3,
	SINK = SENDERS, // port and host
	LEN = 1226,     // 1250 bytes of wire: 1 us
	DELAY_NS = 250,
};

#define MS 1000000ull
#define LINE_BPS 10000000000u

// A small pool, so that XOFF comes within the first millisecond.
static struct sw_config *small_pool(void)
{
	struct sw_config *c = setup_kvm(SENDERS + 1);

	for (uint32_t i = 0; i < c->port_count; i++)
		c->port[i].speed = LINE_BPS;
	setup_find_pool(c, KVM_INGRESS_POOL)->size = 600000;
	setup_find_pool(c, KVM_LOSSY_POOL)->size = 300000;
	return c;
}

struct star {
	struct net *net;
	uint32_t sw;
	uint32_t host[SENDERS + 1];
};

static struct star star_new(struct sw_config *config, const struct host_config *hosts)
{
	struct star star = { .net = net_new() };

	star.sw = net_add_switch(star.net, rig_new(config));
	for (uint32_t i = 0; i <= SENDERS; i++) {
		star.host[i] = net_add_host(star.net, &hosts[i]);
		net_join(star.net, star.host[i], 0, star.sw, i, LINE_BPS, DELAY_NS);
	}
	return star;
}

static void hosts_init(struct host_config *hosts)
{
	for (uint32_t i = 0; i <= SENDERS; i++)
		host_config_init(&hosts[i], i);
}

static struct host_prio_stats stats_of(const struct star *star, uint32_t host, uint32_t prio)
{
	return net_host_stats(star->net, star->host[host]).prio[prio];
}

static uint64_t sent_by_all(const struct star *star, uint32_t prio)
{
	uint64_t sent = 0;

	for (uint32_t i = 0; i < SENDERS; i++)
		sent += stats_of(star, i, prio).tx_packets;
	return sent;
}

// Every sender was paused and headroom was used, yet nothing was lost or reordered.
static void check_lossless(const struct star *star, uint32_t prio)
{
	const struct rig *rig = net_rig(star->net, star->sw);

	for (uint32_t i = 0; i < SENDERS; i++) {
		if (stats_of(star, i, prio).tx_packets == 0)
			continue;
		cr_assert_gt(rig_pg(rig, i, prio).xoff_events, 0, "port %u", i);
		cr_assert_gt(rig_pg(rig, i, prio).xon_events, 0, "port %u", i);
		cr_assert_gt(rig_pg(rig, i, prio).xoff_room_watermark_bytes, 0, "port %u", i);
		cr_assert_eq(rig_pg(rig, i, prio).dropped_packets, 0);
		cr_assert_gt(stats_of(star, i, prio).paused_ns, 0);
	}
	cr_assert_eq(stats_of(star, SINK, prio).rx_lost, 0);
	cr_assert_eq(stats_of(star, SINK, prio).rx_reordered, 0);
	cr_assert_eq(rig_queue(rig, SINK, prio).dropped_packets, 0);
}

// Stops all flows at once and lets everything arrive.
static void finish(struct star *star, uint64_t at)
{
	for (uint32_t i = 0; i <= SENDERS; i++) {
		struct host_config *host = net_host_config(star->net, star->host[i]);

		for (uint32_t f = 0; f < host->flow_count; f++)
			host->flow[f].stop = (ns_t){ at };
	}
	net_run(star->net, at + 200 * MS);
}

Test(scenario, m2o_oversubscribe_lossless)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;
	uint64_t received;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++)
		host_add_flow(&hosts[i], SINK, 3, LEN);
	star = star_new(small_pool(), hosts);
	net_watch(star.net);
	net_run(star.net, 5 * MS);

	// The sink's line is full: a frame each microsecond but for the first one on its way, which
	// takes 1 us to the switch, 1 us from it, and 250 ns each way.
	received = stats_of(&star, SINK, 3).rx_packets;
	cr_assert_geq(received, 4997);
	cr_assert_leq(received, 4998);
	for (uint32_t i = 0; i < SENDERS; i++) {
		uint64_t sent = stats_of(&star, i, 3).tx_packets;

		cr_assert_geq(sent * 100, 5000 / 3 * 90, "host %u: %lu", i, sent);
		cr_assert_leq(sent * 100, 5000 / 3 * 115 + 16000, "host %u: %lu", i, sent);
		cr_assert_eq(rig_prio(net_rig(star.net, star.sw), i, 4).pfc_tx_pkts, 0);
	}
	check_lossless(&star, 3);
	finish(&star, 5 * MS);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, sent_by_all(&star, 3));
	cr_assert_eq(rig_all_drops(net_rig(star.net, star.sw)), 0);
	net_end(star.net);
}

// Both lossless priorities at once, under equal load: 50:50 by DWRR, no loss on either.
Test(scenario, m2o_two_lossless_priorities)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++) {
		host_add_flow(&hosts[i], SINK, 3, LEN);
		host_add_flow(&hosts[i], SINK, 4, LEN);
	}
	star = star_new(small_pool(), hosts);
	net_run(star.net, 10 * MS);
	cr_assert_geq(stats_of(&star, SINK, 3).rx_packets * 100, 5000 * 95);
	cr_assert_geq(stats_of(&star, SINK, 4).rx_packets * 100, 5000 * 95);
	finish(&star, 10 * MS);
	check_lossless(&star, 3);
	check_lossless(&star, 4);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, sent_by_all(&star, 3));
	cr_assert_eq(stats_of(&star, SINK, 4).rx_packets, sent_by_all(&star, 4));
	net_end(star.net);
}

// Lossless and lossy together: the lossless half loses nothing, the lossy half drops at egress.
Test(scenario, m2o_oversubscribe_lossless_lossy)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;
	struct rig *rig;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++) {
		host_add_flow(&hosts[i], SINK, 3, LEN);
		host_add_flow(&hosts[i], SINK, 0, LEN);
	}
	star = star_new(small_pool(), hosts);
	rig = net_rig(star.net, star.sw);
	net_run(star.net, 10 * MS);
	cr_assert_geq(stats_of(&star, SINK, 3).rx_packets * 100, 5000 * 95);
	cr_assert_geq(stats_of(&star, SINK, 0).rx_packets * 100, 5000 * 95);
	finish(&star, 10 * MS);
	check_lossless(&star, 3);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, sent_by_all(&star, 3));
	cr_assert_gt(stats_of(&star, SINK, 0).rx_lost, 0);
	cr_assert_eq(stats_of(&star, SINK, 0).rx_packets + rig_all_drops(rig),
		     sent_by_all(&star, 0));
	for (uint32_t i = 0; i < SENDERS; i++)
		cr_assert_eq(rig_prio(rig, i, 0).pfc_tx_pkts, 0);
	net_end(star.net);
}

Test(scenario, m2o_oversubscribe_lossy)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;
	struct rig *rig;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++)
		host_add_flow(&hosts[i], SINK, 0, LEN);
	star = star_new(small_pool(), hosts);
	rig = net_rig(star.net, star.sw);
	net_run(star.net, 5 * MS);
	cr_assert_eq(sent_by_all(&star, 0), 3 * 5001); // nobody is slowed down
	cr_assert_geq(stats_of(&star, SINK, 0).rx_packets, 4997);
	finish(&star, 5 * MS);
	cr_assert_eq(rig_drops(rig, SINK, DROP_QUEUE_FULL), rig_all_drops(rig));
	cr_assert_eq(stats_of(&star, SINK, 0).rx_packets + rig_all_drops(rig), 3 * 5001);
	for (uint32_t i = 0; i < SENDERS; i++)
		cr_assert_eq(rig->pfc[i].count, 0);
	net_end(star.net);
}

// Senders come and go every 200 us: XOFF and XON follow, nothing is lost, everything arrives.
Test(scenario, m2o_fluctuating)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;
	uint64_t transitions = 0;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++) {
		for (uint32_t k = 0; k < 10; k++) {
			struct host_flow_config *flow = host_add_flow(&hosts[i], SINK, 3, LEN);

			flow->start = (ns_t){ 500000 * k + 100000 * i };
			flow->stop = (ns_t){ flow->start.v + 300000 };
		}
	}
	star = star_new(small_pool(), hosts);
	net_watch(star.net);
	cr_assert(net_run_dry(star.net, 100 * MS));
	check_lossless(&star, 3);
	for (uint32_t i = 0; i < SENDERS; i++)
		transitions += rig_pg(net_rig(star.net, star.sw), i, 3).xoff_events;
	cr_assert_geq(transitions, 20);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, sent_by_all(&star, 3));
	net_end(star.net);
}

// One sender, a receiver that takes 4 Gb/s and pauses the switch, which pauses the sender: nothing
// is lost end to end and the rate is the receiver's.
Test(scenario, m2o_slow_receiver)
{
	struct host_config hosts[SENDERS + 1];
	struct star star;
	struct rig *rig;

	hosts_init(hosts);
	host_add_flow(&hosts[0], SINK, 3, LEN);
	hosts[SINK].receiver = (struct host_receiver_config){
		.bps = 4000000000,
		.buffer_bytes = 200000,
		.xoff_bytes = 100000,
		.xon_bytes = 50000,
		.enable = 1 << 3,
		.quanta = 65535,
	};
	star = star_new(small_pool(), hosts);
	rig = net_rig(star.net, star.sw);
	net_run(star.net, 10 * MS);
	// 4 Gb/s for 10 ms are 5 MB, and the buffer starts empty.
	cr_assert_geq(stats_of(&star, SINK, 3).rx_bytes, 5000000);
	cr_assert_leq(stats_of(&star, SINK, 3).rx_bytes, 5000000 + 150000);
	cr_assert_gt(rig_prio(rig, SINK, 3).pfc_rx_pkts, 0);
	cr_assert_gt(rig_prio(rig, SINK, 3).rx_pause_transitions, 5);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_overflow, 0);
	finish(&star, 10 * MS);
	check_lossless(&star, 3);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, sent_by_all(&star, 3));
	cr_assert_eq(rig_all_drops(rig), 0);
	net_end(star.net);
}

// Hosts that ignore PFC on ports that hold: no frame is sent to them, their rings fill instead, and
// headroom is the one frame that was being received.
Test(scenario, m2o_hold_ports)
{
	struct sw_config *c = small_pool();
	struct host_config hosts[SENDERS + 1];
	struct star star;
	struct rig *rig;

	hosts_init(hosts);
	for (uint32_t i = 0; i < SENDERS; i++) {
		host_add_flow(&hosts[i], SINK, 3, LEN)->frames = 2000;
		hosts[i].obey = 0;
		c->port[i].pause = CONFIG_PAUSE_HOLD;
	}
	star = star_new(c, hosts);
	rig = net_rig(star.net, star.sw);
	net_watch(star.net);
	cr_assert(net_run_dry(star.net, 100 * MS));
	for (uint32_t i = 0; i < SENDERS; i++) {
		cr_assert_eq(rig->pfc[i].count, 0);
		cr_assert_gt(rig_pg(rig, i, 3).xoff_events, 0);
		cr_assert_eq(rig_pg(rig, i, 3).xoff_room_watermark_bytes, LEN);
		cr_assert_gt(net_ring_watermark(star.net, star.sw, i), 100);
	}
	cr_assert_eq(stats_of(&star, SINK, 3).rx_packets, 3 * 2000);
	cr_assert_eq(stats_of(&star, SINK, 3).rx_lost, 0);
	cr_assert_eq(rig_all_drops(rig), 0);
	net_end(star.net);
}
