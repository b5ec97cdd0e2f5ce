// SPDX-License-Identifier: BSD-3-Clause
//
// Hello frames between switches: what one end of a link tells the other, many times a second. That
// they arrive is the proof of a link whose carrier may lie; that they say whom they hear proves the
// other direction; both ends compare lanes, and each says which edges it has no way to (masks).
#pragma once

#include "base/types.h"
#include "base/wire.h"
#include "routing/turn_map.h"

// A frame goes to 01:80:c2:00:00:0e, the nearest-bridge group that no bridge forwards (IEEE 802.1Q
// 8.6.3, as LLDP), with EtherType 0x88b5 (IEEE 802 local experimental 1), never with a tag. Big
// endian; offsets from the start of the frame:
//
//	 14  4  magic 0x77656674
//	 18  1  version, 1
//	 19  1  flags: 1 hears (36..49 are set), 2 every frame has a lane tag; others are 0
//	 20  2  index of the sender's port
//	 22  2  number of the sender as an edge switch, 0xffff: none
//	 24  4  boot: differs from life to life of the sender
//	 28  4  sequence, one more each time, per port
//	 32  4  interval in microseconds, above 0
//	 36  8  whom the sender hears on this port: hash of that switch's name
//	 44  4  its boot
//	 48  2  its port
//	 50  1  lanes in use, at most 4; 0: none
//	 51  1  priorities that the sender pauses with PFC (a bit each)
//	 52  1  priorities whose PFC it obeys
//	 53  1  0
//	 54  4  priority of each lane in use, at most 7; 0 for the others
//	 58  4  0
//	 62  2  first byte of the mask that is sent
//	 64  2  bytes of the mask that are sent; first + bytes is at most 512
//	 66 32  name of the sender, padded with zeros, at least one
//	 98 32  name of its port, likewise
//	130  n  bytes of the mask; edge e is bit e % 8 of byte e / 8; those not sent are 0
//
// What follows is padding. A receiver takes reserved zeros whatever they are.
enum {
	HELLO_ETHERTYPE = 0x88b5,
	HELLO_VERSION = 1,
	HELLO_NAME_BYTES = 32,
	HELLO_EDGE_MAX = 4096,
	HELLO_MASK_WORDS = HELLO_EDGE_MAX / 64,
	HELLO_FRAME_MIN = 130,
	HELLO_FRAME_MAX = HELLO_FRAME_MIN + HELLO_EDGE_MAX / 8,
};

#define HELLO_ADDRESS NEAREST_BRIDGE_ADDRESS

// What both ends of a link must agree on before it carries lossless traffic.
struct hello_lanes {
	uint8_t count;
	bool tag;
	uint8_t pfc_sent; // priorities
	uint8_t pfc_obeyed;
	uint8_t priority[LANE_MAX];
};

// One end of a link.
struct hello_end {
	uint64_t id; // hash of the switch's name
	uint32_t boot;
	uint16_t port;
};

struct hello {
	struct hello_end from;
	uint16_t edge; // 0xffff: none
	uint32_t seq;
	uint32_t interval_us;
	bool hears;
	struct hello_end heard; // all 0 unless `hears`
	struct hello_lanes lanes;
	char name[HELLO_NAME_BYTES];
	char port_name[HELLO_NAME_BYTES];
};

// Edges, a bit each.
struct hello_mask {
	uint64_t word[HELLO_MASK_WORDS];
};

// Writes the frame and returns its length. Names are cut to what fits; from.id is not sent, it
// follows from the name.
uint32_t hello_encode(const struct hello *hello, const struct hello_mask *mask,
		      const uint8_t src[6], uint8_t out[HELLO_FRAME_MAX]);

// Reads the frame behind the Ethernet header, of which `len` bytes are readable. False when it is
// cut short, of another version or breaks a rule above; a name has printable ASCII alone.
bool hello_decode(const uint8_t *frame, uint32_t len, struct hello *out, struct hello_mask *mask);

// The id of a switch by its name, as it is sent.
uint64_t hello_id(const char *name);
