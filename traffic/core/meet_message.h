// SPDX-License-Identifier: BSD-3-Clause
//
// What the ranks of a run on several machines say to each other beside the run itself: who they
// are, where their queue pairs and memory are, when to begin, what came out. All of them speak with
// rank 0 alone (meet.h). Pure: bytes and values.
//
// A message is a head of MEET_HEAD_BYTES (magic, version, kind, length) and a payload, big endian.
// Lists stay where they are in the bytes, and are read one by one. Both ends run the same version.
#pragma once

#include "traffic/core/job.h"

enum {
	MEET_VERSION = 1,
	MEET_HEAD_BYTES = 12,
	MEET_TEXT_BYTES = 200,
	MEET_NUMBER_BYTES = 4, // of lists of numbers
	MEET_HOST_BYTES = 28,  // of lists of hosts
	MEET_FLOW_BYTES = 36,  // of lists of flows
};

enum meet_kind {
	MEET_HELLO = 1, // to rank 0: who this is
	MEET_PEERS,     // from it: where its queue pairs lead
	MEET_READY,     // to it: for a round, or of what it had to do
	MEET_GO,        // from it: all are
	MEET_RESULT,    // to it
	MEET_END,       // from it: all results are there
	MEET_STOP,      // both ways: begin nothing more
	MEET_FAIL,      // both ways: the run is no use, and why
	MEET_ALIVE,     // both ways, when there is nothing else to say
	MEET_KINDS,
};

// How a rank is reached.
struct meet_host {
	uint8_t gid[16];
	uint64_t va;
	uint32_t rkey;
};

struct meet_hello {
	uint32_t rank;
	uint32_t world;
	uint64_t digest; // of all that ranks are to be told alike
	struct meet_host host;
	uint32_t qp_count;
	const uint8_t *qps; // numbers
};

struct meet_peers {
	uint32_t host_count;
	uint32_t qp_count;
	const uint8_t *hosts; // by rank
	const uint8_t *qps;   // numbers of the far ends
};

struct meet_ready {
	uint32_t round;
	uint64_t last_ns; // that the last round took; 0: none
};

// What a rank has counted. Times count from the first MEET_GO.
struct meet_numbers {
	uint64_t elapsed_ns;
	uint64_t tx_bytes; // payload of completed messages
	uint64_t rx_bytes;
	uint64_t retransmits;
	uint64_t timeouts;
	uint64_t gaps;
	uint64_t ce_marked;
	uint64_t cnps;
	uint64_t bytes; // struct job_result from here
	uint64_t peak_bytes;
	uint64_t wrong;
	uint64_t checked;
	uint64_t failed;
	uint64_t status;
	uint64_t cause_ns[JOB_CAUSES]; // struct job_rank_result from here
	uint64_t waited_for;
	uint64_t busy_ns;
	uint64_t stuck; // 1: stopped with work on its way
};

// Histograms of a result: those of struct job_result, then of each size.
enum {
	MEET_LATENCY,
	MEET_LATENESS,
	MEET_SLOWDOWN,
	MEET_TIME_OF, // + size
	MEET_SLOWDOWN_OF = MEET_TIME_OF + JOB_SIZES,
	MEET_HISTOGRAMS = MEET_SLOWDOWN_OF + JOB_SIZES,
};

// Large: not for a stack.
struct meet_result {
	struct meet_numbers numbers;
	struct histogram histogram[MEET_HISTOGRAMS];
	uint32_t flow_count;
	const uint8_t *flows; // those that it posts
};

struct meet_flow {
	uint32_t flow;
	struct job_flow_result result;
};

struct meet_fail {
	uint32_t rank; // whose fault it is; JOB_NONE: nobody's
	uint32_t text_bytes;
	const uint8_t *text; // at most MEET_TEXT_BYTES printable characters
};

struct meet_message {
	enum meet_kind kind;
	union {
		struct meet_hello hello;
		struct meet_peers peers;
		struct meet_ready ready; // also of MEET_GO
		const struct meet_result *result;
		uint32_t good; // of MEET_END: 1, all was well
		struct meet_fail fail;
	};
};

enum meet_verdict { MEET_OK, MEET_MALFORMED, MEET_OTHER_VERSION };

// Bytes of the longest message of a run in which no rank has more queue pairs and flows than these.
uint32_t meet_bytes_max(uint32_t ranks, uint32_t qps, uint32_t flows);

// Head and payload together.
uint32_t meet_bytes(const struct meet_message *message);

// Writes meet_bytes().
void meet_write(const struct meet_message *message, uint8_t *out);

// Reads MEET_HEAD_BYTES: the kind and the length of the payload, which the caller compares with
// what it has room for.
enum meet_verdict meet_read_head(const uint8_t *head, enum meet_kind *kind, uint32_t *bytes);

// Reads a payload. What it points to lies in `data` or, of a MEET_RESULT, in `room`; NULL: it is
// malformed.
enum meet_verdict meet_read(enum meet_kind kind, const uint8_t *data, uint32_t bytes,
			    struct meet_result *room, struct meet_message *out);

// Members of lists.
uint32_t meet_number(const uint8_t *list, uint32_t i);
void meet_set_number(uint8_t *list, uint32_t i, uint32_t number);
struct meet_host meet_host(const uint8_t *list, uint32_t i);
void meet_set_host(uint8_t *list, uint32_t i, const struct meet_host *host);
struct meet_flow meet_flow(const uint8_t *list, uint32_t i);
void meet_set_flow(uint8_t *list, uint32_t i, const struct meet_flow *flow);
