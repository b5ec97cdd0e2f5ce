// SPDX-License-Identifier: BSD-3-Clause
//
// dataplane/dpdk/device_queues.c over real DPDK ports made of rings (net_ring), with a queue per
// PFC priority: a ring that nobody empties is what a queue is that the NIC pauses, and a ring that
// nobody polls is one for which the NIC sends PFC. One lcore's loop drives the switch.
//
// Frames enter through port SRC and leave through port DST; priorities 3 and 4 are lossless, class
// 1 is not. What may be in headroom is the formula of the class `hold` (pfc/headroom_class.c).

#include <stdio.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "dataplane/dpdk/worker.h"
#include "tests/rig/rig.h"
#include "tests/table.h"
#include "tests/unit/dpdk_eal.h"

enum {
	SRC,
	DST,
	PORTS,
	LEN = 600,
	LIMIT_BYTES = 20000,
	MBUFS = 2047,
	DEEP = 512, // a ring that holds all that a test sends
	SHALLOW = 8,
	VISITS_MAX = 200,
};

// Device queues of the plan for pfc_enable 3 and 4, in the order of priorities.
enum { REST, PRIO_3, PRIO_4, QUEUES };
static const uint8_t queue_class[QUEUES] = { 1, 3, 4 };

struct bench {
	struct rig *rig;
	struct instance in;
	struct worker worker;
	struct rte_mempool *pool;
	struct rte_ring *rx[PORTS][QUEUES];
	struct rte_ring *tx[PORTS][QUEUES];
	uint64_t sent[PRIO_COUNT]; // by class
	uint64_t taken[PRIO_COUNT];
};

static struct bench bench;

static struct rte_ring *ring(const char *side, uint32_t port, uint32_t queue, uint32_t count)
{
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *made;

	snprintf(name, sizeof(name), "%s_%u_%u", side, port, queue);
	made = rte_ring_create(name, count, SOCKET_ID_ANY,
			       RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	cr_assert_not_null(made);
	return made;
}

static uint16_t make_port(uint32_t port, uint32_t tx_3_count)
{
	const struct rte_eth_conf conf = { 0 };
	char name[16];
	int id;

	for (uint32_t i = 0; i < QUEUES; i++) {
		bench.rx[port][i] = ring("rx", port, i, DEEP);
		bench.tx[port][i] = ring("tx", port, i, i == PRIO_3 ? tx_3_count : DEEP);
	}
	snprintf(name, sizeof(name), "port%u", port);
	id = rte_eth_from_rings(name, bench.rx[port], QUEUES, bench.tx[port], QUEUES, 0);
	cr_assert_geq(id, 0);
	cr_assert_eq(rte_eth_dev_configure((uint16_t)id, QUEUES, QUEUES, &conf), 0);
	for (uint16_t i = 0; i < QUEUES; i++) {
		cr_assert_eq(rte_eth_rx_queue_setup((uint16_t)id, i, DEEP, SOCKET_ID_ANY, NULL,
						    bench.pool),
			     0);
		cr_assert_eq(rte_eth_tx_queue_setup((uint16_t)id, i, DEEP, SOCKET_ID_ANY, NULL), 0);
	}
	cr_assert_eq(rte_eth_dev_start((uint16_t)id), 0);
	return (uint16_t)id;
}

static void setup(void)
{
	struct sw_config *c = setup_kvm(PORTS);
	struct buffer_profile_config *pg = setup_find_profile(c, KVM_PG_LOSSLESS);

	pg->dynamic_th = CONFIG_UNSET_INT;
	pg->static_th = LIMIT_BYTES;
	cr_assert(unit_start_eal());
	bench.pool = rte_pktmbuf_pool_create("bench", MBUFS, 0, sizeof(struct pkt),
					     RTE_PKTMBUF_HEADROOM + POOL_SEGMENT_BYTES,
					     SOCKET_ID_ANY);
	cr_assert_not_null(bench.pool);
	bench.rig = rig_new(c);
	bench.in.sw = bench.rig->sw;
	bench.in.port_count = PORTS;
	bench.in.io = calloc(PORTS, sizeof(*bench.in.io));
	for (uint16_t i = 0; i < PORTS; i++) {
		struct pktio *io = &bench.in.io[i];
		struct device_plan plan;

		io->ethdev = make_port(i, i == DST ? SHALLOW : DEEP);
		io->sw = bench.rig->sw;
		io->port = (port_t){ i };
		io->active = true;
		io->taps = &bench.in.taps[0];
		device_plan(bench.rig->pf, io->port, &plan);
		cr_assert_eq(plan.tx_count, QUEUES);
		cr_assert_eq(plan.rx_count, QUEUES);
		device_open(io, &plan);
	}
}

// The device has received these: class by class, into the queue of the class.
static void arrive(uint32_t queue, uint32_t count)
{
	const uint8_t class = queue_class[queue];
	struct frame f = rig_frame(SRC, DST, class, LEN);

	f.stream = class;
	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bench.pool);

		cr_assert_not_null(m);
		f.seq = bench.sent[class]++;
		frame_write(&f, (uint8_t *)rte_pktmbuf_append(m, LEN));
		cr_assert_eq(rte_ring_sp_enqueue(bench.rx[SRC][queue], m), 0);
	}
}

// Until a visit finds nothing to do.
static void run(void)
{
	uint32_t visits = 0;

	while (worker_visit(&bench.worker, &bench.in, bench.rig->now))
		cr_assert_lt(visits++, VISITS_MAX);
}

// The peer takes at most `count` frames of a transmit queue; they are the next of the class.
static uint32_t leave(uint32_t queue, uint32_t count)
{
	const uint8_t class = queue_class[queue];
	uint32_t taken = 0;
	void *m;

	for (; taken < count && rte_ring_sc_dequeue(bench.tx[DST][queue], &m) == 0; taken++) {
		struct frame f;

		cr_assert(frame_read(rte_pktmbuf_mtod((struct rte_mbuf *)m, uint8_t *),
				     ((struct rte_mbuf *)m)->pkt_len, &f));
		cr_assert_eq(f.stream, class);
		cr_assert_eq(f.seq, bench.taken[class]);
		bench.taken[class]++;
		rte_pktmbuf_free(m);
	}
	return taken;
}

// Nothing was lost, nothing is left, no software PFC went out at either port.
static void finish(void)
{
	for (uint32_t i = 0; i < QUEUES; i++) {
		cr_assert_eq(rte_ring_count(bench.tx[SRC][i]), 0);
		cr_assert_eq(bench.taken[queue_class[i]], bench.sent[queue_class[i]]);
	}
	cr_assert_eq(rig_all_drops(bench.rig), 0);
	cr_assert(sw_conserved(bench.rig->sw));
	cr_assert_eq(rte_mempool_avail_count(bench.pool), MBUFS);
	rig_end(bench.rig);
}

Test(device_queues, a_full_queue_blocks_its_own_class, .init = setup, .fini = unit_stop_eal)
{
	const struct pktio *io = &bench.in.io[DST];

	arrive(PRIO_3, 30);
	arrive(PRIO_4, 30);
	arrive(REST, 30);
	run();
	// Priority 3: a ring full, and the rest waits in order.
	cr_assert_eq(rte_ring_count(bench.tx[DST][PRIO_3]), SHALLOW);
	cr_assert_eq(io->pending_count + rig_queue(bench.rig, DST, 3).curr_occupancy_packets,
		     30 - SHALLOW);
	cr_assert_gt(io->pending_count, 0);
	cr_assert_leq(io->pending_count, PKTIO_BURST);
	cr_assert_eq(io->retried_packets, io->pending_count, "each once, however often offered");
	// All others have gone, and go on going.
	cr_assert_eq(leave(PRIO_4, DEEP), 30);
	cr_assert_eq(leave(REST, DEEP), 30);
	arrive(PRIO_3, 10);
	arrive(PRIO_4, 10);
	arrive(REST, 10);
	run();
	cr_assert_eq(leave(PRIO_4, DEEP), 10);
	cr_assert_eq(leave(REST, DEEP), 10);
	cr_assert_eq(rte_ring_count(bench.tx[DST][PRIO_3]), SHALLOW);
	// Only queue 3 has a backlog, though it is not the core that holds all of it.
	cr_assert_eq(rig_queue(bench.rig, DST, 4).curr_occupancy_packets, 0);
	cr_assert_eq(rig_queue(bench.rig, DST, 1).curr_occupancy_packets, 0);
	cr_assert_gt(rig_queue(bench.rig, DST, 3).curr_occupancy_packets, 0);
	// The NIC goes on, slower than the switch.
	for (uint32_t i = 0; bench.taken[3] < 40 && i < VISITS_MAX; i++) {
		leave(PRIO_3, 3);
		run();
	}
	cr_assert_eq(io->pending_count, 0);
	cr_assert_eq(io->queues->full, 0);
	cr_assert_leq(io->retried_packets, 40 - SHALLOW, "a count, and of frames of one queue");
	cr_assert_gt(io->retried_packets, 0);
	finish();
}

// What XOFF means where the NIC does PFC: the ring of the group is left alone, so that it fills up.
Test(device_queues, a_group_in_xoff_is_not_polled, .init = setup, .fini = unit_stop_eal)
{
	const struct headroom_path path = {
		.class = HEADROOM_HOLD,
		.burst_frames = PKTIO_BURST,
		.frame_bytes = LEN,
		.cell_bytes = 1,
	};
	uint32_t left;

	arrive(PRIO_3, 200);
	run();
	left = rte_ring_count(bench.rx[SRC][PRIO_3]);
	cr_assert_gt(left, 0);
	cr_assert_eq(sw_xoff(bench.in.sw, (port_t){ SRC }), 1 << 3);
	cr_assert_eq(rig_pg(bench.rig, SRC, 3).xoff_state, 1);
	// Those that are polled go through meanwhile.
	arrive(PRIO_4, 50);
	arrive(REST, 50);
	run();
	cr_assert_eq(rte_ring_count(bench.rx[SRC][PRIO_3]), left);
	cr_assert_eq(leave(PRIO_4, DEEP), 50);
	cr_assert_eq(leave(REST, DEEP), 50);
	for (uint32_t i = 0; bench.taken[3] < 200 && i < VISITS_MAX; i++) {
		leave(PRIO_3, SHALLOW);
		run();
	}
	cr_assert_eq(sw_xoff(bench.in.sw, (port_t){ SRC }), 0);
	cr_assert_gt(rig_pg(bench.rig, SRC, 3).xoff_room_watermark_bytes, 0);
	cr_assert_leq(rig_pg(bench.rig, SRC, 3).xoff_room_watermark_bytes,
		      headroom_class_bytes(&path));
	finish();
}

// Frames that wait for a device that goes away count as refused, each once.
Test(device_queues, a_link_that_goes_down, .init = setup, .fini = unit_stop_eal)
{
	struct pktio *io = &bench.in.io[DST];
	uint32_t pending;

	arrive(PRIO_3, 20);
	run();
	pending = io->pending_count;
	cr_assert_gt(pending, 0);
	io->active = false;
	sw_link(bench.rig->sw, (port_t){ DST }, false, bench.rig->now);
	pktio_abandon(io);
	worker_visit(&bench.worker, &bench.in, bench.rig->now); // frees what the core dropped
	cr_assert_eq(io->pending_count, 0);
	cr_assert_eq(rig_drops(bench.rig, DST, DROP_TX_REFUSED), pending);
	cr_assert(sw_conserved(bench.rig->sw));
	leave(PRIO_3, DEEP);
	cr_assert_eq(rte_mempool_avail_count(bench.pool), MBUFS);
}

// Without a queue per priority: the ring takes what it holds, and what it does not is counted when
// it is offered first, not again while it waits.
Test(device_queues, what_a_ring_does_not_take_is_counted_once, .init = setup, .fini = unit_stop_eal)
{
	struct pktio *io = &bench.in.io[DST];
	struct pkt *pkts[SHALLOW + 5];

	io->queues = NULL;
	io->link_tx = bench.tx[DST][PRIO_3];
	for (uint32_t i = 0; i < SHALLOW + 5; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(bench.pool);

		cr_assert_not_null(m);
		cr_assert_not_null(rte_pktmbuf_append(m, LEN));
		pkts[i] = pkt_from_mbuf(m);
	}
	pktio_tx(io, pkts, SHALLOW);
	cr_assert_eq(io->retried_packets, 0);
	pktio_tx(io, pkts + SHALLOW, 5);
	cr_assert_eq(io->retried_packets, 5);
	cr_assert_not(pktio_flush(io));
	cr_assert_not(pktio_flush(io));
	cr_assert_eq(io->retried_packets, 5);
	for (uint32_t i = 0; i < SHALLOW; i++) {
		void *m;

		cr_assert_eq(rte_ring_sc_dequeue(bench.tx[DST][PRIO_3], &m), 0);
		rte_pktmbuf_free(m);
	}
	cr_assert(pktio_flush(io));
	cr_assert_eq(io->pending_count, 0);
	cr_assert_eq(io->retried_packets, 5, "it counts, and never goes back");
}
