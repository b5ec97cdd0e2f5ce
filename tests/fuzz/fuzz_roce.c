// SPDX-License-Identifier: BSD-3-Clause
//
// Fuzz target of the reader of RoCEv2 frames. The input is a frame from its destination address on,
// without FCS. An ICRC is nothing that an input finds by itself, so a frame whose ICRC alone is
// wrong is given the right one, and read again.
//
// Checked: no byte behind the frame is read; what is told lies in the frame and in range; both ways
// to make the ICRC agree; what passes, written and read again, is the same; cut short it is
// refused.

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "tests/fuzz/fuzz.h"
#include "traffic/core/roce.h"

enum { CUTS = 160 };

static void check_packet(const uint8_t *frame, uint32_t len, const struct roce_packet *packet)
{
	const uint8_t has = roce_headers(packet->opcode);

	WEFT_CHECK(has != 0 && packet->dest_qp < 1 << 24);
	WEFT_CHECK(packet->psn < 1 << 24 && packet->msn < 1 << 24);
	WEFT_CHECK(packet->payload_bytes <= (has & ROCE_HAS_PAYLOAD ? ROCE_PAYLOAD_MAX : 0));
	WEFT_CHECK(packet->payload > frame);
	WEFT_CHECK(frame_has(len, (uint32_t)(packet->payload - frame), packet->payload_bytes));
	WEFT_CHECK((has & ROCE_HAS_RETH) != 0 || (packet->va | packet->rkey) == 0);
	WEFT_CHECK((has & ROCE_HAS_AETH) != 0 || (packet->msn | packet->syndrome) == 0);
	WEFT_CHECK((has & ROCE_HAS_IMM) != 0 || packet->imm == 0);
}

static void check_path(const struct roce_path *path)
{
	WEFT_CHECK(path->dst_mac >> 48 == 0 && path->src_mac >> 48 == 0);
	WEFT_CHECK(path->dscp < 64 && path->ecn < 4 && path->flow_label < 1 << 20);
	WEFT_CHECK(path->tagged || path->tci == 0);
}

// Of what is ignored in the frame, nothing is in the copy; the rest is the same.
static void check_again(const struct roce_path *path, const struct roce_packet *packet)
{
	static uint8_t first[ROCE_FRAME_MAX], second[ROCE_FRAME_MAX];
	const uint32_t len = roce_frame_write(path, packet, ROCE_CRC_CLMUL, first);
	struct roce_packet packet_back;
	struct roce_path path_back;

	WEFT_CHECK(len == roce_frame_bytes(path, packet->opcode, packet->payload_bytes));
	WEFT_CHECK(roce_frame_read(first, len, ROCE_CRC_TABLE, &path_back, &packet_back) ==
		   ROCE_FRAME_OK);
	WEFT_CHECK(packet_back.payload_bytes == packet->payload_bytes);
	WEFT_CHECK(packet->payload_bytes == 0 ||
		   memcmp(packet_back.payload, packet->payload, packet->payload_bytes) == 0);
	WEFT_CHECK(roce_frame_write(&path_back, &packet_back, ROCE_CRC_TABLE, second) == len);
	WEFT_CHECK(memcmp(first, second, len) == 0);
}

// Puts the right ICRC where the reader looked for it: UDP's length has been compared by then.
static void right_icrc(uint8_t *frame, const struct roce_path *path)
{
	const uint32_t ip = path->tagged ? 18 : 14;
	const uint32_t udp = ip + (path->ipv6 ? 40 : 20);
	const uint32_t at = udp + load_be16(frame + udp + 4) - ROCE_ICRC_BYTES;

	store_le32(frame + at, roce_icrc(ROCE_CRC_TABLE, frame, ip, at));
}

static enum roce_verdict check_frame(const uint8_t *data, uint32_t len)
{
	uint8_t *copy = malloc(len);
	enum roce_verdict verdict;
	struct roce_packet packet;
	struct roce_path path;

	if (len > 0)
		memcpy(copy, data, len);
	memset(&path, 0xff, sizeof(path));
	verdict = roce_frame_read(copy, len, ROCE_CRC_TABLE, &path, &packet);
	WEFT_CHECK(roce_frame_read(copy, len, ROCE_CRC_CLMUL, &path, &packet) == verdict);
	if (verdict == ROCE_FRAME_ICRC) {
		right_icrc(copy, &path);
		WEFT_CHECK(roce_frame_read(copy, len, ROCE_CRC_CLMUL, &path, &packet) ==
			   ROCE_FRAME_OK);
		verdict = ROCE_FRAME_OK;
	}
	if (verdict == ROCE_FRAME_OK) {
		check_path(&path);
		check_packet(copy, len, &packet);
		check_again(&path, &packet);
	}
	free(copy);
	return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t len = size < UINT16_MAX ? (uint32_t)size : UINT16_MAX;

	check_frame(data, len);
	for (uint32_t cut = 0; cut < len && cut <= CUTS; cut++)
		check_frame(data, cut);
	return 0;
}
