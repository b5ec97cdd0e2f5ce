// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of what ranks of a run on several machines say: messages one behind the other, as
// rank 0 takes them from somebody who may be anybody.
//
// Checked: no byte behind a message is read; lists lie within it; what passes, written again, is
// the same; rank 0 answers no more often than its ranks have spoken.

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/core/meet.h"

enum { RANKS = 2, LAST = 2, QPS = 1, DIGEST = 1 };

static struct meet meet;
static volatile uint64_t sink; // so that reading is not left out

static void look_at_lists(const struct meet_message *message)
{
	for (uint32_t i = 0; message->kind == MEET_HELLO && i < message->hello.qp_count; i++)
		sink += meet_number(message->hello.qps, i);
	for (uint32_t i = 0; message->kind == MEET_PEERS && i < message->peers.qp_count; i++)
		sink += meet_number(message->peers.qps, i);
	for (uint32_t i = 0; message->kind == MEET_PEERS && i < message->peers.host_count; i++)
		sink += meet_host(message->peers.hosts, i).va;
	for (uint32_t i = 0; message->kind == MEET_RESULT && i < message->result->flow_count; i++)
		sink += meet_flow(message->result->flows, i).result.bytes;
}

// Odd messages are of rank 1.
static void tell(const struct meet_message *message, uint32_t number)
{
	const uint32_t rank = number % RANKS;
	struct meet_ready go;

	if (message->kind == MEET_HELLO)
		meet_join(&meet, &message->hello, QPS, (ns_t){ number });
	if (message->kind == MEET_READY)
		meet_take_ready(&meet, rank, &message->ready, &go);
	if (message->kind == MEET_RESULT)
		meet_take_result(&meet, rank, (uint32_t)message->result->numbers.waited_for);
	if (message->kind == MEET_STOP)
		meet_stop(&meet);
	WEFT_CHECK(meet.left >= (meet.phase == MEET_OVER ? 0 : 1) && meet.left <= RANKS);
	WEFT_CHECK(meet.round <= LAST);
}

// Returns the bytes that were taken; 0: it was none.
static size_t take(const uint8_t *data, size_t size, uint32_t number)
{
	static struct meet_message message;
	static struct meet_result room;
	enum meet_kind kind;
	uint32_t bytes;
	uint8_t *copy;

	if (size < MEET_HEAD_BYTES || meet_read_head(data, &kind, &bytes) != MEET_OK ||
	    bytes > size - MEET_HEAD_BYTES)
		return 0;
	copy = malloc((size_t)bytes + 1);
	memcpy(copy, data + MEET_HEAD_BYTES, bytes);
	if (meet_read(kind, copy, bytes, &room, &message) == MEET_OK) {
		uint8_t *again = malloc(meet_bytes(&message));

		look_at_lists(&message);
		WEFT_CHECK(meet_bytes(&message) == MEET_HEAD_BYTES + bytes);
		meet_write(&message, again);
		WEFT_CHECK(memcmp(again, data, MEET_HEAD_BYTES + bytes) == 0);
		tell(&message, number);
		free(again);
	}
	free(copy);
	return MEET_HEAD_BYTES + bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0, taken;
	uint32_t number = 0;

	meet_init(&meet, RANKS, LAST, DIGEST);
	do {
		taken = take(data + at, size - at, number++);
		at += taken;
	} while (taken != 0);
	return 0;
}
