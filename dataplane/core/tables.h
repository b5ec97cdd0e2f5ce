// SPDX-License-Identifier: BSD-3-Clause
//
// Forwarding tables: what a switch knows beyond its bridge. Addresses lead to destinations, those
// to next-hop groups or ports, and the turn map says which turns a packet may take at all.
//
// A destination of the fabric is an edge: a switch number and a port there. The addresses and their
// edges are the same on every switch; what differs is one array, from edge switch to group. So a
// change of topology rewrites an array, not the hosts.
//
// One writer (the control thread), any number of lcores that read (and note which neighbours are in
// use). Rows change in place by single
// stores, groups are built aside and published by pointer; what a reader may still look at is used
// again only after tables_quiesce(). Nothing is allocated: memory is the caller's, laid out once.
#pragma once

#include "base/ip.h"
#include "dataplane/core/profile.h"
#include "routing/edge_table.h"
#include "routing/group.h"
#include "routing/hash.h"
#include "routing/turn_map.h"

enum {
	GROUP_NONE = UINT16_MAX,
};

enum dest_kind {
	DEST_FREE,     // no destination: a row that is not in use
	DEST_DROP,     // black hole
	DEST_SELF,     // an address of the switch: to the control thread
	DEST_GLEAN,    // in a network of this switch, but its neighbour is not known yet
	DEST_NEIGHBOR, // a host in a VLAN of this switch
	DEST_GROUP,    // through a next-hop group
	DEST_EDGE,     // a host behind an edge of the fabric
};

// The one thing that lcores write: a packet went to this neighbour. Control clears it.
enum { DEST_USED = 1 };

struct dest {
	uint8_t kind;    // enum dest_kind
	bool is_static;  // of the configuration: nothing learned replaces it
	uint16_t vid;    // GLEAN, NEIGHBOR, EDGE: VLAN that the host is in
	uint16_t number; // GROUP: group; EDGE: edge switch; NEIGHBOR: DEST_USED
	port_t port;     // EDGE: its port there
	uint64_t mac;    // NEIGHBOR, EDGE: of the host
};

// Where a member of a group sends to. mac 0 leaves the destination address: a bridge of the fabric.
struct next_hop {
	uint64_t mac;
	uint16_t vid; // VLAN on the wire, 0: the untagged one of its port
	bool routed;  // a router: frames get its address, and lose one of their hops
};

// Numbers of rows.
struct row_stack {
	uint32_t *row;
	uint32_t count;
};

struct sw_tables {
	// lcores: ro, control: wo
	struct edge_table *where;
	struct dest *dest;
	const struct group **group; // group_count; published by one store
	struct next_hop *next_hop;
	uint16_t *edge_group;   // edge_count; GROUP_NONE: cannot be reached
	struct turn_map *turns; // NULL: every turn is allowed
	uint32_t dest_count;
	uint32_t group_count;
	uint32_t next_hop_count;
	uint32_t edge_count;
	uint16_t self; // own number as an edge switch, EDGE_NONE: not in a fabric
	// control: rw
	uint64_t generation;         // counts changes
	struct group **spare;        // group_count: what the next change of a group is built in
	bool *changing;              // group_count: the spare may still be read
	uint16_t *bucket_room;       // group_count: buckets that both places of a group have
	struct group_member *member; // next_hop_count, sorted by group
	uint32_t *first_member;      // group_count + 1
	struct row_stack free_rows;  // of dest
	struct row_stack gone_rows;  // since the last tables_quiesce()
	struct row_stack old_rows;   // since the one before
};

// Bytes, and alignment 64, that tables of this configuration need, with room for `neighbors`
// addresses to be learned. 0 when it has none of their rows: a plain bridge.
size_t tables_bytes(const struct sw_config *config, uint32_t neighbors);

// Builds the tables of a configuration: interfaces, static neighbours, next hops, routes, hosts and
// edges, turns. A next hop with an address but no `mac` takes no packets until it is resolved.
// Returns 0, or -EINVAL with `fault` filled and `memory` undefined.
int tables_build(const struct sw_config *config, const struct sw_profile *pf, uint32_t neighbors,
		 void *memory, struct sw_tables **out, struct profile_fault *fault);

// Adds or moves a learned neighbour; a static row stays. 0, or -ENOSPC and the address has no row
// of a neighbour: what it was known as is gone.
int tables_neighbor_set(struct sw_tables *t, const struct ip_prefix *address, uint16_t vid,
			uint64_t mac);
void tables_neighbor_delete(struct sw_tables *t, const struct ip_prefix *address);

// Whether a packet went to a neighbour since the last call.
bool tables_neighbor_used(struct sw_tables *t, const struct ip_prefix *address);

// Whether an address has a row of a neighbour, and whether that is of the configuration.
bool tables_has_neighbor(const struct sw_tables *t, const struct ip_prefix *address);
bool tables_neighbor_is_static(const struct sw_tables *t, const struct ip_prefix *address);

// Resolves a next hop, or with mac 0 and PORT_NONE gives it up: only the buckets of its groups that
// must move do. 0, -EBUSY: the group changed since the last tables_quiesce(), try again then, or
// -EINVAL: there is no such next hop or port. Another address at the same port is never busy.
int tables_next_hop_set(struct sw_tables *t, uint32_t next_hop, port_t port, uint64_t mac);

// Points an edge switch to a group, or to GROUP_NONE. 0, or -EINVAL: no such edge or group.
int tables_edge_set(struct sw_tables *t, uint16_t edge, uint16_t group);

// Every lcore has passed between two polls since the last change. (Rows of neighbours wait for a
// second call.)
void tables_quiesce(struct sw_tables *t);

// The name that the next_hop rows of the configuration, of which the tables are, give a group; and
// the group of a name, GROUP_NONE when there is none.
const char *tables_group_name(const struct sw_tables *t, const struct sw_config *config,
			      uint16_t group);
uint16_t tables_group_find(const struct sw_tables *t, const struct sw_config *config,
			   const char *name);
