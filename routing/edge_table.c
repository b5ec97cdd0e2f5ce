// SPDX-License-Identifier: BSD-3-Clause
//
// The edge table: rows by exact key in edge_rows.c, and for IPv4 a tree of slots in which each
// prefix is spread over the addresses it covers (as DIR-24-8 of Gupta, Lin and McKeown 1998, with
// 16, 8 and 8 bits, so that a table costs memory only where there are prefixes).
//
// The default route of IPv4 is a word of its own: it would cover every slot. Slot i holds a value
// or a node, and depth[i], which only the writer reads, the length + 1 of the prefix its value is
// from.
//
// Invariants: a node counts the prefixes that end in it and the nodes below it, and goes when there
// are none; a slot never holds a value of a shorter prefix while a longer one covers it.

#include "routing/edge_table.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "routing/edge_rows.h"

enum {
	ROOT_BITS = 16,
	ROOT_SLOTS = 1 << ROOT_BITS,
	NODE_SLOTS = 256,
	KIND_COUNT = 3,
	VID_MAX = 4095,
};

#define SLOT_NODE (1u << 31)
#define SLOT_NONE (SLOT_NODE - 1) // no prefix but the default route
#define NODE_END UINT32_MAX

static_assert(EDGE_TABLE_VALUE_MAX < SLOT_NONE, "a value is neither a node nor none");

// Writer only.
struct node {
	uint32_t used;
	uint32_t waiting; // next in the list of free or removed ones
};

struct edge_table {
	// readers: ro, control: rw
	_Atomic uint32_t *slot; // the root's, then each node's
	uint32_t root_mask;     // 0 when there is no room for prefixes: one slot serves all
	_Atomic uint32_t ipv4_default;
	_Atomic uint64_t ipv6_lengths[3]; // bit len % 64 of word len / 64: such prefixes exist
	struct edge_rows rows[KIND_COUNT];
	// control: rw, readers: none
	uint32_t length_count[2][129]; // of IPv4 and IPv6
	struct node *node;
	uint8_t *depth;
	uint32_t root_slots;
	uint32_t node_free;
	uint32_t node_free_count;
	uint32_t node_removed; // since the last quiesce
	uint32_t node_leaving; // before it
};

static size_t round_up(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static uint32_t root_slots(const struct edge_table_size *size)
{
	return size->ipv4_prefixes > 0 ? ROOT_SLOTS : 1;
}

static size_t slot_count(const struct edge_table_size *size)
{
	return root_slots(size) + (size_t)size->ipv4_nodes * NODE_SLOTS;
}

static uint32_t capacity(const struct edge_table_size *size, enum edge_kind kind)
{
	switch (kind) {
	case EDGE_IPV4: return size->ipv4_prefixes;
	case EDGE_IPV6: return size->ipv6_prefixes;
	case EDGE_MAC: break;
	}
	return size->macs;
}

size_t edge_table_bytes(const struct edge_table_size *size)
{
	size_t bytes = round_up(sizeof(struct edge_table));

	bytes += round_up(slot_count(size) * sizeof(uint32_t)) + round_up(slot_count(size));
	bytes += round_up(size->ipv4_nodes * sizeof(struct node));
	for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
		bytes += edge_rows_bytes(capacity(size, (enum edge_kind)kind));
	return bytes;
}

static void *take(uint8_t **memory, size_t bytes)
{
	void *taken = *memory;

	*memory += round_up(bytes);
	return taken;
}

struct edge_table *edge_table_init(void *memory, const struct edge_table_size *size)
{
	uint8_t *left = memory;
	struct edge_table *t = take(&left, sizeof(*t));

	WEFT_CHECK(size->ipv4_nodes <= 1u << 23);

	memset(t, 0, sizeof(*t));
	t->root_slots = root_slots(size);
	t->root_mask = t->root_slots - 1;
	t->slot = take(&left, slot_count(size) * sizeof(uint32_t));
	t->depth = take(&left, slot_count(size));
	t->node = take(&left, size->ipv4_nodes * sizeof(struct node));
	for (uint32_t i = 0; i < t->root_slots; i++)
		atomic_init(&t->slot[i], SLOT_NONE);
	memset(t->depth, 0, slot_count(size));
	atomic_init(&t->ipv4_default, EDGE_TABLE_NONE);
	for (uint32_t i = 0; i < size->ipv4_nodes; i++)
		t->node[i].waiting = i + 1 < size->ipv4_nodes ? i + 1 : NODE_END;
	t->node_free = size->ipv4_nodes > 0 ? 0 : NODE_END;
	t->node_free_count = size->ipv4_nodes;
	t->node_removed = NODE_END;
	t->node_leaving = NODE_END;
	for (uint32_t kind = 0; kind < KIND_COUNT; kind++) {
		const uint32_t rows = capacity(size, (enum edge_kind)kind);

		edge_rows_init(&t->rows[kind], take(&left, edge_rows_bytes(rows)), rows,
			       size->hash_seed);
	}
	return t;
}

static uint64_t high_bits(uint32_t count)
{
	return count == 0 ? 0 : count >= 64 ? UINT64_MAX : ~(UINT64_MAX >> count);
}

static struct edge_row_key ipv6_key(uint64_t hi, uint64_t lo, uint32_t len)
{
	return (struct edge_row_key){ hi & high_bits(len), lo & high_bits(len > 64 ? len - 64 : 0),
				      len };
}

static struct edge_row_key ipv4_key(uint32_t address, uint32_t len)
{
	return (struct edge_row_key){ (uint64_t)address << 32 & high_bits(len), 0, len };
}

// False for a key that names nothing.
static bool row_key(const struct edge_key *key, struct edge_row_key *out)
{
	const uint8_t *a = key->address;
	struct edge_row_key whole;

	switch (key->kind) {
	case EDGE_IPV4:
		whole = ipv4_key(load_be32(a), 32);
		*out = ipv4_key(load_be32(a), key->len);
		return key->len <= 32 && out->hi == whole.hi;
	case EDGE_IPV6:
		whole = ipv6_key(load_be64(a), load_be64(a + 8), 128);
		*out = ipv6_key(whole.hi, whole.lo, key->len);
		return key->len <= 128 && out->hi == whole.hi && out->lo == whole.lo;
	case EDGE_MAC:
		*out = (struct edge_row_key){ load_be48(a), 0, key->vid };
		return key->vid <= VID_MAX;
	}
	return false;
}

static uint32_t slot_get(const struct edge_table *t, uint32_t slot)
{
	return atomic_load_explicit(&t->slot[slot], memory_order_relaxed);
}

static void slot_set(struct edge_table *t, uint32_t slot, uint32_t entry, uint8_t depth)
{
	t->depth[slot] = depth;
	atomic_store_explicit(&t->slot[slot], entry, memory_order_release);
}

// First slot of the node that an entry leads to.
static inline uint32_t node_slots(uint32_t root_mask, uint32_t entry)
{
	return root_mask + 1 + (entry & ~SLOT_NODE) * NODE_SLOTS;
}

// Gives slots, and the nodes below them, a value where they have none of a prefix longer than `of`.
static void fill(struct edge_table *t, uint32_t first, uint32_t count, uint8_t of, uint32_t entry,
		 uint8_t depth)
{
	for (uint32_t i = first; i < first + count; i++) {
		const uint32_t now = slot_get(t, i);

		if (now & SLOT_NODE)
			fill(t, node_slots(t->root_mask, now), NODE_SLOTS, of, entry, depth);
		else if (t->depth[i] <= of)
			slot_set(t, i, entry, depth);
	}
}

// Where a prefix of IPv4 is: its slots, and the links that lead there.
struct path {
	uint32_t slot; // the first of `count`
	uint32_t count;
	uint32_t links;
	uint32_t link[2];
};

// As far as there are nodes: `missing` more are needed to get to the slots.
static struct path find_path(const struct edge_table *t, uint32_t address, uint32_t len,
			     uint32_t *missing)
{
	struct path path = { .slot = address >> ROOT_BITS & t->root_mask };
	uint32_t end = ROOT_BITS;

	*missing = 0;
	for (; len > end; end += 8) {
		const uint32_t entry = slot_get(t, path.slot);

		if (!(entry & SLOT_NODE)) {
			*missing = (len - end + 7) / 8;
			return path;
		}
		path.link[path.links++] = path.slot;
		path.slot = node_slots(t->root_mask, entry) + (address >> (24 - end) & 0xff);
	}
	path.count = 1u << (end - len);
	return path;
}

static uint32_t node_of(const struct edge_table *t, uint32_t slot)
{
	return (slot - t->root_slots) / NODE_SLOTS;
}

// One prefix or node more or less in the node that a slot is in; the root counts nothing.
static uint32_t node_count(struct edge_table *t, uint32_t slot, int change)
{
	if (slot < t->root_slots)
		return 1;
	return t->node[node_of(t, slot)].used += (uint32_t)change;
}

// A node in place of a slot's value, not yet linked: all its slots say what the slot says.
static uint32_t new_node(struct edge_table *t, uint32_t slot)
{
	const uint32_t node = t->node_free;
	const uint32_t first = node_slots(t->root_mask, node);

	WEFT_CHECK(node != NODE_END);
	t->node_free = t->node[node].waiting;
	t->node_free_count--;
	t->node[node].used = 0;
	for (uint32_t i = 0; i < NODE_SLOTS; i++)
		slot_set(t, first + i, slot_get(t, slot), t->depth[slot]);
	node_count(t, slot, 1);
	return SLOT_NODE | node;
}

// Spreads a new prefix, or a new value of one. Missing nodes are built whole, then linked.
static void ipv4_spread(struct edge_table *t, uint32_t address, uint32_t len, uint32_t value,
			bool is_new)
{
	uint32_t missing;
	struct path path = find_path(t, address, len, &missing);
	const uint32_t hook = path.slot;
	const uint32_t last = (len - 1) / 8 * 8; // bits above those that index the last node
	const uint8_t depth = (uint8_t)(len + 1);
	uint32_t top = 0;

	for (uint32_t i = 0; i < missing; i++) {
		const uint32_t entry = new_node(t, path.slot);
		const uint32_t above = last - 8 * (missing - 1 - i);

		if (i == 0)
			top = entry;
		else
			slot_set(t, path.slot, entry, 0);
		path.slot = node_slots(t->root_mask, entry) + (address >> (24 - above) & 0xff);
		path.count = 1u << (last + 8 - len);
	}
	fill(t, path.slot, path.count, depth, value, depth);
	if (is_new)
		node_count(t, path.slot, 1);
	if (missing > 0)
		atomic_store_explicit(&t->slot[hook], top, memory_order_release);
}

// What covers a prefix from above.
static void ipv4_cover(const struct edge_table *t, uint32_t address, uint32_t len, uint32_t *entry,
		       uint8_t *depth)
{
	for (uint32_t shorter = len - 1; shorter > 0; shorter--) {
		const struct edge_row_key key = ipv4_key(address, shorter);

		if (t->length_count[EDGE_IPV4][shorter] == 0)
			continue;
		*entry = edge_rows_find(&t->rows[EDGE_IPV4], &key);
		*depth = (uint8_t)(shorter + 1);
		if (*entry != EDGE_TABLE_NONE)
			return;
	}
	*entry = SLOT_NONE;
	*depth = 0;
}

// Takes a prefix out of its slots, and out of the tree the nodes that were there for it: an unused
// node says the same in all its slots.
static void ipv4_withdraw(struct edge_table *t, uint32_t address, uint32_t len)
{
	uint32_t missing, entry;
	struct path path = find_path(t, address, len, &missing);
	uint8_t depth;

	WEFT_CHECK(missing == 0);
	ipv4_cover(t, address, len, &entry, &depth);
	fill(t, path.slot, path.count, (uint8_t)(len + 1), entry, depth);
	while (node_count(t, path.slot, -1) == 0) {
		const uint32_t node = node_of(t, path.slot);
		const uint32_t first = node_slots(t->root_mask, node);

		path.slot = path.link[--path.links];
		slot_set(t, path.slot, slot_get(t, first), t->depth[first]);
		t->node[node].waiting = t->node_removed;
		t->node_removed = node;
	}
}

static void ipv4_set(struct edge_table *t, const struct edge_row_key *key, uint32_t value,
		     bool is_new)
{
	if (key->tag == 0)
		atomic_store_explicit(&t->ipv4_default, value, memory_order_release);
	else
		ipv4_spread(t, (uint32_t)(key->hi >> 32), key->tag, value, is_new);
}

static void ipv6_length_set(struct edge_table *t, uint32_t len, bool exists)
{
	_Atomic uint64_t *word = &t->ipv6_lengths[len / 64];
	const uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
	const uint64_t bit = 1ull << len % 64;

	atomic_store_explicit(word, exists ? now | bit : now & ~bit, memory_order_release);
}

static bool has_room(const struct edge_table *t, uint32_t kind, const struct edge_row_key *key)
{
	uint32_t missing = 0;

	if (kind == EDGE_IPV4)
		find_path(t, (uint32_t)(key->hi >> 32), key->tag, &missing);
	return edge_rows_has_room(&t->rows[kind]) && missing <= t->node_free_count;
}

int edge_table_set(struct edge_table *t, const struct edge_key *key, uint32_t value)
{
	struct edge_row_key row;
	bool is_new;

	if (!row_key(key, &row) || value > EDGE_TABLE_VALUE_MAX)
		return -EINVAL;
	is_new = edge_rows_find(&t->rows[key->kind], &row) == EDGE_TABLE_NONE;
	if (is_new && !has_room(t, key->kind, &row))
		return -ENOSPC;
	if (is_new && key->kind != EDGE_MAC)
		t->length_count[key->kind][row.tag]++;
	if (key->kind == EDGE_IPV6)
		ipv6_length_set(t, row.tag, true);
	edge_rows_set(&t->rows[key->kind], &row, value);
	if (key->kind == EDGE_IPV4)
		ipv4_set(t, &row, value, is_new);
	return 0;
}

static void ipv4_delete(struct edge_table *t, const struct edge_row_key *key)
{
	if (key->tag == 0)
		atomic_store_explicit(&t->ipv4_default, EDGE_TABLE_NONE, memory_order_relaxed);
	else
		ipv4_withdraw(t, (uint32_t)(key->hi >> 32), key->tag);
}

int edge_table_delete(struct edge_table *t, const struct edge_key *key)
{
	struct edge_row_key row;

	if (!row_key(key, &row) || !edge_rows_delete(&t->rows[key->kind], &row))
		return -ENOENT;
	if (key->kind == EDGE_MAC)
		return 0;
	t->length_count[key->kind][row.tag]--;
	if (key->kind == EDGE_IPV4)
		ipv4_delete(t, &row);
	else if (t->length_count[EDGE_IPV6][row.tag] == 0)
		ipv6_length_set(t, row.tag, false);
	return 0;
}

uint32_t edge_table_get(const struct edge_table *t, const struct edge_key *key)
{
	struct edge_row_key row;

	return row_key(key, &row) ? edge_rows_find(&t->rows[key->kind], &row) : EDGE_TABLE_NONE;
}

void edge_table_quiesce(struct edge_table *t)
{
	while (t->node_leaving != NODE_END) {
		const uint32_t node = t->node_leaving;

		t->node_leaving = t->node[node].waiting;
		t->node[node].waiting = t->node_free;
		t->node_free = node;
		t->node_free_count++;
	}
	t->node_leaving = t->node_removed;
	t->node_removed = NODE_END;
	for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
		edge_rows_quiesce(&t->rows[kind]);
}

uint32_t edge_table_count(const struct edge_table *t, enum edge_kind kind)
{
	return t->rows[kind].count;
}

static struct edge_row row_at(const struct edge_row_slot *slot, uint32_t kind)
{
	struct edge_row row = { .key.kind = (uint8_t)kind };

	row.value = atomic_load_explicit(&slot->value, memory_order_relaxed);
	if (kind == EDGE_MAC) {
		row.key.vid = (uint16_t)slot->tag;
		store_be48(row.key.address, slot->hi);
		return row;
	}
	row.key.len = (uint8_t)slot->tag;
	store_be32(row.key.address, (uint32_t)(slot->hi >> 32));
	store_be32(row.key.address + 4, (uint32_t)slot->hi);
	store_be32(row.key.address + 8, (uint32_t)(slot->lo >> 32));
	store_be32(row.key.address + 12, (uint32_t)slot->lo);
	return row;
}

// The next row in use of a kind from *index on, NULL when there is none.
static const struct edge_row_slot *next_row(const struct edge_rows *rows, uint32_t *index)
{
	for (; *index < rows->capacity; ++*index) {
		const struct edge_row_slot *slot = &rows->slot[*index];

		if (atomic_load_explicit(&slot->value, memory_order_relaxed) != EDGE_TABLE_NONE)
			return slot;
	}
	return NULL;
}

uint32_t edge_table_walk(const struct edge_table *t, uint64_t *at, struct edge_row *out,
			 uint32_t max)
{
	uint32_t index = (uint32_t)*at;
	uint32_t count = 0;

	for (uint32_t kind = (uint32_t)(*at >> 32); kind < KIND_COUNT; kind++, index = 0) {
		const struct edge_row_slot *slot;

		while (count < max && (slot = next_row(&t->rows[kind], &index)) != NULL) {
			out[count++] = row_at(slot, kind);
			index++;
		}
		if (count == max) {
			*at = (uint64_t)kind << 32 | index;
			return count;
		}
	}
	*at = 0;
	return count;
}

uint32_t edge_table_find_ipv4(const struct edge_table *t, uint32_t address)
{
	const uint32_t root_mask = t->root_mask;
	uint32_t entry = atomic_load_explicit(&t->slot[address >> ROOT_BITS & root_mask],
					      memory_order_acquire);

	if (entry & SLOT_NODE) {
		uint32_t at = node_slots(root_mask, entry) + (address >> 8 & 0xff);

		entry = atomic_load_explicit(&t->slot[at], memory_order_acquire);
		if (entry & SLOT_NODE) {
			at = node_slots(root_mask, entry) + (address & 0xff);
			entry = atomic_load_explicit(&t->slot[at], memory_order_acquire);
		}
	}
	if (__builtin_expect(entry != SLOT_NONE, 1))
		return entry;
	return atomic_load_explicit(&t->ipv4_default, memory_order_acquire);
}

// Longest match among the lengths of one word, the bits of which are `left`.
static uint32_t find_in_word(const struct edge_table *t, uint64_t hi, uint64_t lo, uint32_t word,
			     uint64_t left)
{
	while (left != 0) {
		const uint32_t bit = 63 - (uint32_t)__builtin_clzll(left);
		const struct edge_row_key key = ipv6_key(hi, lo, word * 64 + bit);
		const uint32_t value = edge_rows_find(&t->rows[EDGE_IPV6], &key);

		if (value != EDGE_TABLE_NONE)
			return value;
		left &= ~(1ull << bit);
	}
	return EDGE_TABLE_NONE;
}

uint32_t edge_table_find_ipv6(const struct edge_table *t, const uint8_t address[16])
{
	const uint64_t hi = load_be64(address);
	const uint64_t lo = load_be64(address + 8);
	uint32_t value = EDGE_TABLE_NONE;

	for (uint32_t word = 3; word-- > 0 && value == EDGE_TABLE_NONE;) {
		const uint64_t lengths = atomic_load_explicit(&t->ipv6_lengths[word],
							      memory_order_acquire);

		value = find_in_word(t, hi, lo, word, lengths);
	}
	return value;
}

uint32_t edge_table_find_mac(const struct edge_table *t, uint16_t vid, uint64_t mac)
{
	const struct edge_row_key key = { mac, 0, vid };

	return edge_rows_find(&t->rows[EDGE_MAC], &key);
}
