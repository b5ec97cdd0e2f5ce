// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric with names: switches, cables, hosts and what they are allowed, whatever it was read
// from. Intent files, importers and labs fill it, planner, drawings and exports read it.
//
// Everything is in one arena; names are unique among their kind, ended by 0, and of printable
// ASCII without blanks. Cables are those between switches; a host hangs on a switch by its ports.
#pragma once

#include "base/ip.h"
#include "routing/topo.h"

enum {
	FABRIC_NAME_BYTES = 64, // the 0 included
	FABRIC_DIMS_MAX = 6,
	FABRIC_TENANT_MAX = 4095,
	FABRIC_LEVEL_NONE = 0xff,
};

enum fabric_kind {
	FABRIC_LINKS, // nothing is known but the links
	FABRIC_TREE,  // fat-tree, leaf-spine, Clos
	FABRIC_TORUS,
	FABRIC_HYBRID, // Torus pods joined by a tree
};

struct fabric_switch {
	const char *name;
	uint64_t guid; // of an import, 0: none
	uint16_t port_count;
	uint8_t level;                   // 0: leaves; FABRIC_LEVEL_NONE: not known
	uint8_t pod;                     // of a hybrid: its Torus; 0 otherwise
	uint16_t place[FABRIC_DIMS_MAX]; // in a Torus
	bool has_place;
	bool root;    // asked for as a root of up*/down*
	bool ignored; // as if it were not there
};

struct fabric_cable {
	uint32_t end_switch[2];
	uint16_t end_port[2];
	uint16_t weight; // 1..
	bool ignored;
	bool wrap; // of a Torus: it closes a ring
	uint64_t speed_bps;
	uint32_t length_mm;
	uint32_t line; // of the file that it was read from, 0: made
};

struct fabric_host {
	const char *name;
	uint32_t tenant;     // index, 0: all may talk to it
	bool external;       // an uplink to elsewhere, which the default route leads to
	uint32_t first_port; // its ports are consecutive in fabric->host_port
	uint32_t port_count;
};

// One NIC port. Several of one host at several leaves are dual homing, or rails.
struct fabric_host_port {
	uint32_t host;
	uint32_t at; // switch
	uint16_t port;
	uint16_t rail;
	uint64_t mac;        // 0: not known
	struct ip_prefix ip; // its own address and subnet; family as in base/ip.h
	uint64_t speed_bps;
	uint32_t length_mm;
	uint64_t guid;
	uint32_t line;
};

struct fabric {
	const char *name;
	enum fabric_kind kind;
	struct arena *keep;
	struct fabric_switch *switches;
	struct fabric_cable *cables;
	struct fabric_host *hosts;
	struct fabric_host_port *host_ports;
	const char **tenants; // [0] is ""
	uint32_t switch_count;
	uint32_t cable_count;
	uint32_t host_count;
	uint32_t host_port_count;
	uint32_t tenant_count;
	// Torus.
	uint32_t dim_count;
	uint32_t dims[FABRIC_DIMS_MAX];
	uint32_t shift[FABRIC_DIMS_MAX][FABRIC_DIMS_MAX]; // [wrap of][added to], twisted wraps
};

// Numbers of the graph and of the fabric. Edges are the switches with host ports, in their order;
// a `host` of the graph is a host port.
struct fabric_graph {
	struct topo topo;
	struct topo_state state; // what is ignored is lost
	uint32_t *cable_link;    // [cable_count] link of end 0
	uint32_t *host_of;       // [topo.host_count] index into host_ports
	uint32_t *switch_edge;   // [switch_count] or TOPO_NONE
};
