// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of a RoCE host: what a hostile peer may send to it. The input is a sequence of
// records:
//
//   byte 0: 0 a frame, bytes 1-2 its length, then its bytes; otherwise a packet of the peer with a
//   right ICRC, in the 24 bytes of struct record behind it
//
// Checked: memory outside what the peer may reach stays as it was, no byte beyond a frame is read,
// a call sends at most one frame of at most its largest size, and the host comes to rest: nothing a
// peer sends makes it send for ever. When all neighbours' times are over it is as it was.

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/core/endpoint.h"

enum {
	GUARD = 64,
	BYTES = 8192, // that the peer may reach
	QPS = 2,
	QP_BASE = 0x11,
	RKEY = 0x21,
	RECORD_BYTES = 24,
	FRAMES_MAX = 4096, // more than the window and all READs of one burst
	VA = 0x10000,
	FILL = 0xa5,
	OBEY = 0xff,
};

struct world {
	struct endpoint_profile pf;
	struct rc_region region;
	struct endpoint_state *host;
	uint8_t *memory;
	uint8_t *endpoint;
	ns_t now;
};

static void make_profile(struct endpoint_profile *pf)
{
	*pf = (struct endpoint_profile){
		.mac = 0x020000000001,
		.ipv4 = { 10, 0, 0, 1 },
		.has_ipv4 = true,
		.ipv6 = { 0xfd, [15] = 1 },
		.has_ipv6 = true,
		.bps = 100000000000,
		.mtu = 1500,
		.obey = OBEY,
		.rc = { .mtu = 256,
			.window = 64,
			.ack_every = 4,
			.request_every = 4,
			.read_depth = 4,
			.timeout_ns = 1000000,
			.ack_delay_ns = 1000,
			.retry_limit = 2,
			.rnr_limit = 2,
			.rnr_timer = 1 },
		.qp_base = QP_BASE,
		.qp_count = QPS,
		.neighbor_count = 2,
		.send_count = 4,
		.receive_count = 4,
		.lldp = { .interval_ns = 30000000000, .dcbx = ENDPOINT_DCBX_WILLING, .dscp = 3 },
		.seed = 1,
	};
}

static void begin(struct world *w)
{
	const struct endpoint_peer peer = {
		.ip = { 10, 0, 0, 2 }, .mac = 0x020000000002, .qp = 7, .dscp = 3, .ecn = ECN_ECT0
	};

	make_profile(&w->pf);
	w->memory = malloc(BYTES + 2 * GUARD);
	w->endpoint = aligned_alloc(64, endpoint_bytes(&w->pf));
	WEFT_CHECK(w->memory != NULL && w->endpoint != NULL);
	memset(w->memory, FILL, BYTES + 2 * GUARD);
	memset(w->endpoint, 0, endpoint_bytes(&w->pf));
	w->region = (struct rc_region){ .va = VA,
					.bytes = BYTES,
					.data = w->memory + GUARD,
					.rkey = RKEY,
					.remote_write = true,
					.remote_read = true };
	w->host = endpoint_init(&w->pf, &w->region, 1, w->endpoint);
	w->now = (ns_t){ 1000 };
	for (uint32_t qp = 0; qp < QPS; qp++) {
		const struct rc_work work = { .op = qp == 0 ? RC_WRITE : RC_READ,
					      .data = w->memory + GUARD,
					      .bytes = 2000,
					      .rkey = 9 };
		const struct rc_receive receive = { .data = w->memory + GUARD, .bytes = 1000 };

		WEFT_CHECK(endpoint_connect(&w->pf, w->host, qp, &peer, w->now) == 0);
		WEFT_CHECK(endpoint_post(&w->pf, w->host, qp, &work, w->now));
		WEFT_CHECK(endpoint_post_receive(w->host, qp, &receive));
	}
}

// A frame in memory of exactly its length.
static void deliver(struct world *w, const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len + 1);

	WEFT_CHECK(copy != NULL);
	memcpy(copy, frame, len);
	endpoint_rx(&w->pf, w->host, copy, len, w->now);
	free(copy);
}

// A packet of the peer's that is well formed as far as its headers go.
static void deliver_packet(struct world *w, const uint8_t *record)
{
	const struct roce_path path = { .src_mac = 0x020000000002,
					.dst_mac = w->pf.mac,
					.src_ip = { 10, 0, 0, 2 },
					.dst_ip = { 10, 0, 0, 1 },
					.src_port = 0xc000,
					.dscp = 3,
					.ecn = record[1] & 3,
					.hop_limit = 64 };
	uint8_t payload[ROCE_PAYLOAD_MAX] = { 0 };
	uint8_t frame[ROCE_FRAME_MAX];
	uint32_t len;
	struct roce_packet packet = {
		.opcode = record[0],
		.ack_req = record[1] >> 2 & 1,
		.pkey = 0xffff,
		.dest_qp = QP_BASE + (record[1] >> 3 & 1),
		.psn = load_be24(record + 2),
		.va = VA + load_be32(record + 5) - 16,
		.rkey = record[9] == 0 ? RKEY : record[9],
		.dma_bytes = load_be32(record + 10),
		.syndrome = record[14],
		.msn = load_be24(record + 15),
		.imm = record[18],
		.payload = payload,
		.payload_bytes = load_be16(record + 19) % (ROCE_PAYLOAD_MAX + 1),
	};

	if (!roce_opcode_known(packet.opcode))
		packet.opcode %= ROCE_ACK + 1;
	if (!(roce_headers(packet.opcode) & ROCE_HAS_PAYLOAD))
		packet.payload_bytes = 0;
	len = roce_frame_write(&path, &packet, ROCE_CRC_TABLE, frame);
	deliver(w, frame, len);
	w->now = ns_add(w->now, (uint64_t)record[21] * record[21] * 100);
}

static void check(struct world *w)
{
	uint8_t frame[ROCE_FRAME_MAX];
	struct rc_completion done;
	uint32_t qp;

	for (uint32_t sent = 0; w->now.v != NS_NEVER.v; sent++) {
		const ns_t at = endpoint_deadline(&w->pf, w->host, w->now);

		WEFT_CHECK(sent < FRAMES_MAX);
		WEFT_CHECK(endpoint_tx(&w->pf, w->host, w->now, frame) <= ROCE_FRAME_MAX);
		if (at.v > w->now.v + 100000)
			break;
		w->now = at.v > w->now.v ? at : w->now;
	}
	while (endpoint_complete(w->host, &qp, &done))
		WEFT_CHECK(qp < QPS);
	for (uint32_t i = 0; i < GUARD; i++) {
		WEFT_CHECK(w->memory[i] == FILL);
		WEFT_CHECK(w->memory[GUARD + BYTES + i] == FILL);
	}
}

// Delivers the record at the start of the input; returns its length, 0 when it is not whole.
static size_t record(struct world *w, const uint8_t *data, size_t size)
{
	uint32_t len;

	if (size < 3)
		return 0;
	if (data[0] != 0) {
		if (size < RECORD_BYTES + 1)
			return 0;
		deliver_packet(w, data + 1);
		return RECORD_BYTES + 1;
	}
	len = load_be16(data + 1);
	if (size - 3 < len)
		return 0;
	deliver(w, data + 3, len);
	return 3 + len;
}

// Later than any neighbour lives.
static void outlive(struct world *w)
{
	struct endpoint_lldp_view view;

	w->now = ns_add(w->now, (UINT16_MAX + 1ull) * LLDP_FAST_NS);
	check(w);
	WEFT_CHECK(endpoint_lldp_read(&w->pf, w->host, &view));
	WEFT_CHECK(view.neighbor_count == 0 && !view.follows);
	WEFT_CHECK(view.ours.dcbx.pfc.enable == OBEY);
	WEFT_CHECK(dcbx_roce_priority(&view.ours.dcbx) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world w;
	size_t len;

	begin(&w);
	for (size_t at = 0; (len = record(&w, data + at, size - at)) != 0; at += len)
		check(&w);
	outlive(&w);
	free(w.memory);
	free(w.endpoint);
	return 0;
}
