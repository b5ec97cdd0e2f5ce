// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom per port class. The arithmetic and its proofs are pfc/headroom_class.c; here is where
// its numbers come from: the driver's rings, the link's rate, the configuration.
//
// The peer is taken to be built like our side where the configuration says nothing else; all
// frames are taken to be as long as the MTU allows. Marks of resuming (xon) are looked at here too.

#include "dataplane/headroom.h"

#include <stdio.h>

#include "sys/log.h"

enum {
	POLL_GAP_NS = 1000000, // allowed between two visits, of our lcore and of a peer like it
	RESPONSE_MAX_NS = 2000000000, // more is no link that a lossless class may use
	CABLE_M_PER_US = 198,         // as in the field's formula
};

const char *headroom_class_name(enum headroom_class class)
{
	switch (class) {
	case HEADROOM_WIRE: return "wire";
	case HEADROOM_RING: return "ring";
	case HEADROOM_HOLD: return "hold";
	}
	return "";
}

enum headroom_class headroom_class_of(const struct port *port)
{
	if (port->config->pause == CONFIG_PAUSE_HOLD || port->pfc == PFC_PATH_DEVICE)
		return HEADROOM_HOLD;
	return port->driver->class == DRIVER_WIRE ? HEADROOM_WIRE : HEADROOM_RING;
}

static uint64_t frames_bytes(const struct port *port, uint64_t frames)
{
	return frames * port_frame_bytes(port);
}

uint64_t headroom_tx_ring_bytes(const struct port *port)
{
	if (port->ethdev == PORT_NO_DEVICE)
		return 0;
	// What a device that obeys PFC itself has begun to send; its rings wait with the rest.
	if (port->pfc == PFC_PATH_DEVICE)
		return frames_bytes(port, 1);
	return frames_bytes(port, (uint64_t)port->tx_ring_frames + PKTIO_BURST);
}

static void fill_wire(const struct port *port, const struct port_profile *pf,
		      struct headroom_path *path)
{
	const uint64_t peer_ring = port->config->peer_ring;

	path->bps = pf->rx.bps;
	path->delay_ns = (port->config->cable * 1000 + CABLE_M_PER_US - 1) / CABLE_M_PER_US;
	path->response_ns = port->config->peer_response;
	if (path->response_ns == CONFIG_UNSET)
		path->response_ns = headroom_response_ns(&headroom_asic_virtual, path->bps);
	path->gap_ns = POLL_GAP_NS;
	path->ring_frames = port->rx_ring_frames;
	path->ahead_frames = port->tx_ring_frames + 1;
	path->peer_frames = peer_ring == CONFIG_UNSET ? port->tx_ring_frames : (uint32_t)peer_ring;
}

// A software link is one ring each way: the peer's transmit ring is our receive ring, and beyond it
// the peer holds back what its driver refused.
static void fill_ring(const struct port *port, const struct port_profile *pf,
		      struct headroom_path *path)
{
	const uint64_t peer_ring = port->config->peer_ring;

	path->bps = pf->line.bps;
	path->response_ns = port->config->peer_response;
	if (path->response_ns == CONFIG_UNSET)
		path->response_ns = POLL_GAP_NS;
	// A paced peer may catch up after a late poll.
	path->response_ns += pf->line.burst_ns;
	path->ring_frames = port->rx_ring_frames;
	path->peer_frames = peer_ring == CONFIG_UNSET ? PKTIO_BURST : (uint32_t)peer_ring;
	path->visit_frames = PKTIO_TX_BURSTS * PKTIO_BURST;
}

static void fill_path(const struct instance *in, uint32_t i, struct headroom_path *path)
{
	const struct impair_profile *impair = &in->profile->port[i].impair;

	switch (path->class) {
	case HEADROOM_WIRE: fill_wire(&in->port[i], &in->profile->port[i], path); break;
	case HEADROOM_RING: fill_ring(&in->port[i], &in->profile->port[i], path); break;
	case HEADROOM_HOLD: break;
	}
	// What is on a link that is long on purpose comes in after XOFF as well.
	path->response_ns = u64_min(path->response_ns + impair->delay_ns + impair->jitter_ns,
				    RESPONSE_MAX_NS);
	if (impair->on && path->bps == 0)
		path->peer_frames += impair->limit;
	// And it goes on to do so while the queue behind it is not polled.
	if (impair->on && in->port[i].pfc == PFC_PATH_DEVICE)
		path->burst_frames += impair->limit;
}

uint64_t headroom_need_bytes(const struct instance *in, uint32_t i)
{
	const struct port *port = &in->port[i];
	struct headroom_path path = {
		.class = headroom_class_of(port),
		.burst_frames = PKTIO_BURST,
		.frame_bytes = port_frame_bytes(port),
		.cell_bytes = in->profile->cell_bytes,
	};

	if (port->ethdev == PORT_NO_DEVICE)
		return 0;
	fill_path(in, i, &path);
	return headroom_class_bytes(&path);
}

void headroom_verdict(const struct instance *in, uint32_t i, uint32_t pg, char *out,
		      size_t out_bytes)
{
	const uint64_t have = in->profile->port[i].pg[pg].headroom_bytes;
	const uint64_t need = headroom_need_bytes(in, i);

	if (need == 0)
		snprintf(out, out_bytes, "the port is not open");
	else if (have < need)
		snprintf(out, out_bytes, "%llu bytes short: frames may be lost after XOFF",
			 (unsigned long long)(need - have));
	else
		snprintf(out, out_bytes, "enough");
}

static void check_need(const struct instance *in, uint32_t i)
{
	const struct port *port = &in->port[i];
	const struct port_profile *pf = &in->profile->port[i];
	const uint64_t need = headroom_need_bytes(in, i);

	for (uint32_t pg = 0; pg < PG_COUNT; pg++) {
		if (!pf->pg[pg].lossless || pf->pg[pg].headroom_bytes >= need)
			continue;
		log_warn("%s: priority group %u has %llu bytes of headroom (xoff), and up to %llu "
			 "may arrive after XOFF (class %s, rings of %u and %u frames of up to %u "
			 "bytes): frames may be lost; raise xoff, shorten the rings or lower the "
			 "MTU",
			 port->label, pg, (unsigned long long)pf->pg[pg].headroom_bytes,
			 (unsigned long long)need, headroom_class_name(headroom_class_of(port)),
			 port->rx_ring_frames, port->tx_ring_frames, port_frame_bytes(port));
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

		if (in->port[i].pfc == PFC_PATH_DEVICE)
			continue; // the device repeats by itself
		if (pf->gen.enable != 0 && max_gap_ns > pf->gen.refresh_ns)
			warn_gap(in->port[i].label, pf, max_gap_ns);
	}
}
