// SPDX-License-Identifier: BSD-3-Clause
//
// The table of one switch as bytes: what the fabric manager sends and a switch keeps over a
// restart. One table has one packed form, so equal hashes of the bytes mean equal tables, and a
// delta against a table that both ends have carries only what changed.
#pragma once

#include "base/types.h"
#include "routing/arena.h"
#include "routing/plan.h"
#include "routing/topo.h"

// Numbers are in network order. A table (version 1):
//
//   u16 version  u16 0  u16 edges  u16 groups
//   edges   x u16: group, PLAN_LOCAL or PLAN_NONE; groups are numbered by first use
//   groups  x u16 hops (1..PLAN_HOP_MAX), u32 pin, hops x { u16 link, u16 weight }, sorted by link
//   turns:    u16 links  u8 lanes  u8 classes  u32 exceptions
//             links x u16 port, ascending
//             links x u8 class; 0 is that of hosts, others are numbered by first use
//             classes x classes x lanes x u8 lane to leave on, or TURN_DENY: [in][out][lane]
//             exceptions x { u16 link in, PACKED_HOSTS: hosts  u16 link out  u8 lane  u8 to },
//             sorted by these
//
// A delta (version 1):
//
//   u16 version  u16 1 when it has turns, else 0  u16 edges  u16 groups  u32 rows
//   u64 hash of the table it changes  u64 hash of what results
//   groups  as above: those that the base does not have
//   rows    x { u16 edge, ascending  u16 group of the base, or base's groups + number above }
//   turns   as above, when they changed
enum {
	PACKED_VERSION = 1,
	PACKED_EDGE_MAX = 65535,
	PACKED_EXCEPTION_MAX = 1 << 20,
	PACKED_HOSTS = 0xffff,
	PACKED_BYTES_MAX = 16 << 20,
};

// A plan of one switch: its links are numbered from 0, each with a port; groups by first use.
struct packed_table {
	struct plan plan;
	uint32_t link_count;
	uint16_t *port; // [link_count] ascending
	uint32_t size;  // of the packed form
	uint64_t hash;  // of the packed form (base/hash.h)
};

struct packed_bytes {
	uint8_t *data;
	uint32_t size;
};

// What a plan means for switch `at`. 0, -ENOMEM, -EINVAL (a hop of a link that is not there), or
// -EOVERFLOW: too many edges, exceptions or bytes for the packed form. `scratch` is left as it was.
int packed_table_of(const struct topo *topo, const struct plan *plan, uint32_t at,
		    struct arena *keep, struct arena *scratch, struct packed_table *table);

// Writes table->size bytes.
void packed_table_encode(const struct packed_table *table, uint8_t *out);

// Reads a table; memory taken from `keep` is bounded by the size of the bytes. 0, -ENOMEM,
// -EPROTONOSUPPORT (another version), or -EBADMSG: anything that packed_table_encode() would not
// have written. On failure `keep` is left as it was.
int packed_table_decode(const uint8_t *data, size_t size, struct arena *keep,
			struct packed_table *table);

// What makes `next` of `base`, in `keep`; `scratch` is left as it was. It may be larger than `next`
// whole: the caller compares sizes. 0, -ENOMEM, or -EOVERFLOW: more groups than can be numbered,
// send it whole.
int packed_delta_encode(const struct packed_table *base, const struct packed_table *next,
			struct arena *keep, struct arena *scratch, struct packed_bytes *delta);

// The table that a delta makes of `base`, bounded by both. -ESTALE: it is for another base. Other
// errors as of packed_table_decode(); a result with another hash than was said is -EBADMSG.
int packed_delta_apply(const struct packed_table *base, const uint8_t *data, size_t size,
		       struct arena *keep, struct arena *scratch, struct packed_table *table);
