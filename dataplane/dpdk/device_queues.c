// SPDX-License-Identifier: BSD-3-Clause
//
// The packet side of a port whose PFC is the device's own.
//
// A transmit queue that takes no frame is paused by the peer, or full: the core is told not to
// serve the switch queues behind it (sw_tx_block()) until its pending frames are gone, and all
// others go on. A receive queue whose group is in XOFF is not polled: its ring fills up, and then
// the device sends PFC.
//
// Invariant: a device queue with pending frames is blocked, so at most one burst waits for each, in
// order, and pending_count is their sum.

#include "dataplane/dpdk/pktio.h"

#include <string.h>

#include <rte_ethdev.h>

#include "base/check.h"

void device_open(struct pktio *io, const struct device_plan *plan)
{
	io->queues = &io->queues_memory;
	io->queues->plan = *plan;
	io->queues->full = 0;
	memset(io->queues->count, 0, sizeof(io->queues->count));
}

uint16_t device_next_rx(const struct pktio *io, uint16_t queue)
{
	const struct device_plan *plan = &io->queues->plan;
	const uint8_t xoff = sw_xoff(io->sw, io->port);

	while (++queue < plan->rx_count) {
		if (!(xoff >> plan->rx_prio[queue] & 1))
			return queue;
	}
	return DEVICE_QUEUE_REST;
}

static uint8_t switch_queues(const struct device_plan *plan, uint32_t device_queues)
{
	uint8_t queues = 0;

	for (uint32_t i = 0; i < QUEUE_COUNT; i++)
		queues |= (uint8_t)((device_queues >> plan->tx_queue[i] & 1) << i);
	return queues;
}

// Returns how many are left.
static uint32_t flush_queue(const struct pktio *io, uint16_t queue)
{
	struct pktio_queues *queues = io->queues;
	struct rte_mbuf **pending = queues->pending[queue];
	const uint16_t sent = rte_eth_tx_burst(io->ethdev, queue, pending, queues->count[queue]);

	queues->count[queue] -= sent;
	memmove(pending, pending + sent, queues->count[queue] * sizeof(pending[0]));
	return queues->count[queue];
}

void device_flush(struct pktio *io)
{
	struct pktio_queues *queues = io->queues;
	uint16_t full = 0;

	io->pending_count = 0;
	for (uint16_t i = 0; i < queues->plan.tx_count; i++) {
		if (queues->count[i] == 0)
			continue;
		io->pending_count += flush_queue(io, i);
		full |= (uint16_t)((queues->count[i] != 0) << i);
	}
	if (full == queues->full)
		return;
	queues->full = full;
	sw_tx_block(io->sw, io->port, switch_queues(&queues->plan, full));
}

// Of queues that had taken all they were given before, so that each frame counts once.
static uint32_t newly_pending(const struct pktio_queues *queues, uint16_t full)
{
	uint32_t count = 0;

	for (uint16_t i = 0; i < queues->plan.tx_count; i++)
		count += full >> i & 1 ? 0 : queues->count[i];
	return count;
}

void device_tx(struct pktio *io, struct rte_mbuf **mbufs, uint32_t count)
{
	struct pktio_queues *queues = io->queues;
	const uint16_t full = queues->full;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t queue = queues->plan.tx_queue[pkt_of_mbuf(mbufs[i])->queue.v];

		WEFT_CHECK(queues->count[queue] < PKTIO_BURST);
		queues->pending[queue][queues->count[queue]++] = mbufs[i];
	}
	device_flush(io);
	io->retried_packets += newly_pending(queues, full);
}

void device_abandon(struct pktio *io)
{
	struct pktio_queues *queues = io->queues;

	for (uint32_t i = 0; i < DEVICE_QUEUE_MAX; i++) {
		for (uint32_t k = 0; k < queues->count[i]; k++)
			pktio_refuse(io, queues->pending[i][k]);
		queues->count[i] = 0;
	}
	queues->full = 0;
	sw_tx_block(io->sw, io->port, 0);
}
