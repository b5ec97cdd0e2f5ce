// SPDX-License-Identifier: BSD-3-Clause
//
// What the bandwidth tests of perftest say to each other over TCP, beside the test itself: who they
// are, where their queue pairs and buffers are, when to begin, what came out. A session is a list
// of turns (perftest_turn); most are an exchange of one message of a fixed length, in which the
// client speaks first and the server answers with its own of the same kind. Pure: bytes and values.
//
// There is no specification: the facts are those of perftest 6.06 (Debian's 4.5), as captured.
// Neither side says how many queue pairs it has (-q), or that it works both ways (-b).
#pragma once

#include "traffic/core/rc.h"

enum {
	PERFTEST_PORT = 18515, // TCP
	PERFTEST_BYTES_MAX = 108,
	PERFTEST_VERSION_BYTES = 16,
	PERFTEST_BUFFER_MAX = 1 << 30,
	PERFTEST_QPS_MAX = 128,
	PERFTEST_TURNS_MAX = 24 + 2 * PERFTEST_QPS_MAX, // an end comes before
};

// The version that this speaks.
#define PERFTEST_VERSION_TEXT "6.06"

enum perftest_step {
	// Exchanges.
	PERFTEST_VERSION,
	PERFTEST_BUFFER,
	PERFTEST_LINE,
	PERFTEST_MTU,
	PERFTEST_KEYS,  // of each queue pair
	PERFTEST_AGAIN, // the same of each, which only synchronises
	PERFTEST_SYNC,  // those of the first one
	PERFTEST_REPORT_SIZE,
	PERFTEST_REPORT_COUNT,
	PERFTEST_REPORT_PEAK,
	PERFTEST_REPORT_AVERAGE,
	PERFTEST_REPORT_RATE,
	PERFTEST_DONE,
	// What is done between them.
	PERFTEST_CONNECT, // queue pairs become ready, and who is sent SENDs posts receives
	PERFTEST_TEST,    // the client's work; the server goes on at once, unless it works, too
	PERFTEST_END,
};

// What both sides are told before they meet.
struct perftest_shape {
	enum rc_op op;
	bool both;      // ways at once (-b)
	uint32_t qps;   // 1..PERFTEST_QPS_MAX
	uint64_t size;  // bytes of a message
	uint64_t count; // messages of a side, of all its queue pairs
};

// A step, and of KEYS, AGAIN and SYNC whose they are.
struct perftest_turn {
	enum perftest_step step;
	uint32_t qp;
};

// What one side is. Values are host order.
struct perftest_keys {
	uint16_t lid;
	uint16_t reads; // outstanding READs (max_rd_atomic)
	uint32_t qp;    // 24 bits
	uint32_t psn;   // 24 bits, of the first packet that this side sends
	uint32_t rkey;
	uint64_t va;
	uint8_t gid[16]; // IPv4 as ::ffff:a.b.c.d
	uint32_t srq;
};

// Of a side that works; a server that does not sends what is no use to anybody.
struct perftest_report {
	uint64_t size; // bytes of a message
	uint64_t count;
	double peak;    // MB/s of 2^20 bytes
	double average; // MB/s
	double rate;    // million messages a second
};

struct perftest_side {
	char version[PERFTEST_VERSION_BYTES]; // ends with NUL
	uint32_t buffer_bytes;                // messages go round in so many; both take the larger
	uint32_t line_bytes;                  // a cache line, the step of small messages
	uint32_t mtu;                         // 256..4096; both take the smaller
	struct perftest_keys keys[PERFTEST_QPS_MAX];
	struct perftest_report report;
};

enum perftest_verdict {
	PERFTEST_OK,
	PERFTEST_MALFORMED,
	PERFTEST_OLD,         // before 5.33, whose messages are others
	PERFTEST_FEWER_QPS,   // the peer has fewer queue pairs: it told all of its keys before
	PERFTEST_MORE_QPS,    // or goes on to tell others
	PERFTEST_OTHER_SIZE,  // of the messages that it worked with
	PERFTEST_OTHER_COUNT, // or another number of them
};

// The turn at a place of a session, PERFTEST_END from its end on.
struct perftest_turn perftest_turn(const struct perftest_shape *shape, uint32_t at);

// Bytes of the message of a step, the same both ways; 0 when it is no exchange.
uint32_t perftest_bytes(enum perftest_step step);

// Writes the perftest_bytes() of an exchange.
void perftest_write(struct perftest_turn turn, const struct perftest_side *own, uint8_t *out);

// Reads the perftest_bytes() of an exchange into the peer's side, which holds what came before.
// Anything but OK leaves that as it was.
enum perftest_verdict perftest_read(const struct perftest_shape *shape, struct perftest_turn turn,
				    const uint8_t *data, struct perftest_side *peer);

// True, and the address, for a GID that is an IPv4 address.
bool perftest_gid_ipv4(const uint8_t gid[16], uint8_t ipv4[4]);
void perftest_gid_of_ipv4(const uint8_t ipv4[4], uint8_t gid[16]);
