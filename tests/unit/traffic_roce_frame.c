// SPDX-License-Identifier: BSD-3-Clause
//
// traffic/core/roce_frame.c: headers of each opcode, refusals, and frames of others read and
// written again.

#include <string.h>

#include "tests/capture_file.h"
#include "tests/table.h"
#include "traffic/core/roce.h"

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
