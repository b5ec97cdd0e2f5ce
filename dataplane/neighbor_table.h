// SPDX-License-Identifier: BSD-3-Clause
//
// The neighbours of a switch by address. Two kinds of places: a few for those that are asked for
// and may not exist, the oldest of which makes room for the next, so that whoever scans a network
// fills nothing; and as many as the configuration says for those that are known, where one that
// nobody has used for long makes room.
//
// Memory is taken once. Time, and the key of the hash, are the caller's.
#pragma once

#include "base/ip.h"
#include "dataplane/neighbor_state.h"

enum {
	NEIGHBOR_WANTED_MAX = 256, // asked for at one time
	NEIGHBOR_LOOK_MAX = 64,    // places that are looked at for one to make room
	NEIGHBOR_TURN_MIN = 1024,  // known places of a turn, if there are so many
};

struct neighbor_row {
	struct neighbor n;
	struct ip_prefix address; // family IP_NONE: the place is free
	uint16_t vid;
	port_t port;   // it was last heard on
	bool next_hop; // of a group: always in use
	uint32_t next; // with the same hash, or free as well; NEIGHBOR_ROW_NONE: the last
};

#define NEIGHBOR_ROW_NONE UINT32_MAX

struct neighbor_table {
	struct neighbor_row *row; // NEIGHBOR_WANTED_MAX + limit: wanted ones first
	uint32_t *head;           // head_mask + 1
	uint32_t head_mask;
	uint32_t count; // rows
	uint32_t known; // in use, of those that are known
	uint32_t wanted;
	uint32_t wanted_at; // the oldest place
	uint32_t known_at;  // where one that may go is looked for next
	uint32_t free;      // first free place for a known one
	uint32_t turn_at;   // the known place whose turn is next
	uint64_t key;
};

// With room for `limit` > 0 known ones. 0 or -ENOMEM.
int neighbor_table_open(struct neighbor_table *t, uint32_t limit, uint64_t key);
void neighbor_table_close(struct neighbor_table *t); // accepts zeros

// NULL when nothing is known of an address.
struct neighbor_row *neighbor_table_find(const struct neighbor_table *t,
					 const struct ip_prefix *address);

// A place for an address that is new, among those asked for; always succeeds.
struct neighbor_row *neighbor_table_want(struct neighbor_table *t, const struct ip_prefix *address,
					 uint16_t vid);

// A place among the known ones for an address that is new, or is among those asked for and leaves
// them. NULL: all are taken. With `evicted` filled (its family is not IP_NONE) that neighbour has
// made room, and the forwarding tables must forget it.
struct neighbor_row *neighbor_table_know(struct neighbor_table *t, const struct ip_prefix *address,
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
