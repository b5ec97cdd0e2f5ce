// SPDX-License-Identifier: BSD-3-Clause
//
// Which rows of a table of thousands a packet meets: bit vectors per field (Lakshman and Stiliadis
// 1998). The values of a field fall into intervals between the bounds that rows name; each interval
// keeps one bit per row. A look-up finds one interval per field that is in use and takes the rows
// whose bits are set in all of them, in order, 64 at a time. Sets of ranges, such as the members of
// a tenant, cost a row nothing.
//
// Built off the packet path into memory of the caller, const afterwards. Holds offsets only, so it
// may be copied.
#pragma once

#include "base/types.h"

// Wide enough for an IPv6 address, whose first byte on the wire is the highest.
__extension__ typedef unsigned __int128 address_t;

enum acl_field {
	ACL_IN_PORT,
	ACL_SRC_IPV4,
	ACL_SRC_IPV6,
	ACL_DST_IPV4,
	ACL_DST_IPV6,
	ACL_IP_PROTOCOL,
	ACL_L4_SRC_PORT,
	ACL_L4_DST_PORT,
	ACL_ETHER_TYPE,
	ACL_SRC_MAC,
	ACL_DST_MAC,
	ACL_VLAN_ID,
	ACL_DSCP,
	ACL_TC,
	ACL_BTH_OPCODE,
	ACL_BTH_DST_QP,
	ACL_FIELD_COUNT,
};

// The intervals of a field: values from start[i] to start[i + 1] - 1 meet the rows of bits[i].
// Offsets are bytes from the index. `absent_at` are the rows that do not ask for the field, for
// packets that do not have it.
struct acl_intervals {
	uint32_t count; // 0: no row asks for the field
	uint32_t start_at;
	uint32_t bits_at;
	uint32_t absent_at;
};

struct acl_index {
	_Alignas(16) uint32_t row_count;
	uint32_t word_count; // of 64 rows each
	uint32_t fields;     // bit per field that some row asks for
	struct acl_intervals field[ACL_FIELD_COUNT];
};

// --- building ---------------------------------------------------------------------------------

// An index is built in passes in which the caller tells all rows anew, in order: for every field
// that a row restricts first acl_build_restrict(), then acl_build_range() for each range.
enum acl_pass {
	ACL_PASS_COUNT,  // how much memory there must be; no memory yet
	ACL_PASS_BOUNDS, // where intervals begin
	ACL_PASS_ROWS,   // which rows meet them
};

struct acl_builder {
	enum acl_pass pass;
	uint32_t row_count;
	uint32_t fields;
	uint32_t bounds[ACL_FIELD_COUNT]; // at most so many intervals begin
	struct acl_index *index;
};

// Begins the first pass.
void acl_build_begin(struct acl_builder *b, uint32_t row_count);

// Ends the first pass: the bytes that the index needs, less than 4 GiB for the rows and members
// that a configuration can have.
size_t acl_build_bytes(const struct acl_builder *b);

// Begins the second pass with memory aligned to 16 bytes, then the third.
void acl_build_bounds(struct acl_builder *b, void *memory);
void acl_build_rows(struct acl_builder *b);

// Ends the third pass: rows that do not restrict a field meet every value of it.
void acl_build_end(struct acl_builder *b);

// Row `row` meets no value of the field but those in ranges that follow.
void acl_build_restrict(struct acl_builder *b, enum acl_field field, uint32_t row);
void acl_build_range(struct acl_builder *b, enum acl_field field, uint32_t row, address_t first,
		     address_t last);

// In the first two passes only the bounds count; who knows that a range was told already for
// another row of the field need not tell it again.
static inline bool acl_build_wants_bounds(const struct acl_builder *b)
{
	return b->pass != ACL_PASS_ROWS;
}

// --- looking up -------------------------------------------------------------------------------

// The sets of rows that one packet meets, a set per field in use.
struct acl_query {
	uint32_t count;
	const uint64_t *bits[ACL_FIELD_COUNT];
};

static inline bool acl_index_uses(const struct acl_index *index, enum acl_field field)
{
	return index->fields >> field & 1;
}

// The packet has `value` in a field that is in use, or does not have the field at all.
void acl_query_value(const struct acl_index *index, struct acl_query *query, enum acl_field field,
		     address_t value);
void acl_query_absent(const struct acl_index *index, struct acl_query *query, enum acl_field field);

// The first row from `from` on that the packet meets, row_count when there is none.
uint32_t acl_query_next(const struct acl_index *index, const struct acl_query *query,
			uint32_t from);
