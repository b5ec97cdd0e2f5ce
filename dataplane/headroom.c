// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom as people see it. The arithmetic and its proofs are pfc/headroom_class.c, its numbers
// come from dpdk/headroom_path.c. Marks of resuming (xon) are looked at here too.

#include "dataplane/headroom.h"

#include <stdio.h>

#include "sys/log.h"

const char *headroom_class_name(enum headroom_class class)
{
	switch (class) {
	case HEADROOM_WIRE: return "wire";
	case HEADROOM_RING: return "ring";
	case HEADROOM_HOLD: return "hold";
	}
	return "";
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

uint64_t headroom_need_bytes(const struct instance *in, uint32_t i)
{
	struct headroom_path path;

	if (in->port[i].ethdev == PORT_NO_DEVICE)
		return 0;
	path = headroom_path_of(&in->port[i], &in->profile->port[i], in->profile->cell_bytes);
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
