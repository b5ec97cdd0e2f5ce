// SPDX-License-Identifier: BSD-3-Clause
//
// One TCP session with a perftest, message by message (core/perftest.h), without ever waiting: the
// frames that carry it are moved by the same thread.
#pragma once

#include "traffic/core/perftest.h"
#include "traffic/kernel_side.h"

enum perftest_talk_state {
	PERFTEST_TALK_WAITS,   // for the peer
	PERFTEST_TALK_CONNECT, // perftest_talk_next() when the queue pair is ready
	PERFTEST_TALK_TEST,    // perftest_talk_next() when the work is done
	PERFTEST_TALK_PARTS,   // all was said: the last of it is on its way
	PERFTEST_TALK_END,     // and has arrived
	PERFTEST_TALK_FAILED,  // after a line on stderr
};

struct perftest_talk {
	struct perftest_shape shape;
	bool client;
	struct perftest_side own;
	struct perftest_side peer;
	int fd;         // of the session, -1: none yet
	int listener;   // of a server
	bool connected; // of a client
	uint32_t at;    // step
	uint32_t got;   // bytes of its message
	bool said;      // its own message
	bool parted;    // says no more
	uint8_t message[PERFTEST_BYTES_MAX];
};

// Begins: a client calls `address`, a server listens. 0, or -errno after a line on stderr. `shape`,
// `client` and `own` are set.
int perftest_talk_open(struct perftest_talk *talk, const struct kernel_side *side,
		       const uint8_t address[4], uint16_t port);

// Goes on as far as it can.
enum perftest_talk_state perftest_talk_step(struct perftest_talk *talk);
void perftest_talk_next(struct perftest_talk *talk);

// What it waits for, as a part of a sentence.
const char *perftest_talk_wait(const struct perftest_talk *talk);

void perftest_talk_close(struct perftest_talk *talk);
