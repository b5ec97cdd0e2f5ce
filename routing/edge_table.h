// SPDX-License-Identifier: BSD-3-Clause
//
// Where destinations are: IPv4 and IPv6 prefixes and MAC addresses per VLAN lead to a row number of
// the caller's destination table. In a fabric that row is an edge (switch and port) and the table
// is the same on every switch.
//
// One writer, any number of readers on other lcores. A changed row is written in place, or
// published by one store of a link, so a reader sees the old or the new value and a single row
// never costs a rebuild. Who finds a value sees all that the writer wrote before it set it. Memory
// that a reader may still look at is used again only after edge_table_quiesce().
//
// IPv4: a table of 2^16 and nodes of 2^8 below it, three loads at most. IPv6: one hash table of
// (length, prefix), looked up for each length in use, the longest first. MAC: a hash table.
#pragma once

#include "base/types.h"

#define EDGE_TABLE_NONE UINT32_MAX // no row
#define EDGE_TABLE_VALUE_MAX ((1u << 31) - 2)

struct edge_table;

// At most 2^24 of each, and 2^23 nodes.
struct edge_table_size {
	uint32_t ipv4_prefixes; // rows, all lengths
	uint32_t ipv4_nodes; // nodes of 2^8: one per /16 and one per /24 that has longer prefixes
	uint32_t ipv6_prefixes;
	uint32_t macs;
	uint64_t hash_seed; // random: who can choose addresses shall not choose which ones collide
};

enum edge_kind { EDGE_IPV4, EDGE_IPV6, EDGE_MAC };

// A key. IPv4: the first four bytes of `address`, network order; len 0..32. IPv6: len 0..128. MAC:
// the first six bytes, and vid; len is not used. Bits behind len must be 0.
struct edge_key {
	uint8_t kind; // enum edge_kind
	uint8_t len;
	uint16_t vid;
	uint8_t address[16];
};

// Bytes, and alignment 64, of the memory of a table.
size_t edge_table_bytes(const struct edge_table_size *size);
struct edge_table *edge_table_init(void *memory, const struct edge_table_size *size);

// Adds or changes a row; value <= EDGE_TABLE_VALUE_MAX. 0, -ENOSPC (nothing changed; rows and nodes
// that wait for edge_table_quiesce() are not free yet) or -EINVAL.
int edge_table_set(struct edge_table *t, const struct edge_key *key, uint32_t value);

// 0, or -ENOENT.
int edge_table_delete(struct edge_table *t, const struct edge_key *key);

// The exact row of a key, EDGE_TABLE_NONE when there is none.
uint32_t edge_table_get(const struct edge_table *t, const struct edge_key *key);

// Every reader has passed a quiescent state since the last call: what was unlinked before that call
// may be used again. (Two calls, with a grace period between them, free everything.)
void edge_table_quiesce(struct edge_table *t);

// Rows in use of a kind.
uint32_t edge_table_count(const struct edge_table *t, enum edge_kind kind);

struct edge_row {
	struct edge_key key;
	uint32_t value;
};

// Copies at most `max` rows from position *at on; *at moves on and is 0 at the end. Writer only.
uint32_t edge_table_walk(const struct edge_table *t, uint64_t *at, struct edge_row *out,
			 uint32_t max);

// Longest match of an address in host order (IPv4), or of 16 bytes in network order. One change
// that runs meanwhile is seen whole or not at all. An IPv6 look-up that overlaps several changes
// may see a later one without an earlier one.
uint32_t edge_table_find_ipv4(const struct edge_table *t, uint32_t address);
uint32_t edge_table_find_ipv6(const struct edge_table *t, const uint8_t address[16]);
uint32_t edge_table_find_mac(const struct edge_table *t, uint16_t vid, uint64_t mac);
