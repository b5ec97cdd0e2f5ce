// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric with names: switches, cables, hosts and what they are allowed, whatever it was read
// from. Intent files, importers and labs fill it, planner, drawings and exports read it.
//
// Everything is in one arena; names are unique among their kind, ended by 0, and of printable
// ASCII without blanks. Cables are those between switches; a host hangs on a switch by its ports.
//
// Life: fabric_init(), any order of fabric_add_*(), fabric_finish(), which sorts and checks; then
// it is const, and fabric_graph_build() makes the numbers of it that routes are planned on.
#pragma once

#include "base/ip.h"
#include "routing/topo.h"

enum {
	FABRIC_NAME_BYTES = 64, // the 0 included
	FABRIC_DIMS_MAX = 6,
	FABRIC_TENANT_MAX = 4095,
	FABRIC_HOST_MAX = 1 << 20, // host ports, too
	FABRIC_LEVEL_NONE = 0xff,
};

#define FABRIC_NONE UINT32_MAX

enum fabric_kind {
	FABRIC_LINKS, // nothing is known but the links
	FABRIC_TREE,  // fat-tree, leaf-spine, Clos
	FABRIC_TORUS,
	FABRIC_HYBRID, // Torus pods joined by a tree
};

// What is wrong, and with what. The line is that of the file, 0: none.
enum fabric_fault_kind {
	FABRIC_FAULT_NONE,
#define FABRIC_FAULT(name, text) FABRIC_FAULT_##name,
#include "schema/fabric_faults.def"
#undef FABRIC_FAULT
	FABRIC_FAULT_COUNT,
};

struct fabric_fault {
	enum fabric_fault_kind kind;
	uint32_t line;
	char object[FABRIC_NAME_BYTES];
	char detail[FABRIC_NAME_BYTES];
	uint64_t have;
	uint64_t want;
};

// Sentences with %o, %d, %h and %w (sys/fault.h); [FABRIC_FAULT_NONE] is "".
extern const char *const fabric_fault_texts[FABRIC_FAULT_COUNT];

// The first of them are kept, all are counted.
enum { FABRIC_FAULTS_MAX = 20 };

struct fabric_faults {
	struct fabric_fault fault[FABRIC_FAULTS_MAX];
	uint32_t count;
};

// Notes a fault. Names are cut to fit.
void fabric_fail(struct fabric_faults *faults, enum fabric_fault_kind kind, uint32_t line,
		 const char *object, const char *detail, uint64_t have, uint64_t want);

struct fabric_switch {
	const char *name;
	const char *port_prefix;       // of names of ports, "Ethernet" unless told otherwise
	const char *const *port_names; // [port_count], NULL: prefix and number
	uint64_t guid;                 // of an import, 0: none
	uint32_t line;
	uint16_t port_count; // ports are 0..port_count - 1; grows with what is plugged in
	uint16_t pod;        // of a tree or a hybrid, counted from 1; 0: of none
	uint16_t place[FABRIC_DIMS_MAX]; // in a Torus
	uint8_t level;                   // 0: leaves; FABRIC_LEVEL_NONE: not known
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
	uint32_t first_port; // in fabric->host_ports, once it is finished
	uint32_t port_count;
	uint32_t line;
};

// One NIC port. Several of one host at several leaves are dual homing, or rails.
struct fabric_host_port {
	uint32_t host;
	uint32_t at; // switch
	uint16_t port;
	uint16_t rail;
	uint32_t line;
	uint32_t length_mm;
	uint64_t speed_bps;
	uint64_t mac; // 0: not known
	uint64_t guid;
	struct ip_prefix ip;  // its own address with the length of its subnet; IP_NONE: none
	struct ip_prefix ip6; // likewise
};

// Names to numbers by hashing; private to fabric.c.
struct fabric_index {
	uint32_t *slot; // number + 1, 0: free
	uint32_t size;  // a power of two
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
	// Torus, and pods of a hybrid.
	uint32_t dim_count;
	uint32_t dims[FABRIC_DIMS_MAX];
	uint32_t shift[FABRIC_DIMS_MAX][FABRIC_DIMS_MAX]; // [wrap of][added to], twisted wraps
	// Private to fabric.c: room of the arrays above, and where names are.
	uint32_t switch_room;
	uint32_t cable_room;
	uint32_t host_room;
	uint32_t host_port_room;
	uint32_t tenant_room;
	struct fabric_index switch_index;
	struct fabric_index host_index;
	char *text;
	uint32_t text_left;
};

// An empty fabric in `keep`, which it holds on to. 0, or -ENOMEM.
int fabric_init(struct fabric *fabric, struct arena *keep);

// Room for so many in all; a hint, adding makes room as well. 0, or -ENOMEM.
int fabric_reserve(struct fabric *fabric, uint32_t switches, uint32_t cables, uint32_t hosts,
		   uint32_t host_ports);

// A copy of a text that lives as long as the fabric, NULL: memory is short.
const char *fabric_text(struct fabric *fabric, const char *text);

// Each adds one object, zeroed but for what is said; NULL: memory is short, or there are
// FABRIC_HOST_MAX. Pointers are good until the next one of the kind is added. Whether a name is
// taken and whether ports are free is found by fabric_finish(), or by looking first.
//
// A switch: level and place not known, ports of the prefix "Ethernet".
struct fabric_switch *fabric_add_switch(struct fabric *fabric, const char *name);
// A cable: weight 1; both switches exist. Their port counts grow.
struct fabric_cable *fabric_add_cable(struct fabric *fabric, uint32_t a, uint16_t a_port,
				      uint32_t b, uint16_t b_port);
struct fabric_host *fabric_add_host(struct fabric *fabric, const char *name);
// A port of any host, in any order. The port count of the switch grows.
struct fabric_host_port *fabric_add_host_port(struct fabric *fabric, uint32_t host, uint32_t at,
					      uint16_t port);

// The number of the tenant with this name, a new one if need be; FABRIC_NONE: memory is short, or
// there are FABRIC_TENANT_MAX.
uint32_t fabric_tenant(struct fabric *fabric, const char *name);

// Numbers, FABRIC_NONE when there is none. Good at any time.
uint32_t fabric_find_switch(const struct fabric *fabric, const char *name);
uint32_t fabric_find_host(const struct fabric *fabric, const char *name);

// Sorts ports of hosts and checks that names are names and taken once, and that each port has one
// cable. Faults are added. 0, -EINVAL: there are faults, or -ENOMEM.
int fabric_finish(struct fabric *fabric, struct arena *scratch, struct fabric_faults *faults);

// Who is plugged into a port of a switch: the end of a cable, cable x 2 + end, or behind all of
// them a host port, cable_count x 2 + host port.
struct fabric_plugs {
	uint32_t *first; // [switch_count + 1] of a switch's ports in `user`
	uint32_t *user;  // + 1; 0: nobody
};

// Of a finished fabric, in `arena`. 0, or -ENOMEM.
int fabric_plugs_build(const struct fabric *fabric, struct arena *arena,
		       struct fabric_plugs *plugs);

// FABRIC_NONE: nobody, or there is no such port.
static inline uint32_t fabric_plug(const struct fabric_plugs *plugs, uint32_t at, uint16_t port)
{
	const uint32_t slot = plugs->first[at] + port;

	return slot < plugs->first[at + 1] ? plugs->user[slot] - 1 : FABRIC_NONE;
}

// The name of a port: that of the switch's own list, or its prefix and the number.
const char *fabric_port_name(const struct fabric_switch *sw, uint16_t port,
			     char out[FABRIC_NAME_BYTES]);

// The port of this name; a bare number is a port as well. False: the switch has none.
bool fabric_find_port(const struct fabric_switch *sw, const char *text, uint16_t *port);

// Whether two hosts may talk: of one tenant, or one of them is everybody's.
static inline bool fabric_allows(const struct fabric *fabric, uint32_t a, uint32_t b)
{
	const uint32_t first = fabric->hosts[a].tenant;
	const uint32_t second = fabric->hosts[b].tenant;

	return first == second || first == 0 || second == 0;
}

// Numbers of the graph and of the fabric. Edges are the switches with host ports, in their order;
// a `host` of the graph is a host port, in the order of edges, and of ports of the switch. Switches
// have the same numbers.
struct fabric_graph {
	struct topo topo;
	struct topo_state state; // what is ignored is lost
	uint32_t *cable_link;    // [cable_count] link of end 0
	uint32_t *link_cable;    // [topo.link_count] cable, its end 1 in bit 31
	uint32_t *host_of;       // [topo.host_count] index into host_ports
	uint32_t *host_number;   // [host_port_count] the inverse
	uint32_t *switch_edge;   // [switch_count] or TOPO_NONE
};

#define FABRIC_FAR_END 0x80000000u

// The graph of a finished fabric, in `keep`. 0, or -EINVAL or -ENOMEM with a fault.
int fabric_graph_build(const struct fabric *fabric, struct arena *keep, struct arena *scratch,
		       struct fabric_graph *graph, struct fabric_faults *faults);
