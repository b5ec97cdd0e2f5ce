// SPDX-License-Identifier: BSD-3-Clause
//
// The neighbours of a switch: hosts by address, and next hops by where they are expected as well,
// since routers of different links may share an address (fe80::1, 169.254.0.1).
//
// Two kinds of places: a few for hosts that are asked for and may not exist, the oldest of which
// makes room for the next, so that whoever scans a network fills nothing; and as many as the
// configuration says for those that are known, where a host that nobody uses makes room.
//
// Memory is taken once. Time, and the key of the hash, are the caller's.
#pragma once

#include <string.h>

#include "base/ip.h"
#include "dataplane/neighbor_state.h"

enum {
	NEIGHBOR_WANTED_MAX = 256, // asked for at one time
	NEIGHBOR_LOOK_MAX = 64,    // places that are looked at for one to make room
	NEIGHBOR_TURN_MIN = 1024,  // known places of a turn, if there are so many
};

// Whose row it is. A host in a network of the switch is its address alone, as in the forwarding
// tables. A next hop of a group is always in use, and has its own row even if it is such a host.
struct neighbor_key {
	struct ip_prefix address; // family IP_NONE: the place is free
	bool next_hop;
	uint16_t vid; // of a next hop: where it must be, 0: any
	port_t port;  // likewise, or the LAG's; PORT_NONE: any
};

static inline struct neighbor_key neighbor_host_key(const struct ip_prefix *address)
{
	return (struct neighbor_key){ .address = *address, .port = PORT_NONE };
}

static inline bool neighbor_key_equal(const struct neighbor_key *a, const struct neighbor_key *b)
{
	return a->address.family == b->address.family && a->next_hop == b->next_hop &&
	       a->vid == b->vid && a->port.v == b->port.v &&
	       memcmp(a->address.address, b->address.address, sizeof(a->address.address)) == 0;
}

struct neighbor_row {
	struct neighbor n;
	struct neighbor_key key;
	uint16_t vid;  // it was last heard in
	port_t port;   // and on
	uint32_t next; // with the same hash, or free as well; NEIGHBOR_ROW_NONE: the last
};

#define NEIGHBOR_ROW_NONE UINT32_MAX

struct neighbor_table {
	struct neighbor_row *row; // NEIGHBOR_WANTED_MAX + limit + hop_limit: wanted ones first
	uint32_t *head;           // head_mask + 1
	uint32_t head_mask;
	uint32_t count;     // rows
	uint32_t limit;     // hosts that are known
	uint32_t hop_limit; // next hops
	uint32_t known;     // rows in use, of those that are known
	uint32_t hops;      // of these
	uint32_t wanted;
	uint32_t wanted_at; // the oldest place
	uint32_t known_at;  // where one that may go is looked for next
	uint32_t free;      // first free place for a known one
	uint32_t turn_at;   // the known place whose turn is next
	uint64_t key;
};

// With room for `limit` > 0 hosts that are known, and for next hops. 0 or -ENOMEM.
int neighbor_table_open(struct neighbor_table *t, uint32_t limit, uint32_t hop_limit, uint64_t key);
void neighbor_table_close(struct neighbor_table *t); // accepts zeros

// NULL when nothing is known of it.
struct neighbor_row *neighbor_table_find(const struct neighbor_table *t,
					 const struct neighbor_key *key);

// A place for a host that is new, among those asked for; always succeeds.
struct neighbor_row *neighbor_table_want(struct neighbor_table *t, const struct ip_prefix *address,
					 uint16_t vid);

// A place among the known ones for one that is new, or is among those asked for and leaves them.
// NULL: all are taken. With `evicted` filled (its family is not IP_NONE) that host has made room,
// and the forwarding tables must forget it; next hops make none.
struct neighbor_row *neighbor_table_know(struct neighbor_table *t, const struct neighbor_key *key,
					 uint16_t vid, struct ip_prefix *evicted);

void neighbor_table_remove(struct neighbor_table *t, struct neighbor_row *row);

// Whose timers are looked at in one of `ticks` ticks of a second: all that are asked for, since
// packets wait for them, and a share of those that are known, each of which has its turn within the
// second.
struct neighbor_turn {
	uint32_t wanted; // next place
	uint32_t left;   // known places
};
struct neighbor_turn neighbor_table_turn(const struct neighbor_table *t, uint32_t ticks);

// The next one of a turn, NULL after the last. It may be removed before the next is asked for.
struct neighbor_row *neighbor_table_next(struct neighbor_table *t, struct neighbor_turn *turn);
