// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks on several machines say to each other: messages as bytes, from peers that may say
// anything, and rank 0, who lets all of them go on together.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/table.h"
#include "traffic/core/meet.h"

enum { RANKS = 3, QPS = 4, FLOWS = 2, BYTES_MAX = 8192 };

static struct meet_result result, room;

static uint8_t qps[QPS * MEET_NUMBER_BYTES];
static uint8_t hosts[RANKS * MEET_HOST_BYTES];
static uint8_t flows[FLOWS * MEET_FLOW_BYTES];
static const char words[] = "rank 2: no answer";

static const struct meet_host a_host = { .gid = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 7 },
					 .va = 1ull << 40,
					 .rkey = 77 };
static const struct meet_flow a_flow = { 5, { 1ull << 33, 1000, { 3 }, { 1ull << 35 } } };

static void make(enum meet_kind kind, struct meet_message *out)
{
	*out = (struct meet_message){ .kind = kind };
	for (uint32_t i = 0; i < QPS; i++)
		meet_set_number(qps, i, 0x110000 + i);
	for (uint32_t i = 0; i < RANKS; i++)
		meet_set_host(hosts, i, &a_host);
	for (uint32_t i = 0; i < FLOWS; i++)
		meet_set_flow(flows, i, &a_flow);
	if (kind == MEET_HELLO)
		out->hello =
			(struct meet_hello){ 2, RANKS, 0x123456789abcdefull, a_host, QPS, qps };
	if (kind == MEET_PEERS)
		out->peers = (struct meet_peers){ RANKS, QPS, hosts, qps };
	if (kind == MEET_READY || kind == MEET_GO)
		out->ready = (struct meet_ready){ 9, 1ull << 36 };
	if (kind == MEET_END)
		out->good = 1;
	if (kind == MEET_FAIL)
		out->fail = (struct meet_fail){ 2, sizeof(words) - 1, (const uint8_t *)words };
	if (kind != MEET_RESULT)
		return;
	result = (struct meet_result){ .flow_count = FLOWS, .flows = flows };
	result.numbers = (struct meet_numbers){ .elapsed_ns = 1, .stuck = 1 };
	result.numbers.waited_for = JOB_NONE;
	result.numbers.status = RC_FLUSHED;
	for (uint64_t v = 3; v < 1ull << 39; v *= 7)
		histogram_add(&result.histogram[MEET_LATENCY], v);
	histogram_add(&result.histogram[MEET_HISTOGRAMS - 1], 1234);
	out->result = &result;
}

static uint8_t *written(const struct meet_message *message, uint32_t *bytes)
{
	uint8_t *out;

	*bytes = meet_bytes(message);
	cr_assert_leq(*bytes, meet_bytes_max(RANKS, QPS, FLOWS));
	out = malloc(*bytes); // of just this length, for the sanitizer to look behind it
	cr_assert_not_null(out);
	meet_write(message, out);
	return out;
}

static enum meet_verdict read_whole(const uint8_t *data, struct meet_message *out)
{
	enum meet_kind kind;
	uint32_t bytes;
	const enum meet_verdict verdict = meet_read_head(data, &kind, &bytes);

	return verdict == MEET_OK ? meet_read(kind, data + MEET_HEAD_BYTES, bytes, &room, out) :
				    verdict;
}

// Each kind, written and read, written again: the same bytes, of the length that was said.
Test(meet, messages_come_back)
{
	static struct meet_message message, back;

	for (enum meet_kind kind = MEET_HELLO; kind < MEET_KINDS; kind++) {
		uint32_t bytes, again;
		uint8_t *first, *second;

		make(kind, &message);
		first = written(&message, &bytes);
		cr_assert_eq(load_be32(first + 8), bytes - MEET_HEAD_BYTES);
		cr_assert_eq(read_whole(first, &back), MEET_OK, "kind %d", kind);
		second = written(&back, &again);
		cr_assert_eq(again, bytes);
		cr_assert_eq(memcmp(first, second, bytes), 0, "kind %d", kind);
		free(first);
		free(second);
	}
}

Test(meet, values_come_back)
{
	static struct meet_message message, back;
	uint32_t bytes;
	uint8_t *data;

	make(MEET_HELLO, &message);
	data = written(&message, &bytes);
	cr_assert_eq(read_whole(data, &back), MEET_OK);
	cr_assert_eq(back.hello.rank, 2);
	cr_assert_eq(back.hello.digest, 0x123456789abcdefull);
	cr_assert_eq(memcmp(&back.hello.host, &a_host, sizeof(a_host)), 0);
	cr_assert_eq(back.hello.qp_count, QPS);
	cr_assert_eq(meet_number(back.hello.qps, 3), 0x110003);
	free(data);

	make(MEET_RESULT, &message);
	data = written(&message, &bytes);
	cr_assert_eq(read_whole(data, &back), MEET_OK);
	cr_assert_eq(back.result, &room);
	cr_assert_eq(memcmp(room.histogram, result.histogram, sizeof(room.histogram)), 0);
	cr_assert_eq(room.numbers.waited_for, JOB_NONE);
	cr_assert_eq(room.numbers.stuck, 1);
	cr_assert_eq(meet_flow(room.flows, 1).flow, 5);
	cr_assert_eq(meet_flow(room.flows, 1).result.messages, 1000);
	cr_assert_eq(meet_flow(room.flows, 1).result.last.v, 1ull << 35);
	free(data);
}

// Only who wants results has room for one.
Test(meet, a_result_needs_room)
{
	static struct meet_message message, back;
	uint32_t bytes;
	uint8_t *data;

	make(MEET_RESULT, &message);
	data = written(&message, &bytes);
	cr_assert_eq(meet_read(MEET_RESULT, data + MEET_HEAD_BYTES, bytes - MEET_HEAD_BYTES, NULL,
			       &back),
		     MEET_MALFORMED);
	free(data);
}

// The layout is agreed between machines: a message byte by byte.
Test(meet, layout)
{
	static const uint8_t want[] = { 'w', 'r', 'M', 'T', 0, 1, 0, 4,  0, 0, 0, 12,
					0,   0,   0,   9,   0, 0, 0, 16, 0, 0, 0, 0 };
	static struct meet_message message;
	uint32_t bytes;
	uint8_t *data;

	make(MEET_GO, &message);
	data = written(&message, &bytes);
	cr_assert_eq(bytes, sizeof(want));
	cr_assert_eq(memcmp(data, want, bytes), 0);
	free(data);
}

// A message that is cut anywhere, or has a byte more, is none.
Test(meet, other_lengths_are_refused)
{
	static struct meet_message message, back;

	for (enum meet_kind kind = MEET_HELLO; kind < MEET_KINDS; kind++) {
		uint32_t bytes;
		uint8_t *whole;

		make(kind, &message);
		whole = written(&message, &bytes);
		bytes -= MEET_HEAD_BYTES;
		for (uint32_t len = 0; len <= bytes + 1; len++) {
			uint8_t *part = calloc(1, len + 1);

			memcpy(part, whole + MEET_HEAD_BYTES, len < bytes ? len : bytes);
			cr_assert_eq(meet_read(kind, part, len, &room, &back),
				     len == bytes ? MEET_OK : MEET_MALFORMED, "kind %d, %u of %u",
				     kind, len, bytes);
			free(part);
		}
		free(whole);
	}
}

// One field of a good message made another.
struct hostile_row {
	const char *what;
	enum meet_kind kind;
	uint32_t at; // of the message
	uint8_t value;
	enum meet_verdict verdict;
};

enum {
	HELLO_COUNT_AT = MEET_HEAD_BYTES + 16 + MEET_HOST_BYTES,
	FAIL_COUNT_AT = MEET_HEAD_BYTES + 4,
	NUMBERS_AT = MEET_HEAD_BYTES,
	STATUS_AT = NUMBERS_AT + 8 * 13,
	WAITED_AT = STATUS_AT + 8 * (1 + JOB_CAUSES),
	LATENCY_AT = NUMBERS_AT + sizeof(struct meet_numbers),
	BUCKETS_AT = LATENCY_AT + 36,
};

static const struct hostile_row hostile_rows[] = {
	{ "another magic", MEET_ALIVE, 0, 0, MEET_MALFORMED },
	{ "another version", MEET_ALIVE, 5, MEET_VERSION + 1, MEET_OTHER_VERSION },
	{ "no kind", MEET_ALIVE, 7, 0, MEET_MALFORMED },
	{ "kind that there is not", MEET_ALIVE, 7, MEET_KINDS, MEET_MALFORMED },
	{ "kind of two bytes", MEET_ALIVE, 6, 1, MEET_MALFORMED },
	{ "more queue pairs than bytes", MEET_HELLO, HELLO_COUNT_AT + 3, QPS + 1, MEET_MALFORMED },
	{ "queue pairs past 32 bits", MEET_HELLO, HELLO_COUNT_AT, 0x40, MEET_MALFORMED },
	{ "hosts past 32 bits", MEET_PEERS, MEET_HEAD_BYTES, 0x08, MEET_MALFORMED },
	{ "fewer hosts", MEET_PEERS, MEET_HEAD_BYTES + 3, RANKS - 1, MEET_MALFORMED },
	{ "unprintable text", MEET_FAIL, FAIL_COUNT_AT + 4, 7, MEET_MALFORMED },
	{ "text not ASCII", MEET_FAIL, FAIL_COUNT_AT + 4, 0xe4, MEET_MALFORMED },
	{ "neither good nor bad", MEET_END, MEET_HEAD_BYTES + 3, 2, MEET_MALFORMED },
	{ "status that there is not", MEET_RESULT, STATUS_AT + 7, RC_FLUSHED + 1, MEET_MALFORMED },
	{ "rank past all", MEET_RESULT, WAITED_AT, 1, MEET_MALFORMED },
	{ "more samples than counted", MEET_RESULT, LATENCY_AT + 7, 1, MEET_MALFORMED },
	{ "fewer samples than counted", MEET_RESULT, LATENCY_AT + 7, 200, MEET_MALFORMED },
	{ "bucket that there is not", MEET_RESULT, BUCKETS_AT, 1, MEET_MALFORMED },
	{ "buckets out of order", MEET_RESULT, BUCKETS_AT + 3, 255, MEET_MALFORMED },
	{ "empty bucket", MEET_RESULT, BUCKETS_AT + 11, 0, MEET_MALFORMED },
	{ "samples past 64 bits", MEET_RESULT, BUCKETS_AT + 4, 0xff, MEET_MALFORMED },
};

TABLE_TEST(meet, hostile, row, hostile_rows)
{
	static struct meet_message message, back;
	uint32_t bytes;
	uint8_t *data;

	make(row->kind, &message);
	data = written(&message, &bytes);
	cr_assert_lt(row->at, bytes);
	cr_assert_neq(data[row->at], row->value, "%s: changes nothing", row->what);
	data[row->at] = row->value;
	cr_assert_eq(read_whole(data, &back), row->verdict, "%s", row->what);
	free(data);
}

Test(meet, long_text_is_refused)
{
	static struct meet_message message, back;
	char text[MEET_TEXT_BYTES + 1];
	uint8_t data[BYTES_MAX];

	memset(text, 'x', sizeof(text));
	message = (struct meet_message){ .kind = MEET_FAIL,
					 .fail = { 0, MEET_TEXT_BYTES, (const uint8_t *)text } };
	meet_write(&message, data);
	cr_assert_eq(read_whole(data, &back), MEET_OK);
	message.fail.text_bytes++;
	meet_write(&message, data);
	cr_assert_eq(read_whole(data, &back), MEET_MALFORMED);
}

// --- rank 0 -----------------------------------------------------------------------------------

enum { DIGEST = 4711, LAST = 2 };

static struct meet meet;

static struct meet_hello hello_of(uint32_t rank)
{
	return (struct meet_hello){
		.rank = rank, .world = RANKS, .digest = DIGEST, .qp_count = QPS
	};
}

static enum meet_refusal join(struct meet_hello hello)
{
	return meet_join(&meet, &hello, QPS, (ns_t){ 100 });
}

static void gather(void)
{
	meet_init(&meet, RANKS, LAST, DIGEST);
	for (uint32_t rank = RANKS; rank-- > 0;) {
		cr_assert_not(meet_is_full(&meet));
		cr_assert_eq(join(hello_of(rank)), MEET_WELCOME);
	}
	cr_assert(meet_is_full(&meet));
}

static enum meet_step ready(uint32_t rank, uint32_t round, uint64_t last_ns, struct meet_ready *out)
{
	return meet_take_ready(&meet, rank, &(struct meet_ready){ round, last_ns }, out);
}

struct join_row {
	const char *what;
	struct meet_hello hello;
	enum meet_refusal refusal;
};

static const struct join_row join_rows[] = {
	{ "more ranks", { 1, RANKS + 1, DIGEST, .qp_count = QPS }, MEET_OTHER_WORLD },
	{ "past the last", { RANKS, RANKS, DIGEST, .qp_count = QPS }, MEET_NO_SUCH_RANK },
	{ "far past it", { UINT32_MAX, RANKS, DIGEST, .qp_count = QPS }, MEET_NO_SUCH_RANK },
	{ "there already", { 0, RANKS, DIGEST, .qp_count = QPS }, MEET_TAKEN },
	{ "other options", { 1, RANKS, DIGEST + 1, .qp_count = QPS }, MEET_OTHER_OPTIONS },
	{ "other queue pairs", { 1, RANKS, DIGEST, .qp_count = QPS + 1 }, MEET_OTHER_QPS },
	{ "as it should be", { 1, RANKS, DIGEST, .qp_count = QPS }, MEET_WELCOME },
};

// Who is refused leaves the place free.
TABLE_TEST(meet, join, row, join_rows)
{
	meet_init(&meet, RANKS, LAST, DIGEST);
	cr_assert_eq(join(hello_of(0)), MEET_WELCOME);
	cr_assert_eq(join(row->hello), row->refusal, "%s", row->what);
	cr_assert_eq(meet_missing(&meet), row->refusal == MEET_WELCOME ? 2 : 1);
}

// Nobody goes on before the last has said so, and with the longest time of all.
Test(meet, rounds_and_results)
{
	struct meet_ready go;

	gather();
	for (uint32_t round = 0; round <= LAST; round++) {
		cr_assert_eq(ready(2, round, 50, &go), MEET_WAITS);
		cr_assert_eq(ready(0, round, 70 + round, &go), MEET_WAITS);
		cr_assert_eq(meet_take_result(&meet, 0, JOB_NONE), MEET_WRONG);
		cr_assert_eq(ready(1, round, 60, &go), MEET_ALL);
		cr_assert_eq(go.round, round);
		cr_assert_eq(go.last_ns, 70 + round);
	}
	cr_assert_eq(ready(1, LAST + 1, 0, &go), MEET_WRONG);
	cr_assert_eq(meet_take_result(&meet, 0, RANKS), MEET_WRONG, "it waited for nobody known");
	cr_assert_eq(meet_take_result(&meet, 0, JOB_NONE), MEET_WAITS);
	cr_assert_eq(meet_take_result(&meet, 0, JOB_NONE), MEET_WRONG, "twice");
	cr_assert_eq(meet_take_result(&meet, 1, 2), MEET_WAITS);
	cr_assert_eq(meet_take_result(&meet, 2, 0), MEET_ALL);
	cr_assert_eq(meet.phase, MEET_OVER);
	cr_assert_eq(meet_take_result(&meet, 2, 0), MEET_WRONG);
}

Test(meet, nothing_is_said_twice_or_ahead)
{
	struct meet_ready go;

	gather();
	cr_assert_eq(ready(1, 1, 0, &go), MEET_WRONG);
	cr_assert_eq(ready(1, 0, 0, &go), MEET_WAITS);
	cr_assert_eq(ready(1, 0, 0, &go), MEET_WRONG);
	cr_assert_eq(join(hello_of(1)), MEET_TAKEN);
}

// Stopped between two rounds: who had said he was ready says so again, that he is done; what was on
// its way then is no error, and the last round has no duration.
Test(meet, a_stop_skips_rounds)
{
	struct meet_ready go;

	gather();
	cr_assert_eq(ready(0, 0, 0, &go), MEET_WAITS);
	cr_assert(meet_stop(&meet));
	cr_assert_not(meet_stop(&meet));
	cr_assert_eq(ready(1, 0, 5, &go), MEET_WAITS);
	for (uint32_t rank = 0; rank < RANKS; rank++)
		cr_assert_eq(ready(rank, LAST, 5, &go), rank == 2 ? MEET_ALL : MEET_WAITS);
	cr_assert_eq(go.round, LAST);
	cr_assert_eq(go.last_ns, 0);
	cr_assert_eq(meet_take_result(&meet, 0, JOB_NONE), MEET_WAITS);
}

// In the last round, who has said that it is done does not say it again.
Test(meet, a_stop_in_the_last_round)
{
	struct meet_ready go;

	gather();
	for (uint32_t i = 0; i < LAST * RANKS; i++)
		ready(i % RANKS, i / RANKS, 5, &go);
	cr_assert_eq(ready(0, LAST, 5, &go), MEET_WAITS);
	cr_assert(meet_stop(&meet));
	cr_assert_eq(ready(1, LAST, 5, &go), MEET_WAITS);
	cr_assert_eq(ready(2, LAST, 5, &go), MEET_ALL);
	cr_assert_not(meet_stop(&meet), "nothing is left to stop");
}

Test(meet, nothing_stops_before_all_are_there)
{
	meet_init(&meet, RANKS, LAST, DIGEST);
	cr_assert_not(meet_stop(&meet));
	cr_assert_eq(meet_missing(&meet), 0);
}

// A rank that is not heard of is named; one that has not come is not silent.
Test(meet, silence)
{
	meet_init(&meet, RANKS, LAST, DIGEST);
	cr_assert_eq(meet_silent(&meet, (ns_t){ 1000 }, 500), JOB_NONE);
	cr_assert_eq(join(hello_of(1)), MEET_WELCOME);
	cr_assert_eq(meet_silent(&meet, (ns_t){ 600 }, 500), JOB_NONE);
	cr_assert_eq(meet_silent(&meet, (ns_t){ 601 }, 500), 1);
	meet_hears(&meet, 1, (ns_t){ 400 });
	cr_assert_eq(meet_silent(&meet, (ns_t){ 601 }, 500), JOB_NONE);
}
