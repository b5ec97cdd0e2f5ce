// SPDX-License-Identifier: BSD-3-Clause
//
// The responder against InfiniBand volume 1, chapter 9: how requests are answered (9.7.5), what is
// refused (9.7.4, 9.9.3), READs and their repeats (9.4.4, 9.7.5.1). The peer is written out by
// hand here. First PSNs lie at the end of the circle.

#include "tests/rc_pair.h"
#include "tests/table.h"

enum { MTU = 256, FIRST_PSN = 0xfffffe, REGION_BYTES = 4096, DELAY = 5000, ROOM = 2 * MTU };

// The region lets everything in unless a test says otherwise.
static const struct rc_profile profile = {
	.mtu = MTU,
	.window = 64,
	.ack_every = 3,
	.request_every = 64,
	.read_depth = END_READS,
	.ack_delay_ns = DELAY,
	.retry_limit = 7,
	.rnr_limit = 7,
	.rnr_timer = 12,
};

static uint8_t payload[ROCE_PAYLOAD_MAX];
static uint8_t buffer[END_RECEIVES][ROOM];
static struct end end;
static ns_t now = { 1000 };

static void start(uint32_t receives)
{
	end_init(&end, &profile, REGION_BYTES, 5, FIRST_PSN);
	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + i / MTU + 1);
	for (uint32_t i = 0; i < receives; i++) {
		const struct rc_receive receive = { .id = i, .data = buffer[i], .bytes = ROOM };

		cr_assert(rc_post_receive(&end.qp, &receive));
	}
}

// What its opcode has no field for stays out.
#define DATA(code, psn, size)                                                                      \
	{                                                                                          \
		.opcode = code, .index = psn, .bytes = size                                        \
	}
#define ASKS(code, psn, size)                                                                      \
	{                                                                                          \
		.opcode = code, .index = psn, .bytes = size, .ack_req = true                       \
	}
#define RETH(code, psn, size, at, dma) KEYED(code, psn, size, at, dma, END_RKEY)
#define KEYED(code, psn, size, at, dma, key)                                                       \
	{                                                                                          \
		.opcode = code, .index = psn, .bytes = size, .ack_req = true, .offset = at,        \
		.dma_bytes = dma, .rkey = key                                                      \
	}

struct request {
	uint8_t opcode;
	int32_t index; // of its PSN
	uint32_t bytes;
	bool ack_req;
	uint64_t offset; // in the region
	uint32_t dma_bytes;
	uint32_t rkey;
};

static void hear(const struct request *request)
{
	const struct roce_packet packet = {
		.opcode = request->opcode,
		.psn = psn_add(FIRST_PSN, (uint32_t)request->index),
		.ack_req = request->ack_req,
		.va = END_VA + request->offset,
		.rkey = request->rkey,
		.dma_bytes = request->dma_bytes,
		.imm = 0x1234,
		.payload = payload,
		.payload_bytes = request->bytes,
	};

	rc_rx(&end.pf, &end.qp, &packet, now);
	rc_check(&end);
}

enum { NONE = -1 };

// What is answered at once, if anything.
static void expect(const char *what, int syndrome, int32_t index, uint32_t msn)
{
	struct roce_packet packet = { 0 };
	const bool sent = rc_tx(&end.pf, &end.qp, RC_ANSWER, now, &packet);

	rc_check(&end);
	cr_assert_eq(sent ? packet.syndrome : NONE, syndrome, "%s: %d", what,
		     sent ? packet.syndrome : NONE);
	if (!sent)
		return;
	cr_assert_eq(packet.opcode, ROCE_ACK);
	cr_assert_eq(packet.dest_qp, 0x123456);
	cr_assert_eq(psn_diff(packet.psn, FIRST_PSN), index, "%s", what);
	cr_assert_eq(packet.msn, msn, "%s", what);
	cr_assert_eq(packet.payload_bytes, 0);
	cr_assert(!rc_tx(&end.pf, &end.qp, RC_ANSWER, now, &packet));
}

// The next READ response: its PSN and where its payload lies in the region.
static void expect_response(uint8_t opcode, int32_t index, uint64_t offset, uint32_t bytes)
{
	const bool aeth = opcode != ROCE_READ_RESPONSE_MIDDLE;
	struct roce_packet packet;

	cr_assert(rc_ready(&end.pf, &end.qp, RC_DATA, now));
	cr_assert(rc_tx(&end.pf, &end.qp, RC_DATA, now, &packet));
	rc_check(&end);
	cr_assert_eq(packet.opcode, opcode);
	cr_assert_eq(psn_diff(packet.psn, FIRST_PSN), index);
	cr_assert_eq(packet.payload_bytes, bytes);
	cr_assert(bytes == 0 || packet.payload == end_memory(&end) + offset);
	cr_assert_eq(packet.syndrome, aeth ? ROCE_SYNDROME_ACK : 0);
	cr_assert_eq(packet.msn != 0, aeth);
}

static void expect_no_response(void)
{
	cr_assert(!rc_ready(&end.pf, &end.qp, RC_DATA, now));
}

enum { SCRIPT_MAX = 5 };

// All packets of a script come before anything is sent. END_RECEIVES receives are posted, unless
// `bare`.
static const struct {
	const char *what;
	bool bare;
	struct request request[SCRIPT_MAX];
	uint32_t count;
	int syndrome;
	int32_t index;
	uint32_t msn;
} scripts[] = {
	{ .what = "asked for",
	  .request = { ASKS(ROCE_SEND_ONLY, 0, 1) },
	  .count = 1,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 0,
	  .msn = 1 },
	{ .what = "not asked for",
	  .request = { DATA(ROCE_SEND_ONLY, 0, 1) },
	  .count = 1,
	  .syndrome = NONE },
	{ .what = "the third without being asked for",
	  .request = { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_LAST, 1, 1),
		       DATA(ROCE_SEND_ONLY, 2, 0) },
	  .count = 3,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 2,
	  .msn = 2 },
	{ .what = "in the middle of a message",
	  .request = { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, 3 * MTU),
		       ASKS(ROCE_WRITE_MIDDLE, 1, MTU) },
	  .count = 2,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 1,
	  .msn = 0 },
	{ .what = "asked for, then more comes",
	  .request = { ASKS(ROCE_SEND_ONLY, 0, 1), DATA(ROCE_SEND_ONLY, 1, 1) },
	  .count = 2,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 1,
	  .msn = 2 },
	{ .what = "a gap",
	  .request = { ASKS(ROCE_SEND_ONLY, 0, 1), ASKS(ROCE_SEND_ONLY, 2, 1) },
	  .count = 2,
	  .syndrome = ROCE_SYNDROME_NAK_PSN,
	  .index = 1,
	  .msn = 1 },
	{ .what = "half of the circle ahead",
	  .request = { ASKS(ROCE_SEND_ONLY, 0x7fffff, 1) },
	  .count = 1,
	  .syndrome = ROCE_SYNDROME_NAK_PSN,
	  .index = 0,
	  .msn = 0 },
	{ .what = "again",
	  .request = { ASKS(ROCE_SEND_ONLY, 0, 1), DATA(ROCE_SEND_ONLY, 1, 1),
		       ASKS(ROCE_SEND_ONLY, 0, 1) },
	  .count = 3,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 1,
	  .msn = 2 },
	{ .what = "no receive",
	  .bare = true,
	  .request = { ASKS(ROCE_SEND_ONLY, 0, 1), ASKS(ROCE_SEND_ONLY, 1, 1) },
	  .count = 2,
	  .syndrome = ROCE_SYNDROME_RNR | 12,
	  .index = 0,
	  .msn = 0 },
	{ .what = "no receive for an immediate",
	  .bare = true,
	  .request = { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, MTU + 1),
		       ASKS(ROCE_WRITE_LAST_IMM, 1, 1) },
	  .count = 2,
	  .syndrome = ROCE_SYNDROME_RNR | 12,
	  .index = 1,
	  .msn = 0 },
	{ .what = "no receive needed",
	  .bare = true,
	  .request = { RETH(ROCE_WRITE_ONLY, 0, 1, 0, 1) },
	  .count = 1,
	  .syndrome = ROCE_SYNDROME_ACK,
	  .index = 0,
	  .msn = 1 },
};

TABLE_TEST(traffic_rc_responder, answers, row, scripts)
{
	start(row->bare ? 0 : END_RECEIVES);
	for (uint32_t i = 0; i < row->count; i++)
		hear(&row->request[i]);
	expect(row->what, row->syndrome, row->index, row->msn);
}

// The last request is refused, which ends everything.
static const struct {
	const char *what;
	struct request request[SCRIPT_MAX];
	uint32_t count;
	uint8_t syndrome;
} refused[] = {
	{ "SEND_MIDDLE out of nothing", { DATA(ROCE_SEND_MIDDLE, 0, MTU) }, 1, 0x61 },
	{ "SEND_LAST out of nothing", { DATA(ROCE_SEND_LAST, 0, 1) }, 1, 0x61 },
	{ "WRITE_LAST out of nothing", { DATA(ROCE_WRITE_LAST, 0, 1) }, 1, 0x61 },
	{ "two beginnings",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_FIRST, 1, MTU) },
	  2,
	  0x61 },
	{ "ONLY in a message",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_ONLY, 1, 1) },
	  2,
	  0x61 },
	{ "WRITE in a SEND",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_WRITE_LAST, 1, 1) },
	  2,
	  0x61 },
	{ "READ in a SEND",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), RETH(ROCE_READ_REQUEST, 1, 0, 0, 1) },
	  2,
	  0x61 },
	{ "FIRST that is not full", { DATA(ROCE_SEND_FIRST, 0, MTU - 1) }, 1, 0x61 },
	{ "MIDDLE that is not full",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_MIDDLE, 1, MTU - 1) },
	  2,
	  0x61 },
	{ "ONLY that is too full", { DATA(ROCE_SEND_ONLY, 0, MTU + 1) }, 1, 0x61 },
	{ "LAST that is empty",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_LAST, 1, 0) },
	  2,
	  0x61 },
	{ "less than RETH says", { RETH(ROCE_WRITE_ONLY, 0, 4, 0, 5) }, 1, 0x61 },
	{ "more than RETH says", { RETH(ROCE_WRITE_ONLY, 0, 6, 0, 5) }, 1, 0x61 },
	{ "FIRST that is all of it", { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, MTU) }, 1, 0x61 },
	{ "an early LAST",
	  { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, MTU + 9), DATA(ROCE_WRITE_LAST, 1, 8) },
	  2,
	  0x61 },
	{ "a late LAST",
	  { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, MTU + 9), DATA(ROCE_WRITE_LAST, 1, 10) },
	  2,
	  0x61 },
	{ "MIDDLE where the end is",
	  { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, 2 * MTU), DATA(ROCE_WRITE_MIDDLE, 1, MTU) },
	  2,
	  0x61 },
	{ "longer than any message", { RETH(ROCE_WRITE_FIRST, 0, MTU, 0, 0x80000001) }, 1, 0x61 },
	{ "a READ longer than any", { RETH(ROCE_READ_REQUEST, 0, 0, 0, 0x80000001) }, 1, 0x61 },
	{ "longer than the receive",
	  { DATA(ROCE_SEND_FIRST, 0, MTU), DATA(ROCE_SEND_MIDDLE, 1, MTU),
	    DATA(ROCE_SEND_LAST, 2, 1) },
	  3,
	  0x61 },
	{ "an unknown key", { KEYED(ROCE_WRITE_ONLY, 0, 1, 0, 1, 0x0143) }, 1, 0x62 },
	{ "no such region", { KEYED(ROCE_WRITE_ONLY, 0, 1, 0, 1, 0x0242) }, 1, 0x62 },
	{ "no such region by far", { KEYED(ROCE_READ_REQUEST, 0, 0, 0, 1, UINT32_MAX) }, 1, 0x62 },
	{ "a byte behind", { RETH(ROCE_WRITE_ONLY, 0, 1, REGION_BYTES, 1) }, 1, 0x62 },
	{ "over the end", { RETH(ROCE_WRITE_ONLY, 0, 2, REGION_BYTES - 1, 2) }, 1, 0x62 },
	{ "over the end, later",
	  { RETH(ROCE_WRITE_FIRST, 0, MTU, REGION_BYTES - MTU, MTU + 1) },
	  1,
	  0x62 },
	{ "a byte before", { RETH(ROCE_WRITE_ONLY, 0, 2, UINT64_MAX, 2) }, 1, 0x62 },
	{ "round the address space", { RETH(ROCE_READ_REQUEST, 0, 0, -END_VA - 1, 2) }, 1, 0x62 },
};

TABLE_TEST(traffic_rc_responder, refusals_end_everything, row, refused)
{
	struct rc_completion done;
	uint32_t completions = 0;
	bool too_long = false;

	start(END_RECEIVES);
	for (uint32_t i = 0; i < row->count; i++) {
		cr_assert(!end.qp.failed);
		hear(&row->request[i]);
	}
	expect(row->what, row->syndrome, (int32_t)row->count - 1, 0);
	cr_assert(end.qp.failed);
	hear(&row->request[row->count - 1]);
	expect("nothing is heard any more", NONE, 0, 0);
	cr_assert_eq(end.qp.stats.refused, 2);
	while (rc_complete(&end.qp, &done)) {
		too_long |= done.status == RC_LOCAL_LENGTH && done.id == 0;
		cr_assert(done.status == RC_FLUSHED || completions == 0);
		completions++;
	}
	cr_assert_eq(completions, END_RECEIVES);
	cr_assert_eq(too_long, row->count == 3);
}

Test(traffic_rc_responder, permissions)
{
	const struct request write = RETH(ROCE_WRITE_ONLY, 0, 1, 0, 1);
	const struct request read = RETH(ROCE_READ_REQUEST, 0, 0, 0, 1);

	start(0);
	end.region[1].remote_write = false;
	hear(&write);
	expect("write", ROCE_SYNDROME_NAK_ACCESS, 0, 0);
	start(0);
	end.region[1].remote_read = false;
	hear(&read);
	expect("read", ROCE_SYNDROME_NAK_ACCESS, 0, 0);
	expect_no_response();
	cr_assert_eq(end_memory(&end)[0], 0);
}

Test(traffic_rc_responder, nothing_needs_no_key)
{
	const struct request script[] = {
		KEYED(ROCE_WRITE_ONLY, 0, 0, 77777, 0, 1),
		KEYED(ROCE_READ_REQUEST, 1, 0, 77777, 0, 1),
	};

	start(0);
	hear(&script[0]);
	expect("write", ROCE_SYNDROME_ACK, 0, 1);
	hear(&script[1]);
	expect_response(ROCE_READ_RESPONSE_ONLY, 1, 0, 0);
}

Test(traffic_rc_responder, a_message_is_placed_and_completes_its_receive)
{
	const struct request script[] = {
		DATA(ROCE_SEND_FIRST, 0, MTU),
		DATA(ROCE_SEND_LAST_IMM, 1, 9),
		RETH(ROCE_WRITE_FIRST, 2, MTU, 100, MTU + 3),
		DATA(ROCE_WRITE_LAST_IMM, 3, 3),
	};
	struct rc_completion done;

	start(2);
	for (uint32_t i = 0; i < TABLE_COUNT(script); i++) {
		hear(&script[i]);
		now = ns_add(now, 10);
	}
	cr_assert(rc_complete(&end.qp, &done));
	cr_assert(done.receive && done.id == 0 && done.bytes == MTU + 9 && done.has_imm);
	cr_assert(done.imm == 0x1234 && done.posted.v == 1000 && done.done.v == 1010);
	cr_assert_arr_eq(buffer[0], payload, MTU);
	cr_assert_arr_eq(buffer[0] + MTU, payload, 9);
	cr_assert_eq(buffer[0][MTU + 9], 0);
	cr_assert(rc_complete(&end.qp, &done));
	cr_assert(done.receive && done.id == 1 && done.bytes == MTU + 3 && done.has_imm);
	cr_assert_arr_eq(end_memory(&end) + 100, payload, MTU);
	cr_assert_arr_eq(end_memory(&end) + 100 + MTU, payload, 3);
	cr_assert_eq(end_memory(&end)[99] | end_memory(&end)[100 + MTU + 3], 0);
	cr_assert_eq(buffer[1][0], 0);
	cr_assert(!rc_complete(&end.qp, &done));
}

Test(traffic_rc_responder, repeats_have_no_effect)
{
	const struct request write = RETH(ROCE_WRITE_ONLY, 0, 1, 0, 1);
	const struct request send = ASKS(ROCE_SEND_ONLY, 1, 1);
	struct rc_completion done;
	uint8_t *written;

	start(2);
	written = end_memory(&end);
	hear(&write);
	hear(&send);
	expect("first", ROCE_SYNDROME_ACK, 1, 2);
	cr_assert(rc_complete(&end.qp, &done));
	*written = 0xee;
	hear(&write);
	expect("again", ROCE_SYNDROME_ACK, 1, 2);
	hear(&send);
	expect("again", ROCE_SYNDROME_ACK, 1, 2);
	cr_assert(!rc_complete(&end.qp, &done));
	cr_assert_eq(*written, 0xee);
	cr_assert_eq(end.qp.stats.duplicates, 2);
	cr_assert_eq(end.qp.stats.rx_packets, 2);
}

Test(traffic_rc_responder, a_gap_is_told_once)
{
	const struct request script[] = {
		DATA(ROCE_SEND_ONLY, 0, 1),
		DATA(ROCE_SEND_ONLY, 1, 1),
		ASKS(ROCE_SEND_ONLY, 2, 1),
	};

	start(4);
	hear(&script[1]);
	expect("first", ROCE_SYNDROME_NAK_PSN, 0, 0);
	hear(&script[2]);
	expect("same gap", NONE, 0, 0);
	hear(&script[0]);
	hear(&script[2]);
	expect("another gap", ROCE_SYNDROME_NAK_PSN, 1, 1);
	hear(&script[1]);
	hear(&script[2]);
	expect("closed", ROCE_SYNDROME_ACK, 2, 3);
	cr_assert_eq(end.qp.stats.out_of_sequence, 3);
	cr_assert_eq(end.qp.stats.naks_sent, 2);
}

Test(traffic_rc_responder, a_receive_that_comes_late)
{
	const struct rc_receive receive = { .id = 3, .data = buffer[0], .bytes = 1 };
	const struct request first = ASKS(ROCE_SEND_ONLY, 0, 1);
	const struct request second = ASKS(ROCE_SEND_ONLY, 1, 1);

	start(0);
	hear(&first);
	expect("not ready", ROCE_SYNDROME_RNR | 12, 0, 0);
	hear(&second);
	expect("dropped until the first comes again", NONE, 0, 0);
	hear(&first);
	expect("still not ready", ROCE_SYNDROME_RNR | 12, 0, 0);
	cr_assert(rc_post_receive(&end.qp, &receive));
	hear(&first);
	expect("ready", ROCE_SYNDROME_ACK, 0, 1);
	cr_assert_eq(end.qp.stats.rnr_sent, 2);
	cr_assert_eq(end.qp.stats.naks_sent, 0);
}

Test(traffic_rc_responder, acks_wait_for_others)
{
	const struct request send = DATA(ROCE_SEND_ONLY, 0, 1);

	start(1);
	hear(&send);
	expect("not yet", NONE, 0, 0);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, 1000 + DELAY);
	now = (ns_t){ 1000 + DELAY - 1 };
	expect("not yet", NONE, 0, 0);
	now = (ns_t){ 1000 + DELAY };
	expect("long enough", ROCE_SYNDROME_ACK, 0, 1);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

static const struct {
	const char *what;
	uint32_t bytes;
	uint8_t opcode[4];
	uint32_t count;
} reads[] = {
	{ "nothing", 0, { ROCE_READ_RESPONSE_ONLY }, 1 },
	{ "a byte", 1, { ROCE_READ_RESPONSE_ONLY }, 1 },
	{ "a full packet", MTU, { ROCE_READ_RESPONSE_ONLY }, 1 },
	{ "two", MTU + 1, { ROCE_READ_RESPONSE_FIRST, ROCE_READ_RESPONSE_LAST }, 2 },
	{ "four",
	  4 * MTU,
	  { ROCE_READ_RESPONSE_FIRST, ROCE_READ_RESPONSE_MIDDLE, ROCE_READ_RESPONSE_MIDDLE,
	    ROCE_READ_RESPONSE_LAST },
	  4 },
};

TABLE_TEST(traffic_rc_responder, responses_of_a_read, row, reads)
{
	const struct request read = RETH(ROCE_READ_REQUEST, 0, 0, 16, row->bytes);
	const struct request send = ASKS(ROCE_SEND_ONLY, (int32_t)row->count, 1);

	start(1);
	hear(&read);
	hear(&send);
	for (uint32_t i = 0; i < row->count; i++) {
		const uint32_t left = row->bytes - i * MTU;

		expect("an ACK may not overtake responses", NONE, 0, 0);
		expect_response(row->opcode[i], (int32_t)i, 16 + i * MTU, left < MTU ? left : MTU);
	}
	expect_no_response();
	expect(row->what, ROCE_SYNDROME_ACK, (int32_t)row->count, 2);
	cr_assert_eq(end.qp.stats.retransmits, 0);
}

Test(traffic_rc_responder, a_read_comes_again)
{
	const struct request script[] = {
		RETH(ROCE_READ_REQUEST, 0, 0, 0, 3 * MTU),
		RETH(ROCE_READ_REQUEST, 3, 0, 2000, MTU),
	};
	const struct request rest = RETH(ROCE_READ_REQUEST, 1, 0, MTU, 2 * MTU);

	start(0);
	hear(&script[0]);
	hear(&script[1]);
	expect_response(ROCE_READ_RESPONSE_FIRST, 0, 0, MTU);
	hear(&rest); // its answer has yet to be sent
	expect_response(ROCE_READ_RESPONSE_MIDDLE, 1, MTU, MTU);
	hear(&rest); // what was sent is sent again, and nothing twice
	hear(&script[1]);
	expect_response(ROCE_READ_RESPONSE_FIRST, 1, MTU, MTU);
	expect_response(ROCE_READ_RESPONSE_LAST, 2, 2 * MTU, MTU);
	hear(&rest); // all of it was sent: it goes before the other
	expect_response(ROCE_READ_RESPONSE_FIRST, 1, MTU, MTU);
	expect_response(ROCE_READ_RESPONSE_LAST, 2, 2 * MTU, MTU);
	expect_response(ROCE_READ_RESPONSE_ONLY, 3, 2000, MTU);
	expect_no_response();
	expect("responses acknowledge", NONE, 0, 0);
	cr_assert_eq(end.qp.stats.duplicates, 4);
	cr_assert_eq(end.qp.stats.retransmits, 3);
}

Test(traffic_rc_responder, a_repeat_that_cannot_be_one)
{
	const struct request read = RETH(ROCE_READ_REQUEST, 0, 0, 0, 2 * MTU);
	struct request again = read;

	start(0);
	hear(&read);
	expect_response(ROCE_READ_RESPONSE_FIRST, 0, 0, MTU);
	expect_response(ROCE_READ_RESPONSE_LAST, 1, MTU, MTU);
	again.dma_bytes++; // beyond what has been
	hear(&again);
	again = read;
	again.rkey = 7;
	hear(&again);
	expect_no_response();
	expect("dropped", NONE, 0, 0);
	cr_assert_eq(end.qp.stats.refused, 2);
	cr_assert(!end.qp.failed);
}

Test(traffic_rc_responder, more_reads_than_there_is_room_for)
{
	struct request read = RETH(ROCE_READ_REQUEST, 0, 0, 0, 1);

	start(0);
	for (; read.index < END_READS + 2; read.index++)
		hear(&read);
	for (int32_t i = 0; i < END_READS; i++) {
		expect("behind the responses", NONE, 0, 0);
		expect_response(ROCE_READ_RESPONSE_ONLY, i, 0, 1);
	}
	expect_no_response();
	expect("come again", ROCE_SYNDROME_NAK_PSN, END_READS, END_READS);
	read.index = END_READS;
	hear(&read);
	expect_response(ROCE_READ_RESPONSE_ONLY, END_READS, 0, 1);
}

Test(traffic_rc_responder, what_is_owed_is_sent_before_the_end)
{
	const struct request read = RETH(ROCE_READ_REQUEST, 0, 0, 0, MTU);
	const struct request wrong = DATA(ROCE_SEND_MIDDLE, 1, MTU);

	start(0);
	hear(&read);
	hear(&wrong);
	cr_assert(end.qp.failed);
	expect("behind the response", NONE, 0, 0);
	expect_response(ROCE_READ_RESPONSE_ONLY, 0, 0, MTU);
	expect("then", ROCE_SYNDROME_NAK_REQUEST, 1, 1);
}

Test(traffic_rc_responder, lengths_alone)
{
	const struct rc_receive receive = { .bytes = MTU };
	struct roce_packet packet = { .opcode = ROCE_SEND_ONLY,
				      .psn = FIRST_PSN,
				      .payload_bytes = MTU };

	start(0);
	end.region[1].data = NULL;
	cr_assert(rc_post_receive(&end.qp, &receive));
	rc_rx(&end.pf, &end.qp, &packet, now);
	hear(&(struct request)RETH(ROCE_WRITE_ONLY, 1, MTU, 0, MTU));
	hear(&(struct request)RETH(ROCE_READ_REQUEST, 2, 0, 0, MTU));
	cr_assert(rc_tx(&end.pf, &end.qp, RC_DATA, now, &packet));
	cr_assert_eq(packet.payload_bytes, MTU);
	cr_assert_null(packet.payload);
	cr_assert_eq(end.qp.stats.rx_bytes, 2 * MTU);
}
