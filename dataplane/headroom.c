// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom per port class. The arithmetic is pfc/headroom.c; here are the rings it needs to know.
//
// The peer is taken to be built like our side, since nothing tells us otherwise; all frames are
// taken to be as long as the MTU allows. Marks of resuming (xon) are looked at here too.

#include "dataplane/headroom.h"

#include "sys/log.h"

enum {
	CABLE_M = 5,           // within a rack, until cables are configured
	SMALL_PERCENT = 50,    // the field's default traffic pattern
	POLL_GAP_NS = 1000000, // allowed between two visits of a peer
};

static uint64_t frames_bytes(const struct port *port, uint64_t frames)
{
	return frames * port_frame_bytes(port);
}

uint64_t headroom_tx_ring_bytes(const struct port *port)
{
	if (port->ethdev == PORT_NO_DEVICE)
		return 0;
	return frames_bytes(port, (uint64_t)port->tx_ring_frames + PKTIO_BURST);
}

static uint64_t wire_bytes(const struct port *port, uint64_t bps)
{
	const struct headroom_link link = {
		.bps = bps,
		.cable_m = CABLE_M,
		.port_mtu = port_frame_bytes(port),
		.lossless_mtu = port_frame_bytes(port),
		.small_percent = SMALL_PERCENT,
	};

	return headroom_wire(&headroom_asic_virtual, &link).xoff +
	       frames_bytes(port, port->rx_ring_frames);
}

uint64_t headroom_need_bytes(const struct instance *in, uint32_t i)
{
	const struct port *port = &in->port[i];
	uint64_t bps = in->profile->port[i].line.bps;

	if (port->ethdev == PORT_NO_DEVICE)
		return 0;
	if (in->profile->port[i].hold)
		return headroom_hold_bytes(PKTIO_BURST, port_frame_bytes(port),
					   in->profile->cell_bytes);
	if (port->driver->class == DRIVER_WIRE)
		return wire_bytes(port, in->profile->port[i].rx.bps);
	// A software link is one ring each way: the peer's transmit ring is our receive ring.
	return headroom_ring_bytes(frames_bytes(port, PKTIO_BURST),
				   frames_bytes(port, port->rx_ring_frames), bps, POLL_GAP_NS,
				   port_frame_bytes(port));
}

static void check_need(const struct instance *in, uint32_t i)
{
	const struct port_profile *pf = &in->profile->port[i];
	uint64_t need = headroom_need_bytes(in, i);

	for (uint32_t pg = 0; pg < PG_COUNT; pg++) {
		if (!pf->pg[pg].lossless || pf->pg[pg].headroom_bytes >= need)
			continue;
		log_warn("%s: priority group %u has %llu bytes of headroom (xoff), and up to %llu "
			 "may arrive after XOFF (ring of %u frames of up to %u bytes): frames may "
			 "be lost; raise xoff, shorten the ring or lower the MTU",
			 in->port[i].label, pg, (unsigned long long)pf->pg[pg].headroom_bytes,
			 (unsigned long long)need, in->port[i].rx_ring_frames,
			 port_frame_bytes(&in->port[i]));
		return; // once per port
	}
}

// An xon that no occupancy exceeds ends XOFF as soon as headroom is free: pauses do not last.
static void check_xon(const struct instance *in, uint32_t i)
{
	const struct port_profile *pf = &in->profile->port[i];

	for (uint32_t k = 0; k < PG_COUNT; k++) {
		const struct pg_profile *pg = &pf->pg[k];
		uint64_t shared = threshold_bytes(&pg->limit,
						  in->profile->pool[pg->pool].shared_bytes);

		if (!pg->lossless || u64_minus(pg->xon_bytes, pg->reserved_bytes) <= shared)
			continue;
		log_warn("%s: priority group %u may end XOFF at %llu bytes (xon) but its limit is "
			 "at most %llu, that of an empty pool: XOFF ends as soon as headroom is "
			 "free, and pauses come in quick succession; lower xon",
			 in->port[i].label, k, (unsigned long long)pg->xon_bytes,
			 (unsigned long long)(pg->reserved_bytes + shared));
		return; // once per port
	}
}

void headroom_check(const struct instance *in, uint32_t i)
{
	check_need(in, i);
	check_xon(in, i);
}

static void warn_gap(const char *label, const struct port_profile *pf, uint64_t max_gap_ns)
{
	log_warn("%s: the switch was away for %llu us and PFC must be repeated every %llu us: a "
		 "peer may have resumed on its own; give the switch a processor of its own or "
		 "lower the speed",
		 label, (unsigned long long)(max_gap_ns / 1000),
		 (unsigned long long)(pf->gen.refresh_ns / 1000));
}

void headroom_check_gap(const struct instance *in, uint64_t max_gap_ns)
{
	for (uint32_t i = 0; i < in->port_count; i++) {
		const struct port_profile *pf = &in->profile->port[i];

		if (pf->gen.enable != 0 && max_gap_ns > pf->gen.refresh_ns)
			warn_gap(in->port[i].label, pf, max_gap_ns);
	}
}
