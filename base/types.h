// SPDX-License-Identifier: BSD-3-Clause
//
// Strong scalars shared by every library.
//
// Time is a value of its own type and always an argument. Priority, traffic class, priority group
// and queue are four different things that merely have the same range; giving each its own type
// makes the compiler insist on a map between them (an index of one used as another was a real bug
// in other switches).
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Nanoseconds since an epoch of the caller's choice; one instance uses one epoch.
typedef struct {
	uint64_t v;
} ns_t;

typedef struct {
	uint8_t v;
} prio_t; // IEEE 802.1Q priority, also the PFC priority, 0..7

typedef struct {
	uint8_t v;
} tc_t; // traffic class, 0..7

typedef struct {
	uint8_t v;
} pg_t; // ingress priority group, 0..7

typedef struct {
	uint8_t v;
} queue_t; // egress queue, 0..7

typedef struct {
	uint16_t v;
} port_t; // index of a port in its switch

typedef struct {
	uint8_t v;
} lcore_t; // index of a forwarding lcore in its switch

enum {
	PRIO_COUNT = 8,
	TC_COUNT = 8,
	PG_COUNT = 8,
	QUEUE_COUNT = 8,
};

#define NS_NEVER ((ns_t){ UINT64_MAX })
#define PORT_NONE ((port_t){ UINT16_MAX })
#define LCORE_FIRST ((lcore_t){ 0 })

static inline ns_t ns_add(ns_t at, uint64_t delta)
{
	return (ns_t){ at.v > UINT64_MAX - delta ? UINT64_MAX : at.v + delta };
}

// Time from `from` to `to`, 0 when `to` is the earlier one.
static inline uint64_t ns_since(ns_t to, ns_t from)
{
	return to.v > from.v ? to.v - from.v : 0;
}

static inline bool ns_before(ns_t a, ns_t b)
{
	return a.v < b.v;
}

static inline ns_t ns_min(ns_t a, ns_t b)
{
	return a.v < b.v ? a : b;
}

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

// a - b, 0 when b is the larger one.
static inline uint64_t u64_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}
