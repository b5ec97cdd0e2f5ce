// SPDX-License-Identifier: BSD-3-Clause
//
// PFC deadlock and what prevents it: four switches in a ring, every host sends to every other one
// clockwise. On one lossless priority the buffers wait for each other in a circle; on two lanes
// with a dateline they cannot.
//
// All on lines of 10 Gb/s. A clockwise link carries six of the twelve flows, twice its rate.

#include "tests/rig/ring.h"
#include "tests/table.h"

enum {
	SWITCHES = 4,
	LEN = 1226, // 1250 bytes of wire: 1 us
	FRAMES = 1500,
	POOL_BYTES = 400000,
	LANE0 = 3,
	LANE1 = 4,
};

#define MS 1000000ull

// Each link carries six flows of 1500 us: 9 ms, and what congestion costs. Watchdogs poll for ever,
// so a net with them is never dry.
#define LONG_ENOUGH (40 * MS)

static void all_to_all(struct host_config *hosts, uint8_t prio)
{
	for (uint32_t i = 0; i < SWITCHES; i++)
		host_config_init(&hosts[i], i);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		for (uint32_t hop = 1; hop < SWITCHES; hop++)
			ring_flow(hosts, i, (i + hop) % SWITCHES, prio, LEN, FRAMES);
	}
}

static struct sw_config *clockwise_switch(uint32_t i, bool lanes)
{
	struct sw_config *c = ring_switch(i, SWITCHES, lanes, POOL_BYTES);

	for (uint32_t to = 0; to < SWITCHES; to++) {
		if (to != i)
			ring_route(c, to, 1u << RING_NEXT);
	}
	setup_pfc_wd(c, "all", WATCHDOG_ALERT)->detection_time = 100 * MS;
	c->sw.pfc_wd_poll_interval = 100 * MS;
	return c;
}

static struct ring clockwise(bool lanes, uint8_t prio)
{
	struct sw_config *switches[SWITCHES];
	struct host_config hosts[SWITCHES];

	for (uint32_t i = 0; i < SWITCHES; i++)
		switches[i] = clockwise_switch(i, lanes);
	all_to_all(hosts, prio);
	return ring_new(switches, hosts, SWITCHES);
}

static uint64_t storms(const struct ring *ring)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SWITCHES; i++)
		sum += net_rig(ring->net, ring->sw[i])->storms;
	return sum;
}

Test(ring, one_priority_deadlocks_and_the_watchdog_says_so)
{
	struct ring ring = clockwise(false, LANE0);
	uint64_t received;

	net_run(ring.net, 50 * MS);
	received = ring_received(&ring, LANE0);
	cr_assert_gt(received, 0);
	cr_assert_eq(storms(&ring), 0);
	net_run(ring.net, 450 * MS);
	cr_assert_eq(ring_received(&ring, LANE0), received); // nothing has moved
	cr_assert_lt(received, SWITCHES * (SWITCHES - 1) * FRAMES);
	cr_assert_eq(ring_all_drops(&ring), 0);
	// The queue towards the next switch, on each of the four.
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_assert_geq(net_rig(ring.net, ring.sw[i])->storms, 1, "switch %u", i);
	net_end(ring.net);
}

Test(ring, two_lanes_run_to_the_end_without_loss)
{
	struct ring ring = clockwise(true, LANE0);
	const uint64_t all = SWITCHES * (SWITCHES - 1) * FRAMES;

	net_watch(ring.net);
	net_run(ring.net, LONG_ENOUGH);
	cr_assert_eq(ring_sent(&ring, LANE0), all);
	cr_assert_eq(ring_received(&ring, LANE0), all);
	cr_assert_eq(ring_all_drops(&ring), 0);
	cr_assert_eq(storms(&ring), 0);
	// Both lanes were congested, each on its own priority.
	cr_assert_gt(ring_xoffs(&ring, LANE0), 0);
	cr_assert_gt(ring_xoffs(&ring, LANE1), 0);
	cr_assert_gt(ring_headroom(&ring, LANE0), 0);
	cr_assert_gt(ring_headroom(&ring, LANE1), 0);
	for (uint32_t i = 0; i < SWITCHES; i++)
		cr_assert_eq(net_host_stats(ring.net, ring.host[i]).prio[LANE0].rx_reordered, 0);
	net_end(ring.net);
}

Test(ring, hosts_see_the_first_lane_only)
{
	struct ring ring = clockwise(true, LANE0);

	net_run(ring.net, LONG_ENOUGH);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		const struct rig *rig = net_rig(ring.net, ring.sw[i]);

		cr_assert_gt(rig->pfc[RING_HOST].xoff[LANE0], 0);
		cr_assert_eq(rig->pfc[RING_HOST].xoff[LANE1], 0);
		cr_assert_eq(rig_queue(rig, RING_HOST, LANE1).packets, 0);
	}
	net_end(ring.net);
}

// A host that marks its packets as the second lane's class enters on the first all the same.
Test(ring, a_host_cannot_enter_another_lane)
{
	struct ring ring = clockwise(true, LANE1);

	net_run(ring.net, 1 * MS);
	for (uint32_t i = 0; i < SWITCHES; i++) {
		const struct rig *rig = net_rig(ring.net, ring.sw[i]);

		cr_assert_gt(rig_pg(rig, RING_HOST, LANE0).packets, 0);
		cr_assert_eq(rig_pg(rig, RING_HOST, LANE1).packets, 0);
	}
	net_end(ring.net);
}
