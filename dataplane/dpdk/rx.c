// SPDX-License-Identifier: BSD-3-Clause
//
// Before stage 1: frames from the driver become the core's packets.
//
// No receive offload is asked for, but drivers set flags all the same, and what says "checksum
// unknown" in the receive direction would ask for work in the transmit direction: flags end here.

#include "dataplane/dpdk/pktio.h"

#include <rte_ethdev.h>
#include <rte_ring.h>

static const uint64_t kept_flags = RTE_MBUF_F_EXTERNAL | RTE_MBUF_F_INDIRECT;

static uint32_t receive(const struct pktio *io, uint16_t queue, struct rte_mbuf **mbufs)
{
	if (io->link_rx != NULL)
		return rte_ring_sc_dequeue_burst(io->link_rx, (void **)mbufs, PKTIO_BURST, NULL);
	return rte_eth_rx_burst(io->ethdev, queue, mbufs, PKTIO_BURST);
}

uint32_t pktio_rx(struct pktio *io, uint16_t queue, struct pkt **pkts)
{
	struct rte_mbuf *mbufs[PKTIO_BURST];
	uint32_t count = receive(io, queue, mbufs);

	for (uint32_t i = 0; i < count; i++) {
		rte_prefetch0_write(pkt_of_mbuf(mbufs[i]));
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	}
	for (uint32_t i = 0; i < count; i++) {
		mbufs[i]->ol_flags &= kept_flags;
		pkts[i] = pkt_from_mbuf(mbufs[i]);
	}
	return count;
}
