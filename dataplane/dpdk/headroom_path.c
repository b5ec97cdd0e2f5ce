// SPDX-License-Identifier: BSD-3-Clause
//
// Where the numbers of a headroom come from: the driver's rings, the link's rate, the
// configuration. What is made of them is pfc/headroom_class.c.
//
// The peer is taken to be built like our side where the configuration says nothing else; all
// frames are taken to be as long as the MTU allows. Before a port is open its driver's row tells
// what its rings will hold.

#include "dataplane/dpdk/headroom_path.h"

#include "dataplane/dpdk/pktio.h"

enum {
	POLL_GAP_NS = 1000000, // allowed between two visits, of our lcore and of a peer like it
	RESPONSE_MAX_NS = 2000000000, // more is no link that a lossless class may use
	CABLE_M_PER_US = 198,         // as in the field's formula
};

// A NIC whose speed is not configured may be as fast as this.
static const uint64_t nic_bps = 100000000000;
static const uint64_t unpaced_bps = 10000000000;

enum headroom_class headroom_class_of(const struct port *port)
{
	if (port->config->pause == CONFIG_PAUSE_HOLD || port->pfc == PFC_PATH_DEVICE)
		return HEADROOM_HOLD;
	return port->driver->class == DRIVER_WIRE ? HEADROOM_WIRE : HEADROOM_RING;
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

static void fill_path(const struct port *port, const struct port_profile *pf,
		      struct headroom_path *path)
{
	const struct impair_profile *impair = &pf->impair;

	switch (path->class) {
	case HEADROOM_WIRE: fill_wire(port, pf, path); break;
	case HEADROOM_RING: fill_ring(port, pf, path); break;
	case HEADROOM_HOLD: break;
	}
	// What is on a link that is long on purpose comes in after XOFF as well.
	path->response_ns = u64_min(path->response_ns + impair->delay_ns + impair->jitter_ns,
				    RESPONSE_MAX_NS);
	if (impair->on && path->bps == 0)
		path->peer_frames += impair->limit;
	// And it goes on to do so while the queue behind it is not polled.
	if (impair->on && port->pfc == PFC_PATH_DEVICE)
		path->burst_frames += impair->limit;
}

struct headroom_path headroom_path_of(const struct port *port, const struct port_profile *pf,
				      uint32_t cell_bytes)
{
	struct headroom_path path = {
		.class = headroom_class_of(port),
		.burst_frames = PKTIO_BURST,
		.frame_bytes = port_frame_bytes(port),
		.cell_bytes = cell_bytes,
	};

	fill_path(port, pf, &path);
	return path;
}

static void foresee_impairment(const struct sw_config *config, uint32_t i,
			       struct impair_profile *out)
{
	for (uint32_t k = 0; k < config->impairment_count; k++) {
		const struct impairment_config *row = &config->impairment[k];

		if (strcmp(row->port, "all") != 0 && strcmp(row->port, config->port[i].name) != 0)
			continue;
		*out = (struct impair_profile){ .on = true,
						.limit = (uint32_t)row->limit,
						.delay_ns = row->delay,
						.jitter_ns = row->jitter };
	}
}

void headroom_foresee(const struct sw_config *config, uint32_t i, struct preset_port *out)
{
	const struct port_config *row = &config->port[i];
	struct port port = { .config = row, .driver = driver_of_devargs(row->devargs) };
	struct port_profile pf = { .line = { row->speed, row->burst } };
	struct headroom_path path;

	*out = (struct preset_port){ 0 };
	if (port.driver == NULL)
		return;
	port.tx_ring_frames = driver_ring_frames(port.driver, row->devargs, (uint32_t)row->tx_ring);
	// What a link's other end sends waits in that end's ring, which is taken to be like ours.
	port.rx_ring_frames = config_link_name(row->devargs) != NULL ?
				      port.tx_ring_frames :
				      driver_ring_frames(port.driver, row->devargs,
							 (uint32_t)row->rx_ring);
	if (row->pfc_path == PFC_PATH_OWN)
		port.pfc = PFC_PATH_DEVICE;
	pf.rx.bps = row->speed != 0                   ? row->speed :
		    port.driver->class == DRIVER_WIRE ? nic_bps :
							unpaced_bps;
	foresee_impairment(config, i, &pf.impair);
	path = headroom_path_of(&port, &pf, (uint32_t)config->sw.cell);
	out->headroom_bytes = headroom_class_bytes(&path);
	// Each frame takes a descriptor, and one more per full buffer of its bytes.
	out->headroom_descriptors = headroom_class_frames(&path) +
				    out->headroom_bytes / POOL_SEGMENT_BYTES;
}
