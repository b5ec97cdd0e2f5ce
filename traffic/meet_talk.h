// SPDX-License-Identifier: BSD-3-Clause
//
// The TCP side of a run on several machines: rank 0 listens, the others connect, and each of them
// says MEET_HELLO first (core/meet_message.h). Evented; nothing here waits. A connection that says
// something else first, too much, or nothing for seconds is ended without a trace in the run.
#pragma once

#include <event2/event.h>
#include <event2/listener.h>

#include "traffic/core/meet_message.h"

enum { MEET_TALK_PEER_BYTES = 64 };

// Who is told. None of these may close the talk.
struct meet_talk_owner {
	void *context;
	// Of rank 0: somebody introduces itself. NULL, and it is a rank; or why it is not.
	const char *(*joins)(void *context, const struct meet_hello *hello);
	// Of the others: rank 0 is there.
	void (*meets)(void *context);
	void (*hears)(void *context, uint32_t rank, const struct meet_message *message);
	// The connection of a rank has ended, and why.
	void (*loses)(void *context, uint32_t rank, const char *why);
};

struct meet_talk;

// The far end of one connection.
struct meet_link {
	struct meet_talk *talk;
	struct bufferevent *stream; // NULL: none
	uint32_t rank;              // JOB_NONE: has not introduced itself
	bool refused;
	char peer[MEET_TALK_PEER_BYTES];
};

struct meet_talk {
	struct event_base *base;
	const struct meet_talk_owner *owner;
	struct evconnlistener *listener;  // of rank 0
	struct event *again;              // of the others: the next try
	struct sockaddr_storage *address; // where rank 0 is
	int address_bytes;
	uint32_t bytes_max; // of a message
	struct meet_link *link;
	uint32_t link_count;
	struct meet_link **of_rank;  // NULL: not there
	struct meet_message message; // the one that was read last
	struct meet_result *room;    // of rank 0, for results
};

// Rank 0 listens at `address` ("10.0.0.1:18600"), the others try to get there until they do. No
// message of the run is longer than `bytes_max`. 0, or -errno after a line on stderr.
int meet_talk_open(struct meet_talk *talk, struct event_base *base,
		   const struct meet_talk_owner *owner, const char *address, uint32_t rank,
		   uint32_t world, uint32_t bytes_max);

// Says it to a rank that is there; to any other, nothing.
void meet_talk_say(struct meet_talk *talk, uint32_t rank, const struct meet_message *message);

// Where a rank speaks from; empty: it is not there.
const char *meet_talk_peer(const struct meet_talk *talk, uint32_t rank);

// Ranks that are connected.
uint32_t meet_talk_count(const struct meet_talk *talk);

// Is anything said that has not left yet?
bool meet_talk_is_busy(const struct meet_talk *talk);

void meet_talk_close(struct meet_talk *talk);
