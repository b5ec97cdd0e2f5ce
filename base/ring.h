// SPDX-License-Identifier: BSD-3-Clause
//
// A ring of pointers between two threads: one pushes, one pops, neither ever waits. What a pointer
// leads to belongs to the popper once it has the pointer.
//
// Each side keeps the index of the other as it last saw it, so that a side that is behind reads the
// other's cache line only when it must. Indices run freely; a slot is an index masked. The caller
// gives the memory of the slots.
#pragma once

#include <stdatomic.h>

#include "base/types.h"

struct ring {
	// pusher: rw
	_Alignas(64) _Atomic(uint32_t) head; // popper: ro
	uint32_t tail_seen;
	// popper: rw
	_Alignas(64) _Atomic(uint32_t) tail; // pusher: ro
	uint32_t head_seen;
	// both: ro
	_Alignas(64) void **slot;
	uint32_t mask;
};

// An empty ring over `slot`, which has `count` elements: a power of two, at most 2^31.
static inline void ring_init(struct ring *ring, void **slot, uint32_t count)
{
	*ring = (struct ring){ .slot = slot, .mask = count - 1 };
}

// Pusher. False when the ring is full.
static inline bool ring_push(struct ring *ring, void *pointer)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head - ring->tail_seen > ring->mask) {
		// The popper has read these slots before it moved its index.
		ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
		if (head - ring->tail_seen > ring->mask)
			return false;
	}
	ring->slot[head & ring->mask] = pointer;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return true;
}

// Popper. Takes at most `max` pointers, in order.
static inline uint32_t ring_pop(struct ring *ring, void **out, uint32_t max)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t count = ring->head_seen - tail;

	if (count < max) {
		ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
		count = ring->head_seen - tail;
	}
	if (count > max)
		count = max;
	for (uint32_t i = 0; i < count; i++)
		out[i] = ring->slot[(tail + i) & ring->mask];
	atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
	return count;
}

// How many pointers are in it, as either side sees it at the moment.
static inline uint32_t ring_count(const struct ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	return atomic_load_explicit(&ring->head, memory_order_acquire) - tail;
}
