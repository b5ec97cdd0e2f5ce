// SPDX-License-Identifier: BSD-3-Clause
//
// After stage 7: the core's packets become frames for the driver, PFC, hellos, LACP and frames of
// the control thread ahead of data.
//
// Invariant: `pending` is empty whenever the core is asked for packets, so what it gave is either
// with the driver or among at most one burst here; with a queue per priority (device_queues.c) that
// holds for each queue.

#include "dataplane/dpdk/pktio.h"

#include <string.h>

#include <rte_ethdev.h>
#include <rte_ring.h>

// A frame on a wire has at least 64 bytes (IEEE 802.3, minFrameSize); the device adds four of them,
// the FCS. Software links carry shorter frames, and not every device pads.
enum { WIRE_FRAME_MIN = 60 };

// Returns how many were taken.
static uint32_t transmit(const struct pktio *io, struct rte_mbuf **mbufs, uint32_t count)
{
	if (io->link_tx != NULL)
		return rte_ring_sp_enqueue_burst(io->link_tx, (void **)mbufs, count, NULL);
	return rte_eth_tx_burst(io->ethdev, 0, mbufs, (uint16_t)count);
}

// What is sent is no longer ours, and what is not is sent again later: the capture gets a copy.
static bool send_tapped(const struct pktio *io, struct rte_mbuf *m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, io->control, 0, UINT32_MAX);
	const bool sent = transmit(io, &m, 1) == 1;

	if (sent)
		taps_own(io->taps, io->port, copy);
	rte_pktmbuf_free(copy);
	return sent;
}

// A frame that the switch has made, which can be made again: sends it or frees it.
static bool send_own(const struct pktio *io, struct rte_mbuf *m)
{
	if (__builtin_expect(io->taps->count == 0, 1)) {
		if (transmit(io, &m, 1) == 1)
			return true;
	} else if (send_tapped(io, m)) {
		return true;
	}
	rte_pktmbuf_free(m);
	return false;
}

static bool send_due(struct pktio *io)
{
	struct rte_mbuf *m;

	if (io->due.enable == 0)
		return true;
	m = rte_pktmbuf_alloc(io->control);
	if (m == NULL)
		return false;
	pfc_frame_encode(&io->due, io->mac, (uint8_t *)rte_pktmbuf_append(m, PFC_FRAME_BYTES));
	if (!send_own(io, m))
		return false;
	io->due.enable = 0;
	return true;
}

static bool send_hello(struct pktio *io)
{
	struct rte_mbuf *m;
	uint32_t len;

	if (!io->hello_due)
		return true;
	m = rte_pktmbuf_alloc(io->control);
	if (m == NULL)
		return false;
	len = sw_hello(io->sw, io->port, io->mac, rte_pktmbuf_mtod(m, uint8_t *));
	rte_pktmbuf_append(m, (uint16_t)len);
	io->hello_due = !send_own(io, m);
	return !io->hello_due;
}

void pktio_hello(struct pktio *io)
{
	io->hello_due = true;
	if (io->active)
		send_hello(io);
}

static bool send_lacp(struct pktio *io)
{
	struct rte_mbuf *m;

	if (!io->lacp_due)
		return true;
	m = rte_pktmbuf_alloc(io->control);
	if (m == NULL)
		return false;
	sw_lacpdu(io->sw, io->port, io->mac, (uint8_t *)rte_pktmbuf_append(m, LACP_FRAME_BYTES));
	io->lacp_due = !send_own(io, m);
	return !io->lacp_due;
}

void pktio_lacp(struct pktio *io)
{
	io->lacp_due = true;
	if (io->active)
		send_lacp(io);
}

static bool send_kept(struct pktio *io)
{
	if (io->own == NULL)
		return true;
	if (transmit(io, &io->own, 1) == 0)
		return false;
	io->own = NULL;
	return true;
}

static void drop_kept(struct pktio *io)
{
	rte_pktmbuf_free(io->own);
	io->own = NULL;
}

void pktio_own(struct pktio *io, struct rte_mbuf *m)
{
	drop_kept(io);
	io->own = m;
	if (io->active)
		send_kept(io);
	else
		drop_kept(io);
}

void pktio_pfc(struct pktio *io, const struct pfc_frame *frame)
{
	if (io->queues != NULL)
		return;
	io->due.enable |= frame->enable;
	for (uint32_t i = 0; i < PRIO_COUNT; i++) {
		if (frame->enable >> i & 1)
			io->due.quanta[i] = frame->quanta[i];
	}
	if (io->active)
		send_due(io);
}

bool pktio_flush(struct pktio *io)
{
	uint32_t sent;

	// Where each queue waits for itself, hellos, LACPDUs and others wait for that of the rest.
	if (!send_due(io) ||
	    ((!send_hello(io) || !send_lacp(io) || !send_kept(io)) && io->queues == NULL))
		return false;
	if (io->pending_count == 0)
		return true;
	if (io->queues != NULL) {
		device_flush(io);
		return true;
	}
	sent = transmit(io, io->pending, io->pending_count);
	io->pending_count -= sent;
	memmove(io->pending, io->pending + sent, io->pending_count * sizeof(io->pending[0]));
	return io->pending_count == 0;
}

// Replaces a frame of several mbufs by one of one.
static bool linearise(const struct pktio *io, struct rte_mbuf **m)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(*m, io->linear, 0, UINT32_MAX);

	if (copy == NULL || copy->nb_segs > 1) {
		rte_pktmbuf_free(copy);
		return false;
	}
	*pkt_of_mbuf(copy) = *pkt_of_mbuf(*m); // pktio_abandon() has the core look at it
	pkt_from_mbuf(copy);
	rte_pktmbuf_free(*m);
	*m = copy;
	return true;
}

// struct pkt keeps the length that was counted.
static bool pad(struct rte_mbuf *m)
{
	uint16_t missing = (uint16_t)(WIRE_FRAME_MIN - m->pkt_len);
	char *zeros = rte_pktmbuf_append(m, missing);

	if (zeros != NULL)
		memset(zeros, 0, missing);
	return zeros != NULL;
}

static bool shape(const struct pktio *io, struct rte_mbuf **m)
{
	if (io->contiguous && (*m)->nb_segs > 1 && !linearise(io, m))
		return false;
	return !io->wire || (*m)->pkt_len >= WIRE_FRAME_MIN || pad(*m);
}

// Returns how many are left to send.
static uint32_t shape_all(const struct pktio *io, struct rte_mbuf **mbufs, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (shape(io, &mbufs[i])) {
			mbufs[kept++] = mbufs[i];
			continue;
		}
		pktio_refuse(io, mbufs[i]);
	}
	return kept;
}

void pktio_tx(struct pktio *io, struct pkt **pkts, uint32_t count)
{
	struct rte_mbuf *mbufs[PKTIO_BURST];
	uint32_t sent;

	for (uint32_t i = 0; i < count; i++)
		rte_prefetch0_write(mbuf_of_pkt(pkts[i]));
	for (uint32_t i = 0; i < count; i++)
		mbufs[i] = mbuf_from_pkt(pkts[i]);
	if (io->contiguous || io->wire)
		count = shape_all(io, mbufs, count);
	if (__builtin_expect(io->queues != NULL, 0)) {
		device_tx(io, mbufs, count);
		return;
	}
	sent = transmit(io, mbufs, count);
	io->pending_count = count - sent;
	io->retried_packets += io->pending_count;
	memcpy(io->pending, mbufs + sent, io->pending_count * sizeof(mbufs[0]));
}

void pktio_refuse(const struct pktio *io, struct rte_mbuf *m)
{
	sw_tx_refused(io->sw, io->port, pkt_of_mbuf(m));
	if (io->taps->count != 0)
		taps_drop(io->taps, pkt_of_mbuf(m), DROP_TX_REFUSED);
	rte_pktmbuf_free(m);
}

void pktio_abandon(struct pktio *io)
{
	if (io->queues != NULL) {
		device_abandon(io);
		io->pending_count = 0;
	}
	for (uint32_t i = 0; i < io->pending_count; i++)
		pktio_refuse(io, io->pending[i]);
	io->pending_count = 0;
	io->due.enable = 0;
	io->hello_due = false;
	io->lacp_due = false;
	drop_kept(io);
}
