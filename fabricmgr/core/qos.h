// SPDX-License-Identifier: BSD-3-Clause
//
// The QoS of a fabric: which priority carries which class on which lane, and what each kind of port
// needs so that nothing is lost. A lossless class takes a priority for each lane of the plan; with
// the lossy one and congestion notification they must fit into eight.
#pragma once

#include "base/types.h"
#include "fabricmgr/core/fabric.h"

enum { QOS_CLASS_MAX = 8, QOS_PORTS_MAX = 64, QOS_CNP_PRIO = 6, QOS_LOSSY_PRIO = 0 };

struct qos_class {
	const char *name;
	uint64_t dscp; // bit 1 << code point
	bool lossless;
	bool ecn;
	uint32_t share_ppm; // of the bandwidth of a port
};

struct qos_options {
	struct qos_class class[QOS_CLASS_MAX];
	uint32_t class_count;
	uint32_t lanes;       // of the plan
	uint32_t mtu;         // largest IP packet
	uint32_t ring_frames; // of a receive and a transmit ring
	uint32_t cell_bytes;
	uint64_t gap_ns; // longest time between two visits of a port
};

enum qos_use { QOS_FREE, QOS_LOSSY, QOS_LOSSLESS, QOS_CNP };

struct qos_prio {
	enum qos_use use;
	uint32_t class; // QOS_CLASS_MAX: all other traffic
	uint32_t lane;
};

struct qos_headroom {
	uint64_t bytes;
	uint64_t frames; // of any length, that come in as many bytes
};

// Ports of one speed and cable.
struct qos_ports {
	uint64_t speed_bps;
	uint32_t length_mm;
	bool to_host;
	uint32_t count;
	struct qos_headroom headroom; // of a lossless priority group; hosts use lane 0 alone
	uint64_t ecn_min_bytes;
	uint64_t ecn_max_bytes;
};

struct qos {
	struct qos_prio prio[PRIO_COUNT];
	uint32_t prio_count; // that are needed, which may be more than there are
	struct qos_ports ports[QOS_PORTS_MAX];
	uint32_t ports_count;
	bool ports_cut;          // there are more kinds
	uint64_t headroom_worst; // bytes of all ports of the switch that needs most
	uint32_t headroom_at;    // that switch
};

// False: more priorities are needed than there are, and prio_count says how many. -ENOMEM is
// *memory_short.
bool qos_plan(const struct fabric *fabric, const struct qos_options *options, struct arena *scratch,
	      struct qos *qos, bool *memory_short);

// The ports of a kind, NULL when the plan has none.
const struct qos_ports *qos_find_ports(const struct qos *qos, uint64_t speed_bps,
				       uint32_t length_mm, bool to_host);

// Headroom of a lossless priority group behind a link of software (rings of memory) between ends
// that look at them at least every `late_ns`, at this rate.
struct qos_headroom qos_software_headroom(const struct qos_options *options, uint64_t speed_bps,
					  uint64_t late_ns);
