// SPDX-License-Identifier: BSD-3-Clause
//
// What the fabric decides about one switch, as text of a switch configuration (schema/config.def):
// roles of ports, lanes and their tags, classes as maps, PFC, ECN, ETS shares, buffers with
// headroom, watchdog, hosts of the fabric with their edges, gateways, rules of tenants, hash seeds.
//
// A managed switch has a file of its own that says what it is made of: its name, its ports and
// their devices, rings and lcores, and where the manager is. The fabric's text has a row for each
// of its ports too, row N being port N. Knobs that the file owns (schema/local_knobs.def) stand
// there for reading, those of the file count; everything else of the text stands for the file's.
#pragma once

#include <stdio.h>

#include "fabricmgr/source.h"

// Writes the devargs of a port into `out` and returns it.
typedef const char *switch_config_devargs(void *arg, const struct source *source, uint32_t at,
					  uint16_t port, char *out, size_t bytes);

// Where the ports of a lab or a test are: devargs, rings, burst and lcore of each port. `devargs`
// writes the text for a port of a switch and returns it.
struct switch_config_lab {
	switch_config_devargs *devargs;
	void *arg;
	const char *port_knobs;   // more knobs of each port: "burst = \"20ms\"; tx_ring = 32;"
	const char *switch_knobs; // of the top level: "descriptors = 8192;"
	uint64_t late_ns;         // that an end of a link may be away, burst included; 0: 1.1 ms
};

// --- changes ----------------------------------------------------------------------------------
//
// The same fabric, plan and QoS give the same text. It does not change with what is lost, but for
// lanes that a new plan needs.
//
// A switch takes all of a text between two polls, buffers and PFC with maps, so the order of a
// change concerns neighbours alone. What leaves lanes and pfc_enable of their link as they are may
// be changed in any order. Otherwise their link takes no lossless traffic until both have changed
// and have said so (hello): frames take other links of the group, and are dropped and counted where
// no link agrees. Nothing is lost in a tree that changes the switches of a tier in two halves with
// the tier below at once in between, and back in reverse; or when the switch is drained.

// Writes the text for switch `at`. With `lab` it is a file that weft-switch can start with; else
// devargs name NICs that are nobody's. `with_routes` adds rows of edges, next hops and turns,
// for switches without a manager; a manager sends those packed. `source` is only read, also by
// several threads at once.
//
// 0, or after a line on `errors`, with half a text written: -EOVERFLOW, more priorities, hosts or
// rows than a switch has; -ENOTSUP, what a switch cannot do: pinned groups as rows, lanes of two
// lossless classes; -EINVAL, a name that is none of a switch or its port; -ENOMEM; -EIO.
int switch_config_write(const struct source *source, const struct plan *plan, const struct qos *qos,
			uint32_t at, const struct switch_config_lab *lab, bool with_routes,
			FILE *out, FILE *errors);
