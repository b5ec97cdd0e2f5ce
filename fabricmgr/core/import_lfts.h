// SPDX-License-Identifier: BSD-3-Clause
//
// Reads forwarding tables of InfiniBand switches: opensm-lfts.dump of OpenSM, and what dump_fts and
// ibroute print (infiniband-diags). The verifier takes what comes out, without rules of turns.
//
//   Unicast lids [0-44] of switch Lid 2 guid 0x0000000020000000 ('leaf1'):
//   0x0001 001 # Channel Adapter portguid 0x0000000010000001: 'host1 HCA-1'
//
// Tables go by LID, of which each port of a host has one or more, and may lead each elsewhere; so
// every LID is an edge of its own. Whose it is, is known by the GUID of the port, which one line of
// the file has to give. Rows to switches carry no traffic of hosts and are left out.
#pragma once

#include "fabricmgr/core/fabric.h"
#include "routing/plan.h"

struct import_lfts {
	struct topo topo;    // the graph's, with other edges: LIDs in the order of its hosts
	struct plan plan;    // of one lane, without rules of turns
	uint32_t *edge_host; // [topo.edge_count] host of the graph
	uint16_t *edge_lid;  // [topo.edge_count], 0: a port that no line speaks of, without rows
};

// A row of these leads to a port where there is nobody, or another host: a number that no group
// has, so that the verifier finds it where a packet would come by.
enum { IMPORT_LFTS_ASTRAY = PLAN_GROUP_MAX - 1 };

// Tables of a finished fabric, with the GUIDs of its import, and of its graph, which is held on to.
// Switches without a section have no rows. `scratch` is left as it was. 0, -EINVAL with faults, or
// -ENOMEM with one.
int import_lfts(const char *text, size_t bytes, const struct fabric *fabric,
		const struct fabric_graph *graph, struct arena *keep, struct arena *scratch,
		struct import_lfts *lfts, struct fabric_faults *faults);
