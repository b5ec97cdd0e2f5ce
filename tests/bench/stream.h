// SPDX-License-Identifier: BSD-3-Clause
//
// The frames that the benchmarks send, over and over: what a port of a RoCE switch sees, as few
// enough different frames to stay in cache, so that the switch is measured and not the source.
#pragma once

#include "base/types.h"

enum stream_id {
	STREAM_UDP_64,
	STREAM_UDP_1024,
	STREAM_ROCE_WRITE, // RC write in packets of 1024 bytes, 16 per message, ECT(0), DSCP 26
	STREAM_CLASSES_64, // UDP in classes 0, 1, 2 and 5
	STREAM_COUNT,
};

enum {
	STREAM_FRAMES = 64,
	STREAM_HOSTS = 16, // addresses on either side; frame i goes from host i to host i, modulo
	STREAM_FRAME_BYTES = 1100,
};

struct stream {
	uint32_t len[STREAM_FRAMES];
	uint8_t frame[STREAM_FRAMES][STREAM_FRAME_BYTES];
};

void stream_make(enum stream_id id, struct stream *out);

// MAC addresses of the hosts behind the source port and behind the sink port.
uint64_t stream_source_mac(uint32_t host);
uint64_t stream_sink_mac(uint32_t host);
