// SPDX-License-Identifier: BSD-3-Clause
//
// The future of a simulated network: events in one heap by (time, order of making). Events of equal
// time come out as they went in, so a run is the same every time.
#pragma once

#include "base/types.h"

// Bytes on a wire, or in a receive ring.
struct net_frame {
	struct net_frame *next;
	uint32_t len;
	uint8_t data[];
};

struct event {
	uint64_t at;
	uint64_t seq;            // set by events_push()
	struct net_frame *frame; // arrives at `port`; NULL: the node is polled
	uint32_t node, port;
	uint32_t life; // of the link the frame is on
};

// Zero is an empty heap.
struct events {
	struct event *heap; // [0] is the next one
	size_t count, room;
	uint64_t seq;
};

void events_push(struct events *events, struct event event);

// There is one.
struct event events_pop(struct events *events);

// Frees what is left, frames included.
void events_free(struct events *events);
