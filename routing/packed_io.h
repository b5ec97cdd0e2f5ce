// SPDX-License-Identifier: BSD-3-Clause
//
// Both directions of the packed form, a number at a time, and the parts that tables and deltas have
// in common. A reader that is at its end gives zeros and remembers it, so callers ask once per
// part; a writer without memory counts and hashes only. Internal to routing/.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "routing/packed.h"

struct packed_in {
	const uint8_t *data;
	size_t left;
	bool short_of; // something was read beyond the end
};

struct packed_out {
	uint8_t *data; // NULL: nothing is written
	uint32_t size;
	uint64_t hash;
};

// The next `count` bytes, NULL when there are not so many.
static inline const uint8_t *packed_take(struct packed_in *in, size_t count)
{
	const uint8_t *at = in->data;

	if (in->left < count) {
		in->short_of = true;
		in->left = 0;
		return NULL;
	}
	in->data += count;
	in->left -= count;
	return at;
}

static inline uint8_t packed_get8(struct packed_in *in)
{
	const uint8_t *at = packed_take(in, 1);

	return at == NULL ? 0 : *at;
}

static inline uint16_t packed_get16(struct packed_in *in)
{
	const uint8_t *at = packed_take(in, 2);

	return at == NULL ? 0 : load_be16(at);
}

static inline uint32_t packed_get32(struct packed_in *in)
{
	const uint8_t *at = packed_take(in, 4);

	return at == NULL ? 0 : load_be32(at);
}

static inline uint64_t packed_get64(struct packed_in *in)
{
	const uint8_t *at = packed_take(in, 8);

	return at == NULL ? 0 : load_be64(at);
}

// Memory and hash of nothing.
static inline struct packed_out packed_out_to(uint8_t *data)
{
	return (struct packed_out){ .data = data, .hash = HASH_EMPTY };
}

static inline void packed_put8(struct packed_out *out, uint8_t value)
{
	if (out->data != NULL)
		out->data[out->size] = value;
	out->size++;
	out->hash = hash_add(out->hash, value);
}

static inline void packed_put16(struct packed_out *out, uint16_t value)
{
	packed_put8(out, (uint8_t)(value >> 8));
	packed_put8(out, (uint8_t)value);
}

static inline void packed_put32(struct packed_out *out, uint32_t value)
{
	packed_put16(out, (uint16_t)(value >> 16));
	packed_put16(out, (uint16_t)value);
}

static inline void packed_put64(struct packed_out *out, uint64_t value)
{
	packed_put32(out, (uint32_t)(value >> 32));
	packed_put32(out, (uint32_t)value);
}

void packed_put_group(struct packed_out *out, const struct plan *plan, uint32_t group);
void packed_put_turns(struct packed_out *out, const struct packed_table *table);

// Reads one group into `hops`, of PLAN_HOP_MAX. 0, or -EBADMSG.
int packed_get_group(struct packed_in *in, struct plan_hop *hops, uint32_t *count, uint32_t *pin);

// Reads ports and rules of turns into a table whose plan is made. 0, -ENOMEM, or -EBADMSG.
int packed_get_turns(struct packed_in *in, struct arena *keep, struct packed_table *table);

// Ports and rules of turns of another table. 0, or -ENOMEM.
int packed_copy_turns(const struct packed_table *from, struct arena *keep,
		      struct packed_table *table);

// An empty table of so many edges, all PLAN_NONE. 0, or -ENOMEM.
int packed_init(uint32_t edge_count, struct arena *keep, struct packed_table *table);

// Whether all hops are of links that the table has.
bool packed_hops_exist(const struct packed_table *table);

// Notes size and hash of the packed form: the last step of making a table.
void packed_seal(struct packed_table *table);
