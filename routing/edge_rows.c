// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of an edge table by exact key: chains from a table of heads, linked by row numbers. Stores
// that publish a row are releases, loads that follow a link are acquires. Likewise values, since
// each is the number of a row of the caller's, which was written before.

#include "routing/edge_rows.h"

#include <string.h>

#include "base/check.h"
#include "routing/edge_table.h"
#include "routing/fold.h"

static uint32_t head_count(uint32_t capacity)
{
	uint32_t count = 1;

	while (count < capacity)
		count *= 2;
	return count;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static size_t head_bytes(uint32_t capacity)
{
	return round_up(head_count(capacity) * sizeof(uint32_t));
}

size_t edge_rows_bytes(uint32_t capacity)
{
	return head_bytes(capacity) + round_up(capacity * sizeof(struct edge_row_slot));
}

void edge_rows_init(struct edge_rows *rows, void *memory, uint32_t capacity, uint64_t seed)
{
	WEFT_CHECK(capacity <= 1u << 24);
	memset(rows, 0, sizeof(*rows));
	rows->slot = memory;
	rows->head = (_Atomic uint32_t *)((uint8_t *)memory +
					  round_up(capacity * sizeof(struct edge_row_slot)));
	rows->seed = seed;
	rows->head_mask = head_count(capacity) - 1;
	rows->capacity = capacity;
	rows->free = capacity > 0 ? 0 : EDGE_ROW_END;
	rows->removed = EDGE_ROW_END;
	rows->leaving = EDGE_ROW_END;
	for (uint32_t i = 0; i <= rows->head_mask; i++)
		atomic_init(&rows->head[i], EDGE_ROW_END);
	for (uint32_t i = 0; i < capacity; i++) {
		atomic_init(&rows->slot[i].value, EDGE_TABLE_NONE);
		rows->slot[i].waiting = i + 1 < capacity ? i + 1 : EDGE_ROW_END;
	}
}

static inline _Atomic uint32_t *chain_of(const struct edge_rows *rows,
					 const struct edge_row_key *key)
{
	const uint64_t h = fold_multiply(key->hi ^ rows->seed ^ FOLD_A,
					 key->lo ^ FOLD_B ^ (uint64_t)key->tag << 40);

	return &rows->head[fold_multiply(h ^ rows->seed, FOLD_C) & rows->head_mask];
}

static inline bool row_is(const struct edge_row_slot *slot, const struct edge_row_key *key)
{
	return slot->hi == key->hi && slot->lo == key->lo && slot->tag == key->tag;
}

uint32_t edge_rows_find(const struct edge_rows *rows, const struct edge_row_key *key)
{
	uint32_t at = atomic_load_explicit(chain_of(rows, key), memory_order_acquire);

	while (at != EDGE_ROW_END) {
		const struct edge_row_slot *slot = &rows->slot[at];

		if (row_is(slot, key))
			return atomic_load_explicit(&slot->value, memory_order_acquire);
		at = atomic_load_explicit(&slot->next, memory_order_acquire);
	}
	return EDGE_TABLE_NONE;
}

// The link that leads to the row of a key; it holds EDGE_ROW_END when there is none. Writer only.
static _Atomic uint32_t *find_link(const struct edge_rows *rows, const struct edge_row_key *key)
{
	_Atomic uint32_t *link = chain_of(rows, key);
	uint32_t at;

	while ((at = atomic_load_explicit(link, memory_order_relaxed)) != EDGE_ROW_END &&
	       !row_is(&rows->slot[at], key))
		link = &rows->slot[at].next;
	return link;
}

bool edge_rows_has_room(const struct edge_rows *rows)
{
	return rows->free != EDGE_ROW_END;
}

bool edge_rows_set(struct edge_rows *rows, const struct edge_row_key *key, uint32_t value)
{
	_Atomic uint32_t *link = find_link(rows, key);
	uint32_t at = atomic_load_explicit(link, memory_order_relaxed);
	struct edge_row_slot *slot;

	if (at != EDGE_ROW_END) {
		atomic_store_explicit(&rows->slot[at].value, value, memory_order_release);
		return false;
	}
	WEFT_CHECK(edge_rows_has_room(rows));
	at = rows->free;
	slot = &rows->slot[at];
	rows->free = slot->waiting;
	rows->count++;
	slot->hi = key->hi;
	slot->lo = key->lo;
	slot->tag = key->tag;
	atomic_store_explicit(&slot->value, value, memory_order_relaxed);
	atomic_store_explicit(&slot->next, EDGE_ROW_END, memory_order_relaxed);
	atomic_store_explicit(link, at, memory_order_release);
	return true;
}

// Key and link stay as they are: a reader may stand on them.
bool edge_rows_delete(struct edge_rows *rows, const struct edge_row_key *key)
{
	_Atomic uint32_t *link = find_link(rows, key);
	const uint32_t at = atomic_load_explicit(link, memory_order_relaxed);
	struct edge_row_slot *slot;

	if (at == EDGE_ROW_END)
		return false;
	slot = &rows->slot[at];
	atomic_store_explicit(link, atomic_load_explicit(&slot->next, memory_order_relaxed),
			      memory_order_release);
	atomic_store_explicit(&slot->value, EDGE_TABLE_NONE, memory_order_relaxed);
	slot->waiting = rows->removed;
	rows->removed = at;
	rows->count--;
	return true;
}

void edge_rows_quiesce(struct edge_rows *rows)
{
	while (rows->leaving != EDGE_ROW_END) {
		const uint32_t at = rows->leaving;
		struct edge_row_slot *slot = &rows->slot[at];

		rows->leaving = slot->waiting;
		slot->waiting = rows->free;
		rows->free = at;
	}
	rows->leaving = rows->removed;
	rows->removed = EDGE_ROW_END;
}
