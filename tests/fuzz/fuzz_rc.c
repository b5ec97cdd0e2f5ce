// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the reliable connection: a peer that sends anything at any time. The first byte
// says the mode and the MTU, then come records of RECORD_BYTES: a packet near the PSNs that matter,
// work, a receive, or time.
//
// Checked: what must hold of a queue pair holds after each record (rc_check()); nothing outside the
// region and the buffers is touched (guard bytes, and exact allocations under a sanitiser); what is
// sent keeps to the MTU and to memory that the peer may read; each post completes at most once.

#include "base/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rc_pair.h"

enum { RECORD_BYTES = 14, REGION_BYTES = 3000, LOCAL_BYTES = 2000, ROOM = 700, TURNS = 40 };

static struct end end;
static ns_t now;
static uint32_t posts, completions;
static uint8_t *local, *payload, *buffer;

static void start(uint8_t mode)
{
	static const uint32_t mtu[] = { 1, 64, 256, 4096 };
	const struct rc_profile pf = {
		.mtu = mtu[mode >> 1 & 3],
		.window = 1 + (mode >> 3 & 15),
		.ack_every = 4,
		.request_every = 4,
		.read_depth = 4,
		.timeout_ns = 50000,
		.ack_delay_ns = 2000,
		.retry_limit = 200,
		.rnr_limit = RC_RNR_FOR_EVER,
		.rnr_timer = 1,
		.selective = mode & 1,
		.reorder_ns = 3000,
	};

	if (local == NULL) {
		local = keep(calloc(1, LOCAL_BYTES));
		buffer = keep(calloc(1, ROOM));
		payload = keep(calloc(1, ROCE_PAYLOAD_MAX));
	}
	posts = 0;
	completions = 0;
	now = (ns_t){ 1000 };
	end_init(&end, &pf, REGION_BYTES, 0xfffff0, 0xfffff8);
	end.region[1].remote_write = mode != 0xff;
}

static void packet(const uint8_t *record)
{
	const uint32_t near = record[2] & 2 ? end.qp.rs.psn :
					      psn_add(0xfffff0, (uint32_t)end.qp.rq.una);
	const uint32_t psn =
		psn_add(near, (uint32_t)(int32_t)(int8_t)record[3] * (record[2] & 4 ? 65536 : 1));
	const struct roce_packet one = {
		.opcode = record[1] % 0x14,
		.ack_req = record[2] & 1,
		.psn = psn,
		.va = END_VA + load_be16(record + 4) - (record[2] & 8 ? 32768 : 0),
		.rkey = record[2] & 16 ? load_be32(record + 8) : END_RKEY,
		.dma_bytes = record[2] & 32 ? load_be32(record + 6) : load_be16(record + 6),
		.syndrome = record[10],
		.msn = psn_add(psn, record[11]),
		.payload = record[2] & 64 ? NULL : payload,
		.payload_bytes = record[2] & 128 ? end.pf.mtu :
						   load_be16(record + 12) % (ROCE_PAYLOAD_MAX + 1),
	};

	rc_rx(&end.pf, &end.qp, &one, now);
}

static void post(const uint8_t *record)
{
	const struct rc_work work = {
		.op = (enum rc_op)(record[1] % 3),
		.has_imm = record[2] & 1,
		.data = local,
		.bytes = load_be16(record + 4) % (LOCAL_BYTES + 1),
	};

	posts += rc_post(&end.pf, &end.qp, &work, now);
}

static void give(const uint8_t *record)
{
	const struct rc_receive receive = {
		.data = record[1] & 1 ? NULL : buffer,
		.bytes = load_be16(record + 4) % (ROOM + 1),
	};

	posts += rc_post_receive(&end.qp, &receive);
}

static void check_sent(const struct roce_packet *sent)
{
	const uint8_t *region = end_memory(&end);
	const uint32_t bytes = sent->payload_bytes;

	WEFT_CHECK(bytes <= end.pf.mtu);
	if (sent->payload == NULL || bytes == 0)
		return;
	if (sent->opcode > ROCE_READ_REQUEST)
		WEFT_CHECK(sent->payload >= region &&
			   sent->payload + bytes <= region + REGION_BYTES);
	else
		WEFT_CHECK(sent->payload >= local && sent->payload + bytes <= local + LOCAL_BYTES);
}

static void turn(void)
{
	struct roce_packet sent;
	struct rc_completion done;

	for (int i = 0; i < TURNS; i++) {
		if (!rc_tx(&end.pf, &end.qp, RC_ANSWER, now, &sent) &&
		    !rc_tx(&end.pf, &end.qp, RC_DATA, now, &sent))
			break;
		check_sent(&sent);
		rc_check(&end);
	}
	while (rc_complete(&end.qp, &done))
		completions++;
	WEFT_CHECK(completions <= posts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	start(data[0]);
	for (size_t at = 1; at + RECORD_BYTES <= size; at += RECORD_BYTES) {
		const uint8_t *record = data + at;

		if (record[0] % 8 < 4)
			packet(record);
		else if (record[0] % 8 == 4)
			post(record);
		else if (record[0] % 8 == 5)
			give(record);
		else
			now = ns_add(now, load_be16(record + 4));
		rc_check(&end);
		if (record[0] & 64)
			turn();
		rc_check(&end);
	}
	turn();
	WEFT_CHECK(!end.qp.failed || completions == posts);
	return 0;
}
