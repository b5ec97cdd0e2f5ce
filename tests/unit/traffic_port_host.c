// SPDX-License-Identifier: BSD-3-Clause
//
// A host on a port made of rings, whose peer is played by hand: a PFC frame that is put into the
// host's receive ring while it hands over its k-th frame stops what is behind that one, and XON
// lets the rest go. The whole write would leave in one call otherwise.

#include "traffic/port_host.h"

#include <stdlib.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "base/wire.h"
#include "pfc/pfc.h"
#include "tests/table.h"
#include "tests/unit/dpdk_eal.h"

enum {
	PRIO = 3,
	DSCP = 26,
	MTU = 1024,
	FRAMES = 24, // less than a burst of the transmitter
	CALLS = 8,
	ROOM = 2048 + RTE_PKTMBUF_HEADROOM,
};
#define PEER_MAC 0x020000000002ull

static_assert(FRAMES < (int)PORT_HOST_TX_BURST);

static struct {
	struct port_host host;
	struct port_visits visits;
	struct clock clock;
	struct rte_ring *to_host;
	struct rte_ring *from_host;
	uint32_t pause_at; // with which frame the XOFF comes
	uint32_t handed;   // frames of the write
} bench;

static uint8_t data[FRAMES * MTU];

static void give_pfc(uint16_t quanta)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(bench.host.pool);
	struct pfc_frame frame = { .enable = 1 << PRIO };
	uint8_t src[6];

	cr_assert_not_null(m);
	frame.quanta[PRIO] = quanta;
	store_be48(src, PEER_MAC);
	pfc_frame_encode(&frame, src, (uint8_t *)rte_pktmbuf_append(m, (uint16_t)PFC_FRAME_BYTES));
	cr_assert_eq(rte_ring_enqueue(bench.to_host, m), 0);
}

// Each time frames are handed over, before they are on the wire.
static uint16_t on_tx(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count,
		      void *arg)
{
	const uint32_t before = bench.handed;

	for (uint16_t i = 0; i < count; i++)
		bench.handed += load_be16(rte_pktmbuf_mtod(mbufs[i], uint8_t *) + 12) ==
				RTE_ETHER_TYPE_IPV4;
	if (before < bench.pause_at && bench.handed >= bench.pause_at)
		give_pfc(UINT16_MAX);
	return count;
}

static void make_endpoint(struct port_host *host)
{
	host->profile = (struct endpoint_profile){
		.mac = 0x020000000001ull,
		.has_ipv4 = true,
		.ipv4 = { 10, 1, 0, 1 },
		.bps = 100000000000ull,
		.burst_ns = 1000000000,
		.mtu = 1500,
		.obey = 1 << PRIO,
		.cnp_dscp = 48,
		.qp_base = 1,
		.qp_count = 1,
		.neighbor_count = 1,
		.send_count = 16,
		.receive_count = 16,
		.rc = { .mtu = MTU,
			.window = 64,
			.ack_every = 16,
			.request_every = 16,
			.read_depth = 1 },
	};
	host->profile.dscp_to_prio[DSCP] = PRIO;
	host->endpoint = endpoint_init(&host->profile, NULL, 0,
				       calloc(1, (endpoint_bytes(&host->profile) + 63) / 64 * 64));
}

static void make_port(struct port_host *host)
{
	const struct rte_eth_conf conf = { 0 };
	int port;

	bench.to_host = rte_ring_create("to_host", 64, SOCKET_ID_ANY, 0);
	bench.from_host = rte_ring_create("from_host", 64, SOCKET_ID_ANY, 0);
	port = rte_eth_from_rings("host", &bench.to_host, 1, &bench.from_host, 1, SOCKET_ID_ANY);
	cr_assert(port >= 0);
	host->ethdev = (uint16_t)port;
	host->pool = rte_pktmbuf_pool_create("host", 255, 0, 0, ROOM, SOCKET_ID_ANY);
	cr_assert_not_null(host->pool);
	cr_assert_eq(rte_eth_dev_configure(host->ethdev, 1, 1, &conf), 0);
	cr_assert_eq(rte_eth_rx_queue_setup(host->ethdev, 0, 64, SOCKET_ID_ANY, NULL, host->pool),
		     0);
	cr_assert_eq(rte_eth_tx_queue_setup(host->ethdev, 0, 64, SOCKET_ID_ANY, NULL), 0);
	cr_assert_eq(rte_eth_dev_start(host->ethdev), 0);
	cr_assert_not_null(rte_eth_add_tx_callback(host->ethdev, 0, on_tx, NULL));
}

// A write of so many frames whose peer is known.
static void start(uint32_t pause_at)
{
	const struct endpoint_peer peer = {
		.ip = { 10, 1, 0, 2 }, .mac = PEER_MAC, .qp = 9, .dscp = DSCP
	};
	const struct rc_work work = {
		.op = RC_WRITE, .data = data, .bytes = sizeof(data), .remote_va = 0x1000, .rkey = 7
	};
	struct port_host *host = &bench.host;

	cr_assert(unit_start_eal());
	bench.pause_at = pause_at;
	make_endpoint(host);
	make_port(host);
	clock_start(&bench.clock);
	bench.clock.start -= rte_get_tsc_hz(); // the line was idle for a second, and may catch up
	cr_assert_eq(endpoint_connect(&host->profile, host->endpoint, 0, &peer, (ns_t){ 0 }), 0);
	cr_assert(endpoint_post(&host->profile, host->endpoint, 0, &work, (ns_t){ 0 }));
}

static void visit(void)
{
	port_visit_begin(&bench.visits, &bench.host, 1, clock_now(&bench.clock));
	port_host_receive(&bench.host, &bench.clock);
	port_host_transmit(&bench.host, &bench.clock);
	port_visit_end(&bench.visits);
}

Test(traffic_port_host, a_write_leaves_in_one_visit)
{
	start(UINT32_MAX);
	visit();
	cr_assert_eq(bench.handed, FRAMES);
	cr_assert_eq(rte_ring_count(bench.from_host), FRAMES + 1); // and it said that it is there
	unit_stop_eal();
}

static const uint32_t moments[] = { 1, 2, 7, 8, 9, 16, 23 };

ParameterizedTestParameters(traffic_port_host, xoff_stops_it_within_one_frame)
{
	return cr_make_param_array(const uint32_t, moments, TABLE_COUNT(moments));
}

ParameterizedTest(const uint32_t *moment, traffic_port_host, xoff_stops_it_within_one_frame)
{
	start(*moment);
	for (uint32_t i = 0; i < CALLS; i++)
		visit();
	// The one that was being handed over, and at most one behind it.
	cr_assert_geq(bench.handed, *moment);
	cr_assert_leq(bench.handed, *moment + 1);
	give_pfc(0);
	for (uint32_t i = 0; i < CALLS; i++)
		visit();
	cr_assert_eq(bench.handed, FRAMES);
	unit_stop_eal();
}
