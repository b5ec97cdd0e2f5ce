// SPDX-License-Identifier: BSD-3-Clause
//
// The switch under test, on its stand: what is measured is a row of `variants`, the same rows with
// DPDK ports (pipeline.c) and as instruction counts (pipeline_instr.c).
#pragma once

#include "dataplane/core/sw.h"
#include "tests/bench/stream.h"

struct variant {
	const char *name;
	const char *doc;
	enum stream_id stream;
	uint32_t standing; // packets that wait in the egress queues throughout
	bool paced;        // the sink port has an emulated line rate, too high to be met
	bool ecn;          // the RoCE queue marks
	bool paused;       // priority 3 is paused by the sink's peer and in XOFF at the source
};

enum variant_id {
	VARIANT_64,
	VARIANT_1024,
	VARIANT_ROCE,
	VARIANT_STANDING,
	VARIANT_PAUSED,
	VARIANT_ECN,
	VARIANT_COUNT,
};

extern const struct variant variants[VARIANT_COUNT];

#define STAND_SOURCE ((port_t){ 0 })
#define STAND_SINK ((port_t){ 1 })

// A switch for the variant with both links up and all hosts of the streams learned; NULL, with a
// message on stderr, when that fails. Lives until the program ends.
struct sw *stand_make(const struct variant *variant, ns_t now);

// A PFC frame by which the sink's peer holds priority 3 for as long as one frame can,
// PFC_FRAME_BYTES long; at least every STAND_PAUSE_NS another must follow.
enum { STAND_PAUSE_NS = 1000000 };
void stand_pause_frame(uint8_t *frame);

// True when the switch holds what the variant wants to hold: standing packets, a group in XOFF.
bool stand_filled(const struct sw *sw, const struct variant *variant, ns_t now);

// True when the switch lost nothing, marked if it should, and its books balance.
bool stand_check(const struct sw *sw, const struct variant *variant, ns_t now);
