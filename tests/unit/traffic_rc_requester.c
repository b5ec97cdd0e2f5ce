// SPDX-License-Identifier: BSD-3-Clause
//
// The requester against InfiniBand volume 1, chapter 9: which packets work becomes (9.4, table 38),
// and what it does about answers (9.7.5), lost packets and a receiver that is not ready (9.7.5.2.8,
// table 45). The peer is written out by hand here. First PSNs lie at the end of the circle.

#include "tests/rc_pair.h"
#include "tests/table.h"

enum { MTU = 256, FIRST_PSN = 0xfffffe, BYTES_MAX = 64 * MTU, TIMEOUT = 1000000 };

static const struct rc_profile profile = {
	.mtu = MTU,
	.window = 64,
	.ack_every = 1,
	.request_every = 64,
	.read_depth = 2,
	.timeout_ns = TIMEOUT,
	.retry_limit = 2,
	.rnr_limit = 1,
};

static uint8_t memory[BYTES_MAX];
static struct end end;
static ns_t now = { 1000 };

static void start(const struct rc_profile *pf)
{
	for (uint32_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7 + i / MTU);
	end_init(&end, pf, 16, FIRST_PSN, 77);
}

static void post(enum rc_op op, uint32_t bytes, bool has_imm)
{
	const struct rc_work work = {
		.id = end.qp.rq.head,
		.op = op,
		.has_imm = has_imm,
		.imm = 0xabcd0123,
		.data = memory,
		.bytes = bytes,
		.remote_va = 0x10000,
		.rkey = 0x777,
	};

	cr_assert(rc_post(&end.pf, &end.qp, &work, now));
}

// The next request and its PSN, counted from the first.
static bool next(struct roce_packet *packet, int32_t *index)
{
	const bool ready = rc_ready(&end.pf, &end.qp, RC_DATA, now);

	cr_assert_eq(rc_tx(&end.pf, &end.qp, RC_DATA, now, packet), ready);
	rc_check(&end);
	if (ready)
		*index = psn_diff(packet->psn, FIRST_PSN);
	return ready;
}

// Sends what there is and returns how many packets that were; `*last` is the PSN of the last.
static uint32_t drain(int32_t *last)
{
	struct roce_packet packet;
	uint32_t count = 0;

	while (next(&packet, last))
		count++;
	return count;
}

static void expect_next(uint8_t opcode, int32_t index)
{
	struct roce_packet packet;
	int32_t got;

	cr_assert(next(&packet, &got));
	cr_assert_eq(packet.opcode, opcode);
	cr_assert_eq(got, index);
}

static void answer(uint8_t syndrome, int32_t index)
{
	const struct roce_packet packet = {
		.opcode = ROCE_ACK,
		.psn = psn_add(FIRST_PSN, (uint32_t)index),
		.syndrome = syndrome,
	};

	rc_rx(&end.pf, &end.qp, &packet, now);
	rc_check(&end);
}

static void respond(uint8_t opcode, int32_t index, const uint8_t *payload, uint32_t bytes)
{
	const struct roce_packet packet = {
		.opcode = opcode,
		.psn = psn_add(FIRST_PSN, (uint32_t)index),
		.syndrome = ROCE_SYNDROME_ACK,
		.payload = payload,
		.payload_bytes = bytes,
	};

	rc_rx(&end.pf, &end.qp, &packet, now);
	rc_check(&end);
}

static void expect_done(uint64_t id, enum rc_status status)
{
	struct rc_completion done;

	cr_assert(rc_complete(&end.qp, &done));
	cr_assert_eq(done.id, id);
	cr_assert_eq(done.status, status);
	rc_check(&end);
}

static void expect_nothing_done(void)
{
	struct rc_completion done;

	cr_assert(!rc_complete(&end.qp, &done));
}

static const struct {
	const char *what;
	enum rc_op op;
	bool has_imm;
	uint32_t bytes;
	uint8_t opcode[4];
	uint32_t packets;
} shapes[] = {
	{ "nothing", RC_SEND, false, 0, { ROCE_SEND_ONLY }, 1 },
	{ "a full packet", RC_SEND, false, MTU, { ROCE_SEND_ONLY }, 1 },
	{ "a byte more", RC_SEND, false, MTU + 1, { ROCE_SEND_FIRST, ROCE_SEND_LAST }, 2 },
	{ "SEND of three",
	  RC_SEND,
	  false,
	  3 * MTU,
	  { ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST },
	  3 },
	{ "an immediate alone", RC_SEND, true, 0, { ROCE_SEND_ONLY_IMM }, 1 },
	{ "SEND of two and an immediate",
	  RC_SEND,
	  true,
	  2 * MTU,
	  { ROCE_SEND_FIRST, ROCE_SEND_LAST_IMM },
	  2 },
	{ "WRITE of nothing", RC_WRITE, false, 0, { ROCE_WRITE_ONLY }, 1 },
	{ "WRITE of a byte", RC_WRITE, false, 1, { ROCE_WRITE_ONLY }, 1 },
	{ "WRITE of one and an immediate", RC_WRITE, true, 1, { ROCE_WRITE_ONLY_IMM }, 1 },
	{ "WRITE of four",
	  RC_WRITE,
	  false,
	  3 * MTU + 5,
	  { ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST },
	  4 },
	{ "WRITE of two and an immediate",
	  RC_WRITE,
	  true,
	  MTU + 255,
	  { ROCE_WRITE_FIRST, ROCE_WRITE_LAST_IMM },
	  2 },
};

TABLE_TEST(traffic_rc_requester, packets_of_a_message, row, shapes)
{
	struct roce_packet packet;
	int32_t index;

	start(&profile);
	post(row->op, row->bytes, row->has_imm);
	for (uint32_t i = 0; i < row->packets; i++) {
		const uint32_t left = row->bytes - i * MTU;
		const bool first = i == 0, last = i == row->packets - 1;
		const bool reth = row->op == RC_WRITE && first;

		cr_assert(next(&packet, &index), "%s", row->what);
		cr_assert_eq(packet.opcode, row->opcode[i], "%s", row->what);
		cr_assert_eq(index, (int32_t)i);
		cr_assert_eq(packet.dest_qp, 0x123456);
		cr_assert_eq(packet.pkey, 0xffff);
		cr_assert_eq(packet.payload_bytes, left < MTU ? left : MTU, "%s", row->what);
		cr_assert_eq(packet.payload, memory + i * MTU);
		cr_assert_eq(packet.va, reth ? 0x10000 : 0);
		cr_assert_eq(packet.rkey, reth ? 0x777 : 0);
		cr_assert_eq(packet.dma_bytes, reth ? row->bytes : 0);
		cr_assert_eq(packet.imm, last && row->has_imm ? 0xabcd0123 : 0);
		cr_assert_eq(packet.ack_req, last, "%s", row->what);
	}
	cr_assert(!next(&packet, &index), "%s", row->what);
	cr_assert_eq(end.qp.stats.tx_packets, row->packets);
	cr_assert_eq(end.qp.stats.tx_bytes, row->bytes);
}

Test(traffic_rc_requester, a_read_takes_the_psns_of_its_responses)
{
	struct roce_packet packet;
	int32_t index;

	start(&profile);
	post(RC_READ, 2 * MTU + 1, false);
	post(RC_READ, 0, false);
	post(RC_SEND, 1, false);
	cr_assert(next(&packet, &index));
	cr_assert_eq(packet.opcode, ROCE_READ_REQUEST);
	cr_assert_eq(index, 0);
	cr_assert_eq(packet.va, 0x10000);
	cr_assert_eq(packet.rkey, 0x777);
	cr_assert_eq(packet.dma_bytes, 2 * MTU + 1);
	cr_assert_eq(packet.payload_bytes, 0);
	expect_next(ROCE_READ_REQUEST, 3);
	expect_next(ROCE_SEND_ONLY, 4);
}

Test(traffic_rc_requester, a_read_is_placed_and_acknowledges)
{
	uint8_t answer_bytes[MTU + 9];
	int32_t last;

	start(&profile);
	memset(answer_bytes, 0x5a, sizeof(answer_bytes));
	post(RC_WRITE, 1, false);
	post(RC_READ, MTU + 9, false);
	cr_assert_eq(drain(&last), 2);
	respond(ROCE_READ_RESPONSE_FIRST, 1, answer_bytes, MTU);
	expect_done(0, RC_OK);
	expect_nothing_done();
	respond(ROCE_READ_RESPONSE_LAST, 2, answer_bytes, 10); // one byte too long
	cr_assert_eq(end.qp.stats.refused, 1);
	respond(ROCE_READ_RESPONSE_LAST, 2, answer_bytes, 9);
	expect_done(1, RC_OK);
	cr_assert_arr_eq(memory, answer_bytes, MTU + 9);
	cr_assert_eq(memory[MTU + 9], (uint8_t)((MTU + 9) * 7 + 1));
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

Test(traffic_rc_requester, reads_are_limited_in_number)
{
	int32_t last;

	start(&profile);
	for (int i = 0; i < 3; i++)
		post(RC_READ, 1, false);
	post(RC_SEND, 1, false);
	cr_assert_eq(drain(&last), 2);
	respond(ROCE_READ_RESPONSE_ONLY, 0, memory, 1);
	expect_next(ROCE_READ_REQUEST, 2);
	expect_next(ROCE_SEND_ONLY, 3);
}

// Half of the circle of PSNs is what there is: the rest of a READ is asked for when the first part
// is there, and 2^31 bytes in packets of one byte are no trouble.
Test(traffic_rc_requester, the_longest_read)
{
	struct rc_profile pf = profile;
	struct rc_work work = { .op = RC_READ, .bytes = RC_BYTES_MAX, .remote_va = 5 };
	struct roce_packet packet;
	int32_t index;

	pf.mtu = 1;
	start(&pf);
	cr_assert(rc_post(&end.pf, &end.qp, &work, now));
	work.bytes = RC_BYTES_MAX + 1ull;
	cr_assert(!rc_post(&end.pf, &end.qp, &work, now));
	for (uint32_t part = 0; part < 3; part++) {
		cr_assert(next(&packet, &index));
		cr_assert_eq(packet.dma_bytes, RC_WINDOW_MAX);
		cr_assert_eq(packet.va, 5 + (uint64_t)part * RC_WINDOW_MAX);
		cr_assert(!next(&packet, &index));
		for (uint32_t i = 0; i < RC_WINDOW_MAX; i++) {
			packet.opcode = ROCE_READ_RESPONSE_MIDDLE;
			packet.payload_bytes = 1;
			rc_rx(&end.pf, &end.qp, &packet, now);
			packet.psn = psn_add(packet.psn, 1);
		}
	}
	cr_assert_eq(end.qp.stats.rx_bytes, 3ull * RC_WINDOW_MAX);
}

Test(traffic_rc_requester, the_window_limits_what_is_unacknowledged)
{
	struct rc_profile pf = profile;
	int32_t last;

	pf.window = 4;
	start(&pf);
	post(RC_WRITE, 10 * MTU, false);
	cr_assert_eq(drain(&last), 4);
	answer(ROCE_SYNDROME_ACK, 1);
	cr_assert_eq(drain(&last), 2);
	cr_assert_eq(last, 5);
	answer(ROCE_SYNDROME_ACK, 5);
	cr_assert_eq(drain(&last), 4);
	expect_nothing_done();
	answer(ROCE_SYNDROME_ACK, 9);
	expect_done(0, RC_OK);
	cr_assert_eq(end.qp.stats.retransmits, 0);
}

Test(traffic_rc_requester, acks_are_asked_for_now_and_then)
{
	static const bool asks[] = { false, false, true, false, false, true, false, true };
	struct rc_profile pf = profile;
	struct roce_packet packet;
	int32_t index;

	pf.request_every = 3;
	pf.window = 8;
	start(&pf);
	post(RC_WRITE, 3 * MTU, false); // the last of a message need not ask when more follows
	post(RC_WRITE, 20 * MTU, false);
	for (uint32_t i = 0; i < TABLE_COUNT(asks); i++) {
		cr_assert(next(&packet, &index));
		cr_assert_eq(packet.ack_req, asks[i], "packet %u", i);
	}
	cr_assert(!next(&packet, &index)); // the window closed, so the last one asked
}

Test(traffic_rc_requester, an_ack_is_for_all_before_it)
{
	int32_t last;

	start(&profile);
	for (int i = 0; i < 5; i++)
		post(RC_SEND, MTU + 1, false);
	cr_assert_eq(drain(&last), 10);
	answer(ROCE_SYNDROME_ACK, 6); // in the middle of the fourth
	for (uint64_t id = 0; id < 3; id++)
		expect_done(id, RC_OK);
	expect_nothing_done();
	answer(ROCE_SYNDROME_ACK, 2);  // overtaken
	answer(ROCE_SYNDROME_ACK, 10); // of nothing that was sent
	expect_nothing_done();
	cr_assert_eq(end.qp.stats.refused, 1);
	answer(ROCE_SYNDROME_ACK, 9);
	expect_done(3, RC_OK);
	expect_done(4, RC_OK);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

Test(traffic_rc_requester, a_sequence_error_goes_back)
{
	int32_t last;

	start(&profile);
	post(RC_SEND, MTU, false);
	post(RC_WRITE, 3 * MTU, false);
	cr_assert_eq(drain(&last), 4);
	answer(ROCE_SYNDROME_NAK_PSN, 2);
	expect_done(0, RC_OK);
	expect_next(ROCE_WRITE_MIDDLE, 2);
	expect_next(ROCE_WRITE_LAST, 3);
	cr_assert_eq(end.qp.stats.naks_received, 1);
	cr_assert_eq(end.qp.stats.retransmits, 2);
	// What was only late: the ACK of the first flight, when all is sent again already or not.
	answer(ROCE_SYNDROME_NAK_PSN, 2);
	answer(ROCE_SYNDROME_ACK, 3);
	cr_assert_eq(drain(&last), 0);
	expect_done(1, RC_OK);
}

Test(traffic_rc_requester, a_read_goes_on_behind_what_arrived)
{
	struct roce_packet packet;
	int32_t index;

	start(&profile);
	post(RC_READ, 4 * MTU, false);
	post(RC_WRITE, 1, false);
	cr_assert_eq(drain(&index), 2);
	respond(ROCE_READ_RESPONSE_FIRST, 0, memory, MTU);
	respond(ROCE_READ_RESPONSE_MIDDLE, 2, memory, MTU);
	respond(ROCE_READ_RESPONSE_LAST, 3, memory, MTU); // the same gap
	answer(ROCE_SYNDROME_ACK, 4);                     // and again
	cr_assert_eq(end.qp.stats.out_of_sequence, 2);
	cr_assert(next(&packet, &index));
	cr_assert_eq(packet.opcode, ROCE_READ_REQUEST);
	cr_assert_eq(index, 1);
	cr_assert_eq(packet.va, 0x10000 + MTU);
	cr_assert_eq(packet.dma_bytes, 3 * MTU);
	expect_next(ROCE_WRITE_ONLY, 4);
	cr_assert(!next(&packet, &index));
	for (int32_t i = 1; i < 4; i++)
		respond(ROCE_READ_RESPONSE_MIDDLE, i, memory, MTU);
	expect_done(0, RC_OK);
	expect_nothing_done();
	answer(ROCE_SYNDROME_ACK, 4);
	expect_done(1, RC_OK);
}

Test(traffic_rc_requester, an_ack_behind_a_read_says_that_it_was_lost)
{
	int32_t last;

	start(&profile);
	post(RC_SEND, 1, false);
	post(RC_READ, 2 * MTU, false);
	post(RC_SEND, 1, false);
	cr_assert_eq(drain(&last), 3);
	answer(ROCE_SYNDROME_ACK, 3);
	expect_done(0, RC_OK);
	expect_nothing_done();
	expect_next(ROCE_READ_REQUEST, 1);
	expect_next(ROCE_SEND_ONLY, 3);
}

static const struct {
	const char *what;
	uint8_t code;
	uint64_t ns;
} timers[] = {
	{ "655.36 ms", 0, 655360000 },  { "10 us", 1, 10000 },
	{ "60 us", 5, 60000 },          { "480 us", 11, 480000 },
	{ "1.28 ms", 14, 1280000 },     { "61.44 ms", 25, 61440000 },
	{ "327.68 ms", 30, 327680000 }, { "491.52 ms", 31, 491520000 },
};

TABLE_TEST(traffic_rc_requester, a_receiver_that_is_not_ready, row, timers)
{
	struct roce_packet packet;
	int32_t index;
	ns_t until = ns_add(now, row->ns);

	start(&profile);
	post(RC_SEND, 1, false);
	post(RC_SEND, 1, false);
	cr_assert_eq(drain(&index), 2);
	answer(ROCE_SYNDROME_RNR | row->code, 1);
	expect_done(0, RC_OK);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, until.v, "%s", row->what);
	now = (ns_t){ until.v - 1 };
	cr_assert(!next(&packet, &index));
	now = until;
	expect_next(ROCE_SEND_ONLY, 1);
	answer(ROCE_SYNDROME_RNR | row->code, 1); // the limit is 1
	expect_done(1, RC_RNR_EXCEEDED);
	cr_assert_eq(end.qp.stats.rnr_received, 2);
}

Test(traffic_rc_requester, not_ready_for_ever)
{
	struct rc_profile pf = profile;
	int32_t last;

	pf.rnr_limit = RC_RNR_FOR_EVER;
	start(&pf);
	post(RC_SEND, 1, false);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(drain(&last), 1);
		answer(ROCE_SYNDROME_RNR | 1, 0);
		now = ns_add(now, 10000);
	}
}

Test(traffic_rc_requester, timeouts_are_counted_without_progress)
{
	// The first packet is acknowledged after two timeouts, then nothing comes any more.
	static const uint32_t sent[] = { 3, 3, 3, 2, 2 };
	int32_t last;

	start(&profile);
	post(RC_WRITE, 2 * MTU, false);
	post(RC_SEND, 1, false);
	for (uint32_t i = 0; i < TABLE_COUNT(sent); i++) {
		cr_assert_eq(drain(&last), sent[i]);
		cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, now.v + TIMEOUT);
		if (i == 2)
			answer(ROCE_SYNDROME_ACK, 0);
		now = ns_add(now, TIMEOUT);
	}
	cr_assert_eq(drain(&last), 0);
	cr_assert_eq(end.qp.stats.timeouts, 5);
	cr_assert_eq(end.qp.stats.retransmits, 3 + 3 + 2 + 2);
	expect_done(0, RC_RETRY_EXCEEDED);
	expect_done(1, RC_FLUSHED);
	expect_nothing_done();
	cr_assert(end.qp.failed);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

// Without it the timer would go off in each round, since no look was at what came in between.
Test(traffic_rc_requester, time_away_is_not_waited_for)
{
	const uint64_t away = 5 * TIMEOUT;
	int32_t last;

	start(&profile);
	cr_assert_not(rc_away(&end.qp, away));
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
	post(RC_SEND, 1, false);
	for (uint32_t i = 0; i < 10; i++) {
		cr_assert_eq(drain(&last), i == 0 ? 1 : 0);
		cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, now.v + TIMEOUT - i * 1000);
		now = ns_add(now, away + 1000);
		cr_assert(rc_away(&end.qp, away));
	}
	cr_assert_eq(end.qp.stats.timeouts, 0);
	now = rc_deadline(&end.pf, &end.qp);
	cr_assert_eq(drain(&last), 1);
	cr_assert_eq(end.qp.stats.timeouts, 1);
}

Test(traffic_rc_requester, what_nobody_is_asked_about_has_no_timeout)
{
	struct roce_packet packet;
	int32_t index;

	start(&profile);
	post(RC_WRITE, 3 * MTU, false);
	cr_assert(next(&packet, &index));
	cr_assert(!packet.ack_req);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

static const struct {
	const char *what;
	uint8_t syndrome;
	enum rc_status status;
} fatal[] = {
	{ "invalid request", ROCE_SYNDROME_NAK_REQUEST, RC_REMOTE_INVALID },
	{ "remote access", ROCE_SYNDROME_NAK_ACCESS, RC_REMOTE_ACCESS },
	{ "remote operational", ROCE_SYNDROME_NAK_OPERATIONAL, RC_REMOTE_OPERATION },
};

TABLE_TEST(traffic_rc_requester, errors_end_everything, row, fatal)
{
	const struct rc_receive receive = { .id = 9 };
	struct rc_completion done;
	int32_t last;

	start(&profile);
	cr_assert(rc_post_receive(&end.qp, &receive));
	for (int i = 0; i < 4; i++)
		post(RC_WRITE, MTU + 1, false);
	cr_assert_eq(drain(&last), 8);
	answer(row->syndrome, 3); // in the second
	cr_assert(rc_complete(&end.qp, &done));
	cr_assert(done.receive && done.id == 9 && done.status == RC_FLUSHED);
	expect_done(0, RC_OK);
	expect_done(1, row->status);
	expect_done(2, RC_FLUSHED);
	expect_done(3, RC_FLUSHED);
	expect_nothing_done();
	cr_assert(!rc_post(&end.pf, &end.qp, &(struct rc_work){ .op = RC_SEND }, now));
	cr_assert(!rc_post_receive(&end.qp, &receive));
	cr_assert_eq(drain(&last), 0);
}

Test(traffic_rc_requester, reserved_codes_mean_nothing)
{
	int32_t last;

	start(&profile);
	post(RC_SEND, 1, false);
	cr_assert_eq(drain(&last), 1);
	answer(0x64, 0);
	answer(0x40, 0);
	cr_assert_eq(end.qp.stats.refused, 2);
	cr_assert(!end.qp.failed);
	expect_nothing_done();
}

Test(traffic_rc_requester, the_queue_has_an_end)
{
	const struct rc_work work = { .op = RC_SEND };
	int32_t last;

	start(&profile);
	for (uint32_t i = 0; i < END_SENDS; i++)
		cr_assert(rc_post(&end.pf, &end.qp, &work, now));
	cr_assert(!rc_post(&end.pf, &end.qp, &work, now));
	cr_assert_eq(drain(&last), END_SENDS);
	answer(ROCE_SYNDROME_ACK, 0);
	cr_assert(!rc_post(&end.pf, &end.qp, &work, now)); // until its completion is taken
	expect_done(0, RC_OK);
	cr_assert(rc_post(&end.pf, &end.qp, &work, now));
}
