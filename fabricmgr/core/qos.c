// SPDX-License-Identifier: BSD-3-Clause
//
// Headroom is that of ports on wires (pfc/headroom_class.c), both ends built alike. ECN thresholds
// are those of a switch's own preset: from 150 kB on to ten times that, on ports below 10G in
// proportion, but not below a few frames.

#include "fabricmgr/core/qos.h"

#include <errno.h>

#include "pfc/pfc.h"

enum {
	ETHERNET_BYTES = 14 + 4, // with a tag, which lanes travel in
	ECN_MIN_BYTES = 150000,  // of a port of ECN_FULL_MBPS or more
	ECN_FULL_MBPS = 10000,
	ECN_MAX_TIMES = 10,
	ECN_MIN_FRAMES = 5,       // a threshold below this marks every burst
	ECN_FRAME_EXTRA = 14 + 8, // Ethernet header and two tags
	SOFTWARE_BURST = 32,      // taken from a ring at once, and held when the next is full
	MM_PER_US = 198000,       // as in the field's formula
	MBPS = 1000000,
};

// The lossless priorities: from 3 on, as in the field, or from 1 when more are needed; 6 is that of
// congestion notification. Lanes of a class ascend.
static bool assign(const struct qos_options *options, struct qos *qos)
{
	uint32_t lossless = 0, prio;

	qos->prio[QOS_LOSSY_PRIO] = (struct qos_prio){ .use = QOS_LOSSY, .class = QOS_CLASS_MAX };
	qos->prio[QOS_CNP_PRIO] = (struct qos_prio){ .use = QOS_CNP, .class = QOS_CLASS_MAX };
	for (uint32_t i = 0; i < options->class_count; i++)
		lossless += options->class[i].lossless ? options->lanes : 1;
	qos->prio_count = lossless + 2;
	if (qos->prio_count > PRIO_COUNT)
		return false;
	prio = lossless <= 4 ? 3 : 1;
	for (uint32_t i = 0; i < options->class_count; i++) {
		const uint32_t lanes = options->class[i].lossless ? options->lanes : 1;

		for (uint32_t lane = 0; lane < lanes; lane++) {
			prio += prio == QOS_CNP_PRIO;
			qos->prio[prio++] = (struct qos_prio){
				.use = options->class[i].lossless ? QOS_LOSSLESS : QOS_LOSSY,
				.class = i,
				.lane = lane,
			};
		}
	}
	return true;
}

static struct qos_headroom headroom_of(const struct qos_options *options, uint64_t bps,
				       uint32_t length_mm)
{
	const struct headroom_path path = {
		.class = HEADROOM_WIRE,
		.bps = bps,
		.delay_ns = ((uint64_t)length_mm * 1000 + MM_PER_US - 1) / MM_PER_US,
		.response_ns = headroom_response_ns(&headroom_asic_virtual, bps),
		.gap_ns = options->gap_ns,
		.ring_frames = options->ring_frames,
		.ahead_frames = options->ring_frames + 1,
		.peer_frames = options->ring_frames,
		.burst_frames = 1,
		.frame_bytes = options->mtu + ETHERNET_BYTES,
		.cell_bytes = options->cell_bytes,
	};

	return (struct qos_headroom){ headroom_class_bytes(&path), headroom_class_frames(&path) };
}

struct qos_headroom qos_software_headroom(const struct qos_options *options, uint64_t speed_bps,
					  uint64_t late_ns)
{
	const struct headroom_path path = {
		.class = HEADROOM_RING,
		.bps = speed_bps,
		.response_ns = late_ns,
		.ring_frames = options->ring_frames,
		.peer_frames = SOFTWARE_BURST,
		.burst_frames = SOFTWARE_BURST,
		.frame_bytes = options->mtu + ETHERNET_BYTES,
		.cell_bytes = options->cell_bytes,
	};

	return (struct qos_headroom){ headroom_class_bytes(&path), headroom_class_frames(&path) };
}

const struct qos_ports *qos_find_ports(const struct qos *qos, uint64_t speed_bps,
				       uint32_t length_mm, bool to_host)
{
	for (uint32_t i = 0; i < qos->ports_count; i++) {
		const struct qos_ports *ports = &qos->ports[i];

		if (ports->speed_bps == speed_bps && ports->length_mm == length_mm &&
		    ports->to_host == to_host)
			return ports;
	}
	return NULL;
}

// The kind of ports with this speed and cable, a new one if need be; NULL: there are too many.
static struct qos_ports *kind_of(const struct qos_options *options, struct qos *qos, uint64_t bps,
				 uint32_t length_mm, bool to_host)
{
	const uint64_t mbps = u64_min(bps / MBPS, ECN_FULL_MBPS);
	const uint64_t ecn = ECN_MIN_BYTES * mbps / ECN_FULL_MBPS;
	const uint64_t least = ECN_MIN_FRAMES * (options->mtu + (uint64_t)ECN_FRAME_EXTRA);
	const struct qos_ports *known = qos_find_ports(qos, bps, length_mm, to_host);
	struct qos_ports *ports;

	if (known != NULL)
		return &qos->ports[known - qos->ports];
	if (qos->ports_count == QOS_PORTS_MAX) {
		qos->ports_cut = true;
		return NULL;
	}
	ports = &qos->ports[qos->ports_count++];
	*ports = (struct qos_ports){
		.speed_bps = bps,
		.length_mm = length_mm,
		.to_host = to_host,
		.headroom = headroom_of(options, bps, length_mm),
		.ecn_min_bytes = u64_max(ecn, least),
	};
	ports->ecn_max_bytes = ECN_MAX_TIMES * ports->ecn_min_bytes;
	return ports;
}

static void add(const struct qos_options *options, struct qos *qos, uint64_t bps,
		uint32_t length_mm, bool to_host, uint64_t *headroom)
{
	struct qos_ports *ports = kind_of(options, qos, bps, length_mm, to_host);
	uint32_t lossless = 0;

	if (ports == NULL)
		return;
	for (uint32_t i = 0; i < options->class_count; i++)
		lossless += options->class[i].lossless ? (to_host ? 1 : options->lanes) : 0;
	ports->count++;
	*headroom += lossless * ports->headroom.bytes;
}

bool qos_plan(const struct fabric *fabric, const struct qos_options *options, struct arena *scratch,
	      struct qos *qos, bool *memory_short)
{
	const size_t mark = arena_mark(scratch);
	uint64_t *headroom = arena_take(scratch, fabric->switch_count, sizeof(*headroom));

	*qos = (struct qos){ .prio_count = 0 };
	*memory_short = headroom == NULL;
	if (headroom == NULL)
		return false;
	for (uint32_t i = 0; i < fabric->host_port_count; i++) {
		const struct fabric_host_port *port = &fabric->host_ports[i];

		add(options, qos, port->speed_bps, port->length_mm, true, &headroom[port->at]);
	}
	for (uint32_t i = 0; i < 2 * fabric->cable_count; i++) {
		const struct fabric_cable *cable = &fabric->cables[i / 2];

		add(options, qos, cable->speed_bps, cable->length_mm, false,
		    &headroom[cable->end_switch[i % 2]]);
	}
	for (uint32_t i = 0; i < fabric->switch_count; i++) {
		if (headroom[i] > qos->headroom_worst) {
			qos->headroom_worst = headroom[i];
			qos->headroom_at = i;
		}
	}
	arena_release(scratch, mark);
	return assign(options, qos);
}
