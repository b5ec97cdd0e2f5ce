// SPDX-License-Identifier: BSD-3-Clause
//
// After stage 7: the core's packets become frames for the driver, PFC ahead of data.
//
// Invariant: `pending` is empty whenever the core is asked for packets, so what it gave is either
// with the driver or among at most one burst here.

#include "dataplane/dpdk/pktio.h"

#include <string.h>

#include <rte_ethdev.h>

static bool send_due(struct pktio *io)
{
	struct rte_mbuf *m;

	if (io->due.enable == 0)
		return true;
	m = rte_pktmbuf_alloc(io->control);
	if (m == NULL)
		return false;
	pfc_frame_encode(&io->due, io->mac, (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES));
	if (rte_eth_tx_burst(io->ethdev, 0, &m, 1) == 0) {
		rte_pktmbuf_free(m);
		return false;
	}
	io->due.enable = 0;
	return true;
}

void pktio_pfc(struct pktio *io, const struct pfc_frame *frame)
{
	io->due.enable |= frame->enable;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (!(frame->enable >> i & 1))
			continue;
		io->due.quanta[i] = frame->quanta[i];
		io->xoff = (uint8_t)((io->xoff & ~(1u << i)) | (frame->quanta[i] != 0) << i);
	}
	if (io->active)
		send_due(io);
}

bool pktio_flush(struct pktio *io)
{
	uint32_t sent;

	if (!send_due(io))
		return false;
	if (io->pending_count == 0)
		return true;
	sent = rte_eth_tx_burst(io->ethdev, 0, io->pending, (uint16_t)io->pending_count);
	io->pending_count -= sent;
	memmove(io->pending, io->pending + sent, io->pending_count * sizeof(io->pending[0]));
	return io->pending_count == 0;
}

void pktio_tx(struct pktio *io, struct pkt **pkts, uint32_t count)
{
	struct rte_mbuf *mbufs[PKTIO_BURST];
	uint32_t sent;

	for (uint32_t i = 0; i < count; i++)
		rte_prefetch0_write(mbuf_of_pkt(pkts[i]));
	for (uint32_t i = 0; i < count; i++)
		mbufs[i] = mbuf_from_pkt(pkts[i]);
	sent = rte_eth_tx_burst(io->ethdev, 0, mbufs, (uint16_t)count);
	io->pending_count = count - sent;
	memcpy(io->pending, mbufs + sent, io->pending_count * sizeof(mbufs[0]));
}

void pktio_abandon(struct pktio *io, struct sw *sw, port_t port)
{
	for (uint32_t i = 0; i < io->pending_count; i++) {
		sw_tx_refused(sw, port, pkt_of_mbuf(io->pending[i]));
		rte_pktmbuf_free(io->pending[i]);
	}
	io->pending_count = 0;
	io->due.enable = 0;
	io->xoff = 0;
}
