// SPDX-License-Identifier: BSD-3-Clause
//
// The mode that tolerates reordering, by the agreement that rc_selective.c states: which packets a
// WRITE becomes, when a gap counts as lost, what NAKs name and what is sent again for them. First
// PSNs lie at the end of the circle.

#include "tests/rc_pair.h"
#include "tests/table.h"

enum { MTU = 256, FIRST_PSN = 0xfffffe, REGION_BYTES = 8192, REORDER = 10000, TIMEOUT = 500000 };

static const struct rc_profile profile = {
	.mtu = MTU,
	.window = 64,
	.ack_every = 1,
	.request_every = 64,
	.read_depth = 2,
	.timeout_ns = TIMEOUT,
	.retry_limit = 2,
	.rnr_limit = 7,
	.rnr_timer = 1,
	.selective = true,
	.reorder_ns = REORDER,
};

static uint8_t memory[16 * MTU];
static struct end end;
static ns_t now = { 1000 };

static void start(void)
{
	end_init(&end, &profile, REGION_BYTES, FIRST_PSN, FIRST_PSN);
	for (uint32_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7 + i / MTU + 1);
}

static void post(uint32_t bytes, bool has_imm)
{
	const struct rc_work work = {
		.op = RC_WRITE,
		.has_imm = has_imm,
		.imm = 0xabcd,
		.data = memory,
		.bytes = bytes,
		.remote_va = 0x10000,
		.rkey = 7,
	};

	cr_assert(rc_post(&end.pf, &end.qp, &work, now));
}

// PSNs count from the first one here. The next request, or -1.
static int32_t next(struct roce_packet *packet)
{
	if (!rc_tx(&end.pf, &end.qp, RC_DATA, now, packet))
		return -1;
	rc_check(&end);
	return psn_diff(packet->psn, FIRST_PSN);
}

static void drain(uint32_t count)
{
	struct roce_packet packet;

	for (uint32_t i = 0; i < count; i++)
		cr_assert_geq(next(&packet), 0);
	cr_assert_eq(next(&packet), -1);
}

static void answer(uint8_t syndrome, uint32_t first, uint32_t behind)
{
	const struct roce_packet packet = {
		.opcode = ROCE_ACK,
		.psn = psn_add(FIRST_PSN, first),
		.syndrome = syndrome,
		.msn = psn_add(FIRST_PSN, behind),
	};

	rc_rx(&end.pf, &end.qp, &packet, now);
	rc_check(&end);
}

// A packet of a WRITE of `left` bytes from there on, to its place by the PSN.
static void hear(uint32_t index, uint32_t bytes, uint32_t left, bool has_imm)
{
	const struct roce_packet packet = {
		.opcode = has_imm ? ROCE_WRITE_ONLY_IMM : ROCE_WRITE_ONLY,
		.ack_req = left == bytes,
		.psn = psn_add(FIRST_PSN, index),
		.va = END_VA + (uint64_t)index * MTU,
		.rkey = END_RKEY,
		.dma_bytes = left,
		.imm = 0x1000 + index,
		.payload = memory + (size_t)index * MTU,
		.payload_bytes = bytes,
	};

	rc_rx(&end.pf, &end.qp, &packet, now);
	rc_check(&end);
}

enum { NONE = -1 };

// The next answer: an ACK of packet `psn`, or a NAK of psn..behind-1.
static void expect(int syndrome, int32_t psn, int32_t behind)
{
	struct roce_packet packet = { 0 };
	const bool sent = rc_tx(&end.pf, &end.qp, RC_ANSWER, now, &packet);

	cr_assert_eq(sent ? packet.syndrome : NONE, syndrome);
	if (!sent)
		return;
	cr_assert_eq(psn_diff(packet.psn, FIRST_PSN), psn);
	if (syndrome == ROCE_SYNDROME_NAK_PSN)
		cr_assert_eq(psn_diff(packet.msn, FIRST_PSN), behind);
}

Test(traffic_rc_selective, each_packet_says_where_and_how_much)
{
	struct roce_packet packet;

	start();
	post(2 * MTU + 5, true);
	for (int32_t i = 0; i < 3; i++) {
		cr_assert_eq(next(&packet), i);
		cr_assert_eq(packet.opcode, i == 2 ? ROCE_WRITE_ONLY_IMM : ROCE_WRITE_ONLY);
		cr_assert_eq(packet.va, 0x10000 + (uint64_t)i * MTU);
		cr_assert_eq(packet.rkey, 7);
		cr_assert_eq(packet.dma_bytes, 2 * MTU + 5 - (uint32_t)i * MTU);
		cr_assert_eq(packet.payload_bytes, i == 2 ? 5 : MTU);
		cr_assert_eq(packet.imm, i == 2 ? 0xabcd : 0);
		cr_assert_eq(packet.ack_req, i == 2);
	}
}

Test(traffic_rc_selective, what_is_early_is_placed_and_waits)
{
	const struct rc_receive receive = { .id = 5 };
	struct rc_completion done;

	start();
	cr_assert(rc_post_receive(&end.qp, &receive));
	hear(2, 5, 5, true);
	hear(1, MTU, MTU + 5, false);
	cr_assert_arr_eq(end_memory(&end) + MTU, memory + MTU, MTU + 5);
	cr_assert(!rc_complete(&end.qp, &done));
	now = ns_add(now, REORDER - 1);
	expect(NONE, 0, 0);
	hear(0, MTU, 2 * MTU + 5, false);
	cr_assert(rc_complete(&end.qp, &done));
	cr_assert(done.id == 5 && done.imm == 0x1002 && done.bytes == 2 * MTU + 5);
	expect(ROCE_SYNDROME_ACK, 2, 0);
	expect(NONE, 0, 0);
	cr_assert_eq(end.qp.stats.rx_packets, 3);
	cr_assert_eq(end.qp.stats.naks_sent, 0);
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, NS_NEVER.v);
}

Test(traffic_rc_selective, naks_name_each_gap)
{
	start();
	for (uint32_t i = 0; i < 8; i++) {
		if (i != 0 && i != 3 && i != 4)
			hear(i, MTU, 10 * MTU, false);
	}
	cr_assert_eq(rc_deadline(&end.pf, &end.qp).v, now.v + REORDER);
	now = ns_add(now, REORDER);
	hear(9, MTU, 10 * MTU, false); // 8 is missing, but not for long
	expect(ROCE_SYNDROME_NAK_PSN, 0, 1);
	// What was watched ended at 2 when the gap was seen.
	expect(NONE, 0, 0);
	now = ns_add(now, 2 * REORDER);
	expect(ROCE_SYNDROME_NAK_PSN, 0, 1);
	expect(ROCE_SYNDROME_NAK_PSN, 3, 5);
	hear(0, MTU, 10 * MTU, false);
	hear(3, MTU, 10 * MTU, false);
	hear(4, MTU, 10 * MTU, false);
	expect(ROCE_SYNDROME_ACK, 7, 0);
	expect(ROCE_SYNDROME_NAK_PSN, 8, 9); // of the same round
	hear(8, MTU, MTU, false);
	expect(ROCE_SYNDROME_ACK, 9, 0);
	expect(NONE, 0, 0);
}

Test(traffic_rc_selective, only_what_is_named_is_sent_again)
{
	static const int32_t again[] = { 1, 4, 5 };
	struct roce_packet packet;

	start();
	post(8 * MTU, false);
	drain(8);
	answer(ROCE_SYNDROME_NAK_PSN, 1, 2);
	answer(ROCE_SYNDROME_NAK_PSN, 4, 6);
	answer(ROCE_SYNDROME_NAK_PSN, 1, 2); // named again before it could be sent
	for (uint32_t i = 0; i < TABLE_COUNT(again); i++) {
		cr_assert_eq(next(&packet), again[i]);
		cr_assert_eq(packet.va, 0x10000 + (uint64_t)again[i] * MTU);
		cr_assert_eq(packet.ack_req, i == TABLE_COUNT(again) - 1);
	}
	cr_assert_eq(next(&packet), -1);
	cr_assert_eq(end.qp.stats.retransmits, 3);
	answer(ROCE_SYNDROME_ACK, 7, 0);
	cr_assert(rc_complete(&end.qp, &(struct rc_completion){ 0 }));
}

Test(traffic_rc_selective, a_timeout_sends_the_oldest_and_the_newest)
{
	struct roce_packet packet;

	start();
	post(8 * MTU, false);
	drain(8);
	answer(ROCE_SYNDROME_ACK, 1, 0);
	now = ns_add(now, TIMEOUT);
	cr_assert_eq(next(&packet), 2);
	cr_assert_eq(next(&packet), 7);
	cr_assert(packet.ack_req);
	cr_assert_eq(next(&packet), -1);
}

Test(traffic_rc_selective, a_receive_that_comes_late)
{
	const struct rc_receive receive = { .id = 5 };
	struct rc_completion done;

	start();
	hear(0, 1, 1, true);
	hear(1, 1, 1, false);
	expect(ROCE_SYNDROME_RNR | 1, 0, 0);
	cr_assert(rc_post_receive(&end.qp, &receive));
	hear(0, 1, 1, true);
	cr_assert(rc_complete(&end.qp, &done));
	cr_assert_eq(done.imm, 0x1000);
	expect(ROCE_SYNDROME_ACK, 1, 0);
}

Test(traffic_rc_selective, a_receiver_that_is_not_ready_gets_that_packet_again)
{
	struct roce_packet packet;

	start();
	post(MTU, false);
	post(MTU, true);
	post(3 * MTU, false);
	drain(5);
	answer(ROCE_SYNDROME_RNR | 1, 1, 0);
	cr_assert_eq(next(&packet), -1);
	now = ns_add(now, 10000);
	cr_assert_eq(next(&packet), 1);
	cr_assert(packet.ack_req);
	cr_assert_eq(next(&packet), -1);
}

Test(traffic_rc_selective, what_is_wrong_is_refused_in_its_turn)
{
	start();
	hear(1, MTU, REGION_BYTES, false); // to beyond the region
	expect(NONE, 0, 0);
	cr_assert_eq(end.qp.stats.out_of_sequence, 1);
	cr_assert_eq(end_memory(&end)[MTU], 0);
	hear(0, 1, 1, false);
	expect(ROCE_SYNDROME_ACK, 0, 0);
	hear(1, MTU, REGION_BYTES, false);
	expect(ROCE_SYNDROME_NAK_ACCESS, 1, 0);
	cr_assert(end.qp.failed);
}
