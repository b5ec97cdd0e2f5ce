// SPDX-License-Identifier: BSD-3-Clause
//
// traffic/core/roce_frame.c: what each opcode has behind its BTH, every way in which a frame can be
// refused, and frames of others read and written again.

#include <string.h>

#include "tests/capture_file.h"
#include "tests/table.h"
#include "traffic/core/roce.h"

enum { CARRIERS = 4, HEADERS_MAX = 24 };

// IPv4 and IPv6, without a tag and with one.
static const struct roce_path carriers[CARRIERS] = {
	{ 0x020000000002, 0x020000000001, .dst_ip = { 10, 0, 0, 2 }, .src_ip = { 10, 0, 0, 1 },
	  .src_port = 0xc123, .dscp = 26, .ecn = 2, .hop_limit = 64, .ipv4_id = 0xabcd },
	{ 0x0200000000f2, 0x0200000000f1, .dst_ip = { 10, 0, 1, 2 }, .src_ip = { 10, 0, 1, 1 },
	  .src_port = 0xffff, .dscp = 63, .ecn = 3, .hop_limit = 255, .tagged = true,
	  .tci = 3 << 13 | 100 },
	{ 0x020000000004, 0x020000000003, .ipv6 = true, .dst_ip = { 0x20, 1, [15] = 2 },
	  .src_ip = { 0x20, 1, [15] = 1 }, .src_port = 0xc000, .dscp = 48, .ecn = 0, .hop_limit = 1,
	  .flow_label = 0xfffff },
	{ 0x020000000006, 0x020000000005, .ipv6 = true, .dst_ip = { 0x20, 1, [15] = 4 },
	  .src_ip = { 0x20, 1, [15] = 3 }, .src_port = 0xd00d, .dscp = 1, .ecn = 1, .hop_limit = 64,
	  .flow_label = 0x12345, .tagged = true, .tci = 0xffff },
};
static const uint8_t bytes[ROCE_PAYLOAD_MAX] = { 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7 };

static uint32_t ip_at(const struct roce_path *path)
{
	return path->tagged ? 18 : 14;
}

static uint32_t udp_at(const struct roce_path *path)
{
	return ip_at(path) + (path->ipv6 ? 40 : 20);
}

static uint32_t bth_at(const struct roce_path *path)
{
	return udp_at(path) + 8;
}

static struct roce_packet packet_of(uint8_t opcode, uint32_t payload_bytes)
{
	return (struct roce_packet){
		.opcode = opcode,
		.pkey = 0x8001,
		.dest_qp = 0x123456,
		.psn = 0xfedcba,
		.va = 0x0102030405060708,
		.rkey = 0x090a0b0c,
		.dma_bytes = 0x0d0e0f10,
		.syndrome = 0x62,
		.msn = 0xabcdef,
		.imm = 0x11223344,
		.payload = bytes,
		.payload_bytes = payload_bytes,
	};
}

// What each opcode carries, from table 38 and annex A17.9.
#define RETH 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define AETH 0x62, 0xab, 0xcd, 0xef
#define IMM 0x11, 0x22, 0x33, 0x44

static const struct {
	const char *what;
	uint8_t opcode;
	bool payload;
	uint8_t len;
	uint8_t headers[HEADERS_MAX];
} opcodes[] = {
	{ "SEND first", 0x00, true, 0, { 0 } },
	{ "SEND middle", 0x01, true, 0, { 0 } },
	{ "SEND last", 0x02, true, 0, { 0 } },
	{ "SEND last with immediate", 0x03, true, 4, { IMM } },
	{ "SEND only", 0x04, true, 0, { 0 } },
	{ "SEND only with immediate", 0x05, true, 4, { IMM } },
	{ "WRITE first", 0x06, true, 16, { RETH } },
	{ "WRITE middle", 0x07, true, 0, { 0 } },
	{ "WRITE last", 0x08, true, 0, { 0 } },
	{ "WRITE last with immediate", 0x09, true, 4, { IMM } },
	{ "WRITE only", 0x0a, true, 16, { RETH } },
	{ "WRITE only with immediate", 0x0b, true, 20, { RETH, IMM } },
	{ "READ request", 0x0c, false, 16, { RETH } },
	{ "READ response first", 0x0d, true, 4, { AETH } },
	{ "READ response middle", 0x0e, true, 0, { 0 } },
	{ "READ response last", 0x0f, true, 4, { AETH } },
	{ "READ response only", 0x10, true, 4, { AETH } },
	{ "ACK", 0x11, false, 4, { AETH } },
	{ "CNP", 0x81, false, 16, { 0 } },
};

TABLE_TEST(roce_frame, headers_of_opcodes, row, opcodes)
{
	static uint8_t frame[ROCE_FRAME_MAX];

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t payload = row->payload ? 5 : 0;
		const struct roce_packet packet = packet_of(row->opcode, payload);
		const uint8_t bth[] = { row->opcode, row->payload ? 0x30 : 0,
					0x80,        0x01,
					0,           0x12,
					0x34,        0x56,
					0,           0xfe,
					0xdc,        0xba };
		const uint32_t at = bth_at(&carriers[c]);
		const uint32_t want = at + 12 + row->len + (row->payload ? 8 : 0) + 4;

		cr_expect_eq(roce_frame_bytes(&carriers[c], row->opcode, payload), want);
		cr_assert_eq(roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame), want);
		cr_expect_arr_eq(frame + at, bth, sizeof(bth), "%s", row->what);
		cr_expect_arr_eq(frame + at + 12, row->headers, row->len, "%s", row->what);
		if (row->payload)
			cr_expect_arr_eq(frame + at + 12 + row->len, "\xa1\xa2\xa3\xa4\xa5\0\0\0",
					 8);
	}
	cr_expect(roce_opcode_known(row->opcode));
	cr_expect_eq(roce_extended_bytes(row->opcode), row->len);
	cr_expect_eq((roce_headers(row->opcode) & ROCE_HAS_PAYLOAD) != 0, row->payload);
}

static bool in_table(uint32_t opcode)
{
	for (uint32_t i = 0; i < TABLE_COUNT(opcodes); i++) {
		if (opcodes[i].opcode == opcode)
			return true;
	}
	return false;
}

Test(roce_frame, other_opcodes_are_unknown)
{
	for (uint32_t opcode = 0; opcode <= UINT8_MAX; opcode++)
		cr_expect_eq(roce_opcode_known((uint8_t)opcode), in_table(opcode), "%u", opcode);
}

// The bits of the BTH, one at a time: its bytes 1, 4 and 8 (volume 1, 9.2).
static const struct {
	const char *what;
	struct roce_packet packet;
	uint8_t at;
	uint8_t bits;
} flags[] = {
	{ "solicited event", { .opcode = ROCE_SEND_ONLY, .solicited = true }, 1, 0x80 },
	{ "MigReq", { .opcode = ROCE_SEND_ONLY, .migrated = true }, 1, 0x40 },
	{ "BECN", { .opcode = ROCE_CNP, .becn = true }, 4, 0x40 },
	{ "AckReq", { .opcode = ROCE_SEND_ONLY, .ack_req = true }, 8, 0x80 },
};

TABLE_TEST(roce_frame, flags_of_bth, row, flags)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const uint32_t len = roce_frame_write(carriers, &row->packet, ROCE_CRC_TABLE, frame);
	uint8_t want[12] = { row->packet.opcode };
	struct roce_packet back;
	struct roce_path path;

	want[row->at] = row->bits;
	cr_expect_arr_eq(frame + bth_at(carriers), want, 12, "%s", row->what);
	cr_assert_eq(roce_frame_read(frame, len, ROCE_CRC_TABLE, &path, &back), ROCE_FRAME_OK);
	cr_expect_eq(back.solicited, row->packet.solicited, "%s", row->what);
	cr_expect_eq(back.migrated, row->packet.migrated, "%s", row->what);
	cr_expect_eq(back.becn, row->packet.becn, "%s", row->what);
	cr_expect_eq(back.ack_req, row->packet.ack_req, "%s", row->what);
}

// The checksum of an IPv4 header as RFC 1071 has it, with all its field's bytes.
static void right_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	store_be16(ip + 10, 0);
	for (uint32_t i = 0; i < (ip[0] & 0xfu) * 4; i += 2)
		sum += load_be16(ip + i);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	store_be16(ip + 10, (uint16_t)~sum);
}

// Reads a copy in memory of just that length.
static enum roce_verdict verdict_of(const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len);
	enum roce_verdict verdict;
	struct roce_packet packet;
	struct roce_path path;

	if (len > 0)
		memcpy(copy, frame, len);
	verdict = roce_frame_read(copy, len, ROCE_CRC_TABLE, &path, &packet);
	free(copy);
	return verdict;
}

// One field of a frame of a WRITE only with 5 bytes (8 with padding: UDP has 8 + 12 + 16 + 8 + 4).
// ETHERNET ends where IP begins, as if there were no tag; the others are counted from their header.
enum header { ETHERNET, IPV4, IPV6, UDP, BTH };

static const struct {
	const char *what;
	enum header header;
	uint32_t at;
	uint32_t bytes;
	uint16_t value;
	enum roce_verdict want;
} broken[] = {
	{ "another EtherType", ETHERNET, 12, 2, 0x8915, ROCE_FRAME_OTHER },
	{ "a service tag", ETHERNET, 12, 2, 0x88a8, ROCE_FRAME_OTHER },
	{ "IPv4: version", IPV4, 0, 1, 0x65, ROCE_FRAME_BAD },
	{ "IPv4: four words", IPV4, 0, 1, 0x44, ROCE_FRAME_BAD },
	{ "IPv4: other protocol", IPV4, 9, 1, 6, ROCE_FRAME_OTHER },
	{ "IPv4: first fragment", IPV4, 6, 2, 0x2000, ROCE_FRAME_BAD },
	{ "IPv4: later fragment", IPV4, 6, 2, 0x0001, ROCE_FRAME_OTHER },
	{ "IPv4: last possible fragment", IPV4, 6, 2, 0x1fff, ROCE_FRAME_OTHER },
	{ "IPv4: length 0", IPV4, 2, 2, 0, ROCE_FRAME_SHORT },
	{ "IPv4: length in its header", IPV4, 2, 2, 19, ROCE_FRAME_SHORT },
	{ "IPv4: length in UDP", IPV4, 2, 2, 27, ROCE_FRAME_SHORT },
	{ "IPv4: length shorter than UDP's", IPV4, 2, 2, 67, ROCE_FRAME_SHORT },
	{ "IPv4: length beyond the frame", IPV4, 2, 2, 69, ROCE_FRAME_SHORT },
	{ "IPv4: the longest length", IPV4, 2, 2, 0xffff, ROCE_FRAME_SHORT },
	{ "IPv6: version", IPV6, 0, 1, 0x45, ROCE_FRAME_BAD },
	{ "IPv6: TCP", IPV6, 6, 1, 6, ROCE_FRAME_OTHER },
	{ "IPv6: an extension", IPV6, 6, 1, 60, ROCE_FRAME_OTHER },
	{ "IPv6: a fragment", IPV6, 6, 1, 44, ROCE_FRAME_OTHER },
	{ "IPv6: length 0", IPV6, 4, 2, 0, ROCE_FRAME_SHORT },
	{ "IPv6: length in UDP", IPV6, 4, 2, 7, ROCE_FRAME_SHORT },
	{ "IPv6: length shorter than UDP's", IPV6, 4, 2, 47, ROCE_FRAME_SHORT },
	{ "IPv6: length beyond the frame", IPV6, 4, 2, 49, ROCE_FRAME_SHORT },
	{ "IPv6: the longest length", IPV6, 4, 2, 0xffff, ROCE_FRAME_SHORT },
	{ "UDP: another port", UDP, 2, 2, 4790, ROCE_FRAME_OTHER },
	{ "UDP: length 0", UDP, 4, 2, 0, ROCE_FRAME_SHORT },
	{ "UDP: length in its header", UDP, 4, 2, 7, ROCE_FRAME_SHORT },
	{ "UDP: length one less", UDP, 4, 2, 47, ROCE_FRAME_SHORT },
	{ "UDP: length one more", UDP, 4, 2, 49, ROCE_FRAME_SHORT },
	{ "UDP: the longest length", UDP, 4, 2, 0xffff, ROCE_FRAME_SHORT },
	{ "BTH: compare and swap", BTH, 0, 1, 0x13, ROCE_FRAME_BAD },
	{ "BTH: unreliable datagram", BTH, 0, 1, 0x64, ROCE_FRAME_BAD },
	{ "BTH: the last opcode", BTH, 0, 1, 0xff, ROCE_FRAME_BAD },
	{ "BTH: version", BTH, 1, 1, 0x31, ROCE_FRAME_BAD },
	{ "BTH: payload of an ACK", BTH, 0, 1, 0x11, ROCE_FRAME_BAD },
	{ "BTH: payload of a READ request", BTH, 0, 1, 0x0c, ROCE_FRAME_BAD },
	{ "BTH: payload of a CNP", BTH, 0, 1, 0x81, ROCE_FRAME_BAD },
	{ "BTH: PSN", BTH, 10, 2, 0xffff, ROCE_FRAME_ICRC },
	{ "BTH: partition", BTH, 2, 2, 0x8002, ROCE_FRAME_ICRC },
	{ "BTH: payload", BTH, 28, 1, 0xff, ROCE_FRAME_ICRC },
	{ "BTH: padding", BTH, 35, 1, 0xff, ROCE_FRAME_ICRC },
	{ "BTH: less padding", BTH, 1, 1, 0x20, ROCE_FRAME_ICRC },
};

static bool applies(enum header header, const struct roce_path *path)
{
	return header == IPV4 ? !path->ipv6 : header != IPV6 || path->ipv6;
}

static uint32_t header_at(enum header header, const struct roce_path *path)
{
	const uint32_t at[] = { [ETHERNET] = ip_at(path) - 14,
				[IPV4] = ip_at(path),
				[IPV6] = ip_at(path),
				[UDP] = udp_at(path),
				[BTH] = bth_at(path) };

	return at[header];
}

TABLE_TEST(roce_frame, broken_frames_are_refused, row, broken)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(ROCE_WRITE_ONLY, 5);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const struct roce_path *path = &carriers[c];
		const uint32_t len = roce_frame_write(path, &packet, ROCE_CRC_TABLE, frame);
		uint8_t *field = frame + header_at(row->header, path) + row->at;

		if (!applies(row->header, path))
			continue;
		cr_assert_eq(verdict_of(frame, len), ROCE_FRAME_OK);
		if (row->bytes == 2)
			store_be16(field, row->value);
		else
			*field = (uint8_t)row->value;
		if (row->header == IPV4 && (frame[ip_at(path)] & 0xf) >= 5)
			right_checksum(frame + ip_at(path));
		cr_expect_eq(verdict_of(frame, len), row->want, "%s, carrier %u: %u", row->what, c,
			     verdict_of(frame, len));
	}
}

// Lengths that agree with each other.
static void set_lengths(const struct roce_path *path, uint32_t udp_bytes, uint8_t *frame)
{
	uint8_t *ip = frame + ip_at(path);

	store_be16(frame + udp_at(path) + 4, (uint16_t)udp_bytes);
	store_be16(ip + (path->ipv6 ? 4 : 2), (uint16_t)(udp_bytes + (path->ipv6 ? 0 : 20)));
	if (!path->ipv6)
		right_checksum(ip);
}

// BTH, extended headers and ICRC need more than there is, in a frame that ends there or does not.
TABLE_TEST(roce_frame, too_little_room, row, opcodes)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(row->opcode, 0);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t len = roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame);
		const uint32_t at = udp_at(&carriers[c]);

		for (uint32_t udp = 8; udp < len - at; udp++) {
			set_lengths(&carriers[c], udp, frame);
			cr_expect_eq(verdict_of(frame, at + udp), ROCE_FRAME_SHORT, "%s: UDP of %u",
				     row->what, udp);
			cr_expect_eq(verdict_of(frame, len), ROCE_FRAME_SHORT, "%s: UDP of %u",
				     row->what, udp);
		}
	}
}

TABLE_TEST(roce_frame, truncated_at_every_length, row, opcodes)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(row->opcode, row->payload ? 7 : 0);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t len = roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame);

		for (uint32_t cut = 0; cut < len; cut++)
			cr_expect_eq(verdict_of(frame, cut), ROCE_FRAME_SHORT, "%s: %u of %u",
				     row->what, cut, len);
	}
}

TABLE_TEST(roce_frame, what_follows_the_icrc_is_ignored, row, opcodes)
{
	static uint8_t frame[ROCE_FRAME_MAX + 64];
	const struct roce_packet packet = packet_of(row->opcode, 0);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t len = roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame);

		memset(frame + len, 0x5a, 64);
		for (uint32_t more = 0; more <= 64; more++)
			cr_expect_eq(verdict_of(frame, len + more), ROCE_FRAME_OK, "%s: %u more",
				     row->what, more);
	}
}

Test(roce_frame, checksum_of_ipv4_is_compared)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(ROCE_ACK, 0);

	for (uint32_t bit = 0; bit < 16; bit++) {
		const uint32_t len = roce_frame_write(carriers, &packet, ROCE_CRC_TABLE, frame);

		frame[14 + 10 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		cr_expect_eq(verdict_of(frame, len), ROCE_FRAME_BAD, "bit %u", bit);
	}
}

Test(roce_frame, more_padding_than_payload)
{
	static uint8_t frame[ROCE_FRAME_MAX];

	for (uint8_t pad = 1; pad < 4; pad++) {
		const struct roce_packet packet = packet_of(ROCE_SEND_ONLY, 0);
		const uint32_t len = roce_frame_write(carriers, &packet, ROCE_CRC_TABLE, frame);

		frame[bth_at(carriers) + 1] |= (uint8_t)(pad << 4);
		cr_expect_eq(verdict_of(frame, len), ROCE_FRAME_BAD, "%u", pad);
	}
}

// The RETH of a WRITE first becomes payload of a WRITE middle, which is then too long.
Test(roce_frame, payload_has_a_limit)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(ROCE_WRITE_FIRST, ROCE_PAYLOAD_MAX);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t len = roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame);

		cr_assert_leq(len, ROCE_FRAME_MAX);
		cr_expect_eq(verdict_of(frame, len), ROCE_FRAME_OK);
		frame[bth_at(&carriers[c])] = ROCE_WRITE_MIDDLE;
		cr_expect_eq(verdict_of(frame, len), ROCE_FRAME_BAD);
	}
}

// For a wrong ICRC the path still says who was hit.
Test(roce_frame, path_is_told_for_a_wrong_icrc)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	const struct roce_packet packet = packet_of(ROCE_SEND_ONLY, 64);

	for (uint32_t c = 0; c < CARRIERS; c++) {
		const uint32_t len = roce_frame_write(&carriers[c], &packet, ROCE_CRC_TABLE, frame);
		struct roce_packet back;
		struct roce_path path;

		frame[len - 1] ^= 1;
		cr_assert_eq(roce_frame_read(frame, len, ROCE_CRC_TABLE, &path, &back),
			     ROCE_FRAME_ICRC);
		cr_expect_eq(path.dst_mac, carriers[c].dst_mac);
		cr_expect_eq(path.src_mac, carriers[c].src_mac);
		cr_expect_eq(path.src_port, carriers[c].src_port);
		cr_expect_arr_eq(path.src_ip, carriers[c].src_ip, 16);
		cr_expect_arr_eq(path.dst_ip, carriers[c].dst_ip, 16);
	}
}

Test(roce_frame, no_payload_pointer_is_zeros)
{
	static uint8_t frame[ROCE_FRAME_MAX], zeros[ROCE_PAYLOAD_MAX];
	struct roce_packet packet = packet_of(ROCE_SEND_ONLY, 1023), back;
	struct roce_path path;
	uint32_t len;

	memset(frame, 0xff, sizeof(frame));
	packet.payload = NULL;
	len = roce_frame_write(carriers, &packet, ROCE_CRC_TABLE, frame);
	cr_assert_eq(roce_frame_read(frame, len, ROCE_CRC_TABLE, &path, &back), ROCE_FRAME_OK);
	cr_expect_eq(back.payload_bytes, 1023);
	cr_expect_arr_eq(back.payload, zeros, 1024, "padding included");
}

static const struct {
	const char *what;
	const char *file;
	uint32_t known; // frames of the reliable connection, by tshark's opcodes
} captures[] = {
	{ "soft-RoCE", CAPTURES "/rxe-ect0.pcap", 100 },
	{ "soft-RoCE, marked", CAPTURES "/rxe-ce.pcap", 100 },
};

TABLE_TEST(roce_frame, captured_frames_are_written_as_read, row, captures)
{
	static uint8_t again[ROCE_FRAME_MAX];
	struct capture_file capture;
	uint32_t known = 0;

	capture_open(&capture, row->file);
	while (capture_next(&capture)) {
		struct roce_packet packet;
		struct roce_path path;
		const enum roce_verdict verdict = roce_frame_read(capture.frame, capture.len,
								  ROCE_CRC_TABLE, &path, &packet);

		if (verdict == ROCE_FRAME_BAD) // a datagram of the connection manager
			continue;
		known++;
		cr_assert_eq(verdict, ROCE_FRAME_OK);
		cr_assert_eq(roce_frame_bytes(&path, packet.opcode, packet.payload_bytes),
			     capture.len);
		cr_assert_eq(roce_frame_write(&path, &packet, ROCE_CRC_TABLE, again), capture.len);
		cr_assert_arr_eq(again, capture.frame, capture.len);
	}
	cr_assert_eq(known, row->known);
}

// The frames of kinds.pcap by their places; tests/interop/frames.py has their names. All others are
// somebody else's.
enum { KINDS = 43 };

static const struct {
	uint32_t place;
	enum roce_verdict want;
} kinds[] = {
	{ 0, ROCE_FRAME_OK },   // v4-roce
	{ 1, ROCE_FRAME_OK },   // v4-roce-ack-ce
	{ 2, ROCE_FRAME_OK },   // v4-cnp
	{ 3, ROCE_FRAME_BAD },  // v4-roce-option
	{ 4, ROCE_FRAME_BAD },  // v4-roce-ten-options
	{ 9, ROCE_FRAME_BAD },  // v4-fragment-first
	{ 11, ROCE_FRAME_OK },  // v6-roce
	{ 12, ROCE_FRAME_BAD }, // v6-cnp: of 32 bytes
	{ 29, ROCE_FRAME_OK },  // tag-priority-v4-roce
	{ 30, ROCE_FRAME_OK },  // tag-c-v6-roce
};

static enum roce_verdict kind_of(uint32_t place)
{
	for (uint32_t i = 0; i < TABLE_COUNT(kinds); i++) {
		if (kinds[i].place == place)
			return kinds[i].want;
	}
	return ROCE_FRAME_OTHER;
}

Test(roce_frame, frames_of_every_kind)
{
	struct capture_file capture;
	uint32_t frames = 0;

	capture_open(&capture, CAPTURES "/kinds.pcap");
	for (; capture_next(&capture); frames++)
		cr_expect_eq(verdict_of(capture.frame, capture.len), kind_of(frames),
			     "frame %u: %u", frames, verdict_of(capture.frame, capture.len));
	cr_assert_eq(frames, KINDS);
}
