// SPDX-License-Identifier: BSD-3-Clause
//
// A ring of managed switches with one host each: the smallest fabric in which PFC can deadlock, and
// in which wrong tables can loop. Port 0 of a switch is its host, port 1 leads to the next switch
// (clockwise), port 2 to the one before. Host i is edge i.
//
// With lanes there are two, classes 3 and 4, and a turn map by the dateline rule (Dally and Seitz
// 1987): what crosses the link between the last switch and the first moves to lane 1, and crosses
// no second time. No packet turns round.
#pragma once

#include "tests/rig/net.h"

enum {
	RING_MAX = 8,
	RING_HOST = 0,
	RING_NEXT = 1,
	RING_BEFORE = 2,
	RING_PORTS = 3,
	RING_LANES = 2,
};

#define RING_BPS 10000000000u

struct ring {
	struct net *net;
	uint32_t count;
	uint32_t sw[RING_MAX];
	uint32_t host[RING_MAX];
};

// Configuration of switch `i` of `count` without routes: with lanes and turns, or a plain fabric
// without either. `pool_bytes` of shared buffer, small enough that XOFF is reached.
struct sw_config *ring_switch(uint32_t i, uint32_t count, bool lanes, uint64_t pool_bytes);

// Route to edge `to`: ports of a set, RING_NEXT and RING_BEFORE, as one group of equal shares.
void ring_route(struct sw_config *c, uint32_t to, uint32_t ports);

// Joins switches of these configurations, which become the ring's, and hosts in a circle.
struct ring ring_new(struct sw_config *const *switches, const struct host_config *hosts,
		     uint32_t count);

// A flow of `frames` frames of `len` bytes in class 3, or 0: lossy.
void ring_flow(struct host_config *hosts, uint32_t from, uint32_t to, uint8_t prio, uint32_t len,
	       uint64_t frames);

// Over all hosts, and over all switches and reasons.
uint64_t ring_sent(const struct ring *ring, uint32_t prio);
uint64_t ring_received(const struct ring *ring, uint32_t prio);
uint64_t ring_drops(const struct ring *ring, enum drop_reason reason);
uint64_t ring_all_drops(const struct ring *ring);

// XOFF frames between switches for a priority.
uint64_t ring_xoffs(const struct ring *ring, uint32_t prio);

// Most bytes of headroom that a group of a port between switches has held.
uint64_t ring_headroom(const struct ring *ring, uint32_t pg);
