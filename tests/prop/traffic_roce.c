// SPDX-License-Identifier: BSD-3-Clause
//
// Properties of the wire of RoCEv2: what is written is read as it was, by both ways to make a CRC;
// both ways agree with the definition at every length and alignment; one wrong bit never passes
// unless it is one that the ICRC leaves out; and noise never passes.

#include <stdlib.h>
#include <string.h>

#include "tests/table.h"
#include "traffic/core/roce.h"
#include "traffic/crc.h"

enum { ROUNDS = 300, ALIGNMENTS = 64, CRC_MAX = 5000 };

static const uint8_t opcodes[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
				   0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x81 };

static void fill(struct rng *rng, uint8_t *out, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		out[i] = (uint8_t)rng_next32(rng);
}

static bool coin(struct rng *rng)
{
	return rng_below(rng, 2) == 0;
}

static struct roce_path random_path(struct rng *rng)
{
	struct roce_path path = {
		.dst_mac = rng_next64(rng) >> 16,
		.src_mac = rng_next64(rng) >> 16,
		.ipv6 = coin(rng),
		.src_port = (uint16_t)rng_next32(rng),
		.dscp = (uint8_t)rng_below(rng, 64),
		.ecn = (uint8_t)rng_below(rng, 4),
		.hop_limit = (uint8_t)rng_next32(rng),
		.tagged = coin(rng),
	};

	if (path.ipv6)
		path.flow_label = rng_below(rng, 1 << 20);
	else
		path.ipv4_id = (uint16_t)rng_next32(rng);
	if (path.tagged)
		path.tci = (uint16_t)rng_next32(rng);
	fill(rng, path.dst_ip, path.ipv6 ? 16 : 4);
	fill(rng, path.src_ip, path.ipv6 ? 16 : 4);
	return path;
}

// With the fields that the opcode has, and no others.
static struct roce_packet random_packet(struct rng *rng, const uint8_t *payload)
{
	struct roce_packet packet = {
		.opcode = opcodes[rng_below(rng, sizeof(opcodes))],
		.solicited = coin(rng),
		.migrated = coin(rng),
		.ack_req = coin(rng),
		.becn = coin(rng),
		.pkey = (uint16_t)rng_next32(rng),
		.dest_qp = rng_below(rng, 1 << 24),
		.psn = rng_below(rng, 1 << 24),
		.payload = payload,
	};
	const uint8_t has = roce_headers(packet.opcode);

	if (has & ROCE_HAS_RETH) {
		packet.va = rng_next64(rng);
		packet.rkey = rng_next32(rng);
		packet.dma_bytes = rng_next32(rng);
	}
	if (has & ROCE_HAS_AETH) {
		packet.syndrome = (uint8_t)rng_next32(rng);
		packet.msn = rng_below(rng, 1 << 24);
	}
	if (has & ROCE_HAS_IMM)
		packet.imm = rng_next32(rng);
	if (has & ROCE_HAS_PAYLOAD)
		packet.payload_bytes = rng_below(rng, 1 + (ROCE_PAYLOAD_MAX >> rng_below(rng, 12)));
	return packet;
}

static void check_same_path(const struct roce_path *a, const struct roce_path *b)
{
	cr_assert_eq(a->dst_mac, b->dst_mac);
	cr_assert_eq(a->src_mac, b->src_mac);
	cr_assert_eq(a->ipv6, b->ipv6);
	cr_assert_arr_eq(a->dst_ip, b->dst_ip, 16);
	cr_assert_arr_eq(a->src_ip, b->src_ip, 16);
	cr_assert_eq(a->flow_label, b->flow_label);
	cr_assert_eq(a->ipv4_id, b->ipv4_id);
	cr_assert_eq(a->src_port, b->src_port);
	cr_assert_eq(a->dscp, b->dscp);
	cr_assert_eq(a->ecn, b->ecn);
	cr_assert_eq(a->hop_limit, b->hop_limit);
	cr_assert_eq(a->tagged, b->tagged);
	cr_assert_eq(a->tci, b->tci);
}

static void check_same_packet(const struct roce_packet *a, const struct roce_packet *b)
{
	cr_assert_eq(a->opcode, b->opcode);
	cr_assert_eq(a->solicited, b->solicited);
	cr_assert_eq(a->migrated, b->migrated);
	cr_assert_eq(a->ack_req, b->ack_req);
	cr_assert_eq(a->becn, b->becn);
	cr_assert_eq(a->pkey, b->pkey);
	cr_assert_eq(a->dest_qp, b->dest_qp);
	cr_assert_eq(a->psn, b->psn);
	cr_assert_eq(a->va, b->va);
	cr_assert_eq(a->rkey, b->rkey);
	cr_assert_eq(a->dma_bytes, b->dma_bytes);
	cr_assert_eq(a->syndrome, b->syndrome);
	cr_assert_eq(a->msn, b->msn);
	cr_assert_eq(a->imm, b->imm);
	cr_assert_eq(a->payload_bytes, b->payload_bytes);
	cr_assert_arr_eq(a->payload, b->payload, a->payload_bytes);
}

// Those that this processor has.
static enum roce_crc random_method(struct rng *rng)
{
	return (enum roce_crc)rng_below(rng, crc_method() + 1);
}

SEED_TEST(traffic_roce, what_is_written_is_read, rng, 32)
{
	static uint8_t frame[ROCE_FRAME_MAX], payload[ROCE_PAYLOAD_MAX];

	fill(rng, payload, sizeof(payload));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct roce_path path = random_path(rng);
		const struct roce_packet packet = random_packet(rng, payload);
		struct roce_packet packet_back;
		struct roce_path path_back;
		uint32_t len;

		memset(frame, (int)round, sizeof(frame));
		len = roce_frame_write(&path, &packet, random_method(rng), frame);
		cr_assert_eq(len, roce_frame_bytes(&path, packet.opcode, packet.payload_bytes));
		cr_assert_leq(len, ROCE_FRAME_MAX);
		cr_assert_eq(roce_frame_read(frame, len + rng_below(rng, 3), random_method(rng),
					     &path_back, &packet_back),
			     ROCE_FRAME_OK);
		check_same_path(&path, &path_back);
		check_same_packet(&packet, &packet_back);
	}
}

// The definition: a bit at a time (802.3 clause 3.2.9, the register reflected).
static uint32_t crc_of_bits(uint32_t crc, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len * 8; i++) {
		const uint32_t out = (crc ^ (uint32_t)(data[i / 8] >> i % 8)) & 1;

		crc = crc >> 1 ^ (out ? 0xedb88320 : 0);
	}
	return crc;
}

SEED_TEST(traffic_roce, all_crcs_are_the_definition, rng, 32)
{
	static _Alignas(64) uint8_t data[CRC_MAX + ALIGNMENTS];

	fill(rng, data, sizeof(data));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint8_t *at = data + rng_below(rng, ALIGNMENTS);
		const uint32_t len = rng_below(rng, 1 + (CRC_MAX >> rng_below(rng, 10)));
		const uint32_t start = rng_next32(rng), cut = rng_below(rng, len + 1);
		const uint32_t want = crc_of_bits(start, at, len);
		uint32_t part;

		for (uint32_t method = 0; method <= crc_method(); method++)
			cr_assert_eq(roce_crc32((enum roce_crc)method, start, at, len), want,
				     "method %u, %u bytes", method, len);
		part = roce_crc32(random_method(rng), start, at, cut);
		cr_assert_eq(roce_crc32(random_method(rng), part, at + cut, len - cut), want,
			     "%u bytes, then %u", cut, len - cut);
	}
}

// Every remainder of 64 bytes with both IP headers.
SEED_TEST(traffic_roce, icrcs_agree_at_every_length, rng, 8)
{
	static uint8_t frame[ROCE_FRAME_MAX], payload[ROCE_PAYLOAD_MAX];

	fill(rng, payload, sizeof(payload));
	for (uint32_t bytes = 0; bytes <= 1100; bytes++) {
		const struct roce_path path = random_path(rng);
		struct roce_packet packet = { .opcode = ROCE_SEND_ONLY };
		const uint32_t ip = path.tagged ? 18 : 14;
		uint32_t len;

		packet.payload = payload + rng_below(rng, 64);
		packet.payload_bytes = bytes;
		len = roce_frame_write(&path, &packet, ROCE_CRC_TABLE, frame);
		for (uint32_t method = 0; method <= crc_method(); method++)
			cr_assert_eq(roce_icrc((enum roce_crc)method, frame, ip,
					       len - ROCE_ICRC_BYTES),
				     load_le32(frame + len - ROCE_ICRC_BYTES),
				     "method %u, %u bytes", method, bytes);
	}
}

// A bit that may differ is one of Ethernet's, or the ICRC leaves it out and nobody compares it.
static bool is_free(const struct roce_path *path, uint32_t at, uint32_t bit)
{
	const uint32_t ip = path->tagged ? 18 : 14;
	const uint32_t udp = ip + (path->ipv6 ? 40 : 20);

	if (at < 12 || (path->tagged && (at == 14 || at == 15)))
		return true;
	if (path->ipv6 && ((at == ip && bit < 4) || (at > ip && at < ip + 4) || at == ip + 7))
		return true;
	return at == udp + 6 || at == udp + 7 || at == udp + 12;
}

SEED_TEST(traffic_roce, no_wrong_bit_passes, rng, 32)
{
	static uint8_t frame[ROCE_FRAME_MAX], payload[ROCE_PAYLOAD_MAX];

	fill(rng, payload, sizeof(payload));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct roce_path path = random_path(rng);
		const struct roce_packet packet = random_packet(rng, payload);
		const uint32_t len = roce_frame_write(&path, &packet, ROCE_CRC_CLMUL, frame);
		const uint32_t at = rng_below(rng, coin(rng) ? len : 80 < len ? 80 : len);
		const uint32_t bit = rng_below(rng, 8);
		struct roce_packet packet_back;
		struct roce_path path_back;
		enum roce_verdict verdict;

		frame[at] ^= (uint8_t)(1 << bit);
		verdict = roce_frame_read(frame, len, random_method(rng), &path_back, &packet_back);
		cr_assert_eq(verdict == ROCE_FRAME_OK, is_free(&path, at, bit),
			     "byte %u, bit %u, IPv%u: %u", at, bit, path.ipv6 ? 6 : 4, verdict);
	}
}

// Random bytes behind headers that are right so far, in memory of their own length.
SEED_TEST(traffic_roce, noise_is_refused, rng, 32)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t len = rng_below(rng, 200);
		uint8_t *frame = malloc(len + 1);
		struct roce_packet packet;
		struct roce_path path;

		fill(rng, frame, len);
		if (len > 14)
			store_be16(frame + 12, coin(rng) ? 0x0800 : 0x86dd);
		if (len > 14 + 40 + 8 && coin(rng)) {
			frame[14] = 0x60;
			frame[14 + 6] = 17;
			store_be16(frame + 14 + 4, (uint16_t)(len - 54));
			store_be16(frame + 54 + 2, ROCE_UDP_PORT);
			store_be16(frame + 54 + 4, (uint16_t)(len - 54));
		}
		cr_assert_neq(roce_frame_read(frame, len, random_method(rng), &path, &packet),
			      ROCE_FRAME_OK);
		free(frame);
	}
}
