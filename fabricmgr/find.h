// SPDX-License-Identifier: BSD-3-Clause
//
// Names that a person types, as numbers of a fabric and its graph. What is not there is said in a
// sentence, with the nearest name that is, so that the command line and the fabric manager's socket
// answer in the same words.
#pragma once

#include "fabricmgr/core/fabric.h"

enum { FIND_WHY_BYTES = 256 };

// One end of a way of packets.
struct find_end {
	uint32_t at;   // switch
	uint32_t host; // of the graph, TOPO_NONE: a switch was named
	uint32_t edge; // of the host, or the first of the switch; TOPO_NONE: it has no hosts
};

// Each is false, with a sentence without a full stop in `why`, when there is no such object.
bool find_switch(const struct fabric *fabric, const char *name, uint32_t *at,
		 char why[FIND_WHY_BYTES]);
// "leaf1:Ethernet4", a port that leads to another switch: the link that it transmits on.
bool find_link(const struct fabric *fabric, const struct topo *topo, const char *name,
	       uint32_t *link, char why[FIND_WHY_BYTES]);
// A host, "HOST:N" its n-th port counted from 0, or a switch.
bool find_end(const struct fabric *fabric, const struct fabric_graph *graph, const char *name,
	      struct find_end *end, char why[FIND_WHY_BYTES]);
